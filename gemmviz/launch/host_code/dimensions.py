"""Extents of grids and blocks: dim3 values to three formulas."""

from dataclasses import replace

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
from gemmviz.launch.host_code.expressions import formula, helper_of, scope_inside, setting_formula
from gemmviz.launch.host_code.functions import VariableSetting
from gemmviz.launch.host_code.scope import HostScope, is_sure, relevant

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
    if helper is not None and len(helper.returns) == 1 and not scope.is_deep:
        return launch_extents(helper.returns[0], scope_inside(helper, arguments(cursor), scope))
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
    """One extent of a dim3 variable: the last setting of it that counts here."""
    member = f"{variable.member}_{axis}" if variable.member else axis
    settings = relevant(_whole_first(variable, scope), member, scope.at)
    settings = settings or [each for each in scope.settings(variable.key) if each.member == variable.member]
    argument = scope.argument(variable.key)
    if not settings and argument is not None and scope.caller is not None:
        return _passed(variable, axis, argument, scope)
    for each in reversed(settings):
        if each.value is None:
            continue
        there = scope if is_sure(each, scope.at) else replace(scope, at=each.at)  # a condition may set several in a row
        if each.member == member:
            return setting_formula(HostVariable(variable.key, member, variable.name, variable.declaration), each, there)
        return launch_extents(each.value, there)[AXES.index(axis)]
    raise UnreadError(f"{variable.spelled} isn't set where it can be read", variable.declaration)


def _whole_first(variable: HostVariable, scope: HostScope) -> list[VariableSetting]:
    """Settings with those of all of the variable named as if they set each member."""
    return [
        VariableSetting("", each.value, each.at) if each.member == variable.member else each
        for each in scope.settings(variable.key)
    ]


def _passed(variable: HostVariable, axis: str, argument: Cursor, scope: HostScope) -> str:
    """A parameter's extent: a name of the function with the value that the caller passes."""
    assert scope.caller is not None
    outside = scope.caller.fresh()
    value = outside.value(launch_extents(argument, outside)[AXES.index(axis)])
    return scope.use(f"{variable.spelled}_{axis}", "parameter", value)
