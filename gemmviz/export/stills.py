"""Positions of steps and phases by number."""

from gemmviz.analysis.replay.position import Position
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import tr


def step_numbered(step: int, replay: Replay) -> Position:
    """Position of a step, counted from 1. Raises UsageError for a step that doesn't exist."""
    if not 1 <= step <= replay.steps:
        raise UsageError(
            tr("there is no step {step}: the trace has {steps} steps, counted from 1", step=step, steps=replay.steps)
        )
    return Position(step - 1)


def phase_numbered(phase: int, replay: Replay) -> Position:
    """Position of the start of a phase, counted from 1. Raises UsageError for a phase that doesn't exist."""
    inside = [int(step) for step in replay.phase_starts if int(replay.trace.phase[step]) == phase - 1]
    if inside and phase <= replay.phases:
        return Position(inside[0])
    which = tr("the kernel has {phases} phases, counted from 1", phases=replay.phases)
    if replay.trace.phases is not None:
        which = tr("the trace contains phases {first} to {last}", first=replay.trace.phases[0] + 1, last=replay.phases)
    raise UsageError(tr("there is no phase {phase}: {which}", phase=phase, which=which))
