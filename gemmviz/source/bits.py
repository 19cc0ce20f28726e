"""CUDA's bit functions for arrays of int32, uint32, int64 or uint64 of any shape."""

from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.integer[Any]]

_LOWER = np.uint64((1 << 32) - 1)


def _unsigned(x: Integers) -> Integers:
    return x.view(f"u{x.itemsize}")


def _length(x: Integers) -> Integers:
    """Position of the highest set bit, counted from 1; 0 if none is set."""
    wide = x.astype(np.uint64)
    upper, lower = (np.frexp(part.astype(np.float64))[1] for part in (wide >> np.uint64(32), wide & _LOWER))
    return np.where(upper > 0, upper + 32, lower)


def leading_zeros(x: Integers) -> Integers:
    """CUDA's __clz: the number of leading zero bits."""
    return 8 * x.itemsize - _length(_unsigned(x))


def first_set(x: Integers) -> Integers:
    """CUDA's __ffs: the position of the lowest set bit, counted from 1; 0 if none is set."""
    unsigned = _unsigned(x)
    return _length(unsigned & (~unsigned + unsigned.dtype.type(1)))


def reversed_bits(x: Integers) -> Integers:
    """CUDA's __brev for unsigned integers: the bits in reverse order."""
    kind, found = x.dtype.type, x.byteswap()
    for by, mask in ((4, 0x0F), (2, 0x33), (1, 0x55)):
        every = kind(int.from_bytes([mask] * x.itemsize, "little"))
        found = ((found >> kind(by)) & every) | ((found & every) << kind(by))
    return found


def upper_product(x: Integers, y: Integers) -> Integers:
    """CUDA's __mulhi and __umulhi: the upper 32 bits of a 64-bit product."""
    wide = np.dtype(f"{x.dtype.kind}8").type
    return np.asarray((x.astype(wide) * y.astype(wide)) >> wide(32))


def product24(x: Integers, y: Integers) -> Integers:
    """CUDA's __mul24 and __umul24: the product of the lower 24 bits."""
    return _lower24(x) * _lower24(y)


def _lower24(x: Integers) -> Integers:
    eight = x.dtype.type(8)
    return (x << eight) >> eight


def distance(x: Integers, y: Integers, addend: Integers) -> Integers:
    """CUDA's __sad and __usad: ``addend`` plus the absolute difference."""
    return np.abs(x.astype(np.int64) - y.astype(np.int64)) + addend
