"""Lowers ``switch`` to a loop of one trip, which ``break`` leaves, with an if for each part between two labels."""

from gemmviz.source.nodes import Assign, Binary, Block, Break, Const, Declare, Expr, If, Logic, Loop, Read, Stmt, Unary
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.types import BOOL, Scalar, promoted

_LABELS = (k.CASE_STMT, k.DEFAULT_STMT)
