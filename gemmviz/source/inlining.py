"""Inlines ``__device__`` functions at their calls, with the types and constants of each call."""

from dataclasses import replace

from tree_sitter import Node

from gemmviz.source.declarators import (
    Declared,
    declared,
    described_type,
    extents,
    has_word,
    parameter_type,
    type_of,
)  # fmt: skip
from gemmviz.source.lowering import Activation, Lowering
from gemmviz.source.nodes import Block, Const, Deref, Expr, Inline, Offset, Read
from gemmviz.source.scope import ArrayVariable, Constant, FunctionScope, Symbol, SymbolTable, TypeName, Variable
from gemmviz.source.syntax import child, children
from gemmviz.source.types import INT, VOID, ArrayType, CType, PointerType, Scalar, VectorType, Void, named_type

_DEEPEST, _MOST_CALLS = 32, 4000


def inlined(low: Lowering, function: FunctionScope, template: list[Node], arguments: list[Node], node: Node) -> Expr:
    """The node of a call of a ``__device__`` function: its body, lowered with the types and constants of this call."""
    _check_depth(low, function, node)
    low.inlined += 1
    if low.inlined > _MOST_CALLS:
        raise low.tree.error(f"the kernel makes more than {_MOST_CALLS:,} inlined calls", node)
    values = [low.expression(argument) for argument in arguments]
    scope = low.scope.outermost.inner(template_names(low, function, template))
    parameters = parameters_of(function)
    values += _defaults(low, parameters[len(values) :], scope)
    if len(values) != len(parameters):
        raise low.tree.error(f"{function.name} takes {len(parameters)} arguments, not {len(values)}", node)
    outer = low.scope
    bindings: list[tuple[int, Expr]] = []
    for parameter, value, argument in zip(parameters, values, [*arguments, *[node] * len(parameters)], strict=False):
        low.scope = scope
        symbol = _bound(low, parameter, value, scope, bindings, argument)
        scope.names[symbol[0]] = symbol[1]
    low.scope = scope
    calls = (*(low.activation.calls if low.activation else ()), low.tree.place(node))
    result_type = _result_type(low, function)
    result = None if isinstance(result_type, Void) else low.new_slot()
    low.tree.check(function.definition)
    low.activation = Activation(function, result, result_type, calls, low.activation)
    place = low.statement_place
    body = low.statement(child(function.definition, "body"))
    low.activation, low.scope, low.statement_place = low.activation.outer, outer, place
    assert isinstance(body, Block)
    return Inline(result_type, tuple(bindings), body, result, low.tree.place(node))


def _check_depth(low: Lowering, function: FunctionScope, node: Node) -> None:
    activation, depth = low.activation, 0
    while activation is not None:
        if activation.function is function and not function.template:
            raise low.tree.error(f"{function.name} calls itself: recursion is not supported", node, id="unsupported")
        activation, depth = activation.outer, depth + 1
    if depth > _DEEPEST:
        raise low.tree.error("calls are nested too deeply", node)


def _result_type(low: Lowering, function: FunctionScope) -> CType:
    """The return type of a function. Raises SourceError for a type that an inlined function can't return."""
    declarator = child(function.definition, "declarator")
    result = type_of(low, function.definition)
    if result is None or declarator.type != "function_declarator":
        what = "auto" if result is None else "a pointer or a reference"
        raise low.tree.error(f"{function.name} returns {what}, which is not supported", declarator, id="unsupported")
    return result


def parameters_of(function: FunctionScope) -> list[Node]:
    """The parameter declarations of a function, in order."""
    listed = children(parameter_list(function))
    return [node for node in listed if node.type in ("parameter_declaration", "optional_parameter_declaration")]


def parameter_list(function: FunctionScope) -> Node:
    declarator = child(function.definition, "declarator")
    while declarator.type != "function_declarator":
        declarator = child(declarator, "declarator")
    return child(declarator, "parameters")


def _defaults(low: Lowering, missing: list[Node], scope: SymbolTable) -> list[Expr]:
    outer, low.scope = low.scope, scope
    values = [low.value(value) for node in missing if (value := node.child_by_field_name("default_value"))]
    low.scope = outer
    return values


def _bound(
    low: Lowering, parameter: Node, value: Expr, scope: SymbolTable, bindings: list[tuple[int, Expr]], node: Node
) -> tuple[str, Symbol]:
    """A parameter's name and its meaning; a value gets a slot of its own."""
    declarator = parameter.child_by_field_name("declarator")
    if declarator is None:
        return "", TypeName(VOID)
    name = declared(low, declarator)
    if name.dims:
        _deduce_extents(low, name, value, scope)
    base = _parameter_base(low, parameter, name, value, scope)
    by_reference = name.reference and not name.dims and not has_word(parameter, "const")
    if by_reference and not isinstance(value, Deref):
        return name.name, _same_variable(low, value, node)
    loaded = value.pointer if by_reference and isinstance(value, Deref) else low.loaded(value, node)
    if name.reference and name.dims and isinstance(value.type, ArrayType):
        return name.name, _array_alias(low, value, bindings)
    if len(name.dims) > 1 and isinstance(loaded.type, PointerType):
        return name.name, _rows(low, name, loaded, bindings)
    slot = low.new_slot()
    ctype = loaded.type if by_reference else parameter_type(low, base, name, has_word(parameter, "const"))
    if isinstance(ctype, PointerType) and isinstance(loaded.type, PointerType):
        ctype = ctype.into(loaded.type.space)
    bindings.append((slot, low.converted(loaded, ctype, node)))
    return name.name, Variable(slot, ctype, is_reference=by_reference)


def _same_variable(low: Lowering, value: Expr, node: Node) -> Symbol:
    if not isinstance(value, Read):
        raise low.tree.error("a reference to this is not supported", node, id="unsupported")
    return Variable(value.slot, value.type, checked=value.checked)


def _rows(low: Lowering, name: Declared, pointer: Expr, bindings: list[tuple[int, Expr]]) -> Symbol:
    """A parameter like ``float p[][9]``: rows behind a pointer."""
    assert isinstance(pointer.type, PointerType)
    if pointer.type.space is None:
        raise low.tree.error("this pointer is used before it is assigned", name.node)
    slot = low.new_slot()
    bindings.append((slot, pointer))
    return ArrayVariable(slot, ArrayType(pointer.type.to, (1, *extents(low, name.dims[1:], name.node)), pointer.type.space))  # type: ignore[arg-type]


def _array_alias(low: Lowering, value: Expr, bindings: list[tuple[int, Expr]]) -> Symbol:
    assert isinstance(value, Offset)
    assert isinstance(value.type, ArrayType)
    slot = low.new_slot()
    bindings.append((slot, replace(value, type=PointerType(value.type.element, value.type.space))))
    return ArrayVariable(slot, value.type)


def _deduce_extents(low: Lowering, name: Declared, value: Expr, scope: SymbolTable) -> None:
    if not isinstance(value.type, ArrayType):
        return
    for node, extent in zip(name.dims, value.type.dims, strict=False):
        if node is not None and node.type == "identifier" and scope.find(low.tree.text(node)) is None:
            scope.names[low.tree.text(node)] = Constant(Const(INT, extent))


def _parameter_base(low: Lowering, parameter: Node, name: Declared, value: Expr, scope: SymbolTable) -> CType:
    """The declared type of a parameter; a template type that is still open is deduced from the argument."""
    node = child(parameter, "type")
    text = low.tree.text(node)
    if node.type == "type_identifier" and scope.find(text) is None and named_type(text) is None:
        match value.type:
            case PointerType(to=to) | ArrayType(element=to) if name.pointer or name.dims:
                scope.names[text] = TypeName(to)
            case Scalar() | VectorType() as deduced:
                scope.names[text] = TypeName(deduced)
    ctype = type_of(low, parameter)
    return value.type if ctype is None else ctype


def template_names(low: Lowering, function: FunctionScope, given: list[Node]) -> dict[str, Symbol]:
    """The template parameters of ``function`` and their values, without those that must be deduced."""
    names: dict[str, Symbol] = {}
    if function.template is None:
        return names
    outer, parameters = low.scope, children(function.template)
    if len(given) > len(parameters):
        most = f"{len(parameters)} argument{'s' if len(parameters) > 1 else ''}"
        raise low.tree.error(f"the template {function.name} takes {most}, not {len(given)}", given[-1])
    for position, parameter in enumerate(parameters):
        argument = given[position] if position < len(given) else None
        low.scope = outer if argument is not None else outer.inner(names)
        if parameter.type in ("parameter_declaration", "optional_parameter_declaration"):
            value = argument or parameter.child_by_field_name("default_value")
            declarator = parameter.child_by_field_name("declarator")
            if value is not None:
                constant = _template_constant(low, parameter, value)
                names["" if declarator is None else declared(low, declarator).name] = Constant(constant)
        else:
            value = argument or parameter.child_by_field_name("default_type")
            if value is not None:
                names[_type_parameter(low, parameter)] = TypeName(_template_type(low, value))
    low.scope = outer
    return names


def _template_constant(low: Lowering, parameter: Node, value: Node) -> Const:
    constant = low.constant(_expression_of(low, value), "a template argument")
    ctype = type_of(low, parameter)
    return low.converted_constant(constant, ctype) if isinstance(ctype, Scalar) else constant


def _expression_of(low: Lowering, node: Node) -> Node:
    """The expression in a template argument: the parser takes a lone name for a type, which as a value is an identifier."""
    if node.type != "type_descriptor":
        return node
    named = child(node, "type")
    if named.type not in ("type_identifier", "qualified_identifier"):
        raise low.tree.error(f"{low.tree.text(node)} is a type; this template argument is a number", node)
    return named


def _template_type(low: Lowering, node: Node) -> CType:
    if node.type != "type_descriptor":
        raise low.tree.error(f"{low.tree.text(node)} is a number; this template argument is a type", node)
    return described_type(low, node)


def _type_parameter(low: Lowering, parameter: Node) -> str:
    """Name of a template type parameter; empty if it has none."""
    named = parameter.child_by_field_name("name") or next(iter(children(parameter)), None)
    return "" if named is None else low.tree.text(named)
