"""Prints expression nodes as CUDA C, with every access to memory wrapped in a call that records it.

Each operation is printed with its own parentheses and with operands of the type in which it is computed, so that the compiler
evaluates, contracts and rounds as in the real kernel.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from gemmviz.source.nodes import (
    Address,
    Assign,
    AtAddress,
    Atomic,
    Base,
    Binary,
    Block,
    Call,
    Component,
    Const,
    Convert,
    Deref,
    Expr,
    Extent,
    Index,
    Inline,
    Logic,
    MakeVector,
    Offset,
    PointerDifference,
    Read,
    Reinterpret,
    Select,
    Sequence,
    Unary,
)  # fmt: skip
from gemmviz.source.twin.spelling import c_type, constructor, literal, scale_in_target, target_type
from gemmviz.source.types import COMPONENTS, ArrayType, CType, PointerType, Scalar

_SPACES = {"global": "GV_IN_GLOBAL", "shared": "GV_IN_SHARED"}
_FULL_WARP = "0xffffffffu"
_ATOMICS = {"exch": "Exch", "cas": "CAS"}


class ExpressionPrinter(Struct):
    """Prints the expressions of a program. ``names`` and ``types`` are those of its slots; ``body`` prints the body of an
    inlined function.
    """

    names: Mapping[int, str]
    body: Callable[[Block], list[str]]
    types: Mapping[int, CType]

    def name(self, slot: int) -> str:
        return self.names.get(slot, f"v_{slot}")

    def value(self, node: Expr) -> str:
        """The C expression of a node's value."""
        match node:
            case Const():
                return literal(node)
            case Index(of_block=of_block, axis=axis):
                return f"gv_block_index({axis})" if of_block else f"threadIdx.{'xyz'[axis]}"
            case Extent(of_grid=of_grid, axis=axis):
                return f"gv_grid_extent({axis})" if of_grid else f"blockDim.{'xyz'[axis]}"
            case Read(slot=slot):
                return self.name(slot)
            case Base() | Offset() | Reinterpret() | Address() | AtAddress() | PointerDifference():
                return self.pointer(node)
            case Deref(access=None):
                return self.memory(node)
            case Deref(access=int(access)):
                return self._reported("load", access, node, self.memory(node))
            case Component(of=of, index=index):
                return f"{self.value(of)}.{COMPONENTS[index]}"
            case Assign():
                return f"({self._assignment(node)})"
            case Inline():
                return self._inlined(node)
            case Call() | Atomic():
                return self._called(node)
        return self._computed(node)

    def _computed(self, node: Expr) -> str:
        """An operation without effects of its own."""
        match node:
            case MakeVector(type=vector, parts=parts):
                return f"{constructor(vector)}({', '.join(map(self.value, parts))})"
            case Unary(op=op, operand=operand):
                return f"({op}{self.value(operand)})"
            case Binary(op=op, left=left, right=right) | Logic(op=op, left=left, right=right):
                return f"({self.value(left)} {op} {self.value(right)})"
            case Select(condition=condition, then=then, otherwise=otherwise):
                return f"({self.value(condition)} ? {self.value(then)} : {self.value(otherwise)})"
            case Convert(type=to, operand=operand):
                return f"({c_type(to)})({self.value(operand)})"
            case Sequence(parts=parts):
                return f"({', '.join(map(self.value, parts))})" if parts else "(void)0"
        raise AssertionError(node)

    def pointer(self, node: Expr) -> str:
        """The C expression of a pointer, or of an operation on pointers."""
        match node:
            case Base(type=PointerType(to=to), slot=slot):
                return f"(({target_type(to)}*){self.name(slot)})"
            case Offset(pointer=pointer, index=index, scale=scale):
                return self._moved(pointer, index, scale)
            case Reinterpret(type=to, pointer=pointer):
                return f"(({c_type(to)}){self.value(pointer)})"
            case PointerDifference(left=left, right=right):
                return f"(long long)({self.value(left)} - {self.value(right)})"
            case Address(type=scalar, pointer=pointer, window="shared"):
                return f"({c_type(scalar)})__cvta_generic_to_shared({self.value(pointer)})"
            case Address(type=scalar, pointer=pointer):
                return f"({c_type(scalar)})(unsigned long long)({self.value(pointer)})"
            case AtAddress(type=PointerType(space="shared") as to, address=address):
                return f"(({c_type(to)})__cvta_shared_to_generic({self.value(address)}))"
            case AtAddress(type=to, address=address):
                return f"(({c_type(to)})({self.value(address)}))"
        raise AssertionError(node)

    def _moved(self, pointer: Expr, index: Expr, scale: int) -> str:
        start = self.value(pointer)
        if isinstance(index, Const) and index.value == 0:
            return start
        scale = scale_in_target(pointer.type, scale)
        if scale in (1, -1):
            return f"({start} {'+' if scale > 0 else '-'} {self.value(index)})"
        return f"({start} + (long long){self.value(index)} * {scale})"

    def memory(self, node: Deref) -> str:
        """The memory that a node designates, without recording the access."""
        return f"(*{self.value(node.pointer)})"

    def _reported(self, kind: str, access: int, node: Deref, element: str) -> str:
        return f"gv_{kind}<{access}, {pointer_space(node)}>(gv_self, {element})"

    def _assignment(self, node: Assign) -> str:
        target = node.target
        if not isinstance(target, Deref) or node.store is None:
            return self._assigned(self.memory(target) if isinstance(target, Deref) else self.value(target), node)
        element = self.memory(target)
        if node.op is not None and target.access is not None:
            element = self._reported("load", target.access, target, element)
        stored = self._assigned(self._reported("store", node.store, target, element), node)
        return f"gv_wrote(gv_self, {stored})"

    def _assigned(self, target: str, node: Assign) -> str:
        if node.gives_old and node.op is not None:
            return f"{target}{node.op * 2}"
        if node.gives_old:
            return f"gv_exchanged({target}, {self.value(node.value)})"
        return f"{target} {node.op or ''}= {self.value(node.value)}"

    def _inlined(self, node: Inline) -> str:
        bound = [f"    {c_type(self.types[slot])} {self.name(slot)} = {self.value(value)};" for slot, value in node.bindings]
        return "\n".join([f"[&]() -> {c_type(node.type)} {{", *bound, *self.body(node.body), "}()"])

    def _called(self, node: Call | Atomic) -> str:
        if isinstance(node, Atomic):
            target = f"&{self._reported('atomic', node.access, node.target, self.memory(node.target))}"
            name = f"atomic{_ATOMICS.get(node.op, node.op.capitalize())}"
            return f"{name}({', '.join([target, *map(self.value, node.args)])})"
        args = [self.value(arg) for arg in node.args]
        match node.name:
            case "assert":
                return f"({args[0]} ? (void)0 : __trap())"
            case "memset":
                assert isinstance(node.args[2].type, Scalar)
                return f"memset({args[0]}, 0, {args[1]} * {node.args[2].type.bytes})"
            case name if name.startswith("__shfl") and len(args) == 3:
                return f"{name}({', '.join([_FULL_WARP, *args])})"
        return f"{node.name}({', '.join(args)})"


def pointer_space(node: Deref) -> str:
    """The space of an access as a template argument: where its pointer points, any if that isn't known."""
    pointer = node.pointer.type
    space = pointer.space if isinstance(pointer, PointerType | ArrayType) else None
    return _SPACES.get(space or "", "GV_IN_ANY")
