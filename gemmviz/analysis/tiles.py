"""What one block's shared arrays hold at a step, from the origins in the trace."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.model.trace import Ints, MemoryArray, Trace

EMPTY = -3
_ROWS_KEPT = 64


@dataclass(frozen=True)
class TileContent:
    """What the cells of one shared array hold, flat: ``array`` is the number of the matrix (COMPUTED or CONSTANT for no
    element, EMPTY for never written), ``element`` the element there, ``phase`` the phase that stored it, ``value`` what was
    stored, NaN where that is not known.
    """

    array: npt.NDArray[np.int8]
    element: Ints
    phase: Ints
    value: npt.NDArray[np.float32]

    def copy(self) -> "TileContent":
        return TileContent(self.array.copy(), self.element.copy(), self.phase.copy(), self.value.copy())

    @classmethod
    def empty(cls, info: MemoryArray) -> "TileContent":
        nothing = np.full(info.size, EMPTY, np.int8)
        unknown = np.full(info.size, np.nan, np.float32)
        return cls(nothing, np.zeros(info.size, np.int32), np.full(info.size, -1, np.int32), unknown)


class Tiles:
    """Contents after a step, kept up to date as steps go by. ``lanes`` are those of the block; ``value`` what was read and
    written, (steps, lanes of the trace), where that is known.
    """

    def __init__(self, trace: Trace, lanes: slice, value: npt.NDArray[np.float32] | None = None) -> None:
        self.trace = trace
        self.lanes = lanes
        self.value = value
        self._kept: dict[int, tuple[int, dict[int, TileContent]]] = {}
        self._at = -1
        self._contents: dict[int, TileContent] = {}

    def after(self, step: int) -> dict[int, TileContent]:
        """By array number; nothing where the trace has no origins. Valid until the next call."""
        if not len(self.trace.origin_step):
            return {}
        if self._at > step or not self._contents:
            self._go_back(step)
        first, last = np.searchsorted(self.trace.origin_step, [self._at + 1, step + 1])
        for row in range(int(first), int(last)):
            if row % _ROWS_KEPT == 0 and row not in self._kept:
                self._kept[row] = int(self.trace.origin_step[row]), {n: each.copy() for n, each in self._contents.items()}
            self._apply(row)
        self._at = step
        return self._contents

    def _go_back(self, step: int) -> None:
        """To the latest contents that were kept of a moment before ``step``, or to the beginning."""
        before = [row for row, (at, _) in self._kept.items() if at <= step and not self._splits_a_step(row)]
        if before:
            at, contents = self._kept[max(before)]
            self._at, self._contents = at - 1, {n: each.copy() for n, each in contents.items()}
        else:
            shared = ((n, info) for n, info in enumerate(self.trace.arrays) if info.space == "shared")
            self._at, self._contents = -1, {n: TileContent.empty(info) for n, info in shared}

    def _splits_a_step(self, row: int) -> bool:
        """Whether what was kept before this row holds a part of its step already."""
        return row > 0 and bool(self.trace.origin_step[row - 1] == self.trace.origin_step[row])

    def _apply(self, row: int) -> None:
        step = int(self.trace.origin_step[row])
        component = row - int(np.searchsorted(self.trace.origin_step, step))
        cells = self.trace.element[step, self.lanes]
        active = cells >= 0
        content = self._contents[self.trace.site_of(step).array]
        where = cells[active] + component
        content.array[where] = self.trace.origin_array[row, self.lanes][active]
        content.element[where] = self.trace.origin[row, self.lanes][active]
        content.phase[where] = self.trace.phase[step]
        known = self.value is not None and component == 0
        content.value[where] = self.value[step, self.lanes][active] if known and self.value is not None else np.nan
