"""A kernel as small typed nodes: names resolved, constants folded, ``__device__`` functions put in at their calls.

Nothing after this knows the parser. A slot is a numbered variable of the kernel; every access to global or shared
memory carries the number of its ``AccessPlace``.
"""

from dataclasses import dataclass, field
from typing import Literal

from gemmviz.model.errors import Place
from gemmviz.model.trace import phase_loop
from gemmviz.source.expanded import ExpandedSource
from gemmviz.source.types import AddressSpace, CType, PointerType, Scalar, VectorType

Number = int | float | bool


@dataclass(frozen=True, slots=True)
class Const:
    type: Scalar
    value: Number


@dataclass(frozen=True, slots=True)
class Index:
    """threadIdx or blockIdx along x, y or z (0, 1, 2)."""

    type: Scalar
    of_block: bool
    axis: int


@dataclass(frozen=True, slots=True)
class Extent:
    """blockDim or gridDim along an axis."""

    type: Scalar
    of_grid: bool
    axis: int


@dataclass(frozen=True, slots=True)
class Read:
    """A variable. ``checked``: it may be read before it was written."""

    type: CType
    slot: int
    name: str
    checked: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Base:
    """The first element of a shared or local array."""

    type: PointerType
    slot: int


@dataclass(frozen=True, slots=True)
class Offset:
    """``pointer + index * scale``, in elements of the pointer's own type."""

    type: CType
    pointer: "Expr"
    index: "Expr"
    scale: int


@dataclass(frozen=True, slots=True)
class Reinterpret:
    """The same address seen as another type."""

    type: PointerType
    pointer: "Expr"
    place: Place


@dataclass(frozen=True, slots=True)
class Deref:
    """What a pointer points to. ``access`` is None for local memory, and while it is not yet read or written."""

    type: Scalar | VectorType
    pointer: "Expr"
    place: Place
    access: int | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """Component ``index`` of a float4 or the like."""

    type: Scalar
    of: "Expr"
    index: int
    place: Place


@dataclass(frozen=True, slots=True)
class MakeVector:
    type: VectorType
    parts: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Unary:
    type: Scalar
    op: str
    operand: "Expr"


@dataclass(frozen=True, slots=True)
class Binary:
    """Both operands already have the type that the operation works in; a comparison gives bool."""

    type: Scalar
    op: str
    left: "Expr"
    right: "Expr"
    place: Place


@dataclass(frozen=True, slots=True)
class PointerDifference:
    type: Scalar
    left: "Expr"
    right: "Expr"
    place: Place


@dataclass(frozen=True, slots=True)
class Logic:
    """&& or ||: the right side runs only where the left one doesn't decide."""

    type: Scalar
    op: Literal["&&", "||"]
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True)
class Select:
    type: CType
    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"


@dataclass(frozen=True, slots=True)
class Convert:
    type: Scalar
    operand: "Expr"


@dataclass(frozen=True, slots=True)
class Assign:
    """``target = value`` or, with ``op``, ``target = convert(target op value)`` in the type ``within``.

    ``store`` is the access of the write; the target's own is that of the read. ``gives_old``: postfix ++ and --.
    """

    type: CType
    target: "Expr"
    value: "Expr"
    op: str | None
    within: Scalar | None
    store: int | None
    gives_old: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """An intrinsic."""

    type: CType
    name: str
    args: tuple["Expr", ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Inline:
    """A ``__device__`` function at its call: parameters are bound in order, then the body runs."""

    type: CType
    bindings: tuple[tuple[int, "Expr"], ...]
    body: "Block"
    result: int | None
    place: Place


@dataclass(frozen=True, slots=True)
class Sequence:
    """The comma: all run, the last one counts."""

    type: CType
    parts: tuple["Expr", ...]


Expr = (
    Const | Index | Extent | Read | Base | Offset | Reinterpret | Deref | Component | MakeVector | Unary | Binary
    | PointerDifference | Logic | Select | Convert | Assign | Call | Inline | Sequence
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Declare:
    """A variable comes to life, with or without a value."""

    slot: int
    value: Expr | None


@dataclass(frozen=True, slots=True)
class DeclareArray:
    """A local array comes to life. ``values`` are its first elements, the rest is zero; None leaves it unwritten."""

    slot: int
    name: str
    element: Scalar | VectorType
    size: int
    values: tuple[Expr, ...] | None


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression for its effect."""

    expression: Expr


@dataclass(frozen=True, slots=True)
class Block:
    statements: tuple["Stmt", ...]


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: "Stmt"
    otherwise: "Stmt | None"


@dataclass(frozen=True, slots=True)
class Loop:
    """for, while and do; ``tests_first`` is false for do."""

    number: int
    condition: Expr | None
    step: Expr | None
    body: "Stmt"
    tests_first: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Unrolled:
    """A loop whose counter ``slot`` takes these values and nothing else changes it: each trip is compiled by itself."""

    slot: int
    values: tuple[int, ...]
    loop: Loop


@dataclass(frozen=True, slots=True)
class Break:
    pass


@dataclass(frozen=True, slots=True)
class Continue:
    pass


@dataclass(frozen=True, slots=True)
class Return:
    """``slot`` takes the value of an inlined function."""

    slot: int | None
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Barrier:
    """__syncthreads() or, where it doesn't wait for the whole block, __syncwarp()."""

    access: int
    place: Place
    waits_for_block: bool


Stmt = Declare | DeclareArray | Evaluate | Block | If | Loop | Unrolled | Break | Continue | Return | Barrier


@dataclass(frozen=True, slots=True)
class AccessPlace:
    """One place of the source that touches memory, or a barrier. ``calls`` are the calls that it was inlined through.

    ``range`` is its half-open range of characters in the expanded text; ``whole``, of a store, that of its assignment.
    """

    kind: Literal["load", "store", "barrier", "warp barrier"]
    space: AddressSpace | None
    place: Place
    text: str
    width: int
    loops: tuple[int, ...]
    calls: tuple[Place, ...]
    range: tuple[int, int] = field(compare=False)
    statement: Place | None = None
    whole: tuple[int, int] = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class SharedArray:
    """``dims`` is None for ``extern __shared__``: the launch says how much there is. ``end``: where its declaration ends, as a
    character of the expanded text.
    """

    slot: int
    name: str
    element: Scalar | VectorType
    dims: tuple[int, ...] | None
    place: Place
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class LoopPlace:
    """A loop of the source: the loop around it (or -1) and whether a barrier is in it.

    ``start`` and ``condition`` (start and end; empty where there is none) are characters of the expanded text.
    """

    number: int
    outer: int
    place: Place
    holds_barrier: bool
    start: int = field(compare=False)
    condition: tuple[int, int] = field(compare=False)
    tests_first: bool = True


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    slot: int
    name: str
    type: CType


@dataclass(frozen=True, slots=True)
class NamedSlot:
    """A variable of the source, and the lines from its declaration to the end of its scope."""

    slot: int
    name: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the twin's additions go, as characters of the expanded text: just inside the kernel's body, and what its
    ``Functions`` say. ``launchers`` are the ranges of host functions that launch kernels.
    """

    body_start: int
    functions: "Functions"
    launchers: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Functions:
    """Where inlined functions are called and defined: just inside the parentheses, and whether something follows there. A call
    has a place, a definition the character just inside its body and the range of the whole, from ``template`` on.
    """

    calls: dict[int, tuple[bool, Place]] = field(default_factory=dict)
    definitions: dict[int, tuple[bool, int, tuple[int, int]]] = field(default_factory=dict)

    def __copy__(self) -> "Functions":
        return Functions(dict(self.calls), dict(self.definitions))


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """One kernel, ready to run; equal to itself only. ``notes`` are sentences about what is ignored; ``held``: how many values
    a thread may hold, in variables and in arrays of its own.
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
    layout: Layout
    source: ExpandedSource = field(repr=False)

    @property
    def phase_loop(self) -> int:
        """As ``Trace.phase_loop``, known before anything runs."""
        loads = (a.loops for a in self.accesses if a.kind == "load" and a.space == "global")
        return phase_loop([loop.holds_barrier for loop in self.loops], loads)
