"""Expressions of host code to formulas: constants and variables that never change are put in, other names stay."""

from collections.abc import Callable

from clang.cindex import Cursor, CursorKind
from msgspec import structs

from gemmviz.cuda.launch.host_code.functions import (
    CAST_KINDS,
    At,
    Branch,
    HostFunction,
    HostVariable,
    UnreadError,
    VariableSetting,
    arguments,
    callee,
    inner_parts,
    is_float_type,
    is_record,
    is_substituted,
    key_of,
    uncast,
    unwrapped,
    variable_of,
)
from gemmviz.cuda.launch.host_code.scope import (
    WHOLE,
    HostScope,
    fixed_value,
    host_constant,
    in_own_names,
    inner_variable,
    is_dim3,
    is_next,
    is_outside,
    kept,
    member_value,
    open_branches,
    relevant,
)
from gemmviz.cuda.parser.unit import binary_operator, evaluated, unary_operator

_SAME = ("+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^")
_OPERATORS = {**{each: each for each in _SAME}, "&&": "and", "||": "or"}
_SIGNS = {"-": "-", "+": "+", "~": "~", "!": "not "}
_FORMULA_FUNCTIONS = {
    "min": "min", "max": "max", "ceil": "ceil", "ceilf": "ceil", "floor": "floor", "floorf": "floor", "sqrt": "sqrt",
    "sqrtf": "sqrt", "abs": "abs", "fabs": "abs", "round": "round", "log2": "log2", "log2f": "log2", "pow": "pow",
    "powf": "pow",
}  # fmt: skip


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
        case CursorKind.DECL_REF_EXPR if is_substituted(cursor):
            return _converted(cursor, scope)
        case CursorKind.DECL_REF_EXPR | CursorKind.MEMBER_REF_EXPR | CursorKind.ARRAY_SUBSCRIPT_EXPR:
            return _named_value(cursor, scope)
        case CursorKind.BINARY_OPERATOR:
            return _binary_formula(cursor, scope)
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
    if is_float_type(inside[0].type) and _has_whole_type(cursor):
        return f"int({text})"
    return f"float({text})" if is_float_type(cursor.type) and _has_whole_type(inside[0]) else text


def _has_whole_type(cursor: Cursor) -> bool:
    kind = cursor.type.get_canonical().kind
    return kind in WHOLE


def _binary_formula(cursor: Cursor, scope: HostScope) -> str:
    operator = _OPERATORS.get(binary_operator(cursor))
    if operator is None:
        raise UnreadError(f"{scope.program.texts.text(cursor)} isn't arithmetic", cursor)
    left, right = (formula(each, scope) for each in inner_parts(cursor)[:2])
    return f"({left} {operator} {right})"


def _conditional(cursor: Cursor, scope: HostScope) -> str:
    condition, yes, no = inner_parts(cursor)
    test = formula(condition, scope)
    decided = fixed_value(test)
    if decided is not None:
        return formula(yes if decided else no, scope)
    return f"({formula(yes, scope)} if {test} else {formula(no, scope)})"


def _call(cursor: Cursor, scope: HostScope) -> str:
    given = arguments(cursor)
    helper = helper_of(cursor, scope)
    if helper is not None and helper.returns and not scope.is_deep:
        try:
            return _returned_value(helper, scope_inside(helper, cursor, scope))
        except UnreadError:
            value = evaluated(cursor)
            if value is None:
                raise
            return repr(value)
    if cursor.spelling in _FORMULA_FUNCTIONS and given:
        listed = inner_parts(unwrapped(given[0]))
        given = listed if len(given) == 1 and unwrapped(given[0]).kind == CursorKind.INIT_LIST_EXPR else given
        return f"{_FORMULA_FUNCTIONS[cursor.spelling]}({', '.join(formula(each, scope) for each in given)})"
    operator = _OPERATORS.get(_operator_of(cursor))
    if operator is not None:
        left, right = (formula(each, scope) for each in inner_parts(cursor)[::2])
        return f"({left} {operator} {right})"
    if len(given) == 1 and _is_constructor(cursor):
        return formula(given[0], scope)
    value = evaluated(cursor)
    if value is not None:
        return repr(value)
    raise UnreadError(f"{scope.program.texts.text(cursor)} isn't known before the program runs", cursor)


def _operator_of(call: Cursor) -> str:
    """The operator of ``a / b`` in a template, which libclang takes for a call while the types aren't known; "" of a call."""
    parts = inner_parts(call)
    named = next(iter(parts[1].get_children()), None) if len(parts) == 3 and parts[1].kind == CursorKind.DECL_REF_EXPR else None
    is_open = named is not None and named.kind == CursorKind.OVERLOADED_DECL_REF
    return named.spelling.removeprefix("operator") if named is not None and is_open else ""


def _returned_value(helper: HostFunction, inside: HostScope) -> str:
    """The value that a helper returns: of several, the first one whose conditions hold."""
    text = ""
    for value, at in reversed(helper.returns):
        there = structs.replace(inside, at=at)
        conditions = [condition_formula(each, there) for each in at.branches]
        if value is None:
            raise UnreadError(f"{helper.name} returns no number", helper.cursor)
        own = formula(value, there)
        text = f"({own} if {' and '.join(conditions)} else {text or own})" if conditions else own
    return text


def condition_formula(branch: Branch, scope: HostScope) -> str:
    """The condition under which an arm runs. Raises UnreadError if it isn't arithmetic."""
    subject, values = branch.subject, branch.values
    compared_with = subject or branch.condition
    if compared_with is None:
        raise UnreadError("a loop changes it", scope.program.unit.tree.cursor)
    start = compared_with.extent.start.offset
    outer = scope.at.branches[: scope.at.branches.index(branch)] if branch in scope.at.branches else ()
    there = structs.replace(scope, at=At(start, outer))
    text = compared = formula(compared_with, there)
    if subject is not None:
        text = " or ".join(f"({compared} == {formula(each, there)})" for each in values) or "0"
        text = text if len(values) == 1 else f"({text})"
    return f"(not {text})" if branch.arm else text


def is_taken(branch: Branch, scope: HostScope) -> bool | None:
    """Whether an arm of a condition around the position runs, whatever the command line says; None if that isn't known."""
    inner = structs.replace(scope.fresh(), is_strict=True, doubts=[], depth=scope.depth + 1)
    try:
        value = inner.value(condition_formula(branch, inner))
    except UnreadError:
        return None
    return None if value is None else bool(value)


def _is_constructor(cursor: Cursor) -> bool:
    declaration = cursor.referenced
    return declaration is None or declaration.kind == CursorKind.CONSTRUCTOR


def helper_of(call: Cursor, scope: HostScope) -> HostFunction | None:
    """The function of the project, or the lambda, that a call goes to."""
    return scope.program.helper(call)


def scope_inside(helper: HostFunction, call: Cursor, scope: HostScope) -> HostScope:
    """A scope inside a helper, its parameters replaced by the formulas of the arguments of a call."""
    values, target = dict(scope.inlined), callee(call)
    inside = inner_parts(target) if target is not None and target.kind == CursorKind.MEMBER_REF_EXPR else []
    owner = variable_of(inside[0]) if inside else None
    for parameter, argument in zip(helper.parameters, arguments(call), strict=False):
        inner = scope.fresh()
        try:
            values[key_of(parameter)] = formula(argument, inner), inner.names
        except UnreadError:
            continue
    at = At(helper.cursor.extent.end.offset)
    whole = scope.whole if owner is None else (owner, scope)
    return structs.replace(scope, function=helper, at=at, inlined=values, whole=whole, depth=scope.depth + 1)


def _named_value(cursor: Cursor, scope: HostScope) -> str:
    declaration = cursor.referenced
    if declaration is not None and declaration.kind == CursorKind.ENUM_CONSTANT_DECL:
        if _is_of_template(declaration):
            raise UnreadError(f"{cursor.spelling} has another value for each type", cursor)
        return scope.use(cursor.spelling, "global", declaration.enum_value)
    if declaration is not None and declaration.kind == CursorKind.TEMPLATE_NON_TYPE_PARAMETER:
        return _template_value(cursor, scope)
    variable = variable_of(cursor) or _indexed_element(cursor, scope)
    if variable is None:
        raise UnreadError(f"{scope.program.texts.text(cursor)} isn't a name", cursor)
    if variable.name == "argc" and variable.declaration.kind == CursorKind.PARM_DECL:
        if scope.is_strict:
            raise UnreadError("the command line chooses", cursor)
        return "1"
    if variable.key in scope.inlined and not variable.member:
        return scope.adopt(*scope.inlined[variable.key])
    return variable_formula(variable, scope)


def _is_of_template(declaration: Cursor) -> bool:
    """Whether a declaration stands in a class template that isn't instantiated."""
    outer = declaration.semantic_parent
    while outer is not None and outer.kind not in (CursorKind.CLASS_TEMPLATE, CursorKind.TRANSLATION_UNIT):
        outer = outer.semantic_parent
    return outer is not None and outer.kind == CursorKind.CLASS_TEMPLATE


def _indexed_element(cursor: Cursor, scope: HostScope) -> HostVariable | None:
    """The element of an array whose index has a value."""
    if cursor.kind != CursorKind.ARRAY_SUBSCRIPT_EXPR:
        return None
    base, index = inner_parts(cursor)
    variable, inner = variable_of(base), scope.fresh()
    value = inner.value(formula(index, inner))
    return None if variable is None or value is None else structs.replace(variable, member=str(int(value)))


def _template_value(cursor: Cursor, scope: HostScope) -> str:
    given = scope.types.get(cursor.spelling, "")
    value = scope.value(given) if given else None
    return scope.use(cursor.spelling, "template", value)


def variable_formula(variable: HostVariable, scope: HostScope) -> str:
    """The formula of a variable: what it is set to if that is clear and more than a number, else its name."""
    passed, everywhere = scope.argument(variable.key), scope.settings(variable.key)
    settings = relevant(everywhere, variable, scope.at)
    is_member = variable.declaration.kind == CursorKind.FIELD_DECL and all(each.at.offset == 0 for each in settings)
    if scope.whole is not None and is_member and not scope.is_deep:
        whole, there = scope.whole
        there = structs.replace(there, names=scope.names, doubts=scope.doubts, depth=scope.depth + 1, is_strict=scope.is_strict)
        return variable_formula(whole.part(variable.name).part(variable.member), there)
    if scope.is_strict and any(is_next(each, scope.at) for each in everywhere if variable.is_in(each.member)):
        raise UnreadError(f"{variable.spelled} changes", variable.declaration)
    if passed is not None and scope.caller is not None and not settings:
        return _passed_formula(variable, passed, structs.replace(scope.caller.fresh(), is_strict=scope.is_strict), scope)
    if scope.caller is not None and is_outside(variable) and all(each.at.offset == 0 for each in settings):
        return variable_formula(variable, structs.replace(scope.caller, names=scope.names, doubts=scope.doubts))
    if settings and not scope.is_deep:
        return _followed(variable, settings, scope)
    return kept(variable, None, scope)


def _passed_formula(variable: HostVariable, passed: Cursor, outside: HostScope, scope: HostScope) -> str:
    """A parameter's name with the value that the caller passes, or what the caller computes it from, if that is passed too."""
    value, inner = None, variable_of(passed)
    try:
        if not variable.member:
            text = formula(passed, outside)
            own = in_own_names(text, outside, scope) if outside.names and not text.isidentifier() else None
            if own is not None:
                return own
            value = outside.value(text)
        elif inner is not None:
            value = outside.value(variable_formula(inner.part(variable.member), outside))
    except UnreadError:
        if scope.is_strict:
            raise
    return scope.use(variable.spelled, "parameter", value)


def _followed(variable: HostVariable, settings: list[VariableSetting], scope: HostScope) -> str:
    """The formula of a variable that is set; its name with the value if that is a number."""
    inner = structs.replace(scope.fresh(), depth=scope.depth + 1)
    try:
        text = folded(variable, settings, inner, lambda each, there: setting_formula(variable, each, there))
    except UnreadError:
        if scope.is_strict:
            raise
        return kept(variable, host_constant(variable), scope)
    if not inner.names and variable.member and is_dim3(variable.declaration):
        return text
    if not inner.names:
        return kept(variable, inner.value(text), scope)
    return scope.adopt(text, inner.names)


def folded(
    variable: HostVariable,
    settings: list[VariableSetting],
    scope: HostScope,
    read: Callable[[VariableSetting, HostScope], str],
) -> str:
    """What settings, one after the other, leave in a variable. Conditions that the sizes decide become part of the formula;
    one that can't be read is taken as not met, which is noted as a doubt unless only the command line could meet it.
    Raises UnreadError.
    """
    text = ""
    for each in settings:
        there, known = structs.replace(scope, at=each.at), dict(scope.names)
        try:
            condition = " and ".join(condition_formula(branch, there) for branch in open_branches(each, scope.at))
        except UnreadError as error:
            if scope.is_strict or (each.change is not None and any(branch.is_loop for branch in each.at.branches)):
                raise
            try:
                own = _changed_formula(text, each, there) if each.change is not None else read(each, there)
            except UnreadError:
                continue  # both are known to the running program only
            if own != text:
                scope.doubts.append(UnreadError(f"{variable.spelled} is set where {error.reason}", variable.declaration))
                text = text or own
            continue
        decided = fixed_value(condition) if condition else 1
        if decided is not None and not decided:
            continue
        try:
            own = _changed_formula(text, each, there) if each.change is not None else read(each, there)
        except UnreadError:
            if not condition or decided or scope.is_strict or scope.value(condition) != 0:
                raise
            scope.names.clear()
            scope.names.update(known)
            continue
        text = own if not condition or decided or not text else f"({own} if {condition} else {text})"
    if not text:
        raise UnreadError(f"{variable.spelled} isn't set where it can be read", variable.declaration)
    return text


def _changed_formula(text: str, setting: VariableSetting, scope: HostScope) -> str:
    """The formula behind ``+=`` and similar, ``++`` or ``--``."""
    assert setting.change is not None
    if setting.change.kind == CursorKind.UNARY_OPERATOR:
        operator, operand = unary_operator(setting.change).strip("x")[:1], "1"
    else:
        operator, operand = binary_operator(setting.change)[:-1], formula(inner_parts(setting.change)[1], scope)
    if not text or operator not in _SAME:
        raise UnreadError("it changes in a way that isn't arithmetic", setting.change)
    return f"({text} {operator} {operand})"


def setting_formula(variable: HostVariable, setting: VariableSetting, scope: HostScope) -> str:
    """What a setting gives a variable, or one member or element of it."""
    value = setting.value
    if setting.inner is not None:
        return variable_formula(inner_variable(variable, setting), call_scope(setting, scope))
    if value is None:
        raise UnreadError(f"{variable.spelled} changes", variable.declaration)
    rest = variable.rest(setting.member)
    return part_formula(variable, rest, value, scope) if rest else formula(value, scope)


def part_formula(variable: HostVariable, rest: str, value: Cursor, scope: HostScope) -> str:
    """The formula of one member or element, ``rest``, of what a variable is set to."""
    source, there = copied_host_value(value, scope)
    inner = variable_of(source)
    if inner is not None:
        return variable_formula(inner.part(rest), there)
    if source.kind == CursorKind.CALL_EXPR and is_dim3(source):
        return _axis_of(arguments(source), "xyz".index(rest), there)
    maker = helper_of(source, there) if source.kind == CursorKind.CALL_EXPR and not there.is_deep else None
    if maker is not None:
        name, _, inside = rest.partition(".")
        for field in maker.variables.values():
            if field.kind == CursorKind.FIELD_DECL and field.spelling == name:
                return _made_member(HostVariable(key_of(field), inside, name, field), scope_inside(maker, source, there))
    return formula(member_value(variable, rest, source), there)


def _made_member(member: HostVariable, scope: HostScope) -> str:
    """The formula that a constructor gives a member."""
    settings = relevant(scope.settings(member.key), member, scope.at)
    return folded(member, settings, scope, lambda each, there: setting_formula(member, each, there))


def copied_host_value(value: Cursor, scope: HostScope) -> tuple[Cursor, HostScope]:
    """The expression that a struct is copied from, or that the function which makes it returns, and its scope."""
    value = uncast(value)
    while value.kind == CursorKind.CALL_EXPR:
        given = arguments(value)
        helper = helper_of(value, scope)
        if helper is not None and len(helper.returns) == 1 and helper.returns[0][0] is not None and not scope.is_deep:
            returned, at = helper.returns[0]
            value, scope = uncast(returned), structs.replace(scope_inside(helper, value, scope), at=at)
        elif len(given) == 1 and is_record(given[0].type):
            value = uncast(given[0])
        else:
            break
    return value, scope


def call_scope(setting: VariableSetting, scope: HostScope) -> HostScope:
    """The scope at the end of the function whose call sets a variable."""
    call = next((each.cursor for each in scope.calls if each.at == setting.at), None)
    helper = helper_of(call, scope) if call is not None else None
    if call is None or helper is None or scope.is_deep:
        raise UnreadError("a call that can't be followed sets it", call or scope.function.cursor)  # type: ignore[union-attr]
    return scope_inside(helper, call, scope)


def _axis_of(given: list[Cursor], position: int, scope: HostScope) -> str:
    """One extent of ``dim3(x, y, z)``; those not written are 1."""
    return formula(given[position], scope) if position < len(given) else "1"
