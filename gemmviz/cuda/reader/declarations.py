"""Lowers declarations of variables, arrays, references, shared memory and objects."""

import dataclasses
from math import prod

from msgspec import structs

from gemmviz.cuda.nodes import Block, Const, Declare, Deref, Evaluate, Expr, Offset, Read, SharedArray, Stmt
from gemmviz.cuda.parser.library import RawType
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.assign import copied, in_memory, new_object, object_copy
from gemmviz.cuda.reader.cursors import Node, bare
from gemmviz.cuda.reader.expressions import indexed
from gemmviz.cuda.reader.initialisers import initialised, stripped, values_of
from gemmviz.cuda.reader.inlining import aggregate, constructor_of, default_members, fill, initial, run_constructor
from gemmviz.cuda.reader.lowering import Lowering, check_local_bytes, local_array
from gemmviz.cuda.reader.lvalues import designated, held, lvalue, member_of, needs_memory, struct_fields, takes_lvalue
from gemmviz.cuda.reader.symbols import Alias, ArrayVariable, Constant, Function, InMemory, Object, Thing, Variable
from gemmviz.cuda.types import INT, ArrayType, CType, PointerType, Scalar, StructType, VectorType

# Lowers structured bindings: names for the elements of an array or for the members of a struct.


def bindings(low: Lowering, node: Node) -> Stmt:
    """The statement of ``auto [x, y] = value;``."""
    names = [each for each in node.children if each.kind == k.UNEXPOSED_DECL]
    given = node.parts[-1]
    while given.kind == k.UNEXPOSED_EXPR and given.parts:  # of an array, a loop that copies it
        given = given.parts[0]
    value = low.place_node(given)
    is_reference = "&" in low.types.spelling(low.cursors.type(node))
    statements: list[Stmt] = []
    if isinstance(value, Thing):
        statements += [Evaluate(each) for each in value.effects]
        value = structs.replace(value, effects=())
    if not is_reference:
        value = _copy_of_parts(low, value, statements, node)
    for each, place in zip(names, _bound_parts(low, value, len(names), node), strict=True):
        low.declare(each.cursor, Alias(place))
    return Block(tuple(statements))


def _copy_of_parts(low: Lowering, value: Expr | Thing, statements: list[Stmt], node: Node) -> Expr | Thing:
    if isinstance(value.type, StructType):
        made = object_copy(low, value, node)
        statements += [Evaluate(each) for each in made.effects]
        return structs.replace(made, effects=())
    if not isinstance(value.type, ArrayType):
        raise low.error(f"a {value.type} has no parts", node)
    array = structs.replace(value.type, space="local")
    slot = local_array(low, array.element, array.dims[0] * array.stride, "parts", statements, node)
    target = designated(low, ArrayVariable(slot, array), node)
    found = copied(low, target, value, node)
    assert not isinstance(found, Thing)
    statements.append(Evaluate(found))
    return target


def _bound_parts(low: Lowering, value: Expr | Thing, count: int, node: Node) -> list[Expr | Thing]:
    if isinstance(value.type, StructType):
        members = struct_fields(low, value.type)
        if len(members) == count:
            return [member_of(low, value, key, node) for key, _ in members]
    elif isinstance(value.type, ArrayType) and not isinstance(value, Thing):
        return [indexed(low, value, Const(INT, at), node, node) for at in range(count)]
    raise low.error("structured bindings of this are not supported", node, "name the parts one by one", id="unsupported")


NOTHING = Block(())
_MOST_STRUCTS = 1024  # in an array, if they have values


def declaration(low: Lowering, node: Node) -> Stmt:
    made = [variable(low, each) for each in node.children if each.kind == k.VAR_DECL]
    made += [bindings(low, each) for each in node.children if each.kind == k.UNEXPOSED_DECL and each.children]
    for each in node.children:
        if each.kind == k.STATIC_ASSERT:
            static_assert(low, each)
    return made[0] if len(made) == 1 else Block(tuple(made))


def static_assert(low: Lowering, node: Node) -> Stmt:
    """A false static_assert is the compiler's error; here it was true."""
    return NOTHING


def variable(low: Lowering, node: Node) -> Stmt:
    raw = low.cursors.type(node)
    canonical = low.cursors.lib.getCanonicalType(raw)
    if any(each.kind == k.SHARED_ATTR for each in node.children):
        return _declared_shared(low, node, raw)
    _refuse_static(low, node, canonical)
    given = low.cursors.initialiser(node.cursor)
    if canonical.kind in k.T_REFERENCES:
        return _reference(low, node, canonical, given)
    if stripped_lambda(given) or _names_function(low, given):
        return _lambda(low, node, given)
    if canonical.kind == k.T_POINTER and _is_function(low, canonical):
        return _function_pointer(low, node, given)
    ctype = low.type_in(raw, node)
    if isinstance(ctype, ArrayType):
        return _declared_array(low, node, ctype, given)
    if isinstance(ctype, StructType):
        return _declared_object(low, node, ctype, given)
    return _plain(low, node, raw, ctype, given)


def _refuse_static(low: Lowering, node: Node, raw: RawType) -> None:
    """Raises SourceError for a static variable that isn't constant: all threads share it."""
    if low.cursors.lib.Cursor_getStorageClass(node.cursor) != k.STATIC:
        return
    is_const = low.types.is_const(raw)
    while raw.kind == k.T_CONSTANT_ARRAY:
        raw = low.cursors.lib.getArrayElementType(raw)
        is_const |= low.types.is_const(raw)
    if not is_const:
        message = f"{low.cursors.name(node.cursor)} is static: static variables of a kernel are not supported"
        raise low.error(message, node, "make it const, or pass a pointer to it as a parameter", id="unsupported")


def _line(low: Lowering, node: Node) -> int:
    """The line of a declared name."""
    return low.name_line(node)


def _is_function(low: Lowering, raw: RawType) -> bool:
    pointee = low.cursors.lib.getCanonicalType(low.cursors.lib.getPointeeType(raw))
    return pointee.kind in (k.T_FUNCTION, k.T_FUNCTION_WITHOUT_PARAMETERS)


def stripped_lambda(node: Node | None) -> bool:
    return node is not None and _innermost(node).kind == k.LAMBDA_EXPR


def _names_function(low: Lowering, given: Node | None) -> bool:
    """Whether a value is the name of a variable that holds a lambda."""
    inner = None if given is None else _innermost(given)
    declaration = low.cursors.referenced(inner) if inner is not None and inner.kind == k.DECL_REF_EXPR else None
    return declaration is not None and isinstance(low.symbols.get(declaration.first), Function)


def _innermost(node: Node) -> Node:
    while node.kind in (k.UNEXPOSED_EXPR, k.PAREN_EXPR, k.CALL_EXPR) and len(node.parts) == 1:
        node = node.parts[0]
    return node


def _lambda(low: Lowering, node: Node, given: Node | None) -> Stmt:
    assert given is not None
    found = low.place_node(_innermost(given))
    assert isinstance(found, Thing)
    low.declare(node.cursor, found.symbol)
    return _evaluations(found.effects)


def _evaluations(effects: tuple[Expr, ...]) -> Stmt:
    return Block(tuple(Evaluate(each) for each in effects)) if effects else NOTHING


def _function_pointer(low: Lowering, node: Node, given: Node | None) -> Stmt:
    found = None if given is None else low.place_node(given)
    if not isinstance(found, Thing) or not isinstance(found.symbol, Function):
        raise low.error("a function pointer must be known before the kernel runs", node, id="unsupported")
    low.declare(node.cursor, found.symbol)
    return NOTHING


def _plain(low: Lowering, node: Node, raw: RawType, ctype: CType, given: Node | None) -> Stmt:
    name = low.cursors.name(node.cursor)
    if given is not None and _is_default(low, given):
        given = None
    value = None if given is None else initialised(low, given, ctype)
    if isinstance(value, Const) and low.types.is_const(raw) and node.key not in low.addressed:
        low.declare(node.cursor, Constant(value))
        return NOTHING
    if node.key in low.addressed and isinstance(ctype, Scalar | VectorType):
        return _addressed(low, node, name, ctype, value)
    if isinstance(ctype, PointerType) and value is not None and isinstance(value.type, PointerType):
        ctype = ctype.into(value.type.space)
    slot = low.new_slot()
    ctype = low.new_pointer(slot, ctype, node.key)
    low.declare(node.cursor, Variable(slot, ctype, name, checked=value is None))
    low.named(slot, name, _line(low, node))
    if value is not None:
        low.bound[slot] = value
    return Declare(slot, value)


def _addressed(low: Lowering, node: Node, name: str, ctype: Scalar | VectorType, value: Expr | None) -> Stmt:
    """A variable whose address is taken: an array of one."""
    statements: list[Stmt] = []
    slot = local_array(low, ctype, 1, name, statements, node, None if value is None else (value,))
    low.declare(node.cursor, InMemory(slot, PointerType(ctype, "local")))
    low.named(slot, name, _line(low, node))
    return statements[0]


def _is_default(low: Lowering, given: Node) -> bool:
    """Whether a value is a vector's constructor without arguments or braces, which leaves it as it is."""
    if given.kind != k.CALL_EXPR or given.children:
        return False
    span = low.cursors.span(given)
    return span is None or not low.cursors.text[span[0] : span[1]].endswith("}")


def _reference(low: Lowering, node: Node, canonical: RawType, given: Node | None) -> Stmt:
    """A reference, as in ``float (&row)[8] = tile[0];`` or ``float& x = C[i];``."""
    if given is None:
        raise low.error("a reference needs a value", node)
    if stripped_lambda(given):
        return _lambda(low, node, given)
    if not takes_lvalue(low, canonical):
        return _named(low, node, canonical, given, low.place_node(given))
    before: list[tuple[int, Expr]] = []
    target = held(low, lvalue(low, given), before, given)
    declared = _named(low, node, canonical, given, target)
    return Block((*(Declare(slot, value) for slot, value in before), declared)) if before else declared


def _named(low: Lowering, node: Node, canonical: RawType, given: Node, target: Expr | Thing) -> Stmt:
    """The statement that gives ``target`` a name."""
    name = low.cursors.name(node.cursor)
    match target:
        case Thing():
            low.declare(node.cursor, target.symbol)
            return _evaluations(target.effects)
        case Offset(type=ArrayType() as array):
            slot = low.new_slot()
            low.declare(node.cursor, ArrayVariable(slot, array, name, is_reference=True))
            if array.space == "local":
                low.named(slot, name, _line(low, node))
            return Declare(slot, structs.replace(target, type=PointerType(array.element, array.space)))
        case Deref(pointer=pointer, type=ctype):
            slot = low.new_slot()
            assert isinstance(pointer.type, PointerType)
            low.declare(node.cursor, Variable(slot, dataclasses.replace(pointer.type, to=ctype), name, is_reference=True))
            return Declare(slot, pointer)
        case Read(slot=slot, type=ctype, checked=checked):
            low.declare(node.cursor, Variable(slot, ctype, name, checked))
            return NOTHING
    raw = low.cursors.lib.getPointeeType(canonical)
    if takes_lvalue(low, canonical):
        low.declare(node.cursor, Alias(target))
        return NOTHING
    ctype = low.type_in(raw, node)
    slot = low.new_slot()
    low.declare(node.cursor, Variable(slot, ctype, name))
    return Declare(slot, low.converted(low.loaded(target, bare(given)), ctype, node))


def _declared_shared(low: Lowering, node: Node, raw: RawType) -> Stmt:
    if node.key in low.symbols:
        return NOTHING
    name, ctype = low.cursors.name(node.cursor), low.type_in(raw, node)
    is_extern = low.cursors.lib.Cursor_getStorageClass(node.cursor) == k.EXTERN
    array = ctype if isinstance(ctype, ArrayType) else ArrayType(ctype, (1,), "shared")  # type: ignore[arg-type]
    array = structs.replace(array, space="shared")
    if not is_extern:
        _check_extents(low, array, node)
    slot = low.new_slot()
    dims = None if is_extern else array.dims
    low.shared.append(SharedArray(slot, name, array.element, dims, low.name_place(node)))
    if isinstance(ctype, ArrayType):
        low.declare(
            node.cursor, ArrayVariable(slot, structs.replace(array, dims=(1, *array.dims[1:]) if is_extern else array.dims))
        )
    else:
        low.declare(node.cursor, Variable(slot, PointerType(ctype, "shared"), name, is_reference=True))
    return NOTHING


def _check_extents(low: Lowering, array: ArrayType, node: Node) -> None:
    for extent in array.dims:
        if extent < 1:
            raise low.error(f"an array can't have {extent} elements", node)
    if prod(array.dims) * array.element.bytes >= 1 << 63:
        raise low.error("this array has more elements than memory has addresses", node)


def _declared_array(low: Lowering, node: Node, array: ArrayType, given: Node | None) -> Stmt:
    if isinstance(array.element, PointerType):
        message = "pointers in memory (arrays of pointers, pointers to pointers) are not supported"
        raise low.error(message, node, "use a variable for each pointer", id="unsupported")
    _check_extents(low, array, node)
    name = low.cursors.name(node.cursor)
    if given is not None and _is_default(low, given) and not isinstance(array.element, StructType):
        given = None
    statements: list[Stmt] = []
    values = None
    check_local_bytes(low, name, prod(array.dims) * array.element.bytes, node)  # before its values fill the memory
    if given is not None and isinstance(array.element, Scalar | VectorType):
        values = values_of(low, given, array)
    slot = local_array(low, array.element, prod(array.dims), name, statements, node, values)
    symbol = ArrayVariable(slot, array)
    low.declare(node.cursor, symbol)
    low.named(slot, name, _line(low, node))
    if isinstance(array.element, StructType):
        _fill_structs(low, array, designated(low, symbol, node), given, statements, node)
    return Block(tuple(statements)) if len(statements) > 1 else statements[0]


def _fill_structs(
    low: Lowering, array: ArrayType, place: Expr | Thing, given: Node | None, statements: list[Stmt], node: Node
) -> None:
    """Gives the elements of an array of structs their first values."""
    assert not isinstance(place, Thing)
    if given is not None and stripped(given).kind == k.INIT_LIST_EXPR:
        return fill(low, place, [given], statements, node)
    assert isinstance(place, Offset)
    constructor = None if given is None else constructor_of(low, stripped(given))
    for at in range(min(prod(array.dims), _MOST_STRUCTS)):
        flat = structs.replace(place, type=ArrayType(array.element, (prod(array.dims),), array.space))
        before = len(statements)
        element = indexed(low, flat, Const(INT, at), node, node)
        if constructor is None:
            initial(low, element, None, statements, node)
        else:
            run_constructor(low, element, constructor, [], statements, node)
        if len(statements) == before:
            return None
    if prod(array.dims) > _MOST_STRUCTS:
        raise low.error(f"an array can have at most {_MOST_STRUCTS} structs with values", node)
    return None


def _declared_object(low: Lowering, node: Node, struct: StructType, given: Node | None) -> Stmt:
    name, statements = low.cursors.name(node.cursor), list[Stmt]()
    inner = None if given is None else stripped(given)
    if needs_memory(struct) or node.key in low.addressed:
        symbol = in_memory(low, struct, name, statements, node)
        low.declare(node.cursor, symbol)
        low.named(symbol.slot, name, _line(low, node))
        initial(low, designated(low, symbol, node), given, statements, node)
        return Block(tuple(statements))
    if inner is not None and inner.kind == k.INIT_LIST_EXPR:
        return _bound_object(low, node, aggregate(low, struct, inner, node), statements)
    if inner is None or (inner.kind == k.CALL_EXPR and not low.cursors.arguments(inner) and constructor_of(low, inner)):
        target = new_object(low, struct, statements, node, name)
        if inner is None or (constructor := constructor_of(low, inner)) is None:
            default_members(low, target, statements, node)
        else:
            run_constructor(low, target, constructor, [], statements, node)
        return _bound_object(low, node, target, statements)
    value = low.place_node(inner)
    if isinstance(value, Thing) and value.effects:  # made for this variable
        return _bound_object(low, node, value, statements)
    target = new_object(low, struct, statements, node, name)
    filled = copied(low, target, value, node)
    assert isinstance(filled, Thing)
    return _bound_object(low, node, filled, statements)


def _bound_object(low: Lowering, node: Node, thing: Thing, statements: list[Stmt]) -> Stmt:
    """Gives a variable the object's members as its own."""
    low.declare(node.cursor, thing.symbol)
    for symbol in thing.symbol.members.values() if isinstance(thing.symbol, Object) else ():
        if isinstance(symbol, Variable):
            low.named(symbol.slot, f"{low.cursors.name(node.cursor)}{symbol.name}", _line(low, node))
    return Block((*statements, *(Evaluate(each) for each in thing.effects)))
