"""Arithmetic of PTX to expressions: an instruction's type decides how the bits of its operands count."""

from collections.abc import Callable, Mapping

from gemmviz.model.errors import Place
from gemmviz.source.nodes import Binary, Call, Const, Convert, Expr, Select, Unary
from gemmviz.source.ptx.instructions import Instruction
from gemmviz.source.ptx.registers import PTX_TYPES
from gemmviz.source.types import BOOL, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, Scalar

Operands = list[Expr]
Formula = Callable[[Instruction, Scalar, Operands, Place], Expr | None]
_BINARY = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>", "div": "/", "rem": "%"}
_COMPARED = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
}  # fmt: skip
_DOUBLED = {INT: LONG, UINT: ULONG, PTX_TYPES["s16"]: INT, PTX_TYPES["u16"]: UINT}
_ROUNDED = {"rni": "rintf", "rmi": "floorf", "rpi": "ceilf", "rzi": "truncf"}
_APPROXIMATE = {"ex2": "exp2f", "lg2": "log2f", "sin": "sinf", "cos": "cosf", "rsqrt": "rsqrtf", "sqrt": "sqrtf"}
_IGNORED = {"rn", "approx", "ftz", "lo", "full", "uni", "volatile", "relaxed", "to", "sync", "aligned", "noftz"}


def types_of(instruction: Instruction) -> list[Scalar]:
    """The types among an instruction's modifiers, in order."""
    return [PTX_TYPES[each] for each in instruction.modifiers if each in PTX_TYPES]


def computed(instruction: Instruction, operands: Operands, place: Place) -> Expr | None:
    """The value of an arithmetic instruction whose operands are of its type; None if it isn't known."""
    types = types_of(instruction)
    formula = _FORMULAS.get(instruction.opcode)
    known = {*_IGNORED, *PTX_TYPES, *_EXTRA.get(instruction.opcode, ())}
    if formula is None or not types or not known.issuperset(instruction.modifiers):
        return None
    return formula(instruction, types[0], operands, place)


def is_arithmetic(instruction: Instruction) -> bool:
    return instruction.opcode in _FORMULAS


def operand_types(instruction: Instruction) -> list[Scalar]:
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


def compare_values(instruction: Instruction, left: Expr, right: Expr, place: Place) -> Expr | None:
    """The predicate of ``setp``; None for a comparison that isn't known."""
    op = instruction.one_of(*_COMPARED)
    return Binary(BOOL, _COMPARED[op], left, right, place) if op else None


def result_type(instruction: Instruction) -> Scalar | None:
    """The type of an arithmetic instruction's destination."""
    types = types_of(instruction)
    if not types:
        return None
    return _DOUBLED.get(types[0]) if instruction.has("wide") else types[0]


def _binary(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    left, right = operands
    if of == BOOL:
        return Convert(BOOL, Binary(INT, _BINARY[instruction.opcode], Convert(INT, left), Convert(INT, right), place))
    return Binary(of, _BINARY[instruction.opcode], left, right, place)


def _product(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    left, right = operands[:2]
    if instruction.has("wide"):
        wide = _DOUBLED.get(of)
        return None if wide is None else Binary(wide, "*", Convert(wide, left), Convert(wide, right), place)
    if instruction.has("hi"):
        name = {INT: "__mulhi", UINT: "__umulhi"}.get(of)
        return None if name is None else Call(of, name, (left, right), place)
    return Binary(of, "*", left, right, place)


def _sum_of_product(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    if of.is_float:
        name = {FLOAT: "fmaf", DOUBLE: "fma"}.get(of)
        return None if name is None else Call(of, name, tuple(operands), place)
    product = _product(instruction, of, operands, place)
    return None if product is None else Binary(_scalar(product), "+", product, operands[2], place)


def _scalar(expr: Expr) -> Scalar:
    assert isinstance(expr.type, Scalar)
    return expr.type


def _selected(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Select(of, operands[2], operands[0], operands[1])


def _moved(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return operands[0]


def _not(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Unary(BOOL, "!", operands[0]) if of == BOOL else Unary(of, "~", operands[0])


def _negated(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Unary(of, "-", operands[0])


def _least(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    if of.is_float:
        name = {FLOAT: f"f{instruction.opcode}f", DOUBLE: f"f{instruction.opcode}"}.get(of)
        return None if name is None else Call(of, name, tuple(operands), place)
    op = "<" if instruction.opcode == "min" else ">"
    return Select(of, Binary(BOOL, op, operands[0], operands[1], place), operands[0], operands[1])


def _magnitude(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    if of.is_float:
        name = {FLOAT: "fabsf", DOUBLE: "fabs"}.get(of)
        return None if name is None else Call(of, name, tuple(operands), place)
    is_less = Binary(BOOL, "<", operands[0], Const(of, 0), place)
    return Select(of, is_less, Unary(of, "-", operands[0]), operands[0])


def _function(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Call(FLOAT, _APPROXIMATE[instruction.opcode], tuple(operands), place) if of == FLOAT else None


def _reciprocal(instruction: Instruction, of: Scalar, operands: Operands, place: Place) -> Expr | None:
    return Binary(of, "/", Const(of, 1.0), operands[0], place) if of.is_float else None


def _converted(instruction: Instruction, to: Scalar, operands: Operands, place: Place) -> Expr | None:
    value, source = operands[0], operands[0].type
    rounding = instruction.one_of(*_ROUNDED)
    if isinstance(source, Scalar) and source.is_float and rounding:
        if source == DOUBLE and rounding != "rzi":
            return None
        if not (to.is_float is False and rounding == "rzi"):  # a conversion to an integer rounds towards zero already
            value = Call(FLOAT, _ROUNDED[rounding], (Convert(FLOAT, value),), place)
    return value if value.type == to else Convert(to, value)


_FORMULAS: Mapping[str, Formula] = {
    **dict.fromkeys(_BINARY, _binary),
    "mul": _product,
    "mad": _sum_of_product,
    "fma": _sum_of_product,
    "selp": _selected,
    "mov": _moved,
    "not": _not,
    "neg": _negated,
    "min": _least,
    "max": _least,
    "abs": _magnitude,
    "cvt": _converted,
    "rcp": _reciprocal,
    **dict.fromkeys(_APPROXIMATE, _function),
}
_EXTRA: Mapping[str, tuple[str, ...]] = {"mul": ("wide", "hi"), "mad": ("wide", "hi"), "cvt": tuple(_ROUNDED)}
