"""Lowers range-based for loops over arrays to counted loops."""

from collections.abc import Iterator

from gemmviz.source.counted import counted_loop
from gemmviz.source.nodes import Assign, Binary, Block, Const, Declare, Evaluate, Expr, Loop, Offset, Read, Stmt
from gemmviz.source.program_parts import LoopPlace
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.declarations import variable
from gemmviz.source.reader.initialisers import stripped, values_of
from gemmviz.source.reader.local import local_array
from gemmviz.source.reader.lowering import Lowering, decayed
from gemmviz.source.reader.objects import member_of, struct_fields
from gemmviz.source.reader.places import designated
from gemmviz.source.reader.symbols import Alias, ArrayVariable, Function, Thing
from gemmviz.source.types import BOOL, INT, ArrayType, Scalar, StructType, VectorType, units_of


def range_for(low: Lowering, node: Node) -> Stmt:
    low.enter(node)
    place, number = low.place(node), len(low.loops)
    element = next(each for each in node.children if each.kind == k.VAR_DECL)
    around, body = node.parts
    low.scope_ends.append(place.end_line)
    before, array = _array(low, around, node)
    assert isinstance(array.type, ArrayType)
    counter = low.new_slot()
    low.loops.append(LoopPlace(number, low.loop_stack[-1] if low.loop_stack else -1, place, False))
    low.loop_stack.append(number)
    count = Read(INT, counter, "i", False, place)
    pointer = decayed(array.type)
    for key in _begins(low, element):
        low.symbols[key] = Alias(Offset(pointer, array, count, units_of(pointer.to)))
    inside = Block((variable(low, element), low.statement(body)))
    low.loop_stack.pop()
    low.scope_ends.pop()
    condition = Binary(BOOL, "<", count, Const(INT, array.type.dims[0]), place)
    step = Assign(INT, count, Const(INT, 1), "+", INT, None, False, place)
    block = Block((*before, Declare(counter, Const(INT, 0)), Loop(number, condition, step, inside, True, place)))
    return counted_loop(block) or block


def _array(low: Lowering, around: Node, node: Node) -> tuple[list[Stmt], Expr]:
    """The array that a range-based for runs over: an array, a list in braces, or the only member of a struct."""
    statements: list[Stmt] = []
    inner = stripped(around)
    while inner.kind == k.UNEXPOSED_EXPR and len(inner.parts) == 1:
        inner = inner.parts[0]
    if inner.kind == k.INIT_LIST_EXPR:
        array = low.type_of(inner)
        if isinstance(array, ArrayType) and isinstance(array.element, Scalar | VectorType):
            slot = local_array(low, array.element, array.dims[0], "list", statements, node, values_of(low, inner, array))
            return statements, low.expression_of(designated(low, ArrayVariable(slot, array), node), node)
    found = low.place_node(around)
    if isinstance(found.type, StructType) and not (isinstance(found, Thing) and isinstance(found.symbol, Function)):
        members = struct_fields(low, found.type)
        effects = found.effects if isinstance(found, Thing) else ()
        if len(members) == 1:
            statements += [Evaluate(each) for each in effects]
            found = member_of(low, found, members[0][0], node)
    if isinstance(found, Thing) or not isinstance(found.type, ArrayType):
        raise low.error("a range-based for over this is not supported", node, "loop over an array", id="unsupported")
    return statements, found


def _begins(low: Lowering, node: Node) -> Iterator[int]:
    """Keys of the iterators that the compiler declares."""
    given = low.cursors.initialiser(node.cursor)
    waiting = [] if given is None else [given]
    while waiting:
        each = waiting.pop()
        waiting += each.children
        declaration = low.cursors.referenced(each) if each.kind == k.DECL_REF_EXPR else None
        if declaration is not None and low.cursors.name(declaration).startswith("__begin"):
            yield declaration.first


RANGES = {k.FOR_RANGE_STMT: range_for}
