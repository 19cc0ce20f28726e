"""A kernel's program: its body as typed nodes, with tables of what the nodes number."""

from typing import Literal

from msgspec import Struct

from gemmviz.cuda.nodes import Block
from gemmviz.cuda.types import AddressSpace, CType, Scalar, StructType, VectorType
from gemmviz.model.errors import Place
from gemmviz.model.phases import phase_loop
from gemmviz.model.site_kinds import SiteKind


class AccessPlace(Struct, frozen=True):
    """A place in the source that accesses memory or synchronises. ``calls`` are the calls through which it was inlined.

    ``space`` of a copy is that of its target. ``is_async`` and ``visible_to`` are those of the site.
    """

    kind: SiteKind
    space: AddressSpace | None
    place: Place
    text: str
    width: int
    loops: tuple[int, ...]
    calls: tuple[Place, ...]
    statement: Place | None = None
    is_async: bool = False
    visible_to: Literal["thread", "block", "grid"] = "thread"


class SharedArray(Struct, frozen=True):
    """A shared array. ``dims`` is None for ``extern __shared__``, whose size is in the launch."""

    slot: int
    name: str
    element: Scalar | VectorType | StructType
    dims: tuple[int, ...] | None
    place: Place


class LoopPlace(Struct, frozen=True):
    """A loop of the source: the number of the loop around it (or -1), and whether it contains a barrier."""

    number: int
    outer: int
    place: Place
    holds_barrier: bool
    tests_first: bool = True


class FunctionParameter(Struct, frozen=True):
    """A number or pointer that a kernel gets from outside. ``argument`` is the index of the ``KernelArgument`` that it is part
    of, ``offset`` the bytes in front of it there. A member of a struct is named "A.width".
    """

    slot: int
    name: str
    type: CType
    argument: int = 0
    offset: int = 0


class KernelArgument(Struct, frozen=True):
    """What the kernel in the file gets from outside, a whole struct for example: its bytes, and for a ``__constant__`` or
    ``__device__`` variable without a value its name. ``is_array``: it holds the contents of an array, to which its parameter is
    a pointer.
    """

    bytes: int
    symbol: str = ""
    is_array: bool = False


class NamedSlot(Struct, frozen=True):
    """A variable of the source, and the lines from its declaration to the end of its scope."""

    slot: int
    name: str
    first_line: int
    last_line: int


class HostCode(Struct, frozen=True):
    """A function that runs on the host: its place in ``file``, a name in the project, or "" for the kernel's own file."""

    place: Place
    file: str = ""


class Program(Struct, frozen=True, eq=False):
    """A kernel in executable form, equal to itself only. ``notes`` are sentences about ignored code; ``held`` is the number of
    values that a thread may hold, in variables and in arrays of its own. ``opening``: the place where the kernel's body begins.
    ``parameters`` are flat: one for each number and pointer in the ``arguments``.
    """

    name: str
    parameters: tuple[FunctionParameter, ...]
    body: Block
    slots: int
    accesses: tuple[AccessPlace, ...]
    loops: tuple[LoopPlace, ...]
    shared: tuple[SharedArray, ...]
    variables: tuple[NamedSlot, ...]
    notes: tuple[str, ...]
    held: int
    opening: Place
    host_code: tuple[HostCode, ...] = ()
    arguments: tuple[KernelArgument, ...] = ()

    @property
    def phase_loop(self) -> int:
        """Number of the phase loop, as in ``Trace.phase_loop``, but known before a run."""
        loads = (a.loops for a in self.accesses if a.kind == "load" and a.space == "global")
        return phase_loop([loop.holds_barrier for loop in self.loops], loads)
