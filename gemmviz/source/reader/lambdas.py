"""Lowers lambdas: known functions whose captured variables are those around, or copies of them."""

from collections.abc import Iterator

from gemmviz.source.nodes import Block, Expr, Inline
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node, closing
from gemmviz.source.reader.declarations import variable
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.places import designated
from gemmviz.source.reader.symbols import Function, Symbol, Thing, Variable
from gemmviz.source.types import INT, VOID, PointerType


def lambda_expression(low: Lowering, node: Node) -> Expr | Thing:
    """A lambda; its effects copy what it captures by value."""
    copied_by_default, named = _captures(low, node)
    copies: dict[int, Symbol] = {}
    bindings: list[tuple[int, Expr]] = []
    statements = []
    for key, name, reference in _referenced(low, node):
        symbol = low.symbols.get(key)
        if symbol is None and reference.kind == k.VARIABLE_REF:  # [z = x + 1]
            declaration = low.cursors.referenced(reference)
            assert declaration is not None
            statements.append(variable(low, low.cursors.tree(declaration)))
        elif isinstance(symbol, Variable) and not symbol.is_reference and named.get(name, copied_by_default):
            value = low.expression_of(designated(low, symbol, node), node)
            slot = low.new_slot()
            bindings.append((slot, value))
            ctype = value.type if isinstance(value.type, PointerType) else symbol.type
            copies[key] = Variable(slot, ctype, name)
    function = Function(None, copies)
    if not bindings and not statements:
        return Thing(INT, function)
    return Thing(INT, function, (Inline(VOID, tuple(bindings), Block(tuple(statements)), None, low.place(node)),))


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
