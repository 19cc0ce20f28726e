"""Reads calls: casts in function form, intrinsics, and ``__device__`` functions, which are put in where they are called."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tree_sitter import Node

from gemmviz.source import fold
from gemmviz.source.declarators import (
    Declared,
    declared,
    described_type,
    extents,
    has_word,
    parameter_type,
    specified_type,
    type_of,
)
from gemmviz.source.expressions import converted_by_cast
from gemmviz.source.lowering import Activation, Lowering
from gemmviz.source.nodes import Block, Call, Const, Deref, Expr, Inline, MakeVector, Offset, Read, Sequence
from gemmviz.source.scope import ArrayVariable, Constant, Function, LazyType, Scope, Symbol, TypeName, Variable
from gemmviz.source.syntax import child, children, closest
from gemmviz.source.types import (
    DOUBLE,
    FLOAT,
    INT,
    UINT,
    VOID,
    Array,
    CType,
    Pointer,
    Scalar,
    Vector,
    Void,
    common,
    named_type,
)  # fmt: skip

_CASTS = {"static_cast", "reinterpret_cast", "const_cast"}
_SAME_FLOAT = {  # result and arguments are the function's own floating type
    **{name + suffix: kind for name in (
        "sqrt", "rsqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tanh", "floor", "ceil", "round", "trunc", "fabs",
        "fmin", "fmax", "fma", "pow", "fmod",
    ) for suffix, kind in (("", DOUBLE), ("f", FLOAT))},
    "__fmaf_rn": FLOAT, "__fadd_rn": FLOAT, "__fmul_rn": FLOAT, "__expf": FLOAT, "__fma_rn": DOUBLE,
}  # fmt: skip
_ARITIES = {"fma": 3, "fmaf": 3, "__fmaf_rn": 3, "__fma_rn": 3} | {
    name: 2 for name in ("fmin", "fminf", "fmax", "fmaxf", "pow", "powf", "fmod", "fmodf", "__fadd_rn", "__fmul_rn")
}
_SHUFFLES = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"}
_INTEGER = {"__mul24": INT, "__umul24": UINT}
_IGNORED = {"printf": "printf prints nothing here", "__threadfence": "", "__threadfence_block": "", "__builtin_assume": ""}
_INTRINSICS = {*_SAME_FLOAT, *_SHUFFLES, *_INTEGER, *_IGNORED, "min", "max", "abs", "__ldg", "assert", "__syncthreads"}
_DEEPEST = 32


def call(low: Lowering, node: Node) -> Expr:
    function = child(node, "function")
    arguments = children(child(node, "arguments"))
    template: list[Node] = []
    if function.type == "qualified_identifier":
        function = child(function, "name")
    if function.type == "template_function":
        template = children(child(function, "arguments"))
        function = child(function, "name")
    if function.type == "primitive_type":
        if arguments and arguments[0].type == "pointer_expression":  # what the parser makes of float (*p)[4]
            raise low.tree.error("a pointer or reference to an array is not supported", node, "use auto&, or a plain pointer")
        return low.converted(_only(low, arguments, node), specified_type(low, function), node)
    if function.type not in ("identifier", "dependent_name"):
        raise low.tree.unsupported(function)
    name = low.tree.text(function)
    if name in _CASTS and template:
        return converted_by_cast(low, _only(low, arguments, node), described_type(low, template[0]), node)
    symbol = low.scope.find(name)
    if isinstance(symbol, Function):
        return inlined(low, symbol, template, arguments, node)
    if isinstance(symbol, TypeName | LazyType):
        ctype = symbol.type if isinstance(symbol, TypeName) else described_type(low, symbol.descriptor)
        return low.converted(_only(low, arguments, node), ctype, node)
    return intrinsic(low, name, arguments, node)


def _only(low: Lowering, arguments: list[Node], node: Node) -> Expr:
    if len(arguments) != 1:
        raise low.tree.error("this takes one argument", node)
    return low.value(arguments[0])


def intrinsic(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    """A call of something that CUDA C provides. Raises SourceError for a function that gemmviz doesn't know."""
    if name in _IGNORED:
        if _IGNORED[name]:
            low.note(f"line {low.tree.place(node).line}: {_IGNORED[name]}")
        return Sequence(VOID, ())
    if name.startswith("make_") and isinstance(vector := named_type(name[5:]), Vector):
        return _made_vector(low, vector, arguments, node)
    if isinstance(named := named_type(name), Scalar):
        return low.converted(_only(low, arguments, node), named, node)
    if name == "memset":
        return _cleared(low, arguments, node)
    if name not in _INTRINSICS or name == "__syncthreads":
        why = "it must stand alone as a statement" if name == "__syncthreads" else closest(name, _function_names(low))
        raise low.tree.error(f"the function {name} is not known", node, why)
    place = low.tree.place(node)
    if name == "assert":
        return Call(VOID, name, (low.condition(arguments[0]),), place)
    if name == "__ldg":
        pointer = _only(low, arguments, node)
        if not isinstance(pointer.type, Pointer):
            raise low.tree.error("__ldg takes a pointer", node)
        return low.loaded(Deref(pointer.type.to, pointer, place), node)
    values = [low.scalar(argument) for argument in arguments]
    if name in _SHUFFLES:
        return _shuffle(low, name, values, node)
    if name in ("min", "max", "abs"):
        return _of_common_type(low, name, values, node)
    kind = _SAME_FLOAT.get(name) or _INTEGER[name]
    if name in ("ceil", "floor", "fabs", "sqrt", "fma", "fmin", "fmax") and all(v.type == FLOAT for v in values):
        kind = FLOAT  # C++ overloads
    arity = 2 if name in _INTEGER else _ARITIES.get(name, 1)
    if len(values) != arity:
        raise low.tree.error(f"{name} takes {arity} arguments, not {len(values)}", node)
    return _folded(Call(kind, name, tuple(low.converted(value, kind, node) for value in values), place))


def _cleared(low: Lowering, arguments: list[Node], node: Node) -> Expr:
    """Memset of an array of this thread to zero."""
    if len(arguments) == 3:
        target, value = low.value(arguments[0]), low.value(arguments[1])
        size = low.constant(arguments[2], "the size for memset")
        if isinstance(target.type, Pointer) and target.type.space == "local" and isinstance(value, Const) and not value.value:
            scalar = target.type.to.scalar if isinstance(target.type.to, Vector) else target.type.to
            count = Const(INT, size // scalar.bytes)
            return Call(VOID, "memset", (target, count, low.converted(Const(INT, 0), scalar, node)), low.tree.place(node))
    raise low.tree.error("memset works here only on an array of the thread, and only with 0", node)


def _function_names(low: Lowering) -> list[str]:
    return [*_INTRINSICS, *(name for name in low.scope.all_names() if isinstance(low.scope.find(name), Function))]


def _made_vector(low: Lowering, vector: Vector, arguments: list[Node], node: Node) -> Expr:
    if len(arguments) != vector.count:
        raise low.tree.error(f"make_{vector} takes {vector.count} arguments, not {len(arguments)}", node)
    parts = tuple(low.converted(low.scalar(argument), vector.scalar, node) for argument in arguments)
    return MakeVector(vector, parts)


def _of_common_type(low: Lowering, name: str, values: list[Expr], node: Node) -> Expr:
    arity = 1 if name == "abs" else 2
    kinds = [value.type for value in values if isinstance(value.type, Scalar)]
    if len(kinds) != arity:
        raise low.tree.error(f"{name} takes {arity} arguments, not {len(values)}", node)
    kind = common(kinds[0], kinds[-1])
    converted = tuple(low.converted(value, kind, node) for value in values)
    return _folded(Call(kind, name, converted, low.tree.place(node)))


def _folded(made: Call) -> Expr:
    numbers = [arg.value for arg in made.args if isinstance(arg, Const)]
    if len(numbers) == len(made.args) and isinstance(made.type, Scalar):
        simple: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}
        rounded = {"ceil": lambda x: -(-x // 1), "floor": lambda x: x // 1}
        if made.name in simple:
            return Const(made.type, simple[made.name](*numbers))
        if made.name.removesuffix("f") in rounded:
            return Const(made.type, fold.convert(rounded[made.name.removesuffix("f")](*numbers), made.type))
    return made


def _shuffle(low: Lowering, name: str, values: list[Expr], node: Node) -> Expr:
    if not 3 <= len(values) <= 4:
        raise low.tree.error(f"{name} takes a mask, a value and a lane", node)
    width = values[3] if len(values) == 4 else Const(INT, 32)
    lane = low.converted(values[2], INT, node)
    return Call(values[1].type, name, (values[1], lane, low.converted(width, INT, node)), low.tree.place(node))


def inlined(low: Lowering, function: Function, template: list[Node], arguments: list[Node], node: Node) -> Expr:
    """The call of a ``__device__`` function: its body, read anew with the types and constants of this call."""
    _check_depth(low, function, node)
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
    result_type = type_of(low, function.definition) or VOID
    result = None if isinstance(result_type, Void) else low.new_slot()
    low.tree.check(function.definition)
    low.parentheses.add((child(node, "arguments").start_byte + 1, bool(arguments), False))
    low.parentheses.add((parameter_list(function).start_byte + 1, bool(parameters), True))
    low.activation = Activation(function, result, result_type, calls, low.activation)
    place = low.statement_place
    body = low.statement(child(function.definition, "body"))
    low.activation, low.scope, low.statement_place = low.activation.outer, outer, place
    assert isinstance(body, Block)
    return Inline(result_type, tuple(bindings), body, result, low.tree.place(node))


def _check_depth(low: Lowering, function: Function, node: Node) -> None:
    activation, depth = low.activation, 0
    while activation is not None:
        if activation.function is function and not function.template:
            raise low.tree.error(f"{function.name} calls itself: recursion is not supported", node)
        activation, depth = activation.outer, depth + 1
    if depth > _DEEPEST:
        raise low.tree.error("calls are nested too deeply", node)


def parameters_of(function: Function) -> list[Node]:
    """The parameter declarations of a function, in order."""
    listed = children(parameter_list(function))
    return [node for node in listed if node.type in ("parameter_declaration", "optional_parameter_declaration")]


def parameter_list(function: Function) -> Node:
    declarator = child(function.definition, "declarator")
    while declarator.type != "function_declarator":
        declarator = child(declarator, "declarator")
    return child(declarator, "parameters")


def _defaults(low: Lowering, missing: list[Node], scope: Scope) -> list[Expr]:
    outer, low.scope = low.scope, scope
    values = [low.value(value) for node in missing if (value := node.child_by_field_name("default_value"))]
    low.scope = outer
    return values


def _bound(
    low: Lowering, parameter: Node, value: Expr, scope: Scope, bindings: list[tuple[int, Expr]], node: Node
) -> tuple[str, Symbol]:
    """The name of a parameter and what it stands for; a value is put into a slot of its own."""
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
    if name.reference and name.dims and isinstance(value.type, Array):
        return name.name, _array_alias(low, value, bindings)
    if len(name.dims) > 1 and isinstance(loaded.type, Pointer):
        return name.name, _rows(low, name, loaded, bindings)
    slot = low.new_slot()
    ctype = loaded.type if by_reference else parameter_type(low, base, name, has_word(parameter, "const"))
    if isinstance(ctype, Pointer) and isinstance(loaded.type, Pointer):
        ctype = ctype.into(loaded.type.space)
    bindings.append((slot, low.converted(loaded, ctype, node)))
    return name.name, Variable(slot, ctype, is_reference=by_reference)


def _same_variable(low: Lowering, value: Expr, node: Node) -> Symbol:
    if not isinstance(value, Read):
        raise low.tree.error("a reference to this is not supported", node)
    return Variable(value.slot, value.type, checked=value.checked)


def _rows(low: Lowering, name: Declared, pointer: Expr, bindings: list[tuple[int, Expr]]) -> Symbol:
    """A parameter like ``float p[][9]``: rows behind a pointer."""
    assert isinstance(pointer.type, Pointer)
    if pointer.type.space is None:
        raise low.tree.error("this pointer is used before it points anywhere", name.node)
    slot = low.new_slot()
    bindings.append((slot, pointer))
    return ArrayVariable(slot, Array(pointer.type.to, (1, *extents(low, name.dims[1:], name.node)), pointer.type.space))


def _array_alias(low: Lowering, value: Expr, bindings: list[tuple[int, Expr]]) -> Symbol:
    assert isinstance(value, Offset)
    assert isinstance(value.type, Array)
    slot = low.new_slot()
    bindings.append((slot, replace(value, type=Pointer(value.type.element, value.type.space))))
    return ArrayVariable(slot, value.type)


def _deduce_extents(low: Lowering, name: Declared, value: Expr, scope: Scope) -> None:
    if not isinstance(value.type, Array):
        return
    for node, extent in zip(name.dims, value.type.dims, strict=False):
        if node is not None and node.type == "identifier" and scope.find(low.tree.text(node)) is None:
            scope.names[low.tree.text(node)] = Constant(Const(INT, extent))


def _parameter_base(low: Lowering, parameter: Node, name: Declared, value: Expr, scope: Scope) -> CType:
    """The declared type of a parameter; a template type that is still open is deduced from the argument."""
    node = child(parameter, "type")
    text = low.tree.text(node)
    if node.type == "type_identifier" and scope.find(text) is None and named_type(text) is None:
        match value.type:
            case Pointer(to=to) | Array(element=to) if name.pointer or name.dims:
                scope.names[text] = TypeName(to)
            case Scalar() | Vector() as deduced:
                scope.names[text] = TypeName(deduced)
    ctype = type_of(low, parameter)
    return value.type if ctype is None else ctype


def template_names(low: Lowering, function: Function, given: list[Node]) -> dict[str, Symbol]:
    """What the template parameters of ``function`` stand for; those neither given nor defaulted are left to deduction."""
    names: dict[str, Symbol] = {}
    if function.template is None:
        return names
    outer = low.scope
    for position, parameter in enumerate(children(function.template)):
        argument = given[position] if position < len(given) else None
        low.scope = outer if argument is not None else outer.inner(names)
        if parameter.type in ("parameter_declaration", "optional_parameter_declaration"):
            value = argument or parameter.child_by_field_name("default_value")
            if value is not None:
                constant = Const(INT, low.constant(_expression_of(value), "a template argument"))
                ctype = type_of(low, parameter)
                if isinstance(ctype, Scalar):
                    constant = Const(ctype, fold.convert(constant.value, ctype))
                names[declared(low, child(parameter, "declarator")).name] = Constant(constant)
        else:
            value = argument or parameter.child_by_field_name("default_type")
            if value is not None:
                names[_type_parameter(low, parameter)] = TypeName(_template_type(low, value))
    low.scope = outer
    return names


def _expression_of(node: Node) -> Node:
    """The parser takes a lone name among template arguments for a type; as a value it is an identifier."""
    return child(node, "type") if node.type == "type_descriptor" else node


def _template_type(low: Lowering, node: Node) -> CType:
    return described_type(low, node) if node.type == "type_descriptor" else specified_type(low, node)


def _type_parameter(low: Lowering, parameter: Node) -> str:
    named = parameter.child_by_field_name("name")
    return low.tree.text(named or children(parameter)[0])


CALLS = {"call_expression": call, "type_identifier": lambda low, node: low.expressions["identifier"](low, node)}
