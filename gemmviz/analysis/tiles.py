"""What one block's shared arrays hold at a step, from the origins in the trace."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.model.trace import Ints, MemoryArray, Trace

EMPTY = -3


@dataclass(frozen=True)
class TileContent:
    """What the cells of one shared array hold, flat: ``array`` is the number of the matrix (COMPUTED or CONSTANT for no
    element, EMPTY for never written), ``element`` the element there, ``phase`` the phase that stored it.
    """

    array: npt.NDArray[np.int8]
    element: Ints
    phase: Ints

    @classmethod
    def empty(cls, info: MemoryArray) -> "TileContent":
        nothing = np.full(info.size, EMPTY, np.int8)
        return cls(nothing, np.zeros(info.size, np.int32), np.full(info.size, -1, np.int32))


class Tiles:
    """Contents after a step, kept up to date as steps go by. ``lanes`` are those of the block."""

    def __init__(self, trace: Trace, lanes: slice) -> None:
        self.trace = trace
        self.lanes = lanes
        self._at = -1
        self._contents: dict[int, TileContent] = {}

    def after(self, step: int) -> dict[int, TileContent]:
        """By array number; nothing where the trace has no origins. Valid until the next call."""
        if not len(self.trace.origin_step):
            return {}
        if self._at > step or not self._contents:
            shared = ((n, info) for n, info in enumerate(self.trace.arrays) if info.space == "shared")
            self._at, self._contents = -1, {n: TileContent.empty(info) for n, info in shared}
        first, last = np.searchsorted(self.trace.origin_step, [self._at + 1, step + 1])
        for row in range(int(first), int(last)):
            self._apply(row)
        self._at = step
        return self._contents

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
