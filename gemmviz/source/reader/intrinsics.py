"""Calls of CUDA's own functions, by name.

To add one, write a function ``(low, name, arguments, node) -> Expr`` and put it into a table: ``low.value(argument)`` is an
argument's value (its loads are numbered), ``low.place_node(argument)`` what it designates, ``low.add_access(kind, space, node,
width)`` a new access at the place of the call, ``low.constant(argument, "what")`` a number that must be known, ``low.note`` a
sentence about something ignored. ``STATEMENT_INTRINSICS``: those that give a statement, such as barriers.
"""

from collections.abc import Callable

from gemmviz.source import fold
from gemmviz.source.functions import FUNCTIONS, function_for
from gemmviz.source.nodes import Block, Call, Const, Deref, Expr, Inline, MakeVector, Reinterpret, Sequence, Stmt
from gemmviz.source.reader.assign import assign
from gemmviz.source.reader.asynchronous import ASYNCHRONOUS_STATEMENTS, MEMORY_FUNCTIONS
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.inlining import inlined
from gemmviz.source.reader.library import RawCursor
from gemmviz.source.reader.literals import known
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.operators import operated
from gemmviz.source.reader.symbols import Thing
from gemmviz.source.reader.warps import WARP_FUNCTIONS, WARP_STATEMENTS
from gemmviz.source.types import INT, VOID, ArrayType, PointerType, Scalar, VectorType, named_type, scalar_of

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
