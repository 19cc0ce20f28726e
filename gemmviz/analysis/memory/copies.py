"""Wavefronts of asynchronous copies from global to shared memory, as Nsight Compute counts them.

A copy through L1 (``cp.async.ca``) takes those of a store, and one more for each further lane that reads the same bank of the
source, counted as if that were shared memory without broadcasts. A copy around L1 (``cp.async.cg``) takes one for each pair of
a line that it reads and a line that it writes, and one more for each pair in which it moves both halves of sectors into other
halves. Measured on an H200 with CUDA 13.0: ``tests/data/h200-copies.json``.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gemmviz.analysis.memory.warps import Rows, access_rows, distinct_per_row
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE

_SIZES = (4, 8, 16)  # bytes of a lane
_HALF = 16  # bytes of half a sector, and of a copy around L1


def beyond_stores(source: Rows, lane_bytes: int, rules: MemoryRules) -> int:
    """Wavefronts of copies through L1 beyond those of their stores: of requests (n, lanes), from the bytes at which lanes read,
    -1 for none.
    """
    words = np.arange(lane_bytes // rules.bank_bytes)
    beyond = 0
    for lanes in np.split(source, max(1, len(words)), axis=1):
        row, lane = np.nonzero(lanes >= 0)
        bank = (lanes[row, lane, None] // rules.bank_bytes + words) % rules.banks
        readers = np.zeros((len(lanes), rules.banks), np.int64)
        np.add.at(readers, (row[:, None], bank), 1)
        beyond += int(np.maximum(readers.max(axis=1) - 1, 0).sum())
    return beyond


def around_l1(source: Rows, target: Rows, rules: MemoryRules) -> int:
    """Wavefronts of copies around L1, from the bytes at which lanes read and write."""
    line, half = rules.line_bytes, source // _HALF % 2
    keys = (source // line << 32 | target // line) * 2 + np.where(half == target // _HALF % 2, 0, half)
    return int(distinct_per_row(keys, source >= 0).sum())


class CopyCounter(AccessSink):
    """Counts ``beyond``, the wavefronts of copies through L1 beyond those of their stores, and ``around``, those of copies
    around L1.
    """

    def __init__(self, rules: MemoryRules, space: ThreadSpace, arrays: tuple[MemoryArray, ...]) -> None:
        self.rules, self.space, self.arrays = rules, space, arrays
        self.sites: list[Site] = []
        self.beyond = self.around = 0
        self._source: Longs | int = 0

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        operand = self.sites[site].operand(place)
        if operand is None or not self.sites[site].is_async:
            return
        item = self.arrays[operand.array].itemsize
        at, size = np.asarray(offset) * item, item * operand.width
        if size not in _SIZES:
            return  # a bulk copy
        if operand.access == "read":
            self._source = at
            return
        both = (self._rows(each, mask) for each in (self._source, at))
        for source, target in zip(*both, strict=True):
            if is_around_l1(self.sites[site], size):
                self.around += around_l1(source, target, self.rules)
            else:
                self.beyond += beyond_stores(source, size, self.rules)

    def _rows(self, at: Any, mask: Bools | None) -> Iterator[Rows]:
        values = np.asarray(at if mask is None else np.where(mask, at, INACTIVE))
        return access_rows(self.space, self.rules, np.broadcast_to(values, self.space.shape))


def is_around_l1(site: Site, lane_bytes: int) -> bool:
    """Whether a copy passes L1 by: one of 16 bytes, unless its text is that of ``cp.async.ca``."""
    return lane_bytes == _HALF and ".ca" not in site.text
