"""Lines up what the twin's threads wrote down, each in its own order, as the dense matrix of a trace.

A step is one visit of one access: the same for all threads, however they got there. Steps stand in the order of the program, so
that divergence shifts nothing. Everything works on NumPy and on CuPy arrays alike: the matrix is made where the words are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import GemmvizError, KernelFault
from gemmviz.model.lanes import LaneSpace
from gemmviz.model.trace import INACTIVE, Ints, MemoryArray, Site
from gemmviz.run.simt.interpreter import Binding
from gemmviz.source.instrument import Twin
from gemmviz.source.nodes import Program

OUTSIDE = 0x7FFFFFFF


@dataclass(frozen=True)
class Path:
    """What a thread went through: accesses (n,), and the trips of the loops around them (n, depth), -1 padded."""

    access: Ints
    visits: Ints


@dataclass
class PathBook:
    """The paths that are known of one twin, by their hash."""

    twin: Twin
    paths: dict[int, Path] = field(default_factory=dict)

    def learn(self, path: int, events: npt.NDArray[np.uint32]) -> None:
        self.paths[path] = Path(*self.twin.path(events))


@dataclass(frozen=True)
class Steps:
    """The steps of several paths together: accesses (steps,), trips (steps, depth); and for each path the steps that it makes."""

    access: Ints
    visits: Ints
    of_path: tuple[npt.NDArray[np.int64], ...]


def steps_of(program: Program, paths: Sequence[Path]) -> Steps:
    """All steps of these paths in the order of the program.

    Two steps are told apart by the outermost loop or statement where they part: by its place in the text or, in the same loop,
    by its trip.
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
    ends = np.cumsum([len(path.access) for path in paths])[:-1]
    chosen = order[fresh]
    return Steps(access[chosen], visits[chosen], tuple(np.split(row, ends)))


def _places(program: Program, depth: int) -> Ints:
    """For each access where the loops around it begin, outermost first, then itself: as numbers of accesses, -1 padded."""
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
    """Where an array lies: its first word, and words per element."""

    base: int
    unit: int


@dataclass(frozen=True)
class Aligned:
    """``element`` int32 (steps, lanes) is where the words were; the rest is on the host, named as in a Trace."""

    sites: tuple[Site, ...]
    site: Ints
    visits: Ints
    epoch: Ints
    element: Any
    steps: Steps


@dataclass(frozen=True)
class Words:
    """What a run of the twin left: words uint32 (capacity, lanes), and which of ``paths`` each lane took, (lanes,)."""

    words: Any
    paths: tuple[Path, ...]
    taken: Any


def aligned(xp: Any, binding: Binding, space: LaneSpace, found: Words, regions: Mapping[int, Region]) -> Aligned:
    """The dense matrix of a run. ``xp`` is NumPy or CuPy, ``regions`` say where each array lies.

    Raises KernelFault, with place, block and thread, for an access outside of its array.
    """
    steps = steps_of(binding.program, found.paths)
    count = len(steps.access)
    array = np.full(count, INACTIVE, np.int32)
    one_path = len(found.paths) == 1
    element = None if one_path else xp.full((count, space.lanes), INACTIVE, np.int32)
    for number, (path, rows) in enumerate(zip(found.paths, steps.of_path, strict=True)):
        lanes = slice(None) if one_path else xp.flatnonzero(found.taken == number)
        words = found.words[: len(path.access), lanes]
        arrays = _arrays(binding, path, _on_host(words[:, 0]), regions)
        array[rows] = arrays
        elements = _elements(xp, binding, path, words, arrays, regions, space, lanes)
        if element is None:
            element = elements if _in_order(rows) else elements[xp.argsort(xp.asarray(rows))]
        else:
            element[xp.asarray(rows)[:, None], lanes[None, :]] = elements
    pairs: dict[tuple[int, int], int] = {}
    site = np.array([pairs.setdefault(pair, len(pairs)) for pair in zip(steps.access.tolist(), array.tolist(), strict=True)])
    waits = np.array([access.kind == "barrier" for access in binding.program.accesses])[steps.access]
    depth = max((len(binding.program.accesses[access].loops) for access, _ in pairs), default=0)
    return Aligned(
        tuple(binding.site(*pair) for pair in pairs),
        site.astype(np.int32),
        steps.visits[:, :depth],
        (np.cumsum(waits) - waits).astype(np.int32),
        element,
        steps,
    )


def _in_order(rows: npt.NDArray[np.int64]) -> bool:
    return bool((np.diff(rows) == 1).all())


def _on_host(column: Any) -> npt.NDArray[np.uint32]:
    found: npt.NDArray[np.uint32] = column.get() if hasattr(column, "get") else column
    return found


def _arrays(binding: Binding, path: Path, words: npt.NDArray[np.uint32], regions: Mapping[int, Region]) -> Ints:
    """Which array each access of a path went to, from one thread's words: the one that begins before it, or the nearest."""
    numbers = sorted(regions, key=lambda number: regions[number].base)
    bases = np.array([regions[number].base for number in numbers], np.int64)
    sizes = np.array([binding.arrays[number].size * regions[number].unit for number in numbers], np.int64)
    at = np.clip(np.searchsorted(bases, words.astype(np.int64), side="right") - 1, 0, len(bases) - 1)
    after = np.clip(at + 1, 0, len(bases) - 1)
    beyond, short = words - (bases + sizes)[at], bases[after] - words
    same_memory = (bases[after] >> 31) == (words.astype(np.int64) >> 31)
    at = np.where((beyond >= 0) & (short > 0) & (short <= beyond) & same_memory, after, at)
    spaces = [access.space for access in binding.program.accesses]
    is_access = np.array([space is not None for space in spaces])[path.access]
    return np.where(is_access, np.array(numbers, np.int32)[at], INACTIVE).astype(np.int32)


def _elements(
    xp: Any, binding: Binding, path: Path, words: Any, arrays: Ints, regions: Mapping[int, Region], space: LaneSpace, lanes: Any
) -> Any:
    """int32 (n, lanes): the elements of their arrays that the words name. Raises KernelFault for one that has none."""
    count = max(regions) + 1
    base, unit, size = np.zeros(count + 1, np.uint32), np.ones(count + 1, np.uint32), np.ones(count + 1, np.int64)
    for number, region in regions.items():
        base[number], unit[number], size[number] = region.base, region.unit, binding.arrays[number].size
    width = np.array([access.width for access in binding.program.accesses], np.int64)[path.access]
    last = xp.asarray((size[arrays] - width).clip(-1).astype(np.int64))
    elements = words - xp.asarray(base[arrays])[:, None]
    if (unit > 1).any():
        elements //= xp.asarray(unit[arrays])[:, None]
    bad = elements.max(axis=1) > last
    if bool(bad.any()):
        slot = int(xp.argmax(bad))
        lane = int(xp.argmax(elements[slot] > last[slot]))
        number = int(arrays[slot])
        at = lane if isinstance(lanes, slice) else int(lanes[lane])
        raise _fault(binding, space, int(path.access[slot]), number, int(words[slot, lane]), regions[number], at)
    return elements.view(np.int32)


def _fault(binding: Binding, space: LaneSpace, access: int, array: int, word: int, region: Region, lane: int) -> KernelFault:
    place, info = binding.program.accesses[access], binding.arrays[array]
    block, thread = space.thread_of(lane)
    if word == OUTSIDE and info.space == "global":
        message = f"{place.text} reaches outside of A, B and C"
    else:
        message = f"{_element(info, (word - region.base) // region.unit)} is out of range: it has {info.size} elements"
    fault = KernelFault(message, place.place, block=block, thread=thread)
    fault.array, fault.elements = array, (max(-1, (word - region.base) // region.unit),)
    fault.in_file(binding.spec.file)
    return fault


def _element(info: MemoryArray, index: int) -> str:
    return info.subscripted(index) if info.space == "shared" and index >= 0 else f"{info.name}[{index}]"


def check_hashes(used: Any, path: Any, first: Any, inverse: Any) -> None:
    """Threads with one hash made equally many accesses. Raises GemmvizError where two paths share a hash."""
    if not bool((used == used[first][inverse]).all()):
        raise GemmvizError("two paths through the kernel can't be told apart", remedy="trace fewer blocks")
