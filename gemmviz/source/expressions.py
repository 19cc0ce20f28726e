"""Reads C's expressions: each function takes one kind of syntax to typed nodes, constants folded."""

import re
from dataclasses import replace

from tree_sitter import Node

from gemmviz.source import fold
from gemmviz.source.declarators import described_type, specified_type, type_of
from gemmviz.source.lowering import Lowering, component_of, read_variable
from gemmviz.source.nodes import (
    Assign,
    Base,
    Binary,
    Const,
    Deref,
    Expr,
    Extent,
    Field,
    Index,
    Logic,
    MakeVector,
    Offset,
    PointerDifference,
    Read,
    Reinterpret,
    Select,
    Sequence,
    Unary,
)  # fmt: skip
from gemmviz.source.scope import (
    ArrayVariable,
    Constant,
    Function,
    LazyConstant,
    LazyType,
    TypeName,
    Variable,
)  # fmt: skip
from gemmviz.source.syntax import child, children, closest
from gemmviz.source.types import (
    BOOL,
    CHAR,
    COMPONENTS,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    Array,
    CType,
    Pointer,
    Scalar,
    Vector,
    common,
    named_type,
    promoted,
)  # fmt: skip

_BUILT_IN = {"threadIdx", "blockIdx", "blockDim", "gridDim"}


def number(low: Lowering, node: Node) -> Expr:
    text = low.tree.text(node).replace("'", "")
    if text[0] in "+-":  # the parser takes a sign for part of the number
        return _signed(_number(low, text[1:].lstrip(), node), text[0])
    return _number(low, text, node)


def _signed(constant: Const, sign: str) -> Const:
    return Const(constant.type, fold.unary(sign, constant.value, constant.type))


def _number(low: Lowering, text: str, node: Node) -> Const:
    found = re.fullmatch(r"(0[xX][\da-fA-F]+|0[bB][01]+|[\d.]+(?:[eE][+-]?\d+)?)([uUlLfF]*)", text)
    if found is None:
        raise low.tree.error(f"{text!r} is no number", node)
    digits, suffix = found[1], found[2].lower()
    is_hex = digits[:2].lower() in ("0x", "0b")
    if not is_hex and ("." in digits or "e" in digits.lower() or "f" in suffix):
        kind = FLOAT if "f" in suffix else DOUBLE
        return Const(kind, fold.convert(float(digits), kind))
    octal = not is_hex and len(digits) > 1 and digits[0] == "0"
    value = int(digits, 8) if octal else int(digits, 0)
    choices = [INT, UINT, LONG, ULONG] if is_hex or octal else [INT, LONG, ULONG]
    if "u" in suffix:
        choices = [UINT, ULONG]
    if "l" in suffix:
        choices = [kind for kind in choices if kind.bits == 64]
    kind = next((kind for kind in choices if fold.wrapped(value, kind) == value), ULONG)
    return Const(kind, value)


def truth(low: Lowering, node: Node) -> Expr:
    return Const(BOOL, node.type == "true")


def identifier(low: Lowering, node: Node) -> Expr:
    name = low.tree.text(node)
    match low.scope.find(name):
        case Variable(slot=slot, type=Pointer(to=to), is_reference=True) as variable:
            pointer = read_variable(slot, name, variable.type, False, low.tree.place(node))
            return Deref(to, pointer, low.tree.place(node))
        case Variable(slot=slot, type=ctype, checked=checked):
            return read_variable(slot, name, ctype, checked, low.tree.place(node))
        case ArrayVariable(slot=slot, type=array):
            return Offset(array, Base(Pointer(array.element, array.space), slot), Const(INT, 0), 1)
        case Constant(node=constant):
            return constant
        case LazyConstant(declaration=declaration, declarator=declarator):
            return _lazy_constant(low, declaration, declarator, node)
        case Function() | TypeName() | LazyType():
            raise low.tree.error(f"{name} is not a value", node)
    if name == "warpSize":
        return Const(INT, 32)
    if name in _BUILT_IN:
        raise low.tree.error(f"{name} needs .x, .y or .z", node)
    raise low.tree.error(f"{name!r} is not declared", node, closest(name, low.scope.all_names()))


def _lazy_constant(low: Lowering, declaration: Node, declarator: Node, node: Node) -> Expr:
    ctype = type_of(low, declaration)
    value = low.value(child(declarator, "value"))
    converted = value if ctype is None else low.converted(value, ctype, node)
    if not isinstance(converted, Const):
        raise low.tree.error(f"the value of {low.tree.text(node)} is not known before the kernel runs", node)
    return converted


def qualified(low: Lowering, node: Node) -> Expr:
    name = child(node, "name")
    return identifier(low, name) if name.type == "identifier" else low.expression(name)


def parenthesized(low: Lowering, node: Node) -> Expr:
    return low.expression(children(node)[0])


def comma(low: Lowering, node: Node) -> Expr:
    parts = (low.value(child(node, "left")), low.value(child(node, "right")))
    return Sequence(parts[1].type, parts)


def unary(low: Lowering, node: Node) -> Expr:
    op = low.tree.text(child(node, "operator"))
    argument = child(node, "argument")
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
        return Const(within, fold.unary(op, operand.value, within))
    return operand if op == "+" else Unary(within, op, operand)


def binary(low: Lowering, node: Node) -> Expr:
    op = low.tree.text(child(node, "operator"))
    left, right = child(node, "left"), child(node, "right")
    if op in ("&&", "and", "||", "or"):
        return _logic(low, "&&" if op in ("&&", "and") else "||", left, right)
    return combined(low, op, low.value(left), low.value(right), node)


def _logic(low: Lowering, op: str, left: Node, right: Node) -> Expr:
    first, second = low.condition(left), low.condition(right)
    deciding = op == "||"
    if isinstance(first, Const):
        return first if bool(first.value) == deciding else second
    return Logic(BOOL, "||" if deciding else "&&", first, second)


def combined(low: Lowering, op: str, left: Expr, right: Expr, node: Node) -> Expr:
    """``left op right`` with C's conversions; pointers move by elements. Raises SourceError where C has no meaning."""
    match left.type, right.type:
        case Scalar() as a, Scalar() as b:
            return _arithmetic(low, op, left, right, a, b, node)
        case Pointer() as pointer, Scalar(kind="i" | "u" | "b") if op in ("+", "-"):
            return Offset(pointer, left, right, 1 if op == "+" else -1)
        case Scalar(kind="i" | "u" | "b"), Pointer() as pointer if op == "+":
            return Offset(pointer, right, left, 1)
        case Pointer(), Pointer() if op == "-":
            return PointerDifference(LONG, left, right, low.tree.place(node))
        case Pointer(), Pointer() if op in fold.COMPARISONS:
            place = low.tree.place(node)
            return Binary(BOOL, op, PointerDifference(LONG, left, right, place), Const(LONG, 0), place)
    raise low.tree.error(f"{op} does not work on {left.type} and {right.type}", node)


def _arithmetic(low: Lowering, op: str, left: Expr, right: Expr, a: Scalar, b: Scalar, node: Node) -> Expr:
    shift = op in ("<<", ">>")
    within = promoted(a) if shift else common(a, b)
    if within.is_float and op in ("%", "&", "|", "^", "<<", ">>"):
        raise low.tree.error(f"{op} does not work on a {within}", node)
    x, y = low.converted(left, within, node), low.converted(right, within, node)
    result = BOOL if op in fold.COMPARISONS else within
    if isinstance(y, Const) and y.value == 0 and op in ("/", "%") and not within.is_float:
        raise low.tree.error("integer division by zero", node)
    if isinstance(x, Const) and isinstance(y, Const):
        return Const(result, fold.binary(op, x.value, y.value, within))
    return Binary(result, op, x, y, low.tree.place(node))


def conditional(low: Lowering, node: Node) -> Expr:
    condition = low.condition(child(node, "condition"))
    if isinstance(condition, Const):
        return low.value(child(node, "consequence" if condition.value else "alternative"))
    then, otherwise = low.value(child(node, "consequence")), low.value(child(node, "alternative"))
    if isinstance(then.type, Scalar) and isinstance(otherwise.type, Scalar):
        same = then.type.kind == otherwise.type.kind and then.type.bits == otherwise.type.bits
        ctype: CType = then.type if same else common(then.type, otherwise.type)
    else:
        ctype = then.type
    return Select(ctype, condition, low.converted(then, ctype, node), low.converted(otherwise, ctype, node))


def cast(low: Lowering, node: Node) -> Expr:
    return converted_by_cast(low, low.value(child(node, "value")), described_type(low, child(node, "type")), node)


def converted_by_cast(low: Lowering, value: Expr, to: CType, node: Node) -> Expr:
    match value.type, to:
        case Pointer(to=have, space=space), Pointer(to=want) as pointer:
            if not _same_memory(have, want):
                raise low.tree.error(f"{have} memory can't be read or written as {want}", node)
            return Reinterpret(pointer.into(space), value, low.tree.place(node))
    return low.converted(value, to, node)


def _same_memory(have: Scalar | Vector, want: Scalar | Vector) -> bool:
    a, b = (each.scalar if isinstance(each, Vector) else each for each in (have, want))
    return a.dtype == b.dtype


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
    place = low.tree.place(node)
    match argument.type:
        case Array(element=element, dims=dims, space=space) as array:
            inner = Array(element, dims[1:], space) if dims[1:] else Pointer(element, space)
            moved = Offset(inner, argument, index, array.stride)
            return moved if dims[1:] else Deref(element, moved, place)
        case Pointer(to=to) as pointer:
            base = low.loaded(argument, node)
            return Deref(to, Offset(pointer, base, index, 1), place)
    raise low.tree.error(f"a {argument.type} can't be indexed", node)


def pointer(low: Lowering, node: Node) -> Expr:
    if low.tree.text(child(node, "operator")) == "&":
        return address_of(low, low.expression(child(node, "argument")), node)
    value = low.value(child(node, "argument"))
    if not isinstance(value.type, Pointer):
        raise low.tree.error(f"a {value.type} is no pointer", node)
    return Deref(value.type.to, value, low.tree.place(node))


def address_of(low: Lowering, expr: Expr, node: Node) -> Expr:
    match expr:
        case Deref(pointer=pointer):
            return pointer
        case Field(of=Deref() as of):
            return component_of(of, expr).pointer
        case Offset(type=Array(element=element, space=space)):
            return replace(expr, type=Pointer(element, space))
    raise low.tree.error("the address of a variable in a register is not supported", node, "make it an array of one")


def field(low: Lowering, node: Node) -> Expr:
    name = low.tree.text(child(node, "field"))
    argument = child(node, "argument")
    built_in = low.tree.text(argument)
    if built_in in _BUILT_IN and low.scope.find(built_in) is None:
        return _built_in(low, built_in, name, node)
    of = low.expression(argument)
    if not isinstance(of.type, Vector) or name not in COMPONENTS[: of.type.count]:
        raise low.tree.error(f"a {of.type} has no member {name}", node)
    return Field(of.type.scalar, of, COMPONENTS.index(name), low.tree.place(node))


def _built_in(low: Lowering, name: str, axis: str, node: Node) -> Expr:
    if axis not in ("x", "y", "z"):
        raise low.tree.error(f"{name} has no {axis}", node, "it has x, y and z")
    if name.endswith("Idx"):
        return Index(UINT, name == "blockIdx", "xyz".index(axis))
    return Extent(UINT, name == "gridDim", "xyz".index(axis))


def assignment(low: Lowering, node: Node) -> Expr:
    op = low.tree.text(child(node, "operator")).removesuffix("=")
    value = low.value(child(node, "right"))
    return assign(low, low.expression(child(node, "left")), op, value, node, gives_old=False)


def update(low: Lowering, node: Node) -> Expr:
    argument, operator = child(node, "argument"), child(node, "operator")
    target = low.expression(argument)
    postfix = operator.start_byte > argument.start_byte
    return assign(low, target, low.tree.text(operator)[0], Const(INT, 1), node, gives_old=postfix)


def assign(low: Lowering, target: Expr, op: str, value: Expr, node: Node, *, gives_old: bool) -> Expr:
    """``target op= value``: the read of a compound assignment comes before its write, each an access of its own."""
    place = low.tree.place(node)
    left = _target_node(node)
    match target:
        case Field(of=Deref() as of):
            target = component_of(of, target)
        case Read(type=Pointer() as have, slot=slot):
            return _assign_pointer(low, target, op, value, slot, have, node, gives_old)
    if not _is_place(target) or _is_const(low, target):
        raise low.tree.error("this can't be assigned to", left)
    if isinstance(target, Deref) and isinstance(target.pointer.type, Pointer) and target.pointer.type.is_const:
        raise low.tree.error("this points to const elements: they can't be assigned to", left)
    within: Scalar | None = None
    if op:
        target = low.loaded(target, left)
        combined_value = combined(low, op, _as_value(target), value, node)
        if isinstance(combined_value, Binary) and isinstance(combined_value.left.type, Scalar):
            within, value = combined_value.left.type, combined_value.right
        else:
            raise low.tree.error(f"{op}= does not work on a {target.type}", node)
    else:
        value = low.converted(value, target.type, node)
    store = None
    if isinstance(target, Deref) and isinstance(target.pointer.type, Pointer) and target.pointer.type.space != "local":
        store = low.access("store", target, left)
    return Assign(target.type, target, value, op or None, within, store, gives_old, place)


def _target_node(node: Node) -> Node:
    return node.child_by_field_name("left") or node.child_by_field_name("argument") or node


def _as_value(target: Expr) -> Expr:
    """A stand-in for the target's value that can't fold, so that the types of a compound assignment come out right."""
    return replace(target) if not isinstance(target, Const) else target


def _is_place(target: Expr) -> bool:
    match target:
        case Read() | Deref():
            return True
        case Field(of=of):
            return _is_place(of)
    return False


def _is_const(low: Lowering, target: Expr) -> bool:
    match target:
        case Read(name=name):
            symbol = low.scope.find(name)
            return isinstance(symbol, Variable) and symbol.is_const
        case Field(of=of):
            return _is_const(low, of)
    return False


def _assign_pointer(
    low: Lowering, target: Expr, op: str, value: Expr, slot: int, have: Pointer, node: Node, gives_old: bool
) -> Expr:
    moved = combined(low, op, target, value, node) if op else value
    want = moved.type
    if not isinstance(want, Pointer) or want.to != have.to:
        raise low.tree.error(f"a {want} can't become a {have}", node)
    if have.space is None:
        _settle_space(low, slot, have.into(want.space))
    elif want.space != have.space:
        raise low.tree.error(f"this pointer points into {have.space} memory; it can't point into {want.space} memory too", node)
    return Assign(have.into(want.space), target, moved, None, None, None, gives_old, low.tree.place(node))


def _settle_space(low: Lowering, slot: int, ctype: Pointer) -> None:
    scope = low.scope
    while scope is not None:
        for symbol in scope.names.values():
            if isinstance(symbol, Variable) and symbol.slot == slot:
                symbol.type = ctype
        if scope.outer is None:
            return
        scope = scope.outer


def size_of(low: Lowering, node: Node) -> Expr:
    described = node.child_by_field_name("type")
    ctype = described_type(low, described) if described else _type_of_value(low, child(node, "value"))
    match ctype:
        case Scalar() | Vector():
            return Const(ULONG, ctype.bytes)
        case Array(element=element):
            return Const(ULONG, element.bytes * ctype.dims[0] * ctype.stride)
        case Pointer():
            return Const(ULONG, 8)
    raise low.tree.error(f"{ctype} has no size", node)


def _type_of_value(low: Lowering, node: Node) -> CType:
    inside = children(node)[0] if node.type == "parenthesized_expression" else node
    name = low.tree.text(inside)
    if inside.type == "identifier" and low.scope.find(name) is None and (named := named_type(name)) is not None:
        return named  # the parser takes float4 for a value
    return low.expression(node).type


def character(low: Lowering, node: Node) -> Expr:
    text = low.tree.text(node)[1:-1]
    plain = {"\\n": "\n", "\\t": "\t", "\\0": "\0", "\\\\": "\\", "\\'": "'"}.get(text, text)
    if len(plain) != 1:
        raise low.tree.unsupported(node)
    return Const(CHAR, ord(plain))


def compound_literal(low: Lowering, node: Node) -> Expr:
    """``float4{1, 2, 3, 4}``."""
    return initialised(low, child(node, "value"), specified_type(low, child(node, "type")))


def initialised(low: Lowering, node: Node, ctype: CType) -> Expr:
    """The value of a variable from its initialiser, with or without braces."""
    if node.type not in ("initializer_list", "argument_list"):
        return low.converted(low.value(node), ctype, node)
    inside = children(node)
    if isinstance(ctype, Vector) and not (len(inside) == 1 and low.value(inside[0]).type == ctype):
        if len(inside) > ctype.count:
            raise low.tree.error(f"{len(inside)} values for a {ctype}", node)
        parts = [low.converted(low.scalar(each), ctype.scalar, each) for each in inside]
        zero = low.converted(Const(INT, 0), ctype.scalar, node)
        return MakeVector(ctype, (*parts, *[zero] * (ctype.count - len(parts))))
    if len(inside) > 1:
        raise low.tree.unsupported(node)
    return low.converted(low.value(inside[0]) if inside else Const(INT, 0), ctype, node)


EXPRESSIONS = {
    "char_literal": character,
    "compound_literal_expression": compound_literal,
    "number_literal": number,
    "true": truth,
    "false": truth,
    "identifier": identifier,
    "qualified_identifier": qualified,
    "parenthesized_expression": parenthesized,
    "condition_clause": lambda low, node: low.expression(child(node, "value")),
    "comma_expression": comma,
    "unary_expression": unary,
    "binary_expression": binary,
    "conditional_expression": conditional,
    "cast_expression": cast,
    "subscript_expression": subscript,
    "pointer_expression": pointer,
    "field_expression": field,
    "assignment_expression": assignment,
    "update_expression": update,
    "sizeof_expression": size_of,
}
