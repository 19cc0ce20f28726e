"""Two replays side by side at corresponding steps, and the differences between them."""

import math
from typing import Literal

import numpy as np
from msgspec import Struct

from gemmviz.analysis.counts import LaunchCounts, values_read
from gemmviz.analysis.replay.focus import Scope
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import BARRIER, COMPUTE, STORE_TILE, Replay, track_names, track_of
from gemmviz.model.arrays import Floats
from gemmviz.model.device import OccupancyCase
from gemmviz.model.messages import marked, tr
from gemmviz.model.problem import Problem
from gemmviz.model.sinks import COST_COLUMNS

Lock = Literal["phase", "k", "step", "bytes"]
LOCKS: tuple[Lock, ...] = ("phase", "k", "step", "bytes")
_SECTORS, _WAVEFRONTS = COST_COLUMNS.index("sectors"), COST_COLUMNS.index("wavefronts")
_UNIT_NAMES = {_SECTORS: marked("sectors"), _WAVEFRONTS: marked("wavefronts")}


def clock(replay: Replay, scope: Scope, lock: Lock) -> Floats:
    """The time after each step: (steps,), ascending; cached with the replay. ``phase``: finished phases plus the share of the
    present one; ``k``: terms of the sums whose factors are read; ``step``: steps; ``bytes``: moved in sectors of global memory.
    """
    return replay.cached(("clock", scope.of_warps.start, scope.of_warps.stop, lock), lambda: _clock(replay, scope, lock))


def _clock(replay: Replay, scope: Scope, lock: Lock) -> Floats:
    trace = replay.trace
    if lock == "step":
        return np.arange(trace.steps, dtype=np.float64)
    if lock == "bytes":
        return replay.costs(scope)[:, _SECTORS].cumsum().astype(np.float64) * trace.rules.sector_bytes
    terms = replay.terms(scope) if lock == "k" else None
    if terms is not None:
        ends = np.sort(terms.steps.max(axis=0))
        return np.searchsorted(ends, np.arange(trace.steps), side="right").astype(np.float64)
    phase = trace.phase.astype(np.float64)
    starts = np.flatnonzero(np.diff(phase, prepend=phase[0] - 1))
    lengths = np.diff(np.concatenate([starts, [trace.steps]]))
    within = np.arange(trace.steps) - np.repeat(starts, lengths)
    return np.asarray(phase + (within + 1) / np.repeat(lengths, lengths) * (1 - 1e-9), np.float64)


def shared_lock(left: tuple[Replay, Scope], right: tuple[Replay, Scope], lock: Lock) -> Lock:
    """The lock itself, or "phase" if it is "k" and one side has no sums."""
    if lock == "k" and any(replay.terms(scope) is None for replay, scope in (left, right)):
        return "phase"
    return lock


def step_like(other: Floats, own: Floats, step: int) -> int:
    """The step of another replay at the time after ``step`` here: of several steps at the same time the one with the same
    rank, so that runs with the same steps go through the same accesses; else the last whose time is no later.
    """
    time = own[step]
    first, stop = (int(np.searchsorted(other, time, side=side)) for side in ("left", "right"))  # type: ignore[call-overload]
    if first == stop:
        return max(0, first - 1)
    own_first, own_stop = (int(np.searchsorted(own, time, side=side)) for side in ("left", "right"))  # type: ignore[call-overload]
    return first + (step - own_first) * (stop - first) // (own_stop - own_first)


def moment_like(reader: Reader, now: Moment, lock: Lock) -> tuple[Moment, Lock, bool]:
    """The moment of another run at the time of this one, the lock that both support, and whether it is another step there than
    one step earlier here.
    """
    common = shared_lock((reader.replay, reader.scope), (now.replay, now.scope), lock)
    clocks = clock(reader.replay, reader.scope, common), clock(now.replay, now.scope, common)
    step = step_like(*clocks, now.step)
    return reader.at(step), common, now.step == 0 or step_like(*clocks, now.step - 1) != step


class Difference(Struct, frozen=True):
    """One quantity on both sides: for the chosen blocks so far, and for the whole launch (None if not counted). ``track``: the
    track of the timeline that it belongs to, None for all.
    """

    name: str
    track: int | None
    so_far: tuple[float, float] | None
    in_all: tuple[float | None, float | None]

    @property
    def ratio(self) -> float | None:
        """The right side divided by the left, in the whole launch; None if unknown."""
        left, right = self.in_all
        if left is None or right is None:
            return None
        return right / left if left else math.inf if right else 1.0

    @property
    def weight(self) -> float:
        """Weight for sorting: the factor between the sides in either direction, 1 if only one of them is 0."""
        ratio = self.ratio
        return 1.0 if ratio is None or ratio in (0.0, math.inf) else max(ratio, 1 / ratio)


class Pair(Struct, frozen=True):
    """Two moments, locked by ``lock``. ``counts``: of the whole launches, ``times_ms``: of the real kernels, None if unknown;
    ``time_sources``: origins of the known times; ``marked``: a matrix, row and column that is followed in both; ``both_move``:
    whether the left run also takes a step with this step of the right one; ``cases``: the resources of a block on its device.
    """

    left: Moment
    right: Moment
    lock: Lock
    counts: tuple[LaunchCounts | None, LaunchCounts | None] = (None, None)
    times_ms: tuple[float | None, float | None] = (None, None)
    time_sources: tuple[str, ...] = ()
    marked: tuple[str, int, int] | None = None
    both_move: bool = True
    cases: tuple[OccupancyCase | None, OccupancyCase | None] = (None, None)

    @property
    def sides(self) -> tuple[Moment, Moment]:
        return self.left, self.right

    @property
    def problem(self) -> Problem:
        """The problem of the left run."""
        return self.left.problem

    @property
    def is_same_problem(self) -> bool:
        """Whether both solve the same problem with the same sizes, without which their times can't be compared."""
        return bool(self.left.trace.setup.problem == self.right.trace.setup.problem)


def differences(pair: Pair) -> list[Difference]:
    """All quantities that are counted, largest factor first; what only one side has follows."""
    sides, quantities, names = (pair.left, pair.right), [], track_names(pair.problem)
    for track, column in _TRACK_UNITS:
        left, right = (_of_track(moment, track, column) for moment in sides)
        whole = tuple(None if each is None else _launch_cost(each, track, column, pair.problem) for each in pair.counts)
        if left or right or any(whole):
            name = f"{names[track]}: {tr(_UNIT_NAMES[column])}"
            quantities.append(Difference(name, track, (left, right), (whole[0], whole[1])))
    for name, each in (
        (tr("bytes requested per multiply-add"), _bytes_loaded),
        (tr("shared-memory values per multiply-add"), _values_loaded),
    ):
        whole = tuple(
            None if counts is None else _per_multiply(each(counts), moment.trace.setup.problem)
            for counts, moment in zip(pair.counts, sides, strict=True)
        )
        if any(whole):
            quantities.append(Difference(name, None, None, (whole[0], whole[1])))
    quantities.sort(key=lambda each: -each.weight)
    if pair.marked is not None:
        matrix, row, column = pair.marked
        so_far = (_loads_of(pair.left, pair.marked), _loads_of(pair.right, pair.marked))
        quantities.insert(
            0,
            Difference(
                tr("loads of {matrix}[{row}, {column}]", matrix=matrix, row=row, column=column), None, so_far, (None, None)
            ),
        )
    return quantities


_TRACK_UNITS = tuple((track, _WAVEFRONTS if track in (STORE_TILE, COMPUTE) else _SECTORS) for track in range(BARRIER))


def _of_track(moment: Moment, track: int, column: int) -> float:
    """Cost of the steps of a track for the chosen blocks so far."""
    costs, timeline = moment.replay.costs(moment.scope)[: moment.step + 1, column], moment.replay.timeline
    return float(costs[timeline.track[: moment.step + 1] == track].sum())


def _launch_cost(counts: LaunchCounts, track: int, column: int, problem: Problem) -> float:
    """Cost of the accesses of a track for the whole launch."""
    return float(
        sum(
            getattr(each, COST_COLUMNS[column])
            for (site, _), each in counts.accesses.items()
            if track_of(counts.arrays, site, problem) == track
        )
    )


def _bytes_loaded(counts: LaunchCounts) -> float:
    return float(counts.total("global", "read").bytes_asked)


def _values_loaded(counts: LaunchCounts) -> float:
    return float(values_read(counts))


def _loads_of(moment: Moment, marked: tuple[str, int, int]) -> float:
    """Loads of an element by the chosen blocks so far; NaN if there is no such element."""
    trace, (matrix, row, column) = moment.trace, marked
    number = trace.number_of(matrix)
    if number is None:
        return math.nan
    array = trace.arrays[number]
    if row >= array.extents[0] or column >= array.extents[1]:
        return math.nan
    element = array.element_at(row, column)
    so_far = 0
    for touches in trace.touches_of(number, "read"):
        rows = touches.rows[touches.steps <= moment.step]
        touched = trace.element[rows, moment.scope.threads]
        offsets = trace.offsets(touches.operand, moment.scope.threads)
        so_far += sum(int(((touched >= 0) & (touched + offset == element)).sum()) for offset in offsets)
    return float(so_far)


def _per_multiply(amount: float, problem: Problem) -> float | None:
    """An amount for each multiply-add of a multiplication; None for another problem."""
    return 2 * amount / problem.flops if problem.is_multiply and problem.flops else None
