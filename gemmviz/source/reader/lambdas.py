"""Lowers lambdas: known functions whose captured variables are those around, or copies of them."""

from collections.abc import Iterator
from math import prod

from gemmviz.source.nodes import Block, Component, Declare, Deref, Evaluate, Expr, Inline, Offset, Read, Stmt
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.copies import copied
from gemmviz.source.reader.cursors import Node, closing
from gemmviz.source.reader.declarations import variable
from gemmviz.source.reader.local import local_array
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.places import designated
from gemmviz.source.reader.records import object_copy
from gemmviz.source.reader.symbols import ArrayVariable, Function, Symbol, Thing, Variable
from gemmviz.source.types import INT, VOID, ArrayType, StructType

_NEVER_CAPTURED = (k.SHARED_ATTR, k.DEVICE_ATTR, k.CONSTANT_ATTR)


def lambda_expression(low: Lowering, node: Node) -> Expr | Thing:
    """A lambda; its effects copy what it captures by value."""
    copied_by_default, named = _captures(low, node)
    copies: dict[int, Symbol] = {}
    statements: list[Stmt] = []
    for key, name, reference in _referenced(low, node):
        symbol, declaration = low.symbols.get(key), low.cursors.referenced(reference)
        assert declaration is not None
        if symbol is None and reference.kind == k.VARIABLE_REF:  # [z = x + 1]
            statements.append(variable(low, low.cursors.tree(declaration)))
        elif symbol is not None and named.get(name, copied_by_default) and _is_captured(low.cursors.tree(declaration)):
            copies[key] = _copy(low, symbol, name, statements, node)
    function = Function(None, copies)
    if not statements:
        return Thing(INT, function)
    return Thing(INT, function, (Inline(VOID, (), Block(tuple(statements)), None, low.place(node)),))


def _is_captured(declaration: Node) -> bool:
    return not any(each.kind in _NEVER_CAPTURED for each in declaration.children)


def _copy(low: Lowering, symbol: Symbol, name: str, statements: list[Stmt], node: Node) -> Symbol:
    """The variable that holds what a lambda captured by value; ``statements`` gets what declares it."""
    found = designated(low, symbol, node)
    match found:
        case Thing(type=StructType()) | Deref(type=StructType()):
            copy = object_copy(low, found, node)
            statements += (Evaluate(each) for each in copy.effects)
            return copy.symbol
        case Offset(type=ArrayType(element=element, dims=dims, space="local") as array):
            symbol = ArrayVariable(local_array(low, element, prod(dims), name, statements, node), array)
            filled = copied(low, low.expression_of(designated(low, symbol, node), node), found, node)
            statements.append(Evaluate(low.expression_of(filled, node)))
            return symbol
        case Read() | Deref() | Component():
            value = low.loaded(found, node)
            slot = low.new_slot()
            statements.append(Declare(slot, value))
            return Variable(slot, value.type, name)
    return symbol


def _captures(low: Lowering, node: Node) -> tuple[bool, dict[str, bool]]:
    """Whether variables are copied by default, and for named ones whether they are copied."""
    span = low.cursors.span(node)
    text = "[&]" if span is None else low.cursors.text[span[0] : span[1]]
    if not text.startswith("["):
        return False, {}
    by_default, named = False, dict[str, bool]()
    for each in text[1 : closing(text, 0)].split(","):
        part = each.strip()
        if part == "=":
            by_default = True
        elif part not in ("", "&", "this", "*this") and "=" not in part:
            named[part.lstrip("&").strip()] = not part.startswith("&")
    return by_default, named


def _referenced(low: Lowering, node: Node) -> Iterator[tuple[int, str, Node]]:
    """The variables that a lambda captures or uses, once each."""
    seen, waiting = set[int](), list(reversed(node.children))
    while waiting:
        each = waiting.pop()
        waiting += reversed(each.children)
        declaration = low.cursors.referenced(each) if each.kind in (k.DECL_REF_EXPR, k.VARIABLE_REF) else None
        if declaration is None or declaration.kind not in (k.VAR_DECL, k.PARM_DECL) or declaration.first in seen:
            continue
        seen.add(declaration.first)
        if each.kind == k.VARIABLE_REF or declaration.first in low.symbols:
            yield declaration.first, low.cursors.name(declaration), each


LAMBDAS = {k.LAMBDA_EXPR: lambda_expression}
