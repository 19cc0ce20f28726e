"""Closures that load, store and update memory."""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from gemmviz.cuda.nodes import Address, Assign, AtAddress, Component, Const, Convert, Deref, Expr, Read
from gemmviz.cuda.types import AddressSpace as Space
from gemmviz.cuda.types import CType, PointerType, Scalar, VectorType, scalar_of, unit_bytes
from gemmviz.model.messages import KernelFault, Place
from gemmviz.model.sinks import Shifted
from gemmviz.run.cpu.simt import values
from gemmviz.run.cpu.simt.local import Compiling
from gemmviz.run.cpu.simt.machine import Closure, Machine
from gemmviz.run.cpu.simt.memory import NULL, AccessType, GlobalMemory, Several, SharedMemory, access_type, each_memory
from gemmviz.run.cpu.simt.values import Finish, Partial, PointerClosure, merged

# Closures of addresses: each takes the machine and gives the (memory, offset) of a pointer, in units of its type.

_FARTHEST = 1 << 58  # limit of each of two distances in units: their sum in bytes still fits 64 bits


def indexed_address(address: PointerClosure, index: Closure, scale: int) -> PointerClosure:
    """The address plus an index. An array is converted to 64 bits only once while the index is the same array."""
    last_index: Any = None
    last_scaled: Any = None

    def moved(machine: Machine) -> tuple[Any, Any]:
        nonlocal last_index, last_scaled
        memory, offset = address(machine)
        i = index(machine)
        if i.__class__ is int:
            return memory, offset + (i * scale if offset.__class__ is int else _limited_offset(i * scale))
        if i.__class__ is Shifted:
            if scale == 1 and offset.__class__ is int and memory.__class__ is not Several:
                return memory, i + _limited_offset(offset)
            i = np.asarray(i)
        if i is not last_index:
            last_index, last_scaled = i, _scaled_offset(i, scale)
        if offset.__class__ is int:
            return memory, last_scaled + _limited_offset(offset) if offset else last_scaled
        return memory, last_scaled + offset

    return moved


def _limited_offset(distance: int) -> int:
    """A distance in units, clipped so that what is added to it in 64 bits stays out of every array."""
    most = _FARTHEST - 1
    return distance if -most <= distance <= most else most if distance > 0 else -most


def _scaled_offset(index: Any, scale: int) -> Any:
    """Indices times ``scale``, int64, clipped so that overflowing offsets stay out of every array."""
    if index.dtype.itemsize == 8:
        most = _FARTHEST // max(1, abs(scale))
        index = np.clip(index, -most if index.dtype.kind == "i" else 0, most)
    wide = index.astype(np.int64, copy=False)
    return wide * scale if scale != 1 else wide


class _FixedAddress:
    """The address of a shared or local variable plus a known distance, as for most registers."""

    __slots__ = ("distance", "slot")

    def __init__(self, slot: int, distance: int) -> None:
        self.slot = slot
        self.distance = distance

    def __call__(self, machine: Machine) -> tuple[Any, Any]:
        return machine.slots[self.slot][0], self.distance


def base_address(slot: int) -> PointerClosure:
    """The address of a shared or local variable."""
    return _FixedAddress(slot, 0)


def shifted_address(address: PointerClosure, distance: int) -> PointerClosure:
    """An address plus a known distance in its units."""
    if distance == 0:
        return address
    if isinstance(address, _FixedAddress):
        return _FixedAddress(address.slot, address.distance + distance)

    limited = _limited_offset(distance)

    def shifted(machine: Machine) -> tuple[Any, Any]:
        memory, offset = address(machine)
        return memory, offset + (distance if offset.__class__ is int else limited)

    return shifted


def reinterpreted_address(address: PointerClosure, source: CType, to: CType, place: Place) -> PointerClosure:
    """The address in the units of another type. Raises KernelFault in a run where it is at no multiple of those."""
    have, want = unit_bytes(source), unit_bytes(to)
    if have == want:
        return address
    if have > want:
        times = have // want
        if isinstance(address, _FixedAddress):
            return _FixedAddress(address.slot, address.distance * times)

        def finer(machine: Machine) -> tuple[Any, Any]:
            memory, offset = address(machine)
            return memory, offset * times

        return finer
    by = want // have
    if isinstance(address, _FixedAddress) and address.distance % by == 0:
        return _FixedAddress(address.slot, address.distance // by)
    return _coarser(address, by, f"{to}", place)


def _coarser(address: PointerClosure, by: int, name: str, place: Place) -> PointerClosure:
    def coarser(machine: Machine) -> tuple[Any, Any]:
        memory, offset = address(machine)
        bad = offset % by
        if np.any(bad):
            torn = np.asarray(bad != 0)
            if (torn if machine.mask is None else torn & machine.mask).any():
                message = f"an address in {memory.name} is read as {name}, but is not aligned to it"
                raise machine.fault(message, place, torn, id="misaligned-access")
        return memory, offset // by

    return coarser


def null_address(node: Expr) -> PointerClosure | None:
    """The address of an integer constant made a pointer; None for other nodes."""
    while isinstance(node, Convert):
        node = node.operand
    if not isinstance(node, Const):
        return None
    distance = int(node.value)
    return lambda machine: (NULL, distance)


def target_of(pointer: Expr) -> CType:
    """The type to which a pointer or array points."""
    match pointer.type:
        case PointerType(to=to):
            return to
    return getattr(pointer.type, "element", pointer.type)


# Integer addresses of the memories of a run, and back: global arrays far apart, the shared arrays of a block in a window
# from 0 that generic addresses see elsewhere.

_ARRAY_DISTANCE = 1 << 40  # bytes between global arrays: a multiple of 256, the alignment that the driver gives them
_SHARED = 1 << 56  # the generic address of the shared window
_LAST = np.iinfo(np.int64).max
_ALIGNED = 16  # bytes to which a shared array is aligned
_Window = Literal["generic", "shared", "global"]


def integer_address(node: Address, pointer: PointerClosure) -> Closure:
    """The closure of a pointer as an integer."""
    assert isinstance(node.pointer.type, PointerType)
    unit, window, dtype, bits = unit_bytes(node.pointer.type.to), node.window, node.type.dtype, (1 << node.type.bits) - 1

    def run(machine: Machine) -> Any:
        memory, offset = pointer(machine)
        address = machine.addresses.address(memory, offset, unit, window)
        return address.astype(dtype) if isinstance(address, np.ndarray) else address & bits

    return run


def found_address(node: AtAddress, integer: Closure) -> PointerClosure:
    """The closure of the pointer at an integer address."""
    space, unit, place = node.type.space, unit_bytes(node.type.to), node.place

    def run(machine: Machine) -> tuple[Any, Any]:
        found: tuple[Any, Any] = machine.addresses.pointer(machine, integer(machine), space, unit, place)
        return found

    return run


class AddressMap:
    """Where each memory of a run lies. ``end``: the bytes of the shared window."""

    def __init__(self, matrices: Iterable[GlobalMemory], shared: Iterable[SharedMemory]) -> None:
        self._global = {number * _ARRAY_DISTANCE: memory for number, memory in enumerate(matrices, 1)}
        self._shared: dict[int, SharedMemory] = {}
        self.end = 0
        for memory in shared:
            start = -(-self.end // _ALIGNED) * _ALIGNED
            self._shared[start] = memory
            self.end = start + memory.bytes
        self._starts = [*self._shared]
        self._bases = {id(memory): start for start, memory in {**self._global, **self._shared}.items()}

    def address(self, memory: Any, offset: Any, unit: int, window: _Window) -> Any:
        """The address in bytes of a place in a memory, whose offset counts ``unit`` bytes."""
        if memory is NULL:
            return offset * unit
        if isinstance(memory, Several):
            places = [self.address(each, offset, unit, window) for each in memory.memories]
            return np.choose(memory.which, [np.asarray(each, np.int64) for each in places])
        base, is_shared = self._bases.get(id(memory)), isinstance(memory, SharedMemory)
        if base is None or (window != "generic" and is_shared != (window == "shared")):
            kind = "a variable of the thread" if base is None else "in shared memory" if is_shared else "in global memory"
            message = f"{memory.name} is {kind}: it has no {'' if window == 'generic' else f'{window} '}address"
            raise KernelFault(message, None, id="unsupported")
        return offset * unit + base + (_SHARED if is_shared and window == "generic" else 0)

    def pointer(self, machine: Machine, address: Any, space: Space | None, unit: int, place: Place) -> tuple[Any, Any]:
        """The memory and the offset, in units of ``unit`` bytes, that an address means in the active lanes."""
        if not isinstance(address, np.ndarray):
            base, memory = self._at(int(address), space)
            self._check(machine, int(address) - base, unit, place)
            return memory, (int(address) - base) // unit
        mask = np.ones((), bool) if machine.mask is None else machine.mask
        lanes, active = np.broadcast_arrays(address.astype(np.int64), mask)
        found = [self._at(low, space) for low in self._lows(lanes[active], space)]
        if len(found) <= 1:
            base, memory = found[0] if found else (0, NULL)
            self._check(machine, np.where(active, lanes - base, 0), unit, place)
            return memory, (address.astype(np.int64) - base) // unit
        bases = np.array([base for base, _ in found], np.int64)
        which = np.clip(np.searchsorted(bases, lanes, side="right") - 1, 0, len(bases) - 1)
        offset = lanes - bases[which]
        self._check(machine, np.where(active, offset, 0), unit, place)
        return Several(tuple(memory for _, memory in found), which), offset // unit

    def _check(self, machine: Machine, distance: Any, unit: int, place: Place) -> None:
        if np.any(distance % unit):
            bad = np.asarray(distance % unit != 0)
            raise machine.fault(f"this address is not a multiple of {unit} bytes", place, bad, id="misaligned-access")

    def _lows(self, addresses: Any, space: Space | None) -> list[int]:
        """One address in each of the memories at some addresses, ascending."""
        lows = {int(each) for each in (addresses.min(initial=_LAST), addresses.max(initial=0))} if len(addresses) else set()
        if len({base for base, _ in (self._at(low, space) for low in lows)}) > 1:
            lows = set(np.unique(addresses).tolist())
        return [low for _, low in sorted({self._at(low, space)[0]: low for low in lows}.items())]

    def _at(self, address: int, space: Space | None) -> tuple[int, Any]:
        """The address in the same window at which the memory at an address begins, and the memory; 0 and NULL for none."""
        if space == "shared" or (space is None and address >= _SHARED):
            window = 0 if space == "shared" else _SHARED
            index = bisect_right(self._starts, address - window) - 1
            if index >= 0 and address - window <= self.end:
                return self._starts[index] + window, self._shared[self._starts[index]]
            return 0, NULL
        middle = address + _ARRAY_DISTANCE // 2
        start = middle - middle % _ARRAY_DISTANCE
        return (start, self._global[start]) if start in self._global else (0, NULL)


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
