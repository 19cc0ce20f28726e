"""Lowers initialisers: values with and without braces of numbers, vectors, arrays."""

from math import prod

from msgspec import Struct

from gemmviz.cuda.nodes import Const, Expr, MakeVector
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.cursors import Node
from gemmviz.cuda.reader.lowering import Lowering
from gemmviz.cuda.types import INT, ArrayType, CType, Scalar, VectorType

Placed = list[tuple[int, Node]]  # elements, counted from the array's first, and what each is given


class Items(Struct):
    """The parts of a list in braces and the number of parts used so far."""

    nodes: list[Node]
    used: int = 0

    @property
    def next(self) -> Node | None:
        return self.nodes[self.used] if self.used < len(self.nodes) else None


def stripped(node: Node) -> Node:
    """A list in braces within an implicit conversion or a copy."""
    while node.kind in (k.UNEXPOSED_EXPR, k.PAREN_EXPR) and len(node.parts) == 1:
        node = node.parts[0]
    return node


def initialised(low: Lowering, node: Node, ctype: CType) -> Expr:
    """The value of a variable from its initialiser, with or without braces."""
    inner = stripped(node)
    if inner.kind != k.INIT_LIST_EXPR:
        return low.converted(low.value(node), ctype, node)
    inside = inner.parts
    if not inside:
        return zero_of(low, ctype, node)
    values = [low.value(each) for each in inside]
    if isinstance(ctype, VectorType) and values[0].type != ctype:
        return vector_of(low, values, ctype, node)
    if len(inside) > 1:
        raise low.unsupported(node)
    return low.converted(values[0], ctype, node)


def vector_of(low: Lowering, values: list[Expr], ctype: VectorType, node: Node) -> Expr:
    if len(values) > ctype.count:
        raise low.error(f"{len(values)} values for a {ctype}", node)
    zero = zero_of(low, ctype.scalar, node)
    parts = [low.converted(each, ctype.scalar, node) for each in values]
    return MakeVector(ctype, (*parts, *[zero] * (ctype.count - len(parts))))


def zero_of(low: Lowering, ctype: CType, node: Node) -> Expr:
    """The value of a variable initialised by empty braces."""
    return vector_of(low, [], ctype, node) if isinstance(ctype, VectorType) else low.converted(Const(INT, 0), ctype, node)


def values_of(low: Lowering, node: Node, array: ArrayType) -> tuple[Expr, ...]:
    """Values of the elements from the first to the last initialised one, zero in between."""
    assert isinstance(array.element, Scalar | VectorType)
    values = list[Expr]()
    for at, each in _placed(low, stripped(node), array.dims):
        if at > len(values):
            values += [zero_of(low, array.element, node)] * (at - len(values))
        values.append(initialised(low, each, array.element))
    return tuple(values)


def _placed(low: Lowering, node: Node, dims: tuple[int, ...]) -> Placed:
    """Values by element. Raises SourceError for more values than an array of these extents has elements."""
    if node.kind != k.INIT_LIST_EXPR:
        raise low.error("an array's value is a list in {}", node)
    items, found = Items(node.parts), list[tuple[int, Node]]()
    _place(low, items, dims, 0, found)
    if items.next is not None:
        raise low.error(f"{len(items.nodes)} values for an array of {dims[0]}", node)
    return found


def _place(low: Lowering, items: Items, dims: tuple[int, ...], at: int, found: Placed) -> None:
    """Adds the values of an array of extents ``dims`` that begins at element ``at``. Inner braces may be omitted."""
    inner, stride = dims[1:], prod(dims[1:])
    for row in range(dims[0]):
        node = items.next
        if node is None:
            return
        if inner and stripped(node).kind != k.INIT_LIST_EXPR:
            _place(low, items, inner, at + row * stride, found)
            continue
        items.used += 1
        if inner:
            found += [(at + row * stride + place, each) for place, each in _placed(low, stripped(node), inner)]
        else:
            found.append((at + row, node))
