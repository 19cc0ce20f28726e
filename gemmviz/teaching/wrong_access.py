"""The first wrong access of a run that fails an exercise, as the shot that shows it: a fault, a hazard, the store of a wrong
element of C, or the end if elements are never written.
"""

import numpy as np

from gemmviz.analysis.replay.position import Position
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.records import replace
from gemmviz.model.threads import Triple
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts


def at_wrong_access(facts: ShotFacts) -> Shot:
    """The shot, moved to the wrong access of its run and to the block in which it happens; unchanged if none is known."""
    shot, trace = facts.shot, facts.outcome.trace
    if trace is None:
        return shot
    if (fault := facts.outcome.fault) is not None:
        place: tuple[int, Triple] | None = trace.steps - 1, fault.block or shot.focus.block
    else:
        place = _hazard(facts.replay) or _wrong_store(facts.replay) or _end_without(facts)
    if place is None:
        return shot
    step, block = place
    return replace(shot, at=Position(step=step), focus=replace(shot.focus, block=block, warp=None, thread=None))


def _hazard(replay: Replay) -> tuple[int, Triple] | None:
    first = next(iter(replay.hazards), None)
    return None if first is None else (first.step, first.block)


def _wrong_store(replay: Replay) -> tuple[int, Triple] | None:
    """The step that stores the first wrong element, and its block."""
    wrong, owners = replay.trace.check.wrong_elements[:1], replay.owners
    at = np.flatnonzero(owners.elements == wrong[0]) if wrong else np.zeros(0, np.int64)
    return None if not len(at) else (int(owners.steps[at[0]]), replay.trace.space.indices(int(owners.threads[at[0]]))[0])


def _end_without(facts: ShotFacts) -> tuple[int, Triple] | None:
    """The last step of a run that leaves elements unwritten, and the block in focus."""
    trace = facts.replay.trace
    return (trace.steps - 1, facts.shot.focus.block) if trace.check.unwritten else None
