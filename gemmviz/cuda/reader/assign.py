"""One assignment: its conversion, its operator, its accesses."""

from collections.abc import Iterator
from math import prod

from gemmviz.cuda.nodes import (
    Assign,
    Binary,
    Block,
    Component,
    Const,
    Declare,
    Deref,
    Expr,
    Inline,
    Offset,
    Read,
    Select,
    Sequence,
    Stmt,
)
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.cursors import MixedSpaces, Node, bare
from gemmviz.cuda.reader.expressions import combined
from gemmviz.cuda.reader.lowering import Lowering, component_of, local_array
from gemmviz.cuda.reader.lvalues import is_union, lvalue, member_of, needs_memory, struct_fields
from gemmviz.cuda.reader.symbols import ArrayVariable, InMemory, Object, Symbol, Thing, Variable
from gemmviz.cuda.types import INT, VOID, ArrayType, CType, PointerType, Scalar, StructType, VectorType, size_bytes, units_of


def assign(low: Lowering, target: Expr, op: str, value: Expr, node: Node, left: Node, gives_old: bool) -> Expr:
    """The node of ``target op= value``. The read of a compound assignment comes before its write; each is an access."""
    low.unset.pop(_slot(target), None)
    match target:
        case Sequence(parts=(*before, last)):
            kept, value = _kept(low, value, node)
            return Sequence(last.type, (*kept, *before, assign(low, last, op, value, node, left, gives_old)))
        case Select(type=ctype, condition=condition, then=then, otherwise=otherwise):
            kept, value = _kept(low, value, node)
            first, second = (assign(low, each, op, value, node, left, gives_old) for each in (then, otherwise))
            return Sequence(ctype, (*kept, Select(ctype, condition, first, second)))
        case Component(of=Deref() as of):
            target = component_of(of, target)
        case Read(type=PointerType() as have):
            return _assign_pointer(low, target, op, value, have, node, gives_old)
    if not _is_place(target):
        raise low.error("this can't be assigned to", left)
    within: Scalar | None = None
    if op:
        target = low.loaded(target, left)
        combined_value = combined(low, op, target, value, node)
        if not isinstance(combined_value, Binary) or not isinstance(combined_value.left.type, Scalar):
            raise low.error(f"{op}= does not work on a {target.type}", node)
        within, value = combined_value.left.type, combined_value.right
    else:
        value = low.converted(value, target.type, node)
    if isinstance(target, Read) and not op:
        low.bound.setdefault(target.slot, value)
    store = None
    if isinstance(target, Deref) and isinstance(target.pointer.type, PointerType) and target.pointer.type.space != "local":
        store = low.access("store", target, left)
    return Assign(target.type, target, value, op or None, within, store, gives_old, low.place(node))


def _kept(low: Lowering, value: Expr, node: Node) -> tuple[tuple[Expr, ...], Expr]:
    """What evaluates a value now, and the value for later: C++17 evaluates the right side of an assignment first."""
    if isinstance(value, Const):
        return (), value
    slot, place = low.new_slot(), low.place(node)
    return (Inline(VOID, (), Block((Declare(slot, value),)), None, place),), Read(value.type, slot, "", False, place)


def _slot(target: Expr) -> int:
    while isinstance(target, Component):
        target = target.of
    return target.slot if isinstance(target, Read) else -1


def _is_place(target: Expr) -> bool:
    match target:
        case Read() | Deref():
            return True
        case Component(of=of):
            return _is_place(of)
    return False


def _assign_pointer(low: Lowering, target: Read, op: str, value: Expr, have: PointerType, node: Node, gives_old: bool) -> Expr:
    moved = combined(low, op, target, value, node) if op else low.converted(value, have, node)
    want = moved.type
    assert isinstance(want, PointerType)
    key = low.pointers.get(target.slot, 0)
    if key in low.mixed:
        return Assign(have, target, moved, None, None, None, gives_old, low.place(node))
    if have.space is None:
        low.spaces[target.slot] = want.space
    elif want.space is not None and want.space != have.space:
        if key and "local" not in (have.space, want.space):
            raise MixedSpaces(key)
        raise low.error(f"this pointer points into {have.space} memory; it can't point into {want.space} memory too", node)
    return Assign(have.into(want.space or have.space), target, moved, None, None, None, gives_old, low.place(node))


# Copies of structs, one assignment for each number, vector or pointer in them.


def copied(low: Lowering, target: Expr | Thing, value: Expr | Thing, node: Node) -> Thing | Expr:
    """The node of ``target = value`` for structs."""
    effects = (value.effects if isinstance(value, Thing) else ()) + (target.effects if isinstance(target, Thing) else ())
    pairs = [(to, of) for to, of in _leaf_pairs(low, target, value, node) if not _is_unset(low, of)]
    parts = (*effects, *(assign(low, to, "", low.loaded(of, node), node, node, False) for to, of in pairs))
    if isinstance(target, Thing):
        return Thing(target.type, target.symbol, parts)
    return Sequence(VOID, parts)


def _is_unset(low: Lowering, value: Expr) -> bool:
    """Whether a member has no value for sure: a copy leaves it so."""
    return isinstance(value, Read) and low.unset.get(value.slot) == len(low.loop_stack)


def _leaf_pairs(low: Lowering, target: Expr | Thing, value: Expr | Thing, node: Node) -> Iterator[tuple[Expr, Expr]]:
    """The leaves of two structs of one type."""
    struct = target.type
    if isinstance(struct, StructType):
        members = struct_fields(low, struct)
        if is_union(struct):  # the largest member has all bytes
            members = (max(members, key=lambda each: size_bytes(each[1].type)),)
        for key, _ in members:
            yield from _leaf_pairs(low, member_of(low, target, key, node), member_of(low, value, key, node), node)
    elif isinstance(struct, ArrayType):
        assert not isinstance(target, Thing)
        assert not isinstance(value, Thing)
        count = struct.dims[0] * struct.stride
        for at in range(count):
            yield from _leaf_pairs(low, _element_at(low, target, at, node), _element_at(low, value, at, node), node)
    else:
        assert not isinstance(target, Thing)
        assert not isinstance(value, Thing)
        yield target, value


def _element_at(low: Lowering, array: Expr, at: int, node: Node) -> Expr:
    assert isinstance(array.type, ArrayType)
    element, space = array.type.element, array.type.space
    pointer = PointerType(element, space)
    return Deref(element, Offset(pointer, array, Const(INT, at), units_of(element)), low.place(node))


# Lowers assignments (plain, compound, ++ and --) to variables, components, pointers, memory and objects.


def _assignment(low: Lowering, node: Node) -> Expr | Thing:
    if node.kind == k.UNARY_OPERATOR:
        operator = low.cursors.lib.unary_operator(node.cursor)
        target = low.expression_of(lvalue(low, node.parts[0]), node.parts[0])
        return assign(low, target, operator.replace("x", "")[0], Const(INT, 1), node, node.parts[0], operator[0] == "x")
    op = low.cursors.lib.binary_operator(node.cursor).removesuffix("=")
    left, right = node.parts
    given = low.place_node(right)
    if not op and (isinstance(given, Thing) or isinstance(given.type, StructType)):
        return copied(low, low.place_node(left), given, node)
    value = low.value(right) if isinstance(given, Thing) else low.loaded(given, bare(right))
    return assign(low, low.expression_of(lvalue(low, left), left), op, value, node, left, False)


ASSIGNMENTS = {k.COMPOUND_ASSIGNMENT_OPERATOR: _assignment}


# Variables that are structs: a variable for each member, or memory.


def new_object(low: Lowering, struct: StructType, statements: list[Stmt], node: Node, name: str = "") -> Thing:
    """A struct whose members are new variables, in memory if they overlap; ``statements`` gets their declarations."""
    if needs_memory(struct):
        return Thing(struct, in_memory(low, struct, name, statements, node))
    members = {
        key: _new_member(low, field.type, f"{name}.{field.name}", key, statements, node)
        for key, field in struct_fields(low, struct)
    }
    return Thing(struct, Object(struct, members))


def _new_member(low: Lowering, ctype: CType, name: str, key: int, statements: list[Stmt], node: Node) -> Symbol:
    match ctype:
        case StructType() if needs_memory(ctype):
            return in_memory(low, ctype, name, statements, node)
        case StructType():
            return new_object(low, ctype, statements, node, name).symbol
        case ArrayType():
            slot = local_array(low, ctype.element, prod(ctype.dims), name, statements, node)
            return ArrayVariable(slot, ctype)
    slot = low.new_slot()
    statements.append(Declare(slot, None))
    low.unset[slot] = len(low.loop_stack)
    return Variable(slot, low.new_pointer(slot, ctype, key), name, checked=True)


def in_memory(
    low: Lowering, ctype: Scalar | VectorType | StructType, name: str, statements: list[Stmt], node: Node
) -> InMemory:
    """An object of local memory."""
    slot = local_array(low, ctype, 1, name, statements, node)
    return InMemory(slot, PointerType(ctype, "local"))


def object_copy(low: Lowering, value: Expr | Thing, node: Node) -> Thing:
    """A new object with the members of ``value``; its effects declare and fill it."""
    struct = value.type
    assert isinstance(struct, StructType)
    statements: list[Stmt] = []
    target = new_object(low, struct, statements, node)
    filled = copied(low, target, value, node)
    assert isinstance(filled, Thing)
    declared = Inline(VOID, (), Block(tuple(statements)), None, low.place(node))
    return Thing(struct, target.symbol, (declared, *filled.effects))
