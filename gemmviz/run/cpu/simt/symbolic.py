"""The interpreter without arithmetic: floats are tags that name the element of which a value is a copy.

Addresses and control flow of a multiplication don't depend on the contents of its matrices. So the accesses of a whole launch
follow without multiplying anything, and the contents of each cell of a shared tile follow exactly, through registers and
shuffles too. A kernel whose control flow does depend on contents raises NeedsValues.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.cuda.nodes import (
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
from gemmviz.cuda.nodes import (
    Offset as Moved,
)
from gemmviz.cuda.types import LONG, Scalar, VectorType
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import COMPUTED, CONSTANT
from gemmviz.run.cpu.simt.expressions import Compiler
from gemmviz.run.cpu.simt.granularity import SlotContents, is_float, is_number
from gemmviz.run.cpu.simt.local import CellTable, LocalMemory
from gemmviz.run.cpu.simt.machine import Machine, NeedsValues
from gemmviz.run.cpu.simt.pointers import AccessType, Several, access_type, each_memory
from gemmviz.run.cpu.simt.tags import TagLocal, TagShared, constant_tag
from gemmviz.run.cpu.simt.values import Closure

_COPIES = {f"__shfl{way}{sync}" for way in ("", "_up", "_down", "_xor") for sync in ("", "_sync")}


class SymbolicCompiler(Compiler):
    """Compiles floating-point arithmetic to its accesses alone, except arithmetic on numbers that don't come from a matrix,
    which may determine control flow.
    """

    contents: SlotContents

    def __init__(self, space: ThreadSpace, statement: Callable[[Compiler, Stmt], Closure]) -> None:
        super().__init__(space, statement)
        self._plain = Compiler(space, statement)
        self._plain.constants = self.constants

    def given(self, slot: int, node: Expr) -> Closure:
        if slot in self.numbers:
            return self._plain.value(node)
        return self._tagged(node) if slot in self.contents.slots else super().given(slot, node)

    def merge_scalar_of(self, slot: int, scalar: Scalar | None) -> Scalar | None:
        if slot in self.numbers:
            return scalar
        return LONG if scalar is not None and slot in self.contents.slots else super().merge_scalar_of(slot, scalar)

    def merge_scalar(self, scalar: Scalar | None) -> Scalar | None:
        return LONG if scalar is not None and scalar.is_float else scalar

    def merge_loaded(self, node: Deref | Select) -> Scalar | None:
        return LONG if self.contents.has(node) else super().merge_loaded(node)

    def zero(self, scalar: Scalar, holds_contents: bool) -> Any:
        return constant_tag(0.0) if scalar.is_float or holds_contents else super().zero(scalar, holds_contents)

    def known(self, node: Expr) -> Closure:
        """The closure of a value on which control flow or an address depends. Raises NeedsValues if it isn't known."""
        if isinstance(node.type, Scalar) and not self._is_known(node):
            raise NeedsValues
        return self.value(node)

    def arm(self, node: Expr, choice: Select) -> Closure:
        return self._tagged(node) if not is_float(choice.type) and self.contents.has(choice) else self.value(node)

    def value(self, node: Expr) -> Closure:
        match node:
            case Select(condition=condition) if not self._is_known(condition):
                return self._unknown_choice(node)
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
            case Call(name="assert", args=args) if not all(self._is_known(arg) for arg in args):
                raise NeedsValues
            case Call(type=Scalar(), args=args) if any(is_float(arg.type) for arg in args) and self._is_number(node):
                return self._plain.value(node)
            case Atomic(type=Scalar()):
                return self._computed(node)
            case Call(type=VectorType(count=count)) | Atomic(type=VectorType(count=count)) if not _is_copy(node):
                return _all_computed(self._computed(node), count)
        if isinstance(node.type, Scalar) and not node.type.is_float and self.contents.has(node):
            return self._content(node)
        return super().value(node)

    def _content(self, node: Expr) -> Closure:
        """The closure of an integer that holds something of a memory: a tag."""
        match node:
            case Convert(type=to, operand=operand) if isinstance(operand.type, Scalar) and _same_bits(operand.type, to):
                return self.value(operand)
            case Unary() | Binary() | Convert() | Call() | Atomic():
                return self._computed(node)
            case Logic(left=left, right=right):
                if self.effect(right) is None:
                    return _computed_after(self.effect(left))
                return _computed_after(super().value(node))
        return super().value(node)

    def _unknown_choice(self, node: Select) -> Closure:
        """The closure of a choice by contents, which is possible where neither side does anything else."""
        if self.effect(node.then) is not None or self.effect(node.otherwise) is not None:
            raise NeedsValues
        match node.type:
            case Scalar():
                return _computed_after(self.effect(node.condition))
            case VectorType(count=count):
                return _all_computed(_computed_after(self.effect(node.condition)), count)
        raise NeedsValues

    def _tagged(self, node: Expr) -> Closure:
        """The closure of a value as a tag, or tags, where an integer that is known is no copy of anything."""
        match node:
            case MakeVector(parts=parts):
                closures = [self._tagged(part) for part in parts]
                return lambda machine: [closure(machine) for closure in closures]
            case Const(type=Scalar(), value=value) if not node.type.is_float and not value:
                return lambda machine: constant_tag(0.0)
        if is_float(node.type) or self.contents.has(node):
            return self.value(node)
        if isinstance(node.type, VectorType):
            return _all_computed(_computed_after(self.effect(node)), node.type.count)
        return _computed_after(self.effect(node)) if isinstance(node.type, Scalar) else self.value(node)

    def right_side(self, node: Assign) -> Closure:
        if node.within is not None and node.within.is_float:
            return _computed_after(self.effect(node.value))
        return self._tagged(node.value) if self._takes_tags(node.target) else super().right_side(node)

    def combine(self, node: Assign, old: Closure, value: Closure) -> Closure:
        if node.within is not None and node.within.is_float:
            if not is_float(node.type) and not self._takes_tags(node.target):
                raise NeedsValues
            return value
        return (lambda machine: COMPUTED) if self._takes_tags(node.target) else super().combine(node, old, value)

    def converter(self, node: Assign, source: Scalar, to: Scalar) -> Callable[[Any], Any] | None:
        is_plain = not (self._takes_tags(node.target) or is_float(source) or is_float(to))
        return super().converter(node, source, to) if is_plain else None

    def _takes_tags(self, target: Expr) -> bool:
        """Whether an assignment's target holds tags."""
        match target:
            case Deref(access=None, pointer=pointer) if self._is_local(pointer):
                return is_float(target.type) or not self.contents.slots.isdisjoint(self.contents.roots(pointer))
            case Deref():
                return True
            case Read(slot=slot) | Component(of=Read(slot=slot)):
                return slot in self.contents.slots or (is_float(target.type) and slot not in self.numbers)
        return False

    def _is_local(self, pointer: Expr) -> bool:
        return getattr(pointer.type, "space", None) == "local"

    def local(self, slot: int, name: str, cells: CellTable, values: list[Any], level: int) -> LocalMemory:
        return TagLocal(name, cells, values, level, slot in self.contents.slots)

    def initial(self, slot: int, node: Expr) -> Closure:
        return self._tagged(node) if slot in self.contents.slots else self.value(node)

    def announce(self, machine: Machine, memory: Any, parts: list[Any], kind: AccessType) -> None:
        if isinstance(memory, TagShared):
            machine.sink.origins([tag for part in parts for tag in memory.tags_of(part, kind)])

    def _is_number(self, node: Expr) -> bool:
        return is_number(node, self.numbers, self.contents.slots)

    def _is_known(self, node: Expr) -> bool:
        """Whether a value follows from the sizes and the thread's indices."""
        if is_float(node.type):
            return self._is_number(node)
        return not isinstance(node.type, Scalar) or not self.contents.has(node)

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
            case Atomic():
                return self._update(node)
            case Address(pointer=pointer):
                return self.effect(pointer)
            case AtAddress(address=address):
                return self.effect(address)
            case Assign() | Inline() | Call() | Logic() | Select():
                return self.value(node)
        return None

    def _touch(self, node: Deref) -> Closure:
        address, place, access, kind = self.address(node.pointer), node.place, node.access, access_type(node.type)
        assert access is not None

        def one(machine: Machine, memory: Any, offset: Any) -> None:
            offset = memory.checked(machine, offset, kind, place)
            machine.touch(access, memory.number, memory.recorded(offset, kind), place)

        def touch(machine: Machine) -> None:
            memory, offset = address(machine)
            if memory.__class__ is not Several:
                one(machine, memory, offset)
                return
            for each, _ in each_memory(machine, memory):
                one(machine, each, offset)

        return touch

    def _update(self, node: Atomic) -> Closure:
        """The access of an atomic operation, after which nothing is known of its element."""
        address, place, access, kind = self.address(node.target.pointer), node.place, node.access, access_type(node.type)
        before = _all([self.effect(arg) for arg in node.args])

        def one(machine: Machine, memory: Any, offset: Any) -> None:
            offset = memory.checked(machine, offset, kind, place)
            machine.touch(access, memory.number, memory.recorded(offset, kind), place)
            self.announce(machine, memory, [COMPUTED] * kind.width, kind)
            for i in range(kind.width):
                memory.store(machine, offset + i, COMPUTED, kind, place)

        def update(machine: Machine) -> None:
            if before is not None:
                before(machine)
            memory, offset = address(machine)
            if memory.__class__ is not Several:
                one(machine, memory, offset)
                return
            for each, _ in each_memory(machine, memory):
                one(machine, each, offset)

        return update


def _is_copy(node: Call | Atomic) -> bool:
    return isinstance(node, Call) and node.name in _COPIES


def _constant_of(number: Closure) -> Closure:
    """The tag of a known number."""

    def tag(machine: Machine) -> Any:
        value = number(machine)
        if isinstance(value, np.ndarray):
            return CONSTANT - value.astype(np.float32).view(np.uint32).astype(np.int64)
        return constant_tag(value)

    return tag


def _same_bits(source: Scalar, to: Scalar) -> bool:
    """Whether a conversion between two integer types keeps all bits."""
    return not source.is_float and not to.is_float and source.bits == to.bits and to.kind != "b"


def _all_computed(effect: Closure, count: int) -> Closure:
    """The tags of a vector that is no copy, after the accesses that it takes."""

    def computed(machine: Machine) -> list[int]:
        effect(machine)
        return [COMPUTED] * count

    return computed


def _computed_after(effect: Closure | None) -> Closure:
    if effect is None:
        return lambda machine: COMPUTED

    def computed(machine: Machine) -> int:
        effect(machine)
        return COMPUTED

    return computed


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
