"""Values of host variables that need no expression: constants, members of initialised structs, and names that stay."""

from clang.cindex import Cursor, CursorKind

from gemmviz.launch.formula import formula_value
from gemmviz.launch.host_code.cursors import (
    HostVariable,
    UnreadError,
    initialiser,
    inner_parts,
    is_record,
    unwrapped,
    variable_of,
)
from gemmviz.launch.host_code.functions import VariableSetting
from gemmviz.launch.host_code.scope import HostScope
from gemmviz.launch.words import renamed
from gemmviz.model.errors import GemmvizError
from gemmviz.model.outline import HostNameKind
from gemmviz.parser.operators import evaluated

_REFERRED = frozenset({CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.FIELD_DECL})


def fixed_value(text: str) -> float | None:
    """The value of a formula without names; None if it has names."""
    try:
        return formula_value(text, {})
    except GemmvizError:
        return None


def in_own_names(text: str, outside: HostScope, scope: HostScope) -> str | None:
    """A caller's formula if all its names mean the same to the function that launches."""
    if scope.function is None:
        return None
    names: dict[str, str] = {}
    for parameter, argument in zip(scope.function.parameters, scope.passed, strict=False):
        variable = variable_of(argument)
        if variable is not None:  # of two parameters for one name, neither is meant for sure
            names[variable.spelled] = "" if variable.spelled in names else parameter.spelling
    for name in outside.names.values():
        if name.kind in ("macro", "global"):
            scope.use(name.name, name.kind, name.value)
        elif not names.get(name.name):
            return None
        else:
            scope.use(names[name.name], "parameter", name.value)
    return renamed(text, names)


def is_outside(variable: HostVariable) -> bool:
    """Whether a variable is one of the file, which the callers may set."""
    parent = variable.declaration.semantic_parent
    is_variable = variable.declaration.kind == CursorKind.VAR_DECL and not variable.declaration.type.is_const_qualified()
    return is_variable and parent is not None and (parent.kind.is_translation_unit() or parent.kind == CursorKind.NAMESPACE)


def inner_variable(variable: HostVariable, setting: VariableSetting) -> HostVariable:
    """The variable of a called function that stands for a variable which the call sets."""
    assert setting.inner is not None
    return setting.inner.part(variable.rest(setting.member))


def is_dim3(cursor: Cursor) -> bool:
    return bool(cursor.type.get_canonical().spelling.removeprefix("const ") == "dim3")


def member_value(variable: HostVariable, rest: str, value: Cursor) -> Cursor:
    """The expression of one member or element in the value of a whole struct or array."""
    value, type_ = unwrapped(value), variable.declaration.type.get_canonical()
    if value.kind == CursorKind.INIT_LIST_EXPR:
        inside = inner_parts(value)
        names = [each.spelling for each in (value.type.get_canonical() if is_record(value.type) else type_).get_fields()]
        position = names.index(rest) if rest in names else host_number(rest)
        if 0 <= position < len(inside):
            return inside[position]
    default = default_of(variable)
    if default is not None:
        return default
    raise UnreadError(f"{variable.spelled} isn't set here", variable.declaration)


def default_of(variable: HostVariable) -> Cursor | None:
    """The initialiser of a member in its struct."""
    fields = variable.declaration.type.get_canonical().get_fields()
    return next((initialiser(each) for each in fields if each.spelling == variable.member), None)


def host_number(text: str) -> int:
    return int(text) if text.isdigit() else -1


def kept(variable: HostVariable, value: float | None, scope: HostScope) -> str:
    if variable.declaration.kind not in _REFERRED:
        raise UnreadError(f"{variable.spelled} isn't a variable", variable.declaration)
    return scope.use(variable.spelled, name_kind(variable, scope), host_constant(variable) if value is None else value)


def host_constant(variable: HostVariable) -> float | None:
    """The value of a constant, or of a member's initialiser, where the compiler knows it."""
    if variable.member:
        default = default_of(variable)
        return None if default is None else evaluated(default)
    if not variable.declaration.type.is_const_qualified():
        default = initialiser(variable.declaration) if variable.declaration.kind == CursorKind.FIELD_DECL else None
        return None if default is None else evaluated(default)
    return evaluated(variable.declaration)


def name_kind(variable: HostVariable, scope: HostScope) -> HostNameKind:
    if variable.member or variable.declaration.kind == CursorKind.FIELD_DECL:
        return "member"
    if scope.is_parameter(variable.key) or variable.declaration.kind == CursorKind.PARM_DECL:
        return "parameter"
    return "global" if variable.key in scope.program.constants else "local"
