"""Finds the kernel that an entry names, with its template arguments."""

import re

from gemmviz.model.errors import SourceError, closest
from gemmviz.parser.refusals import parse_refusal
from gemmviz.parser.sentences import plain_sentence
from gemmviz.parser.source_text import SourceText
from gemmviz.parser.unit import Unit, parse
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Cursors, Node, closing
from gemmviz.source.reader.errors import first_error
from gemmviz.source.reader.library import RawCursor, RawLocation

_ENTRY = "gemmviz_entry"
_FUNCTIONS = (k.FUNCTION_DECL, k.FUNCTION_TEMPLATE)
_AROUND = (k.LINKAGE_SPEC, k.NAMESPACE, k.UNEXPOSED_DECL)


def find_kernel(source: SourceText, entry: str) -> tuple[Unit, RawCursor]:
    """The translation unit with the kernel, and the definition of the kernel, instantiated. Raises SourceError without one."""
    unit = parse(source, _appended(entry))
    cursors, given_name = Cursors(unit), entry.partition("<")[0].strip()
    _check_once(unit, given_name.rpartition("::")[2])
    kernel = _referred(cursors)
    if kernel is not None:
        return unit, kernel
    found = kernels_named(cursors, given_name)
    if found:
        name, declared = found[0]
        arguments = entry[entry.index("<") :] if "<" in entry else ""
        if declared.kind == k.FUNCTION_DECL and not arguments:
            return unit, declared.cursor
        if name != given_name:
            unit = parse(source, _appended(f"{name}{arguments}"))
            again = _referred(Cursors(unit))
            if again is not None:
                return unit, again
        raise _template_error(cursors, unit, (name, declared), arguments)
    raise _no_kernel(cursors, entry)


def _check_once(unit: Unit, name: str) -> None:
    """Raises SourceError if there is a second kernel with that name and parameters, which no compiler accepts."""
    again = next((each for each in unit.errors if each.message == f"redefinition of '{name}'"), None)
    if again is not None:
        raise SourceError(f"{name} is defined twice", again.place, remedy="leave one out")


def _appended(entry: str) -> str:
    return f"static auto {_ENTRY} = &{entry};"


def _referred(cursors: Cursors) -> RawCursor | None:
    """The kernel that the last line of the compiled text names."""
    lib, unit = cursors.lib, cursors.unit
    main = lib.getFile(cursors.handle, f"/project/{unit.source.main}".encode())
    at = unit.files[unit.source.main].encode().rindex(_ENTRY.encode())
    location: RawLocation = lib.getLocationForOffset(cursors.handle, main, at)
    found = lib.Cursor_getVarDeclInitializer(lib.getCursor(cursors.handle, location))
    if lib.Cursor_isNull(found):
        return None
    tree = cursors.tree(found)
    while tree.kind != k.DECL_REF_EXPR and tree.parts:
        tree = tree.parts[0]
    kernel = cursors.referenced(tree)
    return None if kernel is None or kernel.kind not in _FUNCTIONS else cursors.definition(kernel)


def kernels_named(cursors: Cursors, name: str) -> list[tuple[str, Node]]:
    """Qualified names and definitions of the kernels of this name, of which namespaces may be left out."""
    wanted = f"::{name.removeprefix('::')}"
    return [(full, node) for full, node in _kernels(cursors, cursors.root, "") if f"::{full}".endswith(wanted)]


def _kernels(cursors: Cursors, around: RawCursor, prefix: str) -> list[tuple[str, Node]]:
    """All kernels that are defined, with their qualified names."""
    found: list[tuple[str, Node]] = []
    for each in cursors.top_level(around):
        if each.kind in _AROUND:
            name = cursors.name(each.cursor) if each.kind == k.NAMESPACE else ""
            found += _kernels(cursors, each.cursor, f"{prefix}{name}::" if name else prefix)
        elif each.kind in _FUNCTIONS:
            inside = cursors.top_level(each.cursor)
            if {k.GLOBAL_ATTR, k.COMPOUND_STMT} <= {part.kind for part in inside}:
                found.append((prefix + cursors.name(each.cursor), each))
    return found


def _template_error(cursors: Cursors, unit: Unit, found: tuple[str, Node], arguments: str) -> SourceError:
    """The error of template arguments that a kernel, given by name and definition, can't have; ``unit`` is read with them."""
    name, declared = found
    where = cursors.file_place(declared)
    place = None if where is None or where[0] else where[1]
    if declared.kind == k.FUNCTION_DECL:
        return SourceError(f"{name} is not a template", place, remedy="leave out <...> behind its name")
    parameters = [each for each in cursors.top_level(declared.cursor) if each.kind in (27, 28, 29)]
    wanted = len(parameters)
    given = sum(bool(each.strip("<> ")) for each in arguments.split(","))
    plural = "s" if wanted > 1 else ""
    if given > wanted:
        return SourceError(f"the template {name} takes {wanted} argument{plural}, not {given}", None)
    if given < wanted:
        remedy = f'name them in the header: entry = "{name}<...>"'
        return SourceError(f"the template {name} needs {wanted} argument{plural}", place, remedy=remedy)
    if where is not None:  # an unknown type of a parameter hides the kernel
        shown = where[0] or unit.source.shown or unit.source.main
        error = first_error(unit, shown, where[1].line, where[1].end_line)
        if error is not None:
            return parse_refusal(unit, error, error.place or place)
    last = unit.errors[-1].message if unit.errors else ""
    if given == wanted and _ENTRY in last:  # it can be read, but fits no kernel of this name
        texts = [cursors.text[span[0] : span[1]] for each in parameters if (span := cursors.span(each)) is not None]
        return SourceError(f"the template {name} can't take {arguments}", None, remedy=f"it takes <{', '.join(texts)}>")
    why = f": {plain_sentence(last)[0]}" if last and _ENTRY not in last else ""
    return SourceError(
        f"the entry's template arguments can't be read{why}", None, remedy='write numbers or types: "name<BM, float>"'
    )


def _no_kernel(cursors: Cursors, entry: str) -> SourceError:
    """The error of an entry that no kernel has; an error in the kernel itself that hides it comes first."""
    unit, text = cursors.unit, cursors.text
    name = entry.partition("<")[0].rpartition("::")[2].strip()
    for found in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        end = closing(text, text.find("{", closing(text, found.end() - 1)))
        first, last = text.count("\n", 0, text.rfind("\n\n", 0, found.start()) + 1) + 1, text.count("\n", 0, end) + 1
        error = first_error(unit, unit.source.shown or unit.source.main, first, last)
        if error is not None:
            return parse_refusal(unit, error, error.place)
    known = [each for each, _ in _kernels(cursors, cursors.root, "")]
    if not known and unit.errors and unit.errors[0].place is not None and _ENTRY not in unit.errors[0].message:
        return parse_refusal(unit, unit.errors[0], unit.errors[0].place)
    given_name = entry.partition("<")[0].strip()
    remedy = closest(given_name, known) or (f"kernels here: {', '.join(known)}" if known else "a kernel is __global__ void")
    return SourceError(f"the file has no kernel {given_name}", None, remedy=remedy)
