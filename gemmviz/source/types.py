"""The types of CUDA C that kernels use, and C's rules for mixing them."""

from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal

import numpy as np

AddressSpace = Literal["global", "shared", "local"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """An arithmetic type. ``kind`` is NumPy's: i signed, u unsigned, f floating, b bool."""

    name: str
    kind: str
    bits: int

    @property
    def dtype(self) -> np.dtype:  # type: ignore[type-arg]
        return np.dtype("bool" if self.kind == "b" else f"{self.kind}{self.bits // 8}")

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class VectorType:
    """A vector type such as float4: ``count`` components of one scalar type."""

    scalar: Scalar
    count: int

    @property
    def bytes(self) -> int:
        return self.scalar.bytes * self.count

    def __str__(self) -> str:
        return f"{self.scalar}{self.count}"


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer type. ``space`` is the memory that it points into, None before its first assignment; ``is_const`` refers to the
    target.
    """

    to: "Scalar | VectorType"
    space: AddressSpace | None = None
    is_const: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.to}*"

    def into(self, space: AddressSpace | None) -> "PointerType":
        return replace(self, space=space)


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A local or shared array, or a row of one: ``dims`` are the extents of the remaining subscripts."""

    element: Scalar | VectorType
    dims: tuple[int, ...]
    space: AddressSpace

    def __str__(self) -> str:
        return str(self.element) + "".join(f"[{extent}]" for extent in self.dims)

    @property
    def stride(self) -> int:
        """Number of elements from one first subscript to the next."""
        return prod(self.dims[1:])


@dataclass(frozen=True, slots=True)
class Void:
    """The return type of a function that returns no value."""

    def __str__(self) -> str:
        return "void"


def scalar_of(element: Scalar | VectorType) -> Scalar:
    """The scalar type itself, or that of a vector's components."""
    return element.scalar if isinstance(element, VectorType) else element


CType = Scalar | VectorType | PointerType | ArrayType | Void

BOOL = Scalar("bool", "b", 8)
CHAR = Scalar("char", "i", 8)
SCHAR = Scalar("signed char", "i", 8)
INT = Scalar("int", "i", 32)
UINT = Scalar("unsigned int", "u", 32)
LONG = Scalar("long", "i", 64)
ULONG = Scalar("unsigned long", "u", 64)
FLOAT = Scalar("float", "f", 32)
DOUBLE = Scalar("double", "f", 64)
VOID = Void()

_SHORT = Scalar("short", "i", 16)
_USHORT = Scalar("unsigned short", "u", 16)
_UCHAR = Scalar("unsigned char", "u", 8)

_NAMED: dict[str, Scalar] = {
    **{name: BOOL for name in ("bool", "_Bool")},
    "char": CHAR,
    **{name: SCHAR for name in ("signed char", "int8_t")},
    **{name: _UCHAR for name in ("unsigned char", "uchar", "uint8_t")},
    **{name: _SHORT for name in ("short", "short int", "signed short", "int16_t")},
    **{name: _USHORT for name in ("unsigned short", "unsigned short int", "ushort", "uint16_t")},
    **{name: INT for name in ("int", "signed", "signed int", "int32_t")},
    **{name: UINT for name in ("unsigned", "unsigned int", "uint", "uint32_t")},
    **{
        name: LONG
        for name in (
            "long", "long int", "signed long", "long long", "long long int", "signed long long", "int64_t", "ptrdiff_t",
            "ssize_t", "intptr_t",
        )
    },
    **{
        name: ULONG
        for name in (
            "unsigned long", "unsigned long int", "unsigned long long", "unsigned long long int", "size_t", "uint64_t",
            "ulong", "uintptr_t",
        )
    },
    "float": FLOAT,
    "double": DOUBLE,
}  # fmt: skip
_VECTOR_SCALARS = {
    "float": FLOAT, "double": DOUBLE, "int": INT, "uint": UINT, "char": CHAR, "uchar": _UCHAR, "short": _SHORT,
    "ushort": _USHORT,
}  # fmt: skip
COMPONENTS = "xyzw"


def named_type(name: str) -> Scalar | VectorType | Void | None:
    """The CUDA C type of this name, or None."""
    if name == "void":
        return VOID
    if name in _NAMED:
        return _NAMED[name]
    if name[-1:] in ("2", "3", "4") and name[:-1] in _VECTOR_SCALARS:
        return VectorType(_VECTOR_SCALARS[name[:-1]], int(name[-1]))
    return None


def promoted(scalar: Scalar) -> Scalar:
    """The type after integer promotion: int for narrower types."""
    return INT if not scalar.is_float and scalar.bits < 32 else scalar


def common(a: Scalar, b: Scalar) -> Scalar:
    """The type after the usual arithmetic conversions of C."""
    a, b = promoted(a), promoted(b)
    if a.is_float or b.is_float:
        return max((t for t in (a, b) if t.is_float), key=lambda t: t.bits)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.kind == "u" else b
