"""Lowers initialisers, with and without braces, and literals; and the meanings of names declared outside of functions."""

import re
from decimal import Decimal
from fractions import Fraction
from math import prod

from msgspec import Struct

from gemmviz.cuda import walk
from gemmviz.cuda.nodes import Const, Declare, Expr, Extent, FunctionParameter, Index, KernelArgument, MakeVector, Read
from gemmviz.cuda.parser.library import RawCursor
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.cursors import Node
from gemmviz.cuda.reader.lowering import Lowering, local_array
from gemmviz.cuda.reader.lvalues import designated, needs_memory, struct_fields
from gemmviz.cuda.reader.symbols import Alias, ArrayVariable, Constant, Function, InMemory, Object, Symbol, Thing, Variable
from gemmviz.cuda.types import (
    BOOL,
    COMPONENTS,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    ArrayType,
    CType,
    PointerType,
    Scalar,
    StructType,
    VectorType,
    size_bytes,
)

Placed = list[tuple[int, Node]]  # elements, counted from the array's first, and what each is given


class Items(Struct):
    """The parts of a list in braces and the number of parts used so far."""

    nodes: list[Node]
    used: int = 0

    @property
    def next(self) -> Node | None:
        return self.nodes[self.used] if self.used < len(self.nodes) else None


def stripped(node: Node) -> Node:
    """A list in braces within an implicit conversion or a copy."""
    while node.kind in (k.UNEXPOSED_EXPR, k.PAREN_EXPR) and len(node.parts) == 1:
        node = node.parts[0]
    return node


def initialised(low: Lowering, node: Node, ctype: CType) -> Expr:
    """The value of a variable from its initialiser, with or without braces."""
    inner = stripped(node)
    if inner.kind != k.INIT_LIST_EXPR:
        return low.converted(low.value(node), ctype, node)
    inside = inner.parts
    if not inside:
        return zero_of(low, ctype, node)
    values = [low.value(each) for each in inside]
    if isinstance(ctype, VectorType) and values[0].type != ctype:
        return vector_of(low, values, ctype, node)
    if len(inside) > 1:
        raise low.unsupported(node)
    return low.converted(values[0], ctype, node)


def vector_of(low: Lowering, values: list[Expr], ctype: VectorType, node: Node) -> Expr:
    if len(values) > ctype.count:
        raise low.error(f"{len(values)} values for a {ctype}", node)
    zero = zero_of(low, ctype.scalar, node)
    parts = [low.converted(each, ctype.scalar, node) for each in values]
    return MakeVector(ctype, (*parts, *[zero] * (ctype.count - len(parts))))


def zero_of(low: Lowering, ctype: CType, node: Node) -> Expr:
    """The value of a variable initialised by empty braces."""
    return vector_of(low, [], ctype, node) if isinstance(ctype, VectorType) else low.converted(Const(INT, 0), ctype, node)


def values_of(low: Lowering, node: Node, array: ArrayType) -> tuple[Expr, ...]:
    """Values of the elements from the first to the last initialised one, zero in between."""
    assert isinstance(array.element, Scalar | VectorType)
    values = list[Expr]()
    for at, each in _placed(low, stripped(node), array.dims):
        if at > len(values):
            values += [zero_of(low, array.element, node)] * (at - len(values))
        values.append(initialised(low, each, array.element))
    return tuple(values)


def _placed(low: Lowering, node: Node, dims: tuple[int, ...]) -> Placed:
    """Values by element. Raises SourceError for more values than an array of these extents has elements."""
    if node.kind != k.INIT_LIST_EXPR:
        raise low.error("an array's value is a list in {}", node)
    items, found = Items(node.parts), list[tuple[int, Node]]()
    _place_values(low, items, dims, 0, found)
    if items.next is not None:
        raise low.error(f"{len(items.nodes)} values for an array of {dims[0]}", node)
    return found


def _place_values(low: Lowering, items: Items, dims: tuple[int, ...], at: int, found: Placed) -> None:
    """Adds the values of an array of extents ``dims`` that begins at element ``at``. Inner braces may be omitted."""
    inner, stride = dims[1:], prod(dims[1:])
    for row in range(dims[0]):
        node = items.next
        if node is None:
            return
        if inner and stripped(node).kind != k.INIT_LIST_EXPR:
            _place_values(low, items, inner, at + row * stride, found)
            continue
        items.used += 1
        if inner:
            found += [(at + row * stride + place, each) for place, each in _placed(low, stripped(node), inner)]
        else:
            found.append((at + row, node))


# Literals: numbers, characters, truth values, sizes.

_INTEGER = re.compile(r"(0[xX](?=[\da-fA-F])|0[bB](?=[01])|(?=\d))([\da-fA-F']+?)((?:[uU](?:l|L|ll|LL)?|(?:l|L|ll|LL)[uU]?)?)")
_DECIMAL = re.compile(r"((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)([fFlL]?)")
_HEXADECIMAL = re.compile(r"0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)[pP]([+-]?\d+)([fFlL]?)")
_MOST_BITS, _MOST_EXPONENT = 64, 5000  # of a significand, the last one being set where any is lost; beyond those of float64
_MOST_DIGITS = 4000


def integer_literal(low: Lowering, node: Node) -> Expr:
    found = _INTEGER.fullmatch(_text(low, node))
    if found and (found[1] or found[2][0].isdigit()) and len(found[2]) < _MOST_DIGITS:  # no template parameter's name
        constant = _integer(found[1] or "", found[2].replace("'", ""), found[3].lower())
        if constant is not None:
            return constant
    return known(low, node)


def _integer(prefix: str, digits: str, suffix: str) -> Const | None:
    """The constant of an integer literal, of the first type that can hold it."""
    base = {"0x": 16, "0b": 2}.get(prefix.lower(), 8 if digits[0] == "0" else 10)
    value = int(digits, base)
    choices = [INT, LONG, ULONG] if base == 10 else [INT, UINT, LONG, ULONG]
    for kind in [UINT, ULONG] if "u" in suffix else choices:
        if ("l" not in suffix or kind.bits == 64) and walk.wrap(value, kind) == value:
            return Const(kind, value)
    return None


def floating_literal(low: Lowering, node: Node) -> Expr:
    text = _text(low, node).replace("'", "")
    if len(text) < _MOST_DIGITS:
        if found := _DECIMAL.fullmatch(text):
            kind = _floating(found[2])
            return Const(kind, walk.literal_to_float(Decimal(found[1]), kind))
        if found := _HEXADECIMAL.fullmatch(text):
            return _hexadecimal(*found.groups(""))
    return known(low, node)


def _hexadecimal(whole: str, fraction: str, power: str, suffix: str) -> Const:
    kind, significand = _floating(suffix), int(whole + fraction, 16)
    exponent = int(power) - 4 * len(fraction)
    lost = max(0, significand.bit_length() - _MOST_BITS)
    significand = significand >> lost | (significand & ((1 << lost) - 1) > 0)
    exponent = max(-_MOST_EXPONENT, min(exponent + lost, _MOST_EXPONENT))
    return Const(kind, walk.literal_to_float(significand * Fraction(2) ** exponent, kind))


def _floating(suffix: str) -> Scalar:
    """The type of a floating-point literal. Devices have no long double: nvcc uses double."""
    return FLOAT if suffix in ("f", "F") else DOUBLE


def _text(low: Lowering, node: Node) -> str:
    span = low.cursors.span(node)
    return "" if span is None else low.cursors.text[span[0] : span[1]]


def known(low: Lowering, node: Node) -> Const:
    """The constant of an expression that the compiler evaluates. Raises SourceError if it can't."""
    value, ctype = low.cursors.evaluated(node), low.type_of(node)
    if value is None or not isinstance(ctype, Scalar):
        raise low.error("the value is not known before the kernel runs", node)
    return constant_of(value, ctype)


def constant_of(value: float, ctype: Scalar) -> Const:
    if ctype.is_float:
        is_exact = value and _is_finite(value)  # a fraction has no negative zero
        return Const(ctype, walk.literal_to_float(Fraction(value), ctype) if is_exact else float(value))
    return Const(ctype, bool(value) if ctype is BOOL else walk.wrap(int(value), ctype))


def _is_finite(value: float) -> bool:
    return value - value == 0


def truth(low: Lowering, node: Node) -> Expr:
    text = _text(low, node)
    return Const(BOOL, text == "true" if text in ("true", "false") else bool(low.cursors.evaluated(node)))


def _size_of(low: Lowering, node: Node) -> Expr:
    """The node of ``sizeof``, ``alignof`` and ``sizeof...``."""
    value = low.cursors.evaluated(node)
    if value is None:
        raise low.error("the size is not known before the kernel runs", node)
    return Const(ULONG, int(value))


def null(low: Lowering, node: Node) -> Expr:
    """The node of ``nullptr``: zero, which becomes a pointer where one is needed."""
    return Const(INT, 0)


LITERALS = {
    k.NULL_PTR_LITERAL_EXPR: null,
    k.GNU_NULL_EXPR: null,
    k.INTEGER_LITERAL: integer_literal,
    k.FLOATING_LITERAL: floating_literal,
    k.CHARACTER_LITERAL: known,
    k.BOOL_LITERAL_EXPR: truth,
    k.SIZE_OF_EXPR: _size_of,
    k.SIZE_OF_PACK_EXPR: _size_of,
}


# Meanings of names declared outside of functions: constants, built-in variables, functions, variables of the GPU.

# What a kernel gets from outside, flat: one parameter for each number and pointer in its own parameters and in the global
# variables that the host fills.

_MOST_ARGUMENTS = 256  # numbers and pointers that a kernel gets


def global_variable(low: Lowering, ctype: CType, name: str, is_constant: bool, node: Node) -> Symbol:
    """The meaning of a global variable that the host fills before the launch; only those in memory that
    kernels can't write are copied to variables.
    """
    is_array = isinstance(ctype, ArrayType) and isinstance(ctype.element, Scalar | VectorType)
    is_written = not is_constant and isinstance(ctype, Scalar | VectorType | StructType)
    low.arguments.append(KernelArgument(size_bytes(ctype), name, is_array or is_written))
    if is_array:
        assert isinstance(ctype, ArrayType)
        slot = _leaf_parameter(low, PointerType(ctype.element, "global"), name, 0, node)
        return ArrayVariable(slot, ArrayType(ctype.element, ctype.dims, "global"), name, is_reference=True)
    if is_written:
        pointer = PointerType(ctype, "global")
        return Variable(_leaf_parameter(low, pointer, name, 0, node), pointer, name, is_reference=True)
    return flat_symbol(low, ctype, name, 0, node)


def _leaf_parameter(low: Lowering, ctype: CType, name: str, offset: int, node: Node) -> int:
    slot = low.new_slot()
    low.parameters.append(FunctionParameter(slot, name, ctype, len(low.arguments) - 1, offset))
    if len(low.parameters) > _MOST_ARGUMENTS:
        raise low.error(f"the kernel gets more than {_MOST_ARGUMENTS} numbers and pointers", node)
    return slot


def flat_symbol(low: Lowering, ctype: CType, name: str, offset: int, node: Node) -> Symbol:
    """The meaning of a value from outside, whose numbers and pointers become parameters."""
    match ctype:
        case PointerType():
            ctype = ctype.into("global")
            return Variable(_leaf_parameter(low, ctype, name, offset, node), ctype, name)
        case Scalar():
            return Variable(_leaf_parameter(low, ctype, name, offset, node), ctype, name)
        case VectorType(scalar=scalar, count=count):
            names = [f"{name}.{COMPONENTS[at]}" for at in range(count)]
            parts = _part_reads(low, scalar, names, offset, node)
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
            values = tuple(_part_reads(low, scalar, names, offset, node))
            return ArrayVariable(local_array(low, scalar, len(values), name, low.first, node, values), ctype)
    raise low.error(f"a kernel's parameter can't be {ctype}", node)


def _part_reads(low: Lowering, scalar: Scalar, names: list[str], offset: int, node: Node) -> list[Expr]:
    """Reads of the parts of a vector or an array."""
    place = low.place(node)
    return [
        Read(scalar, _leaf_parameter(low, scalar, name, offset + at * scalar.bytes, node), name, False, place)
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
    found = _known_constant(low, declaration, ctype, given, is_constant or is_on_gpu, node)
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


def _known_constant(
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
