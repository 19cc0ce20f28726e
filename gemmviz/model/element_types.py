"""The table of element types: name, size, NumPy type, display and precision of each.

NumPy is imported on first use: the reader process needs the table and no arrays.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from gemmviz.model.messages import UsageError, closest

if TYPE_CHECKING:
    import numpy as np

    from gemmviz.model.arrays import AnyArray, Floats

_BFLOAT16_SHIFT = 16  # a bfloat16 is the upper half of a float32


def _from_bfloat16(stored: "AnyArray") -> "Floats":
    import numpy as np

    return (stored.astype(np.uint32) << _BFLOAT16_SHIFT).view(np.float32).astype(np.float64)


def _to_bfloat16(values: "AnyArray") -> "AnyArray":
    """Bits of the nearest bfloat16 values, ties to even; NaN stays NaN."""
    import numpy as np

    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> _BFLOAT16_SHIFT) & 1)) >> _BFLOAT16_SHIFT
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


class DeviceSpelling(Struct, frozen=True):
    """Spellings in CUDA C that mean the same on every platform.

    ``vector``: the name of a vector without its count. ``pair`` and ``pair_maker``: the vector of two and the function that
    makes it, for types with no others. ``suffix``: that of a literal. ``from_bits``: the value with bits {:x}. ``least``:
    the least value, where "-" and a literal don't give it. ``header``: CUDA's own that declares the type.
    """

    type: str
    vector: str = ""
    pair: str = ""
    pair_maker: str = ""
    suffix: str = ""
    from_bits: str = ""
    least: str = ""
    header: str = ""


class ElementType(Struct, frozen=True, dict=True):
    """One row of the table.

    ``kind``: "f" floating point, "i" signed, "u" unsigned, "b" truth value. ``dtype``: the NumPy type that holds its bits.
    ``significant``: bits of the significand of a floating-point type, the hidden one included; 0 for exact types. ``digits``:
    significant decimal digits. ``spellings``: names in CUDA C, synonyms grouped, the name used in messages first; empty for a
    type without arithmetic in the interpreter. ``decode`` and ``encode``: conversions from stored bits to numbers and back, for
    types that NumPy lacks.
    """

    name: str
    kind: Literal["f", "i", "u", "b"]
    dtype: str
    significant: int = 0
    digits: int = 20
    spellings: tuple[tuple[str, ...], ...] = ()
    decode: "Callable[[AnyArray], Floats] | None" = None
    encode: "Callable[[AnyArray], AnyArray] | None" = None

    @cached_property
    def stored(self) -> "np.dtype[Any]":
        """The NumPy type that holds its bits."""
        import numpy as np

        return np.dtype(self.dtype)

    @property
    def bytes(self) -> int:
        """Size of an element in bytes."""
        bits = self.dtype.lstrip("abcdefghijklmnopqrstuvwxyz")
        return int(bits or 8) // 8

    @property
    def device(self) -> DeviceSpelling:
        """Its spellings in generated CUDA C. Raises KeyError for a type without arithmetic there."""
        return _DEVICE_SPELLINGS[self.name]

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def roundoff(self) -> float:
        """Unit roundoff: the largest relative error of one rounding; 0 for exact types. Results are checked with it."""
        return 2.0**-self.significant if self.significant else 0.0

    def numbers(self, stored: "AnyArray") -> "Floats":
        """Values of stored elements: float64 of the same shape."""
        return stored.astype("float64", copy=False) if self.decode is None else self.decode(stored)

    def elements(self, numbers: "AnyArray") -> "AnyArray":
        """Numbers in their stored form: an array of ``stored``, of the same shape."""
        return numbers.astype(self.stored) if self.encode is None else self.encode(numbers)

    def text(self, value: float, digits: int) -> str:
        """A value as text, with at most ``digits`` significant digits; integers are never shortened."""
        if self.is_float or not isfinite(value):
            return f"{value:.{min(digits, self.digits)}g}"
        return str(int(value))


_DEVICE_SPELLINGS = {
    "float64": DeviceSpelling("double", "double", from_bits="__longlong_as_double(0x{:x}ll)"),
    "float32": DeviceSpelling("float", "float", suffix="f", from_bits="__int_as_float(0x{:x})"),
    "float16": DeviceSpelling(
        "__half", "", "__half2", "__halves2half2", from_bits="__ushort_as_half(0x{:x})", header="cuda_fp16.h"
    ),
    "bfloat16": DeviceSpelling(
        "__nv_bfloat16", "", "__nv_bfloat162", "__halves2bfloat162", from_bits="__ushort_as_bfloat16(0x{:x})",
        header="cuda_bf16.h",
    ),
    "int8": DeviceSpelling("signed char", "char"),
    "uint8": DeviceSpelling("unsigned char", "uchar"),
    "int16": DeviceSpelling("short", "short"),
    "uint16": DeviceSpelling("unsigned short", "ushort"),
    "int32": DeviceSpelling("int", "int", least="(-2147483647 - 1)"),
    "uint32": DeviceSpelling("unsigned int", "uint", suffix="u"),
    "int64": DeviceSpelling("long long", "longlong", suffix="ll", least="(-9223372036854775807ll - 1)"),
    "uint64": DeviceSpelling("unsigned long long", "ulonglong", suffix="ull"),
    "bool": DeviceSpelling("bool"),
}  # fmt: skip
_ELEMENT_TYPES = (
    ElementType("float64", "f", "float64", 53, 17, (("double",),)),
    ElementType("float32", "f", "float32", 24, 9, (("float",),)),
    ElementType("float16", "f", "float16", 11, 4, (("half", "__half"),)),
    ElementType("bfloat16", "f", "uint16", 8, 3, (("__nv_bfloat16", "nv_bfloat16"),), _from_bfloat16, _to_bfloat16),
    ElementType("int8", "i", "int8", spellings=(("char",), ("signed char", "int8_t"))),
    ElementType("uint8", "u", "uint8", spellings=(("unsigned char", "uchar", "uint8_t"),)),
    ElementType("int16", "i", "int16", spellings=(("short", "short int", "signed short", "int16_t"),)),
    ElementType("uint16", "u", "uint16", spellings=(("unsigned short", "unsigned short int", "ushort", "uint16_t"),)),
    ElementType("int32", "i", "int32", spellings=(("int", "signed", "signed int", "int32_t"),)),
    ElementType("uint32", "u", "uint32", spellings=(("unsigned int", "unsigned", "uint", "uint32_t"),)),
    ElementType(
        "int64", "i", "int64",
        spellings=(
            ("long", "long int", "signed long", "long long", "long long int", "signed long long", "int64_t", "ptrdiff_t",
             "ssize_t", "intptr_t"),
        ),
    ),
    ElementType(
        "uint64", "u", "uint64",
        spellings=(
            ("unsigned long", "unsigned long int", "unsigned long long", "unsigned long long int", "size_t", "uint64_t",
             "ulong", "uintptr_t"),
        ),
    ),
    ElementType("bool", "b", "bool", spellings=(("bool", "_Bool"),)),
)  # fmt: skip
ELEMENT_TYPES: Mapping[str, ElementType] = {each.name: each for each in _ELEMENT_TYPES}
_SPELLED = {spelling: each for each in _ELEMENT_TYPES for group in each.spellings for spelling in group}


def element_type(name: str) -> ElementType:
    """The row with this name. Raises UsageError if the table has none."""
    element = ELEMENT_TYPES.get(name)
    if element is None:
        raise UsageError(f"there is no element type {name!r}", remedy=closest(name, ELEMENT_TYPES))
    return element


def element_type_of_c(spelling: str) -> ElementType:
    """The element type with this spelling in CUDA C. Raises KeyError if the table has none."""
    return _SPELLED[spelling]
