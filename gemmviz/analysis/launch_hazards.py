"""Hazards of a whole launch in shared memory, found during the run; and what another order of threads than the traced one does:
hazards in shared and in global memory, and barriers that some threads don't reach.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, field, structs

from gemmviz.analysis.global_hazards import global_hazards
from gemmviz.analysis.hazard import Conflicts, Hazard, HazardKey, arrivals
from gemmviz.analysis.shared_hazards import HazardFinder, examined
from gemmviz.files.devices import load_device
from gemmviz.model.arrays import Bools, Longs, Singles
from gemmviz.model.messages import many, tr
from gemmviz.model.sinks import AccessSink, SumKey
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE, Trace

_MOST_OFFSETS, _MOST_EPOCHS = 1 << 20, 8


class LaunchHazards:
    """A ``LaunchSink`` that finds the hazards of a whole launch from its stream of accesses. Sums alone contribute none."""

    def __init__(self) -> None:
        self._groups: list[HazardSink] = []

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        self._groups.append(HazardSink(arrays, space))
        return self._groups[-1]

    def add_sums(self, arrays: tuple[MemoryArray, ...], sums: Mapping[SumKey, tuple[int, ...]]) -> None:
        return

    @property
    def hazards(self) -> list[Hazard]:
        """One hazard of each kind between two sites, counted over all blocks."""
        total: dict[HazardKey, Hazard] = {}
        for group in self._groups:
            for key, hazard in group.hazards_by_pair().items():
                total[key] = structs.replace(total[key], count=total[key].count + hazard.count) if key in total else hazard
        return list(total.values())


class _Call(NamedTuple):
    """One call of the sink: an operand of a site that touches shared memory."""

    site: int
    place: int
    offset: Longs | int
    mask: Bools | None


_LoopPart = tuple["_Item", ...]  # recorded accesses of a loop that may be repeated
_Item = _Call | _LoopPart | int  # int: a number of steps that don't touch shared memory


class _Epoch(Struct, frozen=True, eq=False):
    """The accesses between two barriers, the number of their steps, and the number of conflicts of each hazard in ``blocks``
    blocks.
    """

    items: _LoopPart
    steps: int
    blocks: int
    counts: dict[HazardKey, int]


class HazardSink(AccessSink):
    """Finds the hazards of a group of blocks during the run. As long as all blocks do the same, one represents all. Accesses
    are held until the next barrier: an epoch equal to a recent one is counted as that one was.
    """

    wants = "sums"

    def __init__(self, arrays: tuple[MemoryArray, ...], space: ThreadSpace) -> None:
        self.arrays, self.space = arrays, space
        self.finder = HazardFinder(arrays, space, 1)
        self._sites: list[Site] = []
        self._latest: Site | None = None  # of the latest step
        self._machine: Any = None
        self._step = -1  # the latest one that was passed on
        self._begun: list[int] = []  # asynchronous steps
        self._items: list[_Item] = []
        self._starts: list[int | None] = []  # of the parts that have begun, None for one that can't be repeated
        self._offsets = 0
        self._waited: tuple[Any, ...] = ()  # the mbarriers at which the latest step waits
        self._orders_some = False  # whether a site is asynchronous, or orders some threads alone
        self._is_clean = True  # no accesses before the last barrier can conflict with later ones
        self._epochs: list[_Epoch] = []

    def started(self, machine: Any) -> None:
        self._machine = machine

    def ended(self) -> None:
        self._pass_on()
        self.finder.look(is_last=True)
        self._machine = None

    def site(self, site: Site) -> None:
        orders_some = site.is_async or site.kind == "arrive"
        if site.is_warp_barrier or orders_some:
            self._interrupt()
            self._epochs.clear()  # from here on the search distinguishes warps, or a barrier doesn't order everything
        self._orders_some |= orders_some
        self._sites.append(site)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        where = self._latest = self._sites[site]
        if where.is_barrier:
            self._barrier(_Call(site, place, offset, mask), where.is_warp_barrier or mask is not None)
        elif (
            where.kind == "arrive"
            or where.is_async
            or any(self.arrays[operand.array].space == "shared" for operand in where.operands)
        ):
            self._items.append(_Call(site, place, offset, mask))
            self._offsets += np.size(offset) + (0 if mask is None else mask.size)
            if self._offsets > _MOST_OFFSETS:
                self._interrupt()
        elif place:
            pass  # its step is counted already
        elif self._items and isinstance(self._items[-1], int):
            self._items[-1] += 1
        else:
            self._items.append(1)

    def completed(self, steps: Sequence[int]) -> None:
        assert self._latest is not None
        self._interrupt()
        self.finder.complete([self._begun[number] for number in steps], self._latest.visible_to, *self._waited)

    def begin(self) -> None:
        self._starts.append(len(self._items))
        self._items.append(0)  # the steps before are not part of it

    def end(self) -> _LoopPart | None:
        start = self._starts.pop()
        if start is None:
            return None
        part = tuple(self._items[start:])
        self._items[start:] = [part]
        return part

    def again(self, part: _LoopPart, visits: tuple[int, ...]) -> None:
        self._items.append(part)

    def _interrupt(self) -> None:
        """Passes on what is held before the next barrier."""
        self._pass_on()
        self._is_clean = False

    def _barrier(self, call: _Call, is_partial: bool) -> None:
        items, finder = tuple(self._items), self.finder
        can_repeat = self._is_clean and not is_partial and not self._orders_some
        known = self._known(items) if can_repeat else None
        if known is not None:
            self._step += known.steps + 1
            for key, count in known.counts.items():
                finder.by_pair[key] = structs.replace(finder.by_pair[key], count=finder.by_pair[key].count + count)
            self._forget()
            return
        before, blocks, first = {key: each.count for key, each in finder.by_pair.items()}, finder.blocks, self._step
        self._pass_on()
        steps = self._step - first
        self._send(call)
        if can_repeat and finder.blocks == blocks:
            counts = {key: each.count - before.get(key, 0) for key, each in finder.by_pair.items()}
            self._epochs = [_Epoch(items, steps, blocks, counts), *self._epochs][:_MOST_EPOCHS]
        self._is_clean = not is_partial

    def _known(self, items: _LoopPart) -> _Epoch | None:
        blocks = self.finder.blocks
        return next((each for each in self._epochs if each.blocks == blocks and _repeats(each.items, items)), None)

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
                self._step += item
            case _Call():
                self._search(item)
            case _:
                for each in item:
                    self._send(each)

    def _search(self, call: _Call) -> None:
        """Passes a call on to the finder."""
        where = self._sites[call.site]
        operand, mask = where.operand(call.place), call.mask
        if call.place == 0:
            self._step += 1
            if where.is_async:
                self._begun.append(self._step)
        self._waited = ()
        is_arrival = where.kind == "arrive"
        if not where.is_barrier and not is_arrival and (operand is None or self.arrays[operand.array].space != "shared"):
            return
        if where.is_barrier and mask is not None and self._machine.exited is not None:
            mask = mask | self._machine.exited
        values = np.asarray(call.offset if mask is None else np.where(mask, call.offset, INACTIVE))
        rows = self.space.per_block(values if values.ndim else values.reshape((1,) * len(self.space.shape)))
        if len(rows) > 1 and self.finder.blocks == 1:  # from here on each block has its own state
            self.finder.look()
            self.finder.by_pair = self.hazards_by_pair()
            self.finder.spread(self.space.blocks.count)
        if len(rows) != self.finder.blocks:
            rows = np.broadcast_to(values, self.space.shape).reshape(self.finder.blocks, -1)
        if where.is_barrier:
            self.finder.barrier(where, rows >= 0, rows)
        if operand is not None:
            self.finder.access(self._step, where, operand, rows)
        array = -1 if operand is None else operand.array
        if is_arrival:
            self.finder.arrive(array, rows, False)
        elif where.kind == "wait":
            self.finder.wait(array, rows)
            self._waited = array, rows

    def hazards_by_pair(self) -> dict[HazardKey, Hazard]:
        """The hazards by kind and sites in the order of their first steps, counted for all blocks."""
        times = self.space.blocks.count if self.finder.blocks == 1 else 1
        in_order = sorted(self.finder.by_pair.items(), key=lambda item: item[1].step)
        return {key: structs.replace(hazard, count=hazard.count * times) for key, hazard in in_order}


def _repeats(some: Any, other: Any) -> bool:
    """Whether items are equal: the same sites touch the same elements in the same order."""
    if some is other:
        return True
    if isinstance(some, tuple):
        return isinstance(other, tuple) and len(some) == len(other) and all(map(_repeats, some, other))
    return not isinstance(other, tuple) and np.shape(some) == np.shape(other) and bool(np.array_equal(some, other))


# Effects of an order of threads other than the traced one: hazards in shared and in global memory, and barriers that some
# threads don't reach.

_INDEPENDENT = 7  # compute capability from which __syncthreads() waits thread by thread


class Ordering(Struct, frozen=True):
    """``hazards`` in the order of their first steps; ``conflicts``: elements at which threads conflict in shared memory;
    ``remarks``: sentences about early returns and about anything that could not be decided.
    """

    hazards: tuple[Hazard, ...] = ()
    conflicts: Conflicts = field(default_factory=Conflicts)
    remarks: tuple[str, ...] = ()


def ordering_of(
    trace: Trace,
    blocks: int | None = None,
    values: Singles | None = None,
) -> Ordering:
    """The hazards and remarks of a trace. ``blocks``: number of the traced blocks that are searched for hazards in shared
    memory; ``values``: values read and written, as for ``global_hazards``. A launch that isn't confirmed has no hazards. Raises
    Cancelled.
    """
    if trace.setup.kernel.unconfirmed:
        return Ordering(remarks=returned_early(trace))
    finder = examined(trace, blocks)
    in_global = global_hazards(trace, values)
    hazards = sorted([*finder.hazards, *in_global.hazards], key=lambda hazard: hazard.step)
    remarks = returned_early(trace)
    if blocks == 0:
        remarks += (tr("Shared memory was not searched for hazards: the trace is too large"),)
    if in_global.undecided:
        stored = tr("{elements} of a matrix, stored by several threads", elements=many(in_global.undecided, "element"))
        remarks += (
            tr(
                "The order of writes could matter for {stored}; this was not checked because the values are unknown",
                stored=stored,
            ),
        )
    return Ordering(tuple(hazards), finder.conflicts, remarks)


def returned_early(trace: Trace) -> tuple[str, ...]:
    """A sentence for each __syncthreads() that some threads of a block don't reach: because they have returned, or because they
    reach one in another branch.

    Source: CUDA C++ Programming Guide, Synchronization Functions and Compute Capability 7.x, Independent Thread
    Scheduling.
    """
    missing: dict[Site, tuple[int, int]] = {}  # the most threads that have returned, and that are elsewhere
    for step, site, reached in arrivals(trace, slice(None)):
        numbers = trace.element[int(trace.row[step])].reshape(reached.shape)
        if site.kind == "barrier" and not numbers.max(initial=0):
            some = (numbers >= 0).any(axis=1, keepdims=True)
            counts = ((some & each).sum(axis=1).max(initial=0) for each in (reached & (numbers < 0), ~reached))
            missing[site] = tuple(map(max, counts, missing.get(site, (0, 0))))  # type: ignore[assignment]
    sentences = []
    for site, (returned, elsewhere) in missing.items():
        if elsewhere:
            sentences.append(
                tr(
                    "Up to {threads} of a block aren't at the barrier in line {line} but at one in another branch: CUDA leaves "
                    "this undefined; the hardware counts the threads that arrive, wherever they are",
                    threads=many(elsewhere, "thread"),
                    line=site.place.line,
                )
            )
        elif returned:
            sentences.append(_early_return(trace, site.place.line, returned))
    return tuple(sentences)


def _early_return(trace: Trace, line: int, threads: int) -> str:
    device = load_device(trace.setup.device)
    capability = device.compute_capability.partition(".")[0]
    waits = not capability.isdecimal() or int(capability) >= _INDEPENDENT
    outcome = tr("it waits only for the others") if waits else tr("the behaviour is undefined on {device}", device=device.name)
    return tr(
        "Up to {threads} of a block have returned before the barrier in line {line}: {outcome}",
        threads=many(threads, "thread"),
        line=line,
        outcome=outcome,
    )
