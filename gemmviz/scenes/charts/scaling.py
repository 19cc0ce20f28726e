"""Quantities that grow with the size of the problem: work and span, and the bytes of the matrices."""

from gemmviz.model.chart import Axis, Chart, Curve, Mark
from gemmviz.model.device import Device
from gemmviz.model.launch_case import LaunchCase
from gemmviz.model.words import number, spaced

_SIZES = tuple(2**power for power in range(5, 14))
_BYTES = 4


def work_of(n: int) -> int:
    """Return T1 of C = A B with N x N matrices: 2 N^3 operations in sequence."""
    return 2 * n**3


def span_of(n: int) -> int:
    """Return T-infinity with a thread for each element of C: the 2 N operations of one sum in sequence."""
    return 2 * n


def work_chart(case: LaunchCase) -> Chart:
    """Return work, span and parallelism over N, in operations."""
    here = case.setup.problem.N

    def curve(name: str, value: list[int]) -> Curve:
        points = tuple((float(n), float(each)) for n, each in zip(sizes, value, strict=True))
        texts = tuple(f"{name}, N = {n}: {spaced(each)}" for n, each in zip(sizes, value, strict=True))
        return Curve(name, name, name, points, texts)

    sizes = sorted({*_SIZES, here})
    names = ("work T₁ = 2 N³", "parallelism T₁ / T∞ = N²", "span T∞ = 2 N")
    work, span = [work_of(n) for n in sizes], [span_of(n) for n in sizes]
    curves = (
        curve(names[0], work),
        curve(names[1], [w // s for w, s in zip(work, span, strict=True)]),
        curve(names[2], span),
    )
    at = f"N = {here}: {spaced(work_of(here))} operations, of which at least {spaced(span_of(here))} in sequence"
    return Chart(
        "Work and span of the multiplication",
        _size_axis(sizes),
        Axis("operations", is_log=True),
        curves,
        marks=(Mark(float(here), "", is_here=True),),
        families=names,
        notes=(at, "counted from the algorithm, not measured"),
    )


def data_bytes(n: int) -> int:
    """Return the bytes of A, B and C, all N x N of float32."""
    return 3 * n * n * _BYTES


def cache_chart(case: LaunchCase) -> Chart:
    """Return the bytes of the matrices over N, with the last-level cache of the device."""
    device, here = case.device, case.setup.problem.N
    sizes = sorted({*_SIZES, here})
    held = _held(device, sizes)
    three = tuple((float(n), data_bytes(n) / 2**20) for n in sizes)
    texts = tuple(f"A, B and C, N = {n}: {number(mib)} MiB" for n, (_, mib) in zip(sizes, three, strict=True))
    names = ("A, B and C together", f"cache of {device.name}")
    curves = [Curve(names[0], names[0], names[0], three, texts)]
    notes = [f"N = {here}: {number(data_bytes(here) / 2**20)} MiB"]
    if device.last_level_cache:
        mib = device.last_level_cache / 2**20
        flat = tuple((float(n), mib) for n in sizes)
        curves.append(Curve(names[1], f"cache, {mib:g} MiB", names[1], flat, tuple(f"{mib:g} MiB" for _ in sizes), dashed=True))
        notes.append(f"they fit up to N = {held}" if held else "they never fit")
    else:
        notes.append(f"{device.name} has no cache for global memory")
    return Chart(
        f"What the cache of {device.name} holds",
        _size_axis(sizes),
        Axis("MiB", is_log=True),
        tuple(curves),
        marks=(Mark(float(here), "", is_here=True),),
        families=names,
        notes=tuple(notes),
    )


def _held(device: Device, sizes: list[int]) -> int:
    """Return the largest size whose matrices all fit the last-level cache, 0 for none."""
    return max((n for n in sizes if data_bytes(n) <= device.last_level_cache), default=0)


def _size_axis(sizes: list[int]) -> Axis:
    return Axis("N of N × N matrices", is_log=True, ticks=tuple((float(n), str(n)) for n in sizes))
