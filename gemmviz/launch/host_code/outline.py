"""A parsed unit to its outline: the kernels of the project's files and their launches."""

from collections import defaultdict

from clang.cindex import CursorKind

from gemmviz.launch.host_code.cursors import Key, WrittenText, initialiser, key_of
from gemmviz.launch.host_code.functions import (
    At,
    HostFunction,
    VariableSetting,
    functions_of,
    host_functions,
    is_kernel,
    place_key,
)
from gemmviz.launch.host_code.kernels import kernel_outline
from gemmviz.launch.host_code.launches import launches_of, made
from gemmviz.launch.host_code.scope import HOLDERS, HostProgram
from gemmviz.model.outline import FileOutline, KernelOutline
from gemmviz.parser.unit import Unit


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
