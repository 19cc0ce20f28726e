"""Nodes of what symbols mean."""

from gemmviz.source.nodes import Base, Const, Deref, Expr, Offset, Read
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.symbols import Alias, ArrayVariable, Constant, Function, InMemory, Object, Symbol, Thing, Variable
from gemmviz.source.types import INT, PointerType


def designated(low: Lowering, symbol: Symbol, node: Node) -> Expr | Thing:
    """The node of what a symbol means, used at ``node``."""
    match symbol:
        case Variable(slot=slot, type=PointerType(to=to) as ctype, name=name, is_reference=True):
            return Deref(to, Read(ctype, slot, name, False, low.place(node)), low.place(node))  # type: ignore[arg-type]
        case Variable(slot=slot, type=ctype, name=name, checked=checked):
            if isinstance(ctype, PointerType) and ctype.space is None:
                ctype = ctype.into(low.spaces.get(slot))
            return Read(ctype, slot, name, checked, low.place(node))
        case ArrayVariable(slot=slot, type=array, name=name, is_reference=True):
            first = Read(PointerType(array.element, array.space), slot, name, False, low.place(node))
            return Offset(array, first, Const(INT, 0), 1)
        case ArrayVariable(slot=slot, type=array):
            return Offset(array, Base(PointerType(array.element, array.space), slot), Const(INT, 0), 1)
        case InMemory(slot=slot, type=ctype):
            return Deref(ctype.to, Base(ctype, slot), low.place(node))  # type: ignore[arg-type]
        case Constant(node=constant):
            return constant
        case Alias(node=aliased):
            return aliased
        case Object(type=ctype):
            return Thing(ctype, symbol)
        case Function():
            return Thing(INT, symbol)
    raise AssertionError(symbol)
