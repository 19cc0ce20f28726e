"""The types of CUDA C that kernels use, C's rules for mixing them, and the table of matrix instructions."""

import dataclasses
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from gemmviz.model.element_types import ELEMENT_TYPES, ElementType, element_type_of_c

if TYPE_CHECKING:
    import numpy as np


AddressSpace = Literal["global", "shared", "local"]


class Scalar(Struct, frozen=True):
    """An arithmetic type. ``kind`` is NumPy's: i signed, u unsigned, f floating, b bool."""

    name: str
    kind: str
    bits: int

    @property
    def element(self) -> ElementType:
        """Its row in the table of element types."""
        return element_type_of_c(self.name)

    @property
    def dtype(self) -> "np.dtype":  # type: ignore[type-arg]
        return self.element.stored

    @property
    def running(self) -> "np.dtype":  # type: ignore[type-arg]
        """The NumPy type of its values while a kernel runs: float32 for types that NumPy lacks."""
        import numpy as np

        return self.dtype if self.element.decode is None else np.dtype(np.float32)

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    def __str__(self) -> str:
        return self.name


class VectorType(Struct, frozen=True):
    """A vector type such as float4: ``count`` components of one scalar type."""

    scalar: Scalar
    count: int

    @property
    def bytes(self) -> int:
        return self.scalar.bytes * self.count

    @property
    def alignment(self) -> int:
        """Bytes to whose multiples CUDA aligns it: its size if that is a power of two, at most 16, else its component's."""
        return min(16, self.bytes) if self.count != 3 else self.scalar.bytes

    @property
    def is_bulk(self) -> bool:
        """Whether it stands for the bytes of a bulk copy: CUDA has no such type."""
        return self.count > len(COMPONENTS)

    def __str__(self) -> str:
        return f"{self.scalar}{self.count}"


class Field(Struct, frozen=True):
    """A member of a struct or union: its type, and the bytes before it."""

    name: str
    type: "CType"
    offset: int


class StructType(Struct, frozen=True):
    """A struct, class or union. ``bytes`` includes padding; members of a union overlap."""

    name: str
    fields: tuple[Field, ...]
    bytes: int
    alignment: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer type. ``space`` is the memory that it points into, None before its first assignment; ``is_const`` refers to the
    target.
    """

    to: "CType"
    space: AddressSpace | None = None
    is_const: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.to}*"

    def into(self, space: AddressSpace | None) -> "PointerType":
        return dataclasses.replace(self, space=space)


class ArrayType(Struct, frozen=True):
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


class Void(Struct, frozen=True):
    """The return type of a function that returns no value."""

    def __str__(self) -> str:
        return "void"


def scalar_of(element: "CType") -> Scalar:
    """The scalar type itself, or that of a vector's components or an array's elements."""
    if isinstance(element, VectorType):
        return element.scalar
    if isinstance(element, ArrayType):
        return scalar_of(element.element)
    assert isinstance(element, Scalar)
    return element


CType = Scalar | VectorType | StructType | PointerType | ArrayType | Void


def unit_bytes(ctype: CType) -> int:
    """Bytes of the unit in which a pointer to this type counts: a scalar of it, the smallest one in a struct, 1 for void."""
    match ctype:
        case Scalar():
            return ctype.bytes
        case VectorType(scalar=scalar):
            return scalar.bytes
        case ArrayType(element=element):
            return unit_bytes(element)
        case StructType(fields=fields):
            return min((unit_bytes(each.type) for each in fields), default=1)
        case PointerType():
            return 8
        case Void():
            return 1


def size_bytes(ctype: CType) -> int:
    """Bytes of a value of this type, as by sizeof; 1 for void, as in pointer arithmetic."""
    match ctype:
        case ArrayType(element=element, dims=dims):
            return size_bytes(element) * prod(dims)
        case PointerType():
            return 8
        case Void():
            return 1
    return ctype.bytes


def units_of(ctype: CType) -> int:
    """Units that a pointer to this type moves by when 1 is added to it."""
    return size_bytes(ctype) // unit_bytes(ctype)


def _scalar(spelling: str) -> Scalar:
    """The scalar that CUDA C spells so; messages use the first of its synonyms."""
    element = element_type_of_c(spelling)
    name = next(group[0] for group in element.spellings if spelling in group)
    return Scalar(name, element.kind, 8 * element.bytes)


_NAMED = {spelling: _scalar(spelling) for each in ELEMENT_TYPES.values() for group in each.spellings for spelling in group}
BOOL, CHAR, SCHAR, UCHAR = _NAMED["bool"], _NAMED["char"], _NAMED["signed char"], _NAMED["unsigned char"]
INT, UINT, LONG, ULONG = _NAMED["int"], _NAMED["unsigned int"], _NAMED["long"], _NAMED["unsigned long"]
SHORT, USHORT = _NAMED["short"], _NAMED["unsigned short"]
FLOAT, DOUBLE = _NAMED["float"], _NAMED["double"]
HALF, BFLOAT16 = _NAMED["half"], _NAMED["__nv_bfloat16"]
VOID = Void()
_VECTORS = {
    "longlong": LONG, "ulonglong": ULONG,
    **{name: _NAMED[name] for name in ("half", "__nv_bfloat16", "float", "double", "int", "uint", "long", "ulong")},
    **{name: _NAMED[name] for name in ("char", "uchar", "short", "ushort")},
}  # fmt: skip
COMPONENTS = "xyzw"


def named_type(name: str) -> Scalar | VectorType | Void | None:
    """The CUDA C type of this name, or None."""
    if name == "void":
        return VOID
    if name in _NAMED:
        return _NAMED[name]
    if name[-1:] in ("2", "3", "4") and name[:-1] in _VECTORS:
        return VectorType(_VECTORS[name[:-1]], int(name[-1]))
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


# The table of matrix instructions: ``mma.sync`` of shape m16n8, by the types of its matrices and its number of products.

_PER_REGISTER = {"f16": 2, "bf16": 2, "tf32": 1, "s8": 4, "u8": 4}
_ELEMENT_NAMES = {"f16": "float16", "bf16": "bfloat16"}
_RESULT_REGISTERS = {"f32": VectorType(FLOAT, 4), "f16": VectorType(UINT, 2), "s32": VectorType(INT, 4)}
PREFIX = "__gemmviz_"  # of the functions that the stand-in headers call


class MatrixInstruction(Struct, frozen=True):
    """D (16 x 8) = A (16 x k) . B (k x 8) + C. ``d``, ``a``, ``b``: the types of D and C, of A, and of B, as PTX names them."""

    k: int
    d: str
    a: str
    b: str

    @property
    def name(self) -> str:
        """Its name as a function: ``mma_m16n8k16_f32_f16_f16``."""
        return f"mma_m16n8k{self.k}_{self.d}_{self.a}_{self.b}"

    @property
    def ptx(self) -> str:
        """Its name in PTX."""
        return f"mma.sync.aligned.m16n8k{self.k}.row.col.{self.d}.{self.a}.{self.b}.{self.d}"

    @property
    def registers(self) -> tuple[int, int, int]:
        """The numbers of registers that each lane holds of A, of B, and of C and D."""
        of_a = 16 * self.k // 32 // _PER_REGISTER[self.a]
        return of_a, of_a // 2, self.result.count

    @property
    def roundoff(self) -> float:
        """The largest relative error of a sum: float32 is cut off rather than rounded."""
        return {"f32": 2.0**-23, "f16": 2.0**-11, "s32": 0.0}[self.d]

    @property
    def element(self) -> str:
        """The name of the type of the elements of A and B; "" if memory holds none of it."""
        return _ELEMENT_NAMES.get(self.a, "")

    @property
    def roundoff_of_factors(self) -> float:
        """The largest relative error of a product of float32 numbers that become TF32: both are cut off."""
        return 2.0**-9 if self.a == "tf32" else 0.0

    @property
    def result(self) -> VectorType:
        """The registers of D."""
        return _RESULT_REGISTERS[self.d]

    @property
    def parameters(self) -> tuple[Scalar, ...]:
        """The types of the registers of A, B and C."""
        of_a, of_b, of_c = self.registers
        return (UINT,) * (of_a + of_b) + (self.result.scalar,) * of_c


_SIGNED_AND_NOT = [(a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
MATRIX_INSTRUCTIONS = {
    each.name: each
    for each in (
        *(MatrixInstruction(k, d, "f16", "f16") for k in (8, 16) for d in ("f32", "f16")),
        *(MatrixInstruction(k, "f32", "bf16", "bf16") for k in (8, 16)),
        *(MatrixInstruction(k, "f32", "tf32", "tf32") for k in (4, 8)),
        *(MatrixInstruction(k, "s32", a, b) for k in (16, 32) for a, b in _SIGNED_AND_NOT),
    )
}
