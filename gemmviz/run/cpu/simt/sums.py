"""The domain of a run whose sink wants less than all accesses: tags, where repeated loops aren't run again."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from gemmviz.cuda import walk
from gemmviz.cuda.granularity import idle_loops
from gemmviz.cuda.nodes import (
    Assign,
    Barrier,
    Base,
    Binary,
    Commit,
    Component,
    Convert,
    Declare,
    DeclareArray,
    Deref,
    Expr,
    Inline,
    Instruction,
    Loop,
    Mbarrier,
    Offset,
    Program,
    Read,
    Return,
    Unrolled,
    Wait,
)
from gemmviz.cuda.types import LONG, PointerType, Scalar, VectorType, scalar_of
from gemmviz.cuda.walk import parts
from gemmviz.model.messages import Place
from gemmviz.model.sinks import Shifted
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import COMPUTED
from gemmviz.run.cpu.simt.accesses import indexed_address
from gemmviz.run.cpu.simt.local import Compiling
from gemmviz.run.cpu.simt.machine import NORMAL, Closure, Machine
from gemmviz.run.cpu.simt.memory import AccessType, ElementOffset, GlobalMemory, SharedMemory
from gemmviz.run.cpu.simt.tags import TagMemory, Tags, TagShared
from gemmviz.run.cpu.simt.values import PointerClosure

_LARGEST_COMPARED = 1 << 12


class RepeatedTags(Tags):
    """Tags for a sink that wants origins, or sums alone: then memories hold nothing."""

    def __init__(self, program: Program, wants: Literal["origins", "sums"]) -> None:
        super().__init__(program)
        self.idle = idle_loops(program) if wants == "origins" else None
        self.indices = list[_IndexClosure]()

    def repeated(self, node: Loop | Unrolled, closure: Closure) -> Closure:
        number = (node.loop if isinstance(node, Unrolled) else node).number
        if self.idle is not None and number not in self.idle:
            return closure
        slots = _slots_of(node, self.numbers, self.tagged)
        return closure if slots is None else _Remembered(closure, slots)

    def accessed(self, compiler: Compiling, node: Deref) -> PointerClosure:
        match node.pointer:
            case Offset(type=PointerType(space=space), pointer=pointer, index=Binary() as index, scale=scale) if (
                self.idle is None and space != "local"
            ):
                self.known(compiler, index)
                return indexed_address(compiler.address(pointer), self.index(compiler, index), scale)
        return super().accessed(compiler, node)

    def index(self, compiler: Compiling, node: Binary) -> "_IndexClosure":
        self.indices.append(_IndexClosure(_sum_closure(self, compiler, node), node.type, self.indices))
        return self.indices[-1]

    def matrix(self, name: str, info: MemoryArray, number: int) -> GlobalMemory:
        return super().matrix(name, info, number) if self.idle is not None else UnseenMatrix(info, number)

    def shared(self, arrays: tuple[MemoryArray, ...], number: int, space: ThreadSpace) -> SharedMemory:
        return super().shared(arrays, number, space) if self.idle is not None else UnseenShared(arrays, number, space)


# Indices as sums: of one number, and of arrays times numbers. From trip to trip of a loop mostly the number alone differs.

_Terms = tuple[tuple[Any, int], ...]
_Sum = tuple[int, _Terms]
_LEAST_KEPT, _MOST_KEPT = 1 << 12, 1 << 26  # elements: of an array that is kept, and of all


def _sum_closure(domain: RepeatedTags, compiler: Compiling, node: Expr) -> Callable[[Machine], _Sum]:
    match node:
        case Binary(op="+" | "-" | "*" as op, type=Scalar(kind="i" | "u"), left=left, right=right):
            a, b = (_sum_closure(domain, compiler, each) for each in (left, right))
            return lambda machine: _joined(op, a(machine), b(machine))
        case Convert(type=Scalar(kind="i" | "u", bits=64), operand=Binary(type=Scalar(kind="i", bits=32)) as operand):
            index: Closure = domain.index(compiler, operand)
        case _:
            index = compiler.value(node)

    def alone(machine: Machine) -> _Sum:
        value = index(machine)
        if value.__class__ is Shifted:
            return value.shift, ((value.base, 1),)
        return (0, ((value, 1),)) if isinstance(value, np.ndarray) else (int(value), ())

    return alone


def _joined(op: str, a: _Sum, b: _Sum) -> _Sum:
    """The sum, difference or product of two sums."""
    if op != "*":
        sign = 1 if op == "+" else -1
        return a[0] + sign * b[0], a[1] + tuple((array, sign * times) for array, times in b[1])
    if a[1] and b[1]:
        product = (_total_of_terms(a[1]) + _as_signed(a[0])) * (_total_of_terms(b[1]) + _as_signed(b[0]))
        return 0, ((product, 1),)
    return a[0] * b[0], tuple((array, times * (b if a[1] else a)[0]) for array, times in a[1] or b[1])


def _total_of_terms(terms: _Terms) -> Any:
    """The sum of the terms modulo 2^64."""
    return sum(array.astype(np.int64) * _as_signed(times) for array, times in terms)


def _as_signed(number: int) -> int:
    return int(walk.wrap(number, LONG))


class _IndexClosure:
    """The closure of an index: a number, an array, or ``Shifted`` if the terms are those of the last time."""

    def __init__(self, total: Callable[[Machine], _Sum], scalar: Scalar, all_indices: "list[_IndexClosure]") -> None:
        self.total, self.scalar, self.all = total, scalar, all_indices
        self.terms: _Terms = ()
        self.base: Any = None
        self.extremes = 0, 0
        is_signed = scalar.kind == "i"
        self.limits = -(1 << scalar.bits - 1) if is_signed else 0, (1 << min(63, scalar.bits - is_signed)) - 1

    def __call__(self, machine: Machine) -> Any:
        number, terms = self.total(machine)
        if not terms:
            return walk.wrap(number, self.scalar)
        is_same = len(terms) == len(self.terms) and all(
            a is b and many == times for (a, many), (b, times) in zip(terms, self.terms, strict=True)
        )
        base = self.base if is_same else _total_of_terms(terms)
        if _LEAST_KEPT <= base.size <= _MOST_KEPT // len(self.all):
            if not is_same:
                self.terms, self.base, self.extremes = terms, base, (int(base.min()), int(base.max()))
            shifted = Shifted(base, *self.extremes, number)
            if shifted.is_within(*self.limits):
                return shifted
        return (base + _as_signed(number)).astype(self.scalar.dtype)


class UnseenMatrix(TagMemory):
    """A matrix whose accesses are reported and whose contents are not tracked."""

    __slots__ = ()

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        return COMPUTED


class UnseenShared(TagShared):
    """A shared array whose accesses are reported and whose contents are not tracked."""

    __slots__ = ()

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        return COMPUTED

    def store(self, machine: Machine, offset: ElementOffset, value: Any, kind: AccessType, place: Place) -> None:
        pass


class _LoopSlots(Struct, frozen=True):
    """Slots of a loop: those whose values at its start determine what it does, and those that it changes."""

    decisive: tuple[int, ...]
    changed: tuple[int, ...]


class _Remembered:
    """A recorded run of a loop: its initial state, its sums, and its final state."""

    def __init__(self, closure: Closure, slots: _LoopSlots) -> None:
        self.closure, self.slots = closure, slots
        self.began: list[Any] | None = None
        self.left: list[tuple[int, Any, int]] = []
        self.sums: Any = None
        self.steps = 0

    def __call__(self, machine: Machine) -> int:
        state = [machine.mask, machine.exited, machine.level, *(machine.slots[slot] for slot in self.slots.decisive)]
        if self.began is not None and all(map(_same_state, self.began, state)):
            machine.steps += self.steps
            machine.sink.again(self.sums, tuple(machine.visits))
            for slot, value, level in self.left:
                machine.slots[slot], machine.levels[slot] = value, level
            return NORMAL
        return self._run(machine, state)

    def _run(self, machine: Machine, state: list[Any]) -> int:
        before = machine.steps
        machine.sink.begin()
        try:
            code: int = self.closure(machine)
        finally:
            sums = machine.sink.end()
        came_back = code == NORMAL and machine.mask is state[0] and machine.exited is state[1] and machine.level == state[2]
        self.began = state if came_back and sums is not None else None
        if came_back:
            self.sums, self.steps = sums, machine.steps - before
            self.left = [(slot, machine.slots[slot], machine.levels[slot]) for slot in self.slots.changed]
        return code


def _same_state(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and a.size <= _LARGEST_COMPARED and bool((a == b).all())
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(_same_state, a, b))
    return type(a) is type(b) and isinstance(a, int | float | np.floating) and bool(a == b)


def _slots_of(node: Loop | Unrolled, numbers: frozenset[int], held: frozenset[int]) -> _LoopSlots | None:
    """The slots of a loop; None if it contains a barrier or local arrays whose contents determine what it does."""
    declared: set[int] = set()
    decisive: dict[int, None] = {}
    changed: dict[int, None] = {}
    if isinstance(node, Unrolled):
        declared.add(node.slot)
    for part in parts(node):
        match part:
            case Barrier() | Commit() | Mbarrier() | Wait():
                return None
            case Instruction(is_async=True):
                return None
            case Unrolled(slot=slot):
                declared.add(slot)
                changed[slot] = None
            case Declare(slot=slot) | DeclareArray(slot=slot):
                declared.add(slot)
                changed[slot] = None
            case Inline(bindings=bindings, result=result):
                own = [slot for slot, _ in bindings] + ([] if result is None else [result])
                declared.update(own)
                changed |= dict.fromkeys(own)
            case Assign(target=Read(slot=slot) | Component(of=Read(slot=slot))) | Return(slot=int(slot)):
                changed[slot] = None
            case Read(slot=slot, type=PointerType() as ctype) | Base(slot=slot, type=ctype) if ctype.space == "local" and not (
                _holds_floats(ctype) or slot in held
            ):
                return None
            case Read(slot=slot, type=ctype) if slot in numbers or not (_is_float(ctype) or slot in held):
                decisive[slot] = None
            case Base(slot=slot):
                decisive[slot] = None
    written = (slot for slot in decisive if slot not in declared)
    return _LoopSlots(tuple(written), tuple(changed))


def _holds_floats(ctype: PointerType) -> bool:
    return isinstance(ctype.to, Scalar | VectorType) and scalar_of(ctype.to).is_float


def _is_float(ctype: Any) -> bool:
    """Whether a variable is a float, whose value determines nothing here; that of a pointer does."""
    return not isinstance(ctype, PointerType) and isinstance(ctype, Scalar | VectorType) and scalar_of(ctype).is_float
