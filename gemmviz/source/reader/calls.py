"""Lowers calls: of the kernel's own functions, methods and lambdas, of constructors, and of CUDA's functions."""

from gemmviz.source.nodes import Deref, Expr
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.assign import assign
from gemmviz.source.reader.constructors import constructed
from gemmviz.source.reader.copies import copied
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.expressions import pointee
from gemmviz.source.reader.inlining import inlined
from gemmviz.source.reader.intrinsics import intrinsic_call
from gemmviz.source.reader.library import RawCursor
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.objects import with_effects
from gemmviz.source.reader.symbols import Function, Thing
from gemmviz.source.reader.syntax import bare
from gemmviz.source.types import Scalar, StructType, VectorType

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
