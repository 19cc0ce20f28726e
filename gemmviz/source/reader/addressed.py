"""Finds variables whose address is taken, so that they need memory."""

from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Cursors, Node
from gemmviz.source.reader.syntax import bare, is_reference_cast, unary_symbol

_CASTS = (k.REINTERPRET_CAST_EXPR, k.CSTYLE_CAST_EXPR)
_POINTERS = (k.T_POINTER, k.T_NULL_PTR)


def addressed_in(cursors: Cursors, tree: Node) -> set[int]:
    """Keys of the variables of a function whose address is taken."""
    found, waiting = set[int](), [tree]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if _takes_address(cursors, node):
            target = bare(node.parts[-1])
            while target.kind == k.MEMBER_REF_EXPR and target.parts:
                target = bare(target.parts[0])
            if target.kind == k.DECL_REF_EXPR and (declaration := cursors.referenced(target)) is not None:
                found.add(declaration.first)
    return found


def _takes_address(cursors: Cursors, node: Node) -> bool:
    """Whether an expression takes its operand's address: ``&x``, or a cast to a reference to another type."""
    if node.kind == k.UNARY_OPERATOR:
        return unary_symbol(cursors, node) == "&"
    if node.kind not in _CASTS or not node.parts:
        return False
    have, to = (cursors.lib.getCanonicalType(cursors.type(each)) for each in (bare(node.parts[-1]), node))
    is_of_values = have.kind not in _POINTERS and to.kind not in _POINTERS and have.pointer != to.pointer
    return is_of_values and is_reference_cast(cursors, node)
