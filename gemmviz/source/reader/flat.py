"""What a kernel gets from outside, flat: one parameter for each number and pointer in its own parameters and in the global
variables that the host fills.
"""

from gemmviz.source.nodes import Declare, Expr, MakeVector, Read
from gemmviz.source.program_parts import FunctionParameter, KernelArgument
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.local import local_array
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.objects import needs_memory, struct_fields
from gemmviz.source.reader.symbols import ArrayVariable, Object, Symbol, Variable
from gemmviz.source.types import (
    COMPONENTS,
    ArrayType,
    CType,
    PointerType,
    Scalar,
    StructType,
    VectorType,
    size_bytes,
)  # fmt: skip

_MOST = 256  # numbers and pointers that a kernel gets


def global_variable(low: Lowering, ctype: CType, name: str, is_constant: bool, node: Node) -> Symbol:
    """The meaning of a global variable that the host fills before the launch; only those in memory that
    kernels can't write are copied to variables.
    """
    is_array = isinstance(ctype, ArrayType) and isinstance(ctype.element, Scalar | VectorType)
    is_written = not is_constant and isinstance(ctype, Scalar | VectorType | StructType)
    low.arguments.append(KernelArgument(size_bytes(ctype), name, is_array or is_written))
    if is_array:
        assert isinstance(ctype, ArrayType)
        slot = _leaf(low, PointerType(ctype.element, "global"), name, 0, node)
        return ArrayVariable(slot, ArrayType(ctype.element, ctype.dims, "global"), name, is_reference=True)
    if is_written:
        pointer = PointerType(ctype, "global")
        return Variable(_leaf(low, pointer, name, 0, node), pointer, name, is_reference=True)
    return flat_symbol(low, ctype, name, 0, node)


def _leaf(low: Lowering, ctype: CType, name: str, offset: int, node: Node) -> int:
    slot = low.new_slot()
    low.parameters.append(FunctionParameter(slot, name, ctype, len(low.arguments) - 1, offset))
    if len(low.parameters) > _MOST:
        raise low.error(f"the kernel gets more than {_MOST} numbers and pointers", node)
    return slot


def flat_symbol(low: Lowering, ctype: CType, name: str, offset: int, node: Node) -> Symbol:
    """The meaning of a value from outside, whose numbers and pointers become parameters."""
    match ctype:
        case PointerType():
            ctype = ctype.into("global")
            return Variable(_leaf(low, ctype, name, offset, node), ctype, name)
        case Scalar():
            return Variable(_leaf(low, ctype, name, offset, node), ctype, name)
        case VectorType(scalar=scalar, count=count):
            names = [f"{name}.{COMPONENTS[at]}" for at in range(count)]
            parts = _parts(low, scalar, names, offset, node)
            slot = low.new_slot()
            low.first.append(Declare(slot, MakeVector(ctype, tuple(parts))))
            return Variable(slot, ctype, name)
        case StructType() if not needs_memory(ctype):
            members = {
                key: flat_symbol(low, each.type, f"{name}.{each.name}", offset + each.offset, node)
                for key, each in struct_fields(low, ctype)
            }
            return Object(ctype, members)
        case ArrayType(element=Scalar() as scalar):
            names = [f"{name}[{at}]" for at in range(size_bytes(ctype) // scalar.bytes)]
            values = tuple(_parts(low, scalar, names, offset, node))
            return ArrayVariable(local_array(low, scalar, len(values), name, low.first, node, values), ctype)
    raise low.error(f"a kernel's parameter can't be {ctype}", node)


def _parts(low: Lowering, scalar: Scalar, names: list[str], offset: int, node: Node) -> list[Expr]:
    """Reads of the parts of a vector or an array."""
    place = low.place(node)
    return [
        Read(scalar, _leaf(low, scalar, name, offset + at * scalar.bytes, node), name, False, place)
        for at, name in enumerate(names)
    ]
