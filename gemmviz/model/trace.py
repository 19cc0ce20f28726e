"""The record of one run: what every traced thread touched at every step, the check of the result, and how the run ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.model.arrays import SCALAR, Bools, Floats, Ints, Longs, Singles
from gemmviz.model.device import MemoryRules
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import GemmvizError, KernelFault, Place, many, tr
from gemmviz.model.outline import phase_loop
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.sites import Access, LoopInfo, MemoryArray, Operand, Site
from gemmviz.model.threads import BlockRange, ThreadSpace

INTERPRETER = "interpreter"
INACTIVE = -1
COMPUTED = -1
CONSTANT = -2


class Touches(Struct, frozen=True):
    """All steps of one operand of one site: ``steps`` (n,) ascending, ``rows`` (n,) of the record."""

    site: int
    operand: Operand
    steps: Longs
    rows: Longs


class Check(Struct, frozen=True):
    """An output compared with float64, C of a multiplication: the numbers of elements written and compared, the largest error
    (None if it is NaN there), the error allowed there, and its place, an index for each dimension.

    ``unwritten`` counts elements that no traced thread wrote although the whole launch was traced, unless what they held is
    right; ``wrong_elements`` are the first of the wrong ones. ``array``: the name of the output. ``is_checked``: whether it is
    known what is right; ``why_not``: why it isn't.
    """

    compared: int
    wrong: int
    unwritten: int
    worst_error: float | None = None
    worst_allowed: float = 0.0
    worst_at: tuple[int, ...] = (0, 0)
    wrong_elements: tuple[int, ...] = ()
    array: str = "C"
    is_checked: bool = True
    why_not: str = ""

    @property
    def passed(self) -> bool:
        return self.wrong == 0 and self.unwritten == 0

    def __str__(self) -> str:
        if not self.is_checked:
            return self.why_not or tr("nothing is checked: the problem doesn't say what is right")
        if self.passed and not self.compared:
            return tr("no element of {array} is stored yet", array=self.array)
        if self.passed:
            error = tr(
                "largest error {worst_error} of {worst_allowed} allowed",
                worst_error=f"{self.worst_error or 0.0:.2g}",
                worst_allowed=f"{self.worst_allowed:.2g}",
            )
            return tr(
                "{array} is right: {elements}, {error}", array=self.array, elements=many(self.compared, "element"), error=error
            )
        at = f"{self.array}[{', '.join(map(str, self.worst_at))}]"
        parts = (
            [
                tr(
                    "{wrong} of {compared} elements are wrong, most of all at {at}",
                    wrong=self.wrong,
                    compared=self.compared,
                    at=at,
                )
            ]
            if self.wrong
            else []
        )
        parts += [tr("{unwritten} elements are never written", unwritten=self.unwritten)] if self.unwritten else []
        return tr("{array} is wrong: ", array=self.array) + "; ".join(parts)


class EarlyExit(Struct, frozen=True):
    """Why a run ended early: a sentence, and the elements involved of an array (by its number, -1 for none)."""

    sentence: str
    array: int = -1
    elements: tuple[int, ...] = ()


@dataclass(frozen=True)
class Trace:
    """A dense record. A step takes one row for each operand of its site; a column is a thread (see ThreadSpace for their
    order). Arrays are read-only.

    ``element`` int32 (rows, threads): the element that a thread touched, -1 if inactive; at a site without operands, 0 if it
    took part, or at a barrier of the block its number; at a branch, whose steps are those at which lanes of a warp part, 1 if
    the condition held and 0 if not. ``value`` float32 (rows, threads): the value read or written (the first of a layout), if
    requested. ``site``, ``epoch`` int32 (steps,); ``visits`` int32 (steps, depth): trip numbers of the loops around the site,
    padded with -1. ``origin_step`` int32 (n,): the steps that stored into shared memory, once for each element that a thread
    stores; ``origin_array`` int8 and ``origin`` int32 (n, threads): array and element that the stored value is a copy of, with
    array COMPUTED or CONSTANT if it is none. ``completes`` int32 (steps,): the step at which each step completes; a later one
    for asynchronous steps, and the number of steps if it never completes. It is empty in a trace without asynchronous steps.
    ``setup``: the requested run; ``blocks``: the traced blocks; ``phases``: the recorded trips of the phase loop, half-open,
    None for all. ``rules``: the memory rules of the device. ``by``: the engine. ``stored`` float64 (threads,), by row: values
    that stores to global memory wrote (the first of a layout); not saved in files. ``stop``: why a run ended early; such a
    trace can't be saved, and its C is not checked.
    """

    setup: Setup
    launch: Launch
    blocks: BlockRange
    rules: MemoryRules
    arrays: tuple[MemoryArray, ...]
    sites: tuple[Site, ...]
    loops: tuple[LoopInfo, ...]
    site: Ints
    visits: Ints
    epoch: Ints
    element: Ints
    check: Check
    value: Singles | None = None
    origin_step: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    origin_array: npt.NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), np.int8))
    origin: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    completes: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    notes: tuple[str, ...] = ()
    by: str = INTERPRETER
    phases: tuple[int, int] | None = None
    stop: EarlyExit | None = None
    stored: Mapping[int, Floats] = field(default_factory=dict, compare=False)

    @property
    def steps(self) -> int:
        return len(self.site)

    @property
    def recorded_on(self) -> str:
        """The name of the GPU that recorded it; "" if the interpreter did."""
        return "" if self.by == INTERPRETER else self.by.partition(",")[0]

    @cached_property
    def lane(self) -> Ints:
        """int32 (threads,): each thread's place in its warp."""
        return (np.arange(self.space.thread_count, dtype=np.int32) % self.space.threads_per_block) % self.rules.warp_size

    def offsets(self, operand: Operand, threads: "slice | Longs") -> Iterator[int | Longs]:
        """The offset of each element of an access: an int, or an array for ``threads`` if it differs between lanes."""
        return operand.layout.each(None if operand.layout.lanes == 1 else self.lane[threads])

    def spread(self, operand: Operand, touched: Ints, threads: slice) -> Longs:
        """All elements that active threads touch, flat, thread by thread. ``touched`` (..., threads): rows of the record."""
        active = touched >= 0
        first = touched[active].astype(np.int64)
        if operand.layout == SCALAR:
            return first
        lanes = None if operand.layout.lanes == 1 else np.broadcast_to(self.lane[threads], touched.shape)[active]
        return operand.layout.spread(first, lanes).ravel()

    def completed_at(self, step: int) -> Longs:
        """The asynchronous steps that complete at ``step``, ascending."""
        return np.flatnonzero(self.completes[:step] == step)

    @cached_property
    def result(self) -> int | None:
        """The number of the matrix that holds the result: the problem's output, C of a multiplication; in a problem without
        outputs the first matrix that is written. None if there is none.
        """
        known = [self.number_of(name) for name in self.setup.problem.output_names]
        written = (number for number, _ in self._matrices if self.touches_of(number, "write"))
        return next((number for number in known if number is not None), None) if known else next(written, None)

    @property
    def _matrices(self) -> list[tuple[int, MemoryArray]]:
        return [(number, array) for number, array in enumerate(self.arrays) if array.space == "global"]

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """The numbers of the matrices that are not the result, in the order of the problem: A and B of a multiplication."""
        order = [array.name for array in self.setup.problem.arrays]
        others = [(order.index(array.name) if array.name in order else len(order), n) for n, array in self._matrices]
        return tuple(number for _, number in sorted(others) if number != self.result)

    def touched_share(self, name: str, access: Access) -> float:
        """The share of an array's elements, 0 to 1, that the traced threads access in this way."""
        number = self.number_of(name)
        if number is None:
            return 0.0
        touched = np.zeros(self.arrays[number].size, bool)
        for each in self.touches_of(number, access):
            touched[self.spread(each.operand, self.element[each.rows], slice(None))] = True
        return float(touched.mean())

    @cached_property
    def written_inputs(self) -> tuple[str, ...]:
        """Names of the inputs that the kernel writes to."""
        roles = {array.name: array.role for array in self.setup.problem.arrays}
        return tuple(
            array.name for number, array in self._matrices
            if roles.get(array.name) == "input" and self.touches_of(number, "write")
        )  # fmt: skip

    @property
    def is_multiply(self) -> bool:
        """Whether it is the run of one multiplication of matrices, which is drawn as A, B and C."""
        return self.setup.problem.is_multiply and len(self.inputs) == 2 and self.result is not None

    @property
    def is_whole(self) -> bool:
        """Whether it contains all blocks and all phases."""
        return self.blocks.count == self.launch.block_count and self.phases is None

    @cached_property
    def space(self) -> ThreadSpace:
        return ThreadSpace(self.launch, self.blocks, self.rules.warp_size)

    @cached_property
    def row(self) -> Longs:
        """int64 (steps + 1,): the first row of each step, and the number of all rows."""
        rows = np.array([site.rows for site in self.sites], np.int64)[self.site]
        return np.concatenate([[0], np.cumsum(rows)])

    @cached_property
    def touches(self) -> tuple[Touches, ...]:
        """All operands of all sites, with their steps."""
        touches = []
        for number, site in enumerate(self.sites):
            steps = np.flatnonzero(self.site == number)
            for place, operand in enumerate(site.operands):
                touches.append(Touches(number, operand, steps, self.row[steps] + place))
        return tuple(touches)

    def touches_of(self, array: int, access: Access | None = None) -> tuple[Touches, ...]:
        """All operands in one array, with this kind of access if given; not those that are mbarriers."""
        chosen = (t for t in self.touches if t.operand.array == array and access in (None, t.operand.access))
        return tuple(touches for touches in chosen if not self.sites[touches.site].is_of_mbarrier)

    @cached_property
    def phase_loop(self) -> int:
        """The loop whose trips are the phases: the outermost that contains a barrier, else the outermost around a global load;
        -1 if there is none.
        """
        reads = (t for t in self.touches if t.operand.access == "read" and self.arrays[t.operand.array].space == "global")
        return phase_loop([loop.holds_barrier for loop in self.loops], (self.sites[t.site].loops for t in reads))

    @cached_property
    def phase(self) -> Ints:
        """int32 (steps,): the phase of each step; -1 before the first, the number of phases after the last."""
        phase = trips(self.phase_loop, self.sites, self.site, self.visits)
        inside = np.flatnonzero(phase >= 0)
        if len(inside):
            phase[inside[-1] + 1 :] = phase.max() + 1
        return phase

    def number_of(self, name: str) -> int | None:
        """The number of an array; None if the trace has no array of that name."""
        return next((number for number, array in enumerate(self.arrays) if array.name == name), None)

    def site_of(self, step: int) -> Site:
        return self.sites[int(self.site[step])]


def trips(loop: int, sites: Sequence[Site], site: Ints, visits: Ints) -> Ints:
    """Trip of a loop at each step, int32 (steps,), -1 outside. ``site`` and ``visits`` as in a Trace."""
    depth = np.array([each.loops.index(loop) if loop in each.loops else -1 for each in sites], np.int64)[site]
    trips = np.full(len(site), -1, np.int32)
    inside = depth >= 0
    trips[inside] = visits[inside, depth[inside]]
    return trips


# Size limits of a trace, shared by the recorders, the writer and the reader.


class TraceBounds(Struct, frozen=True):
    """The largest number of each thing. ``offsets``: of one layout, over all its lanes; ``offset``: in elements; ``text``:
    characters of a name, a note or a site's text; ``trips``: of a loop; ``shared_bytes``: of one array in shared memory.
    """

    steps: int = 250_000
    threads: int = 1 << 20
    threads_per_block: int = 4096
    arrays: int = 64
    sites: int = 20_000
    loops: int = 20_000
    notes: int = 1000
    operands: int = 8
    offsets: int = 1 << 16
    offset: int = 1 << 20
    shared_bytes: int = 1 << 20
    extent: int = (1 << 31) - 1
    trips: int = (1 << 31) - 2
    text: int = 10_000


BOUNDS = TraceBounds()


class Outcome(Struct, frozen=True):
    """``trace``: the record, None if the kernel stopped before its first access. ``fault``: why it stopped.

    ``by``: the engine that ran it, as in the trace. ``instead_of``: the error of the engine that was tried first.
    """

    trace: Trace | None
    by: str
    fault: KernelFault | None = None
    instead_of: GemmvizError | None = None

    @property
    def whole(self) -> Trace:
        """The trace of a complete run. Raises the fault of one that stopped early."""
        if self.fault is not None:
            raise self.fault
        assert self.trace is not None
        return self.trace


# Values of one thread's variables at every step.

VariableValue = float | int | bool | str | tuple[Any, ...] | None


class WatchedVariable(Struct, frozen=True):
    """A variable of the source, and the lines from its declaration to the end of its scope. ``loads``: the places of the sites
    whose values it receives; ``stores``: those of the sites that store a value that is computed of it.
    """

    name: str
    first_line: int
    last_line: int
    loads: tuple[Place, ...] = ()
    stores: tuple[Place, ...] = ()


class Watched(Struct, frozen=True):
    """``rows[step]`` holds the value of each of ``variables`` after that step: None before its first value, a tuple for an
    array or a vector, "A + 12" for a pointer. ``before[step]`` holds the values before a step where they differ from
    ``rows[step - 1]``: before the first step, and after phases that are left out.
    """

    variables: tuple[WatchedVariable, ...]
    rows: tuple[tuple[VariableValue, ...], ...]
    before: dict[int, tuple[VariableValue, ...]] = field(default_factory=dict)

    def during(self, step: int) -> tuple[VariableValue, ...]:
        """The value of each variable while ``step`` makes its access, before it assigns anything."""
        return self.before.get(step) or (self.rows[step - 1] if 0 < step < len(self.rows) else ())

    def at(self, step: int, site: Site) -> list[tuple[str, VariableValue]]:
        """Names of the variables in scope at ``site``, and the values with which ``step`` makes its access; None for a variable
        that the access initializes.
        """
        return [
            (variable.name, None if variable.first_line == site.place.line and site.place in variable.loads else value)
            for variable, value in _in_scope(self.variables, self.during(step), site)
        ]

    def after(self, step: int, site: Site) -> dict[str, VariableValue]:
        """The values after ``step`` of the variables in scope at ``site``."""
        row = self.rows[step] if step < len(self.rows) else ()
        return {variable.name: value for variable, value in _in_scope(self.variables, row, site)}


def _in_scope(
    variables: Sequence[WatchedVariable], row: Sequence[VariableValue], site: Site
) -> Iterator[tuple[WatchedVariable, VariableValue]]:
    lines = [place.line for place in (site.place, *site.calls)]
    for variable, value in zip(variables, row, strict=False):
        if any(variable.first_line <= line <= variable.last_line for line in lines):
            yield variable, value


# A kernel executed in an order of warps that gives a wrong result.


class Turn(Struct, frozen=True):
    """One access or barrier: step number ``step`` (from 0) of ``unit``, on ``line`` of the source. ``what``: the element or
    the array that it touches, as in the source, and ``array``: the name of that array; "" for a barrier. ``value``: the value
    read or written, summed over the lanes of a warp; ``expected``: the value read in lockstep, if different; ``cells``: the
    elements touched in shared memory, for all writes and for the reads that lead to the race.
    """

    unit: int
    step: int
    line: int
    action: Literal["read", "write", "wait"]
    what: str
    array: str
    value: float | None = None
    expected: float | None = None
    cells: tuple[int, ...] = ()

    @property
    def is_spoilt(self) -> bool:
        """Whether it read another value than in lockstep."""
        return self.expected is not None


class RaceCase(Struct, frozen=True, eq=False):  # arrays have no truth: one run's values are equal to themselves alone
    """One block of a launch, run in lockstep and with one unit ahead. ``units``: number of units of this ``kind``; ``ahead``:
    the unit that runs ahead, and ``lead`` by how many steps, counted since the last barrier that all units reach: the fewest
    that give a wrong C; -1 and 0 if none of the ``tried`` orders, out of ``orders``, does. ``turns``: that order, step by step;
    without one, lockstep. ``right`` and ``wrong`` are the block's part of C, which begins at ``corner``, NaN where it stores
    nothing.

    ``pair``: the places among the turns of two accesses to one ``cell`` between the same barriers, of which one writes, in the
    order of the turns; None if there are none. ``begin``: the place of the first turn after the barrier before them.
    ``tiles``: names and shapes of the arrays in shared memory.
    """

    setup: Setup
    what: str
    kind: Literal["warps", "threads"]
    units: int
    ahead: int
    lead: int
    tried: int
    orders: int
    turns: tuple[Turn, ...]
    right: Floats
    wrong: Floats
    corner: tuple[int, int]
    pair: tuple[int, int] | None = None
    cell: int = -1
    begin: int = 0
    tiles: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def problem(self) -> Problem:
        return self.setup.problem

    @property
    def result(self) -> str:
        """The name of the result, C of a multiplication."""
        return self.problem.output_names[0]

    @property
    def spoilt(self) -> Bools:
        """Which elements are wrong."""
        with np.errstate(invalid="ignore"):
            return np.asarray(~np.isclose(self.right, self.wrong, rtol=1e-5, atol=1e-6, equal_nan=True))
