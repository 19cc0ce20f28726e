"""Lowers lambdas: known functions whose captured variables are those around, or copies of them."""

from gemmviz.source.nodes import Expr
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.symbols import Function, Thing
from gemmviz.source.types import INT


def lambda_expression(low: Lowering, node: Node) -> Expr | Thing:
    return Thing(INT, Function(None))


LAMBDAS = {k.LAMBDA_EXPR: lambda_expression}
