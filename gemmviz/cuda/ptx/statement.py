"""An asm statement to nodes: its operands become variables, each of its instructions a statement."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from gemmviz.cuda.nodes import (
    Address,
    AtAddress,
    Barrier,
    Binary,
    Block,
    Call,
    Const,
    Convert,
    Expr,
    Fence,
    If,
    Select,
    Stmt,
    Unary,
)
from gemmviz.cuda.ptx.memory import MemoryInstructions, unknown
from gemmviz.cuda.ptx.registers import (
    CONSTRAINTS,
    PTX_TYPES,
    USHORT,
    AsmInstruction,
    AsmOperand,
    RegisterNames,
    Registers,
    Surroundings,
    instructions,
    numbered_barrier,
    vector_elements,
)
from gemmviz.cuda.types import BOOL, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, PointerType, Scalar
from gemmviz.model.messages import Place, SourceError

# Arithmetic of PTX to expressions: an instruction's type decides how the bits of its operands count.

Operands = list[Expr]
Formula = Callable[[AsmInstruction, Scalar, Operands, Place], Expr | None]
_OPCODES = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>", "div": "/", "rem": "%"}
_COMPARISON_OF_SUFFIX = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
}  # fmt: skip
_DOUBLED = {INT: LONG, UINT: ULONG, PTX_TYPES["s16"]: INT, PTX_TYPES["u16"]: UINT}
_ROUNDED = {"rni": "rintf", "rmi": "floorf", "rpi": "ceilf", "rzi": "truncf"}
_APPROXIMATE = {"ex2": "exp2f", "lg2": "log2f", "sin": "sinf", "cos": "cosf", "rsqrt": "rsqrtf", "sqrt": "sqrtf"}
_IGNORED = {"rn", "approx", "ftz", "lo", "full", "uni", "volatile", "relaxed", "to", "sync", "aligned", "noftz"}


def types_of(instruction: AsmInstruction) -> list[Scalar]:
    """The types among an instruction's modifiers, in order."""
    return [PTX_TYPES[each] for each in instruction.modifiers if each in PTX_TYPES]


def computed(instruction: AsmInstruction, operands: Operands, place: Place) -> Expr | None:
    """The value of an arithmetic instruction whose operands are of its type; None if it isn't known."""
    types = types_of(instruction)
    formula = _FORMULAS.get(instruction.opcode)
    known = {*_IGNORED, *PTX_TYPES, *_EXTRA.get(instruction.opcode, ())}
    if formula is None or not types or not known.issuperset(instruction.modifiers):
        return None
    return formula(instruction, types[0], operands, place)


def is_arithmetic(instruction: AsmInstruction) -> bool:
    return instruction.opcode in _FORMULAS


def operand_types(instruction: AsmInstruction) -> list[Scalar]:
    """The types of the operands behind the destination."""
    types = types_of(instruction)
    if not types:
        return []
    match instruction.opcode:
        case "cvt":
            return [types[-1]]
        case "selp":
            return [types[0], types[0], BOOL]
        case "shl" | "shr":
            return [types[0], UINT]
        case "mad" if instruction.has("wide"):
            return [types[0], types[0], _DOUBLED.get(types[0], types[0])]
    return [types[0]] * 3


def compare_values(instruction: AsmInstruction, left: Expr, right: Expr, place: Place) -> Expr | None:
    """The predicate of ``setp``; None for a comparison that isn't known."""
    op = instruction.one_of(*_COMPARISON_OF_SUFFIX)
    return Binary(BOOL, _COMPARISON_OF_SUFFIX[op], left, right, place) if op else None


def result_type(instruction: AsmInstruction) -> Scalar | None:
    """The type of an arithmetic instruction's destination."""
    types = types_of(instruction)
    if not types:
        return None
    return _DOUBLED.get(types[0]) if instruction.has("wide") else types[0]


def _operation(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    left, right = operands
    if of == BOOL:
        return Convert(BOOL, Binary(INT, _OPCODES[instruction.opcode], Convert(INT, left), Convert(INT, right), place))
    return Binary(of, _OPCODES[instruction.opcode], left, right, place)


def _multiplication(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    left, right = operands[:2]
    if instruction.has("wide"):
        wide = _DOUBLED.get(of)
        return None if wide is None else Binary(wide, "*", Convert(wide, left), Convert(wide, right), place)
    if instruction.has("hi"):
        name = {INT: "__mulhi", UINT: "__umulhi"}.get(of)
        return None if name is None else Call(of, name, (left, right), place)
    return Binary(of, "*", left, right, place)


def _sum_of_product(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    if of.is_float:
        name = {FLOAT: "fmaf", DOUBLE: "fma"}.get(of)
        return None if name is None else Call(of, name, tuple(operands), place)
    product = _multiplication(instruction, of, operands, place)
    return None if product is None else Binary(_scalar_of(product), "+", product, operands[2], place)


def _scalar_of(expr: Expr) -> Scalar:
    assert isinstance(expr.type, Scalar)
    return expr.type


def _selected(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Select(of, operands[2], operands[0], operands[1])


def _move(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return operands[0]


def _not(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Unary(BOOL, "!", operands[0]) if of == BOOL else Unary(of, "~", operands[0])


def _negated(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Unary(of, "-", operands[0])


def _least(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    if of.is_float:
        name = {FLOAT: f"f{instruction.opcode}f", DOUBLE: f"f{instruction.opcode}"}.get(of)
        return None if name is None else Call(of, name, tuple(operands), place)
    op = "<" if instruction.opcode == "min" else ">"
    return Select(of, Binary(BOOL, op, operands[0], operands[1], place), operands[0], operands[1])


def _magnitude(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    if of.is_float:
        name = {FLOAT: "fabsf", DOUBLE: "fabs"}.get(of)
        return None if name is None else Call(of, name, tuple(operands), place)
    is_less = Binary(BOOL, "<", operands[0], Const(of, 0), place)
    return Select(of, is_less, Unary(of, "-", operands[0]), operands[0])


def _approximation(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Call(FLOAT, _APPROXIMATE[instruction.opcode], tuple(operands), place) if of == FLOAT else None


def _reciprocal(instruction: AsmInstruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Binary(of, "/", Const(of, 1.0), operands[0], place) if of.is_float else None


def _conversion(instruction: AsmInstruction, to: Scalar, operands: Operands, place: Place) -> Expr | None:
    value, source = operands[0], operands[0].type
    if instruction.has("tf32"):  # to the nearest, away from zero in ties
        bits = Binary(UINT, "+", Call(UINT, "__float_as_uint", (value,), place), Const(UINT, 1 << 12), place)
        return Binary(UINT, "&", bits, Const(UINT, 0xFFFFE000), place)
    rounding = instruction.one_of(*_ROUNDED)
    if isinstance(source, Scalar) and source.is_float and rounding:
        if source == DOUBLE and rounding != "rzi":
            return None
        if not (to.is_float is False and rounding == "rzi"):  # a conversion to an integer rounds towards zero already
            value = Call(FLOAT, _ROUNDED[rounding], (Convert(FLOAT, value),), place)
    return value if value.type == to else Convert(to, value)


_FORMULAS: Mapping[str, Formula] = {
    **dict.fromkeys(_OPCODES, _operation),
    "mul": _multiplication,
    "mad": _sum_of_product,
    "fma": _sum_of_product,
    "selp": _selected,
    "mov": _move,
    "not": _not,
    "neg": _negated,
    "min": _least,
    "max": _least,
    "abs": _magnitude,
    "cvt": _conversion,
    "rcp": _reciprocal,
    **dict.fromkeys(_APPROXIMATE, _approximation),
}
_EXTRA: Mapping[str, tuple[str, ...]] = {"mul": ("wide", "hi"), "mad": ("wide", "hi"), "cvt": (*_ROUNDED, "rna")}


_BARRIER = re.compile(r"(?:bar|barrier)(?:\.cta)?\.(sync|arrive)(?:\.aligned)?")
_WARP_BARRIERS = {"bar.warp.sync"}
_NO_EFFECT = {
    "prefetch", "prefetchu", "applypriority", "discard", "createpolicy", "pragma", "nanosleep", "griddepcontrol", "setmaxnreg",
}  # fmt: skip


def asm_block(template: str, operands: Sequence[AsmOperand], around: Surroundings) -> Block:
    """The statements of an asm statement. ``template``: its text, with escapes resolved; ``operands``: first those written,
    then those read. Raises SourceError for an instruction that is not in the subset.
    """
    return Block(tuple(_Asm(around).statements(template, operands)))


class _Asm:
    """The translation of one asm statement."""

    def __init__(self, around: Surroundings) -> None:
        self.around, self.place = around, around.place
        self.registers, self.spins = Registers(around), False
        self.memory = MemoryInstructions(self.registers)

    def statements(self, template: str, operands: Sequence[AsmOperand]) -> Iterator[Stmt]:
        self.spins = "mbarrier" in template
        for number, operand in enumerate(operands):
            yield from self._bound(f"%{number}", operand)
        for each in instructions(template.replace("%%", "%")):
            if isinstance(each, RegisterNames):
                yield from self._declared(each)
            else:
                yield self._guarded(each)
        for number, operand in enumerate(operands):
            if operand.assign is not None:
                yield operand.assign(self.registers.variable(f"%{number}"))

    def _bound(self, name: str, operand: AsmOperand) -> Iterator[Stmt]:
        kind, value = operand.constraint.strip("=+&"), operand.value
        if kind == "n" and isinstance(value, Const):
            self.registers.constants[name] = int(value.value)
            return
        if kind not in CONSTRAINTS:
            raise self.around.error(f"the asm constraint {operand.constraint!r} is not supported", "use h, r, l, f, d or n")
        ctype: Scalar | PointerType = CONSTRAINTS[kind]
        if value is None:
            yield self.registers.declare(name, ctype)
            return
        if isinstance(value.type, PointerType) and operand.assign is None:
            yield self.registers.declare(name, value.type, value)
            return
        if isinstance(value.type, PointerType):
            value = Address(ULONG, value, "generic")
        yield self.registers.declare(name, ctype, self.registers.converted(value, ctype))  # type: ignore[arg-type]

    def _declared(self, names: RegisterNames) -> Iterator[Stmt]:
        if names.type not in PTX_TYPES:
            raise self.around.error(f"the PTX register type .{names.type} is not supported")
        for name in names.names:
            yield self.registers.declare(name, PTX_TYPES[names.type])

    def _guarded(self, instruction: AsmInstruction) -> Stmt:
        self.around.instruction = instruction.text
        branch = self.around.access("branch", None, 1) if instruction.guard else None
        try:
            statement = self._translated(instruction)
        except SourceError:
            raise
        except (IndexError, ValueError):  # too few operands, or a number that is none
            raise self.around.error(f"the PTX instruction {instruction.text} can't be read") from None
        if not instruction.guard:
            return statement
        guard: Expr = self.registers.value(instruction.guard, BOOL)
        return If(Unary(BOOL, "!", guard) if instruction.is_negated else guard, statement, None, branch)

    def _translated(self, instruction: AsmInstruction) -> Stmt:
        statement = self.memory.translated(instruction) or self._synchronised(instruction)
        if statement is not None:
            return statement
        match instruction.opcode:
            case "setp":
                return self._predicate(instruction)
            case "elect":
                return self._elected(instruction)
            case "cvta":
                return self._address(instruction)
            case "mov" if any(each.startswith("{") for each in instruction.operands):
                return self._packed(instruction)
        if is_arithmetic(instruction):
            return self._computed(instruction)
        raise unknown(self.registers, instruction)

    def _synchronised(self, instruction: AsmInstruction) -> Stmt | None:
        name = instruction.name
        if barrier := _BARRIER.fullmatch(name):
            waits = barrier[1] == "sync"
            number, count = (*(self.registers.value(each, UINT) for each in instruction.operands), None, None)[:2]
            access = self.around.access("barrier" if waits else "arrive", None, 1)
            return numbered_barrier(access, self.place, number, count, waits)
        if name in _WARP_BARRIERS:
            return Barrier(self.around.access("warp barrier", None, 1), self.place, False)
        if instruction.opcode in ("membar", "fence"):
            return Fence(self.around.access("fence", None, 1), self.place)
        is_spin = instruction.opcode == "bra" and self.spins  # a jump back to a wait, which doesn't give up here
        return Block(()) if is_spin or instruction.opcode in _NO_EFFECT else None

    def _computed(self, instruction: AsmInstruction) -> Stmt:
        target, *sources = instruction.operands
        types = operand_types(instruction)
        given = [self.registers.value(name, ctype) for name, ctype in zip(sources, types, strict=False)]
        value, result = computed(instruction, given, self.place), result_type(instruction)
        if value is None or result is None or len(given) != len(sources):
            raise unknown(self.registers, instruction)
        return self.registers.assign(target, self.registers.converted(value, result))

    def _predicate(self, instruction: AsmInstruction) -> Stmt:
        types = types_of(instruction)
        if len(instruction.operands) != 3 or len(types) != 1:
            raise unknown(self.registers, instruction)
        target, *sources = instruction.operands
        left, right = (self.registers.value(name, types[0]) for name in sources)
        value = compare_values(instruction, left, right, self.place)
        if value is None or "|" in target:
            raise unknown(self.registers, instruction)
        return self.registers.assign(target, value)

    def _elected(self, instruction: AsmInstruction) -> Stmt:
        """``elect.sync``: whether the lane is the lowest of a mask; the number of that lane."""
        (target, mask), place = instruction.operands, self.place
        lane, is_lane = (part.strip() for part in target.split("|"))
        first = Call(INT, "__ffs", (self.registers.value(mask, INT),), place)
        lowest = Binary(UINT, "-", Convert(UINT, first), Const(UINT, 1), place)
        own = self.registers.value("%laneid", UINT)
        chosen = self.registers.assign(is_lane, Binary(BOOL, "==", own, lowest, place))
        return chosen if lane == "_" else Block((self.registers.assign(lane, lowest), chosen))

    def _address(self, instruction: AsmInstruction) -> Stmt:
        """``cvta``: an address in a window as a generic one, or back."""
        target, source = instruction.operands
        window = instruction.one_of("shared", "global")
        if window not in ("shared", "global"):
            raise unknown(self.registers, instruction)
        space = "shared" if window == "shared" else "global"
        register = self.registers.known.get(source)
        pointer: Expr
        if register is not None and isinstance(register.type, PointerType):
            pointer = self.registers.variable(source)
        else:
            in_window = None if instruction.has("to") else space
            number = self.registers.value(source, ULONG)
            pointer = AtAddress(PointerType(_BYTE, in_window), number, self.place)  # type: ignore[arg-type]
        value = Address(ULONG, pointer, space if instruction.has("to") else "generic")  # type: ignore[arg-type]
        return self.registers.assign(target, value)

    def _packed(self, instruction: AsmInstruction) -> Stmt:
        """A ``mov`` between one register and the two halves of it."""
        target, source = instruction.operands
        whole = types_of(instruction)[0]
        half = {64: UINT, 32: USHORT}.get(whole.bits)
        if half is None or max(len(vector_elements(target)), len(vector_elements(source))) != 2:
            raise unknown(self.registers, instruction)
        shift = Const(UINT, half.bits)
        if target.startswith("{"):
            value = self.registers.value(source, whole)
            low, high = vector_elements(target)
            upper = Binary(whole, ">>", value, shift, self.place)
            parts = ((low, Convert(half, value)), (high, Convert(half, upper)))
            return Block(tuple(self.registers.assign(name, part) for name, part in parts))
        low_part, high_part = (Convert(whole, self.registers.value(name, half)) for name in vector_elements(source))
        upper = Binary(whole, "<<", high_part, shift, self.place)
        return self.registers.assign(target, Binary(whole, "|", low_part, upper, self.place))


_BYTE = PTX_TYPES["u8"]
