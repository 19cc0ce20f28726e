"""Meanings of names declared outside of functions: constants, built-in variables, functions, variables of the GPU."""

import re
from math import prod

from gemmviz.cuda.nodes import Const, Declare, Expr, Extent, FunctionParameter, Index, KernelArgument, MakeVector, Read
from gemmviz.cuda.parser.library import RawCursor
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.cursors import Node
from gemmviz.cuda.reader.initialisers import constant_of, initialised, values_of
from gemmviz.cuda.reader.lowering import Lowering, local_array
from gemmviz.cuda.reader.lvalues import designated, needs_memory, struct_fields
from gemmviz.cuda.reader.symbols import Alias, ArrayVariable, Constant, Function, InMemory, Object, Symbol, Thing, Variable
from gemmviz.cuda.types import (
    COMPONENTS,
    INT,
    UINT,
    ArrayType,
    CType,
    PointerType,
    Scalar,
    StructType,
    VectorType,
    size_bytes,
)

# What a kernel gets from outside, flat: one parameter for each number and pointer in its own parameters and in the global
# variables that the host fills.

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


_BUILT_IN = {"threadIdx", "blockIdx", "blockDim", "gridDim"}
_OF_THE_GPU = {k.CONSTANT_ATTR, k.DEVICE_ATTR}


def global_name(low: Lowering, declaration: RawCursor, node: Node) -> Expr | Thing:
    """The node of a name declared outside of functions."""
    named = low.cursors.name(declaration)
    if declaration.kind in (k.FUNCTION_DECL, k.CXX_METHOD, k.FUNCTION_TEMPLATE):
        return Thing(INT, Function(declaration))
    if declaration.kind == k.ENUM_CONSTANT_DECL:
        ctype, value = low.type_of(node), low.cursors.evaluated(node)
        assert isinstance(ctype, Scalar)
        assert value is not None
        return constant_of(value, ctype)
    if named == "warpSize" and low.cursors.is_stub(declaration):
        return Const(INT, 32)
    if named in _BUILT_IN and low.cursors.is_stub(declaration):
        return MakeVector(VectorType(UINT, 3), tuple(_built_in(named, axis) for axis in range(3)))
    attributes = {each.kind for each in low.cursors.top_level(declaration)}
    if k.SHARED_ATTR in attributes:
        low.statement(low.cursors.tree(declaration))
        return designated(low, low.symbols[declaration.first], node)
    if _is_constant_struct(low, declaration, attributes, node):
        low.first.append(low.statement(low.cursors.tree(declaration)))
        return designated(low, low.symbols[declaration.first], node)
    symbol = _variable(low, declaration, attributes, node)
    if symbol is None:
        raise low.error(f"the value of {named} is not known before the kernel runs", node, id="unknown-name")
    low.symbols[declaration.first] = symbol
    return designated(low, symbol, node)


def _is_constant_struct(low: Lowering, declaration: RawCursor, attributes: set[int], node: Node) -> bool:
    """Whether a variable is a constant struct with values that nothing changes: every thread has a copy of it."""
    raw, named = low.cursors.lib.getCursorType(declaration), low.cursors.name(declaration)
    is_constant = low.types.is_const(raw) or k.CONSTANT_ATTR in attributes
    if not is_constant or _first_value(low, declaration) is None or _is_filled(low, named):
        return False
    return isinstance(low.type_in(raw, node), StructType)


def _built_in(name: str, axis: int) -> Expr:
    return Index(UINT, name == "blockIdx", axis) if name.endswith("Idx") else Extent(UINT, name == "gridDim", axis)


def _variable(low: Lowering, declaration: RawCursor, attributes: set[int], node: Node) -> Symbol | None:
    """The meaning of a global variable; None if its value isn't known."""
    raw = low.cursors.lib.getCursorType(declaration)
    ctype, name = low.type_in(raw, node), low.cursors.name(declaration)
    is_constant, is_on_gpu = low.types.is_const(raw), bool(attributes & _OF_THE_GPU)
    given = _first_value(low, declaration)
    if is_on_gpu and (_is_filled(low, name) or (given is None and not is_constant)):
        return global_variable(low, ctype, name, k.CONSTANT_ATTR in attributes, node)
    can_change = is_on_gpu and k.CONSTANT_ATTR not in attributes and not is_constant
    if can_change and given is not None and isinstance(ctype, Scalar | VectorType):
        slot = local_array(low, ctype, 1, name, low.first, node, (initialised(low, given, ctype),))
        low.copies[slot] = name
        return InMemory(slot, PointerType(ctype, "local"))
    found = _known(low, declaration, ctype, given, is_constant or is_on_gpu, node)
    if can_change and isinstance(found, ArrayVariable):
        low.copies[found.slot] = name
    return found


def _first_value(low: Lowering, declaration: RawCursor) -> Node | None:
    """The initialiser of a variable; None for a constructor that leaves it as it is."""
    given = low.cursors.initialiser(declaration)
    return None if given is not None and given.kind == k.CALL_EXPR and not given.children else given


def _is_filled(low: Lowering, name: str) -> bool:
    """Whether host code copies to a variable of the GPU."""
    pattern = re.compile(rf"\bcudaMemcpyToSymbol(?:Async)?\s*\(\s*&?\s*{re.escape(name)}\b")
    return any(pattern.search(text) for text in low.cursors.unit.source.files.values())


def _known(
    low: Lowering, declaration: RawCursor, ctype: CType, given: Node | None, is_constant: bool, node: Node
) -> Symbol | None:
    """The known value of a constant: a number, or an array that every thread has a copy of."""
    if isinstance(ctype, Scalar) and is_constant:
        value = low.cursors.lib.evaluated(declaration)
        value = low.cursors.evaluated(node) if value is None else value
        if value is None and given is not None:
            value = low.cursors.evaluated(given)
        if value is not None:
            return Constant(constant_of(value, ctype))
    if given is None:
        return None
    if isinstance(ctype, ArrayType) and isinstance(ctype.element, Scalar | VectorType):
        name, values = low.cursors.name(declaration), values_of(low, given, ctype)
        return ArrayVariable(local_array(low, ctype.element, prod(ctype.dims), name, low.first, node, values), ctype)
    if is_constant and isinstance(ctype, Scalar | VectorType):
        constant = initialised(low, given, ctype)
        return Constant(constant) if isinstance(constant, Const) else Alias(constant)
    return None
