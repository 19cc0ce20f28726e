"""Compiles reads of memory to closures."""

from collections.abc import Callable
from typing import Any

from gemmviz.run.cpu.simt.access_types import AccessType, access_type
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.pointers import Several, each_memory
from gemmviz.run.cpu.simt.values import Closure, Partial, PointerClosure, merged
from gemmviz.source.nodes import Deref
from gemmviz.source.types import Scalar, VectorType

LoadOne = Callable[[Machine, Any, Any], Any]


def load_closure(node: Deref, address: PointerClosure, running: Scalar | None) -> Closure:
    """The closure of a read of memory. ``running``: the type of its scalars during the run."""
    place, access, kind = node.place, node.access, access_type(node.type)
    one = (_load_vector if isinstance(node.type, VectorType) else _load_scalar)(access, kind, place)
    if access is None and kind.width == 1:
        return _load_local(address, kind, one, running)

    def loaded(machine: Machine) -> Any:
        memory, offset = address(machine)
        if memory.__class__ is Several:
            return _load_each(machine, memory, offset, one, running)
        return one(machine, memory, offset)

    return loaded


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


def _load_each(machine: Machine, memory: Several, offset: Any, load: LoadOne, running: Scalar | None) -> Any:
    """A load whose lanes read different memories."""
    result: Any = None
    for each, lanes in each_memory(machine, memory):
        value = load(machine, each, offset)
        result = value if result is None else merged(lanes, value, result, running)
    return result


def _load_local(address: PointerClosure, kind: AccessType, load: LoadOne, running: Scalar | None) -> Closure:
    """A closure that loads a scalar of local memory, with a fast path for an index that is one number for all lanes."""
    form = kind.form

    def loaded(machine: Machine) -> Any:
        memory, offset = address(machine)
        if memory.__class__ is Several:
            return _load_each(machine, memory, offset, load, running)
        if offset.__class__ is int and memory.form is form and 0 <= offset < memory.size:
            value = memory.values[offset]
            if value is not None and value.__class__ is not Partial:
                return value
        return load(machine, memory, offset)

    return loaded
