"""The engine that needs no GPU: the lockstep interpreter on the CPU."""

from contextlib import suppress
from typing import Any

import numpy as np

from gemmviz.cuda.launch.legality import device_for
from gemmviz.cuda.nodes import NamedSlot, Program
from gemmviz.cuda.walk import variables_of_accesses
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.messages import KernelFault, SettingError
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink, Tee
from gemmviz.model.threads import BlockRange, ThreadSpace, Triple
from gemmviz.model.trace import VariableValue, Watched, WatchedVariable
from gemmviz.run.cpu.executor import bound, inputs, requested_phases, stream_launch, trace_kernel, within
from gemmviz.run.cpu.simt.interpret import interpret
from gemmviz.run.cpu.simt.local import LocalMemory
from gemmviz.run.cpu.simt.values import Partial
from gemmviz.run.engine import CountRequest, Engine, EngineRequest, RaceRequest, TraceRequest, WatchRequest


class Interpreter(Engine):
    """An engine that traces, counts, watches and searches for races. Times and schedules need a GPU."""

    name = "the interpreter"

    def answer(self, request: EngineRequest) -> Any:
        match request:
            case TraceRequest(setup, blocks, recording):
                return trace_kernel(setup, blocks, recording)
            case CountRequest(setup, counter):
                return stream_launch(setup, counter)
            case WatchRequest(setup, block, thread):
                return watch_thread(setup, block, thread)
            case RaceRequest(setup, block, title):
                from gemmviz.run.cpu.race import race_of  # imported here: a run needs none of it

                return race_of(setup, block, title)
        raise self.cannot(request)


# Values of the variables of one thread, from a run of its block.


def watch_thread(setup: Setup, block: Triple, thread: Triple) -> Watched:
    """Runs one block and records the variables of one of its threads at each step of the setup's phases, up to the last one if
    the kernel faults.

    Raises the errors of ``trace_kernel``.
    """
    binding = bound(setup)
    blocks = BlockRange(*((at, at + 1) for at in block))
    space = ThreadSpace(binding.launch, blocks, device_for(setup).rules.warp_size)
    data = inputs(binding)
    sink = _Notes(space, binding.program.variables, thread)
    chosen = _Chosen(sink)
    with suppress(KernelFault):
        interpret(binding, space, Tee(sink, within(chosen, binding, requested_phases(binding))), data)
    rows, steps = sink.rows, chosen.steps
    before = {at: rows[step] for at, step in enumerate(steps) if not at or step != steps[at - 1] + 1}
    return Watched(_watched_variables(binding.program), tuple(rows[step + 1] for step in steps), before)


def _watched_variables(program: Program) -> tuple[WatchedVariable, ...]:
    """The variables of the source, with the places of what they receive and of what is stored of them."""
    loads, stores = (
        {each.slot: tuple(program.accesses[access].place for access, slots in moved.items() if each.slot in slots)
         for each in program.variables}
        for moved in variables_of_accesses(program)
    )  # fmt: skip
    return tuple(
        WatchedVariable(each.name, each.first_line, each.last_line, loads[each.slot], stores[each.slot])
        for each in program.variables
    )


_MOST_NOTED = 256  # elements of an array; one more marks a longer array
_MOST_VALUES = 40_000_000


class _Chosen(AccessSink):
    """Numbers the steps that pass a filter."""

    def __init__(self, all_steps: "_Notes") -> None:
        self.all_steps = all_steps
        self.steps: list[int] = []

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        if place == 0:
            self.steps.append(len(self.all_steps.rows) - 1)


class _Notes(AccessSink):
    """Records, before each access, the values of the variables, which are those after the access before.

    If the thread took part in neither access, or has returned, other threads may have written to the slots, and its previous
    values are kept.
    """

    def __init__(self, space: ThreadSpace, variables: tuple[NamedSlot, ...], thread: Triple) -> None:
        extents = zip(reversed(thread), reversed(space.launch.block), strict=True)
        self.place = tuple(at for at, extent in extents if extent > 1)
        self.variables = variables
        self.machine: Any = None
        self.rows: list[tuple[VariableValue, ...]] = []
        self.latest: tuple[VariableValue, ...] = (None,) * len(variables)
        self.took_part = False

    def started(self, machine: Any) -> None:
        self.machine = machine

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        if place:
            return
        takes_part = mask is None or bool(self._at(np.asarray(mask)))
        self._note(self.took_part or takes_part)
        self.took_part = takes_part

    def ended(self) -> None:
        self._note(self.took_part)
        self.machine = None

    def _note(self, is_its_own: bool) -> None:
        exited = self.machine.exited
        if is_its_own and not (exited is not None and bool(self._at(np.asarray(exited)))):
            self.latest = tuple(self._value(self.machine.slots[variable.slot]) for variable in self.variables)
        self.rows.append(self.latest)
        if len(self.rows) * len(self.variables) > _MOST_VALUES:
            message = f"{len(self.variables):,} variables over more than {len(self.rows):,} steps are too many to be followed"
            raise SettingError(message, names=("phases",), remedy="choose some phases")

    def _value(self, value: Any) -> VariableValue:
        match value:
            case None:
                return None
            case np.ndarray():  # first: some versions of NumPy would take an array for a sequence like a pair
                number: VariableValue = self._at(value).item()
                return number
            case Partial(value=inner, written=written):
                return self._value(inner) if bool(self._at(written)) else None
            case list():  # a vector; before the pairs, for which two components would be taken
                return tuple(self._value(each) for each in value)
            case (LocalMemory(values=values), _):
                return tuple(self._value(each) for each in values[: _MOST_NOTED + 1])
            case (memory, offset):
                return f"{memory.name} + {int(self._at(np.asarray(offset)))}"
            case np.generic():
                plain: VariableValue = value.item()
                return plain
        return value  # type: ignore[no-any-return]

    def _at(self, value: Any) -> Any:
        """This thread's element of a value that may be constant along some axes."""
        return value[tuple(min(at, extent - 1) for at, extent in zip(self.place, value.shape, strict=False))]
