"""Parameters of a kernel, flat."""

from gemmviz.source.nodes import Evaluate
from gemmviz.source.program_parts import KernelArgument
from gemmviz.source.reader.copies import copied
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.flat import flat_symbol
from gemmviz.source.reader.local import local_array
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.places import designated
from gemmviz.source.reader.records import in_memory
from gemmviz.source.reader.symbols import InMemory, Object, Symbol, Thing, Variable
from gemmviz.source.types import PointerType, Scalar, VectorType, size_bytes


def declare_parameter(low: Lowering, node: Node) -> None:
    """Declares a parameter of the kernel."""
    raw = low.cursors.type(node)
    ctype = low.parameter_type(raw, node)
    name = low.cursors.name(node.cursor)
    low.arguments.append(KernelArgument(size_bytes(ctype)))
    symbol = flat_symbol(low, ctype, name or f"argument {len(low.arguments)}", 0, node)
    if node.key in low.addressed and not isinstance(ctype, PointerType):
        symbol = _in_memory(low, symbol, name, node)
    low.declare(node.cursor, symbol)


def _in_memory(low: Lowering, given: Symbol, name: str, node: Node) -> Symbol:
    """A parameter whose address is taken: a copy of it in memory."""
    match given:
        case Object(type=struct):
            target = in_memory(low, struct, name, low.first, node)
            filled = copied(low, designated(low, target, node), Thing(struct, given), node)
            assert not isinstance(filled, Thing)
            low.first.append(Evaluate(filled))
            return target
        case Variable():
            value = low.expression_of(designated(low, given, node), node)
            assert isinstance(value.type, Scalar | VectorType)
            slot = local_array(low, value.type, 1, name, low.first, node, (value,))
            return InMemory(slot, PointerType(value.type, "local"))
    return given
