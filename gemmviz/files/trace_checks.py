"""Whether a trace read from a file is one that a kernel can have made: nothing out of bounds, nothing of the wrong kind."""

import math
from typing import NoReturn

import numpy as np

from gemmviz.files.devices import device_names
from gemmviz.model.errors import Place, SettingError, TraceFileError
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.trace import CONSTANT, MOST_STEPS, MOST_THREADS, Trace

_LARGEST_SHARED = 1 << 20
_FARTHEST_OFFSET = 1 << 20
_MOST_TRIPS = (1 << 31) - 2
_MOST_OPERANDS, _MOST_OFFSETS = 4, 64
_MOST = {"arrays": 64, "sites": 20_000, "loops": 20_000, "notes": 1000}
_LONGEST_TEXT = 10_000
_DTYPES = {"bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float32", "float64"}


def refuse(file: str, why: str) -> NoReturn:
    """Raises the TraceFileError that names the file and the reason."""
    raise TraceFileError(f"this is no trace that can be opened: {why}", file=file) from None


def check_facts(trace: Trace, file: str) -> None:
    """Every fact must be within its bounds before any memory is spent on it."""
    if trace.steps < 1:
        refuse(file, "it has no steps")
    if trace.steps > MOST_STEPS:
        refuse(file, f"it has {trace.steps:,} steps, more than the {MOST_STEPS:,} that can be looked at")
    if trace.setup.device not in device_names():
        refuse(file, f"gemmviz knows no device {trace.setup.device!r}")
    for what, several in (("arrays", trace.arrays), ("sites", trace.sites), ("loops", trace.loops), ("notes", trace.notes)):
        if len(several) > _MOST[what]:
            refuse(file, f"it has {len(several):,} {what}, more than the {_MOST[what]:,} that can be looked at")
    texts = (trace.by, *trace.notes, *(array.name for array in trace.arrays), *(site.text for site in trace.sites))
    if max(map(len, texts)) > _LONGEST_TEXT:
        refuse(file, f"a name or text in it has more than {_LONGEST_TEXT:,} characters")
    for array in trace.arrays:
        _check_array(array, trace, file)
    if min(*trace.launch.grid, *trace.launch.block) < 1 or trace.launch.threads_per_block > 4096:
        refuse(file, "its launch is none that a device can run")
    try:
        trace.blocks.checked(trace.launch)
    except SettingError:
        refuse(file, "its blocks are not in its grid")
    if trace.space.thread_count > MOST_THREADS:
        refuse(file, f"it has {trace.space.thread_count:,} threads, more than the {MOST_THREADS:,} that can be looked at")
    lines = trace.setup.kernel.text.count("\n") + 1
    for site in trace.sites:
        if not _is_sound(site, trace, lines):
            refuse(file, "one of its sites is none that a kernel can have")
    if not all(-1 <= loop.outer < len(trace.loops) for loop in trace.loops):
        refuse(file, "one of its loops is none that a kernel can have")


def _check_array(array: MemoryArray, trace: Trace, file: str) -> None:
    if array.dtype not in _DTYPES or not all(0 < extent < 1 << 31 for extent in array.shape):
        refuse(file, f"its array {array.name!r} is none that a kernel can have")
    if array.space == "shared" and math.prod(array.shape) * array.itemsize > _LARGEST_SHARED:
        refuse(file, f"its array {array.name!r} is larger than shared memory")
    if array.space == "global" and trace.setup.problem.shapes.get(array.name) != array.shape:
        refuse(file, "its matrices are not those of its problem")


def _is_sound(site: Site, trace: Trace, lines: int) -> bool:
    places = (site.place, *site.calls)
    return (
        all(_is_in_text(place, lines) for place in places)
        and len(site.operands) <= _MOST_OPERANDS
        and (site.waits_for is not None) == site.is_barrier
        and all(0 <= n < len(trace.loops) for n in site.loops)
        and all(
            0 <= operand.array < len(trace.arrays)
            and 0 < operand.width <= _MOST_OFFSETS
            and all(0 <= offset < _FARTHEST_OFFSET for offset in operand.offsets)
            for operand in site.operands
        )
    )


def _is_in_text(place: Place, lines: int) -> bool:
    return 1 <= place.line <= place.end_line <= lines and all(1 <= at < 1 << 20 for at in (place.column, place.end_column))


def check_arrays(trace: Trace, file: str) -> None:
    """Numbers that would send a reader out of bounds, or a picture to the wrong source, are refused."""
    steps = len(trace.site)
    if steps and (trace.site.min() < 0 or trace.site.max() >= len(trace.sites)):
        refuse(file, "it names sites that it doesn't have")
    rows = int(trace.row[-1])
    shapes_fit = (
        trace.epoch.shape == (steps,)
        and trace.visits.shape[0] == steps
        and trace.visits.shape[1] >= max((len(site.loops) for site in trace.sites), default=0)
        and trace.element.shape == (rows, trace.space.thread_count)
        and (trace.value is None or trace.value.shape == trace.element.shape)
        and trace.origin.shape == trace.origin_array.shape
        and (len(trace.origin) == 0 or trace.origin.shape == (len(trace.origin_step), trace.space.thread_count))
        and len(trace.origin) == len(trace.origin_step)
    )
    if not shapes_fit:
        refuse(file, "its arrays don't fit each other")
    if steps and (trace.visits.min(initial=0) < -1 or trace.visits.max(initial=0) > _MOST_TRIPS):
        refuse(file, "its loops make more trips than a kernel can")
    for touches in trace.touches:
        elements = trace.element[touches.rows]
        last = trace.arrays[touches.operand.array].size - 1 - max(touches.operand.offsets)
        if elements.size and (elements.min() < -1 or elements.max() > last):
            refuse(file, "it names elements that its arrays don't have")
    for number, site in enumerate(trace.sites):
        arrived = trace.element[trace.row[:-1][trace.site == number]]
        if site.is_barrier and arrived.size and (arrived.min() < -1 or arrived.max() > 0):
            refuse(file, "it names elements that its arrays don't have")
    _check_origins(trace, file)


def _check_origins(trace: Trace, file: str) -> None:
    """Origins belong to stores into shared memory and name elements that there are."""
    steps = trace.origin_step
    if len(steps) and (steps.min() < 0 or steps.max() >= trace.steps or (np.diff(steps) < 0).any()):
        refuse(file, "it names steps that it doesn't have")
    for step in np.unique(steps).tolist():
        stores = [o for o in trace.site_of(step).operands if o.access == "write" and trace.arrays[o.array].space == "shared"]
        if not stores or (steps == step).sum() > stores[0].width:
            refuse(file, "it tells the origin of what was not stored in a tile")
    matrices = [array.size for array in trace.arrays if array.space == "global"]
    if trace.origin.size:
        named = trace.origin_array >= 0
        if trace.origin_array.min() < CONSTANT or trace.origin_array.max() >= len(matrices):
            refuse(file, "it names arrays that it doesn't have")
        sizes = np.array(matrices)[np.where(named, trace.origin_array, 0)]
        if (named & ((trace.origin < 0) | (trace.origin >= sizes))).any():
            refuse(file, "it names elements that its arrays don't have")
