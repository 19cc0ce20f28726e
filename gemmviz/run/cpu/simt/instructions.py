"""Compiles the instructions that reach memory, and the commits, waits and fences, to closures; and the barriers of a block."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gemmviz.cuda.nodes import (
    Atomic,
    AtomicOp,
    Barrier,
    Commit,
    Copy,
    Fence,
    Instruction,
    LoadMatrix,
    MatrixProduct,
    Mbarrier,
    MoveMatrix,
    StoreMatrix,
    Wait,
)
from gemmviz.cuda.types import Scalar, size_bytes, unit_bytes
from gemmviz.model.arrays import AnyArray, Bools, Longs
from gemmviz.model.messages import KernelFault, Place, tr
from gemmviz.run.cpu.simt.accesses import over_memories
from gemmviz.run.cpu.simt.local import Compiling
from gemmviz.run.cpu.simt.machine import (
    NORMAL,
    ActiveMask,
    Closure,
    Machine,
    PendingCopy,
    Statement,
    check_convergence,
    is_empty,
)
from gemmviz.run.cpu.simt.matrix import load_matrices, multiply_matrices, store_matrices, transpose_matrix
from gemmviz.run.cpu.simt.memory import NULL, AccessType, Memory, SharedMemory, access_type, elements_of_bytes

Zero = Callable[[Scalar], Any]


def instruction(compiler: Compiling, node: Instruction) -> Closure:
    return _COMPILED[type(node)](compiler, node)


# Atomic operations. Threads that meet at one element take turns in the order of their numbers.

_Values = AnyArray
_MOST_TURNS = 48  # threads at one element up to which all elements take their turns together
_Apply = Callable[[_Values, list[_Values]], _Values]  # the new value from the old one and the arguments


def _atomic_closure(compiler: Compiling, node: Atomic) -> Closure:
    """The closure of an atomic operation, which gives the value before it."""
    place, access, kind, domain = node.place, node.access, access_type(node.target.type), compiler.domain
    address, args = compiler.address(node.target.pointer), [domain.operand(compiler, arg) for arg in node.args]
    running, operation = domain.running(kind.scalar, node.target), _InstructionsOperation(node.op, kind)

    def update(machine: Machine, memory: Any, offset: Any, given: list[Any]) -> list[Any]:
        found = []
        for i, parts in enumerate(zip(*given, strict=True) if kind.width > 1 else (given,)):
            at = offset + i if i else offset
            before = memory.load(machine, at, kind, place)
            found.append(_Turns(machine, memory, at).taken(before, parts, operation))
        return [*zip(*found, strict=True)]

    def one(machine: Machine, memory: Any, offset: Any, given: list[Any]) -> Any:
        offset = memory.checked(machine, offset, kind, place)
        machine.touch(access, memory.number, memory.recorded(offset, kind), place)
        olds, news = domain.updated(kind.width, update, machine, memory, offset, given)
        domain.announce(machine, memory, news, kind)
        for i, new in enumerate(news):
            memory.store(machine, offset + i if i else offset, new, kind, place)
        return olds if kind.width > 1 else olds[0]

    def run(machine: Machine) -> Any:
        given = [arg(machine) for arg in args]
        return over_memories(machine, *address(machine), running, one, given)

    return run


class _InstructionsOperation:
    """What an atomic operation does to one element: ``apply``, or ``accumulate`` for many threads at once."""

    def __init__(self, op: AtomicOp, kind: AccessType) -> None:
        self.dtype = np.dtype(np.float32) if kind.is_coded else kind.dtype
        self.accumulate = None if kind.is_coded else _ACCUMULATE.get(op)
        apply = _APPLY[op]
        self.apply = apply if not kind.is_coded else lambda old, args: _as_stored(apply(old, args), kind)


def _as_stored(values: _Values, kind: AccessType) -> _Values:
    """Values as memory holds them."""
    return np.asarray(kind.decoded(kind.scalar.element.elements(values)))


class _Turns:
    """The threads of one step, and the order in which those at the same element take turns."""

    def __init__(self, machine: Machine, memory: Any, offset: Any) -> None:
        self.space, self.mask, self.offset = machine.space, machine.mask, offset
        self.by_block = isinstance(memory, SharedMemory)

    def taken(self, before: Any, args: Sequence[Any], operation: _InstructionsOperation) -> tuple[_Values, _Values]:
        """Values before and after each thread's turn, over lanes. ``before``: the values before the first turn."""
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

    def _shape(self, before: Any, args: Sequence[Any]) -> tuple[int, ...]:
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
    "cas": lambda old, args: np.where(_equal_bits_of(old, args[0]), args[1], old),
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


def _equal_bits_of(a: _Values, b: _Values) -> Bools:
    bits = f"u{a.itemsize}"
    return np.asarray(a.view(bits) == b.view(bits))


# Asynchronous copies.


def _copy_closure(compiler: Compiling, node: Copy) -> Closure:
    place, access, domain = node.place, node.access, compiler.domain
    target, source = compiler.address(node.target.pointer), compiler.address(node.source.pointer)
    size, unit, source_unit = size_bytes(node.target.type), unit_bytes(node.target.type), unit_bytes(node.source.type)
    taken = None if node.fills_zero_from is None else domain.known(compiler, node.fills_zero_from)
    counter = None if node.counts_at is None else compiler.address(node.counts_at.pointer)

    def zero(scalar: Scalar) -> Any:
        return domain.zero(scalar, node.target)

    def one(machine: Machine, to: Any, there: Any, of: Any, here: Any) -> None:
        kind = _elements_of_copy(machine, to, of, size, place)
        count, lanes = None if taken is None else taken(machine), machine.mask
        there = to.checked(machine, _in_scalars(there, unit, kind.bytes), kind, place)
        machine.mask = reading = lanes if count is None else _reading_lanes(lanes, count)
        here = 0 if is_empty(reading) else of.checked(machine, _in_scalars(here, source_unit, kind.bytes), kind, place)
        machine.mask = lanes
        arrays = of.number, to.number
        machine.step(access, arrays, 0, of.recorded(here, kind), reading, place)
        parts = []
        for i in range(kind.width):
            reads = reading if count is None else _reading_lanes(lanes, count, i * kind.bytes)
            parts.append(_copied_part(machine, of, here + i if i else here, reads, zero, kind, place))
        if machine.wants_values:
            machine.sink.value(parts[0])
        machine.step(access, arrays, 1, to.recorded(there, kind), lanes, place)
        domain.announce(machine, to, parts, kind)
        transfers, barrier = machine.transfers, None if counter is None else counter(machine)
        transfers.begin(PendingCopy(transfers.begun, to, there, parts, kind, lanes, transfers.batch, place, barrier, size))

    def run(machine: Machine) -> None:
        into, of = target(machine), source(machine)

        def read(machine: Machine, to: Any, there: Any) -> None:
            over_memories(machine, *of, None, lambda machine, *source: one(machine, to, there, *source))

        over_memories(machine, *into, None, read)

    return run


def _elements_of_copy(machine: Machine, to: Any, of: Any, size: int, place: Place) -> AccessType:
    """How a copy of ``size`` bytes between two memories moves them: in elements of the wider one. Raises KernelFault."""
    for memory in (to, of):
        if not isinstance(memory, Memory):
            if memory is NULL:
                memory.checked(machine, 0, None, place)
            raise machine.fault(f"copying to or from {memory.name} like this is not supported", place, id="unsupported")
    wider = of if of.unit >= to.unit else to
    if size % wider.unit:
        message = f"copying {size} bytes from {of.name} to {to.name} at a time is not supported"
        raise machine.fault(message, place, "copy whole elements", id="unsupported")
    return elements_of_bytes(wider.info.element_type, size)


def _in_scalars(offset: Any, unit: int, size: int) -> Any:
    """An offset in units of ``unit`` bytes, in scalars of ``size`` bytes."""
    return offset if unit == size else offset * unit // size


def _reading_lanes(lanes: Bools | None, count: Any, at: int = 0) -> Any:
    """The lanes that read the byte ``at`` of a copy of ``count`` bytes."""
    if not isinstance(count, np.ndarray):
        return lanes if count > at else np.zeros((), bool)
    return count > at if lanes is None else lanes & (count > at)


def _copied_part(machine: Machine, of: Any, here: Any, reads: Any, zero: Zero, kind: AccessType, place: Place) -> Any:
    """The values of one element of a copy: zero for lanes that don't read it."""
    lanes = machine.mask
    if reads is lanes:
        return of.load(machine, here, kind, place)
    if is_empty(reads):
        return zero(kind.scalar)
    machine.mask = reads
    values = of.load(machine, np.where(reads, here, 0), kind, place)
    machine.mask = lanes
    return np.where(reads, values, np.asarray(zero(kind.scalar), np.asarray(values).dtype))


def _complete_copy(machine: Machine, transfer: PendingCopy, lanes: ActiveMask, done: list[PendingCopy]) -> None:
    """Writes the elements of a copy for some lanes. It is ``done`` when all its lanes are."""
    if is_empty(lanes):
        return
    outer, machine.mask = machine.mask, lanes
    for i, part in enumerate(transfer.parts):
        at = transfer.offset + i if i else transfer.offset
        transfer.memory.store(machine, at, part, transfer.kind, transfer.place)
    machine.mask = outer
    transfer.lanes = _rest(transfer.lanes, lanes)
    if is_empty(transfer.lanes):
        done.append(transfer)


def commit(node: Commit) -> Closure:
    def run(machine: Machine) -> int:
        machine.transfers.commit(machine.mask)
        return NORMAL

    return run


def wait_closure(node: Wait, pending: Closure) -> Closure:
    access, place = node.access, node.place

    def run(machine: Machine) -> int:
        most = pending(machine)
        machine.touch(access, -1, 0, place)
        done: list[PendingCopy] = []
        for transfer in machine.transfers.under_way:
            if transfer.barrier is None:
                _complete_copy(machine, transfer, _completing(machine, transfer, most, node.waits_for_block), done)
        if done:
            machine.sink.completed([transfer.number for transfer in done])
            machine.transfers.under_way = [each for each in machine.transfers.under_way if each not in done]
        return NORMAL

    return run


def _completing(machine: Machine, transfer: PendingCopy, most: Any, of_block: bool) -> Any:
    """The lanes whose copy a wait completes; None for all lanes of the space."""
    complete = transfer.batch < machine.transfers.batch - most
    lanes = transfer.lanes
    if not of_block and machine.mask is not None:
        lanes = machine.mask if lanes is None else lanes & machine.mask
    if isinstance(complete, np.ndarray):
        return complete if lanes is None else lanes & complete
    return lanes if complete else np.zeros((), bool)


def _rest(lanes: Any, done: Any) -> Any:
    if done is None:
        return np.zeros((), bool)
    return ~done if lanes is None else lanes & ~done


def fence(node: Fence) -> Closure:
    access, place = node.access, node.place

    def run(machine: Machine) -> int:
        machine.touch(access, -1, 0, place)
        return NORMAL

    return run


_COMPILED: Mapping[type[Instruction], Callable[..., Closure]] = {
    Atomic: _atomic_closure,
    Copy: _copy_closure,
    MatrixProduct: multiply_matrices,
    MoveMatrix: transpose_matrix,
    LoadMatrix: load_matrices,
    StoreMatrix: store_matrices,
}


# Barriers of a block: the sixteen that have numbers, of which __syncthreads() is 0, and mbarriers in shared memory.

NUMBERED = None  # in place of the memory of an mbarrier


class _State:
    """One barrier in each block: the ``expected`` and the ``arrived`` arrivals of this phase, the ``bytes`` of bulk copies that
    it waits for, the number of its ``phase``, each (blocks,), and the phase in which each thread arrived last, ``own`` (blocks,
    threads).
    """

    def __init__(self, blocks: int, threads: int) -> None:
        self.expected, self.arrived, self.bytes, self.phase = np.zeros((4, blocks), np.int64)
        self.own = np.full((blocks, threads), -1)

    def settle(self) -> None:
        """Begins the next phase in the blocks in which all arrivals have come."""
        while (done := (self.expected > 0) & (self.arrived >= self.expected) & (self.bytes == 0)).any():
            self.arrived[done] -= self.expected[done]
            self.phase[done] += 1


class Barriers:
    """The barriers of a run, by an mbarrier's memory and word, or by NUMBERED and the number."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._states: dict[Any, _State] = {}

    def each(self, memory: Memory | None, word: Any) -> Iterator[tuple[_State, Bools]]:
        """The barriers at which active lanes are, each with those lanes, (blocks, threads)."""
        lanes, words = self.active(), self.rows(word)
        for number in np.unique(words[lanes]).tolist():
            if (memory, number) not in self._states:
                self._states[memory, number] = _State(*lanes.shape)
            yield self._states[memory, number], lanes & (words == number)

    def active(self) -> Bools:
        """The active lanes, (blocks, threads)."""
        return np.asarray(self.rows(True if self._machine.mask is None else self._machine.mask))

    def rows(self, values: Any) -> Any:
        """Values over (blocks, threads)."""
        space = self._machine.space
        return np.broadcast_to(values, space.shape).reshape(space.blocks.count, space.threads_per_block)

    def arrive(self, state: _State, lanes: Bools, arrivals: Any, bytes_: Any = 0) -> None:
        """Lets lanes arrive. ``arrivals`` and ``bytes_``: of each lane."""
        state.own = np.where(lanes, state.phase[:, None], state.own)
        state.bytes += (lanes * self.rows(bytes_)).sum(axis=1)
        state.arrived += (lanes * self.rows(arrivals)).sum(axis=1)

    def meet(self, number: Any, count: Any) -> list[tuple[_State, Bools]]:
        """Lets the active lanes arrive at barriers with numbers. ``count``: the threads that meet there, None for all."""
        met = list(self.each(NUMBERED, number))
        for state, lanes in met:
            self.arrive(state, lanes, 1)
            state.expected = self._alive() if count is None else (lanes * self.rows(count)).max(axis=1)
            state.settle()
        return met

    def held(self, met: list[tuple[_State, Bools]], for_all: bool) -> Bools:
        """The lanes, (blocks, threads), whose phases at the barriers at which they have arrived aren't over."""
        held: Bools = np.zeros((), bool)
        for state, lanes in met:
            if for_all:  # threads that return are waited for no longer
                state.expected = self._alive()
                state.settle()
            held = held | (lanes & (state.own >= state.phase[:, None]))
        return held

    def _alive(self) -> Longs:
        gone = self._machine.exited
        return np.asarray((~self.rows(False if gone is None else gone)).sum(axis=1))

    def come(self, memory: Memory, word: Any, is_open: Callable[[], bool]) -> list[PendingCopy]:
        """Completes the copies that an mbarrier waits for until it is open. Returns those that have come."""
        come: list[PendingCopy] = []
        transfers = self._machine.transfers.under_way
        for transfer in [each for each in transfers if each.barrier is not None and each.barrier[0] is memory]:
            if is_open():
                break
            self._complete(transfer, self.rows(word), come)
        self._machine.transfers.under_way = [each for each in transfers if not is_empty(each.lanes)]
        return come

    def _complete(self, transfer: PendingCopy, waited: Any, come: list[PendingCopy]) -> None:
        """Completes a bulk copy, or all copies of some lanes with their arrival, at the words that are ``waited`` for."""
        machine, space = self._machine, self._machine.space
        words = self.rows(transfer.barrier[1])
        some = self.rows(True if transfer.lanes is None else transfer.lanes) & np.isin(words, np.unique(waited))
        lanes = some.reshape(space.shape)
        if transfer.parts:
            _complete_copy(machine, transfer, lanes, come)
        else:
            for each in machine.transfers.under_way[: machine.transfers.under_way.index(transfer)]:
                if each.barrier is None:
                    _complete_copy(machine, each, lanes if each.lanes is None else lanes & each.lanes, come)
            transfer.lanes = ~lanes if transfer.lanes is None else transfer.lanes & ~lanes
        outer, machine.mask = machine.mask, lanes
        for state, of in self.each(*transfer.barrier):
            state.bytes -= transfer.bytes * of.sum(axis=1)
            state.arrived += 0 if transfer.parts else of.sum(axis=1)
            state.settle()
        machine.mask = outer


def barrier_closure(node: Barrier, number: Closure | None, count: Closure | None) -> Statement:
    """The closure of a barrier of the block, or of a warp."""
    access, place, waits = node.access, node.place, node.waits

    def run(machine: Machine) -> int:
        at = 0 if number is None else number(machine)
        machine.touch(access, -1, at, place)
        if not node.waits_for_block:
            return NORMAL
        machine.epoch += waits
        if number is None and count is None and not machine.tracks.are_several:
            if machine.mask is not None:
                check_convergence(machine, place)
            return NORMAL
        barriers, size = machine.barriers, None if count is None else count(machine)
        met = barriers.meet(at, size)
        if waits:
            held = partial(barriers.held, met, size is None)
            machine.tracks.wait(machine, lambda: not held().any(), lambda: _held_fault(machine, place, held(), size is None))
        machine.tracks.end_turn(machine)
        return NORMAL

    return run


def _held_fault(machine: Machine, place: Place, held: Bools, for_all: bool = False) -> KernelFault:
    """The error for threads that are held at a barrier and that no other track can free."""
    others = (machine.barriers.active() & ~held).any(axis=1) & held.any(axis=1)
    if others.any():  # they would free those that are held, if they could go on alone
        message = tr("threads that are in the same place here wait for each other in turn: this is not supported")
        return machine.fault(message, place, remedy=tr("let their warps take different branches"), id="unsupported")
    if for_all:
        try:
            check_convergence(machine, place)
        except KernelFault as fault:
            return fault
    message = tr("this barrier never opens: fewer threads arrive than it waits for")
    return machine.fault(message, place, remedy=tr("let as many threads arrive as it counts"), id="divergent-barrier")


def mbarrier_closure(compiler: Compiling, node: Mbarrier) -> Statement:
    """The closure of an operation on an mbarrier."""
    access, place, kind, operate = node.access, node.place, access_type(node.at.type), _OPERATIONS[node.op]
    address, args = compiler.address(node.at.pointer), [compiler.domain.known(compiler, arg) for arg in node.args]

    def run(machine: Machine) -> int:
        memory, offset = address(machine)
        if not isinstance(memory, Memory) or memory.info.space != "shared":
            raise machine.fault(tr("an mbarrier lies in shared memory; {name} does not", name=memory.name), place)
        word = memory.checked(machine, offset, kind, place)
        given = [arg(machine) for arg in args]

        def touch() -> None:
            machine.touch(access, memory.number, memory.recorded(word, kind), place)

        operate(machine, memory, word, given, touch, place)
        machine.tracks.end_turn(machine)
        return NORMAL

    return run


_BarriersOperation = Callable[[Machine, Memory, Any, list[Any], Callable[[], None], Place], None]


def _init(machine: Machine, memory: Memory, word: Any, given: list[Any], touch: Callable[[], None], place: Place) -> None:
    touch()
    for state, lanes in machine.barriers.each(memory, word):
        blocks = lanes.any(axis=1)
        state.expected = np.where(blocks, (lanes * machine.barriers.rows(given[0])).max(axis=1), state.expected)
        state.phase[blocks] = state.arrived[blocks] = state.bytes[blocks] = 0


def _arrive(machine: Machine, memory: Memory, word: Any, given: list[Any], touch: Callable[[], None], place: Place) -> None:
    touch()
    for state, lanes in machine.barriers.each(memory, word):
        machine.barriers.arrive(state, lanes, *given)
        state.settle()


def _drop(machine: Machine, memory: Memory, word: Any, given: list[Any], touch: Callable[[], None], place: Place) -> None:
    _arrive(machine, memory, word, [1], touch, place)
    for state, lanes in machine.barriers.each(memory, word):
        state.expected -= lanes.sum(axis=1)


def _copies(machine: Machine, memory: Memory, word: Any, given: list[Any], touch: Callable[[], None], place: Place) -> None:
    touch()
    for state, lanes in machine.barriers.each(memory, word):
        machine.barriers.arrive(state, lanes, -int(given[0]))
    arrival = PendingCopy(-1, None, 0, [], None, machine.mask, 0, place, (memory, word))
    machine.transfers.under_way.append(arrival)


def _wait(machine: Machine, memory: Memory, word: Any, given: list[Any], touch: Callable[[], None], place: Place) -> None:
    barriers, come = machine.barriers, list[PendingCopy]()

    def held() -> Bools:
        found: Bools = np.zeros((), bool)
        for state, lanes in barriers.each(memory, word):
            phase = state.phase[:, None]
            found = found | (lanes & ((phase & 1) == barriers.rows(given[0]) if given else state.own >= phase))
        return found

    def is_open() -> bool:
        come.extend(barriers.come(memory, word, lambda: not held().any()))
        return not held().any()

    machine.tracks.wait(machine, is_open, lambda: _held_fault(machine, place, held()))
    touch()
    if come:
        machine.sink.completed(sorted({each.number for each in come}))


_OPERATIONS: Mapping[str, _BarriersOperation] = {
    "init": _init,
    "arrive": _arrive,
    "drop": _drop,
    "copies": _copies,
    "wait": _wait,
}
