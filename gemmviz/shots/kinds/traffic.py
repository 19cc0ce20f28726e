"""Global memory reads of a kernel for each tile width."""

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.cuda.launch.legality import can_run
from gemmviz.model.cases import TrafficCase, WidthCount
from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.setup import launch_title
from gemmviz.model.translation import tr
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

_WIDTHS_TO_TRY = ("TILE_WIDTH", "BLOCK_DIM", "BLOCK")


def _make_traffic(shot: Shot, context: Context) -> TrafficCase:
    """Reads for each width. Raises UsageError for a kernel without a width parameter."""
    setup = shot.setup
    name = next((name for name in _WIDTHS_TO_TRY if name in setup.parameters), None)
    parameter = next((each for each in setup.kernel.parameters if each.name == name), None)
    if name is None or parameter is None:
        raise UsageError(
            tr("{kernel} has no width parameter", kernel=setup.kernel.name),
            remedy=tr("choose a kernel with {widths}", widths=tr(" or ").join(_WIDTHS_TO_TRY)),
        )
    rows = list[WidthCount]()
    counts: LaunchCounts | None = None
    for width in sorted({*(parameter.choices or ()), setup.parameters[name]}):
        tried = setup.changed(**{name: width})
        if can_run(tried):
            counts = context.known.about(replace(shot, setup=tried)).counts
            rows.append(WidthCount(width, counts.elements("global", "read"), counts.total("global", "read").sectors))
    what, width = launch_title(setup), setup.parameters[name]
    flops = setup.problem.flops if setup.problem.is_multiply else None
    least = 0 if counts is None or flops else _elements_read(counts)
    return TrafficCase(setup.kernel.name, what, name, tuple(rows), flops or least, width, flops is None)


def _elements_read(counts: LaunchCounts) -> int:
    """Elements of all arrays in global memory that a launch reads."""
    return sum(each.size for each in counts.arrays if each.space == "global" and counts.elements("global", "read", each.name))


SUBJECT = Subject(TrafficCase, _make_traffic, is_slow=True, order=45)
