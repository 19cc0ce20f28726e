"""Reads what is written down as it is: numbers, characters, truth values, braces."""

import re

from tree_sitter import Node

from gemmviz.source import fold
from gemmviz.source.declarators import specified_type
from gemmviz.source.lowering import Lowering
from gemmviz.source.nodes import Const, Expr, MakeVector
from gemmviz.source.syntax import child, children
from gemmviz.source.types import BOOL, CHAR, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, CType, Vector


def number(low: Lowering, node: Node) -> Expr:
    text = low.tree.text(node).replace("'", "")
    if text[0] in "+-":  # the parser takes a sign for part of the number
        return _signed(_number(low, text[1:].lstrip(), node), text[0])
    return _number(low, text, node)


def _signed(constant: Const, sign: str) -> Const:
    return Const(constant.type, fold.unary(sign, constant.value, constant.type))


def _number(low: Lowering, text: str, node: Node) -> Const:
    found = re.fullmatch(r"(0[xX][\da-fA-F]+|0[bB][01]+|[\d.]+(?:[eE][+-]?\d+)?)([uUlLfF]*)", text)
    if found is None:
        raise low.tree.error(f"{text[:40]!r} is no number", node)
    digits, suffix = found[1], found[2].lower()
    is_hex = digits[:2].lower() in ("0x", "0b")
    if not is_hex and ("." in digits or "e" in digits.lower() or "f" in suffix):
        kind = FLOAT if "f" in suffix else DOUBLE
        return Const(kind, fold.convert(float(digits), kind))
    octal = not is_hex and len(digits) > 1 and digits[0] == "0"
    try:
        value = int(digits, 8) if octal else int(digits, 0)
    except ValueError:
        value = 1 << 64
    if value >= 1 << 64:
        raise low.tree.error("this is no number, or a number of too many digits", node)
    choices = [INT, UINT, LONG, ULONG] if is_hex or octal else [INT, LONG, ULONG]
    if "u" in suffix:
        choices = [UINT, ULONG]
    if "l" in suffix:
        choices = [kind for kind in choices if kind.bits == 64]
    kind = next((kind for kind in choices if fold.wrapped(value, kind) == value), ULONG)
    return Const(kind, value)


def truth(low: Lowering, node: Node) -> Expr:
    return Const(BOOL, node.type == "true")


def character(low: Lowering, node: Node) -> Expr:
    text = low.tree.text(node)[1:-1]
    plain = {"\\n": "\n", "\\t": "\t", "\\0": "\0", "\\\\": "\\", "\\'": "'"}.get(text, text)
    if len(plain) != 1:
        raise low.tree.unsupported(node)
    return Const(CHAR, ord(plain))


def compound_literal(low: Lowering, node: Node) -> Expr:
    """``float4{1, 2, 3, 4}``."""
    return initialised(low, child(node, "value"), specified_type(low, child(node, "type")))


def initialised(low: Lowering, node: Node, ctype: CType) -> Expr:
    """The value of a variable from its initialiser, with or without braces."""
    if node.type not in ("initializer_list", "argument_list"):
        return low.converted(low.value(node), ctype, node)
    inside = children(node)
    if isinstance(ctype, Vector) and not (len(inside) == 1 and low.value(inside[0]).type == ctype):
        if len(inside) > ctype.count:
            raise low.tree.error(f"{len(inside)} values for a {ctype}", node)
        parts = [low.converted(low.scalar(each), ctype.scalar, each) for each in inside]
        zero = low.converted(Const(INT, 0), ctype.scalar, node)
        return MakeVector(ctype, (*parts, *[zero] * (ctype.count - len(parts))))
    if len(inside) > 1:
        raise low.tree.unsupported(node)
    return low.converted(low.value(inside[0]) if inside else Const(INT, 0), ctype, node)


LITERALS = {
    "number_literal": number,
    "true": truth,
    "false": truth,
    "char_literal": character,
    "compound_literal_expression": compound_literal,
}
