"""Chains of calls that lead to a launch: which kernel, template arguments and values they choose."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clang.cindex import Cursor, CursorKind, TemplateArgumentKind, Type

from gemmviz.launch.host_code.cursors import UnreadError, arguments, callee, uncast, variable_of
from gemmviz.launch.host_code.expressions import formula
from gemmviz.launch.host_code.functions import At, HostFunction, called_function, place_key, qualified_name, referenced_function
from gemmviz.launch.host_code.scope import HostProgram, HostScope

_MOST_SCOPES = 64  # calls of one function that are told apart


@dataclass(frozen=True, slots=True)
class Target:
    """A kernel with its template arguments and the types of its parameters."""

    kernel: str
    arguments: tuple[str, ...]
    parameter_types: tuple[Type, ...]


def scopes_of(function: HostFunction, at: At, program: HostProgram, depth: int = 0) -> Iterator[HostScope]:
    """Scopes of a position in a function: one for each call of the function, or one without if nobody calls it."""
    count = 0
    for caller in program.functions.values() if depth < 8 else ():
        if caller is function:
            continue
        for call in caller.calls:
            target, called = callee(call.cursor), called_function(call.cursor)
            if target is None or called is None or program.function(called) is not function:
                continue
            for outside in scopes_of(caller, call.at, program, depth + 1):
                count += 1
                if count > _MOST_SCOPES:
                    return
                types = _types(function, template_arguments(target, outside))
                yield HostScope(program, function, at, outside, tuple(arguments(call.cursor)), types, depth=depth)
                break
    if not count:
        yield HostScope(program, function, at, depth=depth)


def _types(function: HostFunction, given: tuple[str, ...]) -> Mapping[str, str]:
    return {each.spelling: text for each, text in zip(function.template_parameters, given, strict=False)}


def launched_kernel(cursor: Cursor, scope: HostScope) -> Target | None:
    """The kernel that an expression means, followed through function pointers and callers; None if it is no kernel."""
    cursor = _named(cursor)
    kernel = referenced_function(cursor)
    if kernel is not None:
        definition = kernel.get_definition() or kernel
        name = scope.program.kernels.get(place_key(definition)) or scope.program.kernels.get(place_key(kernel))
        if name is None and qualified_name(kernel) not in scope.program.kernel_names:
            return None
        types = tuple(each.type for each in kernel.get_arguments() if each is not None) or _template_types(kernel)
        return Target(name or qualified_name(kernel), template_arguments(cursor, scope), types)
    variable = variable_of(cursor)
    if variable is None:
        return None
    passed = scope.argument(variable.key)
    if passed is not None and scope.caller is not None:
        return launched_kernel(passed, scope.caller)
    for each in reversed(scope.settings(variable.key)):
        if each.value is not None and each.member == variable.member and uncast(each.value) != cursor:
            return launched_kernel(each.value, scope)
    return None


def _named(cursor: Cursor) -> Cursor:
    """The reference inside casts and ``&``; a template's reference as a whole."""
    cursor = uncast(cursor)
    while cursor.kind == CursorKind.UNARY_OPERATOR:
        cursor = uncast(next(iter(cursor.get_children())))
    return cursor


def _template_types(kernel: Cursor) -> tuple[Type, ...]:
    return tuple(each.type for each in kernel.get_children() if each.kind == CursorKind.PARM_DECL)


def template_arguments(reference: Cursor, scope: HostScope) -> tuple[str, ...]:
    """Template arguments of a reference to a function: those the compiler knows, else as written with those of the scope."""
    function = reference.referenced
    count = function.get_num_template_arguments() if function is not None else -1
    if function is None or count <= 0:
        return _written_arguments(reference, scope)
    values = [each for each in reference.get_children() if each.kind.is_expression()]
    kinds = [function.get_template_argument_kind(number) for number in range(count)]
    texts: list[str] = []
    for number, kind in enumerate(kinds):
        if kind == TemplateArgumentKind.INTEGRAL:
            value = function.get_template_argument_value(number)
            texts.append(_as_written(values.pop(0), value, scope) if values else str(value))
        else:
            texts.append(function.get_template_argument_type(number).spelling)
    return tuple(texts)


def _as_written(cursor: Cursor, value: int, scope: HostScope) -> str:
    """The formula of a template argument, if it gives the value that the compiler gives it."""
    inner = scope.fresh()
    try:
        text = formula(cursor, inner)
    except UnreadError:
        return str(value)
    if inner.value(text) != value:
        return str(value)
    for each in inner.names.values():
        scope.use(each.name, each.kind, each.value)
    return text


def _written_arguments(reference: Cursor, scope: HostScope) -> tuple[str, ...]:
    text = scope.program.texts.text(reference)
    if "<" not in text or not text.endswith(">"):
        return ()
    return tuple(_substituted(each.strip(), scope) for each in split(text[text.index("<") + 1 : -1]))


def _substituted(text: str, scope: HostScope) -> str:
    """A template argument as written in a template, with the arguments of that template put in."""
    text = re.sub(r"[A-Za-z_]\w*", lambda match: scope.types.get(match[0], match[0]), text)
    value = scope.value(text)
    return text if value is None else str(value)


def split(text: str) -> list[str]:
    """Parts between the commas that stand in no brackets."""
    found, depth, start = [], 0, 0
    for number, letter in enumerate(text):
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and not depth:
            found.append(text[start:number])
            start = number + 1
    return [*found, text[start:]] if text.strip() else []
