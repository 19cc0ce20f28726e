"""Lowers casts of numbers, pointers and references."""

from gemmviz.model.records import replace
from gemmviz.source.nodes import Expr, Reinterpret, Sequence
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.expressions import address_of, pointee
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.symbols import Thing
from gemmviz.source.reader.syntax import bare, is_reference_cast
from gemmviz.source.types import ArrayType, CType, PointerType, Scalar, StructType, VectorType, Void


def cast(low: Lowering, node: Node) -> Expr | Thing:
    """The node of ``(T)x``, ``T(x)``, ``static_cast<T>(x)`` and so on."""
    parts = node.parts
    if not parts:  # T()
        return low.expressions[k.INIT_LIST_EXPR](low, node)
    value = parts[-1]
    to = low.type_of(node)
    if isinstance(to, Void):
        return Sequence(to, (low.discarded(value),))
    found = low.place_node(value)
    if isinstance(found, Thing):
        return found
    if _is_reference_cast(low, node, found.type, to):
        return _as_reference(low, found, to, node)
    return converted_by_cast(low, low.loaded(found, bare(value)), to, node)


def _is_reference_cast(low: Lowering, node: Node, have: CType, to: CType) -> bool:
    """Whether a cast designates the same memory as another type."""
    if isinstance(to, VectorType | StructType) or (isinstance(have, VectorType) and isinstance(to, Scalar)):
        return have != to
    return isinstance(have, Scalar) and isinstance(to, Scalar) and is_reference_cast(low.cursors, node)


def _as_reference(low: Lowering, found: Expr, to: CType, node: Node) -> Expr | Thing:
    if found.type == to:
        return found
    pointer = address_of(low, found, node)
    assert not isinstance(pointer, Thing)
    return pointee(low, converted_by_cast(low, pointer, PointerType(to), node), node)


def converted_by_cast(low: Lowering, value: Expr, to: CType, node: Node) -> Expr:
    match value.type, to:
        case PointerType(to=have, space=space), PointerType(to=want) as pointer:
            if isinstance(want, ArrayType) and space is not None:
                pointer = PointerType(replace(want, space=space), space, pointer.is_const)
            return value if have == want else Reinterpret(pointer.into(space), value, low.place(node))
    return low.converted(value, to, node)


def compound_literal(low: Lowering, node: Node) -> Expr | Thing:
    return low.place_node(node.parts[-1])


CASTS = {
    k.CSTYLE_CAST_EXPR: cast,
    k.FUNCTIONAL_CAST_EXPR: cast,
    k.STATIC_CAST_EXPR: cast,
    k.REINTERPRET_CAST_EXPR: cast,
    k.CONST_CAST_EXPR: cast,
    k.ADDRESS_SPACE_CAST_EXPR: cast,
    k.COMPOUND_LITERAL_EXPR: compound_literal,
}
