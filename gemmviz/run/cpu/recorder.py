"""The recording sink: builds the dense matrices of a trace from the accesses of a run."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gemmviz.model.arrays import AnyArray, Bools, Floats, Ints, Longs
from gemmviz.model.messages import GemmvizError
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import BOUNDS, INACTIVE
from gemmviz.run.cpu.simt.tags import tag_array, tag_element

_RESERVED_BYTES = 512 << 20
_MOST_STORED_BYTES = 64 << 20
_FIRST_STORES, _ORIGIN_BYTES = 64, 5
_SHORT_ROW = 8192  # threads


class RowBuffer:
    """A matrix that grows downwards. Reserved memory costs nothing until it is written, if the system commits it on first use,
    so a generous reserve saves copies.
    """

    def __init__(self, columns: int, dtype: Any, rows: int | None = None) -> None:
        if rows is None:
            rows = max(64, _RESERVED_BYTES // (max(1, columns) * np.dtype(dtype).itemsize))
        self.data: AnyArray = _reserved(rows, columns, dtype)
        self.used = 0

    def new(self) -> AnyArray:
        """The next row, uninitialised."""
        if self.used == len(self.data):
            self.data.resize((max(2, self.used * 3 // 2), self.data.shape[1]), refcheck=False)
        self.used += 1
        row: AnyArray = self.data[self.used - 1]
        return row

    def finished(self) -> AnyArray:
        """All rows, read-only; the reserve is released."""
        self.data.resize((self.used, self.data.shape[1]), refcheck=False)
        self.data.flags.writeable = False
        return self.data


def _reserved(rows: int, columns: int, dtype: Any) -> AnyArray:
    while True:
        try:
            return np.empty((rows, columns), dtype)
        except MemoryError:
            if rows <= 64:
                raise
            rows //= 4


class Recorder(AccessSink):
    """Records elements, and values if requested; ``stored``: values that stores wrote to global memory, or several
    threads into one element, by row, while there are few. Raises GemmvizError when the trace outgrows ``limit_bytes``.
    """

    def __init__(
        self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], values: bool, limit_bytes: int, steps: int | None = None
    ) -> None:
        self.space, self.arrays = space, arrays
        self.stored: dict[int, Floats] = {}
        self._stores: list[tuple[bool, ...]] = []
        self._place, self._is_joint = 0, False  # of the latest operand; whether threads share its elements
        self._waits: list[
            tuple[int, tuple[int, ...]]
        ] = []  # the step of each wait, and the asynchronous steps that it completes
        if steps is not None:
            steps = min(steps, limit_bytes // (4 * max(1, space.thread_count)))
        self.element = RowBuffer(space.thread_count, np.int32, steps)
        self.values = RowBuffer(space.thread_count, np.float32, steps) if values else None
        self.limit_bytes = limit_bytes
        self.most_rows = limit_bytes // (max(1, space.thread_count) * (8 if values else 4))
        self._most_rows = min(self.most_rows, BOUNDS.steps)  # up to this number of steps no limit can be exceeded
        self.sites: list[Site] = []
        self.step_site: list[int] = []
        self.visits: list[tuple[int, ...]] = []
        self.epoch: list[int] = []

    def site(self, site: Site) -> None:
        if len(self.sites) == BOUNDS.sites:
            raise GemmvizError(f"the kernel touches memory at more than {BOUNDS.sites:,} places", remedy="unroll fewer loops")
        self.sites.append(site)
        writes = (operand.access == "write" and self.arrays[operand.array].space == "global" for operand in site.operands)
        self._stores.append(tuple(writes) or (False,))

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        if place == 0:
            self.step_site.append(site)
            self.visits.append(visits)
            self.epoch.append(epoch)
        if self.element.used >= self._most_rows:
            self._check_size()
        self._place, self._is_joint = place, np.size(offset) < self.space.threads_per_block
        row = self.element.new()
        fill_row(row, self.space, offset)
        if mask is not None:
            np.copyto(row.reshape(self.space.shape), INACTIVE, where=~mask)
        if self.values is not None:
            self.values.new()[:] = 0

    def _check_size(self) -> None:
        """Raises GemmvizError if one more row would exceed a limit."""
        if self.element.used >= self.most_rows:
            raise too_large(self.element.used + 1, self.space.thread_count, 8 if self.values else 4, self.limit_bytes)
        if len(self.step_site) > BOUNDS.steps:
            message = f"the trace would have more than {BOUNDS.steps:,} steps"
            raise GemmvizError(message, remedy="choose some phases, or a smaller K")

    def completed(self, steps: Sequence[int]) -> None:
        self._waits.append((len(self.step_site) - 1, tuple(steps)))

    def completes(self) -> Ints:
        """The step at which each step completes, as in a Trace: int32 (steps,), or empty."""
        is_async = np.array([site.is_async for site in self.sites], bool)
        if not is_async.any():
            return np.zeros(0, np.int32)
        completes = np.arange(len(self.step_site), dtype=np.int32)
        begun = np.flatnonzero(is_async[self.step_site])
        completes[begun] = len(completes)
        for step, numbers in reversed(self._waits):  # a step that several waits complete is complete at the first
            completes[begun[list(numbers)]] = step
        completes.flags.writeable = False
        return completes

    def value(self, value: Any) -> None:
        if self.values is not None:
            fill_row(self.values.data[self.values.used - 1], self.space, value)
        elif (self._stores[self.step_site[-1]][self._place] or self._writes_together()) and len(
            self.stored
        ) * 8 * self.space.thread_count < _MOST_STORED_BYTES:
            row = self.stored[self.element.used - 1] = np.empty(self.space.thread_count)
            fill_row(row, self.space, value)

    def _writes_together(self) -> bool:
        """Whether the latest operand is a store of several threads into the same elements."""
        operand = self.sites[self.step_site[-1]].operand(self._place)
        return self._is_joint and operand is not None and operand.access == "write"

    def visit_table(self) -> Ints:
        depth = max((len(visits) for visits in self.visits), default=0)
        table = np.full((len(self.visits), depth), -1, np.int32)
        for column in range(depth):
            table[:, column] = [visits[column] if column < len(visits) else -1 for visits in self.visits]
        return table


def too_large(steps: int, threads: int, access_bytes: int, limit_bytes: int) -> GemmvizError:
    """The error for a record that outgrows its limit. ``steps``: number of the steps known so far."""
    size = f"{steps:,} steps of {threads:,} threads take {steps * threads * access_bytes / (1 << 20):,.0f} MiB"
    remedy = "choose some blocks (--blocks 0:2,0:2) or some phases (--phases 1-2)"
    return GemmvizError(f"{size}; the limit of a trace is {limit_bytes / (1 << 20):,.0f} MiB here", remedy=remedy)


def fill_row(row: AnyArray, space: ThreadSpace, value: Any) -> None:
    """Writes ``value``, broadcast over the threads, into one row; a long row first along the threads of a block, then over
    blocks, which is faster.
    """
    if not isinstance(value, np.ndarray) or value.size == 1:
        row[:] = value if not isinstance(value, np.ndarray) else value.ravel()[0]
        return
    if len(row) <= _SHORT_ROW or value.size == len(row):
        np.copyto(row.reshape(space.shape), value, casting="unsafe")
        return
    outer = len(space.block_shape)
    threads = np.empty((*value.shape[:outer], space.threads_per_block), row.dtype)
    np.copyto(threads.reshape((*value.shape[:outer], *space.thread_shape)), value, casting="unsafe")
    np.copyto(row.reshape((*space.block_shape, space.threads_per_block)), threads)


class PhaseFilter(AccessSink):
    """Passes on the accesses in some trips of the phase loop, or outside of it. Sites are numbered in the order in which they
    pass.
    """

    def __init__(self, sink: AccessSink, phase_loop: int, phases: tuple[int, int]) -> None:
        self.sink = sink
        self.phase_loop = phase_loop
        self.phases = phases
        self.sites: list[Site] = []
        self.numbers: dict[int, int] = {}
        self.on = True
        self._begun: list[int | None] = []  # asynchronous steps: their number among those that passed, None for the others
        self._passed = 0

    def started(self, machine: Any) -> None:
        self.sink.started(machine)

    def ended(self) -> None:
        self.sink.ended()

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        if place == 0:
            loops = self.sites[site].loops
            trip = visits[loops.index(self.phase_loop)] if self.phase_loop in loops else None
            self.on = trip is None or self.phases[0] <= trip < self.phases[1]
            if self.sites[site].is_async:
                self._begun.append(self._passed if self.on else None)
                self._passed += self.on
        if self.on:
            if site not in self.numbers:
                self.numbers[site] = len(self.numbers)
                self.sink.site(self.sites[site])
            self.sink.access(self.numbers[site], place, offset, mask, visits, epoch)

    def completed(self, steps: Sequence[int]) -> None:
        passed = [number for step in steps if (number := self._begun[step]) is not None]
        if self.on and passed:
            self.sink.completed(passed)

    def value(self, value: Any) -> None:
        if self.on:
            self.sink.value(value)

    def origins(self, tags: list[Any]) -> None:
        if self.on:
            self.sink.origins(tags)


class StepCounter(AccessSink):
    """A sink that counts steps, records whether any ran under a mask, and stores nothing else."""

    wants: Literal["all", "origins", "sums"] = "sums"

    def __init__(self) -> None:
        self.steps = 0
        self.masked = False
        self._begun: list[int] = []

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        self.steps += place == 0
        self.masked |= mask is not None

    def begin(self) -> None:
        self._begun.append(self.steps)

    def end(self) -> int:
        return self.steps - self._begun.pop()

    def again(self, part: int, visits: tuple[int, ...]) -> None:
        self.steps += part


class OriginRecorder(StepCounter):
    """Records the origins of stores into shared memory in a run on tags: a row for each element of a store's width. Raises the
    errors of ``Recorder``.
    """

    wants = "origins"

    def __init__(self, space: ThreadSpace, limit_bytes: int) -> None:
        super().__init__()
        self.space = space
        self.limit_bytes = limit_bytes
        self.stores: list[int] = []
        self.arrays = RowBuffer(space.thread_count, np.int8, _FIRST_STORES)
        self.elements = RowBuffer(space.thread_count, np.int32, _FIRST_STORES)

    def origins(self, tags: list[Any]) -> None:
        for tag in tags:
            self.stores.append(self.steps - 1)
            if len(self.stores) * _ORIGIN_BYTES * self.space.thread_count > self.limit_bytes:
                raise too_large(len(self.stores), self.space.thread_count, _ORIGIN_BYTES, self.limit_bytes)
            fill_row(self.arrays.new(), self.space, tag_array(tag))
            fill_row(self.elements.new(), self.space, tag_element(tag))
