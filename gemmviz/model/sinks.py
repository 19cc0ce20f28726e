"""Sinks: receivers of the accesses of a run, and of sums over a launch, as they are produced."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.threads import ThreadSpace

SumKey = tuple[Site, int, int]  # a site, the place of one of its operands, a phase


class Shifted:
    """Offsets that are those of a large array plus one number, for a sink that wants sums alone. ``low``, ``high``: the least
    and the greatest of the array.
    """

    __slots__ = ("base", "high", "low", "shift")

    def __init__(self, base: Longs, low: int, high: int, shift: int) -> None:
        self.base, self.low, self.high, self.shift = base, low, high, shift

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.base + self.shift, dtype)

    def __add__(self, number: int) -> "Shifted":
        return Shifted(self.base, self.low, self.high, self.shift + number)

    def __mul__(self, number: int) -> Longs:
        return np.asarray(self) * number

    @property
    def size(self) -> int:
        return self.base.size

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    def is_within(self, least: int, most: int) -> bool:
        """Whether all offsets lie between two numbers, or are one of them."""
        return least <= self.low + self.shift and self.high + self.shift <= most


class AccessSink:
    """Receives the accesses of a run in program order. ``offset`` and ``mask`` broadcast over the axes of the thread
    space.

    A sink overrides the methods for the events that it needs. A sink whose ``wants`` is limited to sums, or to the values
    stored into shared memory, is also notified where a part of the run begins and ends, and where an earlier part is repeated.
    """

    wants: Literal["all", "origins", "sums"] = "all"

    def started(self, machine: Any) -> None:
        """The run begins: ``machine.slots`` hold the kernel's variables, ``machine.exited`` the threads that have returned, or
        None.
        """

    def ended(self) -> None:
        """The run has ended, for whatever reason; the sink must release the machine."""

    def site(self, site: Site) -> None:
        """A new site. Sites are numbered in the order of these calls, from 0."""

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        """One operand of a step: ``place`` is its index among the site's operands, and 0 begins a new step. A site without
        operands is reported once, with 0 for place and offset.

        ``offset`` is in elements of the operand's array, and may be ``Shifted`` for a sink that wants sums alone; ``mask`` is
        None if all threads are active.
        """

    def together(self, branch: int, mask: Bools | None, visits: tuple[int, ...]) -> None:
        """A branch, by the number of its site, at which no warp parts; for a sink that wants sums alone. One at which lanes of
        a warp part is an ``access`` without operands, whose offset is true where the condition holds.
        """

    def completed(self, steps: Sequence[int]) -> None:
        """The latest step is a wait that completes these asynchronous steps, numbered from 0 in the order of their calls."""

    def value(self, value: Any) -> None:
        """The value that the latest operand read or wrote (the first element of a wide access)."""

    def origins(self, tags: list[Any]) -> None:
        """The origins of what the latest store wrote to shared memory, as tags, one for each element of its width."""

    def begin(self) -> None:
        """A part of the run begins, possibly within another."""

    def end(self) -> Any:
        """A part of the run ends. Returns what ``again`` needs to repeat it, or None if it must be run again."""

    def again(self, part: Any, visits: tuple[int, ...]) -> None:
        """Repeats all accesses of a part, in these trips of the loops around it."""


class Tee(AccessSink):
    """A sink that passes every access on to several others."""

    def __init__(self, *sinks: AccessSink) -> None:
        self.sinks = sinks
        self.wants = "sums" if all(sink.wants == "sums" for sink in sinks) else "all"

    def started(self, machine: Any) -> None:
        for sink in self.sinks:
            sink.started(machine)

    def ended(self) -> None:
        for sink in self.sinks:
            sink.ended()

    def site(self, site: Site) -> None:
        for sink in self.sinks:
            sink.site(site)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        for sink in self.sinks:
            sink.access(site, place, offset, mask, visits, epoch)

    def together(self, branch: int, mask: Bools | None, visits: tuple[int, ...]) -> None:
        for sink in self.sinks:
            sink.together(branch, mask, visits)

    def completed(self, steps: Sequence[int]) -> None:
        for sink in self.sinks:
            sink.completed(steps)

    def value(self, value: Any) -> None:
        for sink in self.sinks:
            sink.value(value)

    def origins(self, tags: list[Any]) -> None:
        for sink in self.sinks:
            sink.origins(tags)

    def begin(self) -> None:
        for sink in self.sinks:
            sink.begin()

    def end(self) -> tuple[Any, ...] | None:
        parts = tuple(sink.end() for sink in self.sinks)
        return None if any(part is None for part in parts) else parts

    def again(self, part: tuple[Any, ...], visits: tuple[int, ...]) -> None:
        for sink, each in zip(self.sinks, part, strict=True):
            sink.again(each, visits)


class LaunchSink(Protocol):
    """Receives a whole launch: as accesses, through one sink for each group of blocks, or as finished sums."""

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        """The sink for one group of blocks. ``phase_loop``: the loop whose trips are the phases, -1 for none."""

    def add_sums(self, arrays: tuple[MemoryArray, ...], sums: Mapping[SumKey, tuple[int, ...]]) -> None:
        """Adds sums, columns as in ``COST_COLUMNS``, by site, index of the operand and phase (-1 outside of phases)."""


# Costs of accesses, summed over warps. See gemmviz.analysis.counts for their definitions.
COST_COLUMNS = (
    "requests", "lanes", "bytes_asked", "bytes_used", "sectors", "needed_sectors", "ideal_sectors", "lines", "wavefronts",
    "ideal_wavefronts",
)  # fmt: skip
