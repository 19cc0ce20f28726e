"""Who takes the accesses of a run, and the sums over a launch, as they come."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.threads import ThreadSpace

SumKey = tuple[Site, int, int]  # a site, the place of one of its operands, a phase


class AccessSink:
    """Takes the accesses of a run as they happen. ``offset`` and ``mask`` broadcast over the thread space's axes.

    A sink inherits from this and says only what it wants to know; the rest passes by. One that ``wants`` no more than sums, or
    than what is stored into shared memory, is told where a part of the run begins and ends, and that a part which came before
    comes again.
    """

    wants: Literal["all", "origins", "sums"] = "all"

    def started(self, machine: Any) -> None:
        """The run begins: ``machine.slots`` hold the kernel's variables, ``machine.exited`` who has returned (None: nobody)."""

    def ended(self) -> None:
        """The run is over, however it ended: the machine is to be let go."""

    def site(self, site: Site) -> None:
        """A site is met for the first time; its number is the count of those before."""

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        """One operand of a step: ``place`` is its place among the site's, and 0 begins a new step. A site without operands is
        announced once, with 0 for place and offset.

        ``offset`` is in elements of the operand's array; ``mask`` is None where all threads are active.
        """

    def completed(self, steps: Sequence[int]) -> None:
        """The wait that was just announced completes these asynchronous steps, numbered from 0 as they were announced."""

    def value(self, value: Any) -> None:
        """What the operand just announced read or wrote (the first element of a wide one)."""

    def origins(self, tags: list[Any]) -> None:
        """What the store into shared memory just announced wrote, as tags, one for each element of its width."""

    def begin(self) -> None:
        """A part of the run begins, perhaps within another."""

    def end(self) -> Any:
        """It ends: what ``again`` will need, or None for a part that must run again."""

    def again(self, part: Any, visits: tuple[int, ...]) -> None:
        """All accesses of a part once more, in these trips of the loops around it."""


class Tee(AccessSink):
    """Passes every access on to several others."""

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
    """Takes a whole launch: as accesses, through one sink for each group of blocks, or as sums that somebody else made."""

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        """The sink of one group of blocks. ``phase_loop``: the loop whose trips are the phases, -1 for none."""

    def add_sums(self, arrays: tuple[MemoryArray, ...], sums: Mapping[SumKey, tuple[int, ...]]) -> None:
        """Sums in the order of ``COST_COLUMNS``, by site, place of the operand and phase (-1 outside of phases)."""


# What is counted of an access, summed over warps. See gemmviz.analysis.memory.counts for what each means.
COST_COLUMNS = (
    "requests", "lanes", "bytes_asked", "bytes_used", "sectors", "ideal_sectors", "lines", "wavefronts", "ideal_wavefronts",
)  # fmt: skip
