"""Lowers lvalues: what an assignment writes, or a reference names, also where C++ chooses it or computes something before it.

An lvalue is a variable, a component of one, memory, a ``Select`` of lvalues, or a ``Sequence`` that ends with one.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import structs

from gemmviz.cuda.nodes import (
    Assign,
    Base,
    Call,
    Component,
    Const,
    Declare,
    Deref,
    Expr,
    Inline,
    Offset,
    Read,
    Reinterpret,
    Return,
    Select,
    Sequence,
)
from gemmviz.cuda.parser.library import RawCursor, RawType
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.cursors import Node, bare
from gemmviz.cuda.reader.lowering import Lowering, component_of, space_of
from gemmviz.cuda.reader.symbols import Alias, ArrayVariable, Constant, Function, InMemory, Object, Symbol, Thing, Variable
from gemmviz.cuda.types import BOOL, INT, ArrayType, CType, Field, PointerType, StructType, size_bytes, unit_bytes
from gemmviz.cuda.walk import parts
from gemmviz.model.messages import Place, SourceError


def takes_lvalue(low: Lowering, raw: RawType) -> bool:
    """Whether a canonical type is a reference that binds to lvalues only."""
    return bool(raw.kind == k.T_LVALUE_REFERENCE) and not low.types.is_const(low.cursors.lib.getPointeeType(raw))


def lvalue(low: Lowering, node: Node) -> Expr | Thing:
    """What an expression designates, where C++ requires that it designates something."""
    node = bare(node)
    if node.kind == k.CONDITIONAL_OPERATOR and len(node.parts) == 3:
        return _chosen(low, *node.parts)
    if node.kind == k.BINARY_OPERATOR and low.cursors.lib.binary_operator(node.cursor) == ",":
        return _behind(low.discarded(node.parts[0]), lvalue(low, node.parts[1]))
    match low.place_node(node):
        case Component(of=Deref() as of) as component:
            return component_of(of, component)
        case Assign(target=target, gives_old=False) as assigned if not any(
            isinstance(each, Assign | Inline) for each in parts(target)
        ):
            return _behind(assigned, structs.replace(target, access=None) if isinstance(target, Deref) else target)
        case found:
            return found


def _chosen(low: Lowering, condition: Node, then: Node, otherwise: Node) -> Expr | Thing:
    chosen = low.condition(condition)
    if isinstance(chosen, Const):
        return lvalue(low, then if chosen.value else otherwise)
    first, second = (low.expression_of(lvalue(low, each), each) for each in (then, otherwise))
    if isinstance(first, Deref) and isinstance(second, Deref) and space_of(first.pointer) == space_of(second.pointer):
        return structs.replace(first, pointer=Select(first.pointer.type, chosen, first.pointer, second.pointer))
    return Select(first.type, chosen, first, second)


def _behind(first: Expr, place: Expr | Thing) -> Expr | Thing:
    """The lvalue ``place``, before which ``first`` is evaluated."""
    match place:
        case Thing(effects=effects):
            return structs.replace(place, effects=(first, *effects))
        case Deref(pointer=pointer):
            return structs.replace(place, pointer=Sequence(pointer.type, (first, pointer)))
    return Sequence(place.type, (first, place))


def held(low: Lowering, place: Expr | Thing, bindings: list[tuple[int, Expr]], node: Node) -> Expr | Thing:
    """The lvalue that a reference names; ``bindings`` gets what is evaluated once, where the reference is declared."""
    match place:
        case Sequence(parts=(*before, last)):
            bindings.append((low.new_slot(), Sequence(INT, (*before, Const(INT, 0)))))
            return held(low, last, bindings, node)
        case Select(condition=condition, then=then, otherwise=otherwise):
            slot = low.new_slot()
            bindings.append((slot, condition))
            first, second = (low.expression_of(held(low, each, bindings, node), node) for each in (then, otherwise))
            return Select(place.type, Read(BOOL, slot, "", False, low.place(node)), first, second)
    return place


# Nodes of what symbols mean.


def designated(low: Lowering, symbol: Symbol, node: Node) -> Expr | Thing:
    """The node of what a symbol means, used at ``node``."""
    match symbol:
        case Variable(slot=slot, type=PointerType(to=to) as ctype, name=name, is_reference=True):
            return Deref(to, Read(ctype, slot, name, False, low.place(node)), low.place(node))  # type: ignore[arg-type]
        case Variable(slot=slot, type=ctype, name=name, checked=checked):
            if isinstance(ctype, PointerType) and ctype.space is None:
                ctype = ctype.into(low.spaces.get(slot))
            return Read(ctype, slot, name, checked, low.place(node))
        case ArrayVariable(slot=slot, type=array, name=name, is_reference=True):
            first = Read(PointerType(array.element, array.space), slot, name, False, low.place(node))
            return Offset(array, first, Const(INT, 0), 1)
        case ArrayVariable(slot=slot, type=array):
            return Offset(array, Base(PointerType(array.element, array.space), slot), Const(INT, 0), 1)
        case InMemory(slot=slot, type=ctype):
            return Deref(ctype.to, Base(ctype, slot), low.place(node))  # type: ignore[arg-type]
        case Constant(node=constant):
            return constant
        case Alias(node=aliased):
            return aliased
        case Object(type=ctype):
            return Thing(ctype, symbol)
        case Function():
            return Thing(INT, symbol)
    raise AssertionError(symbol)


# Refuses writes to variables of the GPU that have first values: each thread has a copy of its own here, for reading.


def written_copy(name: str, place: Place) -> SourceError:
    """The error of a write to a copy."""
    message = f"{name} is shared by all threads and has a first value: a kernel can only read it here"
    return SourceError(message, place, remedy="pass a pointer to it as a parameter of the kernel", id="unsupported")


def check_copies(copies: dict[int, str], statements: Iterable[Any]) -> None:
    """Looks for writes through pointers to ``copies``, which are names by slots. Raises SourceError for the first."""
    if not copies:
        return
    nodes, names = [part for each in statements for part in parts(each)], dict(copies)
    while True:  # until no further variable gets a pointer to a copy
        before = len(names)
        for slot, value in _assigned_values(nodes):
            name = copy_behind(value, names)
            if name is not None:
                names.setdefault(slot, name)
        if len(names) == before:
            break
    for node in nodes:
        if isinstance(node, Assign | Call) and (name := copy_behind(_written_pointer(node), names)) is not None:
            raise written_copy(name, node.place)


def _assigned_values(nodes: list[Any]) -> Iterator[tuple[int, Expr]]:
    """Slots and what they get."""
    for node in nodes:
        match node:
            case Declare(slot=slot, value=value) if value is not None:
                yield slot, value
            case Assign(target=Read(slot=slot), value=value):
                yield slot, value
            case Inline(bindings=bindings):
                yield from bindings
            case Return(slot=slot, value=value) if slot is not None and value is not None:
                yield slot, value


def _written_pointer(node: Assign | Call) -> Expr | None:
    """The pointer through which an assignment or a call writes."""
    if isinstance(node, Call):
        return node.args[0] if node.name == "memset" else None
    target = node.target
    while isinstance(target, Component):
        target = target.of
    return target.pointer if isinstance(target, Deref) else None


def copy_behind(value: Expr | None, names: dict[int, str]) -> str | None:
    """The name of the copy to which a pointer points; None if there is none."""
    match value:
        case Base(slot=slot) | Read(slot=slot) | Inline(result=int(slot)):
            return names.get(slot)
        case Offset(pointer=pointer) | Reinterpret(pointer=pointer):
            return copy_behind(pointer, names)
        case Select(then=then, otherwise=otherwise):
            return copy_behind(then, names) or copy_behind(otherwise, names)
        case Sequence(parts=inner) if inner:
            return copy_behind(inner[-1], names)
    return None


# Structs. One is a variable per member (an ``Object``) unless its address is taken, it is a union, or it is an element of an
# array: then it lies in memory, and a member is memory at an offset.


def struct_fields(low: Lowering, struct: StructType) -> tuple[tuple[int, Field], ...]:
    """The keys and fields of a struct, its bases' first."""
    return low.types.members.get(struct, ())


def is_union(struct: StructType) -> bool:
    return len(struct.fields) > 1 and not any(field.offset for field in struct.fields)


def needs_memory(struct: StructType) -> bool:
    """Whether members overlap, as in a union."""
    end = 0
    for field in struct.fields:
        if field.offset < end:
            return True
        end = field.offset + size_bytes(field.type)
        if isinstance(field.type, StructType) and needs_memory(field.type):
            return True
    return False


def holds_pointers(ctype: CType) -> bool:
    match ctype:
        case StructType(fields=fields):
            return any(holds_pointers(each.type) for each in fields)
        case ArrayType(element=element):
            return holds_pointers(element)
    return isinstance(ctype, PointerType)


def member(low: Lowering, of: Expr | Thing, declaration: RawCursor, node: Node) -> Expr | Thing:
    """The member of an object or of a struct in memory that ``node`` names."""
    if isinstance(of, Thing) and isinstance(of.symbol, Object):
        symbol = of.symbol.members.get(declaration.first)
        if symbol is None:
            raise low.error("this member is not supported", node, id="unsupported")
        return with_effects(low, of.effects, designated(low, symbol, node), node)
    if isinstance(of, Thing) and isinstance(of.symbol, InMemory):
        return with_effects(low, of.effects, member(low, designated(low, of.symbol, node), declaration, node), node)
    field = low.types.fields.get(declaration.first)
    if field is None or not isinstance(of, Deref):
        raise low.error(f"a {of.type} has no member {low.cursors.name(declaration)}", node)
    return member_at(low, of, field, node)


def member_of(low: Lowering, of: Expr | Thing, key: int, node: Node) -> Expr | Thing:
    """The member of this key, of an object or of a struct in memory."""
    if isinstance(of, Thing):
        if isinstance(of.symbol, Object):
            return designated(low, of.symbol.members[key], node)
        return member_of(low, designated(low, of.symbol, node), key, node)
    assert isinstance(of, Deref)
    return member_at(low, of, low.types.fields[key], node)


def member_at(low: Lowering, of: Deref, field: Field, node: Node) -> Expr:
    """A member of a struct in memory."""
    pointer, place = of.pointer, low.place(node)
    assert isinstance(pointer.type, PointerType)
    space, unit = space_of(pointer), unit_bytes(of.type)
    at = Offset(pointer.type, pointer, Const(INT, field.offset // unit), 1)
    match field.type:
        case ArrayType(element=element, dims=dims):
            if space is None:
                raise low.error("this pointer is used before it is assigned", node)
            first = Reinterpret(PointerType(element, space), at, place)
            return Offset(ArrayType(element, dims, space), first, Const(INT, 0), 1)
        case PointerType():
            raise low.error("a pointer in memory is not supported", node, id="unsupported")
    return Deref(field.type, Reinterpret(PointerType(field.type, space), at, place), place)  # type: ignore[arg-type]


def with_effects(low: Lowering, effects: tuple[Expr, ...], value: Expr | Thing, node: Node) -> Expr | Thing:
    """What ``value`` designates, after ``effects``."""
    if not effects:
        return value
    if isinstance(value, Thing):
        return Thing(value.type, value.symbol, (*effects, *value.effects))
    loaded = low.loaded(value, node)
    return Sequence(loaded.type, (*effects, loaded))
