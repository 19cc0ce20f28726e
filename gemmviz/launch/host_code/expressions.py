"""Expressions of host code to formulas: constants and variables that never change are put in, other names stay."""

from clang.cindex import Cursor, CursorKind, TypeKind

from gemmviz.launch.host_code.cursors import (
    CAST_KINDS,
    HostVariable,
    UnreadError,
    arguments,
    initialiser,
    inner_parts,
    is_float_type,
    is_record,
    key_of,
    uncast,
    unwrapped,
    variable_of,
)
from gemmviz.launch.host_code.functions import HostFunction, VariableSetting, called_function
from gemmviz.launch.host_code.scope import HostScope, relevant
from gemmviz.model.outline import HostNameKind
from gemmviz.parser.operators import binary_operator, evaluated, unary_operator

_SAME = ("+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^")
_OPERATORS = {**{each: each for each in _SAME}, "&&": "and", "||": "or"}
_SIGNS = {"-": "-", "+": "+", "~": "~", "!": "not "}
_FUNCTIONS = {
    "min": "min", "max": "max", "ceil": "ceil", "ceilf": "ceil", "floor": "floor", "floorf": "floor", "sqrt": "sqrt",
    "sqrtf": "sqrt", "abs": "abs", "fabs": "abs", "round": "round", "log2": "log2", "log2f": "log2", "pow": "pow",
    "powf": "pow",
}  # fmt: skip
_AXES = ("x", "y", "z")
_REFERRED = frozenset({CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.FIELD_DECL})


def formula(cursor: Cursor, scope: HostScope) -> str:
    """The formula of an arithmetic expression. Raises UnreadError if it is none."""
    macro = scope.program.texts.macro(cursor)
    if macro:
        value = evaluated(unwrapped(cursor))
        if value is not None:
            return scope.use(macro, "macro", value)
    match cursor.kind:
        case CursorKind.INTEGER_LITERAL | CursorKind.FLOATING_LITERAL | CursorKind.CXX_BOOL_LITERAL_EXPR:
            return _literal(cursor)
        case CursorKind.CHARACTER_LITERAL | CursorKind.CXX_UNARY_EXPR | CursorKind.CXX_NULL_PTR_LITERAL_EXPR:
            return _literal(cursor)
        case CursorKind.DECL_REF_EXPR | CursorKind.MEMBER_REF_EXPR | CursorKind.ARRAY_SUBSCRIPT_EXPR:
            return _named(cursor, scope)
        case CursorKind.BINARY_OPERATOR:
            return _binary(cursor, scope)
        case CursorKind.UNARY_OPERATOR if unary_operator(cursor) in _SIGNS:
            return f"({_SIGNS[unary_operator(cursor)]}{formula(inner_parts(cursor)[0], scope)})"
        case CursorKind.CONDITIONAL_OPERATOR:
            return _conditional(cursor, scope)
        case CursorKind.CALL_EXPR:
            return _call(cursor, scope)
        case CursorKind.UNEXPOSED_EXPR | CursorKind.PAREN_EXPR | CursorKind.INIT_LIST_EXPR:
            return _converted(cursor, scope)
        case kind if kind in CAST_KINDS:
            return _converted(cursor, scope)
    raise UnreadError(f"{scope.program.texts.text(cursor) or 'this'} isn't arithmetic", cursor)


def _literal(cursor: Cursor) -> str:
    value = evaluated(cursor)
    if value is None and cursor.kind == CursorKind.CXX_BOOL_LITERAL_EXPR:
        value = int(any(token.spelling == "true" for token in cursor.get_tokens()))
    if value is None:
        raise UnreadError("its value isn't known before the program runs", cursor)
    return repr(value)


def _converted(cursor: Cursor, scope: HostScope) -> str:
    """The formula inside parentheses, casts and conversions, rounded where a float becomes an integer."""
    inside = [each for each in inner_parts(cursor) if each.kind.is_expression()]
    if len(inside) != 1:
        raise UnreadError(f"{scope.program.texts.text(cursor) or 'this'} isn't arithmetic", cursor)
    text = formula(inside[0], scope)
    if is_float_type(inside[0].type) and _is_whole(cursor):
        return f"int({text})"
    return f"float({text})" if is_float_type(cursor.type) and _is_whole(inside[0]) else text


def _is_whole(cursor: Cursor) -> bool:
    kind = cursor.type.get_canonical().kind
    return kind in _WHOLE


_WHOLE = frozenset(
    {
        TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG, TypeKind.SHORT,
        TypeKind.USHORT, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.UCHAR, TypeKind.CHAR_U,
    }
)  # fmt: skip


def _binary(cursor: Cursor, scope: HostScope) -> str:
    operator = _OPERATORS.get(binary_operator(cursor))
    if operator is None:
        raise UnreadError(f"{scope.program.texts.text(cursor)} isn't arithmetic", cursor)
    left, right = (formula(each, scope) for each in inner_parts(cursor)[:2])
    return f"({left} {operator} {right})"


def _conditional(cursor: Cursor, scope: HostScope) -> str:
    condition, yes, no = inner_parts(cursor)
    if "argc" in scope.program.texts.text(condition):
        return _default(yes, no, scope)
    return f"({formula(yes, scope)} if {formula(condition, scope)} else {formula(no, scope)})"


def _default(yes: Cursor, no: Cursor, scope: HostScope) -> str:
    """The arm that doesn't need the command line."""
    try:
        return formula(no, scope)
    except UnreadError:
        return formula(yes, scope)


def _call(cursor: Cursor, scope: HostScope) -> str:
    given = arguments(cursor)
    if cursor.spelling in _FUNCTIONS and given:
        return f"{_FUNCTIONS[cursor.spelling]}({', '.join(formula(each, scope) for each in given)})"
    helper = helper_of(cursor, scope)
    if helper is not None and len(helper.returns) == 1 and not scope.is_deep:
        return formula(helper.returns[0], scope_inside(helper, given, scope))
    if len(given) == 1 and _is_constructor(cursor):
        return formula(given[0], scope)
    value = evaluated(cursor)
    if value is not None:
        return repr(value)
    raise UnreadError(f"{scope.program.texts.text(cursor)} isn't known before the program runs", cursor)


def _is_constructor(cursor: Cursor) -> bool:
    declaration = cursor.referenced
    return declaration is None or declaration.kind == CursorKind.CONSTRUCTOR


def helper_of(call: Cursor, scope: HostScope) -> HostFunction | None:
    """The function of the project, or the lambda, that a call goes to."""
    target = called_function(call)
    return None if target is None else scope.program.function(target)


def scope_inside(helper: HostFunction, given: list[Cursor], scope: HostScope) -> HostScope:
    """A scope inside a helper, its parameters replaced by the formulas of the arguments."""
    values: dict[int, str] = dict(scope.inlined)
    for parameter, argument in zip(helper.parameters, given, strict=False):
        try:
            values[key_of(parameter)] = formula(argument, scope)
        except UnreadError:
            continue
    at = type(scope.at)(helper.cursor.extent.end.offset)
    return HostScope(scope.program, helper, at, scope.caller, scope.passed, scope.types, values, scope.names, scope.depth + 1)


def _named(cursor: Cursor, scope: HostScope) -> str:
    declaration = cursor.referenced
    if declaration is not None and declaration.kind == CursorKind.ENUM_CONSTANT_DECL:
        return scope.use(cursor.spelling, "global", declaration.enum_value)
    if declaration is not None and declaration.kind == CursorKind.TEMPLATE_NON_TYPE_PARAMETER:
        return _template_value(cursor, scope)
    variable = variable_of(cursor)
    if variable is None:
        raise UnreadError(f"{scope.program.texts.text(cursor)} isn't a name", cursor)
    if variable.key in scope.inlined and not variable.member:
        return scope.inlined[variable.key]
    return variable_formula(variable, scope)


def _template_value(cursor: Cursor, scope: HostScope) -> str:
    given = scope.types.get(cursor.spelling, "")
    value = scope.value(given) if given else None
    return scope.use(cursor.spelling, "template", value)


def variable_formula(variable: HostVariable, scope: HostScope) -> str:
    """The formula of a variable: what it is set to if that is clear and more than a number, else its name."""
    passed = scope.argument(variable.key)
    settings = relevant(scope.settings(variable.key), variable.member, scope.at)
    if passed is not None and scope.caller is not None and not settings:
        return scope.use(variable.spelled, "parameter", _passed_value(variable, passed, scope.caller))
    known = [each for each in settings if each.value is not None]
    if len(known) == len(settings) == 1 and not scope.is_deep:
        return _single(variable, known[0], scope)
    value = next((each for each in map(lambda s: _setting_value(variable, s, scope), known) if each is not None), None)
    return _kept(variable, value, scope)


def _passed_value(variable: HostVariable, passed: Cursor, caller: HostScope) -> float | None:
    outside = caller.fresh()
    try:
        if variable.member:
            inner = variable_of(passed)
            if inner is None:
                return None
            member = f"{inner.member}_{variable.member}" if inner.member else variable.member
            return outside.value(variable_formula(HostVariable(inner.key, member, inner.name, inner.declaration), outside))
        return outside.value(formula(passed, outside))
    except UnreadError:
        return None


def _single(variable: HostVariable, setting: VariableSetting, scope: HostScope) -> str:
    """The formula of a variable that is set once; its name with the value if that is a number or the command line's."""
    assert setting.value is not None
    inner = scope.fresh()
    inner.depth += 1
    try:
        text = setting_formula(variable, setting, inner)
    except UnreadError:
        return _kept(variable, _constant(variable), scope)
    if not inner.names and variable.member and is_dim3(variable.declaration):
        return text
    if not inner.names or "argc" in scope.program.texts.text(setting.value):
        return _kept(variable, inner.value(text), scope)
    for each in inner.names.values():
        scope.use(each.name, each.kind, each.value)
    return text


def _setting_value(variable: HostVariable, setting: VariableSetting, scope: HostScope) -> float | None:
    inner = scope.fresh()
    inner.depth += 1
    if inner.is_deep:
        return None
    try:
        return inner.value(setting_formula(variable, setting, inner))
    except UnreadError:
        return None


def setting_formula(variable: HostVariable, setting: VariableSetting, scope: HostScope) -> str:
    """What a setting gives a variable, or one member or element of it."""
    value = setting.value
    if value is None:
        raise UnreadError(f"{variable.spelled} changes", variable.declaration)
    if not variable.member or setting.member == variable.member:
        return formula(value, scope)
    copied = _copied(value)
    inner = variable_of(copied)
    if inner is not None:
        member = f"{inner.member}_{variable.member}" if inner.member else variable.member
        return variable_formula(HostVariable(inner.key, member, inner.name, inner.declaration), scope)
    if copied.kind == CursorKind.CALL_EXPR and is_dim3(copied):
        return _axis_of(arguments(copied), _AXES.index(variable.member), scope)
    return formula(member_value(variable, copied), scope)


def is_dim3(cursor: Cursor) -> bool:
    return bool(cursor.type.get_canonical().spelling.removeprefix("const ") == "dim3")


def _copied(value: Cursor) -> Cursor:
    """The expression that a struct is copied from."""
    value = uncast(value)
    while value.kind == CursorKind.CALL_EXPR and len(arguments(value)) == 1 and is_record(arguments(value)[0].type):
        value = uncast(arguments(value)[0])
    return value


def _axis_of(given: list[Cursor], position: int, scope: HostScope) -> str:
    """One extent of ``dim3(x, y, z)``; those not written are 1."""
    return formula(given[position], scope) if position < len(given) else "1"


def member_value(variable: HostVariable, value: Cursor) -> Cursor:
    """The expression of one member or element in the value of a whole struct or array."""
    value = unwrapped(value)
    if value.kind == CursorKind.INIT_LIST_EXPR:
        inside = inner_parts(value)
        names = [each.spelling for each in variable.declaration.type.get_canonical().get_fields()]
        position = names.index(variable.member) if variable.member in names else _whole(variable.member)
        if 0 <= position < len(inside):
            return inside[position]
    default = _default_of(variable)
    if default is not None:
        return default
    raise UnreadError(f"{variable.spelled} isn't set here", variable.declaration)


def _default_of(variable: HostVariable) -> Cursor | None:
    """The initialiser of a member in its struct."""
    fields = variable.declaration.type.get_canonical().get_fields()
    return next((initialiser(each) for each in fields if each.spelling == variable.member), None)


def _whole(text: str) -> int:
    return int(text) if text.isdigit() else -1


def _kept(variable: HostVariable, value: float | None, scope: HostScope) -> str:
    if variable.declaration.kind not in _REFERRED:
        raise UnreadError(f"{variable.spelled} isn't a variable", variable.declaration)
    return scope.use(variable.spelled, _kind(variable, scope), _constant(variable) if value is None else value)


def _constant(variable: HostVariable) -> float | None:
    """The value of a constant, or of a member's initialiser, where the compiler knows it."""
    if variable.member:
        default = _default_of(variable)
        return None if default is None else evaluated(default)
    if not variable.declaration.type.is_const_qualified():
        default = initialiser(variable.declaration) if variable.declaration.kind == CursorKind.FIELD_DECL else None
        return None if default is None else evaluated(default)
    return evaluated(variable.declaration)


def _kind(variable: HostVariable, scope: HostScope) -> HostNameKind:
    if variable.member or variable.declaration.kind == CursorKind.FIELD_DECL:
        return "member"
    if scope.is_parameter(variable.key) or variable.declaration.kind == CursorKind.PARM_DECL:
        return "parameter"
    return "global" if variable.key in scope.program.constants else "local"
