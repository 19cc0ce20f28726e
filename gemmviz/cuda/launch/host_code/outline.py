"""A parsed unit to its outline: the kernels of the project's files and their launches."""

from collections import defaultdict

from clang.cindex import Cursor, CursorKind, Type, TypeKind

from gemmviz.cuda.launch.host_code.cursors import Key, WrittenText, initialiser, key_of
from gemmviz.cuda.launch.host_code.functions import (
    At,
    HostFunction,
    VariableSetting,
    functions_of,
    host_functions,
    is_kernel,
    place_key,
    qualified_name,
)
from gemmviz.cuda.launch.host_code.launches import launches_of, made
from gemmviz.cuda.launch.host_code.scope import HOLDERS, HostProgram
from gemmviz.cuda.parser.unit import Unit
from gemmviz.model.outline import FileOutline, KernelOutline, ParameterOutline, TemplateKind, TemplateParameter

# Kernels of a unit's project files, with their parameters and template parameters.

_TEMPLATE_KINDS: dict[CursorKind, TemplateKind] = {
    CursorKind.TEMPLATE_TYPE_PARAMETER: "type",
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER: "value",
    CursorKind.TEMPLATE_TEMPLATE_PARAMETER: "template",
}
_POINTERS = frozenset({TypeKind.POINTER, TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY, TypeKind.DEPENDENTSIZEDARRAY})
_MOST_NESTED = 3  # structs in structs


def kernel_outline(kernel: Cursor, unit: Unit, texts: WrittenText) -> KernelOutline:
    """The outline of a kernel's declaration."""
    children = list(kernel.get_children())
    return KernelOutline(
        name=qualified_name(kernel),
        parameters=tuple(_parameter(each) for each in children if each.kind == CursorKind.PARM_DECL),
        template_parameters=tuple(_template_parameter(each, texts) for each in children if each.kind in _TEMPLATE_KINDS),
        file=unit.file_of(kernel.location),
        place=unit.place(kernel.extent),
    )


def _template_parameter(cursor: Cursor, texts: WrittenText) -> TemplateParameter:
    kind = _TEMPLATE_KINDS[cursor.kind]
    _, is_given, default = texts.text(cursor).partition("=")
    return TemplateParameter(
        cursor.spelling, kind, cursor.type.spelling if kind == "value" else "", default.strip() if is_given else ""
    )


def _parameter(cursor: Cursor) -> ParameterOutline:
    return parameter_outline(cursor.spelling, cursor.type, 0)


def parameter_outline(name: str, type_: Type, nested: int) -> ParameterOutline:
    """The outline of a kernel's parameter, or of a member of a struct that is one."""
    canonical = type_.get_canonical()
    if canonical.kind in _POINTERS:
        inner = canonical.get_pointee() if canonical.kind == TypeKind.POINTER else canonical.element_type
        is_const = inner.is_const_qualified()
        return ParameterOutline(name, type_.spelling, canonical.spelling, inner.spelling.removeprefix("const "), is_const)
    fields: tuple[ParameterOutline, ...] = ()
    if canonical.kind == TypeKind.RECORD and nested < _MOST_NESTED:
        fields = tuple(parameter_outline(each.spelling, each.type, nested + 1) for each in canonical.get_fields())
    return ParameterOutline(name, type_.spelling, canonical.spelling, fields=fields)


def unit_outline(unit: Unit) -> FileOutline:
    """Kernels of the unit's project files and every launch in them. What can't be read is listed, never raised."""
    texts = WrittenText(unit)
    kernels: dict[tuple[str, int], KernelOutline] = {}
    functions: dict[tuple[str, int], HostFunction] = {}
    for cursor in functions_of(unit):
        if is_kernel(cursor):
            kernels[place_key(cursor)] = kernel_outline(cursor, unit, texts)
        elif cursor.is_definition():
            for each in host_functions(cursor):
                functions[_key(each)] = each
    names = {place: kernel.name for place, kernel in kernels.items()}
    program = HostProgram(unit, texts, functions, _constants(unit), names, frozenset(names.values()))
    launches = made(launch for function in functions.values() for launch in launches_of(function, program))
    return FileOutline(_defined(kernels), launches)


def _key(function: HostFunction) -> tuple[str, int]:
    """The place by which calls find a function; a lambda's is that of its class."""
    return place_key(function.cursor if function.outer is None else function.cursor.type.get_declaration())


def _defined(kernels: dict[tuple[str, int], KernelOutline]) -> tuple[KernelOutline, ...]:
    """Kernels once each: the definition rather than a declaration in front of it."""
    last: dict[tuple[str, int], KernelOutline] = {}
    for kernel in kernels.values():
        key = (kernel.name, len(kernel.parameters))
        present = last.get(key)
        if present is None or _lines(kernel) >= _lines(present):
            last[key] = kernel
    return tuple(last.values())


def _lines(kernel: KernelOutline) -> int:
    return kernel.place.end_line - kernel.place.line


def _constants(unit: Unit) -> dict[Key, list[VariableSetting]]:
    """Initialisers of the variables outside functions, static members and members with initialisers included."""
    found: dict[Key, list[VariableSetting]] = defaultdict(list)
    pending = list(unit.declarations())
    while pending:
        cursor = pending.pop()
        if cursor.kind in (CursorKind.VAR_DECL, CursorKind.FIELD_DECL):
            value = initialiser(cursor)
            if value is not None:
                found[key_of(cursor)].append(VariableSetting("", value, At(0)))
        elif cursor.kind in HOLDERS:
            pending += cursor.get_children()
    return found
