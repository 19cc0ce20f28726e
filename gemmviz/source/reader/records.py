"""Variables that are structs: a variable for each member, or memory."""

from math import prod

from gemmviz.source.nodes import Block, Declare, Expr, Inline, Stmt
from gemmviz.source.reader.copies import copied
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.local import local_array
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.objects import needs_memory, struct_fields
from gemmviz.source.reader.symbols import ArrayVariable, InMemory, Object, Symbol, Thing, Variable
from gemmviz.source.types import VOID, ArrayType, CType, PointerType, Scalar, StructType, VectorType


def new_object(low: Lowering, struct: StructType, statements: list[Stmt], node: Node, name: str = "") -> Thing:
    """A struct whose members are new variables; ``statements`` gets their declarations."""
    if needs_memory(struct):
        raise low.error(f"a {struct} can't be used here", node, id="unsupported")
    members = {
        key: _member(low, field.type, f"{name}.{field.name}", statements, node) for key, field in struct_fields(low, struct)
    }
    return Thing(struct, Object(struct, members))


def _member(low: Lowering, ctype: CType, name: str, statements: list[Stmt], node: Node) -> Symbol:
    match ctype:
        case StructType() if needs_memory(ctype):
            return in_memory(low, ctype, name, statements, node)
        case StructType():
            found = new_object(low, ctype, statements, node, name).symbol
            assert isinstance(found, Object)
            return found
        case ArrayType():
            slot = local_array(low, ctype.element, prod(ctype.dims), name, statements, node)
            return ArrayVariable(slot, ctype)
    slot = low.new_slot()
    statements.append(Declare(slot, None))
    return Variable(slot, ctype, name, checked=True)


def in_memory(
    low: Lowering, ctype: Scalar | VectorType | StructType, name: str, statements: list[Stmt], node: Node
) -> InMemory:
    """An object of local memory."""
    slot = local_array(low, ctype, 1, name, statements, node)
    return InMemory(slot, PointerType(ctype, "local"))


def object_copy(low: Lowering, value: Expr | Thing, node: Node) -> Thing:
    """A new object with the members of ``value``; its effects declare and fill it."""
    struct = value.type
    assert isinstance(struct, StructType)
    statements: list[Stmt] = []
    target = new_object(low, struct, statements, node)
    filled = copied(low, target, value, node)
    assert isinstance(filled, Thing)
    declared = Inline(VOID, (), Block(tuple(statements)), None, low.place(node))
    return Thing(struct, target.symbol, (declared, *filled.effects))
