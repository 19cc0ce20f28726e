"""Operators of cursors, and expressions without what is around them."""

from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Cursors, Node

_BINARY = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||",
    "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip
_UNARY = ("", "x++", "x--", "++x", "--x", "&", "*", "+", "-", "~", "!", "__real", "__imag", "__extension__", "co_await")


def binary_symbol(cursors: Cursors, node: Node) -> str:
    return _BINARY[cursors.lib.getCursorBinaryOperatorKind(node.cursor)]


def unary_symbol(cursors: Cursors, node: Node) -> str:
    return _UNARY[cursors.lib.getCursorUnaryOperatorKind(node.cursor)]


def bare(node: Node) -> Node:
    """The expression within parentheses and implicit conversions."""
    while node.kind in (k.UNEXPOSED_EXPR, k.PAREN_EXPR):
        parts = node.parts
        if len(parts) != 1:
            return node
        node = parts[0]
    return node
