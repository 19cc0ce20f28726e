"""Result of a run: a trace, a fault with the trace up to it, or a fault alone."""

from typing import Any

from msgspec import Struct

from gemmviz.model.errors import GemmvizError, KernelFault, Place
from gemmviz.model.sites import Site
from gemmviz.model.trace import Trace


class Outcome(Struct, frozen=True):
    """``trace``: the record, None if the kernel stopped before its first access. ``fault``: why it stopped.

    ``by``: the engine that ran it, as in the trace. ``instead_of``: the error of the engine that was tried first.
    """

    trace: Trace | None
    by: str
    fault: KernelFault | None = None
    instead_of: GemmvizError | None = None

    @property
    def whole(self) -> Trace:
        """The trace of a complete run. Raises the fault of one that stopped early."""
        if self.fault is not None:
            raise self.fault
        assert self.trace is not None
        return self.trace


# Values of one thread's variables at every step.

VariableValue = float | int | bool | str | tuple[Any, ...] | None


class WatchedVariable(Struct, frozen=True):
    """A variable of the source, and the lines from its declaration to the end of its scope. ``loads``: the places of the sites
    whose values it receives; ``stores``: those of the sites that store a value that is computed of it.
    """

    name: str
    first_line: int
    last_line: int
    loads: tuple[Place, ...] = ()
    stores: tuple[Place, ...] = ()


class Watched(Struct, frozen=True):
    """``rows[step]`` holds the value of each of ``variables`` after that step: None before its first value, a tuple for an
    array or a vector, "A + 12" for a pointer.
    """

    variables: tuple[WatchedVariable, ...]
    rows: tuple[tuple[VariableValue, ...], ...]

    def at(self, step: int, site: Site) -> list[tuple[str, VariableValue]]:
        """Names and values after ``step`` of the variables in scope at ``site``."""
        lines = [place.line for place in (site.place, *site.calls)]
        row = self.rows[step] if step < len(self.rows) else ()
        return [
            (variable.name, value)
            for variable, value in zip(self.variables, row, strict=False)
            if any(variable.first_line <= line <= variable.last_line for line in lines)
        ]
