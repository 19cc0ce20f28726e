"""Lowers C's statements: declarations, branches, loops, barriers."""

from dataclasses import replace
from math import prod

from tree_sitter import Node

from gemmviz.source.counted import counted_loop
from gemmviz.source.declarators import Declared, array_type, declarators, declared, extents, has_word, pointer_to, type_of
from gemmviz.source.initialisers import rows_given, values_of
from gemmviz.source.literals import initialised
from gemmviz.source.lowering import Lowering
from gemmviz.source.nodes import (
    Barrier,
    Block,
    Break,
    Const,
    Continue,
    Declare,
    DeclareArray,
    Deref,
    Evaluate,
    Expr,
    If,
    Loop,
    LoopPlace,
    Offset,
    Return,
    SharedArray,
    Stmt,
)  # fmt: skip
from gemmviz.source.scope import ArrayVariable, Constant, LazyType, Variable
from gemmviz.source.syntax import child, children
from gemmviz.source.types import BOOL, ArrayType, CType, PointerType, Scalar, VectorType

_NOTHING = Block(())
_MOST_LOCAL_BYTES = 512 << 10  # CUDA C++ Programming Guide, compute capabilities: local memory of a thread


def compound(low: Lowering, node: Node) -> Stmt:
    with low.inner_scope():
        return Block(tuple(low.statement(each) for each in children(node)))


def expression_statement(low: Lowering, node: Node) -> Stmt:
    inside = children(node)
    if not inside:
        return _NOTHING
    if inside[0].type == "call_expression":
        name = low.tree.text(child(inside[0], "function"))
        if name in ("__syncthreads", "__syncwarp"):
            kind = "barrier" if name == "__syncthreads" else "warp barrier"
            number = low.add_access(kind, None, inside[0], 1)  # type: ignore[arg-type]
            if name == "__syncthreads":
                _mark_loops(low)
            return Barrier(number, low.tree.place(inside[0]), name == "__syncthreads")
    return Evaluate(low.discarded(inside[0]))


def _mark_loops(low: Lowering) -> None:
    for number in low.loop_stack:
        low.loops[number] = replace(low.loops[number], holds_barrier=True)


def declaration(low: Lowering, node: Node) -> Stmt:
    made = [_declare(low, node, each) for each in declarators(node)]
    return made[0] if len(made) == 1 else Block(tuple(made))


def _declare(low: Lowering, node: Node, declarator: Node) -> Stmt:
    name = declared(low, declarator)
    base = type_of(low, node)
    if has_word(node, "__shared__"):
        return _shared_array(low, node, name, base)
    if name.reference:
        return _reference(low, name)
    if name.dims:
        return _local_array(low, name, base)
    if base is None:
        return _auto(low, node, name)
    ctype: CType = pointer_to(low, base, declarator, has_word(node, "const")) if name.pointer else base
    if not isinstance(ctype, Scalar | VectorType | PointerType):
        raise low.tree.error(f"a variable can't be {ctype}", declarator)
    value = None if name.value is None else initialised(low, name.value, ctype)
    if isinstance(ctype, PointerType) and value is not None and isinstance(value.type, PointerType):
        ctype = ctype.into(value.type.space)
    return _variable(low, node, name, ctype, value)


def _reference(low: Lowering, name: Declared) -> Stmt:
    """Declares a reference to an array or element, as in ``float (&row)[8] = tile[0];`` or ``float& x = C[i];``."""
    target = low.expression(name.value) if name.value is not None else None
    slot = low.new_slot()
    match target:
        case Offset(type=ArrayType() as array):
            low.declare(name.name, ArrayVariable(slot, array), name.node)
            return Declare(slot, replace(target, type=PointerType(array.element, array.space)))
        case Deref(pointer=pointer):
            low.declare(name.name, Variable(slot, pointer.type, is_reference=True), name.node)
            return Declare(slot, pointer)
    raise low.tree.error("a reference to this is not supported", name.node, id="unsupported")


def _auto(low: Lowering, node: Node, name: Declared) -> Stmt:
    if name.value is None:
        raise low.tree.error("auto needs a value", name.node)
    value = low.value(name.value)
    return _variable(low, node, name, value.type, value)


def _variable(low: Lowering, node: Node, name: Declared, ctype: CType, value: Expr | None) -> Stmt:
    constant = has_word(node, "const", "constexpr")
    if isinstance(value, Const) and constant:
        low.declare(name.name, Constant(value), name.node)
        return _NOTHING
    if has_word(node, "constexpr"):
        raise low.tree.error(f"the value of {name.name} is not known before the kernel runs", name.node, id="unknown-name")
    slot = low.new_slot()
    is_const = constant and not name.pointer
    low.declare(name.name, Variable(slot, ctype, checked=value is None, is_const=is_const), name.node)
    return Declare(slot, value)


def _shared_array(low: Lowering, node: Node, name: Declared, base: CType | None) -> Stmt:
    if base is None or name.pointer or name.value is not None:
        raise low.tree.error("a __shared__ variable needs a plain type and no value", name.node)
    is_extern = has_word(node, "extern")
    if is_extern and (len(name.dims) != 1 or name.dims[0] is not None):
        raise low.tree.error("extern __shared__ declares one array without a size", name.node)
    dims = None if is_extern else extents(low, name.dims, name.node) or (1,)
    array = array_type(base, dims or (1,), "shared", low, name.node)
    slot = low.new_slot()
    low.shared.append(SharedArray(slot, name.name, array.element, dims, low.tree.place(name.node), node.end_byte))
    if name.dims:
        low.declare(name.name, ArrayVariable(slot, array), name.node)
    else:
        low.declare(name.name, Variable(slot, PointerType(array.element, "shared"), is_reference=True), name.node)
    return _NOTHING


def _local_array(low: Lowering, name: Declared, base: CType | None) -> Stmt:
    if base is None or name.pointer or name.reference:
        raise low.tree.error("an array of pointers or references is not supported", name.node, id="unsupported")
    array = array_type(base, _local_extents(low, name, base), "local", low, name.node)
    size = prod(array.dims)
    _check_local_bytes(low, name, size * array.element.bytes)
    slot = low.new_slot()
    low.declare(name.name, ArrayVariable(slot, array), name.node)
    low.local_elements += size * (array.element.count if isinstance(array.element, VectorType) else 1)
    low.local_bytes += size * array.element.bytes
    values = None if name.value is None else values_of(low, name.value, array)
    return DeclareArray(slot, name.name, array.element, size, values)


def _local_extents(low: Lowering, name: Declared, base: CType) -> tuple[int, ...]:
    """The extents of a local array, an open first one by the number of its values. Raises SourceError if it is too large."""
    if name.dims[0] is not None or name.value is None:
        return extents(low, name.dims, name.node)
    inner = extents(low, name.dims[1:], name.node)
    _check_local_bytes(low, name, prod(inner))
    rows = rows_given(low, name.value, inner)
    if rows < 1:
        raise low.tree.error("an array can't have 0 elements", name.node)
    return rows, *inner


def _check_local_bytes(low: Lowering, name: Declared, added: int) -> None:
    if low.local_bytes + added > _MOST_LOCAL_BYTES:
        size = f"with {name.name}, the local arrays of a thread take {low.local_bytes + added:,} bytes"
        remedy = "make them smaller or use shared memory"
        raise low.tree.error(f"{size}; at most {_MOST_LOCAL_BYTES:,} are possible", name.node, remedy)


def if_statement(low: Lowering, node: Node) -> Stmt:
    if node.child_by_field_name("initializer") is not None:
        raise low.tree.error("an if with a declaration is not supported", node, id="unsupported")
    condition = low.condition(child(node, "condition"))
    alternative = node.child_by_field_name("alternative")
    if isinstance(condition, Const):
        chosen = child(node, "consequence") if condition.value else alternative
        return _NOTHING if chosen is None else _branch(low, chosen)
    then = _branch(low, child(node, "consequence"))
    return If(condition, then, None if alternative is None else _branch(low, alternative))


def _branch(low: Lowering, node: Node) -> Stmt:
    if node.type == "else_clause":
        node = children(node)[-1]
    with low.inner_scope():
        return low.statement(node)


def for_statement(low: Lowering, node: Node) -> Stmt:
    with low.inner_scope():
        start = node.child_by_field_name("initializer")
        first: Stmt = _NOTHING
        if start is not None:
            first = low.statement(start) if start.type == "declaration" else Evaluate(low.discarded(start))
        block = Block((first, _loop(low, node, tests_first=True)))
        return counted_loop(block) or block


def while_statement(low: Lowering, node: Node) -> Stmt:
    with low.inner_scope():
        return _loop(low, node, tests_first=True)


def do_statement(low: Lowering, node: Node) -> Stmt:
    with low.inner_scope():
        return _loop(low, node, tests_first=False)


def _loop(low: Lowering, node: Node, *, tests_first: bool) -> Stmt:
    number = len(low.loops)
    outer = low.loop_stack[-1] if low.loop_stack else -1
    condition_node, update = node.child_by_field_name("condition"), node.child_by_field_name("update")
    tested = _condition_range(node, condition_node)
    low.loops.append(LoopPlace(number, outer, low.tree.place(node), False, node.start_byte, tested, tests_first))
    low.loop_stack.append(number)
    condition = low.condition(condition_node) if condition_node is not None else None
    if isinstance(condition, Const) and condition.value:
        condition = None
    body = _branch(low, child(node, "body"))
    step = low.discarded(update) if update is not None else None
    low.loop_stack.pop()
    return Loop(number, condition, step, body, tests_first, low.tree.place(node))


def _condition_range(node: Node, condition: Node | None) -> tuple[int, int]:
    """The range of a condition without its parentheses; for a for without one, the empty range before its last semicolon."""
    if condition is None:
        semicolons = [each for each in node.children if each.type == ";"]
        return semicolons[-1].start_byte, semicolons[-1].start_byte
    if condition.type in ("condition_clause", "parenthesized_expression"):
        return condition.start_byte + 1, condition.end_byte - 1
    return condition.start_byte, condition.end_byte


def break_statement(low: Lowering, node: Node) -> Stmt:
    return Break()


def continue_statement(low: Lowering, node: Node) -> Stmt:
    return Continue()


def return_statement(low: Lowering, node: Node) -> Stmt:
    inside = children(node)
    activation = low.activation
    if not inside:
        return Return(None, None)
    if activation is None or activation.result is None:
        raise low.tree.error("this function returns no value", node)
    assert activation.result_type is not None
    return Return(activation.result, low.converted(low.value(inside[0]), activation.result_type, node))


def static_assert(low: Lowering, node: Node) -> Stmt:
    condition = low.value(child(node, "condition"))
    if not isinstance(condition, Const):
        raise low.tree.error("a static_assert must be known before the kernel runs", node)
    if not low.converted(condition, BOOL, node).value:  # type: ignore[union-attr]
        message = node.child_by_field_name("message")
        raise low.tree.error("static_assert fails" + (f": {low.tree.text(message)}" if message else ""), node)
    return _NOTHING


def alias(low: Lowering, node: Node) -> Stmt:
    """Declares a type alias, as in ``using T = float;`` or ``typedef float T;``."""
    name = node.child_by_field_name("name") or child(node, "declarator")
    low.scope.names[low.tree.text(name)] = LazyType(node if node.type == "type_definition" else child(node, "type"))
    return _NOTHING


def ignored(low: Lowering, node: Node) -> Stmt:
    return _NOTHING


STATEMENTS = {
    "compound_statement": compound,
    "expression_statement": expression_statement,
    "declaration": declaration,
    "if_statement": if_statement,
    "for_statement": for_statement,
    "while_statement": while_statement,
    "do_statement": do_statement,
    "break_statement": break_statement,
    "continue_statement": continue_statement,
    "return_statement": return_statement,
    "static_assert_declaration": static_assert,
    "alias_declaration": alias,
    "type_definition": alias,
    "using_declaration": ignored,
    ";": ignored,
}
