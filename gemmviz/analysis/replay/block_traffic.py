"""What one block moves of one array, counted from the trace of a run."""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.memory.counts import Counts, count_rows
from gemmviz.analysis.memory.warps import request_rows
from gemmviz.model.cancelling import checkpoint
from gemmviz.model.sites import Access
from gemmviz.model.trace import Trace

_ROWS_AT_ONCE = 256
_LARGEST_COUNTED = 1 << 22  # elements of an array whose accesses are counted one by one


class BlockTraffic(Struct, frozen=True):
    """Accesses of some threads to one array. ``elements``: requested ones, each as often as it is requested; ``distinct``: of
    these without repeats; ``times``: how often each of these is requested if that is the same for all, else None; ``cost``:
    what the requests cost; ``tiles``: elements that each phase copies into shared memory, in the order of the phases.
    """

    elements: int
    distinct: int
    times: int | None
    cost: Counts
    tiles: tuple[int, ...] = ()


def block_traffic(trace: Trace, array: int, access: Access, threads: slice) -> BlockTraffic:
    """Count the accesses of whole blocks: ``threads`` are all of theirs. Raises Cancelled."""
    size = trace.arrays[array].size
    seen: npt.NDArray[Any] = np.zeros(size, np.int64 if size <= _LARGEST_COUNTED else np.bool_)
    elements, cost = 0, Counts()
    for touches in trace.touches_of(array, access):
        for start in range(0, len(touches.rows), _ROWS_AT_ONCE):
            checkpoint()
            rows = trace.element[touches.rows[start : start + _ROWS_AT_ONCE], threads]
            touched = trace.spread(touches.operand, rows, threads)
            elements += len(touched)
            if seen.dtype == np.bool_:
                seen[touched] = True
            else:
                seen += np.bincount(touched, minlength=size)
            lanes = request_rows(rows.reshape(-1, trace.launch.threads_per_block), trace.rules)
            cost += count_rows(lanes, touches.operand, trace.arrays[array], trace.rules)
    often = seen[seen > 0]
    same = len(often) > 0 and seen.dtype != np.bool_ and bool((often == often[0]).all())
    tiles = _tiles(trace, array, threads) if access == "read" else ()
    return BlockTraffic(elements, len(often), int(often[0]) if same else None, cost, tiles)


def whole_traffic(trace: Trace, array: int, access: Access) -> BlockTraffic:
    """Count the accesses of all traced blocks."""
    return block_traffic(trace, array, access, slice(0, trace.space.thread_count))


def copied_from(trace: Trace, shared: int, threads: slice) -> tuple[int, ...]:
    """The arrays whose elements threads store into a shared array, the most frequent first."""
    stores = np.isin(
        trace.origin_step, np.concatenate([t.steps for t in trace.touches_of(shared, "write")] or [np.zeros(0, np.int64)])
    )
    sources = trace.origin_array[stores][:, threads]
    count = Counter(sources[sources >= 0].tolist())
    return tuple(number for number, _ in count.most_common())


def _tiles(trace: Trace, array: int, threads: slice) -> tuple[int, ...]:
    """Elements of an array that are copied into shared memory, by phase."""
    if not len(trace.origin_step):
        return ()
    copied = np.count_nonzero(trace.origin_array[:, threads] == array, axis=1)
    by_phase: Counter[int] = Counter()
    for phase, count in zip(trace.phase[trace.origin_step].tolist(), copied.tolist(), strict=True):
        by_phase[phase] += count
    return tuple(count for _, count in sorted(by_phase.items()) if count)
