"""Lowers C's declarations: the type that a specifier names, and what a declarator derives from it."""

from dataclasses import dataclass
from math import prod
from typing import Literal

from tree_sitter import Node

from gemmviz.model.errors import closest
from gemmviz.source.lowering import Lowering
from gemmviz.source.scope import LazyType, TypeName
from gemmviz.source.syntax import child, children
from gemmviz.source.types import ArrayType, CType, PointerType, Scalar, VectorType, named_type

_SPECIFIERS = {
    "type_qualifier", "storage_class_specifier", "attribute_specifier", "launch_bounds", "ms_declspec_modifier",
    "attribute_declaration", "alignas_qualifier",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Declared:
    """One name of a declaration. ``dims`` are its array extents; an extent left open is None."""

    name: str
    node: Node
    pointer: bool
    reference: bool
    dims: tuple[Node | None, ...]
    value: Node | None


def type_of(low: Lowering, declaration: Node) -> CType | None:
    """The type before the declarator; None for auto. Raises SourceError for an unknown type."""
    node = child(declaration, "type")
    if node.type == "placeholder_type_specifier":
        return None
    return specified_type(low, node)


def specified_type(low: Lowering, node: Node) -> CType:
    if node.type not in ("primitive_type", "sized_type_specifier", "type_identifier", "qualified_identifier"):
        raise low.tree.unsupported(node)
    return type_named(low, low.tree.text(node), node)


def type_named(low: Lowering, name: str, node: Node) -> CType:
    """The type of this name. Raises SourceError at ``node`` for an unknown type."""
    name = " ".join(name.split()).rpartition("::")[2].strip()
    match low.scope.find(name):
        case TypeName(type=ctype):
            return ctype
        case LazyType(descriptor=descriptor):
            return described_type(low, descriptor)
    named = named_type(_canonical(name))
    if named is None:
        known = ("int", "float", "double", "unsigned", "float2", "float4", "size_t", "uint")
        raise low.tree.error(f"{name!r} is not a known type", node, closest(name, known), id="unknown-name")
    return named


def _canonical(name: str) -> str:
    """The canonical spelling of a type name: "unsigned long" for "long unsigned int"."""
    words = [word for word in name.split() if word not in ("const", "volatile")]
    if not set(words) <= {"unsigned", "signed", "long", "short", "char", "int"}:
        return " ".join(words)
    size = [word for word in sorted(words) if word in ("long", "short", "char")] or ["int"]
    sign = "unsigned" if "unsigned" in words else "signed" if "signed" in words and size == ["char"] else ""
    return " ".join([sign, *size] if sign else size)


def described_type(low: Lowering, descriptor: Node) -> CType:
    """The type in a cast or a template argument: ``float4*``, ``const unsigned``."""
    base = specified_type(low, child(descriptor, "type"))
    declarator = descriptor.child_by_field_name("declarator")
    if declarator is None or declarator.type == "type_identifier":
        return base
    if declarator.type not in ("abstract_pointer_declarator", "abstract_reference_declarator"):
        raise low.tree.unsupported(declarator)
    if declarator.child_by_field_name("declarator") is not None:
        raise low.tree.error("a pointer to a pointer is not supported", declarator, id="unsupported")
    return pointer_to(low, base, declarator) if declarator.type == "abstract_pointer_declarator" else base


def pointer_to(low: Lowering, base: CType, node: Node, is_const: bool = False) -> PointerType:
    if not isinstance(base, Scalar | VectorType):
        raise low.tree.error(f"a pointer to {base} is not supported", node, id="unsupported")
    return PointerType(base, None, is_const)


def declared(low: Lowering, node: Node) -> Declared:
    """The name that a declarator declares, with its type and extents."""
    value = None
    if node.type == "init_declarator":
        value = child(node, "value")
        node = child(node, "declarator")
    pointer = reference = False
    dims: list[Node | None] = []
    while node.type not in ("identifier", "field_identifier", "type_identifier"):
        match node.type:
            case "pointer_declarator" if pointer:
                raise low.tree.error("a pointer to a pointer is not supported", node, id="unsupported")
            case "pointer_declarator":
                pointer = True
            case "reference_declarator":
                reference = True
            case "array_declarator":
                dims.insert(0, node.child_by_field_name("size"))
            case "parenthesized_declarator":
                if dims and any(each.type == "pointer_declarator" for each in node.named_children):
                    raise low.tree.error(
                        "a pointer to an array is not supported", node, "use a pointer to its elements", id="unsupported"
                    )
            case _:
                raise low.tree.unsupported(node)
        inner = node.child_by_field_name("declarator") or _last_declarator(low, node)
        node = inner
    return Declared(low.tree.text(node), node, pointer, reference, tuple(dims), value)


def _last_declarator(low: Lowering, node: Node) -> Node:
    inner = [each for each in children(node) if each.type not in _SPECIFIERS]
    if not inner:
        raise low.tree.error("a declaration needs a name", node)
    return inner[-1]


def declarators(declaration: Node) -> list[Node]:
    return [node for node in declaration.children_by_field_name("declarator") if node.type != "comment"]


def has_word(declaration: Node, *words: str) -> bool:
    """Whether one of these words (const, __shared__, extern …) stands before the declarators."""
    for each in declaration.children:
        if each.type in words or (each.type in _SPECIFIERS and each.text and each.text.decode() in words):
            return True
    return False


def extents(low: Lowering, dims: tuple[Node | None, ...], node: Node) -> tuple[int, ...]:
    """Array extents as integers. Raises SourceError for an extent that is open, unknown or below 1."""
    found = []
    for each in dims:
        if each is None:
            raise low.tree.error("this array needs a size", node)
        extent = int(low.constant(each, "an array's size").value)
        if extent < 1:
            raise low.tree.error(f"an array can't have {extent} elements", each)
        found.append(extent)
    return tuple(found)


def parameter_type(low: Lowering, base: CType, name: Declared, is_const: bool) -> CType:
    """The type of a function parameter; arrays decay to pointers. ``is_const``: the declaration begins with const."""
    if name.dims or name.pointer:
        return pointer_to(low, base, name.node, is_const)
    return base


def array_type(
    element: CType, dims: tuple[int, ...], space: Literal["shared", "local"], low: Lowering, node: Node
) -> ArrayType:
    """The array type of these elements. Raises SourceError for an invalid element type or more elements than addresses."""
    if not isinstance(element, Scalar | VectorType):
        raise low.tree.error(f"an array of {element} is not supported", node, id="unsupported")
    if prod(dims) * element.bytes >= 1 << 63:
        raise low.tree.error("this array has more elements than memory has addresses", node)
    return ArrayType(element, dims, space)
