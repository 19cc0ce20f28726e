"""Values of one thread's variables at every step."""

from typing import Any

from msgspec import Struct

from gemmviz.model.sites import Site

VariableValue = float | int | bool | str | tuple[Any, ...] | None


class WatchedVariable(Struct, frozen=True):
    """A variable of the source, and the lines from its declaration to the end of its scope."""

    name: str
    first_line: int
    last_line: int


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
