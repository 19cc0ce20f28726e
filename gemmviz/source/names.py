"""Finds syntax that the parser misreads because it doesn't know which names are types.

``(a * (float)(b)) - c`` is a cast if ``a`` is a type, and a difference if it is a value. Where the parser's guess contradicts
the declarations in scope, a mask of the same length forces the right reading: zeros for a value, ``~`` for the parentheses of a
cast (an operator of the same precedence), ``>`` for the ``<`` of a comparison. Only the parser sees the masks; names and
operators are taken from the text itself.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from gemmviz.model.cancelling import checkpoint
from gemmviz.source.types import named_type


class VectorMask(NamedTuple):
    """A mask that has ``start:stop`` of the text read as ``first`` followed by ``rest``. Line breaks are preserved."""

    start: int
    stop: int
    first: str
    rest: str

    def over(self, text: str) -> str:
        return re.sub(r"[^\n]", self.rest, text[self.start : self.stop]).replace(self.rest, self.first, 1)


@dataclass(slots=True)
class _Scope:
    """Names of one block and whether each is a type."""

    outer: "_Scope | None" = None
    is_type: dict[str, bool] = field(default_factory=dict)

    def find(self, name: str) -> bool | None:
        """Whether a name is a type; None if it isn't declared."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.is_type:
                return scope.is_type[name]
            scope = scope.outer
        return True if named_type(name) is not None else None


_OWN_SCOPE = {"function_definition", "template_declaration", "compound_statement", "for_statement"}
_TYPE_NAMES = {
    "alias_declaration": "name",
    "class_specifier": "name",
    "enum_specifier": "name",
    "struct_specifier": "name",
    "type_definition": "declarator",
    "union_specifier": "name",
}
_VALUE_NAMES = {"declaration", "function_definition", "optional_parameter_declaration", "parameter_declaration"}
_OPERATORS = {"sizeof", "alignof"}  # float x(a & sizeof(b)) declares no parameter of that name
_TYPE_PARAMETERS = {"optional_type_parameter_declaration", "type_parameter_declaration"}
_CONSTANTS = {"true", "false", "warpSize"}  # values that nothing declares
_CASTS = {"static_cast", "reinterpret_cast", "const_cast", "f"}  # and what the header's template arguments are read with
_AROUND_TEMPLATES = {
    "translation_unit",
    "namespace_definition",
    "linkage_specification",
    "declaration_list",
    "template_declaration",
}


def misread(root: Node) -> list[VectorMask]:
    """Masks for all misread syntax under ``root``."""
    templates = _CASTS | set(_templates(root))
    found: list[VectorMask] = []
    waiting = [(root, _Scope(is_type=dict.fromkeys(templates | _CONSTANTS, False)))]
    while waiting:
        checkpoint()
        node, scope = waiting.pop()
        kind = node.type
        if check := _CHECKS.get(kind):
            found += check(node, scope, templates)
        _declare(node, kind, scope)
        inner = _Scope(scope) if kind in _OWN_SCOPE else scope
        waiting += [(each, inner) for each in reversed(node.named_children)]
    return found


def _templates(root: Node) -> Iterator[str]:
    """Names of all function templates."""
    waiting = [root]
    while waiting:
        checkpoint()
        node = waiting.pop()
        if node.type in _AROUND_TEMPLATES:
            waiting += node.named_children
        elif node.parent is not None and node.parent.type == "template_declaration" and node.type in _VALUE_NAMES:
            yield from (_declared_name(each).partition("<")[0] for each in node.children_by_field_name("declarator"))


def _declare(node: Node, kind: str, scope: _Scope) -> None:
    """Adds the names that ``node``, of this kind, declares to ``scope``."""
    if kind in _TYPE_NAMES:
        scope.is_type |= {_text(each): True for each in node.children_by_field_name(_TYPE_NAMES[kind])}
    elif kind in _TYPE_PARAMETERS:
        scope.is_type |= {_text(each): True for each in node.named_children[:1]}
    elif kind in _VALUE_NAMES:
        names = (_declared_name(each) for each in node.children_by_field_name("declarator"))
        scope.is_type |= {name: False for name in names if name not in _OPERATORS}


def _declared_name(declarator: Node) -> str:
    while inner := declarator.child_by_field_name("declarator") or referred(declarator):
        declarator = inner
    return _text(declarator)


def referred(declarator: Node) -> Node | None:
    """The node within a reference or a parenthesized declarator, for which the grammar has no field."""
    is_open = declarator.type in ("reference_declarator", "parenthesized_declarator")
    return declarator.named_children[-1] if is_open and declarator.named_children else None


def _cast(node: Node, scope: _Scope, templates: set[str]) -> Iterator[VectorMask]:
    """``(a) - b``, ``(a * (b)) - c``."""
    value, descriptor = node.child_by_field_name("value"), node.child_by_field_name("type")
    if value is None or descriptor is None:
        return
    is_type = _is_type(descriptor, scope)
    may_be_value = _text(value)[:1] in ("+", "-", "*", "&")
    if is_type is False or (is_type is None and may_be_value):
        yield from _as_value(descriptor, templates)


def _size(node: Node, scope: _Scope, templates: set[str]) -> Iterator[VectorMask]:
    """``sizeof(a * (b))``; and ``sizeof(T) * a``, where nothing is cast."""
    descriptor, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    if value is not None and value.type == "cast_expression":
        descriptor = value.child_by_field_name("type")
        if descriptor is not None:
            yield VectorMask(descriptor.start_byte, descriptor.end_byte, "0", "0")
    elif descriptor is not None and _is_type(descriptor, scope) is False:
        yield from _as_value(descriptor, templates)


def _template_argument(node: Node, scope: _Scope, templates: set[str]) -> Iterator[VectorMask]:
    """``f<N * (M)>(x)``."""
    is_argument = node.parent is not None and node.parent.type == "template_argument_list"
    if is_argument and node.child_by_field_name("declarator") is not None and _is_type(node, scope) is False:
        yield from _as_value(node, templates)


def _parameter(node: Node, scope: _Scope, templates: set[str]) -> Iterator[VectorMask]:
    """``float x(a);`` and ``(T(a & b)) - c``."""
    if _is_type(node, scope) is False:
        yield from _as_value(node, templates)


def _declaration(node: Node, scope: _Scope, templates: set[str]) -> Iterator[VectorMask]:
    """``a * b;`` and ``a < b > c;``."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type == "init_declarator":
        declarator = declarator.child_by_field_name("declarator")
    described = node.child_by_field_name("type")
    if declarator is None or described is None or _is_type(node, scope) is not False:
        return
    if described.type == "template_type" or declarator.type in ("pointer_declarator", "reference_declarator"):
        yield from _as_value(node, templates)


def _comparison(node: Node, scope: _Scope, templates: set[str]) -> Iterator[VectorMask]:
    """``a < b && c > (d)``."""
    name, arguments = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    is_known = name is not None and (_text(name) in templates or scope.find(_text(name)) is True)
    if arguments is not None and not is_known:
        yield VectorMask(arguments.start_byte, arguments.start_byte + 1, ">", ">")


def _parentheses(node: Node, scope: _Scope, templates: set[str]) -> Iterator[VectorMask]:
    """``(T)(a)`` and ``(T)-a``."""
    inside, around = node.named_children, node.parent
    if len(inside) != 1 or around is None or inside[0].type not in ("identifier", "qualified_identifier"):
        return
    if around.type != "sizeof_expression" and scope.find(_last_name(_text(inside[0]))) is True:
        yield VectorMask(node.start_byte, node.end_byte, "~", " ")


_CHECKS: dict[str, Callable[[Node, _Scope, set[str]], Iterator[VectorMask]]] = {
    "cast_expression": _cast,
    "declaration": _declaration,
    "optional_parameter_declaration": _parameter,
    "parameter_declaration": _parameter,
    "parenthesized_expression": _parentheses,
    "sizeof_expression": _size,
    "template_function": _comparison,
    "template_method": _comparison,
    "type_descriptor": _template_argument,
}


def _is_type(described: Node, scope: _Scope) -> bool | None:
    """Whether the name in the type position of ``described`` is a type; None if it isn't declared."""
    node = described.child_by_field_name("type")
    if node is None or node.type not in ("type_identifier", "qualified_identifier", "template_type"):
        return True
    return scope.find(_type_name(node))


def _as_value(described: Node, templates: set[str]) -> Iterator[VectorMask]:
    """Masks for a type that is a value. Of a call like ``f<3>(a)``, the arguments are masked instead, as parameters."""
    node = described.child_by_field_name("type")
    arguments = node.child_by_field_name("arguments") if node is not None and node.type == "template_type" else None
    if node is not None and arguments is None:
        yield VectorMask(node.start_byte, node.end_byte, "0", "0")
    elif node is not None and arguments is not None and _type_name(node) not in templates:
        yield VectorMask(arguments.start_byte, arguments.start_byte + 1, ">", ">")


def _type_name(node: Node) -> str:
    name = node.child_by_field_name("name") if node.type == "template_type" else None
    return _last_name(_text(name or node))


def _last_name(text: str) -> str:
    return text.rpartition("::")[2].strip()


def _text(node: Node) -> str:
    return node.text.decode() if node.text is not None else ""
