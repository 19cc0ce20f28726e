"""Reads calls of what CUDA C provides: arithmetic, vectors, shuffles, assert, memset."""

from collections.abc import Callable
from typing import Any

from tree_sitter import Node

from gemmviz.model.errors import closest
from gemmviz.source import fold
from gemmviz.source.lowering import Lowering
from gemmviz.source.nodes import Call, Const, Deref, Expr, MakeVector, Sequence
from gemmviz.source.scope import Function
from gemmviz.source.types import DOUBLE, FLOAT, INT, UINT, VOID, Pointer, Scalar, Vector, common, named_type, scalar_of

_SAME_FLOAT = {  # result and arguments are the function's own floating type
    **{name + suffix: kind for name in (
        "sqrt", "rsqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tanh", "floor", "ceil", "round", "trunc", "fabs",
        "fmin", "fmax", "fma", "pow", "fmod",
    ) for suffix, kind in (("", DOUBLE), ("f", FLOAT))},
    "__fmaf_rn": FLOAT, "__fadd_rn": FLOAT, "__fmul_rn": FLOAT, "__expf": FLOAT, "__fma_rn": DOUBLE,
}  # fmt: skip
_ARITIES = {"fma": 3, "fmaf": 3, "__fmaf_rn": 3, "__fma_rn": 3} | {
    name: 2 for name in ("fmin", "fminf", "fmax", "fmaxf", "pow", "powf", "fmod", "fmodf", "__fadd_rn", "__fmul_rn")
}
_SHUFFLES = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"}
_INTEGER = {"__mul24": INT, "__umul24": UINT}
_IGNORED = {"printf": "printf prints nothing here", "__threadfence": "", "__threadfence_block": "", "__builtin_assume": ""}
_INTRINSICS = {*_SAME_FLOAT, *_SHUFFLES, *_INTEGER, *_IGNORED, "min", "max", "abs", "__ldg", "assert", "__syncthreads"}


def only(low: Lowering, arguments: list[Node], node: Node) -> Expr:
    """The value of a call's single argument. Raises SourceError where there are none or more."""
    if len(arguments) != 1:
        raise low.tree.error("this takes one argument", node)
    return low.value(arguments[0])


def intrinsic(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    """A call of something that CUDA C provides. Raises SourceError for a function that gemmviz doesn't know."""
    if name in _IGNORED:
        if _IGNORED[name]:
            low.note(f"line {low.tree.place(node).line}: {_IGNORED[name]}")
        return Sequence(VOID, ())
    if name.startswith("make_") and isinstance(vector := named_type(name[5:]), Vector):
        return _made_vector(low, vector, arguments, node)
    if isinstance(named := named_type(name), Scalar):
        return low.converted(only(low, arguments, node), named, node)
    if name == "memset":
        return _cleared(low, arguments, node)
    if name not in _INTRINSICS or name == "__syncthreads":
        why = "it must stand alone as a statement" if name == "__syncthreads" else closest(name, _function_names(low))
        raise low.tree.error(f"the function {name} is not known", node, why)
    place = low.tree.place(node)
    if name == "assert":
        if not arguments:
            raise low.tree.error("assert takes a condition", node)
        return Call(VOID, name, (low.condition(arguments[0]),), place)
    if name == "__ldg":
        pointer = only(low, arguments, node)
        if not isinstance(pointer.type, Pointer):
            raise low.tree.error("__ldg takes a pointer", node)
        return low.loaded(Deref(pointer.type.to, pointer, place), node)
    values = [low.scalar(argument) for argument in arguments]
    if name in _SHUFFLES:
        return _shuffle(low, name, values, node)
    if name in ("min", "max", "abs"):
        return _of_common_type(low, name, values, node)
    kind = _SAME_FLOAT.get(name) or _INTEGER[name]
    if name in ("ceil", "floor", "fabs", "sqrt", "fma", "fmin", "fmax") and all(v.type == FLOAT for v in values):
        kind = FLOAT  # C++ overloads
    arity = 2 if name in _INTEGER else _ARITIES.get(name, 1)
    if len(values) != arity:
        raise low.tree.error(f"{name} takes {arity} arguments, not {len(values)}", node)
    return _folded(Call(kind, name, tuple(low.converted(value, kind, node) for value in values), place))


def _cleared(low: Lowering, arguments: list[Node], node: Node) -> Expr:
    """Memset of an array of this thread to zero."""
    if len(arguments) == 3:
        target, value = low.value(arguments[0]), low.value(arguments[1])
        size = low.constant(arguments[2], "the size for memset")
        if isinstance(target.type, Pointer) and target.type.space == "local" and isinstance(value, Const) and not value.value:
            scalar = scalar_of(target.type.to)
            count = Const(INT, size // scalar.bytes)
            return Call(VOID, "memset", (target, count, low.converted(Const(INT, 0), scalar, node)), low.tree.place(node))
    raise low.tree.error("memset works here only on an array of the thread, and only with 0", node)


def _function_names(low: Lowering) -> list[str]:
    return [*_INTRINSICS, *(name for name in low.scope.all_names() if isinstance(low.scope.find(name), Function))]


def _made_vector(low: Lowering, vector: Vector, arguments: list[Node], node: Node) -> Expr:
    if len(arguments) != vector.count:
        raise low.tree.error(f"make_{vector} takes {vector.count} arguments, not {len(arguments)}", node)
    parts = tuple(low.converted(low.scalar(argument), vector.scalar, node) for argument in arguments)
    return MakeVector(vector, parts)


def _of_common_type(low: Lowering, name: str, values: list[Expr], node: Node) -> Expr:
    arity = 1 if name == "abs" else 2
    kinds = [value.type for value in values if isinstance(value.type, Scalar)]
    if len(kinds) != arity:
        raise low.tree.error(f"{name} takes {arity} arguments, not {len(values)}", node)
    kind = common(kinds[0], kinds[-1])
    converted = tuple(low.converted(value, kind, node) for value in values)
    return _folded(Call(kind, name, converted, low.tree.place(node)))


def _folded(made: Call) -> Expr:
    numbers = [arg.value for arg in made.args if isinstance(arg, Const)]
    if len(numbers) == len(made.args) and isinstance(made.type, Scalar):
        simple: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}
        rounded = {"ceil": lambda x: -(-x // 1), "floor": lambda x: x // 1}
        if made.name in simple:
            return Const(made.type, simple[made.name](*numbers))
        if made.name.removesuffix("f") in rounded:
            return Const(made.type, fold.convert(rounded[made.name.removesuffix("f")](*numbers), made.type))
    return made


def _shuffle(low: Lowering, name: str, values: list[Expr], node: Node) -> Expr:
    if not 3 <= len(values) <= 4:
        raise low.tree.error(f"{name} takes a mask, a value and a lane", node)
    width = values[3] if len(values) == 4 else Const(INT, 32)
    lane = low.converted(values[2], INT, node)
    return Call(values[1].type, name, (values[1], lane, low.converted(width, INT, node)), low.tree.place(node))
