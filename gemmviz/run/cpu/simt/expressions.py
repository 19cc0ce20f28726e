"""Compiles expression nodes to closures: each takes the machine and gives the node's value over lanes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.cuda.fold import known_trips
from gemmviz.cuda.nodes import (
    Address,
    Assign,
    AtAddress,
    Atomic,
    Base,
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
    Loop,
    MakeVector,
    Offset,
    PointerDifference,
    Read,
    Reinterpret,
    Select,
    Sequence,
    Stmt,
    Unary,
    Unrolled,
)  # fmt: skip
from gemmviz.cuda.types import BOOL, ArrayType, PointerType, Scalar, VectorType, scalar_of, units_of
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt import values
from gemmviz.run.cpu.simt.accesses import assignment, atomic, load_closure
from gemmviz.run.cpu.simt.addresses import (
    base_address,
    found_address,
    indexed_address,
    integer_address,
    null_address,
    reinterpreted_address,
    shifted_address,
    target_of,
)  # fmt: skip
from gemmviz.run.cpu.simt.intrinsics import intrinsic
from gemmviz.run.cpu.simt.local import CellTable, LocalMemory
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.pointers import AccessType, comparison, is_not_null, same_memory
from gemmviz.run.cpu.simt.values import Closure, PointerClosure, merged

_POINTERS = (PointerType, ArrayType)


class Compiler:
    """Compiles the nodes of a program for one space of threads to closures.

    ``statement`` compiles the bodies of inlined functions; ``constants`` are the slots with known values while a trip of an
    unrolled loop is compiled; ``numbers`` are the float variables that never hold values of a matrix,
    ``held`` the integer variables that do. ``may_repeat``: whether
    repeated runs of a loop may be taken from a recorded one.
    """

    numbers: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()

    def __init__(self, space: ThreadSpace, statement: Callable[["Compiler", Stmt], Closure]) -> None:
        self.space = space
        self.statement = statement
        self.constants: dict[int, int] = {}
        self.may_repeat: Callable[[Loop | Unrolled], bool] = lambda node: False

    def given(self, slot: int, node: Expr) -> Closure:
        """The closure of the value that a variable is assigned."""
        return self.value(node)

    def merge_scalar_of(self, slot: int, scalar: Scalar | None) -> Scalar | None:
        """The type as in ``merge_scalar``, for the value of a variable."""
        return self.merge_scalar(scalar)

    def merge_scalar(self, scalar: Scalar | None) -> Scalar | None:
        """The type that values of ``scalar`` have while the kernel runs."""
        return scalar

    def merge_loaded(self, node: Deref | Select) -> Scalar | None:
        """The type as in ``merge_scalar``, for what is read from memory or chosen."""
        return self.merge_scalar(scalar_of(node.type))

    def known(self, node: Expr) -> Closure:
        """The closure of a value on which control flow or an address depends."""
        return self.value(node)

    def arm(self, node: Expr, choice: Select) -> Closure:
        """The closure of one side of a choice."""
        return self.value(node)

    def initial(self, slot: int, node: Expr) -> Closure:
        """The closure of an initial value in a local array."""
        return self.value(node)

    def zero(self, scalar: Scalar, holds_contents: bool) -> Any:
        """The zero of an element of memory that may hold contents of others."""
        return values.constant(scalar.dtype.type(0).item(), scalar)

    def value(self, node: Expr) -> Closure:
        match node:
            case Const() | Index() | Extent():
                constant = self._constant(node)
                return lambda machine: constant
            case Read(slot=slot) if slot in self.constants:
                counter = self.constants[slot]
                return lambda machine: counter
            case Read():
                return _read(node)
            case Base() | Offset() | Reinterpret() | AtAddress():
                return self.address(node)
            case Deref():
                return load_closure(node, self.address(node.pointer), self.merge_loaded(node))
            case Component(of=Read(checked=True) as of, index=component):
                return _read_component(of, component)
            case Component(of=of, index=component):
                vector = self.value(of)
                return lambda machine: vector(machine)[component]
            case MakeVector(parts=parts):
                return _vector([self.value(part) for part in parts])
            case Unary() | Binary() | Convert():
                return self._of_pointers(node) if _is_of_pointers(node) else self._operation(node)
            case PointerDifference():
                return self._difference(node)
            case Logic():
                return self._logic(node)
            case Select():
                return self._select(node)
            case Assign():
                return assignment(self, node)
            case Call():
                return intrinsic(node, [self.value(arg) for arg in node.args], self.space)
            case Inline():
                return self._inline(node)
            case Sequence(parts=parts):
                return _sequence([self.value(part) for part in parts])
            case Atomic() | Address():
                return self._beyond_c(node)
        raise AssertionError(node)

    def _beyond_c(self, node: Atomic | Address) -> Closure:
        """The value of what C has no operator for."""
        match node:
            case Atomic(target=target, args=args):
                running = self.merge_loaded(target)
                return atomic(node, self.address(target.pointer), [self.value(arg) for arg in args], running)
            case Address(pointer=pointer):
                return integer_address(node, self.address(pointer))

    def _constant(self, node: Const | Index | Extent) -> Any:
        """The value of a node that is the same whenever it is evaluated."""
        match node:
            case Const(type=scalar, value=value):
                return values.constant(value, scalar)
            case Index(of_block=of_block, axis=axis):
                return self.space.index(of_block, axis)
            case Extent(of_grid=of_grid, axis=axis):
                return (self.space.launch.grid if of_grid else self.space.launch.block)[axis]

    def effect(self, node: Expr) -> Closure | None:
        """A closure of the side effects of ``node``, or None if it has none."""
        return self.value(node)

    def local(self, slot: int, name: str, cells: CellTable, values: list[Any], level: int) -> LocalMemory:
        """A new local variable."""
        return LocalMemory(name, cells, values, level)

    def address(self, node: Expr) -> PointerClosure:
        """A closure of the (memory, offset) of a pointer expression, in units of the type that is pointed to."""
        match node:
            case Base(slot=slot):
                return base_address(slot)
            case Offset(pointer=pointer, index=index, scale=scale):
                distance, units = known_trips(index, self.constants), scale
                if distance is not None:
                    return shifted_address(self.address(pointer), distance * units)
                return indexed_address(self.address(pointer), self.known(index), units)
            case Reinterpret(type=PointerType(to=to), pointer=pointer, place=place):
                if (null := null_address(pointer)) is not None:
                    return null
                return reinterpreted_address(self.address(pointer), target_of(pointer), to, place)
            case AtAddress(address=integer):
                return null_address(integer) or found_address(node, self.value(integer))
        return null_address(node) or self.value(node)

    def _of_pointers(self, node: Unary | Binary | Convert) -> Closure:
        """The closure of a comparison of pointers, or of whether a pointer is null or not."""
        if isinstance(node, Binary):
            return comparison(node.op, self.address(node.left), self.address(node.right), node.place)
        test = is_not_null(self.address(node.operand))
        return values.unary("!", BOOL, test) if isinstance(node, Unary) else test

    def _difference(self, node: PointerDifference) -> Closure:
        left, right, place, units = (
            self.address(node.left),
            self.address(node.right),
            node.place,
            units_of(target_of(node.left)),
        )

        def difference(machine: Machine) -> Any:
            (a, x), (b, y) = left(machine), right(machine)
            apart = ~np.asarray(same_memory(a, b))
            if (apart if machine.mask is None else apart & machine.mask).any():
                raise machine.fault("pointers into two different arrays are subtracted", place, apart)
            return (x - y) // units

        return difference

    def _logic(self, node: Logic) -> Closure:
        left, right = self.known(node.left), self.value(node.right)
        decided = node.op == "||"

        def logic(machine: Machine) -> Any:
            first = left(machine)
            if not isinstance(first, np.ndarray):
                return first if bool(first) is decided else right(machine)
            outer = machine.mask
            closed = first if decided else ~first
            if not (closed if outer is None else closed & outer).any():
                return right(machine)
            machine.mask = ~closed if outer is None else ~closed & outer
            if not machine.mask.any():
                machine.mask = outer
                return first
            machine.level += 1
            second = right(machine)
            machine.level -= 1
            machine.mask = outer
            return (first | second) if decided else (first & second)

        return logic

    def _select(self, node: Select) -> Closure:
        condition, then, otherwise = self.known(node.condition), self.arm(node.then, node), self.arm(node.otherwise, node)
        scalar = self.merge_loaded(node) if isinstance(node.type, Scalar | VectorType) else None

        def select(machine: Machine) -> Any:
            chosen = condition(machine)
            if not isinstance(chosen, np.ndarray):
                return then(machine) if chosen else otherwise(machine)
            outer = machine.mask
            yes = chosen if outer is None else chosen & outer
            no = ~chosen if outer is None else outer & ~chosen
            if not no.any():
                return then(machine)
            if not yes.any():
                return otherwise(machine)
            machine.level += 1
            machine.mask = yes
            a = then(machine)
            machine.mask = no
            b = otherwise(machine)
            machine.level -= 1
            machine.mask = outer
            return merged(chosen, a, b, scalar)

        return select

    def _operation(self, node: Unary | Binary | Convert) -> Closure:
        match node:
            case Unary(type=scalar, op=op, operand=operand):
                return values.unary(op, scalar, self.value(operand))
            case Binary(op=op, left=left, right=right, place=place):
                assert isinstance(left.type, Scalar)
                return values.binary(op, left.type, self.value(left), self.value(right), place)
            case Convert(type=to, operand=operand):
                assert isinstance(operand.type, Scalar)
                convert, inner = values.conversion(operand.type, to), self.value(operand)
                return lambda machine: convert(inner(machine))

    def right_side(self, node: Assign) -> Closure:
        """A closure of the value of an assignment's right side."""
        return self.value(node.value)

    def converter(self, node: Assign, source: Scalar, to: Scalar) -> Callable[[Any], Any] | None:
        """The conversion between the types of an assignment's target and of its operation; None if they are the same."""
        return None if source.element is to.element else values.conversion(source, to)

    def combine(self, node: Assign, old: Closure, value: Closure) -> Closure:
        assert node.op is not None
        assert node.within is not None
        return values.binary(node.op, node.within, old, value, node.place)

    def announce(self, machine: Machine, memory: Any, parts: list[Any], kind: AccessType) -> None:
        """Reports to the sink the value that a store wrote."""
        if machine.wants_values:
            machine.sink.value(parts[0])

    def _inline(self, node: Inline) -> Closure:
        bindings = [(slot, self.given(slot, expr)) for slot, expr in node.bindings]
        body, result, place = self.statement(self, node.body), node.result, node.place

        def call(machine: Machine) -> Any:
            for slot, closure in bindings:
                value = closure(machine)
                machine.slots[slot], machine.levels[slot] = value, machine.level
            if result is not None:
                machine.slots[result], machine.levels[result] = None, machine.level
            kept = machine.mask, machine.level, machine.returned, machine.vanished
            machine.returned, machine.vanished = None, False
            machine.inline_depth += 1
            body(machine)
            machine.inline_depth -= 1
            machine.mask, machine.level, machine.returned, machine.vanished = kept
            return None if result is None else values.read(machine, machine.slots[result], "the function's value", place)

        return call


def _is_of_pointers(node: Unary | Binary | Convert) -> bool:
    if isinstance(node, Binary):
        return isinstance(node.left.type, _POINTERS) or isinstance(node.right.type, _POINTERS)
    return isinstance(node.operand.type, _POINTERS)


def _read(node: Read) -> Closure:
    slot, name, place = node.slot, node.name, node.place
    if not node.checked:
        return lambda machine: machine.slots[slot]
    if isinstance(node.type, VectorType):
        return lambda machine: _read_vector(machine, slot, name, place)
    return lambda machine: values.read(machine, machine.slots[slot], name, place)


def _read_component(node: Read, component: int) -> Closure:
    slot, name, place = node.slot, node.name, node.place

    def read(machine: Machine) -> Any:
        vector = machine.slots[slot]
        return values.read(machine, None if vector is None else vector[component], name, place)

    return read


def _read_vector(machine: Machine, slot: int, name: str, place: Any) -> Any:
    vector = machine.slots[slot]
    return [values.read(machine, part, name, place) for part in vector] if vector else values.read(machine, None, name, place)


def _sequence(closures: list[Closure]) -> Closure:
    def run(machine: Machine) -> Any:
        result = None
        for closure in closures:
            result = closure(machine)
        return result

    return run


def _vector(closures: list[Closure]) -> Closure:
    return lambda machine: [closure(machine) for closure in closures]
