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
    before, after = shot.against.setup, shot.setup
    first = _rounded(before, after, other.reader.replay.trace)
    return RoundingCase(after.problem, first, _rounded(after, before, now.trace))


def _rounded(setup: Setup, other: Setup, trace: Trace) -> RoundedRun:
    """The run; its name has the parameters in which it differs from another one of the same kernel."""
    differing = {name: value for name, value in setup.parameters.items() if other.parameters.get(name) != value}
    is_same = setup.kernel.name == other.kernel.name
    name = ", ".join([setup.kernel.name, *(f"{key} = {value}" for key, value in differing.items() if is_same)])
    return RoundedRun(name, setup.kernel.text, trace.check)


SUBJECT = Subject(
    RoundingCase, _make_rounding, needs=("moment", "compared"), is_comparison=True, check=check_pair, order=52
)  # fmt: skip
