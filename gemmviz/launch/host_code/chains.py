"""Chains of calls that lead to a launch: which kernel, template arguments and values they choose."""

import re
from collections.abc import Iterator, Mapping

from clang.cindex import Cursor, CursorKind, TemplateArgumentKind, Type, TypeKind, conf
from msgspec import Struct

from gemmviz.launch.host_code.cursors import UnreadError, arguments, uncast, variable_of
from gemmviz.launch.host_code.expressions import formula, is_taken
from gemmviz.launch.host_code.functions import At, Branch, HostFunction, place_key, qualified_name, referenced_function
from gemmviz.launch.host_code.scope import HostProgram, HostScope
from gemmviz.model.records import replace

_USUAL = {CursorKind.TEMPLATE_TYPE_PARAMETER: "float", CursorKind.TEMPLATE_NON_TYPE_PARAMETER: "16"}
_MOST_SCOPES = 64  # calls of one function that are told apart


class Target(Struct, frozen=True):
    """A kernel with its template arguments and the types of its parameters."""

    kernel: str
    arguments: tuple[str, ...]
    parameter_types: tuple[Type, ...]


def scopes_of(function: HostFunction, at: At, program: HostProgram, depth: int = 0) -> Iterator[HostScope]:
    """Scopes of a position in a function: one for each call of the function, or one without if nobody calls it."""
    count = 0
    for each in program.calls_of(function) if depth < 8 else ():
        for outside in scopes_of(each.caller, each.call.at, program, depth + 1):
            count += 1
            if count > _MOST_SCOPES:
                return
            types = _types(function, template_arguments(each.target, outside))
            yield HostScope(program, function, at, outside, tuple(arguments(each.call.cursor)), types, depth=depth)
            break
    if not count:
        for types in _instantiations(function, program):
            missing = [each for each in function.template_parameters if each.spelling and each.spelling not in types]
            usual = {each.spelling: _USUAL[each.kind] for each in missing if each.kind in _USUAL}
            yield HostScope(program, function, at, types={**types, **usual}, assumed=tuple(usual), depth=depth)


def never_reached(scope: HostScope) -> UnreadError | None:
    """Why a position is never reached: a condition around it, or around a call that leads to it, or a return in front of it."""
    while True:
        for each in scope.at.branches:
            if is_taken(each, scope) is False:
                return UnreadError(f"it isn't made: {condition_text(each, scope)} is false", each.condition or each.subject)
        for value, at in scope.function.returns if scope.function is not None else ():
            is_before = (at.offset if value is None else value.extent.end.offset) < scope.at.offset
            if is_before and all(is_taken(each, replace(scope, at=at)) for each in at.branches):
                return UnreadError("it isn't made: the function returns in front of it", value)
        if scope.caller is None:
            return None
        scope = scope.caller


def condition_text(branch: Branch, scope: HostScope) -> str:
    """The condition under which an arm runs, as written."""
    texts = scope.program.texts
    if branch.subject is not None:
        return f"{texts.text(branch.subject)} == {' or '.join(texts.text(each) for each in branch.values)}"
    text = texts.text(branch.condition) if branch.condition is not None else ""
    return f"!({text})" if branch.arm else text


def _instantiations(function: HostFunction, program: HostProgram) -> Iterator[Mapping[str, str]]:
    """Template arguments of a function that nobody calls: those of explicit instantiations, else its defaults."""
    name = re.escape(function.name.rpartition("::")[2])
    explicit = re.compile(rf"\btemplate\s+(?!<)[^;{{}}()=]*?\b{name}\s*<([^;{{}}()]*)>\s*\(")
    texts = program.unit.source.files.values() if function.template_parameters else ()
    given = dict.fromkeys(tuple(map(str.strip, split(match[1]))) for text in texts for match in explicit.finditer(text))
    yield from [_types(function, each) for each in given] or [_types(function, ())]


def _types(function: HostFunction, given: tuple[str, ...]) -> Mapping[str, str]:
    """Arguments by the names of the template parameters; defaults for those that aren't given."""
    defaults = {each.spelling: function.default(each) for each in function.template_parameters}
    known = {each.spelling: text for each, text in zip(function.template_parameters, given, strict=False)}
    return {name: text for name, text in {**defaults, **known}.items() if text}


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


def deduced(target: Target, reference: Cursor, given: tuple[Cursor, ...], scope: HostScope) -> Target:
    """A kernel template that is launched without template arguments inside another template, with its arguments' types."""
    kernel = referenced_function(_named(reference))
    if target.arguments or kernel is None or kernel.kind != CursorKind.FUNCTION_TEMPLATE:
        return target
    types: dict[str, str] = {}
    for parameter, argument in zip(target.parameter_types, given, strict=False):
        own, passed = (_bare(each.spelling) for each in (parameter, argument.type))
        types.setdefault(own, _substituted(passed, scope))
    names = [each.spelling for each in kernel.get_children() if each.kind == CursorKind.TEMPLATE_TYPE_PARAMETER]
    return replace(target, arguments=tuple(types[each] for each in names)) if names and types.keys() >= {*names} else target


def _bare(type_: str) -> str:
    """A type without const, references and pointers."""
    return " ".join(re.sub(r"\b(?:const|__restrict(?:__)?)\b|[*&]", " ", type_).split())


def template_arguments(reference: Cursor, scope: HostScope) -> tuple[str, ...]:
    """Template arguments of a reference to a function: those the compiler knows, else as written with those of the scope."""
    function = reference.referenced
    count = function.get_num_template_arguments() if function is not None else -1
    if function is None or count <= 0:
        return _written_arguments(reference, scope)
    values = [each for each in reference.get_children() if each.kind.is_expression()]
    try:
        kinds = [function.get_template_argument_kind(number) for number in range(count)]
    except ValueError:  # a pack, which the bindings don't know
        return _written_arguments(reference, scope)
    texts: list[str] = []
    for number, kind in enumerate(kinds):
        if kind == TemplateArgumentKind.INTEGRAL:
            value = function.get_template_argument_value(number)
            value = abs(value) if _is_bool(function, number) else value  # true is a one-bit -1
            texts.append(_as_written(values.pop(0), value, scope) if values else str(value))
        else:
            texts.append(function.get_template_argument_type(number).spelling)
    return tuple(texts)


def _is_bool(function: Cursor, number: int) -> bool:
    """Whether a parameter of the template that a function is made from is a bool."""
    template = conf.lib.clang_getSpecializedCursorTemplate(function)
    own = [each for each in template.get_children() if each.kind.name.startswith("TEMPLATE_")] if template is not None else []
    return number < len(own) and own[number].type.kind == TypeKind.BOOL


def _as_written(cursor: Cursor, value: int, scope: HostScope) -> str:
    """The formula of a template argument, if it gives the value that the compiler gives it; a constant of an enumeration by its
    whole name.
    """
    if cursor.type.get_canonical().kind == TypeKind.ENUM and cursor.referenced is not None:
        return qualified_name(cursor.referenced) if cursor.referenced.kind == CursorKind.ENUM_CONSTANT_DECL else str(value)
    inner = scope.fresh()
    try:
        text = formula(cursor, inner)
    except UnreadError:
        return str(value)
    return scope.adopt(text, inner.names) if inner.value(text) == value else str(value)


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
