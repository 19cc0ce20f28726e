"""Runs the warps (or the threads) of one block so that their accesses happen in a chosen order, without operating-system
threads.

Each unit is interpreted alone, from its first access to its last, and its log records the values that every access read and
stored. An order is consistent when each read in the logs gives the contents of memory at its turn. A unit with an inconsistent
read is interpreted again; before each of its accesses, the stores that the other logs have before that turn are put into
memory. The turns before the first inconsistent read are final, so each repetition makes at least one more turn consistent, and
the result depends on the order alone. An order in which no read changes needs no interpretation.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, structs

from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.messages import Cancelled, GemmvizError, checkpoint
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import Turn
from gemmviz.run.cpu.executor import inputs
from gemmviz.run.cpu.simt.interpret import Binding, interpret
from gemmviz.run.cpu.simt.memory import GlobalMemory, SharedMemory


class Event(Struct, frozen=True):
    """One turn of a unit and its effect on memory. ``waits``: it is a barrier that holds this unit; ``array``: number of the
    array, -1 for none; ``read``: bytes of the ``cells`` before it, None for a store; ``stored``: their values after it, None
    for a load.
    """

    turn: Turn
    waits: bool
    array: int
    cells: Longs
    read: bytes | None = None
    stored: Any = None


class Log(Struct, frozen=True):
    """All events of one unit, the error that ended it, and the steps that store something."""

    events: tuple[Event, ...] = ()
    error: GemmvizError | None = None
    stores: tuple[int, ...] = ()

    def stores_at(self, places: list[int]) -> Iterator[tuple[int, Event]]:
        """The events that store something, with their places in an order; ``places``: those of all turns of this unit."""
        return ((places[step], self.events[step]) for step in self.stores if step < len(places))


class Stored(Struct, frozen=True):
    """The elements of C that a block stored, ascending, and their values as float64."""

    elements: Longs
    values: Any

    def agrees_with(self, other: "Stored") -> bool:
        return np.array_equal(self.elements, other.elements) and np.allclose(
            self.values, other.values, rtol=1e-5, atol=1e-6, equal_nan=True
        )


class Slot(NamedTuple):
    """A turn in an order: a step of a unit, the number of common barriers before it, and of the unit's steps since the last."""

    unit: int
    step: int
    epoch: int
    since: int


class Lead(Struct, frozen=True):
    """An order in which the unit ``ahead`` keeps up to ``steps`` steps ahead of all others, counted since the last common
    barrier, in one epoch and through its step ``until``.
    """

    ahead: int
    epoch: int
    steps: int
    until: int


def schedule(logs: list[Log], lead: Lead | None) -> Iterator[Slot]:
    """Turns in lockstep, apart from the lead: whichever unit has made the fewest steps since the last common barrier is next.
    At a barrier all units wait until every unit that still runs has reached one.
    """
    done, since, epoch = [0] * len(logs), [0] * len(logs), 0
    held = [bool(log.events) and log.events[0].waits for log in logs]
    alive = [unit for unit, log in enumerate(logs) if log.events]
    while alive:
        free = [unit for unit in alive if not held[unit]]
        if not free:
            free, epoch = list(alive), epoch + 1
            for each in alive:
                held[each], since[each] = False, 0
        unit = min(free, key=since.__getitem__)
        if lead is not None and epoch == lead.epoch and lead.ahead in free and done[lead.ahead] <= lead.until:
            least = min((since[each] for each in free if each != lead.ahead), default=since[lead.ahead])
            unit = lead.ahead if since[lead.ahead] < least + lead.steps else unit
        yield Slot(unit, done[unit], epoch, since[unit])
        done[unit] += 1
        since[unit] += 1
        if done[unit] == len(logs[unit].events):
            alive.remove(unit)
        else:
            held[unit] = logs[unit].events[done[unit]].waits


class Interleaving:
    """One block whose units run in any order of turns. ``lanes``: the threads of each unit, over the axes of the thread
    space.
    """

    def __init__(self, binding: Binding, space: ThreadSpace, lanes: list[Bools]) -> None:
        self._binding, self._space, self._lanes = binding, space, lanes
        self._data = inputs(binding)
        self._logs: list[Log] = []
        self._written: set[int] = set()  # numbers of the arrays that any unit has stored into

    def play(self, lead: Lead | None = None) -> tuple[Stored, list[Turn]]:
        """Elements of C that the block stores, and all turns in their order: in lockstep, apart from the ``lead``. Raises
        Cancelled, GemmvizError for a kernel that fails in this order.
        """
        if not self._logs:
            self._begin()
        while True:
            order, stale, memory = self._checked(lead)
            if not stale:
                break
            for unit in stale:
                self._logs[unit] = self._run(unit, order)
        self._raise_first_error(order)
        return self._stored(memory), [self._logs[unit].events[step].turn for unit, step, *_ in order]

    def with_cells(self, turn: Turn) -> Turn:
        """A turn of the order that was played last, with the elements that it touches in shared memory."""
        event = self._logs[turn.unit].events[turn.step]
        if event.array < 0 or self._binding.arrays[event.array].space != "shared":
            return turn
        return structs.replace(turn, cells=tuple(np.unique(event.cells).tolist()))

    def lockstep(self) -> Iterator[tuple[Slot, Event]]:
        """The turns in lockstep with what they touch, right after they were played."""
        for slot in self._turns(None):
            yield slot, self._logs[slot.unit].events[slot.step]

    def _begin(self) -> None:
        """Creates the first logs; the turns of the first unit serve as a guess for those of the others."""
        first = self._run(0, [])
        guess = Log(tuple(structs.replace(each, array=-1, read=None, stored=None) for each in first.events))
        self._logs = [first, *[guess] * (len(self._lanes) - 1)]
        order = list(self._turns(None))
        for unit in range(1, len(self._lanes)):
            self._logs[unit] = self._run(unit, order)

    def _run(self, unit: int, order: list[Slot]) -> Log:
        """The log of a unit, interpreted with the stores of the others at their turns in ``order``."""
        sink = _Unit(unit, self._lanes[unit], self._binding, _stores(self._logs, order, unit))
        error = None
        try:
            interpret(self._binding, self._space, sink, self._data, wants_values=True)
        except Cancelled:
            raise
        except GemmvizError as wrong:
            error = wrong
        finally:
            sink.restore()
        self._written |= {each.array for each in sink.events if each.stored is not None}
        stores = tuple(step for step, each in enumerate(sink.events) if each.stored is not None)
        return Log(tuple(sink.events), error, stores)

    def _checked(self, lead: Lead | None) -> tuple[list[Slot], list[int], dict[int, Any]]:
        """The order that the logs give, the units with an inconsistent read in it, and the final memory."""
        order: list[Slot] = []
        stale: set[int] = set()
        memory = {number: self._initial(number) for number in self._written}
        for slot in self._turns(lead):
            order.append(slot)
            unit, event = slot.unit, self._logs[slot.unit].events[slot.step]
            if event.array not in memory:
                continue
            held = memory[event.array]
            if event.read is not None and held[event.cells].tobytes() != event.read:
                stale.add(unit)
            if event.stored is not None:
                held[event.cells] = event.stored
        return order, sorted(stale), memory

    def _turns(self, lead: Lead | None) -> Iterator[Slot]:
        """The schedule of the logs. Raises Cancelled."""
        for turn in schedule(self._logs, lead):
            checkpoint()
            yield turn

    def _initial(self, number: int) -> Any:
        """A copy of the initial contents of an array, flat. Shared memory is initially zero."""
        array = self._binding.arrays[number]
        if array.space == "global":
            return np.array(self._data[array.name]).view(array.element.stored)
        return np.zeros(array.size, array.element.stored)

    def _raise_first_error(self, order: list[Slot]) -> None:
        last = {unit: place for place, (unit, *_) in enumerate(order)}
        failed = [unit for unit, log in enumerate(self._logs) if log.error is not None]
        error = self._logs[min(failed, key=lambda unit: last.get(unit, -1))].error if failed else None
        if error is not None:
            raise error

    def _stored(self, memory: dict[int, Any]) -> Stored:
        number = self._binding.number(self._binding.setup.problem.output_names[0])
        stores = [each.cells for log in self._logs for each in log.events if each.array == number and each.stored is not None]
        elements = np.unique(np.concatenate(stores)) if stores else np.zeros(0, np.int64)
        element = self._binding.arrays[number].element
        values = element.numbers(memory[number][elements] if stores else np.zeros(0, element.stored))
        return Stored(elements, values)


def _stores(logs: list[Log], order: list[Slot], reader: int) -> Iterator[list[Event]]:
    """For each turn that ``order`` gives a unit: the stores of the others since its turn before."""
    places: list[list[int]] = [[] for _ in logs]
    for place, slot in enumerate(order):
        places[slot.unit].append(place)
    others = (unit for unit in range(len(logs)) if unit != reader)
    stores = deque(sorted((each for unit in others for each in logs[unit].stores_at(places[unit])), key=itemgetter(0)))
    for place in places[reader] if order else ():
        since = []
        while stores and stores[0][0] < place:
            since.append(stores.popleft()[1])
        yield since
    rest = [event for _, event in stores]
    while True:
        yield rest
        rest = []


class _Unit(AccessSink):
    """Records the run of one unit: only its lanes are active. ``stores``: the stores to put into memory before each access."""

    def __init__(self, number: int, lanes: Bools, binding: Binding, stores: Iterable[list[Event]]) -> None:
        self.number, self.lanes, self.binding = number, lanes, binding
        self.waits_for_warp = int(lanes.sum()) == 1  # a unit that is a single thread waits at barriers of warps, too
        self.events: list[Event] = []
        self._sites: list[Site] = []
        self._stores = iter(stores)
        self._memories: dict[int, GlobalMemory | SharedMemory] = {}
        self._before: list[tuple[int, Longs, Any]] = []  # the overwritten values

    def started(self, machine: Any) -> None:
        machine.mask, machine.exited = self.lanes, ~self.lanes
        for value in machine.slots:
            if isinstance(value, tuple) and value and isinstance(value[0], GlobalMemory | SharedMemory):
                self._memories[value[0].number] = value[0]
                if isinstance(value[0], SharedMemory):
                    value[0].complete = True  # unwritten elements have their initial contents, here zeros

    def site(self, site: Site) -> None:
        self._sites.append(site)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        if self._sites[site].kind == "branch":
            return
        self._settle()
        for event in next(self._stores):
            self._note(event.array, event.cells)
            self._held(event.array)[event.cells] = event.stored
        where = self._sites[site]
        operand = where.operand(place)
        if operand is None:
            waits = where.is_barrier if self.waits_for_warp else where.kind == "barrier"
            turn = Turn(self.number, len(self.events), where.place.line, "wait", "", "")
            self.events.append(Event(turn, waits, -1, np.zeros(0, np.int64)))
        else:
            lanes = self.lanes if mask is None else self._spread(self.lanes & mask)
            elements = self._spread(offset)[lanes]
            self.events.append(self._event(where, operand, elements, np.flatnonzero(lanes)))

    def _spread(self, values: Any) -> Any:
        """Values over all axes of the thread space."""
        values = np.asarray(values)
        return values if values.shape == self.lanes.shape else np.broadcast_to(values, self.lanes.shape)

    def _event(self, site: Site, operand: Operand, elements: Longs, threads: Longs) -> Event:
        """The turn in which ``threads`` access ``elements``; stored values are added after it."""
        array = self.binding.arrays[operand.array]
        cells = elements if operand.width == 1 else operand.layout.spread(elements, threads).ravel()
        cells = cells[(cells >= 0) & (cells < array.size)]
        named = array.subscripted(int(elements[0])) if len(elements) == 1 else array.name
        turn = Turn(self.number, len(self.events), site.place.line, operand.access, named, array.name)
        reads, writes = operand.access == "read" or site.is_atomic, operand.access == "write"
        if writes:
            self._note(operand.array, cells)
        before = self._held(operand.array)[cells].tobytes() if reads else None
        return Event(turn, False, operand.array, cells, before, cells if writes else None)

    def value(self, value: Any) -> None:
        flat = self._spread(np.asarray(value, np.float64))[self.lanes]
        last = self.events[-1]
        self.events[-1] = structs.replace(last, turn=structs.replace(last.turn, value=float(flat.sum())))

    def ended(self) -> None:
        self._settle()

    def restore(self) -> None:
        """Undoes all stores, so that the matrices have their initial contents again."""
        for array, cells, values in reversed(self._before):
            self._held(array)[cells] = values

    def _settle(self) -> None:
        """Records the values that the latest access stored."""
        if self.events and self.events[-1].stored is not None:
            last = self.events[-1]
            self.events[-1] = structs.replace(last, stored=self._held(last.array)[last.cells])

    def _note(self, array: int, cells: Longs) -> None:
        self._before.append((array, cells, self._held(array)[cells]))

    def _held(self, array: int) -> Any:
        """The elements of an array, flat and writable."""
        return self._memories[array].elements()
