"""The traced threads as axes: which threads of which blocks, and how they line up as lanes and warps.

A value that is the same for all threads along an axis has extent 1 there (NumPy broadcasting). So
``blockIdx.y * 16 + threadIdx.y`` of a 64 x 64 grid of 16 x 16 blocks is an array of 64 x 1 x 16 x 1 numbers instead of a
million, and whatever is computed from it is computed once for all threads that share it.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import SettingError, UsageError
from gemmviz.model.kernel import Launch

Triple = tuple[int, int, int]
Range = tuple[int, int]


@dataclass(frozen=True)
class Window:
    """The blocks that are looked at: half-open ranges of blockIdx.x, .y and .z."""

    x: Range
    y: Range
    z: Range = (0, 1)

    @classmethod
    def whole(cls, launch: Launch) -> "Window":
        return cls(*((0, extent) for extent in launch.grid))

    @property
    def extents(self) -> Triple:
        return (self.x[1] - self.x[0], self.y[1] - self.y[0], self.z[1] - self.z[0])

    @property
    def blocks(self) -> int:
        return prod(self.extents)

    def checked(self, launch: Launch) -> "Window":
        """This window. Raises SettingError when it is empty or reaches beyond the grid."""
        for axis, (start, stop), extent in zip("xyz", (self.x, self.y, self.z), launch.grid, strict=True):
            if not 0 <= start < stop <= extent:
                raise SettingError(
                    f"blocks {start}:{stop} along {axis} are not in the grid, which has {extent} there",
                    remedy=f"choose within 0:{extent}",
                )
        return self

    def __str__(self) -> str:
        text = "{}:{},{}:{}".format(*self.x, *self.y)
        return text if self.z == (0, 1) else text + ",{}:{}".format(*self.z)


def parse_window(text: str) -> Window:
    """The window that ``X0:X1,Y0:Y1[,Z0:Z1]`` means. Raises UsageError for another text."""
    ranges = [re.fullmatch(r"(\d+):(\d+)", part) for part in text.split(",")]
    if not 2 <= len(ranges) <= 3 or None in ranges:
        raise UsageError(f"{text!r} are no blocks", remedy="write X0:X1,Y0:Y1, like 0:2,0:2")
    return Window(*((int(found[1]), int(found[2])) for found in ranges if found))


def parse_phases(text: str) -> Range:
    """The phases that ``P`` or ``P-Q`` means, as people count them: from 1, the last one included. Half-open and from 0, as
    traces have them. Raises UsageError for another text.
    """
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise UsageError(f"{text!r} are no phases", remedy="write P or P-Q, like 2-3: they count from 1, as on the screen")
    return first - 1, last


def phases_text(phases: Range) -> str:
    """What ``parse_phases`` reads."""
    start, stop = phases
    return str(stop) if stop - start == 1 else f"{start + 1}-{stop}"


@dataclass(frozen=True)
class LaneSpace:
    """All lanes of one trace. Axes, outermost first: block z, y, x, thread z, y, x; those of extent 1 are left out.

    Lane numbers count blocks first (x fastest), then threads of a block (x + y*Dx + z*Dx*Dy), as the hardware does.
    """

    launch: Launch
    window: Window
    warp_size: int = 32

    @cached_property
    def block_shape(self) -> tuple[int, ...]:
        return tuple(extent for extent in reversed(self.window.extents) if extent > 1)

    @cached_property
    def thread_shape(self) -> tuple[int, ...]:
        return tuple(extent for extent in reversed(self.launch.block) if extent > 1)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return self.block_shape + self.thread_shape

    @property
    def blocks(self) -> int:
        return self.window.blocks

    @property
    def threads(self) -> int:
        """Threads of one block."""
        return self.launch.threads

    @property
    def lanes(self) -> int:
        return self.blocks * self.threads

    @property
    def warps(self) -> int:
        """Warps of one block; the last one may be padded."""
        return -(-self.threads // self.warp_size)

    def index(self, of_block: bool, axis: int) -> npt.NDArray[np.uint32] | int:
        """BlockIdx or threadIdx along x, y or z (0, 1, 2), shaped for broadcasting; a plain int where it doesn't vary."""
        extents = self.window.extents if of_block else self.launch.block
        start = (self.window.x, self.window.y, self.window.z)[axis][0] if of_block else 0
        if extents[axis] == 1:
            return start
        outer = extents[axis + 1 :]
        place = sum(extent > 1 for extent in outer) + (0 if of_block else len(self.block_shape))
        shape = [1] * len(self.shape)
        shape[place] = extents[axis]
        return np.arange(start, start + extents[axis], dtype=np.uint32).reshape(shape)

    def lane(self, block: Triple, thread: Triple) -> int:
        """Number of the lane. ``block`` is a blockIdx within the window."""
        ex, ey, _ = self.window.extents
        dx, dy, _ = self.launch.block
        bx, by, bz = (b - r[0] for b, r in zip(block, (self.window.x, self.window.y, self.window.z), strict=True))
        return (bx + ex * (by + ey * bz)) * self.threads + thread[0] + dx * (thread[1] + dy * thread[2])

    def thread_of(self, lane: int) -> tuple[Triple, Triple]:
        """BlockIdx and threadIdx of a lane."""
        block, thread = divmod(lane, self.threads)
        ex, ey, _ = self.window.extents
        dx, dy, _ = self.launch.block
        by, bx = divmod(block, ex)
        bz, by = divmod(by, ey)
        ty, tx = divmod(thread, dx)
        tz, ty = divmod(ty, dy)
        return (bx + self.window.x[0], by + self.window.y[0], bz + self.window.z[0]), (tx, ty, tz)

    def per_block(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Broadcast ``values`` over the threads, but over blocks only as far as they vary: ``(varied blocks, threads)``.

        What is counted on the result stands for ``blocks / varied blocks`` times as many blocks.
        """
        outer = values.shape[: len(self.block_shape)]
        return np.broadcast_to(values, outer + self.thread_shape).reshape(-1, self.threads)
