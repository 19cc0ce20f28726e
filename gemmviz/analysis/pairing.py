"""Two replays side by side, locked to the same moment, and what differs between them."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.focus import Scope
from gemmviz.analysis.moment import Moment
from gemmviz.analysis.replay import Replay
from gemmviz.analysis.score import BARRIER, COMPUTE, STORE_TILE, VOICES
from gemmviz.model.sinks import COST_COLUMNS

Lock = Literal["phase", "k", "step", "bytes"]
LOCKS: tuple[Lock, ...] = ("phase", "k", "step", "bytes")
Floats = npt.NDArray[np.float64]
_SECTORS, _WAVEFRONTS = COST_COLUMNS.index("sectors"), COST_COLUMNS.index("wavefronts")


def clock(replay: Replay, scope: Scope, lock: Lock) -> Floats:
    """What time it is after each step: (steps,), never going back; kept with the replay. ``phase``: phases passed, with the
    share of the present one; ``k``: terms of the sums whose factors are read; ``step``: steps; ``bytes``: moved in sectors of
    global memory.
    """
    return replay.kept(("clock", scope.of_warps.start, scope.of_warps.stop, lock), lambda: _clock(replay, scope, lock))


def _clock(replay: Replay, scope: Scope, lock: Lock) -> Floats:
    trace = replay.trace
    if lock == "step":
        return np.arange(trace.steps, dtype=np.float64)
    if lock == "bytes":
        return replay.costs(scope)[:, _SECTORS].cumsum().astype(np.float64) * trace.rules.sector_bytes
    if lock == "k":
        terms = replay.terms(scope)
        if terms is not None:
            ends = np.sort(terms.steps.max(axis=0))
            return np.searchsorted(ends, np.arange(trace.steps), side="right").astype(np.float64)
    phase = trace.phase.astype(np.float64)
    starts = np.flatnonzero(np.diff(phase, prepend=phase[0] - 1))
    lengths = np.diff(np.concatenate([starts, [trace.steps]]))
    within = np.arange(trace.steps) - np.repeat(starts, lengths)
    return np.asarray(phase + (within + 1) / np.repeat(lengths, lengths) * (1 - 1e-9), np.float64)


def step_like(other: Floats, own: Floats, step: int) -> int:
    """The last step of another replay at which it is no later there than after ``step`` here."""
    return max(0, min(len(other) - 1, int(np.searchsorted(other, own[step], side="right")) - 1))


@dataclass(frozen=True, slots=True)
class Difference:
    """One quantity on both sides, so far and in the end. ``voice``: the part of the score that it belongs to, None for all."""

    name: str
    voice: int | None
    so_far: tuple[float, float]
    in_all: tuple[float, float]

    @property
    def ratio(self) -> float:
        """How many times as much on the right, in the end."""
        left, right = self.in_all
        return right / left if left else math.inf if right else 1.0

    @property
    def weight(self) -> float:
        """How different the sides are: the factor between them, whichever way it goes; something against nothing is most."""
        ratio = self.ratio
        return math.inf if ratio in (0.0, math.inf) else max(ratio, 1 / ratio)


@dataclass(frozen=True)
class Pair:
    """Two moments, locked by ``lock``. ``times_ms``: of the real kernels, None where nobody knows; ``marked``: a matrix, row
    and column that is followed in both.
    """

    left: Moment
    right: Moment
    lock: Lock
    times_ms: tuple[float | None, float | None] = (None, None)
    marked: tuple[str, int, int] | None = None


def differences(pair: Pair) -> list[Difference]:
    """All that is counted on both sides, the most different first; of the watched blocks or warps."""
    sides = (pair.left, pair.right)
    steps = [(float(moment.step + 1), float(moment.trace.steps)) for moment in sides]
    found = [Difference("steps", None, *_both(steps))]
    for name, voice, column in _counted():
        numbers = [_of_voice(moment, voice, column) for moment in sides]
        if any(in_all for _, in_all in numbers):
            found.append(Difference(name, voice, *_both(numbers)))
    if pair.marked is not None:
        numbers = [_loads_of(moment, pair.marked) for moment in sides]
        matrix, row, column = pair.marked
        found.append(Difference(f"loads of {matrix}[{row}, {column}]", None, *_both(numbers)))
    return sorted(found, key=lambda each: -each.weight)


def _counted() -> list[tuple[str, int, int]]:
    in_tiles = {STORE_TILE: ("wavefronts", _WAVEFRONTS), COMPUTE: ("wavefronts", _WAVEFRONTS)}
    units = [in_tiles.get(voice, ("sectors", _SECTORS)) for voice in range(BARRIER)]
    return [(f"{VOICES[voice]}: {unit}", voice, column) for voice, (unit, column) in enumerate(units)]


def _both(numbers: list[tuple[float, float]]) -> tuple[tuple[float, float], tuple[float, float]]:
    (left, left_all), (right, right_all) = numbers
    return (left, right), (left_all, right_all)


def _of_voice(moment: Moment, voice: int, column: int) -> tuple[float, float]:
    """What the steps of a voice cost so far and in all."""
    costs = moment.replay.costs(moment.scope)[:, column] * (moment.replay.score.voice == voice)
    return float(costs[: moment.step + 1].sum()), float(costs.sum())


def _loads_of(moment: Moment, marked: tuple[str, int, int]) -> tuple[float, float]:
    """How often the watched threads load an element so far and in all."""
    trace, (matrix, row, column) = moment.trace, marked
    number = next((n for n, array in enumerate(trace.arrays) if array.name == matrix), None)
    if number is None:
        return 0.0, 0.0
    array = trace.arrays[number]
    element = column * array.shape[0] + row if array.column_major else row * array.shape[1] + column
    so_far = in_all = 0
    for touches in trace.touches_of(number, "read"):
        touched = trace.element[touches.rows, moment.scope.threads]
        loads = sum((touched == element - offset) for offset in touches.operand.offsets if offset <= element)
        each = np.asarray(loads).sum(axis=1)
        in_all += int(each.sum())
        so_far += int(each[touches.steps <= moment.step].sum())
    return float(so_far), float(in_all)
