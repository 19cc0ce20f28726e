"""Compiles atomic operations to closures. Threads that meet at one element take turns in the order of their numbers."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Bools, Longs
from gemmviz.run.cpu.simt.access_types import AccessType, access_type
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.memory import SharedMemory
from gemmviz.run.cpu.simt.pointers import Several, each_memory
from gemmviz.run.cpu.simt.values import Closure, PointerClosure, merged
from gemmviz.source.nodes import Atomic, AtomicOp
from gemmviz.source.types import Scalar

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
