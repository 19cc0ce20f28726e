"""The interpreter without arithmetic: floats are tags that name the element of which a value is a copy.

Addresses and control flow of a multiplication don't depend on the contents of its matrices. So the accesses of a whole launch
follow without multiplying anything, and the contents of each cell of a shared tile follow exactly, through registers and
shuffles too. A kernel whose control flow does depend on contents raises NeedsValues.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.model.errors import Place
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import COMPUTED, CONSTANT
from gemmviz.run.cpu.simt.expressions import Compiler
from gemmviz.run.cpu.simt.machine import Machine, NeedsValues
from gemmviz.run.cpu.simt.memory import ElementOffset, GlobalMemory, SharedMemory
from gemmviz.run.cpu.simt.numbers import is_float, is_number
from gemmviz.run.cpu.simt.values import Closure
from gemmviz.source.nodes import (
    Address,
    Assign,
    AtAddress,
    Atomic,
    Binary,
    Call,
    Component,
    Const,
    Convert,
    Deref,
    Expr,
    Extent,
    Index,
    Inline,
    Logic,
    MakeVector,
    PointerDifference,
    Read,
    Reinterpret,
    Select,
    Sequence,
    Stmt,
    Unary,
)  # fmt: skip
from gemmviz.source.nodes import (
    Offset as Moved,
)
from gemmviz.source.types import LONG, Scalar, VectorType, scalar_of

TAG_SHIFT = 40
_COPIES = {f"__shfl{way}{sync}" for way in ("", "_up", "_down", "_xor") for sync in ("", "_sync")}


def constant_tag(value: float) -> int:
    """The tag of a float32 literal: CONSTANT and below, by its bits."""
    return CONSTANT - int(np.float32(value).view(np.uint32))


def tag_array(tags: Any) -> Any:
    """Number of the array that each tag names; COMPUTED or CONSTANT if it names none."""
    found = np.asarray(tags)
    if not (found < 0).any():
        return found >> TAG_SHIFT
    return np.where(found < 0, np.maximum(found, CONSTANT), found >> TAG_SHIFT)


def tag_element(tags: Any) -> Any:
    """The element that each tag names, int32; of a CONSTANT, the bits of its float32; undefined for COMPUTED."""
    found = np.asarray(tags)
    if not (found < 0).any():
        return (found & ((1 << TAG_SHIFT) - 1)).astype(np.int32)
    bits = (CONSTANT - np.minimum(found, CONSTANT)).astype(np.uint32).view(np.int32)
    return np.where(found <= CONSTANT, bits, found & ((1 << TAG_SHIFT) - 1)).astype(np.int32)


class TagMemory(GlobalMemory):
    """A matrix whose elements are represented by their tags."""

    __slots__ = ()

    def __init__(self, name: str, number: int, scalar: Scalar, size: int) -> None:
        super().__init__(name, number, scalar, np.zeros(0))
        self.size = size

    def load(self, machine: Machine, offset: ElementOffset, place: Place) -> Any:
        return offset + (self.number << TAG_SHIFT)

    def store(self, machine: Machine, offset: ElementOffset, value: Any, place: Place) -> None:
        pass


class UnseenMatrix(TagMemory):
    """A matrix whose accesses are reported and whose contents are not tracked."""

    __slots__ = ()

    def load(self, machine: Machine, offset: ElementOffset, place: Place) -> Any:
        return COMPUTED


class UnseenShared(SharedMemory):
    """A shared array whose accesses are reported and whose contents are not tracked."""

    __slots__ = ()

    def load(self, machine: Machine, offset: ElementOffset, place: Place) -> Any:
        return COMPUTED

    def store(self, machine: Machine, offset: ElementOffset, value: Any, place: Place) -> None:
        pass


class SymbolicCompiler(Compiler):
    """Compiles floating-point arithmetic to its accesses alone, except arithmetic on numbers that don't come from a matrix,
    which may determine control flow.
    """

    def __init__(self, space: ThreadSpace, statement: Callable[[Compiler, Stmt], Closure]) -> None:
        super().__init__(space, statement)
        self._plain = Compiler(space, statement)
        self._plain.constants = self.constants

    def given(self, slot: int, node: Expr) -> Closure:
        return self._plain.value(node) if slot in self.numbers else super().given(slot, node)

    def merge_scalar_of(self, slot: int, scalar: Scalar | None) -> Scalar | None:
        return scalar if slot in self.numbers else super().merge_scalar_of(slot, scalar)

    def merge_scalar(self, scalar: Scalar | None) -> Scalar | None:
        return LONG if scalar is not None and scalar.is_float else scalar

    def zero(self, scalar: Scalar) -> Any:
        return constant_tag(0.0) if scalar.is_float else super().zero(scalar)

    def value(self, node: Expr) -> Closure:
        match node:
            case Const(type=Scalar(kind="f"), value=number):
                tag = constant_tag(number)
                return lambda machine: tag
            case Read(slot=slot) | Assign(target=Read(slot=slot)) if slot in self.numbers:
                return _constant_of(self._plain.value(node))
            case Convert(operand=operand) if not is_float(node.type) and is_float(operand.type) and self._is_number(node):
                return self._plain.value(node)
            case Binary(left=left) if not is_float(node.type) and is_float(left.type) and self._is_number(node):
                return self._plain.value(node)
            case Unary(type=Scalar(kind="f")) | Binary(type=Scalar(kind="f")):
                return self._computed(node)
            case Convert(type=Scalar(kind="f"), operand=operand):
                is_copy = isinstance(operand.type, Scalar) and operand.type.is_float
                return self.value(operand) if is_copy else self._computed(node)
            case Call(type=Scalar(kind="f"), name=name) if name not in _COPIES:
                return self._computed(node)
            case Convert(operand=operand) if isinstance(operand.type, Scalar) and operand.type.is_float:
                raise NeedsValues
            case Binary(left=left) if isinstance(left.type, Scalar) and left.type.is_float:
                raise NeedsValues
            case Call(args=args) if not is_float(node.type) and any(is_float(arg.type) for arg in args):
                if not self._is_number(node):
                    raise NeedsValues
                return self._plain.value(node)
            case Atomic(type=ctype):
                if not scalar_of(ctype).is_float:
                    raise NeedsValues
                touch, width = self.effect(node), 1 if isinstance(ctype, Scalar) else ctype.count
                return _computed_after(touch) if width == 1 else _all_computed(touch, width)
            case Deref(type=ctype, access=int()) if not scalar_of(ctype).is_float:
                raise NeedsValues
        return super().value(node)

    def right_side(self, node: Assign) -> Closure:
        is_float = node.within is not None and node.within.is_float
        return _computed_after(self.effect(node.value)) if is_float else super().right_side(node)

    def combine(self, node: Assign, old: Closure, value: Closure) -> Closure:
        if node.within is not None and node.within.is_float:
            if isinstance(node.type, Scalar) and not node.type.is_float:
                raise NeedsValues
            return value
        return super().combine(node, old, value)

    def announce(self, machine: Machine, memory: Any, parts: list[Any]) -> None:
        if isinstance(memory, SharedMemory):
            machine.sink.origins(parts if memory.scalar.is_float else [COMPUTED] * len(parts))

    def _is_number(self, node: Expr) -> bool:
        return is_number(node, self.numbers)

    def _computed(self, node: Expr) -> Closure:
        return _computed_after(self.effect(node))

    def effect(self, node: Expr) -> Closure | None:
        """A closure of the accesses in ``node`` alone."""
        match node:
            case Const() | Index() | Extent() | Read():
                return None
            case Deref(access=None, pointer=pointer):
                return self.effect(pointer)
            case Deref():
                return self._touch(node)
            case Moved(pointer=pointer, index=index):
                return _both(self.effect(pointer), self.effect(index))
            case Reinterpret(pointer=pointer):
                return self.effect(pointer)
            case Unary(operand=operand) | Convert(operand=operand):
                return self.effect(operand)
            case Component(of=of):
                return self.effect(of)
            case Atomic():
                return self._update(node)
            case Address(pointer=pointer):
                return self.effect(pointer)
            case AtAddress(address=address):
                return self.effect(address)
            case Binary(left=left, right=right) | PointerDifference(left=left, right=right):
                return _both(self.effect(left), self.effect(right))
            case MakeVector(parts=parts) | Sequence(parts=parts):
                return _all([self.effect(part) for part in parts])
            case Logic(right=right) if self.effect(right) is None:
                return self.effect(node.left)
            case Select(then=then, otherwise=otherwise) if self.effect(then) is None and self.effect(otherwise) is None:
                return self.effect(node.condition)
            case Call(name=name, args=args) if name not in ("assert", "memset"):
                return _all([self.effect(arg) for arg in args])
            case Assign() | Inline() | Call() | Logic() | Select():
                return self.value(node)
        return None

    def _touch(self, node: Deref) -> Closure:
        address, place, access = self.address(node.pointer), node.place, node.access
        width = node.type.count if isinstance(node.type, VectorType) else 1
        assert access is not None

        def touch(machine: Machine) -> None:
            memory, offset = address(machine)
            machine.touch(access, memory.number, memory.checked(machine, offset, width, place), place)

        return touch

    def _update(self, node: Atomic) -> Closure:
        """The access of an atomic operation, after which nothing is known of its element."""
        address, place, access = self.address(node.target.pointer), node.place, node.access
        width, before = node.type.bytes // scalar_of(node.type).bytes, _all([self.effect(arg) for arg in node.args])

        def update(machine: Machine) -> None:
            if before is not None:
                before(machine)
            memory, offset = address(machine)
            offset = memory.checked(machine, offset, width, place)
            machine.touch(access, memory.number, offset, place)
            self.announce(machine, memory, [COMPUTED] * width)
            for i in range(width):
                memory.store(machine, offset + i, COMPUTED, place)

        return update


def _constant_of(number: Closure) -> Closure:
    """The tag of a known number."""

    def tag(machine: Machine) -> Any:
        value = number(machine)
        if isinstance(value, np.ndarray):
            return CONSTANT - value.astype(np.float32).view(np.uint32).astype(np.int64)
        return constant_tag(value)

    return tag


def _computed_after(effect: Closure | None) -> Closure:
    if effect is None:
        return lambda machine: COMPUTED

    def computed(machine: Machine) -> int:
        effect(machine)
        return COMPUTED

    return computed


def _all_computed(effect: Closure | None, width: int) -> Closure:
    computed = _computed_after(effect)
    return lambda machine: [computed(machine)] + [COMPUTED] * (width - 1)


def _both(a: Closure | None, b: Closure | None) -> Closure | None:
    if a is None or b is None:
        return a or b

    def both(machine: Machine) -> None:
        a(machine)
        b(machine)

    return both


def _all(closures: list[Closure | None]) -> Closure | None:
    result: Closure | None = None
    for closure in closures:
        result = _both(result, closure)
    return result
