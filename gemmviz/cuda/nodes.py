"""A kernel's program as typed nodes: names resolved, constants folded, ``__device__`` functions inlined.

Later stages don't know the parser. A slot is a numbered variable of the kernel; every access to global or shared memory carries
the number of its ``AccessPlace``.

Loads and stores are a Deref and an Assign. Whatever else reaches memory is an Instruction, which describes what it touches: the
stages work from this description, except where they translate it to CUDA C (``cuda.twin.statements``) and to NumPy
(``run.cpu.simt.instructions``).
"""

from typing import Any, Literal

from msgspec import Struct

from gemmviz.cuda.types import AddressSpace, CType, PointerType, Scalar, StructType, VectorType
from gemmviz.model.messages import Place
from gemmviz.model.outline import SiteKind, phase_loop

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
    """A ``?:``. ``branch`` is its number among the accesses, None if neither side reaches memory."""

    type: CType
    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"
    branch: int | None = None


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
MbarrierOp = Literal["init", "arrive", "drop", "copies", "wait"]


class Touch(Struct, frozen=True):
    """One operand of an access: the memory ``at`` a place, which is read or written. ``given``: expressions whose values are
    written. ``is_typed``: it counts scalars of its own type; otherwise it moves bytes, as elements of any type.
    """

    access: int
    at: Deref
    how: Literal["read", "write"]
    given: tuple["Expr", ...] = ()
    is_typed: bool = True


class Instruction(Struct, frozen=True):
    """Base of the expressions that reach memory other than by a load or store. ``access`` is that of the whole instruction; the
    Derefs that it touches have none of their own.
    """

    type: CType
    place: Place
    access: int

    @property
    def touches(self) -> tuple[Touch, ...]:
        """Its operands in memory, in the order in which they are recorded."""
        raise NotImplementedError

    @property
    def is_async(self) -> bool:
        """Whether what it writes can be seen only after a Wait."""
        return False


class Atomic(Instruction, frozen=True):
    """An atomic operation on ``target``; its value is the one before. ``args``: the operand, of the target's type; for cas the
    value to compare with and the new one.
    """

    op: AtomicOp
    target: Deref
    args: tuple["Expr", ...]

    @property
    def touches(self) -> tuple[Touch, ...]:
        return (Touch(self.access, self.target, "write", self.args),)


class Copy(Instruction, frozen=True):
    """An asynchronous copy from memory to memory without registers. Both sides have the same size in bytes.

    It belongs to the batch of the thread that its next Commit closes or, a bulk copy, to the mbarrier ``counts_at``, which
    counts its bytes. ``fills_zero_from``: the number of bytes read from the source, after which the target is filled with
    zeros; None if all are read.
    """

    target: Deref
    source: Deref
    fills_zero_from: "Expr | None"
    counts_at: "Deref | None" = None

    @property
    def touches(self) -> tuple[Touch, ...]:
        source = Touch(self.access, self.source, "read", is_typed=False)
        return source, Touch(self.access, self.target, "write", is_typed=False)

    @property
    def is_async(self) -> bool:
        return True


class MatrixProduct(Instruction, frozen=True):
    """A product of matrices that the lanes of a warp hold in registers, by the ``instruction`` of this name of
    MATRIX_INSTRUCTIONS. ``values``: the registers of A, B and C. Its value is those of D. It touches no memory.
    """

    instruction: str
    values: tuple["Expr", ...]

    @property
    def touches(self) -> tuple[Touch, ...]:
        return ()


class LoadMatrix(Instruction, frozen=True):
    """A load of ``count`` matrices of 8 rows of 16 bytes from shared memory by all lanes of a warp (ldmatrix). Lane 8 m + r
    gives the address of row r of matrix m; ``row`` is the first register there. Lane l gets register l % 4 of row l / 4 of each
    matrix, or with ``is_transposed`` the elements of 16 bits in column l / 4 of rows 2 (l % 4) and 2 (l % 4) + 1.

    A transposed matrix is recorded as the registers that the lanes would get without.
    """

    row: Deref
    count: int
    is_transposed: bool

    @property
    def touches(self) -> tuple[Touch, ...]:
        return (Touch(self.access, self.row, "read", is_typed=False),) * self.count


class StoreMatrix(Instruction, frozen=True):
    """A store of matrices to shared memory by all lanes of a warp (stmatrix), the reverse of LoadMatrix. ``values``: a register
    for each matrix.
    """

    row: Deref
    values: tuple["Expr", ...]
    is_transposed: bool

    @property
    def touches(self) -> tuple[Touch, ...]:
        return tuple(Touch(self.access, self.row, "write", (value,), is_typed=False) for value in self.values)


class MoveMatrix(Instruction, frozen=True):
    """A matrix of 8 x 8 elements of 16 bits, transposed in the registers of a warp (movmatrix): lane l gives elements 2 (l % 4)
    and 2 (l % 4) + 1 of row l / 4, and gets those of the transposed one. It touches no memory.
    """

    value: "Expr"

    @property
    def touches(self) -> tuple[Touch, ...]:
        return ()


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
    | PointerDifference | Logic | Select | Convert | Assign | Call | Instruction | Address | AtAddress | Inline | Sequence
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
    """``branch`` is its number among the accesses, None for what the source doesn't say."""

    condition: Expr
    then: "Stmt"
    otherwise: "Stmt | None"
    branch: int | None = None


class Loop(Struct, frozen=True):
    """A for, while or do loop; ``tests_first`` is false for do. ``branch`` is the number of its test among the accesses."""

    number: int
    condition: Expr | None
    step: Expr | None
    body: "Stmt"
    tests_first: bool
    place: Place
    branch: int | None = None


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
    """A __syncthreads() or, if it doesn't wait for the whole block, a __syncwarp().

    One of the block may have a ``number``, 0 to 15, and a ``count`` of threads. ``waits``: bar.sync, otherwise bar.arrive.
    """

    access: int
    place: Place
    waits_for_block: bool
    number: Expr | None = None
    count: Expr | None = None
    waits: bool = True


class Mbarrier(Struct, frozen=True):
    """An operation on a barrier in shared memory, which lies ``at`` a word of 64 bits.

    "init" takes the count of arrivals of a phase; "arrive" the number of arrivals, and bytes that bulk copies bring in this
    phase; "drop" also leaves the later phases; "copies" lets the thread's copies arrive when they have come, with 1 if the
    phase waits for them besides its count. "wait" takes the parity of a phase, or waits for that of the thread's last arrival.
    """

    access: int
    place: Place
    op: MbarrierOp
    at: Deref
    args: tuple[Expr, ...] = ()


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
    Declare | DeclareArray | Evaluate | Block | If | Loop | Unrolled | Break | Continue | Return | Barrier | Commit | Wait
    | Mbarrier | Fence
)  # fmt: skip


def touches(node: Any) -> tuple[Touch, ...]:
    """What a node itself touches of global or shared memory."""
    match node:
        case Deref(access=int(access)):
            return (Touch(access, node, "read"),)
        case Assign(target=Deref() as target, store=int(store), value=value):
            return (Touch(store, target, "write", (value,)),)
        case Instruction():
            return node.touches
        case Mbarrier(access=access, op=op, at=at):
            return (Touch(access, at, "read" if op == "wait" else "write"),)
    return ()


# The program, and tables of what its nodes number.


class AccessPlace(Struct, frozen=True):
    """A place in the source that accesses memory, synchronises or branches. ``calls`` are the calls through which it was
    inlined.

    ``space`` of a copy is that of its target. ``is_async``, ``visible_to``, ``instruction`` and ``arms`` are those of the
    site.
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
    instruction: str = ""
    arms: tuple[Place, ...] = ()


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
