"""Compiles assignments to closures: to variables, components of vectors, local arrays, and memory."""

from collections.abc import Callable
from typing import Any, Protocol

from gemmviz.run.cpu.simt import values
from gemmviz.run.cpu.simt.access_types import AccessType, access_type
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.pointers import Several, each_memory
from gemmviz.run.cpu.simt.values import Closure, PointerClosure, merged
from gemmviz.source.nodes import Assign, Component, Deref, Expr, Read
from gemmviz.source.types import PointerType, Scalar, VectorType


class ExpressionTable(Protocol):
    """The interface of a compiler that assignments need: closures of the expressions in them."""

    def right_side(self, node: Assign) -> Closure: ...
    def combine(self, node: Assign, old: Closure, value: Closure) -> Closure: ...
    def converter(self, node: Assign, source: Scalar, to: Scalar) -> Callable[[Any], Any] | None: ...
    def merge_scalar_of(self, slot: int, scalar: Scalar | None) -> Scalar | None: ...
    def merge_loaded(self, node: Deref) -> Scalar | None: ...
    def address(self, node: Expr) -> PointerClosure: ...
    def announce(self, machine: Machine, memory: Any, parts: list[Any], kind: AccessType) -> None: ...


def assignment(compiler: ExpressionTable, node: Assign) -> Closure:
    match node.target:
        case Read(slot=slot, name=name, type=ctype, place=place):
            return _assign_variable(compiler, node, slot, name, ctype, place)
        case Component(of=of, index=component):
            return _assign_component(compiler, node, of, component)
        case Deref() as target:
            return _store(compiler, node, target)
    raise AssertionError(node.target)


Finish = Callable[[Machine, Any, Any], Any]


def _combined(compiler: ExpressionTable, node: Assign) -> Finish:
    """A closure of the new value from the machine, the old value and the right side (C++17 evaluates the right side first)."""
    if node.op is None:
        return lambda machine, old, right: right
    assert isinstance(node.type, Scalar)
    assert node.within is not None
    operands: list[Any] = [None, None]
    widen, narrow = compiler.converter(node, node.type, node.within), compiler.converter(node, node.within, node.type)
    apply = compiler.combine(node, lambda machine: operands[0], lambda machine: operands[1])

    def combined(machine: Machine, old: Any, right: Any) -> Any:
        operands[0] = old if widen is None else widen(old)
        operands[1] = right
        result = apply(machine)
        return result if narrow is None else narrow(result)

    return combined


def _assign_variable(compiler: ExpressionTable, node: Assign, slot: int, name: str, ctype: Any, place: Any) -> Closure:
    value, gives_old, compound = compiler.right_side(node), node.gives_old, node.op is not None
    combined = _combined(compiler, node)
    scalar = compiler.merge_scalar_of(slot, ctype if isinstance(ctype, Scalar) else component_type(ctype))
    moves_pointer = isinstance(ctype, PointerType)

    def assign(machine: Machine) -> Any:
        right = value(machine)
        old = machine.slots[slot]
        if compound or (gives_old and moves_pointer):
            old = values.read(machine, old, name, place)
        new = combined(machine, old, right)
        if machine.level != machine.levels[slot]:
            machine.slots[slot] = merged(machine.mask, new, machine.slots[slot], scalar)
        else:
            machine.slots[slot] = new
        return old if gives_old else new

    return assign


def _assign_component(compiler: ExpressionTable, node: Assign, of: Expr, component: int) -> Closure:
    assert isinstance(of, Read)
    assert isinstance(of.type, VectorType)
    slot, name, count, place = of.slot, of.name, of.type.count, of.place
    value, combined, gives_old = compiler.right_side(node), _combined(compiler, node), node.gives_old
    scalar, compound = compiler.merge_scalar_of(slot, of.type.scalar), node.op is not None

    def assign(machine: Machine) -> Any:
        right = value(machine)
        vector = list(machine.slots[slot] or [None] * count)
        old = vector[component]
        if compound:
            old = values.read(machine, old, name, place)
        new = combined(machine, old, right)
        keeps = machine.level != machine.levels[slot]
        vector[component] = merged(machine.mask, new, vector[component], scalar) if keeps else new
        machine.slots[slot] = vector
        return old if gives_old else new

    return assign


StoreOne = Callable[[Machine, Any, Any, Any], Any]


def _store(compiler: ExpressionTable, node: Assign, target: Deref) -> Closure:
    value, address = compiler.right_side(node), compiler.address(target.pointer)
    is_local = node.store is None and isinstance(target.type, Scalar)
    store = (_store_local if is_local else _store_reported)(compiler, node, target)
    running = compiler.merge_loaded(target)

    def assign(machine: Machine) -> Any:
        right = value(machine)
        memory, offset = address(machine)
        if memory.__class__ is not Several:
            return store(machine, memory, offset, right)
        result: Any = None
        for each, lanes in each_memory(machine, memory):
            one = store(machine, each, offset, right)
            result = one if result is None else merged(lanes, one, result, running)
        return result

    return assign


def _store_reported(compiler: ExpressionTable, node: Assign, target: Deref) -> StoreOne:
    """A store of a scalar or vector, reported to the sink unless it is local."""
    kind, place, combined = access_type(target.type), target.place, _combined(compiler, node)
    compound, gives_old, load, store = node.op is not None, node.gives_old, target.access, node.store

    def assign(machine: Machine, memory: Any, offset: Any, right: Any) -> Any:
        offset = memory.checked(machine, offset, kind, place)
        old = None
        if compound:
            if load is not None:
                machine.touch(load, memory.number, memory.recorded(offset, kind), place)
            old = memory.load(machine, offset, kind, place)
            if load is not None and machine.wants_values:
                machine.sink.value(old)
        new = combined(machine, old, right)
        parts = new if kind.width > 1 else [new]
        if store is not None:
            machine.touch(store, memory.number, memory.recorded(offset, kind), place)
            compiler.announce(machine, memory, parts, kind)
        for i, part in enumerate(parts):
            memory.store(machine, offset + i if i else offset, part, kind, place)
        return old if gives_old else new

    return assign


def _store_local(compiler: ExpressionTable, node: Assign, target: Deref) -> StoreOne:
    kind, place, combined = access_type(target.type), target.place, _combined(compiler, node)
    compound, gives_old, form = node.op is not None, node.gives_old, kind.form

    def assign(machine: Machine, memory: Any, offset: Any, right: Any) -> Any:
        offset = memory.checked(machine, offset, kind, place)
        old = memory.load(machine, offset, kind, place) if compound else None
        new = combined(machine, old, right)
        if offset.__class__ is int and machine.level == memory.level and memory.form is form:
            memory.values[offset] = new
        else:
            memory.store(machine, offset, new, kind, place)
        return old if gives_old else new

    return assign


def component_type(ctype: Any) -> Scalar | None:
    """The scalar type of a vector's components."""
    return ctype.scalar if isinstance(ctype, VectorType) else None
