"""The memories of a launch behind 64-bit addresses: a thread's own, a block's shared memory, and arrays in global memory."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.ptx_oracle.module import PtxError

LOCAL, SHARED, GLOBAL = 1 << 44, 2 << 44, 3 << 44
_WINDOW = 36  # bits of an offset in an array of global memory
Array = npt.NDArray[Any]


@dataclass
class Memory:
    """Bytes of all memories. ``block`` (threads,): the index of each thread's block."""

    block: Array
    local: Array  # (threads, bytes)
    shared: Array  # (blocks, bytes)
    arrays: list[Array] = field(default_factory=list)

    def add(self, data: Array) -> int:
        """Adds an array of global memory, copied; returns its address."""
        self.arrays.append(np.ascontiguousarray(data).reshape(-1).view(np.uint8).copy())
        return GLOBAL + ((len(self.arrays) - 1) << _WINDOW)

    def load(self, address: Array, threads: Array, dtype: np.dtype[Any]) -> Array:
        """What lies at an address of each of these threads, (n,)."""
        found = np.zeros((len(threads), dtype.itemsize), np.uint8)
        for here, memory, row, at in self._parts(address, threads, dtype.itemsize):
            for byte in range(dtype.itemsize):
                found[here, byte] = memory[row, at + byte]
        return found.view(dtype).ravel()

    def store(self, address: Array, threads: Array, values: Array) -> None:
        """Stores a value at an address of each of these threads; of equal addresses the last thread's value stays."""
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(len(threads), -1)
        for here, memory, row, at in self._parts(address, threads, raw.shape[1]):
            for byte in range(raw.shape[1]):
                memory[row, at + byte] = raw[here, byte]

    def _parts(self, address: Array, threads: Array, size: int) -> Any:
        """Pieces of an access: which of the threads, a memory of shape (rows, bytes), and the row and offset of each."""
        window = address >> 44
        for kind, memory, rows in ((1, self.local, threads), (2, self.shared, self.block[threads])):
            here = window == kind
            if here.any():
                yield here, memory, rows[here], _within(address[here] - (kind << 44), memory.shape[1], size)
        for number, array in enumerate(self.arrays):
            start = GLOBAL + (number << _WINDOW)
            here = (address >= start) & (address < start + (1 << _WINDOW))
            if here.any():
                at = _within(address[here] - start, len(array), size)
                yield here, array[None], np.zeros(len(at), np.int64), at
        if (window < 1).any() or (address >= GLOBAL + (len(self.arrays) << _WINDOW)).any():
            raise PtxError("an address points to no memory")


def _within(at: Array, size: int, width: int) -> Array:
    if ((at < 0) | (at + width > size) | (at % width != 0)).any():
        raise PtxError(f"an access of {width} bytes at {int(at.min())} to {int(at.max())} is outside of {size} or not aligned")
    return at


def array_of(address: Array) -> tuple[Array, Array]:
    """Number of the array of each address, -1 for shared and -2 for local memory, and the offset in it in bytes."""
    number = np.where(address >= GLOBAL, (address - GLOBAL) >> _WINDOW, np.where(address >= SHARED, -1, -2))
    start = np.where(address >= GLOBAL, GLOBAL + (number << _WINDOW), np.where(address >= SHARED, SHARED, LOCAL))
    return number, address - start
