"""Inlines functions of the device at their calls, where parameters become variables and the body a block; and constructors: of
vectors, copies, and of the kernel's own structs.
"""

import dataclasses
from collections.abc import Callable, Mapping

from msgspec import structs

from gemmviz.cuda.nodes import (
    Block,
    Call,
    Component,
    Const,
    Deref,
    Evaluate,
    Expr,
    If,
    Inline,
    Offset,
    Read,
    Select,
    Sequence,
    Stmt,
)
from gemmviz.cuda.parser.library import RawCursor
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.assign import assign, copied, new_object, object_copy
from gemmviz.cuda.reader.cursors import Node, bare
from gemmviz.cuda.reader.expressions import conditional, indexed
from gemmviz.cuda.reader.initialisers import Items, initialised, stripped, vector_of, zero_of
from gemmviz.cuda.reader.lowering import Activation, Lowering
from gemmviz.cuda.reader.lvalues import held, is_union, lvalue, member_of, struct_fields, takes_lvalue
from gemmviz.cuda.reader.symbols import Alias, ArrayVariable, Symbol, Thing, Variable
from gemmviz.cuda.types import HALF, INT, USHORT, VOID, ArrayType, CType, PointerType, Scalar, StructType, VectorType, Void

_DEEPEST, _MOST_CALLS = 32, 4000
Bindings = list[tuple[int, Expr]]


def inlined(
    low: Lowering,
    definition: RawCursor,
    arguments: list[Node],
    node: Node,
    this: Expr | Thing | None = None,
    copies: Mapping[int, Symbol] | None = None,
    before: Callable[[Node], list[Stmt]] | None = None,
) -> Expr | Thing:
    """The node of a call: the function's body, lowered with the types and constants of this call.

    ``before`` gives the statements before the body of a constructor.
    """
    _check_depth(low, definition, node)
    function = low.cursors.declaration(definition)
    if definition.first not in low.entered:
        low.entered.add(definition.first)
        low.enter_function(function)
    parameters = [each for each in function.children if each.kind == k.PARM_DECL]
    nodes = [*arguments, *(_default(low, each, node) for each in parameters[len(arguments) :])]
    raws = [low.cursors.lib.getCanonicalType(low.cursors.type(each)) for each in parameters]
    pairs = zip(raws, nodes, strict=False)
    given = [lvalue(low, each) if takes_lvalue(low, raw) else low.place_node(each) for raw, each in pairs]
    bindings: Bindings = []
    effects: list[Expr] = []
    for parameter, value, argument in zip(parameters, given, nodes, strict=False):
        low.symbols[parameter.key] = _bound(low, parameter, value, bindings, effects, argument)
    around = {key: low.symbols[key] for key in copies or {}}  # what a lambda copied keeps its meaning outside
    low.symbols.update(copies or {})
    found = _called(low, function, definition, bindings, this, node, before)
    low.symbols.update(around)
    if not effects:
        return found
    if isinstance(found, Thing):
        return structs.replace(found, effects=(*effects, *found.effects))
    return Sequence(found.type, (*effects, found))


def _default(low: Lowering, parameter: Node, node: Node) -> Node:
    found = low.cursors.initialiser(parameter.cursor)
    if found is None:
        raise low.error("an argument is missing", node)
    return found


def _check_depth(low: Lowering, definition: RawCursor, node: Node) -> None:
    activation, depth = low.activation, 0
    while activation is not None:
        if activation.function == definition.first:
            name = low.cursors.name(definition)
            raise low.error(f"{name} calls itself: recursion is not supported", node, id="unsupported")
        activation, depth = activation.outer, depth + 1
    if depth > _DEEPEST:
        raise low.error("calls are nested too deeply", node)
    low.inlined += 1
    if low.inlined > _MOST_CALLS:
        raise low.error(f"the kernel makes more than {_MOST_CALLS:,} inlined calls", node)


def _called(
    low: Lowering,
    function: Node,
    definition: RawCursor,
    bindings: Bindings,
    this: Expr | Thing | None,
    node: Node,
    before: Callable[[Node], list[Stmt]] | None,
) -> Expr | Thing:
    raw = low.cursors.lib.getCanonicalType(low.cursors.lib.getCursorResultType(definition))
    result_type = low.type_in(raw, node)
    calls = low.activation.calls if low.activation else ()
    if low.cursors.span(node) is not None:
        calls = (*calls, low.place(node))
    result: int | Thing | None = None
    start: list[Stmt] = []
    if isinstance(result_type, StructType):
        result = new_object(low, result_type, start, node)
    elif not isinstance(result_type, Void):
        result = low.new_slot()
    is_reference = raw.kind in k.T_REFERENCES
    low.activation = Activation(definition.first, result, result_type, is_reference, calls, this, low.activation)
    place, ends, low.scope_ends = low.statement_place, low.scope_ends, []
    start += before(function) if before else []
    body = _body(low, function, node)
    activation, low.activation, low.statement_place, low.scope_ends = low.activation, low.activation.outer, place, ends
    block = Block((*start, *body.statements)) if start else body
    return _result(low, activation, tuple(bindings), block, node)


def _body(low: Lowering, function: Node, node: Node) -> Block:
    block = next((each for each in function.children if each.kind == k.COMPOUND_STMT), None)
    if block is None:
        raise low.error(f"the function {low.cursors.name(function.cursor)} has no body here", node, id="unknown-name")
    body = low.statement(block)
    assert isinstance(body, Block)
    return body


def _result(
    low: Lowering, activation: Activation, bindings: tuple[tuple[int, Expr], ...], body: Block, node: Node
) -> Expr | Thing:
    place = low.place(node)
    if activation.reference is not None:
        return _returned_reference(low, activation.reference, Inline(_VOID, bindings, body, None, place), node)
    if isinstance(activation.result, Thing):
        return structs.replace(activation.result, effects=(Inline(_VOID, bindings, body, None, place),))
    call = Inline(activation.result_type, bindings, body, activation.result, place)
    if activation.returns_reference:
        assert isinstance(call.type, PointerType)
        return Deref(call.type.to, call, place)  # type: ignore[arg-type]
    return call


def _returned_reference(low: Lowering, target: Expr | Thing, call: Inline, node: Node) -> Expr | Thing:
    """What a function returned a reference to, after its call."""
    has_effect = call.bindings or any(each != Block(()) for each in call.body.statements)
    if isinstance(target, Thing):
        return structs.replace(target, effects=(*target.effects, call)) if has_effect else target
    if has_effect:
        loaded = low.loaded(target, node)
        return Sequence(loaded.type, (call, loaded))
    return target


_VOID = Void()


def _bound(low: Lowering, parameter: Node, value: Expr | Thing, bindings: Bindings, effects: list[Expr], node: Node) -> Symbol:
    """The meaning of a parameter; a value gets a slot of its own."""
    raw = low.cursors.lib.getCanonicalType(low.cursors.type(parameter))
    name = low.cursors.name(parameter.cursor)
    if isinstance(value, Thing):
        effects += value.effects
        if raw.kind in k.T_REFERENCES or value.effects or not isinstance(value.type, StructType):
            return value.symbol
        return _copied_argument(low, value, effects, node)
    if takes_lvalue(low, raw) and isinstance(value := low.expression_of(held(low, value, bindings, node), node), Select):
        return Alias(value)
    if raw.kind in k.T_REFERENCES:
        pointee = low.cursors.lib.getPointeeType(raw)
        is_const = low.types.is_const(pointee)
        return _by_reference(low, name, value, is_const, low.type_in(pointee, node), bindings, node)
    ctype = low.parameter_type(raw, node)
    if isinstance(ctype, StructType):
        return _copied_argument(low, value, effects, node)
    return _by_value(low, name, value, ctype, bindings, node, parameter.key)


def _copied_argument(low: Lowering, value: Expr | Thing, effects: list[Expr], node: Node) -> Symbol:
    thing = object_copy(low, structs.replace(value, effects=()) if isinstance(value, Thing) else value, node)
    effects += thing.effects
    return thing.symbol


def _by_value(low: Lowering, name: str, value: Expr, ctype: CType, bindings: Bindings, node: Node, key: int = 0) -> Symbol:
    loaded = initialised(low, node, ctype) if node.kind == k.INIT_LIST_EXPR else low.loaded(value, bare(node))
    loaded = low.converted(loaded, ctype, node)
    if isinstance(ctype, PointerType) and isinstance(loaded.type, PointerType):
        ctype = ctype.into(loaded.type.space)
    slot = low.new_slot()
    bindings.append((slot, loaded))
    low.bound[slot] = loaded
    return Variable(slot, low.new_pointer(slot, ctype, key), name)


def _is_same_type(have: CType, to: CType) -> bool:
    """Whether a variable has the type of a reference, wherever pointers point to."""
    return have == to or (isinstance(have, PointerType) and isinstance(to, PointerType) and have.to == to.to)


def _by_reference(low: Lowering, name: str, value: Expr, is_const: bool, to: CType, bindings: Bindings, node: Node) -> Symbol:
    """The meaning of a parameter that is a reference."""
    match value:
        case Offset(type=ArrayType() as array):
            slot = low.new_slot()
            bindings.append((slot, structs.replace(value, type=PointerType(array.element, array.space))))
            return ArrayVariable(slot, array, name, is_reference=True)
        case Deref(type=ctype, pointer=pointer) if not is_const or isinstance(ctype, StructType):
            slot = low.new_slot()
            bindings.append((slot, pointer))
            assert isinstance(pointer.type, PointerType)
            return Variable(slot, dataclasses.replace(pointer.type, to=ctype), name, is_reference=True)
        case Read(slot=slot, type=ctype, checked=checked) if _is_same_type(ctype, to) and not is_const:
            return Variable(slot, ctype, name, checked)
    if isinstance(value.type, ArrayType | StructType):
        return Alias(value)
    loaded = low.loaded(value, bare(node))
    if not is_const and value is loaded and isinstance(value, Component):
        return Alias(value)
    return _by_value(low, name, value, to, bindings, node)


# Lowers constructors: of vectors, copies, and of the kernel's own structs.

# Fills structs and arrays in place from lists in braces: one assignment for each number, vector or pointer.

_LARGEST_ARRAY = 4096  # elements of an array in a struct


def fill(low: Lowering, target: Expr | Thing, values: list[Node], statements: list[Stmt], node: Node) -> None:
    """Adds the statements that give ``target`` its value. What is missing is zero or has the value of its declaration."""
    _fill(low, target, Items(values), statements, node)


def _fill(low: Lowering, target: Expr | Thing, items: Items, statements: list[Stmt], node: Node) -> None:
    """Takes as many items as ``target`` needs: inner braces may be omitted."""
    value, ctype = items.next, target.type
    if isinstance(ctype, StructType | ArrayType):
        inner = None if value is None else stripped(value)
        if inner is not None and inner.kind == k.INIT_LIST_EXPR:
            items.used += 1
            parts = inner.parts
            if len(parts) == 1 and isinstance(ctype, StructType) and _is_whole_struct(low, parts[0], ctype):
                return _fill(low, target, Items(parts), statements, node)
            items = Items(parts)
        elif value is not None and isinstance(ctype, StructType) and _is_whole_struct(low, value, ctype):
            items.used += 1
            statements += _effects(copied(low, target, low.place_node(value), node))
            return None
        return _fill_parts(low, target, items, statements, node)
    assert not isinstance(target, Thing)
    statements.append(Evaluate(assign(low, target, "", _single(low, ctype, items, node), node, node, False)))
    return None


def _fill_parts(low: Lowering, target: Expr | Thing, items: Items, statements: list[Stmt], node: Node) -> None:
    if isinstance(target.type, StructType):
        return _fill_members(low, target, items, statements, node)
    assert isinstance(target.type, ArrayType)
    assert not isinstance(target, Thing)
    extent = target.type.dims[0]
    if extent * target.type.stride > _LARGEST_ARRAY:
        raise low.error(f"an array in a struct can have at most {_LARGEST_ARRAY:,} elements with values", node)
    for at in range(extent):
        _fill(low, indexed(low, target, Const(INT, at), node, node), items, statements, node)
    return None


def _fill_members(low: Lowering, target: Expr | Thing, items: Items, statements: list[Stmt], node: Node) -> None:
    assert isinstance(target.type, StructType)
    members = struct_fields(low, target.type)
    named = {key: each for each in items.nodes if (key := _designated(low, each)) is not None}
    if is_union(target.type):
        members = tuple(each for each in members if each[0] in named) or members[:1]
    for key, _ in members:
        place = member_of(low, target, key, node)
        given = named.get(key) if named else items.next
        default = low.types.defaults.get(key) if given is None else None
        if named or default is not None:
            chosen = default if given is None else given.parts[-1]
            _fill(low, place, Items([] if chosen is None else [chosen]), statements, node)
        else:
            _fill(low, place, items, statements, node)


def _designated(low: Lowering, node: Node) -> int | None:
    """The key of the member that ``.x = 1`` names."""
    if node.kind == k.UNEXPOSED_EXPR and node.children and node.children[0].kind == k.MEMBER_REF:
        declaration = low.cursors.referenced(node.children[0])
        return None if declaration is None else declaration.first
    return None


def _is_whole_struct(low: Lowering, value: Node, ctype: CType) -> bool:
    return low.type_of(value) == ctype


def _single(low: Lowering, ctype: CType, items: Items, node: Node) -> Expr:
    """The value of a number, a vector or a pointer."""
    value = items.next
    if value is None:
        return zero_of(low, ctype, node)
    is_number = stripped(value).kind != k.INIT_LIST_EXPR and isinstance(low.type_of(value), Scalar)
    if isinstance(ctype, VectorType) and is_number:
        taken = items.nodes[items.used : items.used + ctype.count]
        items.used += len(taken)
        return vector_of(low, [low.value(each) for each in taken], ctype, node)
    items.used += 1
    return initialised(low, value, ctype)


def _effects(found: Expr | Thing) -> list[Stmt]:
    return [Evaluate(each) for each in (found.effects if isinstance(found, Thing) else (found,))]


def braces(low: Lowering, node: Node) -> Expr | Thing:
    """The node of ``float4{1, 2, 3, 4}``, of a struct in braces, or of a value's ``T()``."""
    ctype = low.type_of(node)
    if isinstance(ctype, StructType):
        return aggregate(low, ctype, node, node)
    return initialised(low, node, ctype) if node.kind == k.INIT_LIST_EXPR else zero_of(low, ctype, node)


def constructed(low: Lowering, declaration: RawCursor, arguments: list[Node], node: Node) -> Expr | Thing:
    """The node of a constructor's call: a copy is its argument, which whoever uses it copies."""
    ctype = low.type_of(node)
    if isinstance(ctype, Scalar | VectorType):
        return _made(low, ctype, arguments, node)
    if isinstance(ctype, ArrayType) or not isinstance(ctype, StructType):
        raise low.unsupported(node)
    if _is_copy(low, declaration, arguments, ctype):
        return low.place_node(arguments[0])
    statements: list[Stmt] = []
    target = new_object(low, ctype, statements, node)
    run_constructor(low, target, declaration, arguments, statements, node)
    return Thing(ctype, target.symbol, (Inline(VOID, (), Block(tuple(statements)), None, low.place(node)),))


def _is_copy(low: Lowering, declaration: RawCursor, arguments: list[Node], ctype: StructType) -> bool:
    if len(arguments) != 1 or low.type_of(arguments[0]) != ctype:
        return False
    definition = low.cursors.definition(declaration)
    return definition is None or not low.cursors.is_written(definition)


def _made(low: Lowering, ctype: Scalar | VectorType, arguments: list[Node], node: Node) -> Expr | Thing:
    if len(arguments) == 1:
        found = low.place_node(arguments[0])
        if isinstance(found.type, StructType):
            return _of_bits(low, found, found.type, ctype, node)
        if isinstance(found, Thing) or found.type == ctype:
            return found
        return low.converted(low.loaded(found, bare(arguments[0])), ctype, node)
    if not arguments:
        return zero_of(low, ctype, node)
    assert isinstance(ctype, VectorType)
    return vector_of(low, [low.value(each) for each in arguments], ctype, node)


def _of_bits(low: Lowering, raw: Expr | Thing, struct: StructType, ctype: Scalar | VectorType, node: Node) -> Expr:
    """A number given as CUDA's struct of its bits, such as __half_raw."""
    if not isinstance(ctype, Scalar) or len(struct.fields) != 1:
        raise low.error(f"a {struct} can't become a {ctype}", node, id="unsupported")
    bits = low.loaded(low.expression_of(member_of(low, raw, struct_fields(low, struct)[0][0], node), node), node)
    word = "half" if ctype == HALF else ctype.element.name
    found = Call(ctype, f"__ushort_as_{word}", (low.converted(bits, USHORT, node),), low.place(node))
    effects = raw.effects if isinstance(raw, Thing) else ()
    return Sequence(ctype, (*effects, found)) if effects else found


def is_value(low: Lowering, node: Node) -> bool:
    """Whether a constructor call is written with brackets, as ``T()`` and ``T{}`` are: members without a value become zero."""
    span = low.cursors.span(node)
    return span is not None and low.cursors.text[span[0] : span[1]].endswith((")", "}"))


def run_constructor(
    low: Lowering, target: Expr | Thing, declaration: RawCursor, arguments: list[Node], statements: list[Stmt], node: Node
) -> None:
    """Adds the statements of a constructor that fills ``target``."""
    definition = low.cursors.definition(declaration)
    if definition is None or not low.cursors.is_written(definition):
        if is_value(low, node) and isinstance(target.type, StructType):
            fill(low, target, [], statements, node)
        else:
            default_members(low, target, statements, node)
        return
    default_members(low, target, statements, node)
    found = inlined(low, definition, arguments, node, target, before=lambda tree: _member_initialisers(low, target, tree, node))
    if isinstance(found, Thing):
        statements += [Evaluate(each) for each in found.effects]
    else:
        statements.append(Evaluate(found))


def _member_initialisers(low: Lowering, target: Expr | Thing, function: Node, node: Node) -> list[Stmt]:
    """The statements of what stands between a constructor's parameters and its body."""
    found: list[Stmt] = []
    member: int | None = None
    for each in function.children:
        if each.kind == k.MEMBER_REF:
            declaration = low.cursors.referenced(each)
            member = None if declaration is None else declaration.first
        elif member is not None and k.FIRST_EXPRESSION <= each.kind <= k.LAST_EXPRESSION:
            fill(low, member_of(low, target, member, node), [each], found, node)
            member = None
    return found


def default_members(low: Lowering, target: Expr | Thing, statements: list[Stmt], node: Node) -> None:
    """Adds the statements that give members the values of their own declarations."""
    assert isinstance(target.type, StructType)
    for key, field in struct_fields(low, target.type):
        value = low.types.defaults.get(key)
        if value is not None:
            fill(low, member_of(low, target, key, node), [value], statements, node)
        elif isinstance(field.type, StructType):
            default_members(low, member_of(low, target, key, node), statements, node)


def initial(low: Lowering, target: Expr | Thing, given: Node | None, statements: list[Stmt], node: Node) -> None:
    """Adds the statements that give a new struct in memory its first value."""
    inner = None if given is None else stripped(given)
    if inner is None:
        default_members(low, target, statements, node)
    elif inner.kind == k.CALL_EXPR and not low.cursors.arguments(inner) and (constructor := constructor_of(low, inner)):
        run_constructor(low, target, constructor, [], statements, node)
    else:
        fill(low, target, [inner], statements, node)


def constructor_of(low: Lowering, node: Node) -> RawCursor | None:
    """The constructor that a call calls."""
    found = low.cursors.referenced(node)
    return found if found is not None and found.kind == k.CONSTRUCTOR else None


def aggregate(low: Lowering, ctype: object, braces: Node, node: Node) -> Thing:
    """A new object whose members are given in braces, in order; the rest have their own values or zero."""
    assert isinstance(ctype, StructType)
    statements: list[Stmt] = []
    target = new_object(low, ctype, statements, node)
    fill(low, target, [braces], statements, node)
    return Thing(ctype, target.symbol, (Inline(VOID, (), Block(tuple(statements)), None, low.place(node)),))


def chosen(low: Lowering, node: Node) -> Expr | Thing:
    """The node of ``?:``; of structs, a new object."""
    ctype, parts = low.type_of(node), node.parts
    if not isinstance(ctype, StructType) or isinstance(condition := low.condition(parts[0]), Const):
        return conditional(low, node)
    statements: list[Stmt] = []
    target, number = new_object(low, ctype, statements, node), low.add_branch(*parts)
    arms = list[Block]()
    for each in parts[1:]:
        branch: list[Stmt] = []
        fill(low, target, [each], branch, node)
        arms.append(Block(tuple(branch)))
    statements.append(If(condition, arms[0], arms[1], number))
    return Thing(ctype, target.symbol, (Inline(VOID, (), Block(tuple(statements)), None, low.place(node)),))


INITIALISERS = {k.INIT_LIST_EXPR: braces, k.CONDITIONAL_OPERATOR: chosen}
