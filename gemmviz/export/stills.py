"""One frame of a run: whom it watches, where, and in which view; or a sentence about what there is none of."""

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.position import Position
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.errors import UsageError
from gemmviz.model.trace import Trace
from gemmviz.scenes.catalog import view_named, views_of


def focus_inside(focus: Focus, trace: Trace) -> Focus:
    """The focus with all that follows from it. Raises UsageError for one that the trace doesn't hold."""
    found = focus.within(trace)
    is_there = all(number is None or number >= 0 for number in (focus.warp, focus.thread))
    if not is_there or (found.block, found.thread) != (focus.block, focus.thread) or focus.warp not in (None, found.warp):
        warp = "" if focus.warp is None else f", warp {focus.warp}"
        thread = "" if focus.thread is None else f", thread {focus.thread}"
        x, y, _ = focus.block
        raise UsageError(f"block {x},{y}{warp}{thread} is not in the trace (blocks {trace.blocks})")
    return found


def step_numbered(step: int, replay: Replay) -> Position:
    """A step, counted from 1. Raises UsageError for one that there is none of."""
    if not 1 <= step <= replay.steps:
        raise UsageError(f"there is no step {step}: the trace has {replay.steps} steps, counted from 1")
    return Position(step - 1)


def phase_numbered(phase: int, replay: Replay) -> Position:
    """Where a phase begins, counted from 1. Raises UsageError for one that there is none of."""
    inside = [int(step) for step in replay.phase_starts if int(replay.trace.phase[step]) == phase - 1]
    if inside and phase <= replay.phases:
        return Position(inside[0])
    which = f"the kernel has {replay.phases} phases, counted from 1"
    if replay.trace.phases is not None:
        which = f"of the phases, {replay.trace.phases[0] + 1} to {replay.phases} are in the trace"
    raise UsageError(f"there is no phase {phase}: {which}")


def check_view(name: str, subject: type) -> None:
    """Raises UsageError for a view that doesn't show such a subject."""
    if view_named(name).subject is not subject:
        raise UsageError(f"the view {name!r} shows something else", remedy=f"choose {', '.join(views_of(subject))}")
