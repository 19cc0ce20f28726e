"""Shared memory: how many passes (wavefronts) one warp's access takes over the 32 banks of 4 bytes.

Rule: 32-bit accesses are served for the whole warp at once, 64-bit ones in halves, 128-bit ones in quarters. A load merges its
groups in pairs when every active lane i has an inactive or equal lane i^1, or every active lane i an inactive or equal lane
i^2. A group costs the largest number of distinct words that it needs from one bank. Measured on an H200: exact on 462 single
accesses (Nsight Compute, l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.warps import Rows

BANKS = 32
BANK_BYTES = 4
Counts = npt.NDArray[np.int64]
_INACTIVE_WORD = -1


def words_of(rows: Rows, itemsize: int, width: int = 1) -> tuple[Rows, int]:
    """First 4-byte word of each lane (-1 inactive) and the words per lane, for elements of ``itemsize`` bytes."""
    per_lane = max(1, itemsize * width // BANK_BYTES)
    return np.where(rows >= 0, rows * itemsize // BANK_BYTES, _INACTIVE_WORD), per_lane


def wavefronts(words: Rows, words_per_lane: int, is_load: bool) -> tuple[Counts, Counts]:
    """Wavefronts of each warp, and the fewest that could carry its words: int64 (rows,) each.

    ``words``: first word of each lane (rows, 32), -1 inactive. The ideal is the words asked for over the 32 that fit
    one wavefront, or what it took where broadcasts made it fewer (memory_l1_wavefronts_shared_ideal; measured likewise).
    """
    actual = _served(words, words_per_lane, is_load)
    asked = np.count_nonzero(words >= 0, axis=1) * words_per_lane
    return actual, np.minimum(actual, -(-asked // BANKS))


def _served(words: Rows, words_per_lane: int, is_load: bool) -> Counts:
    groups = min(words_per_lane, 8)
    if groups == 1:
        return _conflicts(words, words_per_lane)
    total = np.zeros(len(words), np.int64)
    merges = _merges(words) if is_load else np.zeros(len(words), bool)
    for chosen, size in ((~merges, 32 // groups), (merges, 64 // groups)):
        some = words[chosen]
        for start in range(0, 32 if len(some) else 0, size):
            total[chosen] += _conflicts(some[:, start : start + size], words_per_lane)
    return total


def served_groups(words: npt.NDArray[np.int64], words_per_lane: int, is_load: bool) -> list[slice]:
    """The lanes of one access (32,) that are served together, group after group."""
    groups = min(words_per_lane, 8)
    size = 32 // groups * (2 if groups > 1 and is_load and _merges(words[None])[0] else 1)
    return [slice(start, min(32, start + size)) for start in range(0, 32, size)]


def _merges(words: Rows) -> npt.NDArray[np.bool_]:
    """Whether each warp's groups go in pairs."""
    active = words >= 0
    lanes = np.arange(words.shape[1])
    paired = [
        (~active | ~active[:, lanes ^ step] | (words == words[:, lanes ^ step])).all(axis=1) for step in (1, 2)
    ]  # fmt: skip
    return np.asarray(paired[0] | paired[1])


def _conflicts(words: Rows, words_per_lane: int) -> Counts:
    """The largest number of distinct words in one bank, per row."""
    counts = bank_words(words, words_per_lane)
    return np.asarray(counts.max(axis=1), np.int64)


def bank_words(words: Rows, words_per_lane: int) -> Counts:
    """Distinct words that each row needs from each bank: int64 (rows, 32)."""
    if words_per_lane > 1:
        spread = words[:, :, None] + np.arange(words_per_lane)
        words = np.where(words[:, :, None] >= 0, spread, _INACTIVE_WORD).reshape(len(words), -1)
    ordered = np.sort(words, axis=1)
    fresh = ordered >= 0
    fresh[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    row, column = np.nonzero(fresh)
    bank = ordered[row, column] % BANKS
    flat: npt.NDArray[Any] = np.bincount(row * BANKS + bank, minlength=len(words) * BANKS)
    return flat.reshape(-1, BANKS).astype(np.int64)
