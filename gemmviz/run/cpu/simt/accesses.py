"""Closures that load, store and update memory."""

from collections.abc import Callable
from typing import Any

from gemmviz.cuda.nodes import Assign, Component, Deref, Expr, Read
from gemmviz.cuda.types import PointerType, Scalar, VectorType, scalar_of
from gemmviz.run.cpu.simt import values
from gemmviz.run.cpu.simt.domain import Compiling
from gemmviz.run.cpu.simt.machine import Closure, Machine
from gemmviz.run.cpu.simt.memory import AccessType, Several, access_type, each_memory
from gemmviz.run.cpu.simt.values import Finish, Partial, PointerClosure, merged


def over_memories(
    machine: Machine, memory: Any, offset: Any, running: Scalar | None, one: Callable[..., Any], *args: Any
) -> Any:
    """What ``one(machine, memory, offset, *args)`` gives, run once for each memory that lanes point to. ``running``: the type
    of such values.
    """
    if memory.__class__ is not Several:
        return one(machine, memory, offset, *args)
    result: Any = None
    for each, lanes in each_memory(machine, memory):
        value = one(machine, each, offset, *args)
        result = value if result is None else merged(lanes, value, result, running)
    return result


# Compiles assignments to closures: to variables, components of vectors, local arrays, and memory.


def assignment(compiler: Compiling, node: Assign) -> Closure:
    match node.target:
        case Read(slot=slot, name=name, type=ctype, place=place):
            return _assign_variable(compiler, node, slot, name, ctype, place)
        case Component(of=of, index=component):
            return _assign_component(compiler, node, of, component)
        case Deref() as target:
            return _store(compiler, node, target)
    raise AssertionError(node.target)


def _right_side(compiler: Compiling, node: Assign) -> Closure:
    if node.within is not None and node.within.is_float:
        return compiler.domain.operand(compiler, node.value)
    return compiler.domain.given(compiler, node.target, node.value)


def _combined(compiler: Compiling, node: Assign) -> Finish:
    """A closure of the new value from the machine, the old value and the right side (C++17 evaluates the right side first)."""
    return (lambda machine, old, right: right) if node.op is None else compiler.domain.combined(node)


def _assign_variable(compiler: Compiling, node: Assign, slot: int, name: str, ctype: Any, place: Any) -> Closure:
    value, combined, gives_old, compound = (
        _right_side(compiler, node),
        _combined(compiler, node),
        node.gives_old,
        node.op is not None,
    )
    scalar = compiler.domain.running(ctype if isinstance(ctype, Scalar) else component_type(ctype), slot)
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


def _assign_component(compiler: Compiling, node: Assign, of: Expr, component: int) -> Closure:
    assert isinstance(of, Read)
    assert isinstance(of.type, VectorType)
    slot, name, count, place = of.slot, of.name, of.type.count, of.place
    value, combined, gives_old = _right_side(compiler, node), _combined(compiler, node), node.gives_old
    scalar, compound = compiler.domain.running(of.type.scalar, slot), node.op is not None

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


def _store(compiler: Compiling, node: Assign, target: Deref) -> Closure:
    value, address = _right_side(compiler, node), compiler.domain.accessed(compiler, target)
    is_local = node.store is None and isinstance(target.type, Scalar)
    store = (_store_local if is_local else _store_reported)(compiler, node, target)
    running = compiler.domain.running(scalar_of(target.type), target)

    def assign(machine: Machine) -> Any:
        right = value(machine)
        memory, offset = address(machine)
        if memory.__class__ is not Several:
            return store(machine, memory, offset, right)
        return over_memories(machine, memory, offset, running, store, right)

    return assign


def _store_reported(compiler: Compiling, node: Assign, target: Deref) -> StoreOne:
    """A store of a scalar or vector, reported to the sink unless it is local."""
    kind, place, combined, announce = (
        access_type(target.type),
        target.place,
        _combined(compiler, node),
        compiler.domain.announce,
    )
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
            announce(machine, memory, parts, kind)
        for i, part in enumerate(parts):
            memory.store(machine, offset + i if i else offset, part, kind, place)
        return old if gives_old else new

    return assign


def _store_local(compiler: Compiling, node: Assign, target: Deref) -> StoreOne:
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


# Compiles reads of memory to closures.

LoadOne = Callable[[Machine, Any, Any], Any]


def load_closure(node: Deref, address: PointerClosure, running: Scalar | None) -> Closure:
    """The closure of a read of memory. ``running``: the type of its scalars during the run."""
    place, access, kind = node.place, node.access, access_type(node.type)
    one = (_load_vector if isinstance(node.type, VectorType) else _load_scalar)(access, kind, place)
    if access is None and kind.width == 1:
        return _load_local(address, kind, one, running)

    def loaded(machine: Machine) -> Any:
        memory, offset = address(machine)
        if memory.__class__ is not Several:
            return one(machine, memory, offset)
        return over_memories(machine, memory, offset, running, one)

    return loaded


def touch_closure(node: Deref, address: PointerClosure) -> Closure:
    """The closure of a read of memory that gives nothing."""
    place, access, kind = node.place, node.access, access_type(node.type)
    assert access is not None

    def touch(machine: Machine, memory: Any, offset: Any) -> None:
        offset = memory.checked(machine, offset, kind, place)
        machine.touch(access, memory.number, memory.recorded(offset, kind), place)

    def run(machine: Machine) -> None:
        over_memories(machine, *address(machine), None, touch)

    return run


def _load_scalar(access: int | None, kind: AccessType, place: Any) -> LoadOne:
    def load(machine: Machine, memory: Any, offset: Any) -> Any:
        offset = memory.checked(machine, offset, kind, place)
        if access is None:
            return memory.load(machine, offset, kind, place)
        machine.touch(access, memory.number, memory.recorded(offset, kind), place)
        result = memory.load(machine, offset, kind, place)
        if machine.wants_values:
            machine.sink.value(result)
        return result

    return load


def _load_vector(access: int | None, kind: AccessType, place: Any) -> LoadOne:
    def load(machine: Machine, memory: Any, offset: Any) -> Any:
        offset = memory.checked(machine, offset, kind, place)
        if access is not None:
            machine.touch(access, memory.number, memory.recorded(offset, kind), place)
        parts = [memory.load(machine, offset + i, kind, place) for i in range(kind.width)]
        if access is not None and machine.wants_values:
            machine.sink.value(parts[0])
        return parts

    return load


def _load_local(address: PointerClosure, kind: AccessType, load: LoadOne, running: Scalar | None) -> Closure:
    """A closure that loads a scalar of local memory, with a fast path for an index that is one number for all lanes."""
    form = kind.form

    def loaded(machine: Machine) -> Any:
        memory, offset = address(machine)
        if memory.__class__ is Several:
            return over_memories(machine, memory, offset, running, load)
        if offset.__class__ is int and memory.form is form and 0 <= offset < memory.size:
            value = memory.values[offset]
            if value is not None and value.__class__ is not Partial:
                return value
        return load(machine, memory, offset)

    return loaded
