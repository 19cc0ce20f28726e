"""Lowers initialisers of arrays, such as ``{{1, 2}, {3}}``: the values of their elements."""

from dataclasses import dataclass
from math import prod

from tree_sitter import Node

from gemmviz.source.literals import initialised, zero_of
from gemmviz.source.lowering import Lowering
from gemmviz.source.nodes import Expr
from gemmviz.source.syntax import children
from gemmviz.source.types import ArrayType

Placed = list[tuple[int, Node]]  # elements, counted from the array's first, and what each is given


@dataclass(slots=True)
class _Items:
    """The parts of a list in braces and the number of parts used so far."""

    nodes: list[Node]
    used: int = 0

    @property
    def next(self) -> Node | None:
        return self.nodes[self.used] if self.used < len(self.nodes) else None


def items_of(low: Lowering, node: Node) -> list[Node]:
    """The parts of a list in braces. Raises SourceError for any other value."""
    if node.type != "initializer_list":
        raise low.tree.error("an array's value is a list in {}", node)
    return children(node)


def rows_given(low: Lowering, node: Node, inner: tuple[int, ...]) -> int:
    """Number of rows, each of extents ``inner``, for which a list has values: the extent that the declaration leaves open."""
    nodes = items_of(low, node)
    last = max((at for at, _ in _placed(low, node, (len(nodes), *inner))), default=-1)
    return last // prod(inner) + 1


def values_of(low: Lowering, node: Node, array: ArrayType) -> tuple[Expr, ...]:
    """Values of the elements from the first to the last initialised one, zero in between."""
    zero, values = zero_of(low, array.element, node), list[Expr]()
    for at, each in _placed(low, node, array.dims):
        values += [zero] * (at - len(values))
        values.append(initialised(low, each, array.element))
    return tuple(values)


def _placed(low: Lowering, node: Node, dims: tuple[int, ...]) -> Placed:
    """Values by element. Raises SourceError for more values than an array of these extents has elements."""
    items, found = _Items(items_of(low, node)), list[tuple[int, Node]]()
    _place(low, items, dims, 0, found)
    if items.next is not None:
        raise low.tree.error(f"{len(items.nodes)} values for an array of {dims[0]}", node)
    return found


def _place(low: Lowering, items: _Items, dims: tuple[int, ...], at: int, found: Placed) -> None:
    """Adds the values of an array of extents ``dims`` that begins at element ``at``. Inner braces may be omitted."""
    inner, stride = dims[1:], prod(dims[1:])
    for row in range(dims[0]):
        node = items.next
        if node is None:
            return
        if inner and node.type != "initializer_list":
            _place(low, items, inner, at + row * stride, found)
            continue
        items.used += 1
        if inner:
            found += [(at + row * stride + place, each) for place, each in _placed(low, node, inner)]
        else:
            found.append((at + row, node))
