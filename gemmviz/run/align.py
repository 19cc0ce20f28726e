"""Aligns the records of the twin's threads, each in its own order, to the dense matrix of a trace.

A step is one visit of one access and the same for all threads, whichever path they took. Steps are in program order, so that
divergence shifts nothing. Only the distinct paths are processed here; the words are converted to elements on the device.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Ints
from gemmviz.model.errors import GemmvizError, KernelFault
from gemmviz.model.sites import Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE
from gemmviz.run.cpu.simt.granularity import types_of_accesses
from gemmviz.run.cpu.simt.interpret import Binding
from gemmviz.source.instrument import Twin
from gemmviz.source.nodes import Program

OUTSIDE = 0x7FFFFFFF


@dataclass(frozen=True)
class Path:
    """One path through the kernel: accesses (n,), the trips of the loops around them (n, depth), padded with -1, and whether
    each access was recorded (n,).
    """

    access: Ints
    visits: Ints
    recorded: npt.NDArray[np.bool_]


@dataclass
class PathBook:
    """The known paths of one twin, by their hash."""

    twin: Twin
    paths: dict[int, Path] = field(default_factory=dict)

    def learn(self, path: int, events: npt.NDArray[np.uint32]) -> None:
        """Adds the path with this hash from the events that a thread recorded of it."""
        self.paths[path] = Path(*self.twin.path(events))


@dataclass(frozen=True)
class Steps:
    """The recorded steps of several paths: accesses (steps,), trips (steps, depth) and barriers passed before (steps,).

    ``of_path[i]`` has the step of each recorded access of path i.
    """

    access: Ints
    visits: Ints
    epoch: Ints
    of_path: tuple[npt.NDArray[np.int64], ...]


def steps_of(program: Program, paths: Sequence[Path]) -> Steps:
    """All steps of these paths in program order.

    The order of two steps is that of the outermost loops or statements in which they differ: by place in the text or, within
    the same loop, by trip.
    """
    access = np.concatenate([path.access for path in paths])
    visits = np.concatenate([path.visits for path in paths])
    places = _places(program, visits.shape[1])[access]
    keys = np.empty((len(access), 2 * visits.shape[1] + 1), np.int32)
    keys[:, 0::2], keys[:, 1::2] = places, visits
    order = np.lexsort(keys.T[::-1])
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
    of_path = tuple(number[rows[path.recorded]] for path, rows in zip(paths, np.split(row, ends), strict=True))
    epoch = (np.cumsum(waits) - waits).astype(np.int32)
    return Steps(access[chosen][is_recorded], visits[chosen][is_recorded], epoch[is_recorded], of_path)


def _places(program: Program, depth: int) -> Ints:
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


@dataclass(frozen=True)
class Region:
    """Location of an array in the twin's address words: its first word, and words per element."""

    base: int
    unit: int


@dataclass(frozen=True)
class Slots:
    """Meaning of the words that the threads of one path wrote, (n,) each, one entry per slot.

    ``access`` and ``step`` of the slot, ``array`` and its first word ``base``, words per element ``unit``, and the ``last``
    element at which an access may begin. A barrier's word is element 0.
    """

    access: Ints
    threads: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]
    array: Ints
    base: npt.NDArray[np.uint32]
    unit: npt.NDArray[np.uint32]
    last: npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Alignment:
    """The steps of a run, with the fields of a Trace, and the slots that convert words to elements."""

    sites: tuple[Site, ...]
    site: Ints
    visits: Ints
    epoch: Ints
    slots: tuple[Slots, ...]


def alignment(
    binding: Binding,
    paths: Sequence[Path],
    taken: npt.NDArray[np.int64],
    first_words: Callable[[int, int], npt.NDArray[np.uint32]],
    regions: Mapping[int, Region],
) -> Alignment:
    """The alignment of a run's words.

    ``taken`` (threads,) is the path of each thread, ``first_words(thread, n)`` gives the first n words of a thread, and
    ``regions`` are the locations of the arrays by number.
    """
    steps = steps_of(binding.program, paths)
    array = np.full(len(steps.access), INACTIVE, np.int32)
    slots = []
    for number, (path, rows) in enumerate(zip(paths, steps.of_path, strict=True)):
        threads = np.flatnonzero(taken == number)
        words = first_words(int(threads[0]), len(rows))
        of_path = _slots(binding, path.access[path.recorded], rows, threads, words, regions)
        array[rows] = of_path.array
        slots.append(of_path)
    pairs: dict[tuple[int, int], int] = {}
    site = [pairs.setdefault(pair, len(pairs)) for pair in zip(steps.access.tolist(), array.tolist(), strict=True)]
    depth = max((len(binding.program.accesses[access].loops) for access, _ in pairs), default=0)
    sites = tuple(binding.site(*pair) for pair in pairs)
    assert all(each.rows == 1 for each in sites), "a thread of the twin writes one word for each access"
    return Alignment(
        sites,
        np.array(site, np.int32),
        np.ascontiguousarray(steps.visits[:, :depth]),
        steps.epoch,
        tuple(slots),
    )


def _slots(
    binding: Binding,
    access: Ints,
    steps: npt.NDArray[np.int64],
    threads: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint32],
    regions: Mapping[int, Region],
) -> Slots:
    array = _arrays(binding, access, words, regions)
    count = max(regions) + 1
    base, unit, size = np.zeros(count + 1, np.uint32), np.ones(count + 1, np.uint32), np.ones(count + 1, np.int64)
    for number, region in regions.items():
        base[number], unit[number], size[number] = region.base, region.unit, binding.arrays[number].size
    types = types_of_accesses(binding.program)
    wide = [each.width * types[n].bytes if n in types else 1 for n, each in enumerate(binding.program.accesses)]
    itemsize = np.array([each.itemsize for each in binding.arrays] + [1], np.int64)[array]
    width = np.maximum(1, np.array(wide, np.int64)[access] // itemsize)
    last = (size[array] - width).clip(0).astype(np.uint32)
    return Slots(access, threads, steps, array, base[array], unit[array], last)


def _arrays(binding: Binding, access: Ints, words: npt.NDArray[np.uint32], regions: Mapping[int, Region]) -> Ints:
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
    is_access = np.array([each.space is not None for each in binding.program.accesses])[access]
    return np.where(is_access, np.array(numbers, np.int32)[at], INACTIVE).astype(np.int32)


def outside(binding: Binding, space: ThreadSpace, slots: Slots, slot: int, number: int, word: int) -> KernelFault:
    """The error of a thread whose word in this slot of its path is outside of its array."""
    array, region = int(slots.array[slot]), int(slots.base[slot])
    place, info = binding.program.accesses[int(slots.access[slot])], binding.arrays[array]
    block, thread = space.indices(number)
    index = (word - region) // int(slots.unit[slot])
    if word == OUTSIDE and info.space == "global":
        message = f"{place.text} reaches outside of A, B and C"
    else:
        name = info.subscripted(index) if info.space == "shared" and index >= 0 else f"{info.name}[{index}]"
        message = f"{name} is out of range: it has {info.size} elements"
    fault = KernelFault(message, place.place, block=block, thread=thread, id="out-of-range")
    fault.array, fault.elements = array, (index,)
    fault.in_file(binding.setup.kernel.file)
    return fault


def check_hashes(used: Any, path: Any, first: Any, inverse: Any) -> None:
    """Checks that threads of one hash made equally many accesses. Raises GemmvizError if not: two paths share a hash."""
    if not bool((used == used[first][inverse]).all()):
        raise GemmvizError("two paths through the kernel have the same hash", remedy="trace fewer blocks")
