"""Lowers calls: of the kernel's own functions, methods and lambdas, of constructors, and of CUDA's functions."""

from collections.abc import Iterator
from math import prod

from gemmviz.cuda.nodes import Block, Component, Declare, Deref, Evaluate, Expr, Inline, Offset, Read, Stmt
from gemmviz.cuda.parser.library import RawCursor
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.assign import assign, copied, object_copy
from gemmviz.cuda.reader.cursors import Node, bare, closing
from gemmviz.cuda.reader.declarations import variable
from gemmviz.cuda.reader.expressions import pointee
from gemmviz.cuda.reader.inlining import constructed, inlined
from gemmviz.cuda.reader.intrinsics import intrinsic_call
from gemmviz.cuda.reader.lowering import Lowering, local_array
from gemmviz.cuda.reader.lvalues import designated, with_effects
from gemmviz.cuda.reader.symbols import ArrayVariable, Function, Symbol, Thing, Variable
from gemmviz.cuda.types import INT, VOID, ArrayType, Scalar, StructType, VectorType

_METHODS = (k.CXX_METHOD, k.CONVERSION_FUNCTION)


def call(low: Lowering, node: Node) -> Expr | Thing:
    declaration = low.cursors.referenced(node)
    if declaration is None or declaration.kind in (k.VAR_DECL, k.PARM_DECL, k.FIELD_DECL):
        return _by_value(low, node)
    arguments = low.cursors.arguments(node)
    if declaration.kind == k.CONSTRUCTOR:
        return constructed(low, declaration, arguments, node)
    if declaration.kind in _METHODS:
        return _method(low, declaration, arguments, node)
    return _function(low, declaration, arguments, node)


def _function(low: Lowering, declaration: RawCursor, arguments: list[Node], node: Node) -> Expr | Thing:
    definition = low.cursors.definition(declaration)
    if low.cursors.is_stub(declaration) or definition is None:
        return intrinsic_call(low, low.cursors.name(declaration), arguments, node, definition)
    return inlined(low, definition, arguments, node)


def _by_value(low: Lowering, node: Node) -> Expr | Thing:
    """A call through a function pointer whose function is known."""
    if not node.parts:
        raise low.error("the function is not known", node, id="unknown-name")
    callee = low.place_node(node.parts[0])
    if not isinstance(callee, Thing) or not isinstance(callee.symbol, Function) or callee.symbol.declaration is None:
        raise low.error("the function is not known before the kernel runs", node, id="unsupported")
    return _function(low, callee.symbol.declaration, low.cursors.arguments(node), node)


def _method(low: Lowering, declaration: RawCursor, arguments: list[Node], node: Node) -> Expr | Thing:
    callee = low.cursors.method_callee(node)
    if low.cursors.lib.CXXMethod_isVirtual(declaration):
        message = f"{low.cursors.name(declaration)} is virtual: virtual functions are not supported"
        raise low.error(message, node, "make the class a template parameter", id="unsupported")
    is_static = bool(low.cursors.lib.CXXMethod_isStatic(declaration))
    this: Expr | Thing | None
    if callee is not None:
        this = None if is_static else _object(low, callee)
    elif is_static:
        this = None
    else:
        this, arguments = low.place_node(arguments[0]), arguments[1:]
    if isinstance(this, Thing) and isinstance(this.symbol, Function):
        outer = low.activation.this if low.activation else None
        return inlined(low, low.cursors.definition(declaration) or declaration, arguments, node, outer, this.symbol.copies)
    definition = low.cursors.definition(declaration)
    name = low.cursors.name(declaration)
    if name == "operator=" and (definition is None or not low.cursors.is_written(definition)):
        return _copied(low, this, arguments[0], node)
    if definition is None or low.cursors.is_stub(declaration):
        return intrinsic_call(low, name, arguments, node, definition, this)
    if isinstance(this, Thing) and this.effects:
        return _after(low, this, definition, arguments, node)
    return inlined(low, definition, arguments, node, this)


def _after(low: Lowering, this: Thing, definition: RawCursor, arguments: list[Node], node: Node) -> Expr | Thing:
    found = inlined(low, definition, arguments, node, Thing(this.type, this.symbol))
    return with_effects(low, this.effects, found, node)


def _object(low: Lowering, callee: Node) -> Expr | Thing | None:
    """The object of a method's call."""
    parts = callee.parts
    if not parts:
        return low.activation.this if low.activation else None
    of = low.place_node(parts[0])
    if isinstance(of, Thing):
        return of
    if isinstance(of.type, Scalar | VectorType | StructType):
        return of
    return pointee(low, low.loaded(of, bare(parts[0])), callee)


def _copied(low: Lowering, target: Expr | Thing | None, value: Node, node: Node) -> Expr | Thing:
    given = low.place_node(value)
    assert target is not None
    if isinstance(target, Thing) or isinstance(given, Thing) or isinstance(target.type, StructType):
        return copied(low, target, given, node)
    loaded = low.loaded(given, bare(value))
    parts = node.parts
    return assign(low, target, "", loaded, node, parts[0], False)


def this(low: Lowering, node: Node) -> Expr | Thing:
    found = low.activation.this if low.activation else None
    if found is None:
        raise low.error("this has no object here", node)
    return found.pointer if isinstance(found, Deref) else found


CALLS = {k.CALL_EXPR: call, k.THIS_EXPR: this}


# Lowers lambdas: known functions whose captured variables are those around, or copies of them.

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
