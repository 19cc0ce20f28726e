"""Extents of grids and blocks: dim3 values to three formulas."""

from clang.cindex import Cursor, CursorKind

from gemmviz.launch.host_code.cursors import (
    CAST_KINDS,
    HostVariable,
    UnreadError,
    arguments,
    inner_parts,
    is_record,
    unwrapped,
    variable_of,
)
from gemmviz.launch.host_code.expressions import (
    call_scope,
    copied_host_value,
    folded,
    formula,
    helper_of,
    setting_formula,
)
from gemmviz.launch.host_code.functions import VariableSetting
from gemmviz.launch.host_code.scope import HostScope, relevant
from gemmviz.launch.host_code.values import in_own_names, inner_variable, is_outside, member_value
from gemmviz.model.records import replace

AXES = ("x", "y", "z")


def launch_extents(cursor: Cursor, scope: HostScope) -> tuple[str, str, str]:
    """The x, y and z of a grid or block. Raises UnreadError if they aren't arithmetic."""
    cursor = unwrapped(cursor)
    if cursor.kind in CAST_KINDS and is_record(cursor.type):
        return launch_extents(inner_parts(cursor)[-1], scope)
    if not is_record(cursor.type) and cursor.kind not in (CursorKind.INIT_LIST_EXPR, CursorKind.VAR_DECL):
        dependent = variable_of(cursor)
        if dependent is None or not is_record(dependent.declaration.type):
            return formula(cursor, scope), "1", "1"
    match cursor.kind:
        case CursorKind.INIT_LIST_EXPR | CursorKind.VAR_DECL | CursorKind.UNEXPOSED_EXPR:
            return _axes([each for each in inner_parts(cursor) if each.kind.is_expression()], scope)
        case CursorKind.CONDITIONAL_OPERATOR:
            condition, yes, no = inner_parts(cursor)
            test, several = formula(condition, scope), zip(launch_extents(yes, scope), launch_extents(no, scope), strict=True)
            x, y, z = (a if a == b else f"({a} if {test} else {b})" for a, b in several)
            return x, y, z
        case CursorKind.CALL_EXPR:
            return _called(cursor, scope)
    variable = variable_of(cursor)
    if variable is None:
        raise UnreadError(f"{scope.program.texts.text(cursor) or 'this'} isn't a size of threads or blocks", cursor)
    x, y, z = (_axis(variable, axis, scope) for axis in AXES)
    return x, y, z


def _called(cursor: Cursor, scope: HostScope) -> tuple[str, str, str]:
    helper = helper_of(cursor, scope)
    if helper is not None:
        source, there = copied_host_value(cursor, scope)
        if source != cursor:
            return launch_extents(source, there)
    given = arguments(cursor)
    if cursor.referenced is not None and cursor.referenced.kind != CursorKind.CONSTRUCTOR:
        raise UnreadError(f"{scope.program.texts.text(cursor)} isn't known before the program runs", cursor)
    if len(given) == 1 and is_record(unwrapped(given[0]).type):
        return launch_extents(given[0], scope)
    return _axes(given, scope)


def _axes(given: list[Cursor], scope: HostScope) -> tuple[str, str, str]:
    if len(given) == 1 and is_record(unwrapped(given[0]).type):
        return launch_extents(given[0], scope)
    texts = [formula(each, scope) for each in given[:3]] + ["1"] * 3
    return texts[0], texts[1], texts[2]


def _axis(variable: HostVariable, axis: str, scope: HostScope) -> str:
    """One extent of a dim3 variable: what its settings, in order, leave in it."""
    part = variable.part(axis)
    everywhere, argument = scope.settings(variable.key), scope.argument(variable.key)
    settings = relevant(everywhere, part, scope.at)
    if not settings and argument is not None and scope.caller is not None:
        return _passed(variable, axis, argument, scope)
    if scope.caller is not None and is_outside(variable) and all(each.at.offset == 0 for each in settings):
        return _axis(variable, axis, replace(scope.caller, names=scope.names, doubts=scope.doubts))

    def read(setting: VariableSetting, there: HostScope) -> str:
        if setting.inner is not None:
            inner = inner_variable(part, setting)
            whole = replace(inner, member=inner.member.removesuffix(axis).removesuffix("."))
            return _axis(whole, axis, call_scope(setting, there))
        if setting.value is None or setting.member == part.member:
            return setting_formula(part, setting, there)
        return _extent(variable, variable.rest(setting.member), setting.value, AXES.index(axis), there)

    return folded(part, settings, replace(scope, depth=scope.depth + 1), read)


def _extent(variable: HostVariable, rest: str, value: Cursor, axis: int, scope: HostScope) -> str:
    """One extent of the dim3 that is the member ``rest`` of a value."""
    if not rest:
        return launch_extents(value, scope)[axis]
    source, there = copied_host_value(value, scope)
    inner = variable_of(source)
    if inner is not None:
        return _axis(inner.part(rest), AXES[axis], there)
    return launch_extents(member_value(variable, rest, source), there)[axis]


def _passed(variable: HostVariable, axis: str, argument: Cursor, scope: HostScope) -> str:
    """A parameter's extent: a name of the function with the value that the caller passes."""
    assert scope.caller is not None
    outside = scope.caller.fresh()
    text = launch_extents(argument, outside)[AXES.index(axis)]
    own = in_own_names(text, outside, scope) if outside.names else None
    return own or scope.use(f"{variable.spelled}_{axis}", "parameter", outside.value(text))
