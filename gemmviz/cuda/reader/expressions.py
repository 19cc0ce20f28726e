"""Lowers expressions: names, operators, subscripts, members, casts. Constants are folded."""

from msgspec import structs

from gemmviz.cuda import walk
from gemmviz.cuda.nodes import (
    Binary,
    Component,
    Const,
    Deref,
    Expr,
    Logic,
    MakeVector,
    Offset,
    PointerDifference,
    Reinterpret,
    Select,
    Sequence,
    Unary,
)
from gemmviz.cuda.parser.library import RawCursor
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.cursors import Node, bare, is_reference_cast
from gemmviz.cuda.reader.initialisers import constant_of, global_name
from gemmviz.cuda.reader.lowering import Lowering, component_of, space_of
from gemmviz.cuda.reader.lvalues import designated, member
from gemmviz.cuda.reader.symbols import Thing
from gemmviz.cuda.types import (
    BOOL,
    COMPONENTS,
    INT,
    LONG,
    ArrayType,
    CType,
    PointerType,
    Scalar,
    StructType,
    VectorType,
    Void,
    common,
    promoted,
    units_of,
)


def unexposed(low: Lowering, node: Node) -> Expr | Thing:
    """An implicit conversion or something without a meaning of its own: whoever uses the value converts it."""
    parts = node.parts
    if len(parts) != 1:
        value, ctype = low.cursors.evaluated(node), low.type_of(node)
        if value is None or not isinstance(ctype, Scalar):
            raise low.unsupported(node)
        return constant_of(value, ctype)
    return low.place_node(parts[0])


def parenthesized(low: Lowering, node: Node) -> Expr | Thing:
    return low.place_node(node.parts[0])


def name(low: Lowering, node: Node) -> Expr | Thing:
    arguments = node.parts if node.children and node.children[-1].kind != k.NAMESPACE_REF else []
    declaration = low.cursors.referenced(node)
    if declaration is None:
        if arguments:  # a parameter of a template, which stands for its argument
            return low.place_node(arguments[0])
        raise low.error("this name has no meaning here", node, id="unknown-name")
    value = low.cursors.evaluated(node) if arguments else None
    if value is not None and isinstance(ctype := low.type_of(node), Scalar):  # a constant of a template
        return constant_of(value, ctype)
    return designated_by(low, declaration, node)


def designated_by(low: Lowering, declaration: RawCursor, node: Node) -> Expr | Thing:
    """The node of what a declaration means, used at ``node``."""
    symbol = low.symbols.get(declaration.first)
    return global_name(low, declaration, node) if symbol is None else designated(low, symbol, node)


def _unary(low: Lowering, node: Node) -> Expr | Thing:
    op, argument = low.cursors.lib.unary_operator(node.cursor), node.parts[0]
    if op in ("x++", "x--", "++x", "--x"):
        return low.expressions[k.COMPOUND_ASSIGNMENT_OPERATOR](low, node)
    if op == "&":
        return address_of(low, low.place_node(argument), node)
    if op == "*":
        return indirection(low, argument, node)
    if op in ("__extension__",):
        return low.place_node(argument)
    if op == "!":
        return _unary_of(op, BOOL, low.condition(argument))
    operand = low.value(argument)
    if op == "+" and isinstance(operand.type, PointerType):
        return operand
    if not isinstance(operand.type, Scalar):
        raise low.error(f"a {operand.type} can't be used as a number", argument)
    within = promoted(operand.type)
    return _unary_of(op, within, low.converted(operand, within, node))


def _unary_of(op: str, within: Scalar, operand: Expr) -> Expr:
    if isinstance(operand, Const):
        return Const(within, walk.apply_unary(op, operand.value, within))
    return operand if op == "+" else Unary(within, op, operand)


def indirection(low: Lowering, argument: Node, node: Node) -> Expr | Thing:
    found = low.place_node(argument)
    if isinstance(found, Thing):  # *f of a function, or *this
        return found
    value = low.loaded(found, bare(argument))
    if not isinstance(value.type, PointerType):
        raise low.error(f"a {value.type} is not a pointer", node)
    return pointee(low, value, node)


def pointee(low: Lowering, pointer: Expr, node: Node) -> Expr:
    """What a pointer points to: an element, an object, or a row."""
    assert isinstance(pointer.type, PointerType)
    _refuse_pointer(low, pointer.type, node)
    if isinstance(pointer.type.to, ArrayType):
        row = structs.replace(pointer.type.to, space=_settled(low, pointer, node))
        return Offset(row, pointer, Const(INT, 0), 1)
    return Deref(pointer.type.to, pointer, low.place(node))  # type: ignore[arg-type]


def _refuse_pointer(low: Lowering, ctype: PointerType, node: Node) -> None:
    """Raises SourceError for a pointer to pointers."""
    if isinstance(ctype.to, PointerType):
        message = "pointers in memory (arrays of pointers, pointers to pointers) are not supported"
        raise low.error(message, node, "use one pointer and an offset for each part", id="unsupported")


def _settled(low: Lowering, pointer: Expr, node: Node):  # type: ignore[no-untyped-def]
    space = space_of(pointer)
    if space is None:
        raise low.error("this pointer is used before it is assigned", node)
    return space


def address_of(low: Lowering, expr: Expr | Thing, node: Node) -> Expr | Thing:
    match expr:
        case Thing():
            return expr
        case Deref(pointer=pointer):
            return pointer
        case Component(of=Deref() as of):
            return component_of(of, expr).pointer
        case Offset(type=ArrayType() as array):
            return structs.replace(expr, type=PointerType(array, array.space))
    raise low.error(
        "the address of a variable in a register is not supported", node, "make it an array of one", id="unsupported"
    )


def _binary(low: Lowering, node: Node) -> Expr | Thing:
    op = low.cursors.lib.binary_operator(node.cursor)
    left, right = node.parts
    if op == "=":
        return low.expressions[k.COMPOUND_ASSIGNMENT_OPERATOR](low, node)
    if op in ("&&", "||"):
        return _logic(low, op, left, right)
    if op == ",":
        return comma(low, left, right)
    return combined(low, op, low.value(left), low.value(right), node)


def comma(low: Lowering, left: Node, right: Node) -> Expr | Thing:
    first = low.discarded(left)
    second = low.place_node(right)
    if isinstance(first, Const) or (isinstance(first, Sequence) and not first.parts):
        return second
    if isinstance(second, Thing):
        return structs.replace(second, effects=(first, *second.effects))
    value = low.loaded(second, bare(right))
    return Sequence(value.type, (first, value))


def _logic(low: Lowering, op: str, left: Node, right: Node) -> Expr:
    first, deciding = low.condition(left), op == "||"
    if isinstance(first, Const) and bool(first.value) == deciding:
        return first
    second = low.condition(right)
    return second if isinstance(first, Const) else Logic(BOOL, "||" if deciding else "&&", first, second)


def combined(low: Lowering, op: str, left: Expr, right: Expr, node: Node) -> Expr:
    """The node of ``left op right`` with C's conversions. Raises SourceError for bad operands."""
    match left.type, right.type:
        case Scalar() as a, Scalar() as b:
            return _arithmetic(low, op, left, right, a, b, node)
        case PointerType() as pointer, Scalar(kind="i" | "u" | "b") if op in ("+", "-"):
            return _moved(low, left, pointer, right, 1 if op == "+" else -1, node)
        case Scalar(kind="i" | "u" | "b"), PointerType() as pointer if op == "+":
            return _moved(low, right, pointer, left, 1, node)
        case PointerType(), PointerType() if op == "-":
            return PointerDifference(LONG, left, right, low.place(node))
        case (PointerType(), _) | (_, PointerType()) if op in walk.COMPARISONS:
            return _compared(low, op, left, right, node)
    raise low.error(f"{op} does not work on {left.type} and {right.type}", node)


def _compared(low: Lowering, op: str, left: Expr, right: Expr, node: Node) -> Expr:
    to = left.type if isinstance(left.type, PointerType) else right.type
    return Binary(BOOL, op, low.converted(left, to, node), low.converted(right, to, node), low.place(node))


def _moved(low: Lowering, pointer: Expr, ctype: PointerType, index: Expr, sign: int, node: Node) -> Expr:
    return Offset(ctype, pointer, _distance(low, index, node), sign * units_of(ctype.to))


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
    x, y = low.converted(left, within, node), low.converted(right, within, node)
    result = BOOL if op in walk.COMPARISONS else within
    by_zero = isinstance(y, Const) and y.value == 0 and op in ("/", "%") and not within.is_float
    if by_zero and not low.is_unevaluated:
        raise low.error("integer division by zero", node)
    if not by_zero and isinstance(x, Const) and isinstance(y, Const):
        return Const(result, walk.apply_binary(op, x.value, y.value, within))
    return Binary(result, op, x, y, low.place(node))


def conditional(low: Lowering, node: Node) -> Expr | Thing:
    parts = node.parts
    condition = low.condition(parts[0])
    if len(parts) != 3:
        raise low.unsupported(node)
    if isinstance(condition, Const):
        chosen = parts[1] if condition.value else parts[2]
        found = low.place_node(chosen)
        if isinstance(found, Thing):
            return found
        value = low.loaded(found, bare(chosen))
        ctype = low.type_of(node)
        return low.converted(value, ctype, node) if isinstance(ctype, Scalar) and isinstance(value.type, Scalar) else value
    branch: int | None = low.add_branch(*parts)
    then, otherwise = low.value(parts[1]), low.value(parts[2])
    if len(low.accesses) - 1 == branch:  # nothing on either side reaches memory
        low.accesses.pop()
        branch = None
    ctype = _joint_type(then, otherwise)
    return Select(ctype, condition, low.converted(then, ctype, node), low.converted(otherwise, ctype, node), branch)


def _joint_type(then: Expr, otherwise: Expr) -> CType:
    """The type of ``?:``, for both of its branches."""
    if isinstance(then.type, Scalar) and isinstance(otherwise.type, Scalar):
        return then.type if then.type == otherwise.type else common(then.type, otherwise.type)
    if isinstance(then, Const) or is_null(then):
        return otherwise.type
    if isinstance(then.type, PointerType) and not is_null(otherwise) and space_of(otherwise) != then.type.space:
        return then.type.into(None)
    return then.type


def is_null(expr: Expr) -> bool:
    return isinstance(expr, Reinterpret) and isinstance(expr.pointer, Const)


def subscript(low: Lowering, node: Node) -> Expr | Thing:
    first, second = node.parts
    argument = low.expression(first)
    if isinstance(argument.type, Scalar) and not isinstance(argument, Deref):  # 2[a]
        argument, first, second = low.expression(second), second, first
    index = low.scalar(second)
    return indexed(low, argument, index, node, first)


def indexed(low: Lowering, argument: Expr, index: Expr, node: Node, base: Node) -> Expr:
    index = _distance(low, index, node)
    match argument.type:
        case ArrayType(element=element, dims=dims, space=space) as array:
            ctype = ArrayType(element, dims[1:], space) if dims[1:] else PointerType(element, space)
            found = Offset(ctype, argument, index, array.stride * units_of(element))
            return found if dims[1:] else Deref(element, found, low.place(node))
        case PointerType():
            pointer = low.loaded(argument, bare(base))
            assert isinstance(pointer.type, PointerType)
            return _element(low, pointer, pointer.type, index, node)
    raise low.error(f"a {argument.type} can't be indexed", node)


def _element(low: Lowering, pointer: Expr, ctype: PointerType, index: Expr, node: Node) -> Expr:
    _refuse_pointer(low, ctype, node)
    if isinstance(ctype.to, ArrayType):
        row = structs.replace(ctype.to, space=_settled(low, pointer, node))
        return Offset(row, pointer, index, units_of(ctype.to))
    return Deref(ctype.to, Offset(ctype, pointer, index, units_of(ctype.to)), low.place(node))  # type: ignore[arg-type]


def field(low: Lowering, node: Node) -> Expr | Thing:
    declaration = low.cursors.referenced(node)
    assert declaration is not None
    if declaration.kind not in (k.FIELD_DECL,):  # a static member
        return designated_by(low, declaration, node)
    parts = node.parts
    this = low.activation.this if low.activation else None
    of: Expr | Thing | None = low.place_node(parts[0]) if parts else this
    if of is None:
        raise low.error("this member has no object", node)
    if isinstance(of, Thing):
        return member(low, of, declaration, node)
    if isinstance(of.type, PointerType):
        of = pointee(low, low.loaded(of, bare(parts[0]) if parts else node), node)
    if isinstance(of.type, VectorType):
        axis = COMPONENTS.index(low.cursors.name(declaration))
        if isinstance(of, MakeVector):
            return of.parts[axis]
        return Component(of.type.scalar, of, axis, low.place(node))
    return member(low, of, declaration, node)


EXPRESSIONS = {
    k.UNEXPOSED_EXPR: unexposed,
    k.PAREN_EXPR: parenthesized,
    k.DECL_REF_EXPR: name,
    k.UNARY_OPERATOR: _unary,
    k.BINARY_OPERATOR: _binary,
    k.ARRAY_SUBSCRIPT_EXPR: subscript,
    k.MEMBER_REF_EXPR: field,
}


# Lowers casts of numbers, pointers and references.


def cast(low: Lowering, node: Node) -> Expr | Thing:
    """The node of ``(T)x``, ``T(x)``, ``static_cast<T>(x)`` and so on."""
    parts = node.parts
    if not parts:  # T()
        return low.expressions[k.INIT_LIST_EXPR](low, node)
    value = parts[-1]
    to = low.type_of(node)
    if isinstance(to, Void):
        return Sequence(to, (low.discarded(value),))
    found = low.place_node(value)
    if isinstance(found, Thing):
        return found
    if _is_reference_cast(low, node, found.type, to):
        return _as_reference(low, found, to, node)
    return converted_by_cast(low, low.loaded(found, bare(value)), to, node)


def _is_reference_cast(low: Lowering, node: Node, have: CType, to: CType) -> bool:
    """Whether a cast designates the same memory as another type."""
    if isinstance(to, VectorType | StructType) or (isinstance(have, VectorType) and isinstance(to, Scalar)):
        return have != to
    return isinstance(have, Scalar) and isinstance(to, Scalar) and is_reference_cast(low.cursors, node)


def _as_reference(low: Lowering, found: Expr, to: CType, node: Node) -> Expr | Thing:
    if found.type == to:
        return found
    pointer = address_of(low, found, node)
    assert not isinstance(pointer, Thing)
    return pointee(low, converted_by_cast(low, pointer, PointerType(to), node), node)


def converted_by_cast(low: Lowering, value: Expr, to: CType, node: Node) -> Expr:
    match value.type, to:
        case PointerType(to=have, space=space), PointerType(to=want) as pointer:
            if isinstance(want, ArrayType) and space is not None:
                pointer = PointerType(structs.replace(want, space=space), space, pointer.is_const)
            return value if have == want else Reinterpret(pointer.into(space), value, low.place(node))
    return low.converted(value, to, node)


def compound_literal(low: Lowering, node: Node) -> Expr | Thing:
    return low.place_node(node.parts[-1])


CASTS = {
    k.CSTYLE_CAST_EXPR: cast,
    k.FUNCTIONAL_CAST_EXPR: cast,
    k.STATIC_CAST_EXPR: cast,
    k.REINTERPRET_CAST_EXPR: cast,
    k.CONST_CAST_EXPR: cast,
    k.ADDRESS_SPACE_CAST_EXPR: cast,
    k.COMPOUND_LITERAL_EXPR: compound_literal,
}
