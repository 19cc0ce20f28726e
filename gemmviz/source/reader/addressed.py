"""Finds variables whose address is taken, so that they need memory."""

from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Cursors, Node
from gemmviz.source.reader.syntax import bare, unary_symbol


def addressed_in(cursors: Cursors, tree: Node) -> set[int]:
    """Keys of the variables of a function whose address is taken."""
    found, waiting = set[int](), [tree]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.kind == k.UNARY_OPERATOR and unary_symbol(cursors, node) == "&":
            target = bare(node.parts[0])
            while target.kind == k.MEMBER_REF_EXPR and target.parts:
                target = bare(target.parts[0])
            if target.kind == k.DECL_REF_EXPR and (declaration := cursors.referenced(target)) is not None:
                found.add(declaration.first)
    return found
