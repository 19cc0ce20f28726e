"""What the variables of one thread hold at every step, from a run of its block."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.model.device import Device
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.model.lanes import LaneSpace, Triple, Window
from gemmviz.model.trace import AccessSink, Bools, Longs, Site
from gemmviz.run.executor import Phases, bound, within
from gemmviz.run.inputs import matrices
from gemmviz.run.simt.interpreter import interpret, never
from gemmviz.run.simt.memory import LocalMemory
from gemmviz.run.simt.values import Partial
from gemmviz.run.tee import Tee
from gemmviz.source.nodes import NamedSlot
from gemmviz.spec.legality import launch_for

Value = float | int | bool | str | tuple[Any, ...] | None


@dataclass(frozen=True)
class Watched:
    """``rows[step]`` holds the value of each of ``variables`` after that step: None before it has one, a tuple for an array or
    a vector, "A + 12" for a pointer.
    """

    variables: tuple[NamedSlot, ...]
    rows: tuple[tuple[Value, ...], ...]

    def at(self, step: int, site: Site) -> list[tuple[str, Value]]:
        """Names and values of the variables that can be seen where ``site`` is, after ``step``."""
        lines = [place.line for place in (site.place, *site.calls)]
        row = self.rows[step] if step < len(self.rows) else ()
        return [
            (variable.name, value)
            for variable, value in zip(self.variables, row, strict=False)
            if any(variable.first_line <= line <= variable.last_line for line in lines)
        ]


def watch_thread(
    spec: KernelSpec,
    settings: Settings,
    device: Device,
    block: Triple,
    thread: Triple,
    phases: Phases = None,
    cancelled: Callable[[], bool] = never,
) -> Watched:
    """Runs one block and notes the variables of one of its threads, after each step of these phases (default: all). Raises as
    ``trace_kernel`` does.
    """
    launch = launch_for(spec, settings, device)
    window = Window(*((at, at + 1) for at in block))
    binding = bound(spec, settings, launch, device)
    space = LaneSpace(launch, window, device.warp_size)
    data = matrices(settings.problem, {name: str(s.dtype) for name, s in binding.matrices}, settings.filling, cancelled)
    sink = _Notes(space, binding.program.variables, thread)
    chosen = _Chosen(sink)
    interpret(binding, space, Tee(sink, within(chosen, binding, phases)), data, cancelled=cancelled)
    rows = sink.finished()
    return Watched(binding.program.variables, tuple(rows[step] for step in chosen.steps))


class _Chosen(AccessSink):
    """Notes which of all steps get through to it."""

    def __init__(self, all_steps: "_Notes") -> None:
        self.all_steps = all_steps
        self.steps: list[int] = []

    def access(self, site: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int) -> None:
        self.steps.append(len(self.all_steps.rows) - 1)


class _Notes(AccessSink):
    """Notes before each access what the variables hold: what they hold after the access before.

    Where the thread took part in neither access, or has returned, others may have written to the slots: it holds what it held.
    """

    def __init__(self, space: LaneSpace, variables: tuple[NamedSlot, ...], thread: Triple) -> None:
        extents = zip(reversed(thread), reversed(space.launch.block), strict=True)
        self.lane = tuple(at for at, extent in extents if extent > 1)
        self.variables = variables
        self.machine: Any = None
        self.rows: list[tuple[Value, ...]] = []
        self.latest: tuple[Value, ...] = (None,) * len(variables)
        self.took_part = False

    def started(self, machine: Any) -> None:
        self.machine = machine

    def access(self, site: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int) -> None:
        takes_part = mask is None or bool(self._at(np.asarray(mask)))
        self._note(self.took_part or takes_part)
        self.took_part = takes_part

    def finished(self) -> tuple[tuple[Value, ...], ...]:
        self._note(self.took_part)
        return tuple(self.rows[1:])

    def _note(self, is_its_own: bool) -> None:
        exited = self.machine.exited
        if is_its_own and not (exited is not None and bool(self._at(np.asarray(exited)))):
            self.latest = tuple(self._value(self.machine.slots[variable.slot]) for variable in self.variables)
        self.rows.append(self.latest)

    def _value(self, value: Any) -> Value:
        match value:
            case None:
                return None
            case Partial(value=inner, written=written):
                return self._value(inner) if bool(self._at(written)) else None
            case (LocalMemory(values=values), _):
                return tuple(self._value(each) for each in values)
            case (memory, offset):
                return f"{memory.name} + {int(self._at(np.asarray(offset)))}"
            case list():
                return tuple(self._value(each) for each in value)
            case np.ndarray():
                found: Value = self._at(value).item()
                return found
            case np.generic():
                plain: Value = value.item()
                return plain
        return value  # type: ignore[no-any-return]

    def _at(self, value: Any) -> Any:
        """The lane's own of a value that may not vary along some axes."""
        return value[tuple(min(at, extent - 1) for at, extent in zip(self.lane, value.shape, strict=False))]
