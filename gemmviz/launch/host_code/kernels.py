"""Kernels of a unit's project files, with their parameters and template parameters."""

from clang.cindex import Cursor, CursorKind, Type, TypeKind

from gemmviz.launch.host_code.cursors import WrittenText
from gemmviz.launch.host_code.functions import qualified_name
from gemmviz.model.outline import KernelOutline, ParameterOutline, TemplateKind, TemplateParameter
from gemmviz.parser.unit import Unit

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
