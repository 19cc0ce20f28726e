"""What has happened to one element: who touches it, how often, and what it holds."""

from dataclasses import dataclass

import numpy as np

from gemmviz.analysis.replay import Replay


@dataclass(frozen=True, slots=True)
class History:
    """``now``: lanes of the trace that touch the element at the step, ascending. ``loads`` and ``stores``: of the whole
    trace, ``loads_so_far`` up to the step, ``own_so_far`` of these by the chosen threads. ``value`` is what the latest access
    up to the step read or wrote there, ``value_step`` when; None where that is not known.
    """

    now: tuple[int, ...]
    loads: int
    loads_so_far: int
    own_so_far: int
    stores: int
    value: float | None = None
    value_step: int | None = None


def history(replay: Replay, array: int, element: int, step: int) -> History:
    """Of an element of a matrix in all traced blocks; of a shared array in the replay's block."""
    trace = replay.trace
    steps = replay.steps_of(array)
    lanes = slice(0, trace.space.lanes) if trace.arrays[array].space == "global" else replay.block_lanes
    found: list[tuple[int, np.ndarray[tuple[int], np.dtype[np.int64]]]] = []
    for number in np.unique(trace.site[steps]).tolist():
        some = steps[trace.site[steps] == number]
        beyond = element - trace.element[some, lanes]
        touched = (beyond >= 0) & (beyond < trace.sites[number].width) & (beyond <= element)
        rows, columns = np.nonzero(touched)
        found += [(int(some[row]), columns[rows == row] + lanes.start) for row in np.unique(rows)]
    found.sort(key=lambda each: each[0])
    loads = [(at, who) for at, who in found if trace.site_of(at).kind == "load"]
    own = replay.seen_lanes if trace.arrays[array].space == "shared" else replay.lanes
    value = _value(replay, array, element, step, found)
    return History(
        now=tuple(next((who.tolist() for at, who in found if at == step), ())),
        loads=sum(len(who) for _, who in loads),
        loads_so_far=sum(len(who) for at, who in loads if at <= step),
        own_so_far=sum(int(((who >= own.start) & (who < own.stop)).sum()) for at, who in loads if at <= step),
        stores=sum(len(who) for _, who in found) - sum(len(who) for _, who in loads),
        value=value[0] if value else None,
        value_step=value[1] if value else None,
    )


def _value(
    replay: Replay, array: int, element: int, step: int, found: list[tuple[int, "np.ndarray[tuple[int], np.dtype[np.int64]]"]]
) -> tuple[float, int] | None:
    """What the latest access up to ``step`` read or wrote; of a matrix that is only read, also what a later one reads. Of a
    wide access only the value of its first element is known.
    """
    if replay.value is None:
        return None
    before = [each for each in found if each[0] <= step]
    only_read = all(site.kind == "load" for site in replay.trace.sites if site.array == array)
    chosen = before[-1] if before else found[0] if found and only_read else None
    if chosen is None or replay.trace.element[chosen[0], chosen[1][-1]] != element:
        return None
    return float(replay.value[chosen[0], chosen[1][-1]]), chosen[0]
