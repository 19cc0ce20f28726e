"""Calls of CUDA's own functions, by name.

To add one, write a function ``(low, name, arguments, node) -> Expr`` and put it into a table: ``low.value(argument)`` is an
argument's value (its loads are numbered), ``low.place_node(argument)`` what it designates, ``low.add_access(kind, space, node,
width)`` a new access at the place of the call, ``low.constant(argument, "what")`` a number that must be known, ``low.note`` a
sentence about something ignored. ``STATEMENT_INTRINSICS``: those that give a statement, such as barriers.
"""

from collections.abc import Callable

from msgspec import structs

from gemmviz.cuda import nodes as n
from gemmviz.cuda import walk
from gemmviz.cuda.functions import FUNCTIONS, function_for
from gemmviz.cuda.parser.library import RawCursor
from gemmviz.cuda.ptx.registers import numbered_barrier, special_register
from gemmviz.cuda.reader.assign import assign
from gemmviz.cuda.reader.cursors import Node
from gemmviz.cuda.reader.expressions import combined
from gemmviz.cuda.reader.initialisers import known
from gemmviz.cuda.reader.inlining import inlined
from gemmviz.cuda.reader.lowering import Lowering
from gemmviz.cuda.reader.lvalues import copy_behind, written_copy
from gemmviz.cuda.reader.symbols import Thing
from gemmviz.cuda.types import (
    BOOL,
    INT,
    MATRIX_INSTRUCTIONS,
    PREFIX,
    UINT,
    ULONG,
    VOID,
    ArrayType,
    CType,
    PointerType,
    Scalar,
    VectorType,
    named_type,
    scalar_of,
)
from gemmviz.model.outline import SiteKind

Intrinsic = Callable[[Lowering, str, list[Node], Node], n.Expr]
StatementIntrinsic = Callable[[Lowering, str, list[Node], Node], n.Stmt]
_WARP, _FEWEST = 32, 2
# Calls by which the lanes of a warp or the threads of a block exchange values.

_GRID_SYNC = "__gemmviz_grid_sync"
_SHUFFLES = [f"__shfl{way}" for way in ("", "_up", "_down", "_xor")]
_VOTES = ("__ballot", "__any", "__all")


def mark_loops(low: Lowering) -> None:
    """Notes that the loops around hold a barrier of the block."""
    for number in low.loop_stack:
        low.loops[number] = structs.replace(low.loops[number], holds_barrier=True)


def barrier(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Stmt:
    is_block = name != "__syncwarp"
    mask = low.value(arguments[0]) if arguments and not is_block else None
    if isinstance(mask, n.Const) and int(mask.value).bit_count() < _FEWEST:  # nobody waits for another lane
        return n.Block(())
    number = low.add_access("barrier" if is_block else "warp barrier", None, node)
    if is_block:
        mark_loops(low)
    if name == _GRID_SYNC:
        low.accesses[number] = structs.replace(low.accesses[number], visible_to="grid")
    return n.Barrier(number, low.place(node), is_block)


def _shuffle(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    ctype = low.type_of(node)
    values = [low.value(argument) for argument in arguments]
    before = [low.converted(values.pop(0), UINT, node)] if name.endswith("_sync") else []
    width = values[2] if len(values) == 3 else n.Const(INT, _WARP)
    moved = low.converted(values[0], ctype, node)
    lane, width = (low.converted(each, INT, node) for each in (values[1], width))
    return n.Call(ctype, name, (*before, moved, lane, width), low.place(node))


def _vote(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    """A vote, match or reduction. The old ones without a mask ask the lanes that are active."""
    place, given = low.place(node), [low.value(argument) for argument in arguments]
    mask: n.Expr = n.Call(UINT, "__activemask", (), place)
    if name.endswith("_sync"):
        mask = low.converted(given.pop(0), UINT, node)
    value = given[0] if name.startswith("__match") else low.converted(given[0], _voted(low, name, node), node)
    return n.Call(low.type_of(node), name.removesuffix("_sync") + "_sync", (mask, value), place)


def _voted(low: Lowering, name: str, node: Node) -> CType:
    return low.type_of(node) if name.startswith("__reduce") else INT


def _match_all_call(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    """``__match_all_sync``: also writes whether all lanes have the same value."""
    place, mask, value = low.place(node), low.value(arguments[0]), low.value(arguments[1])
    target = low.value(arguments[2])
    slot, result = low.new_slot(), low.new_slot()
    found = n.Read(UINT, slot, name, False, place)
    matched = n.Call(UINT, name, (low.converted(mask, UINT, node), value), place)
    assert isinstance(target.type, PointerType)
    is_same = low.converted(n.Binary(BOOL, "!=", found, n.Const(UINT, 0), place), INT, node)
    deref = n.Deref(INT, target, place)
    store = None if target.type.space == "local" else low.access("store", deref, node)
    written = n.Evaluate(n.Assign(INT, deref, is_same, None, None, store, False, place))
    return n.Inline(UINT, (), n.Block((n.Declare(slot, matched), written, n.Return(result, found))), result, place)


def _barrier_vote(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    """``__syncthreads_count`` and the like: a barrier, then a vote of the block."""
    place, slot, result = low.place(node), low.new_slot(), low.new_slot()
    given = low.converted(low.value(arguments[0]), INT, node)
    stop = barrier(low, name, [], node)
    vote = n.Call(INT, name, (n.Read(INT, slot, name, False, place),), place)
    return n.Inline(INT, ((slot, given),), n.Block((stop, n.Return(result, vote))), result, place)


def _active_mask(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    return n.Call(UINT, name, (), low.place(node))


def _lane_id(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    lane = special_register("laneid", low.place(node))
    assert lane is not None
    assert isinstance(lane.type, Scalar)
    return lane


def _matrix_product(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    """A product of matrices, which the header of wmma calls."""
    matrix = MATRIX_INSTRUCTIONS[name.removeprefix(PREFIX)]
    pairs = zip(arguments, matrix.parameters, strict=True)
    values = tuple(low.converted(low.value(argument), scalar, node) for argument, scalar in pairs)
    access = low.add_access("product", None, node, instruction=matrix.name)
    return n.MatrixProduct(matrix.result, low.place(node), access, matrix.name, values)


WARP_STATEMENTS = {"__syncthreads": barrier, "__syncwarp": barrier, _GRID_SYNC: barrier}
WARP_FUNCTIONS = {
    **dict.fromkeys([*_SHUFFLES, *(f"{name}_sync" for name in _SHUFFLES)], _shuffle),
    **dict.fromkeys([*_VOTES, *(f"{name}_sync" for name in _VOTES), "__uni_sync", "__match_any_sync"], _vote),
    **dict.fromkeys([f"__reduce_{op}_sync" for op in ("add", "min", "max", "and", "or", "xor")], _vote),
    "__match_all_sync": _match_all_call,
    **{PREFIX + name: _matrix_product for name in MATRIX_INSTRUCTIONS},
    **dict.fromkeys(("__syncthreads_count", "__syncthreads_and", "__syncthreads_or"), _barrier_vote),
    "__activemask": _active_mask,
    "__lane_id": _lane_id,
}


# Operators and conversions of CUDA's own classes: half and bfloat16, alone and in pairs.

_OF_PAIRS = {
    "+": "__hadd2", "-": "__hsub2", "*": "__hmul2", "/": "__h2div",
    "==": "__hbeq2", "!=": "__hbne2", "<": "__hblt2", "<=": "__hble2", ">": "__hbgt2", ">=": "__hbge2",
}  # fmt: skip
_COMPARISONS = ("==", "!=", "<=", ">=")


def operated(low: Lowering, name: str, arguments: list[Node], node: Node, this: n.Expr | Thing | None) -> n.Expr:
    """The node of an operator's call. ``name``: the function, such as "operator+=" or "operator float"."""
    op = name.removeprefix("operator").strip()
    if this is not None and not arguments:
        return low.converted(low.loaded(_number_designated(low, name, this, node), node), low.type_of(node), node)
    first, *others = [
        *([] if this is None else [_number_designated(low, name, this, node)]),
        *(low.expression(each) for each in arguments),
    ]
    if op in ("++", "--"):
        return assign(low, first, op[0], n.Const(INT, 1), node, node.parts[0], bool(others))
    if op.endswith("=") and op not in _COMPARISONS:
        return _assigned_number(low, first, op[:-1], low.value(arguments[-1]), node)
    left = low.loaded(first, arguments[0])
    if not others:
        return _with_sign(low, op, left, node)
    right = low.loaded(others[0], arguments[-1])
    return _of_pairs(low, op, left, right, node) if isinstance(left.type, VectorType) else combined(low, op, left, right, node)


def _number_designated(low: Lowering, name: str, this: n.Expr | Thing, node: Node) -> n.Expr:
    if isinstance(this, Thing):
        raise low.error(f"{name} is not supported here", node, id="unsupported")
    return this


def _assigned_number(low: Lowering, target: n.Expr, op: str, value: n.Expr, node: Node) -> n.Expr:
    left = node.parts[0]
    if not op or not isinstance(target.type, VectorType):
        return assign(low, target, op, value, node, left, False)
    return assign(low, target, "", _of_pairs(low, op, low.loaded(target, left), value, node), node, left, False)


def _of_pairs(low: Lowering, op: str, left: n.Expr, right: n.Expr, node: Node) -> n.Expr:
    if op not in _OF_PAIRS:
        raise low.error(f"{op} does not work on a {left.type}", node)
    result = BOOL if op in _COMPARISONS or op in "<>" else left.type
    return n.Call(result, _OF_PAIRS[op], (left, low.converted(right, left.type, node)), low.place(node))


def _with_sign(low: Lowering, op: str, value: n.Expr, node: Node) -> n.Expr:
    """A sign before a number or a pair; a sum with a zero would lose that of a zero."""
    if op == "+":
        return value
    if isinstance(value.type, VectorType):
        return n.Call(value.type, "__hneg2", (value,), low.place(node))
    if op != "-" or not isinstance(value.type, Scalar):
        raise low.error(f"{op} does not work on a {value.type}", node)
    return n.Unary(value.type, op, value)


# Calls of atomic functions, asynchronous copies, fences, and conversions of pointers to addresses.

_ATOMIC_FUNCTIONS: dict[str, n.AtomicOp] = {
    "atomicAdd": "add", "atomicSub": "sub", "atomicMin": "min", "atomicMax": "max", "atomicExch": "exch", "atomicCAS": "cas",
    "atomicAnd": "and", "atomicOr": "or", "atomicXor": "xor", "atomicInc": "inc", "atomicDec": "dec",
}  # fmt: skip
_ATOMIC_SCOPES = ("", "_block", "_system")
_BYTES_OF_WORD = 4
_WORD_TYPES = {1: UINT, 2: VectorType(UINT, 2), 4: VectorType(UINT, 4)}
_SMALL_TYPES = {1: named_type("unsigned char"), 2: named_type("unsigned short")}


def _atomic_call(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    pointer, place = low.value(arguments[0]), low.place(node)
    if not isinstance(pointer.type, PointerType) or not isinstance(pointer.type.to, Scalar | VectorType):
        raise low.error(f"{name} takes a pointer to a number", node)
    space, ctype = pointer.type.space, pointer.type.to
    if space == "local":
        copy = copy_behind(pointer, low.copies)
        if copy is not None:
            raise written_copy(copy, place)
        raise low.error(f"{name} works on global and shared memory alone", node, id="unsupported")
    args = tuple(low.converted(low.value(argument), ctype, node) for argument in arguments[1:])
    width = ctype.count if isinstance(ctype, VectorType) else 1
    op = _ATOMIC_FUNCTIONS[name.removesuffix("_block").removesuffix("_system")]
    access = low.add_access("atomic", space or "global", node, width)
    return n.Atomic(ctype, place, access, op, n.Deref(ctype, pointer, place), args)


def _pipeline_copy(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Stmt:
    """``__pipeline_memcpy_async``: the bytes that it fills with zero are the last ones."""
    count = int(low.constant(arguments[2], "the size of an asynchronous copy").value)
    if count not in (4, 8, 16):
        raise low.error(f"{name} copies 4, 8 or 16 bytes, not {count}", node)
    taken: n.Expr | None = None
    if len(arguments) > 3:
        filled = low.converted(low.value(arguments[3]), UINT, node)
        if not isinstance(filled, n.Const) or filled.value:
            taken = n.Binary(UINT, "-", n.Const(UINT, count), filled, low.place(node))
    return asynchronous_copy(low, low.value(arguments[0]), low.value(arguments[1]), count, taken, node)


def asynchronous_copy(low: Lowering, target: n.Expr, source: n.Expr, count: int, taken: n.Expr | None, node: Node) -> n.Stmt:
    """The copy of ``count`` bytes between two pointers, of which ``taken`` are read."""
    to, of = (_pointing(low, each, count, node) for each in (target, source))
    space = target.type.space if isinstance(target.type, PointerType) else None
    access = low.add_access("copy", space, node, max(1, count // _BYTES_OF_WORD))
    low.accesses[access] = structs.replace(low.accesses[access], is_async=True)
    return n.Evaluate(n.Copy(VOID, low.place(node), access, to, of, taken))


def _pointing(low: Lowering, pointer: n.Expr, count: int, node: Node) -> n.Deref:
    ctype = _SMALL_TYPES.get(count) or _WORD_TYPES.get(count // _BYTES_OF_WORD)
    if not isinstance(pointer.type, PointerType) or not isinstance(ctype, Scalar | VectorType):
        raise low.error("an asynchronous copy takes two pointers", node)
    place = low.place(node)
    return n.Deref(ctype, n.Reinterpret(PointerType(ctype, pointer.type.space), pointer, place), place)


def _commit(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Stmt:
    return n.Commit(low.place(node))


def _pipeline_wait(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Stmt:
    pending = low.converted(low.value(arguments[0]), INT, node)
    return n.Wait(low.add_access("wait", None, node), pending, low.place(node), False)


def _fence(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Stmt:
    return n.Fence(low.add_access("fence", None, node), low.place(node))


def _shared_address(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    pointer = low.value(arguments[0])
    if not isinstance(pointer.type, PointerType):
        raise low.error(f"{name} takes a pointer", node)
    return n.Address(ULONG, pointer, "shared" if name.endswith("shared") else "global")


# Calls on barriers in shared memory, by the names of CUDA's C interface and of the stand-in headers, and bulk copies.


def _word_of_mbarrier(low: Lowering, argument: Node, node: Node) -> n.Deref:
    pointer, place = low.value(argument), low.place(node)
    if not isinstance(pointer.type, PointerType):
        raise low.error("a pointer to a barrier in shared memory is needed", node)
    return n.Deref(ULONG, n.Reinterpret(PointerType(ULONG, pointer.type.space), pointer, place), place)


def _at_mbarrier(op: n.MbarrierOp, kind: SiteKind, *more: int) -> StatementIntrinsic:
    """The reading of a call (barrier, operands...). ``more``: operands that follow."""

    def read(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Stmt:
        given = tuple(low.converted(low.value(each), UINT, node) for each in arguments[1:])
        args = given if op != "wait" or name.endswith("parity") else ()
        word, access = _word_of_mbarrier(low, arguments[0], node), low.add_access(kind, "shared", node)
        return n.Mbarrier(access, low.place(node), op, word, (*args, *(n.Const(UINT, each) for each in more)))

    return read


def _with_value(read: StatementIntrinsic, value: n.Const) -> Intrinsic:
    """A call of which only this value is known: that of a state stands for the phase, that of a wait says that it is over."""

    def call(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
        slot = low.new_slot()
        body = n.Block((read(low, name, arguments, node), n.Return(slot, value)))
        return n.Inline(value.type, (), body, slot, low.place(node))

    return call


def _bulk_copy(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Stmt:
    """A bulk copy (target, source, bytes), or with an mbarrier that counts its bytes."""
    target, source, size = (low.value(each) for each in arguments[:3])
    count = low.fixed(size)
    if count is None or not isinstance(target.type, PointerType) or not isinstance(source.type, PointerType):
        raise low.error("the size of a bulk copy must be known before the kernel runs", node, id="unsupported")
    counter = _word_of_mbarrier(low, arguments[3], node) if len(arguments) > 3 else None
    return bulk_copy(low, target, source, count, counter, node)


def bulk_copy(low: Lowering, target: n.Expr, source: n.Expr, count: int, counter: n.Deref | None, node: Node) -> n.Stmt:
    """The bulk copy of ``count`` bytes between two pointers."""
    ctype, place = VectorType(UINT, count // _BYTES_OF_WORD), low.place(node)
    to, of = (
        n.Deref(ctype, n.Reinterpret(PointerType(ctype, each.type.space), each, place), place)
        for each in (target, source) if isinstance(each.type, PointerType)
    )  # fmt: skip
    access = low.add_access("copy", "shared" if counter else "global", node, ctype.count)
    low.accesses[access] = structs.replace(low.accesses[access], is_async=True)
    return n.Evaluate(n.Copy(VOID, place, access, to, of, None, counter))


def _numbered_barrier(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Stmt:
    """``__barrier_sync(number)`` and ``__barrier_sync_count(number, count)``."""
    number, count = (*(low.converted(low.value(each), UINT, node) for each in arguments), None, None)[:2]
    mark_loops(low)
    return numbered_barrier(low.add_access("barrier", None, node), low.place(node), number, count, True)


ASYNCHRONOUS_STATEMENTS = {
    "__barrier_sync": _numbered_barrier,
    "__barrier_sync_count": _numbered_barrier,
    "__gemmviz_bulk_copy": _bulk_copy,
    "__gemmviz_arrive": _at_mbarrier("arrive", "arrive"),
    "__mbarrier_init": _at_mbarrier("init", "init"),
    "__pipeline_arrive_on": _at_mbarrier("copies", "arrive", 1),
    "__pipeline_memcpy_async": _pipeline_copy,
    "__pipeline_commit": _commit,
    "__pipeline_wait_prior": _pipeline_wait,
    **dict.fromkeys(("__threadfence", "__threadfence_block", "__threadfence_system"), _fence),
}
MEMORY_FUNCTIONS = {
    "__mbarrier_arrive": _with_value(_at_mbarrier("arrive", "arrive", 1, 0), n.Const(ULONG, 0)),
    "__mbarrier_arrive_and_drop": _with_value(_at_mbarrier("drop", "arrive"), n.Const(ULONG, 0)),
    "__mbarrier_test_wait": _with_value(_at_mbarrier("wait", "wait"), n.Const(BOOL, True)),
    "__mbarrier_test_wait_parity": _with_value(_at_mbarrier("wait", "wait"), n.Const(BOOL, True)),
    **dict.fromkeys([f"{name}{scope}" for name in _ATOMIC_FUNCTIONS for scope in _ATOMIC_SCOPES], _atomic_call),
    **dict.fromkeys(("__cvta_generic_to_shared", "__cvta_generic_to_global"), _shared_address),
}


def intrinsic_call(
    low: Lowering,
    name: str,
    arguments: list[Node],
    node: Node,
    definition: RawCursor | None,
    this: n.Expr | Thing | None = None,
) -> n.Expr | Thing:
    """The node of a call of one of CUDA's functions. Raises SourceError for a function that gemmviz doesn't know."""
    if name in INTRINSICS:
        return INTRINSICS[name](low, name, arguments, node)
    vector = named_type(name[5:]) if name.startswith("make_") else None
    if isinstance(vector, VectorType) and len(arguments) == vector.count:
        return _made_vector(low, vector, arguments, node)
    if name in FUNCTIONS or name in ("min", "max", "abs"):
        return _function_call(low, name, arguments, node)
    if definition is not None:
        return inlined(low, definition, arguments, node, this)
    if name.startswith("operator"):
        return operated(low, name, arguments, node, this)
    if name in STATEMENT_INTRINSICS:
        return n.Inline(VOID, (), n.Block((STATEMENT_INTRINSICS[name](low, name, arguments, node),)), None, low.place(node))
    if name == "bmma_sync":
        message = f"the matrix instruction {name} is not supported yet"
        raise low.error(message, node, "use mma.sync, ldmatrix, stmatrix or movmatrix", id="unsupported")
    if name.startswith("__builtin_"):
        return known(low, node)
    raise low.error(f"{name} is not supported", node, id="unsupported")


def _ignored(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    return n.Sequence(VOID, ())


def _passed_on(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    """``std::move`` and ``std::forward``: their argument."""
    return low.place_node(arguments[0])  # type: ignore[return-value]


def _printf_call(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    low.note(f"line {low.place(node).line}: {name} prints nothing here")
    return n.Sequence(VOID, ())


def _assertion_call(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    if not arguments:
        raise low.error("assert takes a condition", node)
    return n.Call(VOID, "assert", (low.condition(arguments[0]),), low.place(node))


def _cached_load(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    pointer = low.value(arguments[0])
    if not isinstance(pointer.type, PointerType):
        raise low.error(f"{name} takes a pointer", node)
    return low.loaded(n.Deref(pointer.type.to, pointer, low.place(node)), node)  # type: ignore[arg-type]


def _cached_store(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    value, pointer = low.value(arguments[1]), low.value(arguments[0])
    if not isinstance(pointer.type, PointerType):
        raise low.error(f"{name} takes a pointer", node)
    target = n.Deref(pointer.type.to, pointer, low.place(node))  # type: ignore[arg-type]
    return assign(low, target, "", low.converted(value, target.type, node), node, node, False)


def _function_call(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    """The node of a function from numbers to a number, folded if its arguments are constants."""
    values = [low.value(argument) for argument in arguments]
    function = function_for(name, [value.type for value in values if isinstance(value.type, Scalar | VectorType)])
    arity = 1 if function is None else len(function.parameters)
    if function is None or len(values) != arity:
        raise low.error(f"{name} takes {arity} argument{'s' if arity > 1 else ''}, not {len(values)}", node)
    converted = [low.converted(value, kind, node) for value, kind in zip(values, function.parameters, strict=True)]
    numbers = [each.value for each in converted if isinstance(each, n.Const)]
    if len(numbers) == arity and isinstance(function.result, Scalar):
        chosen = walk.common_choice(name, numbers)
        if chosen is not None:
            return n.Const(function.result, walk.wrap(chosen, function.result))
    return n.Call(function.result, name, tuple(converted), low.place(node))


def _memset_call(low: Lowering, name: str, arguments: list[Node], node: Node) -> n.Expr:
    """The node of a memset that zeroes an array of this thread."""
    if len(arguments) == 3:
        target, value = low.value(arguments[0]), low.value(arguments[1])
        while isinstance(target, n.Reinterpret):
            target = target.pointer
        size = int(low.constant(arguments[2], "the size for memset").value)
        if (
            isinstance(target.type, PointerType)
            and target.type.space == "local"
            and isinstance(value, n.Const)
            and not value.value
        ):
            scalar = scalar_of(target.type.to.element if isinstance(target.type.to, ArrayType) else target.type.to)
            count = n.Const(INT, size // scalar.bytes)
            return n.Call(VOID, "memset", (target, count, low.converted(n.Const(INT, 0), scalar, node)), low.place(node))
    raise low.error("memset works here only on an array of the thread, and only with 0", node)


def _made_vector(low: Lowering, vector: VectorType, arguments: list[Node], node: Node) -> n.Expr:
    parts = tuple(low.converted(low.scalar(argument), vector.scalar, node) for argument in arguments)
    return n.MakeVector(vector, parts)


STATEMENT_INTRINSICS: dict[str, StatementIntrinsic] = {**WARP_STATEMENTS, **ASYNCHRONOUS_STATEMENTS}
INTRINSICS: dict[str, Intrinsic] = {
    **dict.fromkeys(("move", "forward"), _passed_on),
    "printf": _printf_call,
    "assert": _assertion_call,
    "__assert_fail": _ignored,
    "memset": _memset_call,
    **dict.fromkeys(("__builtin_assume", "__nanosleep", "__mbarrier_inval"), _ignored),
    **WARP_FUNCTIONS,
    **MEMORY_FUNCTIONS,
    **dict.fromkeys(("__ldg", "__ldcs", "__ldcg", "__ldca", "__ldcv", "__ldlu"), _cached_load),
    **dict.fromkeys(("__stcs", "__stcg", "__stwb", "__stwt"), _cached_store),
}
