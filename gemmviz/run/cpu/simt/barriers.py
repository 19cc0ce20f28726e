"""Barriers of a block: the sixteen that have numbers, of which __syncthreads() is 0, and mbarriers in shared memory.

Source: PTX ISA, Parallel Synchronization and Communication Instructions. A copy comes as late as it may: its arrival counts
once a thread waits for it.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from gemmviz.cuda.nodes import Barrier, Mbarrier
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.errors import KernelFault, Place
from gemmviz.model.translation import tr
from gemmviz.run.cpu.simt.instructions import complete
from gemmviz.run.cpu.simt.local import Compiling
from gemmviz.run.cpu.simt.machine import NORMAL, Closure, Machine, PendingCopy, Statement, check_convergence, is_empty
from gemmviz.run.cpu.simt.memory import Memory, access_type

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
            complete(machine, transfer, lanes, come)
        else:
            for each in machine.transfers.under_way[: machine.transfers.under_way.index(transfer)]:
                if each.barrier is None:
                    complete(machine, each, lanes if each.lanes is None else lanes & each.lanes, come)
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
            machine.tracks.wait(machine, lambda: not held().any(), lambda: _held(machine, place, held(), size is None))
        machine.tracks.end_turn(machine)
        return NORMAL

    return run


def _held(machine: Machine, place: Place, held: Bools, for_all: bool = False) -> KernelFault:
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


_Operation = Callable[[Machine, Memory, Any, list[Any], Callable[[], None], Place], None]


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

    machine.tracks.wait(machine, is_open, lambda: _held(machine, place, held()))
    touch()
    if come:
        machine.sink.completed(sorted({each.number for each in come}))


_OPERATIONS: Mapping[str, _Operation] = {"init": _init, "arrive": _arrive, "drop": _drop, "copies": _copies, "wait": _wait}
