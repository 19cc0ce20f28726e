"""The traced threads: their blocks, their numbering, and the axes along which values over them vary.

A value that is the same for all threads along an axis has extent 1 there (NumPy broadcasting). So ``blockIdx.y * 16 +
threadIdx.y`` of a 64 x 64 grid of 16 x 16 blocks is an array of 64 x 1 x 16 x 1 numbers instead of a million, and expressions
of it are computed once for all threads that share it.
"""

import re
from functools import cached_property
from math import prod

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import AnyArray, Bools, Unsigned
from gemmviz.model.device import Device
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import SettingError, UsageError, tr

Triple = tuple[int, int, int]
Range = tuple[int, int]


class BlockRange(Struct, frozen=True):
    """Blocks of a grid: half-open ranges of blockIdx.x, .y and .z."""

    x: Range
    y: Range
    z: Range = (0, 1)

    @classmethod
    def all(cls, launch: Launch) -> "BlockRange":
        return cls(*((0, extent) for extent in launch.grid))

    @property
    def ranges(self) -> tuple[Range, Range, Range]:
        return self.x, self.y, self.z

    @property
    def extents(self) -> Triple:
        return (self.x[1] - self.x[0], self.y[1] - self.y[0], self.z[1] - self.z[0])

    @property
    def count(self) -> int:
        return prod(self.extents)

    def checked(self, launch: Launch) -> "BlockRange":
        """These blocks. Raises SettingError if there are none or if they reach beyond the grid."""
        for axis, (start, stop), extent in zip("xyz", self.ranges, launch.grid, strict=True):
            if not 0 <= start < stop <= extent:
                raise SettingError(
                    tr(
                        "blocks {start}:{stop} along {axis} are outside the grid, whose extent there is {extent}",
                        start=start,
                        stop=stop,
                        axis=axis,
                        extent=extent,
                    ),
                    remedy=tr("choose within 0:{extent}", extent=extent),
                )
        return self

    def __str__(self) -> str:
        text = "{}:{},{}:{}".format(*self.x, *self.y)
        return text if self.z == (0, 1) else text + ",{}:{}".format(*self.z)


def parse_blocks(text: str) -> BlockRange:
    """The blocks given as ``X0:X1,Y0:Y1[,Z0:Z1]``. Raises UsageError for other text."""
    ranges = [re.fullmatch(r"(\d+):(\d+)", part) for part in text.split(",")]
    if not 2 <= len(ranges) <= 3 or None in ranges:
        raise UsageError(
            tr("{blocks} is not a range of blocks", blocks=f"{text!r}"), remedy=tr("write X0:X1,Y0:Y1, like 0:2,0:2")
        )
    return BlockRange(*((int(each[1]), int(each[2])) for each in ranges if each))


def parse_phases(text: str) -> Range:
    """The phases given as ``P``, ``P-Q`` or ``P:Q``, counted from 1 with the last one included, as a half-open range from 0.
    Raises UsageError for other text.
    """
    match = re.fullmatch(r"(\d+)(?:[-:](\d+))?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise UsageError(
            tr("{phases} is not a range of phases", phases=f"{text!r}"),
            remedy=tr("write P or P-Q, like 2-3: phases count from 1"),
        )
    return first - 1, last


def phases_text(phases: Range) -> str:
    """The text for which ``parse_phases`` returns these phases."""
    start, stop = phases
    return str(stop) if stop - start == 1 else f"{start + 1}-{stop}"


class ThreadSpace(Struct, frozen=True, dict=True):
    """All threads of the traced ``blocks``. Axes, outermost first: block z, y, x, thread z, y, x; axes of extent 1 are left
    out.

    Threads are numbered block by block (x fastest), then within a block (x + y*Dx + z*Dx*Dy), as the hardware does.
    """

    launch: Launch
    blocks: BlockRange
    warp_size: int = 32

    @cached_property
    def block_shape(self) -> tuple[int, ...]:
        return tuple(extent for extent in reversed(self.blocks.extents) if extent > 1)

    @cached_property
    def thread_shape(self) -> tuple[int, ...]:
        return tuple(extent for extent in reversed(self.launch.block) if extent > 1)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return self.block_shape + self.thread_shape

    @property
    def threads_per_block(self) -> int:
        return self.launch.threads_per_block

    @property
    def thread_count(self) -> int:
        """Number of threads in all these blocks."""
        return self.blocks.count * self.threads_per_block

    @property
    def warps_per_block(self) -> int:
        """Warps of a block; the last one may be partly filled."""
        return -(-self.threads_per_block // self.warp_size)

    def index(self, of_block: bool, axis: int) -> Unsigned | int:
        """BlockIdx or threadIdx along x, y or z (0, 1, 2), shaped for broadcasting; a plain int if it doesn't vary."""
        extents = self.blocks.extents if of_block else self.launch.block
        start = self.blocks.ranges[axis][0] if of_block else 0
        if extents[axis] == 1:
            return start
        outer = extents[axis + 1 :]
        place = sum(extent > 1 for extent in outer) + (0 if of_block else len(self.block_shape))
        shape = [1] * len(self.shape)
        shape[place] = extents[axis]
        return np.arange(start, start + extents[axis], dtype=np.uint32).reshape(shape)

    def number(self, block: Triple, thread: Triple) -> int:
        """The number of a thread. ``block`` is a blockIdx within ``blocks``."""
        ex, ey, _ = self.blocks.extents
        dx, dy, _ = self.launch.block
        bx, by, bz = (at - start for at, (start, _) in zip(block, self.blocks.ranges, strict=True))
        return (bx + ex * (by + ey * bz)) * self.threads_per_block + thread[0] + dx * (thread[1] + dy * thread[2])

    def indices(self, number: int) -> tuple[Triple, Triple]:
        """BlockIdx and threadIdx of a thread by its number."""
        block, thread = divmod(number, self.threads_per_block)
        ex, ey, _ = self.blocks.extents
        dx, dy, _ = self.launch.block
        by, bx = divmod(block, ex)
        bz, by = divmod(by, ey)
        ty, tx = divmod(thread, dx)
        tz, ty = divmod(ty, dy)
        x, y, z = (start for start, _ in self.blocks.ranges)
        return (bx + x, by + y, bz + z), (tx, ty, tz)

    def parts_warps(self, some: Bools, others: Bools) -> bool:
        """Whether a warp has threads of both sets; both arrays broadcast over the axes."""
        either = [np.any(self._per_warp(each), axis=-1) for each in (some, others)]
        return bool((either[0] & either[1]).any())

    def _per_warp(self, flags: Bools) -> Bools:
        """Flags over the axes as (varied blocks, warps, threads of a warp), the last warp padded with false."""
        rows = self.per_block(flags.reshape((1,) * (len(self.shape) - flags.ndim) + flags.shape))
        if missing := -self.threads_per_block % self.warp_size:
            rows = np.pad(rows, ((0, 0), (0, missing)))
        return rows.reshape(len(rows), -1, self.warp_size)

    def per_block(self, values: AnyArray) -> AnyArray:
        """``values`` broadcast over the threads, but over blocks only where they vary: ``(varied blocks, threads)``.

        A count of the result stands for ``blocks.count / varied blocks`` times as many blocks.
        """
        outer = values.shape[: len(self.block_shape)]
        return np.broadcast_to(values, outer + self.thread_shape).reshape(-1, self.threads_per_block)


class Strips(Struct, frozen=True):
    """Blocks along an axis of a grid, cut into strips of at most ``most``. ``axis``: x, y or z."""

    axis: str
    blocks: int
    most: int

    @property
    def count(self) -> int:
        return -(-self.blocks // self.most)

    def strip(self, number: int) -> tuple[int, int]:
        """Return the first block of a strip and the one after its last."""
        return number * self.most, min(self.blocks, (number + 1) * self.most)


def strips_of(launch: Launch, device: Device) -> Strips | None:
    """Return the strips of the first axis along which a grid is longer than the device allows; None if it isn't."""
    extents = zip("xyz", launch.grid, device.max_grid, strict=True)
    return next((Strips(axis, blocks, most) for axis, blocks, most in extents if blocks > most), None)
