"""Cycles of a load over the number of elements that a chain visits, a curve for each stride between them."""

from gemmviz.model.chart import Axis, Chart, Curve, Mark
from gemmviz.model.stride_times import StrideTime, StrideTimes
from gemmviz.model.translation import tr
from gemmviz.model.words import number, spaced

_CACHE = "L1"
_MORE = 1.1  # times the fewest cycles, from which a chain is said to miss


def strides_chart(times: StrideTimes) -> Chart:
    """Return the cycles of chains that may use the L1, with a mark at the first chain length that takes longer."""
    chains = times.of(_CACHE)
    curves = tuple(_curve(stride, rows) for stride, rows in chains.items())
    lengths = sorted({row.elements for rows in chains.values() for row in rows})
    slow = [row.elements for rows in chains.values() for row in rows if _misses(row, rows)]
    longest = max((n for n in lengths if n < min(slow, default=0)), default=0)
    return Chart(
        tr("Cycles of a load by the stride between elements: {device}", device=times.device),
        Axis(
            tr("elements in turn, each in a line of its own"), is_log=True, ticks=tuple((float(n), spaced(n)) for n in lengths)
        ),
        Axis(tr("cycles of a load")),
        curves,
        marks=(
            Mark(
                float(longest),
                tr("up to {longest} lines stay in the {cache} at every stride", longest=spaced(longest), cache=_CACHE),
            ),
        )
        if longest
        else (),
        families=tuple(curve.family for curve in curves),
        notes=(times.source,),
        remark=tr(times.method),
    )


def _misses(row: StrideTime, rows: list[StrideTime]) -> bool:
    """Whether loads of a chain take longer than those of the shortest one."""
    return row.cycles > _MORE * rows[0].cycles


def _curve(stride: int, rows: list[StrideTime]) -> Curve:
    name = tr("{stride} bytes", stride=spaced(stride))
    points = tuple((float(row.elements), row.cycles) for row in rows)
    texts = tuple(
        tr(
            "{name} apart, {elements} elements: {cycles} cycles",
            name=name,
            elements=spaced(row.elements),
            cycles=number(row.cycles),
        )
        for row in rows
    )
    return Curve(name, name, name, points, texts)
