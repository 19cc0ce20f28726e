"""Positions in a kernel's expanded text at which the instrumented twin inserts its code."""

from dataclasses import dataclass, field

from gemmviz.model.errors import Place


@dataclass(slots=True)
class FunctionPlaces:
    """Calls and definitions of inlined functions, by the offset just inside their parentheses.

    ``calls``: whether arguments follow there, and the place of the call. ``definitions``: whether parameters follow, the
    offset just inside the body, and the half-open range of the whole definition, with its ``template`` line.
    """

    calls: dict[int, tuple[bool, Place]] = field(default_factory=dict)
    definitions: dict[int, tuple[bool, int, tuple[int, int]]] = field(default_factory=dict)

    def __copy__(self) -> "FunctionPlaces":
        return FunctionPlaces(dict(self.calls), dict(self.definitions))


@dataclass(frozen=True, slots=True)
class TwinLayout:
    """Positions of the twin's insertions, as character offsets in the expanded text.

    ``body_start`` is just inside the kernel's body; ``launchers`` are the half-open ranges of host functions that launch
    kernels.
    """

    body_start: int
    functions: FunctionPlaces
    launchers: tuple[tuple[int, int], ...]
