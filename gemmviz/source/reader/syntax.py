"""Operators of cursors, and expressions without what is around them."""

from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Cursors, Node, closing

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


def is_reference_cast(cursors: Cursors, node: Node) -> bool:
    """Whether a cast of numbers designates the same memory, as ``reinterpret_cast<int&>(x)`` does. libclang doesn't say it."""
    if node.kind == k.REINTERPRET_CAST_EXPR:
        return True
    span = cursors.span(node) if node.kind == k.CSTYLE_CAST_EXPR else None
    text = "" if span is None else cursors.text[span[0] : span[1]]
    return text[: closing(text, 0)].rstrip().endswith("&") if text.startswith("(") else False
