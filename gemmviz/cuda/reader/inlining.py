"""Inlines functions of the device at their calls: parameters become variables, the body a block."""

from collections.abc import Callable, Mapping

from gemmviz.cuda.nodes import Block, Component, Deref, Expr, Inline, Offset, Read, Select, Sequence, Stmt
from gemmviz.cuda.parser.library import RawCursor
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.assign import new_object, object_copy
from gemmviz.cuda.reader.cursors import Node, bare
from gemmviz.cuda.reader.initialisers import initialised
from gemmviz.cuda.reader.lowering import Activation, Lowering
from gemmviz.cuda.reader.lvalues import held, lvalue, takes_lvalue
from gemmviz.cuda.reader.symbols import Alias, ArrayVariable, Symbol, Thing, Variable
from gemmviz.cuda.types import ArrayType, CType, PointerType, StructType, Void
from gemmviz.model.records import replace

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
        return replace(found, effects=(*effects, *found.effects))
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
        return _referred(low, activation.reference, Inline(_VOID, bindings, body, None, place), node)
    if isinstance(activation.result, Thing):
        return replace(activation.result, effects=(Inline(_VOID, bindings, body, None, place),))
    call = Inline(activation.result_type, bindings, body, activation.result, place)
    if activation.returns_reference:
        assert isinstance(call.type, PointerType)
        return Deref(call.type.to, call, place)  # type: ignore[arg-type]
    return call


def _referred(low: Lowering, target: Expr | Thing, call: Inline, node: Node) -> Expr | Thing:
    """What a function returned a reference to, after its call."""
    has_effect = call.bindings or any(each != Block(()) for each in call.body.statements)
    if isinstance(target, Thing):
        return replace(target, effects=(*target.effects, call)) if has_effect else target
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
        return _copied(low, value, effects, node)
    if takes_lvalue(low, raw) and isinstance(value := low.expression_of(held(low, value, bindings, node), node), Select):
        return Alias(value)
    if raw.kind in k.T_REFERENCES:
        pointee = low.cursors.lib.getPointeeType(raw)
        is_const = low.types.is_const(pointee)
        return _referenced(low, name, value, is_const, low.type_in(pointee, node), bindings, node)
    ctype = low.parameter_type(raw, node)
    if isinstance(ctype, StructType):
        return _copied(low, value, effects, node)
    return _by_value(low, name, value, ctype, bindings, node, parameter.key)


def _copied(low: Lowering, value: Expr | Thing, effects: list[Expr], node: Node) -> Symbol:
    thing = object_copy(low, replace(value, effects=()) if isinstance(value, Thing) else value, node)
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


def _is_same(have: CType, to: CType) -> bool:
    """Whether a variable has the type of a reference, wherever pointers point to."""
    return have == to or (isinstance(have, PointerType) and isinstance(to, PointerType) and have.to == to.to)


def _referenced(low: Lowering, name: str, value: Expr, is_const: bool, to: CType, bindings: Bindings, node: Node) -> Symbol:
    """The meaning of a parameter that is a reference."""
    match value:
        case Offset(type=ArrayType() as array):
            slot = low.new_slot()
            bindings.append((slot, replace(value, type=PointerType(array.element, array.space))))
            return ArrayVariable(slot, array, name, is_reference=True)
        case Deref(type=ctype, pointer=pointer) if not is_const or isinstance(ctype, StructType):
            slot = low.new_slot()
            bindings.append((slot, pointer))
            assert isinstance(pointer.type, PointerType)
            return Variable(slot, replace(pointer.type, to=ctype), name, is_reference=True)
        case Read(slot=slot, type=ctype, checked=checked) if _is_same(ctype, to) and not is_const:
            return Variable(slot, ctype, name, checked)
    if isinstance(value.type, ArrayType | StructType):
        return Alias(value)
    loaded = low.loaded(value, bare(node))
    if not is_const and value is loaded and isinstance(value, Component):
        return Alias(value)
    return _by_value(low, name, value, to, bindings, node)
