"""Aligns the records of the twin's threads, each in its own order, to the dense matrix of a trace.

A step is one visit of one access and the same for all threads, whichever path they took. Steps are in program order, so that
divergence shifts nothing; in a kernel whose branches wait for each other, they are in the order of the interpreter, which
respects all barriers. Only the distinct paths are processed here; the words are converted to elements on the device.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct, field

from gemmviz.cuda.nodes import If, Mbarrier, Program
from gemmviz.cuda.twin.units import Twin
from gemmviz.cuda.walk import nodes_of, touches_of
from gemmviz.model.arrays import Bools, Ints, Longs, Unsigned
from gemmviz.model.messages import OUT_OF_RANGE, GemmvizError, KernelFault, tr
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import NUMBERED_BARRIERS, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE
from gemmviz.run.cpu.simt.interpret import Binding, interpret
from gemmviz.run.cpu.simt.machine import NeedsValues, has_barriers

OUTSIDE, NOTHING = 0x7FFFFFFF, 0xFFFFFFFF


class Path(Struct, frozen=True):
    """One path through the kernel: accesses (n,), the trips of the loops around them (n, depth), padded with -1, whether each
    access was recorded (n,), and the index of the wait that completes each asynchronous copy (n,), or -1.
    """

    access: Ints
    visits: Ints
    recorded: Bools
    completes: Ints


class PathBook(Struct):
    """The known paths of one twin, by their hash."""

    twin: Twin
    paths: dict[int, Path] = field(default_factory=dict)

    def learn(self, path: int, events: Unsigned) -> None:
        """Adds the path with this hash from the events that a thread recorded of it."""
        self.paths[path] = Path(*self.twin.path(events))


class Steps(Struct, frozen=True):
    """The recorded steps of several paths: accesses (steps,), trips (steps, depth) and barriers passed before (steps,).

    ``of_path[i]`` has the step of each recorded access of path i. ``completes``: as in a Trace.
    """

    access: Ints
    visits: Ints
    epoch: Ints
    of_path: tuple[Longs, ...]
    completes: Ints


class KnownOrder(AccessSink):
    """The order of the steps in a run of the interpreter: ``places`` by access and trips of the loops around it, and the place
    at which each asynchronous step completes.
    """

    def __init__(self) -> None:
        self.places: dict[tuple[int, ...], int] = {}
        self.completes: dict[int, int] = {}
        self._machine: Any = None
        self._steps: list[tuple[int, tuple[int, ...]]] = []
        self._begun: list[int] = []
        self._sites: list[Site] = []

    def started(self, machine: Any) -> None:
        self._machine = machine

    def site(self, site: Site) -> None:
        self._sites.append(site)

    def access(self, site: int, place: int, offset: Any, mask: Any, visits: tuple[int, ...], epoch: int) -> None:
        if place == 0:
            self._begun += [len(self._steps)] if self._sites[site].is_async else []
            self._steps.append((site, visits))

    def completed(self, steps: Sequence[int]) -> None:
        for number in steps:
            self.completes.setdefault(self._begun[number], len(self._steps) - 1)

    def ended(self) -> None:
        accesses = {number: access for (access, *_), number in self._machine.sites.items()}
        for place, (site, visits) in enumerate(self._steps):
            self.places[accesses[site], *visits] = place
        self._machine = None


def known_order(binding: Binding, space: ThreadSpace) -> KnownOrder | None:
    """The order of the steps of a kernel whose threads wait for each other in branches or at mbarriers; None if it is that of
    the program, or depends on the contents of the matrices.
    """
    if not any(
        isinstance(part, Mbarrier) or (isinstance(part, If) and has_barriers(part)) for part in nodes_of(binding.program)
    ):
        return None
    order = KnownOrder()
    try:
        interpret(binding, space, order, None)
    except NeedsValues:
        return None
    return order


def steps_of(program: Program, paths: Sequence[Path], known: KnownOrder | None = None) -> Steps:
    """All steps of these paths, in program order or a ``known`` one.

    In program order, the order of two steps is that of the outermost loops or statements in which they differ: by place in the
    text or, within the same loop, by trip.
    """
    access = np.concatenate([path.access for path in paths])
    visits = np.concatenate([path.visits for path in paths])
    places = _program_order(program, visits.shape[1])[access]
    keys = np.empty((len(access), 2 * visits.shape[1] + 1), np.int32)
    keys[:, 0::2], keys[:, 1::2] = places, visits
    known_places = _known_places(program, known, access, visits)
    order = np.lexsort([*keys.T[::-1], *([] if known_places is None else [known_places])])
    ordered = keys[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    row = np.empty(len(order), np.int64)
    row[order] = np.cumsum(fresh) - 1
    chosen = order[fresh]
    recorded = np.concatenate([path.recorded for path in paths])
    waits = np.array([each.kind == "barrier" for each in program.accesses])[access[chosen]]
    is_recorded = recorded[chosen]
    number = np.cumsum(is_recorded) - 1
    ends = np.cumsum([len(path.access) for path in paths])[:-1]
    of_row = [number[rows] for rows in np.split(row, ends)]
    of_path = tuple(steps[path.recorded] for path, steps in zip(paths, of_row, strict=True))
    epoch = (np.cumsum(waits) - waits).astype(np.int32)
    accesses = access[chosen][is_recorded]
    if known is None or known_places is None:
        completes = _completes(program, accesses, paths, of_row)
    else:
        completes = _known_completes(program, accesses, known, known_places[chosen][is_recorded])
    return Steps(accesses, visits[chosen][is_recorded], epoch[is_recorded], of_path, completes)


def _known_places(program: Program, known: KnownOrder | None, access: Ints, visits: Ints) -> Longs | None:
    """The place of each access of some paths in a known order; None if one isn't in it. A branch at which no warp parts isn't:
    its place is that of the access after it.
    """
    if known is None:
        return None
    trips = (visit[visit >= 0].tolist() for visit in visits) if visits.shape[1] else ([] for _ in access)
    places, after = np.zeros(len(access), np.int64), len(known.places)
    for row, (number, trip) in reversed(list(enumerate(zip(access.tolist(), trips, strict=True)))):
        place = known.places.get((number, *trip))
        if place is None and program.accesses[number].kind != "branch":
            return None
        places[row] = after = after if place is None else place
    return places


def _known_completes(program: Program, access: Ints, known: KnownOrder, places: Longs) -> Ints:
    """The step at which each step completes, in a known order, as ``_completes``."""
    is_async = np.array([each.is_async for each in program.accesses], bool)[access]
    if not is_async.any():
        return np.zeros(0, np.int32)
    steps = {place: step for step, place in enumerate(places.tolist())}  # a step comes after the branches before it
    completes = np.arange(len(access), dtype=np.int32)
    for step in np.flatnonzero(is_async).tolist():
        completes[step] = steps.get(known.completes.get(int(places[step]), -1), len(access))
    return completes


def _completes(program: Program, access: Ints, paths: Sequence[Path], of_row: Sequence[Longs]) -> Ints:
    """The step at which each step completes, as in a Trace: the last of the waits by which the threads complete their part."""
    is_async = np.array([each.is_async for each in program.accesses], bool)[access]
    if not is_async.any():
        return np.zeros(0, np.int32)
    completes = np.arange(len(access), dtype=np.int32)
    completes[is_async] = -1
    for path, steps in zip(paths, of_row, strict=True):
        rows = np.flatnonzero((path.completes >= 0) & path.recorded)
        rows = rows[path.recorded[path.completes[rows]]]
        np.maximum.at(completes, steps[rows], steps[path.completes[rows]].astype(np.int32))
    completes[completes < 0] = len(access)
    return completes


def _program_order(program: Program, depth: int) -> Ints:
    """First access in each loop around an access, outermost first, then itself: (accesses, depth + 1), padded with -1."""
    begins: dict[int, int] = {}
    for number, access in enumerate(program.accesses):
        for loop in access.loops:
            begins.setdefault(loop, number)
    table = np.full((len(program.accesses), depth + 1), -1, np.int32)
    for number, access in enumerate(program.accesses):
        row = [*(begins[loop] for loop in access.loops), number]
        table[number, : len(row)] = row
    return table


class Region(Struct, frozen=True):
    """Location of an array in the twin's address words: its first word, and words per element."""

    base: int
    unit: int


class Slots(Struct, frozen=True):
    """Meaning of the words that the threads of one path wrote, (n,) each, one entry per slot.

    ``access`` of the slot and its ``row`` in the record, ``array`` and its first word ``base``, words per element ``unit``, and
    the ``last`` element at which an access may begin. A barrier's word is its number, a branch's 0 or 1.
    """

    access: Ints
    threads: Longs
    row: Longs
    array: Ints
    base: Unsigned
    unit: Unsigned
    last: Unsigned


class Alignment(Struct, frozen=True):
    """The steps of a run, with the fields of a Trace, the number of ``rows`` of the record, and the slots that convert words to
    elements.
    """

    sites: tuple[Site, ...]
    site: Ints
    visits: Ints
    epoch: Ints
    completes: Ints
    rows: int
    slots: tuple[Slots, ...]


def alignment(
    binding: Binding,
    paths: Sequence[Path],
    taken: Longs,
    least_words: Callable[[Longs, Longs], Unsigned],
    regions: Mapping[int, Region],
    space: ThreadSpace,
) -> Alignment:
    """The alignment of a run's words, of the threads of ``space``.

    ``taken`` (threads,) is the path of each thread, ``least_words(threads, slots)`` gives the least word of some threads in
    each of some slots, and ``regions`` are the locations of the arrays by number.
    """
    steps, touches = steps_of(binding.program, paths, known_order(binding, space)), touches_of(binding.program)
    words_of = np.array([max(1, len(touches.get(n, ()))) for n in range(len(binding.program.accesses))], np.int64)
    first = np.concatenate([[0], np.cumsum(words_of[steps.access])])
    array = np.full(first[-1], INACTIVE, np.int32)
    slots = []
    for number, (path, of_path) in enumerate(zip(paths, steps.of_path, strict=True)):
        threads = np.flatnonzero(taken == number)
        access = path.access[path.recorded]
        count = words_of[access]
        rows = np.repeat(first[of_path] - (np.cumsum(count) - count), count) + np.arange(count.sum())
        words = least_words(threads[:1], np.arange(len(rows)))
        unknown = np.flatnonzero(words == NOTHING)
        words[unknown] = least_words(threads, unknown)
        slots.append(_slots_of_path(binding, np.repeat(access, count), rows, threads, words, regions))
        array[rows] = slots[-1].array
    pairs: dict[tuple[int, tuple[int, ...]], int] = {}
    operands = (tuple(array[start:stop].tolist()) for start, stop in pairwise(first.tolist()))
    site = [pairs.setdefault(pair, len(pairs)) for pair in zip(steps.access.tolist(), operands, strict=True)]
    depth = max((len(binding.program.accesses[access].loops) for access, _ in pairs), default=0)
    return Alignment(
        tuple(binding.site(access, *arrays) for access, arrays in pairs),
        np.array(site, np.int32),
        np.ascontiguousarray(steps.visits[:, :depth]),
        steps.epoch,
        steps.completes,
        int(first[-1]),
        tuple(slots),
    )


def without_agreement(lined_up: Alignment, space: ThreadSpace, element: Ints) -> tuple[Alignment, "Longs | slice"]:
    """The alignment without the steps of branches at which the lanes of each warp agree, and the rows that are left of its
    record ``element`` (rows, threads).
    """
    is_branch = np.array([site.kind == "branch" for site in lined_up.sites], bool)[lined_up.site]
    if not is_branch.any():
        return lined_up, slice(None)
    count = np.array([site.rows for site in lined_up.sites], np.int64)[lined_up.site]
    first = np.cumsum(count) - count
    kept = ~is_branch
    for step in np.flatnonzero(is_branch):
        ways = element[first[step]].reshape(space.shape)
        kept[step] = space.parts_warps(ways > 0, ways == 0)
    old, seen = lined_up.site[kept], dict[int, int]()
    site = np.array([seen.setdefault(number, len(seen)) for number in old.tolist()], np.int32)
    sites = tuple(lined_up.sites[number] for number in seen)
    completes = lined_up.completes
    if len(completes):
        completes = np.append(np.cumsum(kept) - 1, kept.sum())[completes[kept]].astype(np.int32)
    depth = max((len(each.loops) for each in sites), default=0)
    visits = np.ascontiguousarray(lined_up.visits[kept, :depth])
    rows = np.flatnonzero(np.repeat(kept, count))
    left = Alignment(sites, site, visits, lined_up.epoch[kept], completes, len(rows), lined_up.slots)
    return left, rows


def _slots_of_path(
    binding: Binding,
    access: Ints,
    rows: Longs,
    threads: Longs,
    words: Unsigned,
    regions: Mapping[int, Region],
) -> Slots:
    array = _arrays_reached(binding, access, words, regions)
    count = max(regions) + 1
    base, unit, size = np.zeros(count + 1, np.uint32), np.ones(count + 1, np.uint32), np.ones(count + 1, np.int64)
    size[count] = NUMBERED_BARRIERS  # words of what touches no array
    for number, region in regions.items():
        base[number], unit[number], size[number] = region.base, region.unit, binding.arrays[number].size
    touches = touches_of(binding.program)
    typed = {number: several[0].at.type.bytes for number, several in touches.items() if several[0].is_typed}
    wide = [typed.get(number, 1) for number in range(len(binding.program.accesses))]
    itemsize = np.array([each.itemsize for each in binding.arrays] + [1], np.int64)[array]
    width = np.maximum(1, np.array(wide, np.int64)[access] // itemsize)
    is_branch = np.array([each.kind == "branch" for each in binding.program.accesses], bool)[access]
    last = np.where(is_branch, 1, (size[array] - width).clip(0)).astype(np.uint32)
    return Slots(access, threads, rows, array, base[array], unit[array], last)


def _arrays_reached(binding: Binding, access: Ints, words: Unsigned, regions: Mapping[int, Region]) -> Ints:
    """Numbers of the arrays that a path's accesses went to, (n,): for one thread's words, the array around each or nearest."""
    numbers = sorted(regions, key=lambda number: regions[number].base)
    bases = np.array([regions[number].base for number in numbers], np.int64)
    sizes = np.array([binding.arrays[number].size * regions[number].unit for number in numbers], np.int64)
    where = words.astype(np.int64)
    at = np.clip(np.searchsorted(bases, where, side="right") - 1, 0, len(bases) - 1)
    after = np.clip(at + 1, 0, len(bases) - 1)
    beyond, short = where - (bases + sizes)[at], bases[after] - where
    same_memory = (bases[after] >> 31) == (where >> 31)
    at = np.where((beyond >= 0) & (short > 0) & (short <= beyond) & same_memory, after, at)
    is_access = np.isin(access, list(touches_of(binding.program)))
    return np.where(is_access, np.array(numbers, np.int32)[at], INACTIVE).astype(np.int32)


def outside(binding: Binding, space: ThreadSpace, slots: Slots, slot: int, number: int, word: int) -> KernelFault:
    """The error of a thread whose word in this slot of its path is outside of its array."""
    array, region = int(slots.array[slot]), int(slots.base[slot])
    place, info = binding.program.accesses[int(slots.access[slot])], binding.arrays[array]
    block, thread = space.indices(number)
    index = (word - region) // int(slots.unit[slot])
    if word == OUTSIDE and info.space == "global":
        message = tr("{access} reaches outside of A, B and C", access=place.text)
    else:
        name = info.subscripted(index) if info.space == "shared" and index >= 0 else f"{info.name}[{index}]"
        message = tr(OUT_OF_RANGE, element=name, size=info.size)
    fault = KernelFault(message, place.place, block=block, thread=thread, id="out-of-range")
    fault.array, fault.elements = array, (index,)
    fault.in_file(binding.setup.kernel.file)
    return fault


def check_hashes(used: Any, path: Any, first: Any, inverse: Any) -> None:
    """Checks that threads of one hash made equally many accesses. Raises GemmvizError if not: two paths share a hash."""
    if not bool((used == used[first][inverse]).all()):
        raise GemmvizError("two paths through the kernel have the same hash", remedy="trace fewer blocks")
