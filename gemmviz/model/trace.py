"""The record of one run: which element every traced thread touched at every step, and what came out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import Place
from gemmviz.model.kernel import Launch, Settings
from gemmviz.model.lanes import LaneSpace, Window

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Space = Literal["global", "shared"]
SiteKind = Literal["load", "store", "barrier", "warp barrier"]
INTERPRETER = "interpreter"
INACTIVE = -1
COMPUTED = -1
CONSTANT = -2


@dataclass(frozen=True, slots=True)
class MemoryArray:
    """A matrix in global memory or an array in shared memory. ``shape`` is (rows, columns), or more dims if declared so.

    ``itemsize`` is in bytes. Global arrays start at a multiple of 256 bytes, as the driver allocates them.
    """

    name: str
    space: Space
    shape: tuple[int, ...]
    dtype: str
    column_major: bool = False

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize

    def subscripted(self, element: int) -> str:
        """An element as the source would write it: ``tile[2][3]`` of a shared array, ``A[19]`` of a matrix."""
        subscripts: list[int] = []
        for extent in reversed(self.shape[1:] if self.space == "shared" else ()):
            element, inner = divmod(element, extent)
            subscripts.insert(0, inner)
        return self.name + "".join(f"[{each}]" for each in (element, *subscripts))

    def row_column(self, element: npt.NDArray[np.generic]) -> tuple[Any, Any]:
        """Row and column of each element, for arrays of one or two dims (leading dims are stacked as rows)."""
        if self.column_major:
            columns, rows = np.divmod(element, self.shape[0])
            return rows, columns
        return np.divmod(element, self.shape[-1])


@dataclass(frozen=True, slots=True)
class Site:
    """One place that touches one array, or a barrier (``array`` is -1). ``width``: elements per access.

    ``loops`` are the numbers of the loops around it, outermost first; ``calls`` the calls it was inlined through.
    """

    kind: SiteKind
    array: int
    place: Place
    text: str
    width: int
    loops: tuple[int, ...]
    calls: tuple[Place, ...] = ()
    statement: Place | None = None

    @property
    def is_barrier(self) -> bool:
        return self.array < 0


@dataclass(frozen=True, slots=True)
class LoopInfo:
    """A loop of the kernel: the number of the loop around it (or -1), and whether it holds a barrier."""

    outer: int
    place: Place
    holds_barrier: bool


@dataclass(frozen=True, slots=True)
class Check:
    """C against float64: how many elements were written and compared, the largest error and what was allowed there.

    ``unwritten`` counts elements of C that no traced thread wrote although the whole launch was traced; ``wrong_elements``
    are the first of the wrong ones.
    """

    compared: int
    wrong: int
    unwritten: int
    worst_error: float
    worst_allowed: float
    worst_at: tuple[int, int]
    wrong_elements: tuple[int, ...] = ()

    @property
    def passed(self) -> bool:
        return self.wrong == 0 and self.unwritten == 0

    def __str__(self) -> str:
        if self.passed:
            error = f"largest error {self.worst_error:.2g} of {self.worst_allowed:.2g} allowed"
            return f"C is right: {self.compared} elements, {error}"
        row, column = self.worst_at
        parts = [f"{self.wrong} of {self.compared} elements are wrong, most at C[{row}, {column}]"] if self.wrong else []
        parts += [f"{self.unwritten} elements are never written"] if self.unwritten else []
        return "C is wrong: " + "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run ended early: a sentence, and the elements of an array (by its number, -1 for none) that it is about."""

    sentence: str
    array: int = -1
    elements: tuple[int, ...] = ()


@dataclass(frozen=True)
class Trace:
    """Dense record: row = step, column = lane (see LaneSpace for their order). Arrays are read-only.

    ``element`` int32 (steps, lanes): the element that a lane touched, -1 where it was inactive; 0 for arriving at a barrier.
    ``value`` float32 (steps, lanes): what was read or written, where asked for.
    ``site``, ``epoch`` int32 (steps,); ``visits`` int32 (steps, depth): trip numbers of the loops around the site, -1 padded.
    ``origin_step`` int32 (n,): the steps that stored into shared memory, once for each element of a store's width;
    ``origin_array`` int8 and ``origin`` int32 (n, lanes): the element of which array the stored value was, array COMPUTED or
    CONSTANT where it was none.
    ``phases`` are the trips of the phase loop that were recorded, half-open; None for all.
    ``stop`` says why a run ended before its time; such a trace is looked at and never saved, and its C is not checked.
    """

    kernel: str
    file: str
    source: str
    settings: Settings
    launch: Launch
    window: Window
    warp_size: int
    arrays: tuple[MemoryArray, ...]
    sites: tuple[Site, ...]
    loops: tuple[LoopInfo, ...]
    site: Ints
    visits: Ints
    epoch: Ints
    element: Ints
    check: Check
    value: npt.NDArray[np.float32] | None = None
    origin_step: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    origin_array: npt.NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), np.int8))
    origin: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    notes: tuple[str, ...] = ()
    executor: str = INTERPRETER
    phases: tuple[int, int] | None = None
    stop: Stop | None = None

    @property
    def steps(self) -> int:
        return len(self.site)

    @cached_property
    def space(self) -> LaneSpace:
        return LaneSpace(self.launch, self.window, self.warp_size)

    @property
    def parameters(self) -> Mapping[str, int]:
        return self.settings.parameters

    @cached_property
    def phase_loop(self) -> int:
        """The loop whose trips are the phases: the outermost that holds a barrier, else the outermost around a
        global load; -1 where there is none.
        """
        loads = (s.loops for s in self.sites if s.kind == "load" and self.arrays[s.array].space == "global")
        return phase_loop([loop.holds_barrier for loop in self.loops], loads)

    @cached_property
    def phase(self) -> Ints:
        """int32 (steps,): the phase of each step; -1 before the first, the number of phases after the last."""
        phase = trips(self.phase_loop, self.sites, self.site, self.visits)
        inside = np.flatnonzero(phase >= 0)
        if len(inside):
            phase[inside[-1] + 1 :] = phase.max() + 1
        return phase

    def site_of(self, step: int) -> Site:
        return self.sites[int(self.site[step])]

    def array_of(self, step: int) -> MemoryArray | None:
        site = self.site_of(step)
        return None if site.is_barrier else self.arrays[site.array]


def trips(loop: int, sites: Sequence[Site], site: Ints, visits: Ints) -> Ints:
    """Int32 (steps,): the trip of a loop that each step belongs to, -1 outside. ``site`` and ``visits`` as in a Trace."""
    depth = np.array([each.loops.index(loop) if loop in each.loops else -1 for each in sites], np.int64)[site]
    found = np.full(len(site), -1, np.int32)
    inside = depth >= 0
    found[inside] = visits[inside, depth[inside]]
    return found


def phase_loop(holds_barrier: Sequence[bool], loops_of_loads: Iterable[tuple[int, ...]]) -> int:
    """The number of the loop whose trips are the phases: the first that holds a barrier (loops are numbered outermost
    first), else the outermost around a global load, else -1.
    """
    if any(holds_barrier):
        return list(holds_barrier).index(True)
    return next((loops[0] for loops in loops_of_loads if loops), -1)


class AccessSink:
    """Takes the accesses of a run as they happen. ``offset`` and ``mask`` broadcast over the lane space's axes.

    A sink inherits from this and says only what it wants to know; the rest passes by.
    """

    def started(self, machine: Any) -> None:
        """The run begins: ``machine.slots`` hold the kernel's variables, ``machine.exited`` who has returned (None: nobody)."""

    def site(self, site: Site) -> None:
        """A site is met for the first time; its number is the count of those before."""

    def access(self, site: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int) -> None:
        """One step. ``offset`` is in elements of the site's array, ``mask`` None where all lanes are active."""

    def value(self, value: Any) -> None:
        """What the access just announced read or wrote (the first element of a wide one)."""

    def origins(self, tags: list[Any]) -> None:
        """What the store into shared memory just announced wrote, as tags, one for each element of its width."""
