"""Lowers assignments (plain, compound, ++ and --) to variables, components, pointers, memory and objects."""

from gemmviz.source.nodes import Const, Expr
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.assign import assign
from gemmviz.source.reader.copies import copied
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.lvalues import lvalue
from gemmviz.source.reader.symbols import Thing
from gemmviz.source.reader.syntax import bare, binary_symbol, unary_symbol
from gemmviz.source.types import INT, StructType


def _assignment(low: Lowering, node: Node) -> Expr | Thing:
    if node.kind == k.UNARY_OPERATOR:
        operator = unary_symbol(low.cursors, node)
        target = low.expression_of(lvalue(low, node.parts[0]), node.parts[0])
        return assign(low, target, operator.replace("x", "")[0], Const(INT, 1), node, node.parts[0], operator[0] == "x")
    op = binary_symbol(low.cursors, node).removesuffix("=")
    left, right = node.parts
    given = low.place_node(right)
    if not op and (isinstance(given, Thing) or isinstance(given.type, StructType)):
        return copied(low, low.place_node(left), given, node)
    value = low.value(right) if isinstance(given, Thing) else low.loaded(given, bare(right))
    return assign(low, low.expression_of(lvalue(low, left), left), op, value, node, left, False)


ASSIGNMENTS = {k.COMPOUND_ASSIGNMENT_OPERATOR: _assignment}
