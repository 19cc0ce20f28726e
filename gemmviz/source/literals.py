"""Lowers literals: numbers, characters, booleans, braced values."""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from tree_sitter import Node

from gemmviz.source import fold, rounding
from gemmviz.source.declarators import specified_type
from gemmviz.source.lowering import Lowering
from gemmviz.source.nodes import Const, Expr, MakeVector
from gemmviz.source.syntax import child, children
from gemmviz.source.types import BOOL, CHAR, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, CType, Scalar, VectorType


def number_literal(low: Lowering, node: Node) -> Expr:
    if low.tree.is_name(node):
        return low.expressions["identifier"](low, node)
    text = low.tree.text(node).replace("'", "")
    if text[0] in "+-":  # the parser takes a sign for part of the number
        return _signed(_number(low, text[1:].lstrip(), node), text[0])
    return _number(low, text, node)


def _signed(constant: Const, sign: str) -> Const:
    return Const(constant.type, fold.apply_unary(sign, constant.value, constant.type))


def _number(low: Lowering, text: str, node: Node) -> Const:
    for pattern, read in _NUMBERS:
        if found := pattern.fullmatch(text):
            try:
                return read(*found.groups(""))
            except (ValueError, InvalidOperation):
                raise low.tree.error("this is not a number, or it has too many digits", node) from None
    raise low.tree.error(f"{text[:40]!r} is not a number", node)


def _integer(prefix: str, digits: str, suffix: str) -> Const:
    """The node of an integer literal. Raises ValueError if no type can hold it."""
    base = {"0x": 16, "0b": 2}.get(prefix.lower(), 8 if digits[0] == "0" else 10)
    value, suffix = int(digits, base), suffix.lower()
    choices = [INT, LONG, ULONG] if base == 10 else [INT, UINT, LONG, ULONG]
    if "u" in suffix:
        choices = [UINT, ULONG]
    for kind in choices:
        if ("l" not in suffix or kind.bits == 64) and fold.wrap(value, kind) == value:
            return Const(kind, value)
    raise ValueError


def _decimal(digits: str, suffix: str) -> Const:
    kind = _floating(suffix)
    return Const(kind, rounding.literal_to_float(Decimal(digits), kind))


def _hexadecimal(whole: str, fraction: str, power: str, suffix: str) -> Const:
    kind, significand = _floating(suffix), int(whole + fraction or "none", 16)
    exponent = int(power) - 4 * len(fraction)
    lost = max(0, significand.bit_length() - _MOST_BITS)
    significand = significand >> lost | (significand & ((1 << lost) - 1) > 0)
    exponent = max(-_MOST_EXPONENT, min(exponent + lost, _MOST_EXPONENT))
    return Const(kind, rounding.literal_to_float(significand * Fraction(2) ** exponent, kind))


def _floating(suffix: str) -> Scalar:
    """The type of a floating-point literal. Devices have no long double: nvcc uses double."""
    return FLOAT if suffix in ("f", "F") else DOUBLE


_MOST_BITS, _MOST_EXPONENT = 64, 5000  # of a significand, the last one being set where any is lost; beyond those of float64
_NUMBERS: tuple[tuple[re.Pattern[str], Callable[..., Const]], ...] = (
    (re.compile(r"((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)([fFlL]?)"), _decimal),
    (re.compile(r"0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)[pP]([+-]?\d+)([fFlL]?)"), _hexadecimal),
    (re.compile(r"(0[xX](?=[\da-fA-F])|0[bB](?=[01]))?([\da-fA-F]+?)((?:[uU](?:l|L|ll|LL)?|(?:l|L|ll|LL)[uU]?)?)"), _integer),
)


def truth(low: Lowering, node: Node) -> Expr:
    return Const(BOOL, node.type == "true")


_ESCAPES = dict(zip("ntrabfv\\'\"?", "\n\t\r\a\b\f\v\\'\"?", strict=True))
_CHARACTER = re.compile(r"'(?:([^\\'])|\\([ntrabfv\\'\"?])|\\x([\da-fA-F]{1,2})|\\([0-7]{1,3}))'")


def character(low: Lowering, node: Node) -> Expr:
    found = _CHARACTER.fullmatch(low.tree.text(node))
    if found is None:
        raise low.tree.unsupported(node)
    plain, escape, hexadecimal, octal = found.groups()
    code = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else ord(plain or _ESCAPES[escape])
    return Const(CHAR, fold.wrap(code, CHAR))


def compound_literal(low: Lowering, node: Node) -> Expr:
    """The node of ``float4{1, 2, 3, 4}``."""
    return initialised(low, child(node, "value"), specified_type(low, child(node, "type")))


def initialised(low: Lowering, node: Node, ctype: CType) -> Expr:
    """The value of a variable from its initialiser, with or without braces."""
    if node.type not in ("initializer_list", "argument_list"):
        return low.converted(low.value(node), ctype, node)
    inside = children(node)
    if not inside:
        return zero_of(low, ctype, node)
    values = [low.value(each) for each in inside]
    if isinstance(ctype, VectorType) and values[0].type != ctype:
        return _vector(low, values, ctype, node)
    if len(inside) > 1:
        raise low.tree.unsupported(node)
    return low.converted(values[0], ctype, node)


def _vector(low: Lowering, values: list[Expr], ctype: VectorType, node: Node) -> Expr:
    if len(values) > ctype.count:
        raise low.tree.error(f"{len(values)} values for a {ctype}", node)
    zero = zero_of(low, ctype.scalar, node)
    parts = [low.converted(each, ctype.scalar, node) for each in values]
    return MakeVector(ctype, (*parts, *[zero] * (ctype.count - len(parts))))


def zero_of(low: Lowering, ctype: CType, node: Node) -> Expr:
    """The value of a variable initialised by empty braces."""
    return _vector(low, [], ctype, node) if isinstance(ctype, VectorType) else low.converted(Const(INT, 0), ctype, node)


LITERALS = {
    "number_literal": number_literal,
    "true": truth,
    "false": truth,
    "char_literal": character,
    "compound_literal_expression": compound_literal,
}
