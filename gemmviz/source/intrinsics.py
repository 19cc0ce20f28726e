"""Lowers calls of CUDA C's built-in functions: arithmetic, vectors, shuffles, assert, memset."""

from tree_sitter import Node

from gemmviz.model.errors import closest
from gemmviz.source import fold
from gemmviz.source.functions import FUNCTIONS, function_for
from gemmviz.source.lowering import Lowering
from gemmviz.source.nodes import Call, Const, Deref, Expr, MakeVector, Sequence
from gemmviz.source.scope import FunctionScope
from gemmviz.source.types import INT, UINT, VOID, PointerType, Scalar, VectorType, named_type, promoted, scalar_of

_SHUFFLES = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"}
_IGNORED = {"printf": "printf prints nothing here", "__threadfence": "", "__threadfence_block": "", "__builtin_assume": ""}
_INTRINSICS = {*FUNCTIONS, *_SHUFFLES, *_IGNORED, "min", "max", "abs", "__ldg", "assert", "memset", "__syncthreads"}


def only(low: Lowering, arguments: list[Node], node: Node) -> Expr:
    """The value of a call's single argument. Raises SourceError for any other number of arguments."""
    if len(arguments) != 1:
        raise low.tree.error("this takes one argument", node)
    return low.value(arguments[0])


def intrinsic_named(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    """The node of a call of a built-in function. Raises SourceError for a function that gemmviz doesn't know."""
    if name in _IGNORED:
        if _IGNORED[name]:
            low.note(f"line {low.tree.place(node).line}: {_IGNORED[name]}")
        return Sequence(VOID, ())
    if name.startswith("make_") and isinstance(vector := named_type(name[5:]), VectorType):
        return _made_vector(low, vector, arguments, node)
    if isinstance(named := named_type(name), Scalar):
        return low.converted(only(low, arguments, node), named, node)
    if name == "memset":
        return _cleared(low, arguments, node)
    if name not in _INTRINSICS or name == "__syncthreads":
        why = "it must stand alone as a statement" if name == "__syncthreads" else closest(name, _function_names(low))
        raise low.tree.error(f"the function {name} is not known", node, why, id="unknown-name")
    place = low.tree.place(node)
    if name == "assert":
        if not arguments:
            raise low.tree.error("assert takes a condition", node)
        return Call(VOID, name, (low.condition(arguments[0]),), place)
    if name == "__ldg":
        pointer = only(low, arguments, node)
        if not isinstance(pointer.type, PointerType):
            raise low.tree.error("__ldg takes a pointer", node)
        return low.loaded(Deref(pointer.type.to, pointer, place), node)  # type: ignore[arg-type]
    values = [low.scalar(argument) for argument in arguments]
    return _shuffle(low, name, values, node) if name in _SHUFFLES else _computed(low, name, values, node)


def _computed(low: Lowering, name: str, values: list[Expr], node: Node) -> Expr:
    """The node of a function from numbers to a number, folded if its arguments are constants."""
    function = function_for(name, [value.type for value in values if isinstance(value.type, Scalar)])
    arity = 1 if function is None else len(function.parameters)
    if function is None or len(values) != arity:
        raise low.tree.error(f"{name} takes {arity} argument{'s' if arity > 1 else ''}, not {len(values)}", node)
    converted = [
        low.converted(value, kind, node)
        for value, kind in zip(values, function.parameters, strict=True)  # type: ignore[arg-type]
    ]
    numbers = [each.value for each in converted if isinstance(each, Const)]
    if len(numbers) == arity and (chosen := fold.common_choice(name, numbers)) is not None:
        return Const(function.result, fold.wrap(chosen, function.result))  # type: ignore[arg-type]
    return Call(function.result, name, tuple(converted), low.tree.place(node))


def _cleared(low: Lowering, arguments: list[Node], node: Node) -> Expr:
    """The node of a memset that zeroes an array of this thread."""
    if len(arguments) == 3:
        target, value = low.value(arguments[0]), low.value(arguments[1])
        size = int(low.constant(arguments[2], "the size for memset").value)
        if (
            isinstance(target.type, PointerType)
            and target.type.space == "local"
            and isinstance(value, Const)
            and not value.value
        ):
            scalar = scalar_of(target.type.to)
            count = Const(INT, size // scalar.bytes)
            return Call(VOID, "memset", (target, count, low.converted(Const(INT, 0), scalar, node)), low.tree.place(node))
    raise low.tree.error("memset works here only on an array of the thread, and only with 0", node)


def _function_names(low: Lowering) -> list[str]:
    return [*_INTRINSICS, *(name for name in low.scope.all_names() if isinstance(low.scope.find(name), FunctionScope))]


def _made_vector(low: Lowering, vector: VectorType, arguments: list[Node], node: Node) -> Expr:
    if len(arguments) != vector.count:
        raise low.tree.error(f"make_{vector} takes {vector.count} arguments, not {len(arguments)}", node)
    parts = tuple(low.converted(low.scalar(argument), vector.scalar, node) for argument in arguments)
    return MakeVector(vector, parts)


def _shuffle(low: Lowering, name: str, values: list[Expr], node: Node) -> Expr:
    if not 3 <= len(values) <= 4:
        raise low.tree.error(f"{name} takes a mask, a value and a lane", node)
    width = values[3] if len(values) == 4 else Const(INT, 32)
    assert isinstance(values[1].type, Scalar)
    kind = promoted(values[1].type)
    types = (UINT, kind, INT, INT)
    converted = tuple(low.converted(each, to, node) for each, to in zip((*values[:3], width), types, strict=True))
    return Call(kind, name, converted, low.tree.place(node))
