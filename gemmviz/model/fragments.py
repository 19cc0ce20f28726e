"""Fragments: which lane of a warp holds which element of the matrices that one matrix instruction multiplies.

An instruction computes D (16 x 8) = A (16 x k) . B (k x 8) + C (16 x 8). Each lane holds some elements of each matrix in
registers of 32 bits; a register holds one element or several packed ones. Source: PTX ISA, "Matrix Fragments for
mma.m16n8k8" and the sections that follow it.
"""

from functools import lru_cache
from typing import Literal

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import Longs

ROWS, COLUMNS, LANES = 16, 8, 32
MatrixName = Literal["a", "b", "c"]
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "f32": 32, "s32": 32}  # of an element in a register


class Fragment(Struct, frozen=True, eq=False):
    """Where the elements of a matrix are: ``row`` and ``column``, int64 (lanes, elements of a lane), in the order of the
    registers, and in each from the lowest bits on.
    """

    row: Longs
    column: Longs


def loaded_fragment(is_transposed: bool) -> Fragment:
    """Return the fragment of a matrix of 8 x 8 elements of 16 bits that ldmatrix loads, stmatrix stores, and movmatrix
    transposes. Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix".
    """
    outer, along = np.arange(LANES)[:, None] // 4, np.arange(LANES)[:, None] % 4 * 2 + np.arange(2)
    pair = outer + np.zeros_like(along), along
    return Fragment(*(pair[::-1] if is_transposed else pair))


@lru_cache(maxsize=32)
def fragment_of(use: MatrixName, k: int, bits: int) -> Fragment:
    """Return the fragment of A, B, or C and D, of an instruction with ``k`` products for each element, whose elements have
    ``bits`` bits.

    >>> a = fragment_of("a", 16, 16)
    >>> a.row[0].tolist(), a.column[0].tolist()
    ([0, 0, 8, 8, 0, 0, 8, 8], [0, 1, 0, 1, 8, 9, 8, 9])
    """
    if use == "c":
        each = np.arange(4)
        lane = np.arange(LANES)[:, None]
        return Fragment(lane // 4 + 8 * (each // 2), lane % 4 * 2 + each % 2)
    packed = 32 // bits
    count = (ROWS if use == "a" else COLUMNS) * k // LANES
    register, within = np.divmod(np.arange(count), packed)
    lane = np.arange(LANES)[:, None]
    group = lane // 4 + np.zeros_like(register)
    along = lane % 4 * packed + within
    if use == "a":
        return Fragment(group + 8 * (register % 2), along + register // 2 * 4 * packed)
    return Fragment(along + register * 4 * packed, group)
