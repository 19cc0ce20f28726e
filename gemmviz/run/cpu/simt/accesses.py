"""Closures that load, store and update memory."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gemmviz.cuda.nodes import Assign, Atomic, AtomicOp, Component, Deref, Expr, Read
from gemmviz.cuda.types import PointerType, Scalar, VectorType
from gemmviz.model.arrays import Bools, Longs
from gemmviz.run.cpu.simt import values
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.memory import SharedMemory
from gemmviz.run.cpu.simt.pointers import AccessType, Several, access_type, each_memory
from gemmviz.run.cpu.simt.values import Closure, Partial, PointerClosure, merged

# Compiles assignments to closures: to variables, components of vectors, local arrays, and memory.


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


# Compiles atomic operations to closures. Threads that meet at one element take turns in the order of their numbers.

_Values = npt.NDArray[Any]
_MOST_TURNS = 48  # threads at one element up to which all elements take their turns together
_Apply = Callable[[_Values, list[_Values]], _Values]  # the new value from the old one and the arguments


def atomic(node: Atomic, address: PointerClosure, args: list[Closure], running: Scalar | None) -> Closure:
    """The closure of an atomic operation, which gives the value before it. ``running``: the type of such values."""
    place, access, kind = node.place, node.access, access_type(node.type)
    operation = _Operation(node.op, kind)

    def one(machine: Machine, memory: Any, offset: Any, given: list[Any]) -> Any:
        offset = memory.checked(machine, offset, kind, place)
        machine.touch(access, memory.number, memory.recorded(offset, kind), place)
        olds = []
        for i in range(kind.width):
            each = [arg[i] for arg in given] if kind.width > 1 else given
            at = offset + i if i else offset
            before = memory.load(machine, at, kind, place)
            old, new = _Turns(machine, memory, at).taken(before, each, operation)
            if i == 0 and machine.wants_values:
                machine.sink.value(new)
            memory.store(machine, at, new, kind, place)
            olds.append(old)
        return olds if kind.width > 1 else olds[0]

    def run(machine: Machine) -> Any:
        given = [arg(machine) for arg in args]
        memory, offset = address(machine)
        if memory.__class__ is not Several:
            return one(machine, memory, offset, given)
        result: Any = None
        for each, lanes in each_memory(machine, memory):
            old = one(machine, each, offset, given)
            result = old if result is None else merged(lanes, old, result, running)
        return result

    return run


class _Operation:
    """What an atomic operation does to one element: ``apply``, or ``accumulate`` for many threads at once."""

    def __init__(self, op: AtomicOp, kind: AccessType) -> None:
        self.dtype = np.dtype(np.float32) if kind.is_coded else kind.dtype
        self.accumulate = None if kind.is_coded else _ACCUMULATE.get(op)
        apply = _APPLY[op]
        self.apply = apply if not kind.is_coded else lambda old, args: _rounded(apply(old, args), kind)


def _rounded(values: _Values, kind: AccessType) -> _Values:
    """Values as memory holds them."""
    return np.asarray(kind.decoded(kind.scalar.element.elements(values)))


class _Turns:
    """The threads of one step, and the order in which those at the same element take turns."""

    def __init__(self, machine: Machine, memory: Any, offset: Any) -> None:
        self.space, self.mask, self.offset = machine.space, machine.mask, offset
        self.by_block = isinstance(memory, SharedMemory)

    def taken(self, before: Any, args: list[Any], operation: _Operation) -> tuple[_Values, _Values]:
        """_Values before and after each thread's turn, over lanes. ``before``: the values before the first turn."""
        shape, dtype, accumulate = self._shape(before, args), operation.dtype, operation.accumulate
        old = np.broadcast_to(np.asarray(before, dtype), shape).ravel()
        given = [np.broadcast_to(np.asarray(arg, dtype), shape).ravel() for arg in args]
        old, new = old.copy(), old.copy()
        lanes, starts = self._order(shape)
        counts = np.diff(np.append(starts, len(lanes)))
        long = counts > _MOST_TURNS if accumulate is not None else np.zeros(len(counts), bool)
        self._in_turn(lanes, starts[~long], counts[~long], old, new, given, operation.apply)
        for start, count in zip(starts[long].tolist(), counts[long].tolist(), strict=True):
            assert accumulate is not None
            mine = lanes[start : start + count]
            passed = accumulate.accumulate(np.append(old[mine[:1]], given[0][mine]).astype(dtype))
            old[mine], new[mine] = passed[:-1], passed[1:]
        return old.reshape(shape), new.reshape(shape)

    def _shape(self, before: Any, args: list[Any]) -> tuple[int, ...]:
        """The lanes whose turns are computed: of one block, where all blocks do the same to shared arrays of their own."""
        if not self.by_block:
            return self.space.shape
        blocks = len(self.space.block_shape)
        parts = [each for each in (before, self.offset, self.mask, *args) if np.ndim(each)]
        outer = np.broadcast_shapes((1,) * blocks, *(np.shape(each)[:blocks] for each in parts))
        return outer + self.space.thread_shape

    def _order(self, shape: tuple[int, ...]) -> tuple[Longs, Longs]:
        """Active lanes, element by element and then by thread, and the index of the first of each element."""
        active: Bools = np.broadcast_to(True if self.mask is None else self.mask, shape).ravel()
        element = np.broadcast_to(self.offset, shape).ravel().astype(np.int64)
        lanes = np.flatnonzero(active)
        block = lanes // self.space.threads_per_block if self.by_block else np.zeros(len(lanes), np.int64)
        order = np.lexsort((element[lanes], block))
        lanes, block = lanes[order], block[order]
        is_first = np.ones(len(lanes), bool)
        is_first[1:] = (np.diff(element[lanes]) != 0) | (np.diff(block) != 0)
        return lanes, np.flatnonzero(is_first)

    @staticmethod
    def _in_turn(
        lanes: Longs, starts: Longs, counts: Longs, old: _Values, new: _Values, given: list[_Values], apply: _Apply
    ) -> None:
        """The turns of several elements at once: the first thread of each, then the second, and so on."""
        for turn in range(int(counts.max(initial=0))):
            which = counts > turn
            starts, counts = starts[which], counts[which]
            mine = lanes[starts + turn]
            if turn:
                old[mine] = new[lanes[starts + turn - 1]]
            new[mine] = apply(old[mine], [arg[mine] for arg in given])


def _inc(old: _Values, args: list[_Values]) -> _Values:
    return np.asarray(np.where(old >= args[0], old.dtype.type(0), old + old.dtype.type(1)))


def _dec(old: _Values, args: list[_Values]) -> _Values:
    return np.asarray(np.where((old == 0) | (old > args[0]), args[0], old - old.dtype.type(1)))


_APPLY: Mapping[str, _Apply] = {
    "add": lambda old, args: old + args[0],
    "sub": lambda old, args: old - args[0],
    "min": lambda old, args: np.fmin(old, args[0]),
    "max": lambda old, args: np.fmax(old, args[0]),
    "exch": lambda old, args: args[0],
    "cas": lambda old, args: np.where(_same_bits(old, args[0]), args[1], old),
    "and": lambda old, args: old & args[0],
    "or": lambda old, args: old | args[0],
    "xor": lambda old, args: old ^ args[0],
    "inc": _inc,
    "dec": _dec,
}
_ACCUMULATE: Mapping[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "min": np.fmin,
    "max": np.fmax,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip


def _same_bits(a: _Values, b: _Values) -> Bools:
    bits = f"u{a.itemsize}"
    return np.asarray(a.view(bits) == b.view(bits))


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
