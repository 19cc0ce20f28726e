"""Contents of one block's shared arrays at a step, from the origins in the trace."""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.model.arrays import Ints
from gemmviz.model.sites import MemoryArray, Operand
from gemmviz.model.trace import CONSTANT, Trace

EMPTY = -3
_ROWS_SAVED = 64


class TileContent(Struct, frozen=True):
    """Contents of the cells of one shared array, flat: ``array`` is the number of the matrix (COMPUTED or CONSTANT if it is no
    element, EMPTY if never written), ``element`` the element there, ``phase`` the phase that stored it, ``value`` the stored
    value, NaN if unknown (a constant's is known).
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
    """A cursor: contents after a step, updated from step to step. ``threads`` are those of the block; ``value`` the values read
    and written, (rows, threads of the trace), if known.
    """

    def __init__(self, trace: Trace, threads: slice, value: npt.NDArray[np.float32] | None = None) -> None:
        self.trace = trace
        self.threads = threads
        self.value = value
        self._saved: dict[int, tuple[int, dict[int, TileContent]]] = {}
        self._at = -1
        self._contents: dict[int, TileContent] = {}

    def after(self, step: int) -> dict[int, TileContent]:
        """Contents by array number; empty if the trace has no origins. Valid until the next call."""
        if not len(self.trace.origin_step):
            return {}
        if self._at > step or not self._contents:
            self._go_back(step)
        first, last = np.searchsorted(self.trace.origin_step, [self._at + 1, step + 1])
        for row in range(int(first), int(last)):
            if row % _ROWS_SAVED == 0 and row not in self._saved:
                self._saved[row] = int(self.trace.origin_step[row]), {n: each.copy() for n, each in self._contents.items()}
            self._apply(row)
        self._at = step
        return self._contents

    def _go_back(self, step: int) -> None:
        """Restores the latest saved contents of a moment before ``step``, or the initial ones."""
        before = [row for row, (at, _) in self._saved.items() if at <= step and not self._splits_a_step(row)]
        if before:
            at, contents = self._saved[max(before)]
            self._at, self._contents = at - 1, {n: each.copy() for n, each in contents.items()}
        else:
            shared = ((n, info) for n, info in enumerate(self.trace.arrays) if info.space == "shared")
            self._at, self._contents = -1, {n: TileContent.empty(info) for n, info in shared}

    def _splits_a_step(self, row: int) -> bool:
        """Whether the contents saved before this row include a part of its step already."""
        return row > 0 and bool(self.trace.origin_step[row - 1] == self.trace.origin_step[row])

    def _apply(self, row: int) -> None:
        trace, step = self.trace, int(self.trace.origin_step[row])
        component = row - int(np.searchsorted(trace.origin_step, step))
        place, operand = stored_operand(trace, step)
        record = int(trace.row[step]) + place
        cells = trace.element[record, self.threads]
        active = cells >= 0
        content = self._contents[operand.array]
        where = cells[active] + operand.layout.offset(component, trace.lane[self.threads][active])
        array, origin = trace.origin_array[row, self.threads][active], trace.origin[row, self.threads][active]
        content.array[where] = array
        content.element[where] = origin
        content.phase[where] = trace.phase[step]
        known = self.value is not None and component == 0
        stored = self.value[record, self.threads][active] if known and self.value is not None else np.float32(np.nan)
        content.value[where] = np.where(array == CONSTANT, origin.view(np.float32), stored)


def stored_operand(trace: Trace, step: int) -> tuple[int, Operand]:
    """The index of the operand of a step that is stored into shared memory, and the operand."""
    return next(
        (place, operand)
        for place, operand in enumerate(trace.site_of(step).operands)
        if operand.access == "write" and trace.arrays[operand.array].space == "shared"
    )
