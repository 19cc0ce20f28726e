"""Prints statement nodes as lines of CUDA C, with loops and barriers reported as events.

Slots are unique in a program, so a block within a block is printed without braces of its own.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from textwrap import indent
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.cuda import nodes as n
from gemmviz.cuda.granularity import declared_scalar
from gemmviz.cuda.types import (
    COMPONENTS,
    FLOAT,
    MATRIX_INSTRUCTIONS,
    UINT,
    ArrayType,
    CType,
    PointerType,
    Scalar,
    StructType,
    VectorType,
    Void,
    unit_bytes,
)
from gemmviz.cuda.walk import diverging, inner_nodes, nodes_of
from gemmviz.model.element_types import DeviceSpelling

# Variables of a program as the twin declares them: the type and the name of each slot.


def slot_types(program: n.Program) -> dict[int, CType]:
    """The type of each variable that holds a value or a pointer."""
    types: dict[int, CType] = {each.slot: each.type for each in program.parameters}
    for part in nodes_of(program):
        match part:
            case n.Read(slot=slot, type=ctype):
                types[slot] = ctype
            case n.Declare(slot=slot, value=value) | n.Return(slot=int(slot), value=value) if value is not None:
                types.setdefault(slot, value.type)
            case n.Inline(bindings=bindings, result=result):
                for slot, value in bindings:
                    types.setdefault(slot, value.type)
                if result is not None:
                    types[result] = part.type
            case n.Assign(target=n.Read(slot=slot), type=ctype):
                types.setdefault(slot, ctype)
    return types


def slots_used_outside(program: n.Program) -> frozenset[int]:
    """Variables that are declared in the body of an inlined call and used behind it, such as the members of what it returns."""
    homes: dict[int, int] = {}  # the call in whose body a variable is declared
    uses: list[tuple[int, frozenset[int]]] = []
    waiting: list[tuple[Any, int, frozenset[int]]] = [(program.body, 0, frozenset((0,)))]
    while waiting:
        node, call, around = waiting.pop()
        match node:
            case n.Declare(slot=slot) | n.DeclareArray(slot=slot):
                homes[slot] = call
            case n.Read(slot=slot) | n.Base(slot=slot):
                uses.append((slot, around))
            case n.Inline():
                call = id(node)
                around |= {call}
        waiting += ((each, call, around) for each in inner_nodes(node))
    return frozenset(slot for slot, around in uses if homes.get(slot, 0) not in around)


def aligned_slots(program: n.Program) -> frozenset[int]:
    """Local arrays that may be accessed in wider pieces than their elements, and so need the alignment of the widest."""
    arrays = {each.slot for each in nodes_of(program) if isinstance(each, n.DeclareArray)}
    roots = [_root(each.pointer) for each in nodes_of(program) if isinstance(each, n.Reinterpret)]
    through_variable = any(isinstance(root, n.Read) and getattr(root.type, "space", None) == "local" for root in roots)
    return frozenset(arrays if through_variable else arrays & {root.slot for root in roots if isinstance(root, n.Base)})


def _root(pointer: n.Expr) -> n.Expr:
    """The array or variable from which a pointer is computed."""
    while isinstance(pointer, n.Offset | n.Reinterpret):
        pointer = pointer.pointer
    return pointer


def first_values(program: n.Program) -> dict[int, n.Expr]:
    """The first value that each variable, parameter or result of an inlined call is given."""
    values: dict[int, n.Expr] = {}
    for part in nodes_of(program):
        match part:
            case n.Declare(slot=slot, value=value) | n.Return(slot=int(slot), value=value) if value is not None:
                values.setdefault(slot, value)
            case n.Inline(bindings=bindings):
                for slot, value in bindings:
                    values.setdefault(slot, value)
    return values


def pointed_array(pointer: n.Expr, values: Mapping[int, n.Expr]) -> CType | None:
    """What the array is of into which a pointer, or a number made of one, points: followed through casts, calls and the first
    values of variables to a parameter or an array. None if it leads to neither.
    """
    seen: set[int] = set()
    while True:
        match pointer:
            case n.Offset(pointer=inner) | n.Reinterpret(pointer=inner) | n.Address(pointer=inner):
                pointer = inner
            case n.AtAddress(address=inner) | n.Convert(operand=inner) | n.Binary(left=inner):
                pointer = inner
            case n.Inline(result=int(slot)) | n.Read(slot=slot) if slot in values and slot not in seen:
                seen.add(slot)
                pointer = values[slot]
            case n.Read(type=PointerType(to=to)) | n.Base(type=PointerType(to=to)):
                return to
            case _:
                return None


def slot_names(program: n.Program) -> Mapping[int, str]:
    """A unique C name for each slot: its name in the source, if it has one, and its number."""
    named: list[n.FunctionParameter | n.NamedSlot | n.SharedArray] = [*program.parameters, *program.variables, *program.shared]
    names = {each.slot: each.name for each in named}
    for part in nodes_of(program):
        match part:
            case n.Read(slot=slot, name=name) | n.DeclareArray(slot=slot, name=name):
                names.setdefault(slot, name)
    return {slot: _identifier(name, slot) for slot, name in names.items()}


def _identifier(name: str, slot: int) -> str:
    plain = re.sub(r"\W", "", name, flags=re.ASCII).lstrip("_0123456789")
    return f"{plain or 'v'}_{slot}"


# Types and constants of the nodes as CUDA C spells them, independent of the user's own names and of the platform.


def c_type(ctype: CType) -> str:
    """A type as spelled in the twin. A struct or void behind a pointer is bytes, since its members are reached by offsets."""
    match ctype:
        case Scalar():
            return ctype.element.device.type
        case VectorType(is_bulk=True, bytes=size):
            return f"gv_bytes<{size}>"
        case VectorType(scalar=scalar, count=count):
            spelling = scalar.element.device
            return spelling.pair or f"{spelling.vector}{count}"
        case PointerType(to=to):
            return f"{target_type(to)}*"
        case ArrayType(element=element):
            return f"{target_type(element)}*"
        case Void():
            return "void"
    raise AssertionError(ctype)


def target_type(to: CType) -> str:
    """The type behind a pointer to ``to``; an array's elements behind one to an array."""
    while isinstance(to, ArrayType):
        to = to.element
    return "unsigned char" if isinstance(to, StructType | Void | PointerType) else c_type(to)


def scale_in_target(pointer: CType, scale: int) -> int:
    """An offset's scale in elements of the type behind a pointer, as the twin prints it: a vector as one element, a struct as
    bytes.
    """
    target = pointer.to if isinstance(pointer, PointerType) else pointer
    while isinstance(target, ArrayType):
        target = target.element
    match target:
        case StructType() as struct:
            return scale * unit_bytes(struct)
        case VectorType(count=count):
            return scale // count
    return scale


def constructor(vector: VectorType) -> str:
    """The function that makes a vector of its components."""
    return vector.scalar.element.device.pair_maker or f"make_{c_type(vector)}"


def literal(constant: n.Const) -> str:
    """A constant with its exact value and type."""
    if isinstance(constant.type, PointerType):
        return f"({c_type(constant.type)}){int(constant.value)}"
    spelling, value = constant.type.element.device, constant.value
    if constant.type.kind == "b":
        return "true" if value else "false"
    if constant.type.is_float:
        return _float(spelling, constant.type, float(value))
    if int(value) == -(2 ** (constant.type.bits - 1)) and spelling.least:
        return spelling.least
    number = f"{int(value)}{spelling.suffix}"
    number = f"({number})" if value < 0 else number
    return number if constant.type.bits >= 32 else f"({spelling.type}){number}"


def _float(spelling: DeviceSpelling, scalar: Scalar, value: float) -> str:
    if scalar.bits >= 32 and math.isfinite(value):
        number = value.hex() + spelling.suffix
        return f"({number})" if number.startswith("-") else number
    with np.errstate(over="ignore"):
        stored = scalar.element.elements(np.array(value))
    return spelling.from_bits.format(int(stored.view(f"uint{scalar.bits}")))


def headers(types: Iterable[CType]) -> list[str]:
    """CUDA's own headers that these types need."""
    return sorted({each for each in map(_header, types) if each})


def _header(ctype: CType) -> str:
    match ctype:
        case Scalar():
            return ctype.element.device.header
        case VectorType(scalar=scalar):
            return scalar.element.device.header
        case PointerType(to=to) | ArrayType(element=to):
            return _header(to)
    return ""


# Prints expression nodes as CUDA C, with every access to memory wrapped in a call that records it.

_FULL_WARP = "0xffffffffu"


class ExpressionPrinter(Struct):
    """Prints the expressions of a program. ``names``, ``types`` and ``first_values`` are those of its slots; ``body`` prints
    the body of an inlined function; ``branches`` are those that are recorded.
    """

    names: Mapping[int, str]
    body: Callable[[n.Block], list[str]]
    types: Mapping[int, CType]
    first_values: Mapping[int, n.Expr]
    branches: frozenset[int]

    def name(self, slot: int) -> str:
        return self.names.get(slot, f"v_{slot}")

    def value(self, node: n.Expr) -> str:
        """The C expression of a node's value."""
        match node:
            case n.Const():
                return literal(node)
            case n.Index(of_block=of_block, axis=axis):
                return f"gv_block_index({axis})" if of_block else f"threadIdx.{'xyz'[axis]}"
            case n.Extent(of_grid=of_grid, axis=axis):
                return f"gv_grid_extent({axis})" if of_grid else f"blockDim.{'xyz'[axis]}"
            case n.Read(slot=slot):
                return self.name(slot)
            case n.Base() | n.Offset() | n.Reinterpret() | n.Address() | n.AtAddress() | n.PointerDifference():
                return self.pointer(node)
            case n.Deref(access=None):
                return self.memory(node)
            case n.Deref(access=int(access)):
                return _reported("load", access, node, self.memory(node))
            case n.Component(of=of, index=index):
                return f"{self.value(of)}.{COMPONENTS[index]}"
            case n.Assign():
                return f"({self._assignment(node)})"
            case n.Inline():
                return self._inlined(node)
            case n.Call():
                return self._called(node)
            case n.Instruction():
                return _PRINTED[type(node)](self, node)
        return self._computed(node)

    def _computed(self, node: n.Expr) -> str:
        """An operation without effects of its own."""
        match node:
            case n.MakeVector(type=vector, parts=parts):
                return f"{constructor(vector)}({', '.join(map(self.value, parts))})"
            case n.Unary(op=op, operand=operand):
                return f"({op}{self.value(operand)})"
            case n.Binary(op=op, left=left, right=right) | n.Logic(op=op, left=left, right=right):
                return f"({self.value(left)} {op} {self.value(right)})"
            case n.Select(condition=condition, then=then, otherwise=otherwise, branch=branch):
                return f"({self.condition(condition, branch)} ? {self.value(then)} : {self.value(otherwise)})"
            case n.Convert(type=to, operand=operand):
                return f"({c_type(to)})({self.value(operand)})"
            case n.Sequence(parts=parts):
                return f"({', '.join(map(self.value, parts))})" if parts else "(void)0"
        raise AssertionError(node)

    def condition(self, node: n.Expr, branch: int | None) -> str:
        """The C expression of the condition of a branch, recorded where lanes may part."""
        return f"gv_part<{branch}>(gv_self, {self.value(node)})" if branch in self.branches else self.value(node)

    def pointer(self, node: n.Expr) -> str:
        """The C expression of a pointer, or of an operation on pointers."""
        match node:
            case n.Base(type=PointerType(to=to), slot=slot):
                return f"(({target_type(to)}*){self.name(slot)})"
            case n.Offset(pointer=pointer, index=index, scale=scale):
                return self._moved(pointer, index, scale)
            case n.Reinterpret(type=to, pointer=pointer):
                return f"(({c_type(to)}){self.value(pointer)})"
            case n.PointerDifference(left=left, right=right):
                return f"(long long)({self.value(left)} - {self.value(right)})"
            case n.Address(type=scalar, pointer=pointer, window="shared"):
                return f"({c_type(scalar)})__cvta_generic_to_shared({self.value(pointer)})"
            case n.Address(type=scalar, pointer=pointer):
                return f"({c_type(scalar)})(unsigned long long)({self.value(pointer)})"
            case n.AtAddress(type=PointerType(space="shared") as to, address=address):
                return f"(({c_type(to)})__cvta_shared_to_generic({self.value(address)}))"
            case n.AtAddress(type=to, address=address):
                return f"(({c_type(to)})({self.value(address)}))"
        raise AssertionError(node)

    def _moved(self, pointer: n.Expr, index: n.Expr, scale: int) -> str:
        start = self.value(pointer)
        if isinstance(index, n.Const) and index.value == 0:
            return start
        scale = scale_in_target(pointer.type, scale)
        if scale in (1, -1):
            return f"({start} {'+' if scale > 0 else '-'} {self.value(index)})"
        return f"({start} + (long long){self.value(index)} * {scale})"

    def memory(self, node: n.Deref) -> str:
        """The memory that a node designates, without recording the access."""
        return f"(*{self.value(node.pointer)})"

    def _assignment(self, node: n.Assign) -> str:
        target = node.target
        if not isinstance(target, n.Deref) or node.store is None:
            return self._assigned(self.memory(target) if isinstance(target, n.Deref) else self.value(target), node)
        element = self.memory(target)
        if node.op is not None and target.access is not None:
            element = _reported("load", target.access, target, element)
        stored = self._assigned(_reported("store", node.store, target, element), node)
        return f"gv_wrote(gv_self, {stored})"

    def _assigned(self, target: str, node: n.Assign) -> str:
        if node.gives_old and node.op is not None:
            return f"{target}{node.op * 2}"
        if node.gives_old:
            return f"gv_exchanged({target}, {self.value(node.value)})"
        return f"{target} {node.op or ''}= {self.value(node.value)}"

    def _inlined(self, node: n.Inline) -> str:
        bound = [f"    {c_type(self.types[slot])} {self.name(slot)} = {self.value(value)};" for slot, value in node.bindings]
        return "\n".join([f"[&]() -> {c_type(node.type)} {{", *bound, *self.body(node.body), "}()"])

    def _called(self, node: n.Call) -> str:
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


# Prints the instructions that reach memory as calls of twin.cuh.

_SPACES = {"global": "GV_IN_GLOBAL", "shared": "GV_IN_SHARED"}
_ATOMICS = {"exch": "Exch", "cas": "CAS"}


def _reported(kind: str, access: int, node: n.Deref, element: str) -> str:
    """The C expression of what a pointer designates, with the access recorded."""
    return f"gv_{kind}<{access}, {_space(node)}>(gv_self, {element})"


def _space(node: n.Deref) -> str:
    """The space of an access as a template argument: where its pointer points, any if that isn't known."""
    pointer = node.pointer.type
    space = pointer.space if isinstance(pointer, PointerType | ArrayType) else None
    return _SPACES.get(space or "", "GV_IN_ANY")


def _printed_atomic(printer: ExpressionPrinter, node: n.Atomic) -> str:
    target = f"&{_reported('atomic', node.access, node.target, printer.memory(node.target))}"
    return f"atomic{_ATOMICS.get(node.op, node.op.capitalize())}({', '.join([target, *map(printer.value, node.args)])})"


def _printed_copy(printer: ExpressionPrinter, node: n.Copy) -> str:
    """A copy of the bytes of the target's type. It is done at once, as a copy that completes early may be. Its value is the
    number of the first element, of the wider of both arrays as in the interpreter.
    """
    ctype = c_type(node.target.type)
    spaces = f"{_space(node.source)}, {_space(node.target)}"
    to, of = (f"({ctype}*){printer.value(side.pointer)}" for side in (node.target, node.source))
    is_bulk = isinstance(node.target.type, VectorType) and node.target.type.is_bulk
    taken = f"sizeof({ctype})" if node.fills_zero_from is None else printer.value(node.fills_zero_from)
    elements = (_element_behind(printer, each) for each in (node.source, node.target))
    kinds = [each for each in elements if each and each.bytes <= node.target.type.bytes]
    element = c_type(max(kinds, key=lambda each: each.bytes)) if kinds else ctype
    if is_bulk:
        word = "nullptr" if node.counts_at is None else printer.value(node.counts_at.pointer)
        return f"gv_bulk_copy<{node.access}, {spaces}, {node.target.type.bytes}, {element}>(gv_self, {to}, {of}, {word})"
    return f"gv_copy<{node.access}, {spaces}, {ctype}, {element}>(gv_self, {to}, {of}, {taken})"


def _element_behind(printer: ExpressionPrinter, side: n.Deref) -> Scalar | None:
    """The type of the elements of the array that one side of a copy points into, None if it isn't known."""
    return declared_scalar(pointed_array(side.pointer, printer.first_values))


def _printed_product(printer: ExpressionPrinter, node: n.MatrixProduct) -> str:
    """The instruction itself. Constraints: "f" of a float, "r" of an integer."""
    matrix = MATRIX_INSTRUCTIONS[node.instruction]
    result, letter = c_type(matrix.result), {FLOAT: "f"}
    outputs = [f'"={letter.get(matrix.result.scalar, "r")}"(d.{each})' for each in COMPONENTS[: matrix.result.count]]
    inputs = [
        f'"{letter.get(scalar, "r")}"({printer.value(value)})'
        for scalar, value in zip(matrix.parameters, node.values, strict=True)
    ]
    places, groups = iter(range(len(outputs) + len(inputs))), (len(outputs), *matrix.registers)
    operands = ", ".join(f"{{{', '.join(f'%{next(places)}' for _ in range(count))}}}" for count in groups)
    asm = f'asm volatile("{matrix.ptx} {operands};" : {", ".join(outputs)} : {", ".join(inputs)});'
    return f"[&]() -> {result} {{ gv_multiply<{node.access}>(gv_self); {result} d; {asm} return d; }}()"


def _printed_matrices(printer: ExpressionPrinter, node: n.LoadMatrix | n.StoreMatrix) -> str:
    behind = _element_behind(printer, node.row)
    element = c_type(behind) if behind is not None and behind.bytes <= UINT.bytes else c_type(UINT)
    turned, row = str(node.is_transposed).lower(), printer.value(node.row.pointer)
    if isinstance(node, n.LoadMatrix):
        return f"gv_load_matrix{node.count}<{node.access}, {element}, {turned}>(gv_self, {row})"
    count, given = len(node.values), ", ".join(map(printer.value, node.values))
    register = given if count == 1 else f"make_uint{count}({given})"
    return f"gv_store_matrix{count}<{node.access}, {element}, {turned}>(gv_self, {row}, {register})"


def _printed_transposition(printer: ExpressionPrinter, node: n.MoveMatrix) -> str:
    return f"gv_move_matrix<{node.access}>(gv_self, {printer.value(node.value)})"


_PRINTED: dict[type[n.Instruction], Callable[..., str]] = {
    n.Atomic: _printed_atomic,
    n.Copy: _printed_copy,
    n.MatrixProduct: _printed_product,
    n.MoveMatrix: _printed_transposition,
    n.LoadMatrix: _printed_matrices,
    n.StoreMatrix: _printed_matrices,
}


# Prints statements.

_UNROLL, _ALL_THREADS = "#pragma unroll", "blockDim.x * blockDim.y * blockDim.z"
_NOTHING = n.Block(())


class Printer:
    """Prints the body of a program."""

    def __init__(self, program: n.Program) -> None:
        self.program = program
        self.types = slot_types(program)
        self.aligned = aligned_slots(program)
        self.outside = slots_used_outside(program)
        self.expressions = ExpressionPrinter(
            slot_names(program), self.block, self.types, first_values(program), diverging(program)
        )
        self.value, self.name = self.expressions.value, self.expressions.name

    def first(self) -> Iterator[str]:
        """Declarations at the beginning of the kernel, of what is declared in inlined calls and used behind them."""
        for each in nodes_of(self.program):
            match each:
                case n.Declare(slot=slot) if slot in self.outside and slot in self.types:
                    yield f"{c_type(self.types[slot])} {self.name(slot)};"
                case n.DeclareArray(slot=slot) if slot in self.outside:
                    yield self._storage(each)

    def block(self, node: n.Stmt | None) -> list[str]:
        """The indented lines of a statement between braces."""
        return [] if node is None else [indent(line, "    ") for line in self.lines(node)]

    def lines(self, node: n.Stmt) -> Iterator[str]:
        match node:
            case n.Block(statements=statements):
                for each in statements:
                    yield from self.lines(each)
            case n.Declare(slot=slot, value=value):
                yield self._declared(slot, value)
            case n.DeclareArray():
                yield self._array(node)
            case n.Evaluate(expression=n.Sequence(parts=())):
                return
            case n.Evaluate(expression=expression):
                yield f"{self.value(expression)};"
            case n.If():
                yield from self._if(node)
            case n.Unrolled(slot=slot, values=values, loop=loop):
                yield f"{c_type(self.types[slot])} {self.name(slot)} = {values[0]};"
                yield from self._loop(loop, _UNROLL)
            case n.Loop():
                yield from self._loop(node)
            case _:
                yield self._simple(node)

    def _simple(self, node: n.Stmt) -> str:
        match node:
            case n.Break():
                return "break;"
            case n.Continue():
                return "continue;"
            case n.Return(value=None):
                return "return;"
            case n.Return(value=value) if value is not None:
                return f"return {self.value(value)};"
            case n.Barrier(access=access, number=number, count=count, waits=waits) if number is not None:
                at, size = self.value(number), _ALL_THREADS if count is None else self.value(count)
                return f"gv_arrive<{access}>(gv_self, {at}); gv_barrier({str(waits).lower()}, {at}, {size});"
            case n.Mbarrier(access=access, op=op, at=at, args=args):
                given = ", ".join(("gv_self", "gv_own", self.value(at.pointer), *map(self.value, args)))
                return f"gv_mbarrier_{op}<{access}>({given});"
            case n.Barrier(access=access, waits_for_block=waits_for_block):
                return f"gv_arrive<{access}>(gv_self); {'__syncthreads' if waits_for_block else '__syncwarp'}();"
            case n.Fence(access=access):
                return f"gv_arrive<{access}>(gv_self); __threadfence();"
            case n.Commit():
                return "gv_commit(gv_self);"
            case n.Wait(access=access, pending=pending):
                return f"gv_wait<{access}>(gv_self, {self.value(pending)});"
        raise AssertionError(node)

    def _declared(self, slot: int, value: n.Expr | None) -> str:
        ctype = self.types.get(slot)
        if ctype is None:
            return f"// {self.name(slot)} is never used"
        given = "" if value is None else f" = {self.value(value)}"
        return f"{'' if slot in self.outside else f'{c_type(ctype)} '}{self.name(slot)}{given};"

    def _storage(self, node: n.DeclareArray, values: str = "") -> str:
        element, name = storage(node.element, node.size, self.name(node.slot))
        return f"{'__align__(16) ' if node.slot in self.aligned else ''}{element} {name}{values};"

    def _array(self, node: n.DeclareArray) -> str:
        values = [self.value(each) for each in node.values or ()]
        if node.slot not in self.outside:
            return self._storage(node, "" if node.values is None else f" = {{{', '.join(values)}}}")
        if node.values is not None:
            values += ["{}"] * (node.size - len(values))
        return " ".join(f"{self.name(node.slot)}[{at}] = {each};" for at, each in enumerate(values)) or ";"

    def _if(self, node: n.If) -> Iterator[str]:
        yield f"if ({self.expressions.condition(node.condition, node.branch)}) {{"
        yield from self.block(node.then)
        if node.otherwise not in (None, _NOTHING):
            yield "} else {"
            yield from self.block(node.otherwise)
        yield "}"

    def _loop(self, node: n.Loop, pragma: str = "") -> Iterator[str]:
        kind = "gv_phases" if node.number == self.program.phase_loop else "gv_loop"
        trips = f"gv_trips_{node.number}"
        tested = "true" if node.condition is None else self.expressions.condition(node.condition, node.branch)
        condition = f"{trips}.next(), {tested}"
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
