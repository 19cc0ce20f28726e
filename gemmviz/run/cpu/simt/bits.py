"""CUDA's bit functions for arrays of int32, uint32, int64 or uint64 of any shape."""

from collections.abc import Callable
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


def upper_product64(x: Integers, y: Integers) -> Integers:
    """CUDA's __mul64hi and __umul64hi: the upper 64 bits of a 128-bit product."""
    a, b = x.astype(object), y.astype(object)
    return np.asarray((a * b) >> 64).astype(x.dtype)


def average(x: Integers, y: Integers) -> Integers:
    """CUDA's __hadd and __uhadd of integers: half the sum, rounded down."""
    return np.asarray((x.astype(np.int64) + y.astype(np.int64)) >> 1)


def rounded_average(x: Integers, y: Integers) -> Integers:
    """CUDA's __rhadd and __urhadd: half the sum, rounded up."""
    return np.asarray((x.astype(np.int64) + y.astype(np.int64) + 1) >> 1)


def permuted_bytes(x: Integers, y: Integers, selector: Integers) -> Integers:
    """CUDA's __byte_perm: four bytes of x (0 to 3) and y (4 to 7), each chosen by three bits of a nibble of ``selector``; the
    fourth bit copies its sign (PTX ISA, prmt).
    """
    both = x.astype(np.uint64) | (y.astype(np.uint64) << np.uint64(32))
    result = np.zeros(np.broadcast(both, selector).shape, np.uint64)
    for place in range(4):
        nibble = (selector.astype(np.uint64) >> np.uint64(4 * place)) & np.uint64(15)
        byte = (both >> ((nibble & np.uint64(7)) * np.uint64(8))) & np.uint64(255)
        byte = np.where(nibble & np.uint64(8), np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0)), byte)
        result = result | (byte << np.uint64(8 * place))
    return result


def funnel_shift(way: str) -> "Callable[[Integers, Integers, Integers], Integers]":
    """CUDA's __funnelshift_l, _lc, _r and _rc: a shift of the 64 bits of two words, of which one word is kept."""

    def shift(low: Integers, high: Integers, amount: Integers) -> Integers:
        both = low.astype(np.uint64) | (high.astype(np.uint64) << np.uint64(32))
        by = amount.astype(np.uint64)
        by = np.minimum(by, np.uint64(32)) if way.endswith("c") else by & np.uint64(31)
        return np.asarray(((both << by) >> np.uint64(32)) if way.startswith("l") else (both >> by)) & _LOWER

    return shift


def dot_of_bytes(x: Integers, y: Integers, addend: Integers) -> Integers:
    """CUDA's __dp4a: the dot product of four bytes, signed as the words are, plus ``addend``, modulo 2**32."""
    total = _parts(x, 4) * _parts(y, 4)
    return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))


def dot_of_shorts(first: int) -> "Callable[[Integers, Integers, Integers], Integers]":
    """CUDA's __dp2a_lo (``first`` 0) and __dp2a_hi (2): the dot product of two shorts and two of four bytes, plus an addend."""

    def dot(x: Integers, y: Integers, addend: Integers) -> Integers:
        total = _parts(x, 2) * _parts(y, 4)[..., first : first + 2]
        return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))

    return dot


def _parts(words: Integers, count: int) -> npt.NDArray[np.int64]:
    """The parts of 32-bit words, lowest first, as int64 (..., count), signed as the words are."""
    whole = np.asarray(words, order="C")
    kind = f"{whole.dtype.kind}{4 // count}"
    return whole.reshape((*whole.shape, 1)).view(kind).astype(np.int64)


def _joined(parts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """Words of parts (..., count), each modulo its size."""
    count = parts.shape[-1]
    return np.asarray(parts.astype(f"u{4 // count}"), order="C").view(np.uint32)[..., 0]


_ON_PARTS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "neg": np.negative, "abs": np.abs, "absdiff": lambda x, y: np.abs(x - y),
    
    "avg": lambda x, y: (x + y + 1) >> 1, "hadd": lambda x, y: (x + y) >> 1, "max": np.maximum, "min": np.minimum,
    "sad": lambda x, y: np.abs(x - y),
    "eq": np.equal, "ne": np.not_equal, "ge": np.greater_equal, "gt": np.greater, "le": np.less_equal, "lt": np.less,
}  # fmt: skip


_SATURATING = {"addss": ("add", "i"), "addus": ("add", "u"), "subss": ("sub", "i"), "subus": ("sub", "u"), "abss": ("abs", "i")}


def on_parts(name: str, count: int) -> "Callable[..., Integers]":
    """CUDA's SIMD video functions: ``name`` as between __v and the number of parts, such as addss, absdiffu or cmpgts."""
    saturates = name in _SATURATING
    stem, kind = _SATURATING.get(name) or ((name, "i") if name in ("neg", "abs") else (name, "u"))
    if not saturates and stem[-1] in "su" and stem != "abs":
        stem, kind = stem[:-1], "i" if stem[-1] == "s" else "u"
    compares = next((each for each in ("cmp", "set") if stem.startswith(each)), "")
    sums = stem == "sad"
    apply = _ON_PARTS[stem.removeprefix(compares)]
    bits = 32 // count

    def compute(*words: Integers) -> Integers:
        whole = apply(*(_parts(each.view(f"{kind}4"), count) for each in words))
        if sums:
            return np.asarray(whole.sum(axis=-1))
        if compares:
            whole = np.where(whole, (1 << bits) - 1 if compares == "cmp" else 1, 0)
        if saturates:
            low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "i" else (0, (1 << bits) - 1)
            whole = np.clip(whole, low, high)
        return _joined(whole)

    return compute
