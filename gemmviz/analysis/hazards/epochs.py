"""A sink that finds hazards epoch by epoch, where an epoch is the accesses between two barriers, and counts repeated epochs
without searching them again.

A barrier of the whole block orders everything before it and after it, so the hazards of an epoch depend on its accesses alone,
and a kernel that iterates along K has the same epochs in every phase.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.analysis.hazards.hazard import HazardKey
from gemmviz.analysis.hazards.hazards import HazardSink
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import Site

_MOST_OFFSETS, _MOST_EPOCHS = 1 << 20, 8


class _Call(Struct, frozen=True, eq=False):
    """One call of the sink: an operand of a site that touches shared memory."""

    site: int
    place: int
    offset: Longs | int
    mask: Bools | None

    def repeats(self, other: Any) -> bool:
        return (
            isinstance(other, _Call)
            and (self.site, self.place) == (other.site, other.place)
            and _same(self.offset, other.offset)
            and _same(self.mask, other.mask)
        )


class _Part(Struct, frozen=True, eq=False):
    """Recorded accesses of a loop that may be repeated."""

    items: tuple["_Item", ...]

    def repeats(self, other: Any) -> bool:
        return self is other or (isinstance(other, _Part) and _repeat(self.items, other.items))


_Item = _Call | _Part | int  # int: a number of steps that don't touch shared memory


class _Epoch(Struct, frozen=True, eq=False):
    """The accesses between two barriers, the number of their steps, and the number of conflicts of each hazard in ``blocks``
    blocks.
    """

    items: tuple[_Item, ...]
    steps: int
    blocks: int
    counts: dict[HazardKey, int]


class EpochSink(AccessSink):
    """Buffers the accesses since the last barrier. At the next barrier, an epoch equal to a recent one is added to the counts
    of ``sink``; any other is passed on to it.
    """

    wants = "sums"

    def __init__(self, sink: HazardSink) -> None:
        self.sink = sink
        self._items: list[_Item] = []
        self._starts: list[int | None] = []  # of the parts that have begun, None for one that is too large to be buffered
        self._offsets = 0
        self._is_direct = False  # passes everything on at once
        self._has_async = False  # whether a site is asynchronous
        self._is_clean = True  # no accesses before the last barrier can conflict with later ones
        self._epochs: list[_Epoch] = []

    def started(self, machine: Any) -> None:
        self.sink.started(machine)

    def ended(self) -> None:
        self._pass_on()
        self.sink.ended()

    def site(self, site: Site) -> None:
        if site.is_barrier and site.kind != "barrier":  # from here on the search distinguishes warps
            self._pass_on()
            self._is_clean = False
            self._epochs.clear()
        if site.is_async:  # barriers don't order what it touches: from here on nothing is buffered
            self._pass_on()
            self._is_direct = self._has_async = True
        self.sink.site(site)

    def completed(self, steps: Sequence[int]) -> None:
        self.sink.completed(steps)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        where, call = self.sink.sites[site], _Call(site, place, offset, mask)
        if self._is_direct:
            self._send(call)
            if where.kind == "barrier" and mask is None and not self._has_async:
                self._is_direct, self._is_clean = False, True
        elif where.kind == "barrier":
            self._barrier(call)
        elif self.sink.is_shared(where):
            self._items.append(call)
            self._count(np.size(offset) + (0 if mask is None else mask.size))
        elif where.is_barrier:
            self._pass_on()
            self._is_clean = False
            self._send(call)
        elif place:
            pass  # its step is counted already
        elif self._items and isinstance(self._items[-1], int):
            self._items[-1] += 1
        else:
            self._items.append(1)

    def begin(self) -> None:
        self._starts.append(None if self._is_direct else len(self._items))
        if not self._is_direct:
            self._items.append(0)  # the steps before are not part of it

    def end(self) -> _Part | None:
        start = self._starts.pop()
        if start is None:
            return None
        part = _Part(tuple(self._items[start:]))
        self._items[start:] = [part]
        return part

    def again(self, part: _Part, visits: tuple[int, ...]) -> None:
        if self._is_direct:
            self._send(part)
        else:
            self._items.append(part)

    def _count(self, offsets: int) -> None:
        """Stops buffering if the accesses take too much memory."""
        self._offsets += offsets
        if self._offsets > _MOST_OFFSETS:
            self._pass_on()
            self._is_direct, self._is_clean = True, False

    def _barrier(self, call: _Call) -> None:
        items, finder = tuple(self._items), self.sink.finder
        known = self._known(items) if self._is_clean and call.mask is None else None
        if known is not None:
            self.sink.count_again(known.counts, known.steps + 1)
            self._forget()
            return
        before, blocks, first = dict(finder.by_pair), finder.blocks, self.sink.step
        self._pass_on()
        steps = self.sink.step - first
        if self._is_clean and finder.blocks == blocks:
            counts = {key: each.count - (before[key].count if key in before else 0) for key, each in finder.by_pair.items()}
            epoch = _Epoch(items, steps, blocks, {key: count for key, count in counts.items() if count})
            self._epochs = [epoch, *self._epochs][:_MOST_EPOCHS]
        self._send(call)
        self._is_clean = call.mask is None

    def _known(self, items: tuple[_Item, ...]) -> _Epoch | None:
        blocks = self.sink.finder.blocks
        return next((each for each in self._epochs if each.blocks == blocks and _repeat(each.items, items)), None)

    def _pass_on(self) -> None:
        for item in self._items:
            self._send(item)
        self._forget()

    def _forget(self) -> None:
        self._items, self._offsets = [], 0
        self._starts = [None] * len(self._starts)

    def _send(self, item: _Item) -> None:
        match item:
            case int():
                self.sink.step += item
            case _Call():
                self.sink.access(item.site, item.place, item.offset, item.mask, (), 0)
            case _Part():
                for each in item.items:
                    self._send(each)


def _repeat(some: tuple[_Item, ...], others: tuple[_Item, ...]) -> bool:
    """Whether two lists of accesses are equal: the same sites touch the same elements in the same order."""
    return len(some) == len(others) and all(
        a == b if isinstance(a, int) else a.repeats(b) for a, b in zip(some, others, strict=True)
    )


def _same(a: Any, b: Any) -> bool:
    return a is b or (np.shape(a) == np.shape(b) and bool(np.array_equal(a, b)))
