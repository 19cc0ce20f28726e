"""Structs: members, copies, and which ones need memory.

A struct is one variable per member (an ``Object``) unless its address is taken, it is a union, or it is an element of an array:
then it lies in memory, and a member is memory at an offset.
"""

from gemmviz.cuda.nodes import Const, Deref, Expr, Offset, Reinterpret, Sequence
from gemmviz.cuda.reader.cursors import Node
from gemmviz.cuda.reader.library import RawCursor
from gemmviz.cuda.reader.lowering import Lowering, space_of
from gemmviz.cuda.reader.lvalues import designated
from gemmviz.cuda.reader.symbols import InMemory, Object, Thing
from gemmviz.cuda.types import INT, ArrayType, CType, Field, PointerType, StructType, unit_bytes


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
        end = field.offset + _size_of(field.type)
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


def _size_of(ctype: CType) -> int:
    match ctype:
        case ArrayType(element=element, dims=dims):
            count = 1
            for extent in dims:
                count *= extent
            return count * element.bytes
        case PointerType():
            return 8
    return getattr(ctype, "bytes", 0)


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
