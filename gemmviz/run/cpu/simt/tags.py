"""The domain of tags: a run without arithmetic, whose values say of which element they are a copy.

Addresses and control flow of a multiplication don't depend on the contents of its matrices. So the accesses of a whole launch
follow without multiplying anything, and the contents of each cell of a shared tile follow exactly, through registers and
shuffles too. A kernel whose control flow does depend on contents raises NeedsValues.

A tag is the number of an array and of an element of it, as they are recorded; COMPUTED for what isn't a copy, and CONSTANT and
below for the bits of a float32 literal. A value that is wider than an element is a copy of neighbours, of which its tag names
the first.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.cuda.granularity import contents, is_float, is_number
from gemmviz.cuda.nodes import (
    Assign,
    Binary,
    Call,
    Component,
    Const,
    Convert,
    Deref,
    Expr,
    Inline,
    Instruction,
    Logic,
    MakeVector,
    Program,
    Read,
    Select,
    Unary,
)
from gemmviz.cuda.types import LONG, Scalar, VectorType
from gemmviz.cuda.walk import inner_nodes
from gemmviz.model.messages import Place
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import COMPUTED, CONSTANT
from gemmviz.run.cpu.simt.accesses import touch_closure
from gemmviz.run.cpu.simt.local import CellTable, Compiling, Domain, Holder, LocalMemory
from gemmviz.run.cpu.simt.machine import Closure, Machine, NeedsValues
from gemmviz.run.cpu.simt.memory import AccessType, ElementOffset, GlobalMemory, SharedMemory
from gemmviz.run.cpu.simt.values import Finish

_SHUFFLES_THAT_COPY = {f"__shfl{way}{sync}" for way in ("", "_up", "_down", "_xor") for sync in ("", "_sync")}
TAG_SHIFT = 40


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

    def __init__(self, info: MemoryArray, number: int) -> None:
        super().__init__(info, number, np.zeros(0))

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        return self.recorded(offset, kind) + (self.number << TAG_SHIFT)

    def store(self, machine: Machine, offset: ElementOffset, value: Any, kind: AccessType, place: Place) -> None:
        pass


class TagShared(SharedMemory):
    """A shared array of tags, one for each recorded element. ``units``: bytes of a recorded element of each array."""

    __slots__ = ("units",)

    def __init__(self, arrays: tuple[MemoryArray, ...], number: int, space: ThreadSpace) -> None:
        super().__init__(arrays[number], number, len(space.block_shape), len(space.thread_shape))
        self.dtype = np.dtype(np.int64)
        self.data = np.zeros((1,) * self.blocks + (arrays[number].size,), np.int64)
        self.units = np.array([array.itemsize for array in arrays], np.int64)
        self.complete = True

    def tags_of(self, tag: Any, kind: AccessType) -> list[Any]:
        """The tags of the elements into which a value is written."""
        ratio = kind.bytes // self.unit
        return [tag] if ratio == 1 else [self._neighbour(tag, part) for part in range(ratio)]

    def _neighbour(self, tag: Any, part: int) -> Any:
        """The tag of a part of a value, in elements of this array, where ``tag`` is that of its first."""
        tags = np.asarray(tag)
        own = self.units[np.clip(tags >> TAG_SHIFT, 0, len(self.units) - 1)]
        named = tags + part * self.unit // own
        return np.where(tags >= 0, named, np.where(tags == constant_tag(0.0), tags, COMPUTED))

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        ratio = kind.bytes // self.unit
        first = offset if ratio == 1 else offset * ratio
        tag = self._taken(self.data, first)
        for part in range(1, ratio):
            tag = np.where(self._taken(self.data, first + part) == self._neighbour(tag, part), tag, COMPUTED)
        return tag.ravel()[0].item() if isinstance(offset, int) and tag.size == 1 else tag

    def store(self, machine: Machine, offset: ElementOffset, value: Any, kind: AccessType, place: Place) -> None:
        ratio = kind.bytes // self.unit
        for part, tag in enumerate(self.tags_of(value, kind)):
            at = offset if ratio == 1 else offset * ratio + part
            shape = np.broadcast_shapes(np.shape(at), np.shape(tag), np.shape(np.asarray(machine.mask)), (1,) * self._ndim)
            self._widen(shape[: self.blocks])
            self._put(self.data, machine, at, tag, shape)


class TagLocal(LocalMemory):
    """Local memory whose floats are tags. Its integers are tags too if it ``holds_contents``, else numbers."""

    __slots__ = ("holds_contents",)

    def __init__(self, name: str, cells: CellTable, values: list[Any], level: int, holds_contents: bool) -> None:
        super().__init__(name, cells, values, level)
        self.holds_contents = holds_contents

    def running(self, scalar: Scalar) -> Scalar:
        return LONG if scalar.is_float or self.holds_contents else scalar

    def _viewed(self, machine: Machine, offset: int, kind: AccessType, place: Place) -> Any:
        """The tag of one cell of the same size, or no copy."""
        cell = self.cells.at(offset * kind.bytes)
        if not self.holds_contents and not kind.scalar.is_float:
            raise NeedsValues
        if cell is None:
            return COMPUTED
        tag = self._read(machine, cell, place)
        own = self.cells.type(cell)
        is_tag = self.holds_contents or own.scalar.is_float
        fits = own.bytes == kind.bytes and self.cells.start(cell) == offset * kind.bytes
        return tag if is_tag and fits else COMPUTED

    def _overwrite(self, offset: int, value: Any, kind: AccessType, mask: Any) -> None:
        at, stop = offset * kind.bytes, (offset + 1) * kind.bytes
        while at < stop:
            cell = self.cells.at(at)
            own = None if cell is None else self.cells.type(cell)
            if cell is None or own is None:
                at += 1
                continue
            if not self.holds_contents and not own.scalar.is_float:
                raise NeedsValues
            fits = own.bytes == kind.bytes and self.cells.start(cell) == at
            self._replace(cell, value if fits else COMPUTED, own.scalar, mask)
            at = self.cells.start(cell) + own.bytes


class Tags(Domain):
    """Floats, and integers that hold something of a memory, are tags. Arithmetic on numbers that don't come from a matrix is
    done, as it may determine control flow; of other arithmetic, the accesses alone.
    """

    def __init__(self, program: Program) -> None:
        self.contents = contents(program)
        self.numbers, self.tagged = self.contents.numbers, self.contents.slots

    def value(self, compiler: Compiling, node: Expr) -> Closure | None:
        match node:
            case Select(condition=condition) if not self._is_known(condition):
                return self._unknown_choice(compiler, node)
            case Const(type=Scalar(kind="f"), value=number):
                tag = constant_tag(number)
                return lambda machine: tag
            case Read(slot=slot) | Assign(target=Read(slot=slot)) if slot in self.numbers:
                return _constant_of(compiler.plain.value(node))
            case Convert(operand=operand) if not is_float(node.type) and is_float(operand.type) and self._is_number(node):
                return compiler.plain.value(node)
            case Binary(left=left) if not is_float(node.type) and is_float(left.type) and self._is_number(node):
                return compiler.plain.value(node)
            case Unary(type=Scalar(kind="f")) | Binary(type=Scalar(kind="f")):
                return self.operand(compiler, node)
            case Convert(type=Scalar(kind="f"), operand=operand):
                is_copy = isinstance(operand.type, Scalar) and operand.type.is_float
                return compiler.value(operand) if is_copy else self.operand(compiler, node)
            case Call(type=Scalar(kind="f"), name=name) if name not in _SHUFFLES_THAT_COPY:
                return self.operand(compiler, node)
            case Call(name="assert", args=args) if not all(self._is_known(arg) for arg in args):
                raise NeedsValues
            case Call(type=Scalar(), args=args) if any(is_float(arg.type) for arg in args) and self._is_number(node):
                return compiler.plain.value(node)
            case Call(type=VectorType(count=count), name=name) if name not in _SHUFFLES_THAT_COPY:
                return _all_computed(self.operand(compiler, node), count)
            case Instruction():
                return None
        if isinstance(node.type, Scalar) and not node.type.is_float and self.contents.has(node):
            return self._content(compiler, node)
        return None

    def _content(self, compiler: Compiling, node: Expr) -> Closure | None:
        """The closure of an integer that holds something of a memory: a tag."""
        match node:
            case Convert(type=to, operand=operand) if isinstance(operand.type, Scalar) and _keeps_bits(operand.type, to):
                return compiler.value(operand)
            case Unary() | Binary() | Convert() | Call():
                return self.operand(compiler, node)
            case Logic(left=left, right=right):
                is_left = self.effect(compiler, right) is None
                return _computed_after(self.effect(compiler, left) if is_left else compiler.by_rules(node))
        return None

    def _unknown_choice(self, compiler: Compiling, node: Select) -> Closure:
        """The closure of a choice by contents, which is possible where neither side does anything else."""
        if self.effect(compiler, node.then) is not None or self.effect(compiler, node.otherwise) is not None:
            raise NeedsValues
        match node.type:
            case Scalar():
                return self.operand(compiler, node.condition)
            case VectorType(count=count):
                return _all_computed(self.operand(compiler, node.condition), count)
        raise NeedsValues

    def effect(self, compiler: Compiling, node: Expr) -> Closure | None:
        match node:
            case Deref(access=int()):
                return touch_closure(node, self.accessed(compiler, node))
            case Logic(left=left, right=right) if self.effect(compiler, right) is None:
                return self.effect(compiler, left)
            case Select(condition=condition, then=then, otherwise=otherwise) if (
                self.effect(compiler, then) is None and self.effect(compiler, otherwise) is None
            ):
                return self.effect(compiler, condition)
            case Assign() | Inline() | Logic() | Select() | Instruction() | Call(name="assert" | "memset"):
                return compiler.value(node)
        return _effects_of([self.effect(compiler, each) for each in inner_nodes(node)])

    def operand(self, compiler: Compiling, node: Expr) -> Closure:
        return _computed_after(self.effect(compiler, node))

    def known(self, compiler: Compiling, node: Expr) -> Closure:
        """Raises NeedsValues if the value isn't known."""
        if isinstance(node.type, Scalar) and not self._is_known(node):
            raise NeedsValues
        return compiler.value(node)

    def given(self, compiler: Compiling, to: Holder, node: Expr) -> Closure:
        if isinstance(to, int) and to in self.numbers:
            return compiler.plain.value(node)
        return self._as_tag(compiler, node) if self._holds_tags(to) else compiler.value(node)

    def _as_tag(self, compiler: Compiling, node: Expr) -> Closure:
        """The closure of a value as a tag, or tags, where an integer that is known is no copy of anything."""
        match node:
            case MakeVector(parts=parts):
                closures = [self._as_tag(compiler, part) for part in parts]
                return lambda machine: [closure(machine) for closure in closures]
            case Const(type=Scalar(), value=value) if not node.type.is_float and not value:
                return lambda machine: constant_tag(0.0)
        if is_float(node.type) or self.contents.has(node):
            return compiler.value(node)
        if isinstance(node.type, VectorType):
            return _all_computed(self.operand(compiler, node), node.type.count)
        return self.operand(compiler, node) if isinstance(node.type, Scalar) else compiler.value(node)

    def _holds_tags(self, to: Holder) -> bool:
        """Whether what is given to something is a tag, whatever its type."""
        match to:
            case int():
                return to in self.tagged
            case Select():
                return self.contents.has(to)
            case Deref(access=None, pointer=pointer) if getattr(pointer.type, "space", None) == "local":
                return is_float(to.type) or not self.tagged.isdisjoint(self.contents.roots(pointer))
            case Read(slot=slot) | Component(of=Read(slot=slot)):
                return slot in self.tagged or (is_float(to.type) and slot not in self.numbers)
        return isinstance(to, Deref)

    def running(self, scalar: Scalar | None, of: Holder) -> Scalar | None:
        if scalar is None or (isinstance(of, int) and of in self.numbers):
            return scalar
        return LONG if scalar.is_float or (of in self.tagged if isinstance(of, int) else self.contents.has(of)) else scalar

    def zero(self, scalar: Scalar, of: Holder) -> Any:
        return constant_tag(0.0) if scalar.is_float or self._holds_tags(of) else super().zero(scalar, of)

    def multiplied(self, compute: Callable[[], list[Any]], count: int) -> list[Any]:
        return [COMPUTED] * count

    def packed(self, halves: list[Any]) -> Any:
        return COMPUTED

    def halves(self, register: Any) -> list[Any]:
        return [COMPUTED, COMPUTED]

    def combined(self, node: Assign) -> Finish:
        holds_tags = self._holds_tags(node.target)
        if node.within is not None and node.within.is_float:
            if not is_float(node.type) and not holds_tags:
                raise NeedsValues
            return lambda machine, old, right: right
        return (lambda machine, old, right: COMPUTED) if holds_tags else super().combined(node)

    def updated(self, width: int, update: Callable[..., list[Any]], *args: Any) -> list[Any]:
        return [[COMPUTED] * width] * 2

    def announce(self, machine: Machine, memory: Any, parts: list[Any], kind: AccessType) -> None:
        if isinstance(memory, TagShared):
            machine.sink.origins([tag for part in parts for tag in memory.tags_of(part, kind)])

    def argument(self, number: float, scalar: Scalar, slot: int) -> Any:
        is_number = slot in self.numbers or not scalar.is_float
        return super().argument(number, scalar, slot) if is_number else constant_tag(number)

    def local(self, slot: int, name: str, cells: CellTable, cell_values: list[Any], level: int) -> LocalMemory:
        return TagLocal(name, cells, cell_values, level, slot in self.tagged)

    def matrix(self, name: str, info: MemoryArray, number: int) -> GlobalMemory:
        return TagMemory(info, number)

    def shared(self, arrays: tuple[MemoryArray, ...], number: int, space: ThreadSpace) -> SharedMemory:
        return TagShared(arrays, number, space)

    def _is_number(self, node: Expr) -> bool:
        return is_number(node, self.numbers, self.tagged)

    def _is_known(self, node: Expr) -> bool:
        """Whether a value follows from the sizes and the thread's indices."""
        if is_float(node.type):
            return self._is_number(node)
        return not isinstance(node.type, Scalar) or not self.contents.has(node)


def _constant_of(number: Closure) -> Closure:
    """The tag of a known number."""

    def tag(machine: Machine) -> Any:
        value = number(machine)
        if isinstance(value, np.ndarray):
            return CONSTANT - value.astype(np.float32).view(np.uint32).astype(np.int64)
        return constant_tag(value)

    return tag


def _keeps_bits(source: Scalar, to: Scalar) -> bool:
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


def _effects_of(closures: list[Closure | None]) -> Closure | None:
    """A closure of several effects; None if there are none."""
    found = [each for each in closures if each is not None]
    if len(found) < 2:
        return found[0] if found else None

    def run(machine: Machine) -> None:
        for closure in found:
            closure(machine)

    return run
