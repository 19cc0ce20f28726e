"""Calls of CUDA's own functions, by name.

To add one, write a function ``(low, name, arguments, node) -> Expr`` and put it into a table: ``low.value(argument)`` is an
argument's value (its loads are numbered), ``low.place_node(argument)`` what it designates, ``low.add_access(kind, space, node,
width)`` a new access at the place of the call, ``low.constant(argument, "what")`` a number that must be known, ``low.note`` a
sentence about something ignored. ``STATEMENT_INTRINSICS``: those that give a statement, such as barriers.
"""

from collections.abc import Callable

from gemmviz.cuda import fold
from gemmviz.cuda.functions import FUNCTIONS, function_for
from gemmviz.cuda.nodes import (
    Address,
    Atomic,
    AtomicOp,
    Binary,
    Block,
    Call,
    Commit,
    Const,
    Copy,
    Deref,
    Expr,
    Fence,
    Inline,
    MakeVector,
    Reinterpret,
    Sequence,
    Stmt,
    Unary,
    Wait,
)
from gemmviz.cuda.reader.assign import assign
from gemmviz.cuda.reader.cursors import Node
from gemmviz.cuda.reader.expressions import combined
from gemmviz.cuda.reader.inlining import inlined
from gemmviz.cuda.reader.library import RawCursor
from gemmviz.cuda.reader.literals import known
from gemmviz.cuda.reader.lowering import Lowering
from gemmviz.cuda.reader.lvalues import copy_behind, written_copy
from gemmviz.cuda.reader.symbols import Thing
from gemmviz.cuda.reader.warps import WARP_FUNCTIONS, WARP_STATEMENTS
from gemmviz.cuda.types import BOOL, INT, UINT, ULONG, VOID, ArrayType, PointerType, Scalar, VectorType, named_type, scalar_of
from gemmviz.model.records import replace

# Operators and conversions of CUDA's own classes: half and bfloat16, alone and in pairs.

_OF_PAIRS = {
    "+": "__hadd2", "-": "__hsub2", "*": "__hmul2", "/": "__h2div",
    "==": "__hbeq2", "!=": "__hbne2", "<": "__hblt2", "<=": "__hble2", ">": "__hbgt2", ">=": "__hbge2",
}  # fmt: skip
_COMPARISONS = ("==", "!=", "<=", ">=")


def operated(low: Lowering, name: str, arguments: list[Node], node: Node, this: Expr | Thing | None) -> Expr:
    """The node of an operator's call. ``name``: the function, such as "operator+=" or "operator float"."""
    op = name.removeprefix("operator").strip()
    if this is not None and not arguments:
        return low.converted(low.loaded(_number(low, name, this, node), node), low.type_of(node), node)
    first, *others = [
        *([] if this is None else [_number(low, name, this, node)]),
        *(low.expression(each) for each in arguments),
    ]
    if op in ("++", "--"):
        return assign(low, first, op[0], Const(INT, 1), node, node.parts[0], bool(others))
    if op.endswith("=") and op not in _COMPARISONS:
        return _assigned(low, first, op[:-1], low.value(arguments[-1]), node)
    left = low.loaded(first, arguments[0])
    if not others:
        return _signed(low, op, left, node)
    right = low.loaded(others[0], arguments[-1])
    return _of_pairs(low, op, left, right, node) if isinstance(left.type, VectorType) else combined(low, op, left, right, node)


def _number(low: Lowering, name: str, this: Expr | Thing, node: Node) -> Expr:
    if isinstance(this, Thing):
        raise low.error(f"{name} is not supported here", node, id="unsupported")
    return this


def _assigned(low: Lowering, target: Expr, op: str, value: Expr, node: Node) -> Expr:
    left = node.parts[0]
    if not op or not isinstance(target.type, VectorType):
        return assign(low, target, op, value, node, left, False)
    return assign(low, target, "", _of_pairs(low, op, low.loaded(target, left), value, node), node, left, False)


def _of_pairs(low: Lowering, op: str, left: Expr, right: Expr, node: Node) -> Expr:
    if op not in _OF_PAIRS:
        raise low.error(f"{op} does not work on a {left.type}", node)
    result = BOOL if op in _COMPARISONS or op in "<>" else left.type
    return Call(result, _OF_PAIRS[op], (left, low.converted(right, left.type, node)), low.place(node))


def _signed(low: Lowering, op: str, value: Expr, node: Node) -> Expr:
    """A sign before a number or a pair; a sum with a zero would lose that of a zero."""
    if op == "+":
        return value
    if isinstance(value.type, VectorType):
        return Call(value.type, "__hneg2", (value,), low.place(node))
    if op != "-" or not isinstance(value.type, Scalar):
        raise low.error(f"{op} does not work on a {value.type}", node)
    return Unary(value.type, op, value)


# Calls of atomic functions, asynchronous copies, fences, and conversions of pointers to addresses.

_ATOMICS: dict[str, AtomicOp] = {
    "atomicAdd": "add", "atomicSub": "sub", "atomicMin": "min", "atomicMax": "max", "atomicExch": "exch", "atomicCAS": "cas",
    "atomicAnd": "and", "atomicOr": "or", "atomicXor": "xor", "atomicInc": "inc", "atomicDec": "dec",
}  # fmt: skip
_SCOPES = ("", "_block", "_system")
_WORD_BYTES = 4
_WORDS = {1: UINT, 2: VectorType(UINT, 2), 4: VectorType(UINT, 4)}
_BYTES = {1: named_type("unsigned char"), 2: named_type("unsigned short")}


def _atomic(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
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
    op = _ATOMICS[name.removesuffix("_block").removesuffix("_system")]
    return Atomic(
        ctype, op, Deref(ctype, pointer, place), args, place, low.add_access("atomic", space or "global", node, width)
    )


def _copied(low: Lowering, name: str, arguments: list[Node], node: Node) -> Stmt:
    """``__pipeline_memcpy_async``: the bytes that it fills with zero are the last ones."""
    count = int(low.constant(arguments[2], "the size of an asynchronous copy").value)
    if count not in (4, 8, 16):
        raise low.error(f"{name} copies 4, 8 or 16 bytes, not {count}", node)
    taken: Expr | None = None
    if len(arguments) > 3:
        filled = low.converted(low.value(arguments[3]), UINT, node)
        if not isinstance(filled, Const) or filled.value:
            taken = Binary(UINT, "-", Const(UINT, count), filled, low.place(node))
    return asynchronous_copy(low, low.value(arguments[0]), low.value(arguments[1]), count, taken, node)


def asynchronous_copy(low: Lowering, target: Expr, source: Expr, count: int, taken: Expr | None, node: Node) -> Copy:
    """The copy of ``count`` bytes between two pointers, of which ``taken`` are read."""
    to, of = (_pointing(low, each, count, node) for each in (target, source))
    space = target.type.space if isinstance(target.type, PointerType) else None
    access = low.add_access("copy", space, node, max(1, count // _WORD_BYTES))
    low.accesses[access] = replace(low.accesses[access], is_async=True)
    return Copy(to, of, True, taken, low.place(node), access)


def _pointing(low: Lowering, pointer: Expr, count: int, node: Node) -> Deref:
    ctype = _BYTES.get(count) or _WORDS.get(count // _WORD_BYTES)
    if not isinstance(pointer.type, PointerType) or not isinstance(ctype, Scalar | VectorType):
        raise low.error("an asynchronous copy takes two pointers", node)
    place = low.place(node)
    return Deref(ctype, Reinterpret(PointerType(ctype, pointer.type.space), pointer, place), place)


def _commit(low: Lowering, name: str, arguments: list[Node], node: Node) -> Stmt:
    return Commit(low.place(node))


def _wait(low: Lowering, name: str, arguments: list[Node], node: Node) -> Stmt:
    pending = low.converted(low.value(arguments[0]), INT, node)
    return Wait(low.add_access("wait", None, node), pending, low.place(node), False)


def _fence(low: Lowering, name: str, arguments: list[Node], node: Node) -> Stmt:
    return Fence(low.add_access("fence", None, node), low.place(node))


def _shared_address(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    pointer = low.value(arguments[0])
    if not isinstance(pointer.type, PointerType):
        raise low.error(f"{name} takes a pointer", node)
    return Address(ULONG, pointer, "shared" if name.endswith("shared") else "global")


ASYNCHRONOUS_STATEMENTS = {
    "__pipeline_memcpy_async": _copied,
    "__pipeline_commit": _commit,
    "__pipeline_wait_prior": _wait,
    **dict.fromkeys(("__threadfence", "__threadfence_block", "__threadfence_system"), _fence),
}
MEMORY_FUNCTIONS = {
    **dict.fromkeys([f"{name}{scope}" for name in _ATOMICS for scope in _SCOPES], _atomic),
    **dict.fromkeys(("__cvta_generic_to_shared", "__cvta_generic_to_global"), _shared_address),
}


Intrinsic = Callable[[Lowering, str, list[Node], Node], Expr]
StatementIntrinsic = Callable[[Lowering, str, list[Node], Node], Stmt]
_MATRIX = frozenset(("fill_fragment", "load_matrix_sync", "mma_sync", "bmma_sync", "store_matrix_sync"))


def intrinsic_call(
    low: Lowering, name: str, arguments: list[Node], node: Node, definition: RawCursor | None, this: Expr | Thing | None = None
) -> Expr | Thing:
    """The node of a call of one of CUDA's functions. Raises SourceError for a function that gemmviz doesn't know."""
    if name in INTRINSICS:
        return INTRINSICS[name](low, name, arguments, node)
    vector = named_type(name[5:]) if name.startswith("make_") else None
    if isinstance(vector, VectorType) and len(arguments) == vector.count:
        return _made_vector(low, vector, arguments, node)
    if name in FUNCTIONS or name in ("min", "max", "abs"):
        return _computed(low, name, arguments, node)
    if definition is not None:
        return inlined(low, definition, arguments, node, this)
    if name.startswith("operator"):
        return operated(low, name, arguments, node, this)
    if name in STATEMENT_INTRINSICS:
        return Inline(VOID, (), Block((STATEMENT_INTRINSICS[name](low, name, arguments, node),)), None, low.place(node))
    if name in _MATRIX:
        message = f"the matrix instruction {name} is not supported yet"
        raise low.error(message, node, "use a kernel without tensor cores", id="unsupported")
    if name.startswith("__builtin_"):
        return known(low, node)
    raise low.error(f"{name} is not supported", node, id="unsupported")


def _ignored(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    return Sequence(VOID, ())


def _passed_on(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    """``std::move`` and ``std::forward``: their argument."""
    return low.place_node(arguments[0])  # type: ignore[return-value]


def _printed(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    low.note(f"line {low.place(node).line}: {name} prints nothing here")
    return Sequence(VOID, ())


def _checked(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    if not arguments:
        raise low.error("assert takes a condition", node)
    return Call(VOID, "assert", (low.condition(arguments[0]),), low.place(node))


def _load(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    pointer = low.value(arguments[0])
    if not isinstance(pointer.type, PointerType):
        raise low.error(f"{name} takes a pointer", node)
    return low.loaded(Deref(pointer.type.to, pointer, low.place(node)), node)  # type: ignore[arg-type]


def _store(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    value, pointer = low.value(arguments[1]), low.value(arguments[0])
    if not isinstance(pointer.type, PointerType):
        raise low.error(f"{name} takes a pointer", node)
    target = Deref(pointer.type.to, pointer, low.place(node))  # type: ignore[arg-type]
    return assign(low, target, "", low.converted(value, target.type, node), node, node, False)


def _computed(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    """The node of a function from numbers to a number, folded if its arguments are constants."""
    values = [low.value(argument) for argument in arguments]
    function = function_for(name, [value.type for value in values if isinstance(value.type, Scalar | VectorType)])
    arity = 1 if function is None else len(function.parameters)
    if function is None or len(values) != arity:
        raise low.error(f"{name} takes {arity} argument{'s' if arity > 1 else ''}, not {len(values)}", node)
    converted = [low.converted(value, kind, node) for value, kind in zip(values, function.parameters, strict=True)]
    numbers = [each.value for each in converted if isinstance(each, Const)]
    if len(numbers) == arity and isinstance(function.result, Scalar):
        chosen = fold.common_choice(name, numbers)
        if chosen is not None:
            return Const(function.result, fold.wrap(chosen, function.result))
    return Call(function.result, name, tuple(converted), low.place(node))


def _cleared(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    """The node of a memset that zeroes an array of this thread."""
    if len(arguments) == 3:
        target, value = low.value(arguments[0]), low.value(arguments[1])
        while isinstance(target, Reinterpret):
            target = target.pointer
        size = int(low.constant(arguments[2], "the size for memset").value)
        if (
            isinstance(target.type, PointerType)
            and target.type.space == "local"
            and isinstance(value, Const)
            and not value.value
        ):
            scalar = scalar_of(target.type.to.element if isinstance(target.type.to, ArrayType) else target.type.to)
            count = Const(INT, size // scalar.bytes)
            return Call(VOID, "memset", (target, count, low.converted(Const(INT, 0), scalar, node)), low.place(node))
    raise low.error("memset works here only on an array of the thread, and only with 0", node)


def _made_vector(low: Lowering, vector: VectorType, arguments: list[Node], node: Node) -> Expr:
    parts = tuple(low.converted(low.scalar(argument), vector.scalar, node) for argument in arguments)
    return MakeVector(vector, parts)


STATEMENT_INTRINSICS: dict[str, StatementIntrinsic] = {**WARP_STATEMENTS, **ASYNCHRONOUS_STATEMENTS}
INTRINSICS: dict[str, Intrinsic] = {
    **dict.fromkeys(("move", "forward"), _passed_on),
    "printf": _printed,
    "assert": _checked,
    "__assert_fail": _ignored,
    "memset": _cleared,
    **dict.fromkeys(("__builtin_assume", "__nanosleep"), _ignored),
    **WARP_FUNCTIONS,
    **MEMORY_FUNCTIONS,
    **dict.fromkeys(("__ldg", "__ldcs", "__ldcg", "__ldca", "__ldcv", "__ldlu"), _load),
    **dict.fromkeys(("__stcs", "__stcg", "__stwb", "__stwt"), _store),
}
