"""Lowers initialisers, with and without braces, and literals."""

import re
from decimal import Decimal
from fractions import Fraction
from math import prod

from msgspec import Struct

from gemmviz.cuda import fold
from gemmviz.cuda.nodes import Const, Expr, MakeVector
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.cursors import Node
from gemmviz.cuda.reader.lowering import Lowering
from gemmviz.cuda.types import BOOL, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, ArrayType, CType, Scalar, VectorType

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


# Literals: numbers, characters, truth values, sizes.

_INTEGER = re.compile(r"(0[xX](?=[\da-fA-F])|0[bB](?=[01])|(?=\d))([\da-fA-F']+?)((?:[uU](?:l|L|ll|LL)?|(?:l|L|ll|LL)[uU]?)?)")
_DECIMAL = re.compile(r"((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)([fFlL]?)")
_HEXADECIMAL = re.compile(r"0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)[pP]([+-]?\d+)([fFlL]?)")
_MOST_BITS, _MOST_EXPONENT = 64, 5000  # of a significand, the last one being set where any is lost; beyond those of float64
_MOST_DIGITS = 4000


def integer_literal(low: Lowering, node: Node) -> Expr:
    found = _INTEGER.fullmatch(_text(low, node))
    if found and (found[1] or found[2][0].isdigit()) and len(found[2]) < _MOST_DIGITS:  # no template parameter's name
        constant = _integer(found[1] or "", found[2].replace("'", ""), found[3].lower())
        if constant is not None:
            return constant
    return known(low, node)


def _integer(prefix: str, digits: str, suffix: str) -> Const | None:
    """The constant of an integer literal, of the first type that can hold it."""
    base = {"0x": 16, "0b": 2}.get(prefix.lower(), 8 if digits[0] == "0" else 10)
    value = int(digits, base)
    choices = [INT, LONG, ULONG] if base == 10 else [INT, UINT, LONG, ULONG]
    for kind in [UINT, ULONG] if "u" in suffix else choices:
        if ("l" not in suffix or kind.bits == 64) and fold.wrap(value, kind) == value:
            return Const(kind, value)
    return None


def floating_literal(low: Lowering, node: Node) -> Expr:
    text = _text(low, node).replace("'", "")
    if len(text) < _MOST_DIGITS:
        if found := _DECIMAL.fullmatch(text):
            kind = _floating(found[2])
            return Const(kind, fold.literal_to_float(Decimal(found[1]), kind))
        if found := _HEXADECIMAL.fullmatch(text):
            return _hexadecimal(*found.groups(""))
    return known(low, node)


def _hexadecimal(whole: str, fraction: str, power: str, suffix: str) -> Const:
    kind, significand = _floating(suffix), int(whole + fraction, 16)
    exponent = int(power) - 4 * len(fraction)
    lost = max(0, significand.bit_length() - _MOST_BITS)
    significand = significand >> lost | (significand & ((1 << lost) - 1) > 0)
    exponent = max(-_MOST_EXPONENT, min(exponent + lost, _MOST_EXPONENT))
    return Const(kind, fold.literal_to_float(significand * Fraction(2) ** exponent, kind))


def _floating(suffix: str) -> Scalar:
    """The type of a floating-point literal. Devices have no long double: nvcc uses double."""
    return FLOAT if suffix in ("f", "F") else DOUBLE


def _text(low: Lowering, node: Node) -> str:
    span = low.cursors.span(node)
    return "" if span is None else low.cursors.text[span[0] : span[1]]


def known(low: Lowering, node: Node) -> Const:
    """The constant of an expression that the compiler evaluates. Raises SourceError if it can't."""
    value, ctype = low.cursors.evaluated(node), low.type_of(node)
    if value is None or not isinstance(ctype, Scalar):
        raise low.error("the value is not known before the kernel runs", node)
    return constant_of(value, ctype)


def constant_of(value: float, ctype: Scalar) -> Const:
    if ctype.is_float:
        is_exact = value and _is_finite(value)  # a fraction has no negative zero
        return Const(ctype, fold.literal_to_float(Fraction(value), ctype) if is_exact else float(value))
    return Const(ctype, bool(value) if ctype is BOOL else fold.wrap(int(value), ctype))


def _is_finite(value: float) -> bool:
    return value - value == 0


def truth(low: Lowering, node: Node) -> Expr:
    text = _text(low, node)
    return Const(BOOL, text == "true" if text in ("true", "false") else bool(low.cursors.evaluated(node)))


def _size_of(low: Lowering, node: Node) -> Expr:
    """The node of ``sizeof``, ``alignof`` and ``sizeof...``."""
    value = low.cursors.evaluated(node)
    if value is None:
        raise low.error("the size is not known before the kernel runs", node)
    return Const(ULONG, int(value))


def null(low: Lowering, node: Node) -> Expr:
    """The node of ``nullptr``: zero, which becomes a pointer where one is needed."""
    return Const(INT, 0)


LITERALS = {
    k.NULL_PTR_LITERAL_EXPR: null,
    k.GNU_NULL_EXPR: null,
    k.INTEGER_LITERAL: integer_literal,
    k.FLOATING_LITERAL: floating_literal,
    k.CHARACTER_LITERAL: known,
    k.BOOL_LITERAL_EXPR: truth,
    k.SIZE_OF_EXPR: _size_of,
    k.SIZE_OF_PACK_EXPR: _size_of,
}
