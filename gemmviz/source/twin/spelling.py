"""Types and constants of the nodes as CUDA C spells them, independent of the user's own names and of the platform."""

import math
from collections.abc import Iterable

import numpy as np

from gemmviz.source.nodes import Const
from gemmviz.source.types import ArrayType, CType, PointerType, Scalar, StructType, VectorType, Void, unit_bytes

_TYPES = {
    "float64": "double", "float32": "float", "float16": "__half", "bfloat16": "__nv_bfloat16", "int8": "signed char",
    "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short", "int32": "int", "uint32": "unsigned int",
    "int64": "long long", "uint64": "unsigned long long", "bool": "bool",
}  # fmt: skip
_VECTORS = {
    "float64": "double", "float32": "float", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort",
    "int32": "int", "uint32": "uint", "int64": "longlong", "uint64": "ulonglong",
}  # fmt: skip
_PAIRS = {"float16": "__half2", "bfloat16": "__nv_bfloat162"}
_MAKERS = {"float16": "__halves2half2", "bfloat16": "__halves2bfloat162"}
_SUFFIXES = {"float32": "f", "int64": "ll", "uint32": "u", "uint64": "ull"}
_BITS = {
    "float32": ("__int_as_float(0x{:x})", "uint32"),
    "float64": ("__longlong_as_double(0x{:x}ll)", "uint64"),
    "float16": ("__ushort_as_half(0x{:x})", "uint16"),
    "bfloat16": ("__ushort_as_bfloat16(0x{:x})", "uint16"),
}
_HEADERS = {"float16": "cuda_fp16.h", "bfloat16": "cuda_bf16.h"}
_LEAST = {"int32": "(-2147483647 - 1)", "int64": "(-9223372036854775807ll - 1)"}


def c_type(ctype: CType) -> str:
    """A type as spelled in the twin. A struct or void behind a pointer is bytes, since its members are reached by offsets."""
    match ctype:
        case Scalar():
            return _TYPES[ctype.element.name]
        case VectorType(scalar=scalar, count=count):
            name = scalar.element.name
            return _PAIRS[name] if name in _PAIRS else f"{_VECTORS[name]}{count}"
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
    return _MAKERS.get(vector.scalar.element.name, f"make_{c_type(vector)}")


def literal(constant: Const) -> str:
    """A constant with its exact value and type."""
    if isinstance(constant.type, PointerType):
        return f"({c_type(constant.type)}){int(constant.value)}"
    name, value = constant.type.element.name, constant.value
    if name == "bool":
        return "true" if value else "false"
    if constant.type.is_float:
        return _float(name, constant.type, float(value))
    if int(value) == -(2 ** (constant.type.bits - 1)) and name in _LEAST:
        return _LEAST[name]
    number = f"{int(value)}{_SUFFIXES.get(name, '')}"
    number = f"({number})" if value < 0 else number
    return number if constant.type.bits >= 32 else f"({_TYPES[name]}){number}"


def _float(name: str, scalar: Scalar, value: float) -> str:
    if name in ("float32", "float64") and math.isfinite(value):
        number = value.hex() + _SUFFIXES.get(name, "")
        return f"({number})" if number.startswith("-") else number
    pattern, whole = _BITS[name]
    with np.errstate(over="ignore"):
        stored = scalar.element.elements(np.array(value))
    return pattern.format(int(stored.view(whole)))


def headers(types: Iterable[CType]) -> list[str]:
    """CUDA's own headers that these types need."""
    needed = {_HEADERS.get(name) for each in types if (name := _element_name(each))}
    return sorted(each for each in needed if each)


def _element_name(ctype: CType) -> str:
    match ctype:
        case Scalar():
            return ctype.element.name
        case VectorType(scalar=scalar):
            return scalar.element.name
        case PointerType(to=to) | ArrayType(element=to):
            return _element_name(to)
    return ""
