"""Typed nodes of a kernel: names resolved, constants folded, ``__device__`` functions inlined.

Later stages don't know the parser. A slot is a numbered variable of the kernel; every access to global or shared memory carries
the number of its ``AccessPlace``.
"""

from typing import Literal

from msgspec import Struct

from gemmviz.cuda.types import CType, PointerType, Scalar, StructType, VectorType
from gemmviz.model.errors import Place

Number = int | float | bool


class Const(Struct, frozen=True):
    type: Scalar
    value: Number


class Index(Struct, frozen=True):
    """A component of threadIdx or blockIdx: x, y or z as 0, 1 or 2."""

    type: Scalar
    of_block: bool
    axis: int


class Extent(Struct, frozen=True):
    """A component of blockDim or gridDim."""

    type: Scalar
    of_grid: bool
    axis: int


class Read(Struct, frozen=True):
    """A read of a variable. ``checked``: it may be uninitialised."""

    type: CType
    slot: int
    name: str
    checked: bool
    place: Place


class Base(Struct, frozen=True):
    """A pointer to the first element of a shared or local array."""

    type: PointerType
    slot: int


class Offset(Struct, frozen=True):
    """``pointer + index * scale``, in units of the type that is pointed to: the scale of a float4 is 4, that of a struct its
    bytes divided by those of its smallest scalar.
    """

    type: CType
    pointer: "Expr"
    index: "Expr"
    scale: int


class Reinterpret(Struct, frozen=True):
    """The same address as a pointer to another type."""

    type: PointerType
    pointer: "Expr"
    place: Place


class Deref(Struct, frozen=True):
    """The target of a pointer. ``access`` is None for local memory, and before it is known whether it is read or written."""

    type: Scalar | VectorType
    pointer: "Expr"
    place: Place
    access: int | None = None


class Component(Struct, frozen=True):
    """Component ``index`` of a vector such as float4."""

    type: Scalar
    of: "Expr"
    index: int
    place: Place


class MakeVector(Struct, frozen=True):
    type: VectorType
    parts: tuple["Expr", ...]


class Unary(Struct, frozen=True):
    type: Scalar
    op: str
    operand: "Expr"


class Binary(Struct, frozen=True):
    """A binary operation. Both operands have the type in which it is computed; a comparison gives bool."""

    type: Scalar
    op: str
    left: "Expr"
    right: "Expr"
    place: Place


class PointerDifference(Struct, frozen=True):
    type: Scalar
    left: "Expr"
    right: "Expr"
    place: Place


class Logic(Struct, frozen=True):
    """A ``&&`` or ``||``: the right side runs only if the left side doesn't decide."""

    type: Scalar
    op: Literal["&&", "||"]
    left: "Expr"
    right: "Expr"


class Select(Struct, frozen=True):
    type: CType
    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"


class Convert(Struct, frozen=True):
    type: Scalar
    operand: "Expr"


class Assign(Struct, frozen=True):
    """An assignment, ``target = value`` or, with ``op``, ``target = convert(target op value)`` computed in the type ``within``.

    ``store`` is the access of the write; the target's own access is the read. ``gives_old``: postfix ++ and --.
    """

    type: CType
    target: "Expr"
    value: "Expr"
    op: str | None
    within: Scalar | None
    store: int | None
    gives_old: bool
    place: Place


class Call(Struct, frozen=True):
    """A call of an intrinsic."""

    type: CType
    name: str
    args: tuple["Expr", ...]
    place: Place


AtomicOp = Literal["add", "sub", "min", "max", "exch", "cas", "and", "or", "xor", "inc", "dec"]


class Atomic(Struct, frozen=True):
    """An atomic operation on ``target``; its value is the one before. ``args``: the operand, of the target's type; for cas the
    value to compare with and the new one. ``access`` is that of the whole operation; the target's own is None.
    """

    type: Scalar | VectorType
    op: AtomicOp
    target: Deref
    args: tuple["Expr", ...]
    place: Place
    access: int


class Address(Struct, frozen=True):
    """A pointer as an integer in bytes. ``window``: "shared" counts from the start of the block's shared memory; "generic" and
    "global" are addresses as pointers hold them.
    """

    type: Scalar
    pointer: "Expr"
    window: Literal["generic", "shared", "global"]


class AtAddress(Struct, frozen=True):
    """The pointer to what lies at an integer address. Its type's space names the window in which the address counts; None for a
    generic address.
    """

    type: PointerType
    address: "Expr"
    place: Place


class Inline(Struct, frozen=True):
    """An inlined ``__device__`` function: parameters are bound in order, then the body runs."""

    type: CType
    bindings: tuple[tuple[int, "Expr"], ...]
    body: "Block"
    result: int | None
    place: Place


class Sequence(Struct, frozen=True):
    """The comma operator: all parts are evaluated, the last one is the value."""

    type: CType
    parts: tuple["Expr", ...]


Expr = (
    Const | Index | Extent | Read | Base | Offset | Reinterpret | Deref | Component | MakeVector | Unary | Binary
    | PointerDifference | Logic | Select | Convert | Assign | Call | Atomic | Address | AtAddress | Inline | Sequence
)  # fmt: skip


class Declare(Struct, frozen=True):
    """A declaration of a variable, with or without a value."""

    slot: int
    value: Expr | None


class DeclareArray(Struct, frozen=True):
    """A declaration of a local array. ``values`` are its first scalars, or vectors, in the order of their offsets; the rest is
    zero. None leaves it uninitialised.
    """

    slot: int
    name: str
    element: Scalar | VectorType | StructType
    size: int
    values: tuple[Expr, ...] | None


class Evaluate(Struct, frozen=True):
    """An expression statement."""

    expression: Expr


class Block(Struct, frozen=True):
    statements: tuple["Stmt", ...]


class If(Struct, frozen=True):
    condition: Expr
    then: "Stmt"
    otherwise: "Stmt | None"


class Loop(Struct, frozen=True):
    """A for, while or do loop; ``tests_first`` is false for do."""

    number: int
    condition: Expr | None
    step: Expr | None
    body: "Stmt"
    tests_first: bool
    place: Place


class Unrolled(Struct, frozen=True):
    """A loop whose counter ``slot`` takes these values and is changed by nothing else; each trip is compiled separately."""

    slot: int
    values: tuple[int, ...]
    loop: Loop


class Break(Struct, frozen=True):
    pass


class Continue(Struct, frozen=True):
    pass


class Return(Struct, frozen=True):
    """A return; in an inlined function, ``slot`` takes the value."""

    slot: int | None
    value: Expr | None


class Barrier(Struct, frozen=True):
    """A __syncthreads() or, if it doesn't wait for the whole block, a __syncwarp()."""

    access: int
    place: Place
    waits_for_block: bool


class Copy(Struct, frozen=True):
    """A copy from memory to memory without registers. Both sides have the same size in bytes; neither has an access of its own.

    An asynchronous copy belongs to the batch of the thread that its next Commit closes. ``fills_zero_from``: the number of
    bytes read from the source, after which the target is filled with zeros; None if all are read.
    """

    target: Deref
    source: Deref
    is_async: bool
    fills_zero_from: Expr | None
    place: Place
    access: int


class Commit(Struct, frozen=True):
    """The end of a thread's current batch of asynchronous copies, which may be empty."""

    place: Place


class Wait(Struct, frozen=True):
    """A wait until at most ``pending`` of the thread's latest batches are under way. ``waits_for_block``: for the copies of all
    threads of the block, which all of them see afterwards; otherwise each thread waits for its own copies.
    """

    access: int
    pending: Expr
    place: Place
    waits_for_block: bool


class Fence(Struct, frozen=True):
    """A memory fence, such as __threadfence()."""

    access: int
    place: Place


Stmt = (
    Declare | DeclareArray | Evaluate | Block | If | Loop | Unrolled | Break | Continue | Return | Barrier | Copy | Commit
    | Wait | Fence
)  # fmt: skip
