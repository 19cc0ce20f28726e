"""Lowers C's expressions: each function turns one kind of syntax into typed nodes with constants folded."""

from dataclasses import replace

from tree_sitter import Node

from gemmviz.model.errors import closest
from gemmviz.source import fold
from gemmviz.source.declarators import described_type, type_named, type_of
from gemmviz.source.literals import initialised
from gemmviz.source.lowering import Lowering, component_of, read_variable
from gemmviz.source.nodes import (
    Base,
    Binary,
    Component,
    Const,
    Deref,
    Expr,
    Extent,
    Index,
    Logic,
    Offset,
    PointerDifference,
    Reinterpret,
    Select,
    Sequence,
    Unary,
)  # fmt: skip
from gemmviz.source.scope import (
    ArrayVariable,
    Constant,
    FunctionScope,
    LazyConstant,
    LazyType,
    TypeName,
    Variable,
)  # fmt: skip
from gemmviz.source.syntax import child, children
from gemmviz.source.types import (
    BOOL,
    COMPONENTS,
    INT,
    LONG,
    UINT,
    ULONG,
    ArrayType,
    CType,
    PointerType,
    Scalar,
    VectorType,
    Void,
    common,
    named_type,
    promoted,
    units_of,
)  # fmt: skip

_BUILT_IN = {"threadIdx", "blockIdx", "blockDim", "gridDim"}


_CONSTANTS = {"warpSize": Const(INT, 32), "true": Const(BOOL, True), "false": Const(BOOL, False)}


def identifier(low: Lowering, node: Node) -> Expr:
    name = low.tree.text(node).rpartition("::")[2].strip()
    match low.scope.find(name):
        case Variable(slot=slot, type=PointerType(to=to), is_reference=True) as variable:
            pointer = read_variable(slot, name, variable.type, False, low.tree.place(node))
            return Deref(to, pointer, low.tree.place(node))  # type: ignore[arg-type]
        case Variable(slot=slot, type=ctype, checked=checked):
            return read_variable(slot, name, ctype, checked, low.tree.place(node))
        case ArrayVariable(slot=slot, type=array):
            return Offset(array, Base(PointerType(array.element, array.space), slot), Const(INT, 0), 1)
        case Constant(node=constant):
            return constant
        case LazyConstant(declaration=declaration, declarator=declarator):
            return _lazy_constant(low, declaration, declarator, node)
        case FunctionScope() | TypeName() | LazyType():
            raise low.tree.error(f"{name} is not a value", node)
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if name in _BUILT_IN:
        raise low.tree.error(f"{name} needs .x, .y or .z", node)
    raise low.tree.error(f"{name!r} is not declared", node, closest(name, low.scope.all_names()), id="unknown-name")


def _lazy_constant(low: Lowering, declaration: Node, declarator: Node, node: Node) -> Expr:
    ctype = type_of(low, declaration)
    given = child(declarator, "value")
    value = low.value(given) if ctype is None else initialised(low, given, ctype)
    if not isinstance(value, Const):
        raise low.tree.error(f"the value of {low.tree.text(node)} is not known before the kernel runs", node, id="unknown-name")
    return value


def qualified(low: Lowering, node: Node) -> Expr:
    name = child(node, "name")
    return identifier(low, name) if name.type == "identifier" else low.expression(name)


def parenthesized(low: Lowering, node: Node) -> Expr:
    return low.expression(children(node)[0])


def comma(low: Lowering, node: Node) -> Expr:
    first, second = low.discarded(child(node, "left")), low.value(child(node, "right"))
    return second if isinstance(first, Const) else Sequence(second.type, (first, second))


def unary_expression(low: Lowering, node: Node) -> Expr:
    op = low.tree.text(child(node, "operator"))
    argument = child(node, "argument")
    if op == "(":  # a cast that the parser was made to read as an operator
        named = low.tree.text(node)[1 : argument.start_byte - node.start_byte].rstrip()[:-1]
        return converted_by_cast(low, low.value(argument), type_named(low, named, node), node)
    if op == "!":
        return _unary(op, BOOL, low.condition(argument))
    operand = low.scalar(argument)
    assert isinstance(operand.type, Scalar)
    within = promoted(operand.type)
    if op == "~" and within.is_float:
        raise low.tree.error(f"~ does not work on a {within}", node)
    return _unary(op, within, low.converted(operand, within, node))


def _unary(op: str, within: Scalar, operand: Expr) -> Expr:
    if isinstance(operand, Const):
        return Const(within, fold.apply_unary(op, operand.value, within))
    return operand if op == "+" else Unary(within, op, operand)


def binary_expression(low: Lowering, node: Node) -> Expr:
    op = low.tree.text(child(node, "operator"))
    left, right = child(node, "left"), child(node, "right")
    if op in ("&&", "and", "||", "or"):
        return _logic(low, "&&" if op in ("&&", "and") else "||", left, right)
    return combined(low, op, low.value(left), low.value(right), node)


def _logic(low: Lowering, op: str, left: Node, right: Node) -> Expr:
    first, deciding = low.condition(left), op == "||"
    if isinstance(first, Const) and bool(first.value) == deciding:
        with low.unevaluated():
            low.condition(right)
        return first
    second = low.condition(right)
    return second if isinstance(first, Const) else Logic(BOOL, "||" if deciding else "&&", first, second)


def combined(low: Lowering, op: str, left: Expr, right: Expr, node: Node) -> Expr:
    """The node of ``left op right`` with C's conversions; pointers move by elements. Raises SourceError for bad operands."""
    match left.type, right.type:
        case Scalar() as a, Scalar() as b:
            return _arithmetic(low, op, left, right, a, b, node)
        case PointerType() as pointer, Scalar(kind="i" | "u" | "b") if op in ("+", "-"):
            return Offset(pointer, left, _distance(low, right, node), units_of(pointer.to) * (1 if op == "+" else -1))
        case Scalar(kind="i" | "u" | "b"), PointerType() as pointer if op == "+":
            return Offset(pointer, right, _distance(low, left, node), units_of(pointer.to))
        case PointerType(), PointerType() if op == "-":
            return PointerDifference(LONG, left, right, low.tree.place(node))
        case PointerType(), PointerType() if op in fold.COMPARISONS:
            place = low.tree.place(node)
            return Binary(BOOL, op, PointerDifference(LONG, left, right, place), Const(LONG, 0), place)
    raise low.tree.error(f"{op} does not work on {left.type} and {right.type}", node)


def _distance(low: Lowering, index: Expr, node: Node) -> Expr:
    """An index as used in address computations: an integer modulo 2**64, so that the largest unsigned value is -1."""
    match index.type:
        case Scalar(kind="b"):
            return low.converted(index, INT, node)
        case Scalar(kind="u", bits=64):
            return low.converted(index, LONG, node)
    return index


def _arithmetic(low: Lowering, op: str, left: Expr, right: Expr, a: Scalar, b: Scalar, node: Node) -> Expr:
    shift = op in ("<<", ">>")
    within = promoted(a) if shift else common(a, b)
    if within.is_float and op in ("%", "&", "|", "^", "<<", ">>"):
        raise low.tree.error(f"{op} does not work on a {within}", node)
    x, y = low.converted(left, within, node), low.converted(right, within, node)
    result = BOOL if op in fold.COMPARISONS else within
    by_zero = isinstance(y, Const) and y.value == 0 and op in ("/", "%") and not within.is_float
    if by_zero and not low.is_unevaluated:
        raise low.tree.error("integer division by zero", node)
    if not by_zero and isinstance(x, Const) and isinstance(y, Const):
        return Const(result, fold.apply_binary(op, x.value, y.value, within))
    return Binary(result, op, x, y, low.tree.place(node))


def conditional(low: Lowering, node: Node) -> Expr:
    condition = low.condition(child(node, "condition"))
    consequence, alternative = child(node, "consequence"), child(node, "alternative")
    if isinstance(condition, Const):
        chosen, other = (consequence, alternative) if condition.value else (alternative, consequence)
        value = low.value(chosen)
        with low.unevaluated():
            ctype = _joint_type(value.type, low.value(other).type)
        return low.converted(value, ctype, node)
    then, otherwise = low.value(consequence), low.value(alternative)
    ctype = _joint_type(then.type, otherwise.type)
    return Select(ctype, condition, low.converted(then, ctype, node), low.converted(otherwise, ctype, node))


def _joint_type(then: CType, otherwise: CType) -> CType:
    """The type of ``?:``, for both of its branches."""
    if isinstance(then, Scalar) and isinstance(otherwise, Scalar):
        return then if then == otherwise else common(then, otherwise)
    return then


def cast(low: Lowering, node: Node) -> Expr:
    to, value = described_type(low, child(node, "type")), child(node, "value")
    if isinstance(to, Void):
        return Sequence(to, (low.discarded(value),))
    return converted_by_cast(low, low.value(value), to, node)


def converted_by_cast(low: Lowering, value: Expr, to: CType, node: Node) -> Expr:
    match value.type, to:
        case PointerType(space=space), PointerType() as pointer:
            return Reinterpret(pointer.into(space), value, low.tree.place(node))
    return low.converted(value, to, node)


def subscript(low: Lowering, node: Node) -> Expr:
    argument = low.expression(child(node, "argument"))
    indices = children(child(node, "indices"))
    if len(indices) != 1:
        raise low.tree.error("a subscript takes one index", node)
    index = low.scalar(indices[0])
    if isinstance(index.type, Scalar) and index.type.is_float:
        raise low.tree.error(f"a {index.type} can't be an index", indices[0])
    return indexed(low, argument, index, node)


def indexed(low: Lowering, argument: Expr, index: Expr, node: Node) -> Expr:
    place, index = low.tree.place(node), _distance(low, index, node)
    match argument.type:
        case ArrayType(element=element, dims=dims, space=space) as array:
            inner = ArrayType(element, dims[1:], space) if dims[1:] else PointerType(element, space)
            moved = Offset(inner, argument, index, array.stride * units_of(element))
            return moved if dims[1:] else Deref(element, moved, place)
        case PointerType(to=to) as pointer:
            base = low.loaded(argument, node)
            return Deref(to, Offset(pointer, base, index, units_of(to)), place)  # type: ignore[arg-type]
    raise low.tree.error(f"a {argument.type} can't be indexed", node)


def pointer(low: Lowering, node: Node) -> Expr:
    if low.tree.text(child(node, "operator")) == "&":
        return address_of(low, low.expression(child(node, "argument")), node)
    value = low.value(child(node, "argument"))
    if not isinstance(value.type, PointerType):
        raise low.tree.error(f"a {value.type} is not a pointer", node)
    return Deref(value.type.to, value, low.tree.place(node))  # type: ignore[arg-type]


def address_of(low: Lowering, expr: Expr, node: Node) -> Expr:
    match expr:
        case Deref(pointer=pointer):
            return pointer
        case Component(of=Deref() as of):
            return component_of(of, expr).pointer
        case Offset(type=ArrayType(element=element, space=space)):
            return replace(expr, type=PointerType(element, space))
    raise low.tree.error(
        "the address of a variable in a register is not supported", node, "make it an array of one", id="unsupported"
    )


def field(low: Lowering, node: Node) -> Expr:
    name = low.tree.text(child(node, "field"))
    argument = child(node, "argument")
    built_in = low.tree.text(argument)
    if built_in in _BUILT_IN and low.scope.find(built_in) is None:
        return _built_in(low, built_in, name, node)
    of = low.expression(argument)
    if not isinstance(of.type, VectorType) or name not in COMPONENTS[: of.type.count]:
        raise low.tree.error(f"a {of.type} has no member {name}", node)
    return Component(of.type.scalar, of, COMPONENTS.index(name), low.tree.place(node))


def _built_in(low: Lowering, name: str, axis: str, node: Node) -> Expr:
    if axis not in ("x", "y", "z"):
        raise low.tree.error(f"{name} has no {axis}", node, "it has x, y and z")
    if name.endswith("Idx"):
        return Index(UINT, name == "blockIdx", "xyz".index(axis))
    return Extent(UINT, name == "gridDim", "xyz".index(axis))


def sizeof_expression(low: Lowering, node: Node) -> Expr:
    described = node.child_by_field_name("type")
    ctype = described_type(low, described) if described else _type_of_value(low, child(node, "value"))
    match ctype:
        case Scalar() | VectorType():
            return Const(ULONG, ctype.bytes)
        case ArrayType(element=element):
            return Const(ULONG, element.bytes * ctype.dims[0] * ctype.stride)
        case PointerType():
            return Const(ULONG, 8)
    raise low.tree.error(f"{ctype} has no size", node)


def _type_of_value(low: Lowering, node: Node) -> CType:
    """The type of sizeof's operand when the parser took a parenthesized type name for a value."""
    inside = children(node)[0] if node.type == "parenthesized_expression" else node
    name = low.tree.text(inside)
    symbol = low.scope.find(name)
    is_type = isinstance(symbol, TypeName | LazyType) or (symbol is None and named_type(name) is not None)
    if is_type:
        return type_named(low, name, inside)
    with low.unevaluated():
        return low.expression(node).type


EXPRESSIONS = {
    "identifier": identifier,
    "qualified_identifier": qualified,
    "parenthesized_expression": parenthesized,
    "condition_clause": lambda low, node: low.expression(child(node, "value")),
    "comma_expression": comma,
    "unary_expression": unary_expression,
    "binary_expression": binary_expression,
    "conditional_expression": conditional,
    "cast_expression": cast,
    "subscript_expression": subscript,
    "pointer_expression": pointer,
    "field_expression": field,
    "sizeof_expression": sizeof_expression,
}
