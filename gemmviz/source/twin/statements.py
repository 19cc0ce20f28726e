"""Prints statement nodes as lines of CUDA C, with loops and barriers reported as events.

Slots are unique in a program, so a block within a block is printed without braces of its own.
"""

from collections.abc import Iterator
from textwrap import indent

from gemmviz.source.nodes import (
    Barrier,
    Block,
    Break,
    Commit,
    Continue,
    Copy,
    Declare,
    DeclareArray,
    Deref,
    Evaluate,
    Expr,
    Fence,
    If,
    Loop,
    Return,
    Sequence,
    Stmt,
    Unrolled,
    Wait,
)
from gemmviz.source.program_parts import Program
from gemmviz.source.twin.expressions import ExpressionPrinter, pointer_space
from gemmviz.source.twin.slots import aligned_slots, first_values, pointed_array, slot_names, slot_types, slots_used_outside
from gemmviz.source.twin.spelling import c_type
from gemmviz.source.types import ArrayType, CType, Scalar, StructType, VectorType
from gemmviz.source.walk import parts

_UNROLL = "#pragma unroll"
_NOTHING = Block(())


class Printer:
    """Prints the body of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.types = slot_types(program)
        self.aligned = aligned_slots(program)
        self.first_values = first_values(program)
        self.outside = slots_used_outside(program)
        self.expressions = ExpressionPrinter(slot_names(program), self.block, self.types)
        self.value, self.name = self.expressions.value, self.expressions.name

    def first(self) -> Iterator[str]:
        """Declarations at the beginning of the kernel, of what is declared in inlined calls and used behind them."""
        for each in parts(self.program.body):
            match each:
                case Declare(slot=slot) if slot in self.outside and slot in self.types:
                    yield f"{c_type(self.types[slot])} {self.name(slot)};"
                case DeclareArray(slot=slot) if slot in self.outside:
                    yield self._storage(each)

    def block(self, node: Stmt | None) -> list[str]:
        """The indented lines of a statement between braces."""
        return [] if node is None else [indent(line, "    ") for line in self.lines(node)]

    def lines(self, node: Stmt) -> Iterator[str]:
        match node:
            case Block(statements=statements):
                for each in statements:
                    yield from self.lines(each)
            case Declare(slot=slot, value=value):
                yield self._declared(slot, value)
            case DeclareArray():
                yield self._array(node)
            case Evaluate(expression=Sequence(parts=())):
                return
            case Evaluate(expression=expression):
                yield f"{self.value(expression)};"
            case If():
                yield from self._if(node)
            case Unrolled(slot=slot, values=values, loop=loop):
                yield f"{c_type(self.types[slot])} {self.name(slot)} = {values[0]};"
                yield from self._loop(loop, _UNROLL)
            case Loop():
                yield from self._loop(node)
            case _:
                yield self._simple(node)

    def _simple(self, node: Stmt) -> str:
        match node:
            case Break():
                return "break;"
            case Continue():
                return "continue;"
            case Return(value=None):
                return "return;"
            case Return(value=value) if value is not None:
                return f"return {self.value(value)};"
            case Barrier(access=access, waits_for_block=waits_for_block):
                return f"gv_arrive<{access}>(gv_self); {'__syncthreads' if waits_for_block else '__syncwarp'}();"
            case Fence(access=access):
                return f"gv_arrive<{access}>(gv_self); __threadfence();"
            case Copy():
                return self._copy(node)
            case Commit():
                return "gv_commit(gv_self);"
            case Wait(access=access, pending=pending):
                return f"gv_wait<{access}>(gv_self, {self.value(pending)});"
        raise AssertionError(node)

    def _declared(self, slot: int, value: Expr | None) -> str:
        ctype = self.types.get(slot)
        if ctype is None:
            return f"// {self.name(slot)} is never used"
        given = "" if value is None else f" = {self.value(value)}"
        return f"{'' if slot in self.outside else f'{c_type(ctype)} '}{self.name(slot)}{given};"

    def _storage(self, node: DeclareArray, values: str = "") -> str:
        element, name = storage(node.element, node.size, self.name(node.slot))
        return f"{'__align__(16) ' if node.slot in self.aligned else ''}{element} {name}{values};"

    def _array(self, node: DeclareArray) -> str:
        values = [self.value(each) for each in node.values or ()]
        if node.slot not in self.outside:
            return self._storage(node, "" if node.values is None else f" = {{{', '.join(values)}}}")
        if node.values is not None:
            values += ["{}"] * (node.size - len(values))
        return " ".join(f"{self.name(node.slot)}[{at}] = {each};" for at, each in enumerate(values)) or ";"

    def _copy(self, node: Copy) -> str:
        """A copy of the bytes of the target's type. It is done at once, as a copy that completes early may be. Its value is the
        number of the first element, of the wider of both arrays as in the interpreter.
        """
        ctype = c_type(node.target.type)
        spaces = f"{pointer_space(node.source)}, {pointer_space(node.target)}"
        to, of = (f"({ctype}*){self.value(side.pointer)}" for side in (node.target, node.source))
        taken = f"sizeof({ctype})" if node.fills_zero_from is None else self.value(node.fills_zero_from)
        kinds = [
            each for each in map(self._element, (node.source, node.target)) if each and each.bytes <= node.target.type.bytes
        ]
        element = c_type(max(kinds, key=lambda each: each.bytes)) if kinds else ctype
        return f"gv_copy<{node.access}, {spaces}, {ctype}, {element}>(gv_self, {to}, {of}, {taken});"

    def _element(self, side: Deref) -> Scalar | None:
        """The type of the elements of the array that one side of a copy points into, None if it isn't known."""
        to: CType | None = pointed_array(side.pointer, self.first_values)
        while isinstance(to, ArrayType):
            to = to.element
        to = to.scalar if isinstance(to, VectorType) else to
        return to if isinstance(to, Scalar) else None

    def _if(self, node: If) -> Iterator[str]:
        yield f"if ({self.value(node.condition)}) {{"
        yield from self.block(node.then)
        if node.otherwise not in (None, _NOTHING):
            yield "} else {"
            yield from self.block(node.otherwise)
        yield "}"

    def _loop(self, node: Loop, pragma: str = "") -> Iterator[str]:
        kind = "gv_phases" if node.number == self.program.phase_loop else "gv_loop"
        trips = f"gv_trips_{node.number}"
        condition = f"{trips}.next(), {'true' if node.condition is None else self.value(node.condition)}"
        yield "{"
        yield f"    {kind}<{node.number}> {trips}(gv_self, {-1 if node.tests_first else 0});"
        if pragma:
            yield pragma
        if node.tests_first:
            yield f"    for (; {condition}; {'' if node.step is None else self.value(node.step)}) {{"
        else:
            yield "    do {"
        yield from (indent(line, "    ") for line in self.block(node.body))
        yield "    }" if node.tests_first else f"    }} while ({condition});"
        yield "}"


def storage(element: Scalar | VectorType | StructType, size: int, name: str) -> tuple[str, str]:
    """The element type and the declarator of an array. Structs are stored as bytes."""
    if isinstance(element, StructType):
        return "unsigned char", f"{name}[{element.bytes * size}]"
    return c_type(element), f"{name}[{size}]"
