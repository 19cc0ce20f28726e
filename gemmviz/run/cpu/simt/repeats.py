"""Counts repeated runs of a loop without running it again.

If only sums are needed, a loop that starts with the same variables and the same threads touches the same elements in the same
order, so that its sums are added again. This is exact for sums only: floats of matrices are tags here, and their values don't
determine control flow.
"""

from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.run.cpu.simt.machine import NORMAL, Machine
from gemmviz.run.cpu.simt.values import Closure
from gemmviz.source.nodes import (
    Assign,
    Barrier,
    Base,
    Commit,
    Component,
    Copy,
    Declare,
    DeclareArray,
    Inline,
    Loop,
    Read,
    Return,
    Unrolled,
    Wait,
)  # fmt: skip
from gemmviz.source.types import PointerType, Scalar, VectorType, scalar_of
from gemmviz.source.walk import parts

_LARGEST_COMPARED = 1 << 12


class _Slots(Struct, frozen=True):
    """Slots of a loop: those whose values at its start determine what it does, and those that it changes."""

    decisive: tuple[int, ...]
    changed: tuple[int, ...]


def remembered(node: Loop | Unrolled, closure: Closure, numbers: frozenset[int], held: frozenset[int]) -> Closure:
    """A closure that runs a loop only if its result isn't known yet. ``numbers``: the float variables that hold
    numbers; ``held``: the integer variables and arrays that don't.
    """
    slots = _slots_of(node, numbers, held)
    return closure if slots is None else _Remembered(closure, slots)


class _Remembered:
    """A recorded run of a loop: its initial state, its sums, and its final state."""

    def __init__(self, closure: Closure, slots: _Slots) -> None:
        self.closure, self.slots = closure, slots
        self.began: list[Any] | None = None
        self.left: list[tuple[int, Any, int]] = []
        self.sums: Any = None
        self.steps = 0

    def __call__(self, machine: Machine) -> int:
        state = [machine.mask, machine.exited, machine.level, *(machine.slots[slot] for slot in self.slots.decisive)]
        if self.began is not None and all(map(_same, self.began, state)):
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


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and a.size <= _LARGEST_COMPARED and bool((a == b).all())
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(_same, a, b))
    return type(a) is type(b) and isinstance(a, int | float | np.floating) and bool(a == b)


def _slots_of(node: Loop | Unrolled, numbers: frozenset[int], held: frozenset[int]) -> _Slots | None:
    """The slots of a loop; None if it contains a barrier or local arrays whose contents determine what it does."""
    declared: set[int] = set()
    decisive: dict[int, None] = {}
    changed: dict[int, None] = {}
    if isinstance(node, Unrolled):
        declared.add(node.slot)
    for part in parts(node):
        match part:
            case Barrier() | Copy() | Commit() | Wait():
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
    return _Slots(tuple(written), tuple(changed))


def _holds_floats(ctype: PointerType) -> bool:
    return isinstance(ctype.to, Scalar | VectorType) and scalar_of(ctype.to).is_float


def _is_float(ctype: Any) -> bool:
    """Whether a variable is a float, whose value determines nothing here; that of a pointer does."""
    return not isinstance(ctype, PointerType) and isinstance(ctype, Scalar | VectorType) and scalar_of(ctype).is_float
