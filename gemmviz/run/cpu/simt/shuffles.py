"""Compiles shuffles to closures: each lane takes the value of another lane of its warp.

The value of a lane that takes no part is undefined: NaN or, of an integer, the lane's own. Reading a lane that the mask names
and that is elsewhere in the kernel is a fault.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.values import Closure
from gemmviz.source.nodes import Call
from gemmviz.source.types import Scalar, VectorType, scalar_of

_WARP = 32
_WIDTHS = (1, 2, 4, 8, 16, 32)
_ALL = (1 << _WARP) - 1


def shuffle(node: Call, args: list[Closure], space: ThreadSpace) -> Closure:
    """The values after a shuffle within groups of ``width`` lanes; the arguments are the mask (of ``_sync`` alone), the value,
    the lane or distance, and the width. Raises KernelFault for a width that isn't a power of two.
    """
    mask = args[0] if node.name.endswith("_sync") else None
    value, lane, width = args[-3:]
    assert isinstance(node.type, Scalar | VectorType)
    scalar, is_vector = scalar_of(node.type), isinstance(node.type, VectorType)
    dtype = None if scalar.is_float else scalar.dtype

    def run(machine: Machine) -> Any:
        given = value(machine)
        parts = [np.asarray(each, dtype) for each in (given if is_vector else [given])]
        selector = [np.asarray(lane(machine)), np.asarray(width(machine))]
        bad = ~np.isin(selector[1], _WIDTHS)
        if np.any(bad if machine.mask is None else bad & machine.mask):
            raise machine.fault("this width is no power of two up to 32", node.place, bad, "use 1, 2, 4, 8, 16 or 32")
        exchange = _Exchange(machine, node, space, selector, None if mask is None else mask(machine))
        moved = [exchange.moved(part) for part in parts]
        return moved if is_vector else moved[0]

    return run


class _Exchange:
    """One execution of a shuffle: which thread each thread reads, by block."""

    def __init__(self, machine: Machine, node: Call, space: ThreadSpace, selector: list[npt.NDArray[Any]], named: Any) -> None:
        self.space = space
        whole = machine.mask is None and space.threads_per_block % _WARP == 0
        names_all = named is None or (isinstance(named, int) and named & _ALL == _ALL)
        others = [True if each is None else each for each in (machine.mask, machine.exited, named)]
        selector = [_over_lanes(each, space) for each in selector]
        parts = selector if whole and names_all else [*selector, *(_over_lanes(np.asarray(each), space) for each in others)]
        self.outer = np.broadcast_shapes(*(each.shape[: len(space.block_shape)] for each in parts))
        by, width = (_rows(each, self.outer, space) for each in selector)
        target = _sources(node.name, by, width, space.threads_per_block)
        self.source = np.where(target < space.threads_per_block, target, np.arange(space.threads_per_block))
        self.undefined: Bools | None = None
        if not (whole and names_all):
            self._check(machine, node, target, named)

    def moved(self, part: npt.NDArray[Any]) -> npt.NDArray[Any]:
        part = _over_lanes(part, self.space)
        outer = np.broadcast_shapes(self.outer, part.shape[: len(self.space.block_shape)])
        rows, source = np.broadcast_arrays(_rows(part, outer, self.space), self._source(outer))
        result = np.take_along_axis(rows, source, axis=1)
        if self.undefined is not None and self.undefined.any():
            undefined = self._spread(self.undefined, outer)
            result = np.where(undefined, np.asarray(np.nan).astype(rows.dtype) if rows.dtype.kind == "f" else rows, result)
        return self._lanes(result, outer)

    def _source(self, outer: tuple[int, ...]) -> Longs:
        return self._spread(self.source, outer)

    def _spread(self, rows: npt.NDArray[Any], outer: tuple[int, ...]) -> npt.NDArray[Any]:
        """Rows by block, repeated for the blocks of ``outer``."""
        if len(rows) == 1 or outer == self.outer:
            return rows
        full = self.space.thread_shape
        return np.broadcast_to(rows.reshape(self.outer + full), outer + full).reshape(-1, self.space.threads_per_block)

    def _check(self, machine: Machine, node: Call, target: Longs, named: Any) -> None:
        """Marks the lanes that read a lane that isn't there. Raises KernelFault if their mask names it, or not themselves."""
        space = self.space
        active = _rows(_over_lanes(np.asarray(True if machine.mask is None else machine.mask), space), self.outer, space)
        given = (
            _rows(_over_lanes(np.asarray(each), space), self.outer, space)
            for each in (0 if named is None else named, False if machine.exited is None else machine.exited)
        )
        active, source, target, masks, exited = np.broadcast_arrays(active, self.source, target, *given)
        absent = active & ((target != source) | ~np.take_along_axis(active, source, axis=1))
        self.undefined = absent
        if named is None:
            return
        masks = masks.astype(np.int64)
        lanes = np.arange(space.threads_per_block) % _WARP
        stranger = active & ((masks >> lanes) & 1 == 0)
        if stranger.any():
            raise machine.fault(
                f"the mask of {node.name} doesn't name the lane that calls it", node.place, self._lanes(stranger, self.outer),
                "pass a mask with a bit for every lane that arrives here, such as 0xffffffff",
            )  # fmt: skip
        wanted = absent & (target == source) & ((masks >> (target % _WARP)) & 1 != 0)
        wanted &= ~np.take_along_axis(exited, source, axis=1)
        if wanted.any():
            row, thread = (int(each[0]) for each in np.nonzero(wanted))
            raise machine.fault(
                f"{node.name} reads lane {int(source[row, thread]) % _WARP} of the warp, which its mask names but which "
                "doesn't arrive here", node.place, self._lanes(wanted, self.outer),
                "its value is undefined: let all lanes that the mask names call it", id="uninitialised-read",
            )  # fmt: skip

    def _lanes(self, rows: npt.NDArray[Any], outer: tuple[int, ...]) -> npt.NDArray[Any]:
        """Rows by block over the axes of the threads; one row stands for all blocks."""
        blocks = outer if len(rows) > 1 else (1,) * len(outer)
        return rows.reshape(blocks + self.space.thread_shape)


def _over_lanes(value: npt.NDArray[Any], space: ThreadSpace) -> npt.NDArray[Any]:
    return value if value.ndim else value.reshape((1,) * len(space.shape))


def _rows(values: npt.NDArray[Any], outer: tuple[int, ...], space: ThreadSpace) -> npt.NDArray[Any]:
    """Values as (blocks, threads), with one row if they are the same in all blocks of ``outer``."""
    own = values.shape[: len(outer)]
    blocks = own if own.count(1) == len(own) else outer
    return np.broadcast_to(values, blocks + space.thread_shape).reshape(-1, space.threads_per_block)


def _sources(name: str, selector: npt.NDArray[Any], width: npt.NDArray[Any], threads: int) -> Longs:
    """The thread of the block that each thread reads, itself where the source is outside its group (PTX ISA, shfl.sync). The
    last warp of a block may lack it.

    ``selector`` and ``width`` are (blocks, threads), or of length 1 along an axis.
    """
    own = np.arange(threads, dtype=np.int64)
    lane, by, segment = own % _WARP, selector.astype(np.int64) % _WARP, _WARP - width.astype(np.int64)
    first = lane & segment
    last = first | (~segment & (_WARP - 1))
    match name.removesuffix("_sync"):
        case "__shfl_up":
            target, is_inside = lane - by, lane - by >= first
        case "__shfl_down":
            target, is_inside = lane + by, lane + by <= last
        case "__shfl_xor":
            target, is_inside = lane ^ by, lane ^ by <= last
        case _:
            target, is_inside = first | (by & ~segment), np.ones_like(own, bool)
    return np.asarray(np.where(is_inside, own - lane + target, own), np.int64)
