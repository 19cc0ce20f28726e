"""What is known of nodes without running them: constants folded by C's rules; walks over all nodes within one, and what a walk
tells: accesses, loops worth unrolling, counters of loops.
"""

import math
import operator
import struct
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct, field

from gemmviz.cuda import nodes
from gemmviz.cuda import nodes as n
from gemmviz.cuda.nodes import (
    Assign,
    Barrier,
    Binary,
    Block,
    Break,
    Const,
    Continue,
    Convert,
    Declare,
    Deref,
    Expr,
    If,
    Loop,
    Number,
    Program,
    Read,
    Return,
    Stmt,
    Touch,
    Unrolled,
    touches,
)
from gemmviz.cuda.types import CType, PointerType, Scalar
from gemmviz.model.messages import Place

# Constant folding by C's rules.

# Conversions of single numbers that round once, as the device rounds; NumPy isn't needed.

_PACKED = {16: "<e", 32: "<f"}
_BFLOAT16_SIGNIFICANT = 8
_FLOAT_EXPONENT = 126  # of the smallest normal float32 and bfloat16: 2 ** -126


def rounded(value: float, to: Scalar) -> float:
    """The number of the floating-point type ``to`` that is nearest to a double; ties go to even."""
    if to.bits == 64 or not math.isfinite(value):
        return value
    if to.element.encode is not None:
        return _nearest_bfloat16(Fraction(value), value)
    return _rounded_to(value, _PACKED[to.bits])


def _rounded_to(value: float, form: str) -> float:
    try:
        return float(struct.unpack(form, struct.pack(form, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _nearest_bfloat16(exact: Fraction, near: float) -> float:
    """The bfloat16 nearest to a finite exact number; ``near`` is a double close to it."""
    if not exact:
        return near
    exponent = max(math.frexp(near)[1], 1 - _FLOAT_EXPONENT)
    step = Fraction(2) ** (exponent - _BFLOAT16_SIGNIFICANT)
    return _rounded_to(float(round(exact / step) * step), "<f")


def integer_to_float(value: int, to: Scalar) -> float:
    """The floating-point number nearest to an integer of at most 64 bits."""
    return literal_to_float(Fraction(value), to)


def literal_to_float(exact: Decimal | Fraction, to: Scalar) -> float:
    """The floating-point number nearest to a literal; infinity if it is too large."""
    try:
        double = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if to.bits == 64 or not math.isfinite(double):
        return double
    if exact != double and not _is_odd(double):
        double = math.nextafter(double, math.inf if exact > double else -math.inf)
    return rounded(double, to)


def _is_odd(double: float) -> bool:
    """Whether the last bit of the significand is set: what is rounded to odd is rounded on as the exact number would be."""
    return bool(struct.unpack("<q", struct.pack("<d", double))[0] & 1)


def truncated(value: float, source: Scalar, to: Scalar) -> int:
    """The value truncated towards zero, as an integer of the type ``to``; values out of range saturate.

    nvcc converts by ``cvt.rzi`` to 32 or 64 bits and cuts the result to narrower types. PTX ISA 9.0, cvt: values out of range
    are clamped; NaN becomes 0 if the source is not .f64 and the destination has 32 bits, else ``1 << (bits - 1)``.
    """
    bits = max(32, to.bits)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if to.kind == "i" else (0, (1 << bits) - 1)
    if math.isnan(value):
        whole = 0 if source.bits < 64 and bits == 32 else 1 << (bits - 1)
    elif math.isinf(value):
        whole = high if value > 0 else low
    else:
        whole = max(low, min(math.trunc(value), high))
    whole &= (1 << to.bits) - 1
    return whole - (1 << to.bits) if to.kind == "i" and whole >> (to.bits - 1) else whole


COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CHOICES: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}
SHIFT_BITS = (1 << 32) - 1  # of a shift's amount: shl and shr take 32, and clamp what is larger than the width (PTX ISA)


def converted(value: Number, source: Scalar, to: Scalar) -> Number:
    """The value converted from ``source`` to ``to`` as nvcc does: integers wrap, floats round, and saturate as integers."""
    if to.kind == "b":
        return bool(value)
    if to.is_float:
        return rounded(float(value), to) if source.is_float else integer_to_float(int(value), to)
    if source.is_float and not -1 < value < 2**31:
        return truncated(float(value), source, to)
    return wrap(int(value), to)


def wrap(value: int, to: Scalar) -> int:
    """An integer reduced modulo 2**bits to the range of ``to``."""
    value &= (1 << to.bits) - 1
    return value - (1 << to.bits) if to.kind == "i" and value >> (to.bits - 1) else value


def truncated_quotient(a: int, b: int) -> int:
    """The quotient of C, rounded towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def apply_binary(op: str, a: Any, b: Any, within: Scalar) -> Number:
    """The result of ``a op b``, both of type ``within``. Raises ZeroDivisionError for an integer division by zero."""
    if op in COMPARISONS:
        return bool(OPERATORS[op](a, b))
    if within.is_float:
        return rounded(_quotient(float(a), float(b)) if op == "/" else OPERATORS[op](float(a), float(b)), within)
    match op:
        case "/":
            result = truncated_quotient(a, b)
        case "%":
            result = a - b * truncated_quotient(a, b)
        case "<<" | ">>":
            result = _shifted(op, a, b & SHIFT_BITS, within.bits)
        case _:
            result = OPERATORS[op](a, b)
    return wrap(int(result), within)


def _quotient(a: float, b: float) -> float:
    """The quotient by IEEE 754, which Python raises an error for."""
    if b == 0 or not (math.isfinite(a) and math.isfinite(b)):
        if math.isnan(a) or math.isnan(b) or (a == 0 and b == 0) or (math.isinf(a) and math.isinf(b)):
            return math.nan
        sign = math.copysign(1.0, a) * math.copysign(1.0, b)
        return math.copysign(0.0 if math.isinf(b) else math.inf, sign)
    return a / b


def _shifted(op: str, value: int, amount: int, bits: int) -> int:
    if op == "<<":
        return value << amount if amount < bits else 0
    return value >> min(amount, bits)


def common_choice(name: str, values: list[Any]) -> int | None:
    """The value of min, max or abs of integer constants; None for other functions and for floats."""
    if name not in _CHOICES or not values or any(isinstance(value, float) for value in values):
        return None
    return int(_CHOICES[name](*values))


def apply_unary(op: str, a: Any, within: Scalar) -> Number:
    match op:
        case "!":
            return not a
        case "-" | "~" if not within.is_float:
            return wrap(-int(a) if op == "-" else ~int(a), within)
        case "-":
            return -float(a)
    return a  # type: ignore[no-any-return]


def known_trips(node: Expr, constants: dict[int, int]) -> int | None:
    """The integer value of ``node`` when these slots hold these values, or None if it isn't known."""
    match node:
        case Const(value=bool() | float()):
            return None
        case Const(value=value):
            return int(value)
        case Read(slot=slot):
            return constants.get(slot)
        case Convert(type=Scalar(kind="i" | "u") as to, operand=operand):
            inner = known_trips(operand, constants)
            return None if inner is None else wrap(inner, to)
        case Binary(type=Scalar(kind="i" | "u") as within, op=op, left=left, right=right) if op not in ("/", "%"):
            a, b = known_trips(left, constants), known_trips(right, constants)
            return None if a is None or b is None else int(apply_binary(op, a, b, within))
    return None


_LEAVES = (bool, int, str, Place, Scalar, PointerType, CType, int | None, str | None)  # types of fields that hold no node
_NODES = {each for each in vars(nodes).values() if isinstance(each, type) and each.__module__ == nodes.__name__}


@lru_cache(maxsize=64)
def nodes_of(program: Program) -> tuple[Any, ...]:
    """All nodes of a program, in the order of the source."""
    return tuple(parts(program.body))


def parts(node: Any) -> Iterator[Any]:
    """All nodes within one, itself first, in the order of the source."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        inner = inner_nodes(part)
        inner.reverse()
        pending += inner


def inner_nodes(node: Any) -> list[Any]:
    """The nodes directly below one."""
    inner: list[Any] = []
    for name in _inner_fields(node.__class__):
        value = getattr(node, name)
        kind = value.__class__
        if kind in _NODES:
            inner.append(value)
        elif kind is tuple:  # of nodes, or of slots and what is bound to them
            for each in value:
                part = each[1] if each.__class__ is tuple else each
                if part.__class__ in _NODES:
                    inner.append(part)
    return inner


@cache
def _inner_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a type of node that may hold nodes."""
    types = {name: of for base in kind.__mro__ for name, of in getattr(base, "__annotations__", {}).items()}
    return tuple(name for name in kind.__struct_fields__ if types[name] not in _LEAVES)


@lru_cache(maxsize=64)
def touches_of(program: Program) -> Mapping[int, tuple[Touch, ...]]:
    """What each access of a program touches, by its number."""
    return {several[0].access: several for part in nodes_of(program) if (several := touches(part))}


@lru_cache(maxsize=64)
def variables_of_accesses(program: Program) -> tuple[Mapping[int, tuple[int, ...]], Mapping[int, tuple[int, ...]]]:
    """The slots of variables by the number of an access: the variable that receives what is loaded, and those of which a stored
    value is computed.
    """
    loaded, stored = dict[int, tuple[int, ...]](), dict[int, tuple[int, ...]]()
    for node in nodes_of(program):
        match node:
            case Assign(target=Deref(), store=int(access), value=value):
                stored[access] = tuple(dict.fromkeys(_slots_read(value)))
            case Assign(target=target, op=None, value=value):
                loaded |= dict.fromkeys(_load_giving(value), tuple(_slots_read(target))[:1])
            case Declare(slot=slot, value=value):
                loaded |= dict.fromkeys(_load_giving(value), (slot,))
    return loaded, stored


def _load_giving(value: Expr | None) -> tuple[int, ...]:
    """The number of the load that gives a value; nothing for another value."""
    match value:
        case Deref(access=int(access)):
            return (access,)
        case Convert(operand=inner) | nodes.Component(of=inner):
            return _load_giving(inner)
    return ()


def _slots_read(node: Any) -> Iterator[int]:
    """The variables and local arrays that a value is computed of, in the order of the source; none of their indices."""
    match node:
        case Read(slot=slot) | nodes.Base(slot=slot):
            yield slot
        case nodes.Offset(pointer=pointer):
            yield from _slots_read(pointer)
        case Deref(access=int()):
            return  # a value in memory, not in a variable
        case _:
            for each in inner_nodes(node):
                yield from _slots_read(each)


# Finds short counted loops around a thread's arrays, whose trips are compiled one by one.

_MOST_TRIPS = 16
_MOST_STATEMENTS = 128


def counted_loop(node: Block) -> Unrolled | None:
    """The counted loop in ``node``, a declaration and a loop; None if compiling each trip separately doesn't pay off."""
    match node.statements:
        case (
            Declare(slot=slot, value=Const(value=int() as start)),
            Loop(condition=Binary() as condition, step=Assign() as step, tests_first=True, body=body) as loop,
        ):
            values = _trips(slot, start, condition, step)
            if values and _size(body) * len(values) <= _MOST_STATEMENTS and _may_unroll(body, slot):
                return Unrolled(slot, values, loop)
    return None


def _trips(slot: int, start: int, condition: Binary, step: Assign) -> tuple[int, ...] | None:
    match condition.left, condition.right, step:
        case (
            Read(slot=tested) | Convert(operand=Read(slot=tested)),
            Const(value=int() as limit),
            Assign(target=Read(slot=stepped), value=Const(value=int() as by), op="+" | "-" as op),
        ) if tested == stepped == slot and by > 0 and isinstance(condition.right.type, Scalar):
            values, at = [], start
            while apply_binary(condition.op, at, limit, condition.right.type):
                values.append(at)
                at += by if op == "+" else -by
                if len(values) > _MOST_TRIPS or at < 0:
                    return None
            return tuple(values)
    return None


def _may_unroll(body: Stmt, slot: int) -> bool:
    """Whether the body of a loop uses local arrays, ends no trip early, and leaves the counter in ``slot`` alone."""
    uses_arrays = False
    for node in parts(body):
        match node:
            case Break() | Continue() | Return() | Barrier():
                return False
            case Assign(target=Read(slot=assigned)) if assigned == slot:
                return False
            case Deref(access=None):
                uses_arrays = True
    return uses_arrays


def _size(node: Stmt) -> int:
    """Statements that ``node`` becomes once its own counted loops are unrolled."""
    match node:
        case Block(statements=statements):
            return sum(_size(each) for each in statements)
        case Unrolled(values=values, loop=loop):
            return _size(loop.body) * len(values)
        case If(then=then, otherwise=otherwise):
            return 1 + _size(then) + (_size(otherwise) if otherwise else 0)
        case Loop(body=body):
            return 1 + _size(body)
    return 1


# The counters of a kernel's loops, from its program: k0 and its values in for (int k0 = 0; ...; k0 += 8).

_STEPS = ("+", "-", "*", "/")


class LoopCounter(Struct, frozen=True):
    """A variable that begins with ``first``, the same for all threads, and that each trip changes by ``op`` and ``by``."""

    name: str
    first: int
    op: str
    by: int
    within: Scalar

    def at(self, trip: int) -> int:
        """The value in a trip, counted from 0."""
        value = self.first
        for _ in range(trip):
            value = int(apply_binary(self.op, value, self.by, self.within))
        return value


def loop_counters(program: Program) -> dict[int, LoopCounter]:
    """The counters by number of the loop. A loop whose counter begins differently in each thread, or that is changed in the
    loop, has none.
    """
    names = {variable.slot: variable.name for variable in program.variables}
    return {loop.number: counter for start, loop in _loops(program) if (counter := _counter(start, loop, names)) is not None}


def _loops(program: Program) -> Iterator[tuple[Declare, Loop]]:
    """The loops whose counter is declared in front of them."""
    for node in nodes_of(program):
        match node:
            case Block(statements=(Declare() as start, Loop() as loop)):
                yield start, loop
            case Unrolled(slot=slot, values=(first, *_), loop=loop):
                yield Declare(slot, Const(Scalar("int", "i", 32), first)), loop


def _counter(start: Declare, loop: Loop, names: dict[int, str]) -> LoopCounter | None:
    first = None if start.value is None else known_trips(start.value, {})
    match loop.step:
        case Assign(target=Read(slot=slot), value=value, op=str() as op, within=Scalar() as within) if slot == start.slot:
            by = known_trips(value, {})
            if first is None or by is None or op not in _STEPS or slot not in names or _assigns(loop.body, slot):
                return None
            return LoopCounter(names[slot], first, op, by, within)
    return None


def _assigns(body: Stmt, slot: int) -> bool:
    return any(isinstance(node, Assign) and isinstance(node.target, Read) and node.target.slot == slot for node in parts(body))


# Finds the branches at which lanes of a warp may part: those whose condition may differ between the threads of a block.


@lru_cache(maxsize=64)
def diverging(program: n.Program) -> frozenset[int]:
    """Numbers, among the accesses, of the branches at which lanes of a warp may part."""
    flow = _Flow()
    flow.note_exits(program.body)
    while True:
        known = len(flow.slots), len(flow.branches)
        flow.statement(program.body, False)
        if known == (len(flow.slots), len(flow.branches)):
            return frozenset(flow.branches)


class _Flow(Struct):
    """What is known to differ: variables, by their slots, and branches. ``apart``: whether only some lanes may be here.
    ``exits``: the conditions in a loop, by its number, that decide whether lanes leave it, or its trip.
    """

    slots: set[int] = field(default_factory=set)
    branches: set[int] = field(default_factory=set)
    exits: dict[int, list[n.Expr]] = field(default_factory=dict)

    def note_exits(self, node: Any) -> tuple[list[n.Expr], bool]:
        """Fills ``exits`` for the loops within a node; returns the node's own such conditions, and whether it leaves a loop."""
        conditions: list[n.Expr] = []
        leaves = isinstance(node, n.Break | n.Continue | n.Return)
        for each in inner_nodes(node):
            more, leaves_too = self.note_exits(each)
            conditions += more
            leaves |= leaves_too
            if isinstance(node, n.Loop) and each is node.body:
                self.exits.setdefault(node.number, []).extend(more)
        if isinstance(node, n.If) and leaves:
            conditions.append(node.condition)
        return conditions, leaves

    def statement(self, node: n.Stmt | None, apart: bool) -> None:
        match node:
            case n.Block(statements=statements):
                for each in statements:
                    self.statement(each, apart)
            case n.If(condition=condition, then=then, otherwise=otherwise, branch=branch):
                apart = self._branch(branch, condition, apart) or apart
                self.statement(then, apart)
                self.statement(otherwise, apart)
            case n.Loop():
                self._loop(node, apart)
            case n.Unrolled(loop=loop):
                self._loop(loop, apart)
            case n.Declare(slot=slot, value=value) | n.Return(slot=slot, value=value) if value is not None:
                self._gives(slot, value, apart)
                self._effects(value, apart)
            case n.Evaluate(expression=expression):
                self._effects(expression, apart)
            case None:
                return
            case _:
                for each in inner_nodes(node):
                    self._effects(each, apart)

    def _loop(self, loop: n.Loop, apart: bool) -> None:
        """A loop that some lanes leave before others runs for only some of them from then on."""
        ends_apart = loop.condition is not None and self._branch(loop.branch, loop.condition, apart)
        apart = apart or ends_apart or any(map(self.differs, self.exits[loop.number]))
        self.statement(loop.body, apart)
        if loop.step is not None:
            self._effects(loop.step, apart)

    def _branch(self, branch: int | None, condition: n.Expr, apart: bool) -> bool:
        """Whether a condition differs; notes the branch then."""
        self._effects(condition, apart)
        differs = self.differs(condition)
        if differs and branch is not None:
            self.branches.add(branch)
        return differs

    def _effects(self, node: Any, apart: bool) -> None:
        """What an expression assigns."""
        match node:
            case n.Assign(target=target, value=value):
                while isinstance(target, n.Component):
                    target = target.of
                if isinstance(target, n.Read):
                    self._gives(target.slot, value, apart)
            case n.Inline(bindings=bindings, body=body):
                for slot, value in bindings:
                    self._gives(slot, value, apart)
                    self._effects(value, apart)
                self.statement(body, apart)
                return
            case n.Select(condition=condition, then=then, otherwise=otherwise, branch=branch):
                differs = self._branch(branch, condition, apart)
                self._effects(then, apart or differs)
                self._effects(otherwise, apart or differs)
                return
        for each in inner_nodes(node):
            self._effects(each, apart)

    def _gives(self, slot: int | None, value: n.Expr, apart: bool) -> None:
        if slot is not None and (apart or self.differs(value)):
            self.slots.add(slot)

    def differs(self, node: Any) -> bool:
        """Whether the value of an expression may differ between the threads of a block."""
        match node:
            case n.Index(of_block=of_block):
                return not of_block
            case n.Read(slot=slot) | n.Inline(result=int(slot)):
                return slot in self.slots
            case n.Deref() | n.Instruction() | n.Call(args=()):
                return True
        return any(map(self.differs, inner_nodes(node)))
