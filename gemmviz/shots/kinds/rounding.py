"""Largest errors of the outputs of two runs: a shot's, and the one that it is compared with."""

from gemmviz.model.cases import RoundedRun, RoundingCase
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.shots.kinds.pair import check_pair
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_rounding(shot: Shot, context: Context) -> RoundingCase | None:
    """The errors; None while one of the runs is unknown. Raises UsageError for a shot without a comparison."""
    check_pair(shot)
    now, other = context.moment, context.compared
    if shot.against is None or now is None or other is None:
        return None
    first, second = _rounded(shot.against.setup, other.reader.replay.trace), _rounded(shot.setup, now.trace)
    return RoundingCase(shot.setup.problem, first, second)


def _rounded(setup: Setup, trace: Trace) -> RoundedRun:
    return RoundedRun(setup.kernel.name, setup.kernel.text, trace.check)


SUBJECT = Subject(
    RoundingCase, _make_rounding, needs=("moment", "compared"), is_comparison=True, check=check_pair, order=52
)  # fmt: skip
