"""Meanings of names declared outside of functions: constants, built-in variables, functions, variables of the GPU."""

import re
from math import prod

from gemmviz.source.nodes import Const, Expr, Extent, Index, MakeVector
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.flat import global_variable
from gemmviz.source.reader.initialisers import initialised, values_of
from gemmviz.source.reader.library import RawCursor
from gemmviz.source.reader.literals import constant_of
from gemmviz.source.reader.local import local_array
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.places import designated
from gemmviz.source.reader.symbols import Alias, ArrayVariable, Constant, Function, InMemory, Symbol, Thing
from gemmviz.source.types import INT, UINT, ArrayType, CType, PointerType, Scalar, StructType, VectorType

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
