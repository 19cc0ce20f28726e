"""Lowers range-based for loops over arrays to counted loops."""

from collections.abc import Iterator

from gemmviz.source.counted import counted_loop
from gemmviz.source.nodes import Assign, Binary, Block, Const, Declare, Loop, Offset, Read, Stmt
from gemmviz.source.program_parts import LoopPlace
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.declarations import variable
from gemmviz.source.reader.lowering import Lowering, decayed
from gemmviz.source.reader.symbols import Alias
from gemmviz.source.types import BOOL, INT, ArrayType, units_of


def range_for(low: Lowering, node: Node) -> Stmt:
    low.enter(node)
    place, number = low.place(node), len(low.loops)
    element = next(each for each in node.children if each.kind == k.VAR_DECL)
    around, body = node.parts
    low.scope_ends.append(place.end_line)
    array = low.expression(around)
    if not isinstance(array.type, ArrayType):
        raise low.error("a range-based for over this is not supported", node, "loop over an array", id="unsupported")
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
    block = Block((Declare(counter, Const(INT, 0)), Loop(number, condition, step, inside, True, place)))
    return counted_loop(block) or block


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
