"""Types and constants of the nodes as CUDA C spells them, independent of the user's own names and of the platform."""

import math
from collections.abc import Iterable

import numpy as np

from gemmviz.model.element_types import DeviceSpelling
from gemmviz.source.nodes import Const
from gemmviz.source.types import ArrayType, CType, PointerType, Scalar, StructType, VectorType, Void, unit_bytes


def c_type(ctype: CType) -> str:
    """A type as spelled in the twin. A struct or void behind a pointer is bytes, since its members are reached by offsets."""
    match ctype:
        case Scalar():
            return ctype.element.device.type
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
    """The type behind a pointer to ``to``."""
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


def literal(constant: Const) -> str:
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
