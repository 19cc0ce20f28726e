"""Calls of atomic functions, asynchronous copies, fences, and conversions of pointers to addresses."""

from gemmviz.model.records import replace
from gemmviz.source.nodes import (
    Address,
    Atomic,
    AtomicOp,
    Binary,
    Commit,
    Const,
    Copy,
    Deref,
    Expr,
    Fence,
    Reinterpret,
    Stmt,
    Wait,
)  # fmt: skip
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.first_values import copy_behind, written_copy
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.types import INT, UINT, ULONG, PointerType, Scalar, VectorType, named_type

_ATOMICS: dict[str, AtomicOp] = {
    "atomicAdd": "add", "atomicSub": "sub", "atomicMin": "min", "atomicMax": "max", "atomicExch": "exch", "atomicCAS": "cas",
    "atomicAnd": "and", "atomicOr": "or", "atomicXor": "xor", "atomicInc": "inc", "atomicDec": "dec",
}  # fmt: skip
_SCOPES = ("", "_block", "_system")
_WORD_BYTES = 4
_WORDS = {1: UINT, 2: VectorType(UINT, 2), 4: VectorType(UINT, 4)}
_BYTES = {1: named_type("unsigned char"), 2: named_type("unsigned short")}


def _atomic(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    pointer, place = low.value(arguments[0]), low.place(node)
    if not isinstance(pointer.type, PointerType) or not isinstance(pointer.type.to, Scalar | VectorType):
        raise low.error(f"{name} takes a pointer to a number", node)
    space, ctype = pointer.type.space, pointer.type.to
    if space == "local":
        copy = copy_behind(pointer, low.copies)
        if copy is not None:
            raise written_copy(copy, place)
        raise low.error(f"{name} works on global and shared memory alone", node, id="unsupported")
    args = tuple(low.converted(low.value(argument), ctype, node) for argument in arguments[1:])
    width = ctype.count if isinstance(ctype, VectorType) else 1
    op = _ATOMICS[name.removesuffix("_block").removesuffix("_system")]
    return Atomic(
        ctype, op, Deref(ctype, pointer, place), args, place, low.add_access("atomic", space or "global", node, width)
    )


def _copied(low: Lowering, name: str, arguments: list[Node], node: Node) -> Stmt:
    """``__pipeline_memcpy_async``: the bytes that it fills with zero are the last ones."""
    count = int(low.constant(arguments[2], "the size of an asynchronous copy").value)
    if count not in (4, 8, 16):
        raise low.error(f"{name} copies 4, 8 or 16 bytes, not {count}", node)
    taken: Expr | None = None
    if len(arguments) > 3:
        filled = low.converted(low.value(arguments[3]), UINT, node)
        if not isinstance(filled, Const) or filled.value:
            taken = Binary(UINT, "-", Const(UINT, count), filled, low.place(node))
    return asynchronous_copy(low, low.value(arguments[0]), low.value(arguments[1]), count, taken, node)


def asynchronous_copy(low: Lowering, target: Expr, source: Expr, count: int, taken: Expr | None, node: Node) -> Copy:
    """The copy of ``count`` bytes between two pointers, of which ``taken`` are read."""
    to, of = (_pointing(low, each, count, node) for each in (target, source))
    space = target.type.space if isinstance(target.type, PointerType) else None
    access = low.add_access("copy", space, node, max(1, count // _WORD_BYTES))
    low.accesses[access] = replace(low.accesses[access], is_async=True)
    return Copy(to, of, True, taken, low.place(node), access)


def _pointing(low: Lowering, pointer: Expr, count: int, node: Node) -> Deref:
    ctype = _BYTES.get(count) or _WORDS.get(count // _WORD_BYTES)
    if not isinstance(pointer.type, PointerType) or not isinstance(ctype, Scalar | VectorType):
        raise low.error("an asynchronous copy takes two pointers", node)
    place = low.place(node)
    return Deref(ctype, Reinterpret(PointerType(ctype, pointer.type.space), pointer, place), place)


def _commit(low: Lowering, name: str, arguments: list[Node], node: Node) -> Stmt:
    return Commit(low.place(node))


def _wait(low: Lowering, name: str, arguments: list[Node], node: Node) -> Stmt:
    pending = low.converted(low.value(arguments[0]), INT, node)
    return Wait(low.add_access("wait", None, node), pending, low.place(node), False)


def _fence(low: Lowering, name: str, arguments: list[Node], node: Node) -> Stmt:
    return Fence(low.add_access("fence", None, node), low.place(node))


def _shared_address(low: Lowering, name: str, arguments: list[Node], node: Node) -> Expr:
    pointer = low.value(arguments[0])
    if not isinstance(pointer.type, PointerType):
        raise low.error(f"{name} takes a pointer", node)
    return Address(ULONG, pointer, "shared" if name.endswith("shared") else "global")


ASYNCHRONOUS_STATEMENTS = {
    "__pipeline_memcpy_async": _copied,
    "__pipeline_commit": _commit,
    "__pipeline_wait_prior": _wait,
    **dict.fromkeys(("__threadfence", "__threadfence_block", "__threadfence_system"), _fence),
}
MEMORY_FUNCTIONS = {
    **dict.fromkeys([f"{name}{scope}" for name in _ATOMICS for scope in _SCOPES], _atomic),
    **dict.fromkeys(("__cvta_generic_to_shared", "__cvta_generic_to_global"), _shared_address),
}
