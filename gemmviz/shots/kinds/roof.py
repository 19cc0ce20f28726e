"""Operations for each byte that launches request, below the roof of their device."""

from gemmviz.analysis.memory.counts import intensity
from gemmviz.cuda.launch.legality import device_for
from gemmviz.model.cases import RoofCase, RoofRow
from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.setup import launch_title
from gemmviz.model.translation import tr
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_roof(shot: Shot, context: Context) -> RoofCase:
    """The compared launch if there is one, then the shot's. Raises UsageError for a problem without operations to count."""
    rows = list[RoofRow]()
    for setup in (*(() if shot.against is None else (shot.against.setup,)), shot.setup):
        flops = setup.problem.flops
        if flops is None:
            raise UsageError(tr(setup.problem.kind.why_no_flops))
        counts = context.known.about(replace(shot, setup=setup, against=None)).counts
        rows.append(RoofRow(setup.kernel.name, launch_title(setup), intensity(flops, counts.total("global").bytes_asked)))
    return RoofCase(device_for(shot.setup), tuple(rows))


SUBJECT = Subject(RoofCase, _make_roof, is_slow=True, is_comparison=True, order=47)
