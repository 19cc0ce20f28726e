"""The domain of a run whose sink wants less than all accesses: tags, where repeated loops aren't run again."""

from typing import Any, Literal

import numpy as np
from msgspec import Struct

from gemmviz.cuda.granularity import idle_loops
from gemmviz.cuda.nodes import (
    Assign,
    Barrier,
    Base,
    Commit,
    Component,
    Declare,
    DeclareArray,
    Inline,
    Instruction,
    Loop,
    Mbarrier,
    Program,
    Read,
    Return,
    Unrolled,
    Wait,
)
from gemmviz.cuda.types import PointerType, Scalar, VectorType, scalar_of
from gemmviz.cuda.walk import parts
from gemmviz.model.errors import Place
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import COMPUTED
from gemmviz.run.cpu.simt.machine import NORMAL, Closure, Machine
from gemmviz.run.cpu.simt.memory import AccessType, ElementOffset, GlobalMemory, SharedMemory
from gemmviz.run.cpu.simt.tags import TagMemory, Tags, TagShared

_LARGEST_COMPARED = 1 << 12


class RepeatedTags(Tags):
    """Tags for a sink that wants origins, or sums alone: then memories hold nothing."""

    def __init__(self, program: Program, wants: Literal["origins", "sums"]) -> None:
        super().__init__(program)
        self.idle = idle_loops(program) if wants == "origins" else None

    def repeated(self, node: Loop | Unrolled, closure: Closure) -> Closure:
        number = (node.loop if isinstance(node, Unrolled) else node).number
        if self.idle is not None and number not in self.idle:
            return closure
        slots = _slots_of(node, self.numbers, self.tagged)
        return closure if slots is None else _Remembered(closure, slots)

    def matrix(self, name: str, info: MemoryArray, number: int) -> GlobalMemory:
        return super().matrix(name, info, number) if self.idle is not None else UnseenMatrix(info, number)

    def shared(self, arrays: tuple[MemoryArray, ...], number: int, space: ThreadSpace) -> SharedMemory:
        return super().shared(arrays, number, space) if self.idle is not None else UnseenShared(arrays, number, space)


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
