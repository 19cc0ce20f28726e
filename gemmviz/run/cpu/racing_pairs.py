"""The turns of a lockstep run to the pairs of accesses that race: two units touch one cell between the same two barriers, and
one of them writes.

What an order of turns changes, it changes by reversing such a pair: the later access comes first as soon as its unit is far
enough ahead of the other one. So the smallest lead of all pairs is the least with which any order can give another result.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import Longs
from gemmviz.model.errors import Cancelled
from gemmviz.run.cpu.interleaving import Event, Lead, Slot
from gemmviz.run.engine import Cancel

_EPOCH = 40  # bits of a cell's number; the epoch is above them
_MOST_PAIRS = 1 << 20  # that are compared at a time


class RacingPair(Struct, frozen=True):
    """An access of ``unit`` that comes first in lockstep, by its step, and the order in which it comes last: the unit ahead
    makes its own access at the last step of the lead. Both touch ``cell``; ``begin``: the number of turns before the barrier
    that comes before both.
    """

    unit: int
    step: int
    lead: Lead
    cell: int
    begin: int


def racing_pairs(turns: Iterable[tuple[Slot, Event]], stopped: Cancel) -> list[RacingPair]:
    """The racing pairs of a lockstep run, those with the smallest leads first; of those that one order reverses, the first.

    Raises Cancelled once ``stopped`` is true.
    """
    accesses: dict[int, list[Longs]] = {}
    begins: dict[int, int] = {}
    for place, (slot, event) in enumerate(turns):
        begins.setdefault(slot.epoch, place)
        if event.array >= 0:
            cells = event.cells[:1] if (event.cells == event.cells[:1]).all() else np.unique(event.cells)
            # columns: epoch and cell, unit, step, steps since the barrier, place in lockstep, whether it writes, cell
            facts: tuple[Any, ...] = (
                slot.epoch << _EPOCH | cells,
                slot.unit,
                slot.step,
                slot.since,
                place,
                event.stored is not None,
                cells,
            )
            rows = np.empty((len(facts), len(cells)), np.int64)
            for row, each in zip(rows, facts, strict=True):
                row[:] = each
            accesses.setdefault(event.array, []).append(rows)
    found: dict[Lead, tuple[int, RacingPair]] = {}
    for parts in accesses.values():
        for early, late in _each(np.concatenate(parts, axis=1), stopped):
            epoch = early[0] >> _EPOCH
            lead = Lead(late[1], epoch, late[3] - early[3] + 1, late[2])
            if lead not in found or early[4] < found[lead][0]:
                found[lead] = early[4], RacingPair(early[1], early[2], lead, early[6], begins[epoch])
    pairs = [pair for _, pair in found.values()]
    return sorted(pairs, key=lambda pair: (pair.lead.steps, pair.lead.epoch, pair.lead.until, pair.lead.ahead))


def _each(accesses: Longs, stopped: Cancel) -> Iterator[tuple[Any, Any]]:
    """Each conflict, as its earlier and its later access. Raises Cancelled once ``stopped`` is true."""
    for some in _conflicts(accesses):
        if stopped():
            raise Cancelled
        yield from zip(*some, strict=True)


def _conflicts(accesses: Longs) -> Iterator[tuple[Any, Any]]:
    """The columns of the earlier and the later access of each pair, as lists, some at a time."""
    accesses = accesses[:, np.argsort(accesses[0], kind="stable")]
    writes = accesses[:, accesses[5] == 1]
    first, last = (np.searchsorted(accesses[0], writes[0], side=side) for side in ("left", "right"))
    ends = np.cumsum(last - first)
    start = 0
    while start < len(ends):
        passed = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, passed + _MOST_PAIRS)))
        yield _pairs(accesses, writes[:, start:stop], first[start:stop], last[start:stop])
        start = stop


def _pairs(accesses: Longs, writes: Longs, first: Longs, last: Longs) -> tuple[Any, Any]:
    """The pairs of some writes with the accesses between ``first`` and ``last``, one for each order that reverses it."""
    counts = last - first
    place = np.repeat(last - np.cumsum(counts), counts) + np.arange(counts.sum())
    others, writes = accesses[:, place], np.repeat(writes, counts, axis=1)
    differ = (writes[1] != others[1]) & ((others[5] == 0) | (writes[4] < others[4]))
    writes, others = writes[:, differ], others[:, differ]
    is_earlier = writes[4] < others[4]
    early, late = np.where(is_earlier, writes, others), np.where(is_earlier, others, writes)
    order = np.argsort(early[4], kind="stable")
    early, late = early[:, order], late[:, order]
    _, chosen = np.unique(np.stack([late[1], early[0] >> _EPOCH, late[3] - early[3], late[2]]), axis=1, return_index=True)
    return early[:, chosen].T.tolist(), late[:, chosen].T.tolist()
