"""Compiles intrinsics to closures: arithmetic, assert, memset, and what the lanes of a warp do together."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gemmviz.cuda.functions import CLOCKS, function_for
from gemmviz.cuda.nodes import Call
from gemmviz.cuda.types import Scalar, VectorType, scalar_of
from gemmviz.model.arrays import LANES, AnyArray, Bools, Longs
from gemmviz.model.messages import tr
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt.functions import code_for
from gemmviz.run.cpu.simt.machine import Closure, Machine
from gemmviz.run.cpu.simt.memory import access_type
from gemmviz.run.cpu.simt.values import constant, outer_of, over_threads, over_warps

# Compiles shuffles to closures: each lane takes the value of another lane of its warp.

_SHUFFLE_WIDTHS = (1, 2, 4, 8, 16, 32)
_ALL = (1 << LANES) - 1


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
        bad = ~np.isin(selector[1], _SHUFFLE_WIDTHS)
        if np.any(bad if machine.mask is None else bad & machine.mask):
            raise machine.fault("this width is no power of two up to 32", node.place, bad, "use 1, 2, 4, 8, 16 or 32")
        exchange = _Exchange(machine, node, space, selector, None if mask is None else mask(machine))
        moved = [exchange.moved(part) for part in parts]
        return moved if is_vector else moved[0]

    return run


class _Exchange:
    """One execution of a shuffle: which thread each thread reads, by block."""

    def __init__(self, machine: Machine, node: Call, space: ThreadSpace, selector: list[AnyArray], named: Any) -> None:
        self.space = space
        whole = machine.mask is None and space.threads_per_block % LANES == 0
        names_all = named is None or (isinstance(named, int) and named & _ALL == _ALL)
        others = [True if each is None else each for each in (machine.mask, machine.exited, named)]
        selector = [_over_lanes(each, space) for each in selector]
        parts = selector if whole and names_all else [*selector, *(_over_lanes(np.asarray(each), space) for each in others)]
        self.outer = np.broadcast_shapes(*(each.shape[: len(space.block_shape)] for each in parts))
        by, width = (_block_rows(each, self.outer, space) for each in selector)
        target = _lanes_read(node.name, by, width, space.threads_per_block)
        self.source = np.where(target < space.threads_per_block, target, np.arange(space.threads_per_block))
        self.undefined: Bools | None = None
        if not (whole and names_all):
            self._check(machine, node, target, named)

    def moved(self, part: AnyArray) -> AnyArray:
        part = _over_lanes(part, self.space)
        outer = np.broadcast_shapes(self.outer, part.shape[: len(self.space.block_shape)])
        rows, source = np.broadcast_arrays(_block_rows(part, outer, self.space), self._source(outer))
        result = np.take_along_axis(rows, source, axis=1)
        if self.undefined is not None and self.undefined.any():
            undefined = self._spread(self.undefined, outer)
            result = np.where(undefined, np.asarray(np.nan).astype(rows.dtype) if rows.dtype.kind == "f" else rows, result)
        return self._lanes(result, outer)

    def _source(self, outer: tuple[int, ...]) -> Longs:
        return self._spread(self.source, outer)

    def _spread(self, rows: AnyArray, outer: tuple[int, ...]) -> AnyArray:
        """Rows by block, repeated for the blocks of ``outer``."""
        if len(rows) == 1 or outer == self.outer:
            return rows
        full = self.space.thread_shape
        return np.broadcast_to(rows.reshape(self.outer + full), outer + full).reshape(-1, self.space.threads_per_block)

    def _check(self, machine: Machine, node: Call, target: Longs, named: Any) -> None:
        """Marks the lanes that read a lane that isn't there. Raises KernelFault if their mask names it, or not themselves."""
        space = self.space
        active = _block_rows(_over_lanes(np.asarray(True if machine.mask is None else machine.mask), space), self.outer, space)
        given = (
            _block_rows(_over_lanes(np.asarray(each), space), self.outer, space)
            for each in (0 if named is None else named, False if machine.exited is None else machine.exited)
        )
        active, source, target, masks, exited = np.broadcast_arrays(active, self.source, target, *given)
        absent = active & ((target != source) | ~np.take_along_axis(active, source, axis=1))
        self.undefined = absent
        if named is None:
            return
        masks = masks.astype(np.int64)
        lanes = np.arange(space.threads_per_block) % LANES
        stranger = active & ((masks >> lanes) & 1 == 0)
        if stranger.any():
            raise machine.fault(
                f"the mask of {node.name} doesn't name the lane that calls it", node.place, self._lanes(stranger, self.outer),
                "pass a mask with a bit for every lane that arrives here, such as 0xffffffff",
            )  # fmt: skip
        wanted = absent & (target == source) & ((masks >> (target % LANES)) & 1 != 0)
        wanted &= ~np.take_along_axis(exited, source, axis=1)
        if wanted.any():
            row, thread = (int(each[0]) for each in np.nonzero(wanted))
            raise machine.fault(
                f"{node.name} reads lane {int(source[row, thread]) % LANES} of the warp, which its mask names but which "
                "doesn't arrive here", node.place, self._lanes(wanted, self.outer),
                "its value is undefined: let all lanes that the mask names call it", id="uninitialised-read",
            )  # fmt: skip

    def _lanes(self, rows: AnyArray, outer: tuple[int, ...]) -> AnyArray:
        """Rows by block over the axes of the threads; one row stands for all blocks."""
        blocks = outer if len(rows) > 1 else (1,) * len(outer)
        return rows.reshape(blocks + self.space.thread_shape)


def _over_lanes(value: AnyArray, space: ThreadSpace) -> AnyArray:
    return value if value.ndim else value.reshape((1,) * len(space.shape))


def _block_rows(values: AnyArray, outer: tuple[int, ...], space: ThreadSpace) -> AnyArray:
    """Values as (blocks, threads), with one row if they are the same in all blocks of ``outer``."""
    own = values.shape[: len(outer)]
    blocks = own if own.count(1) == len(own) else outer
    return np.broadcast_to(values, blocks + space.thread_shape).reshape(-1, space.threads_per_block)


def _lanes_read(name: str, selector: AnyArray, width: AnyArray, threads: int) -> Longs:
    """The thread of the block that each thread reads, itself where the source is outside its group (PTX ISA, shfl.sync). The
    last warp of a block may lack it.

    ``selector`` and ``width`` are (blocks, threads), or of length 1 along an axis.
    """
    own = np.arange(threads, dtype=np.int64)
    lane, by, segment = own % LANES, selector.astype(np.int64) % LANES, LANES - width.astype(np.int64)
    first = lane & segment
    last = first | (~segment & (LANES - 1))
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


# Compiles the functions by which the lanes of a warp, or the threads of a block, exchange values: shuffles, votes, matches,
# reductions. Every argument is that of the CUDA function, with none left out.

_LaneTable = AnyArray


def collective(node: Call, args: list[Closure], space: ThreadSpace) -> Closure | None:
    """The closure of a collective function; None if it is none."""
    if node.name.startswith("__shfl"):
        return shuffle(node, args, space)
    if node.name in _IN_WARP:
        return _in_warp(node, args, space)
    if node.name in _IN_BLOCK:
        return _in_block(node, args[0], space)
    return None


def _in_warp(node: Call, args: list[Closure], space: ThreadSpace) -> Closure:
    compute, result = _IN_WARP[node.name], _dtype(node)
    has_mask = bool(args)

    def run(machine: Machine) -> Any:
        given = [arg(machine) for arg in args]
        mask, value = given[0] if has_mask else _ALL, given[1] if len(given) > 1 else 0
        outer = outer_of(space, machine.mask, mask, value)
        values, masks = (over_warps(each, outer, space) for each in (value, mask))
        here = over_warps(True if machine.mask is None else machine.mask, outer, space)
        active = here & over_warps(True, (1,) * len(space.block_shape), space)
        named = (masks.astype(np.uint64)[..., None] >> np.arange(LANES, dtype=np.uint64)) & np.uint64(1) != 0
        _check_own_bit(machine, node, active & ~np.diagonal(named, axis1=-2, axis2=-1), outer, space)
        found = compute(values, active[..., None, :] & named)
        return over_threads(found.astype(result), outer, space)

    return run


def _in_block(node: Call, value: Closure, space: ThreadSpace) -> Closure:
    compute, result = _IN_BLOCK[node.name], _dtype(node)

    def run(machine: Machine) -> Any:
        chosen = value(machine)
        outer = outer_of(space, machine.mask, chosen)
        shape = outer + space.thread_shape
        true = np.broadcast_to(np.asarray(chosen) != 0, shape).reshape(-1, space.threads_per_block)
        active = np.broadcast_to(True if machine.mask is None else machine.mask, shape).reshape(true.shape)
        found = compute(true, active).astype(result)
        if len(found) == 1:
            return constant(found[0].item(), node.type) if isinstance(node.type, Scalar) else found[0]
        return found.reshape(outer + (1,) * len(space.thread_shape))

    return run


def _dtype(node: Call) -> Any:
    assert isinstance(node.type, Scalar)
    return node.type.dtype


def _check_own_bit(machine: Machine, node: Call, bad: Bools, outer: tuple[int, ...], space: ThreadSpace) -> None:
    if bad.any():
        lanes = over_threads(bad, outer, space)
        raise machine.fault(
            f"the mask of {node.name} doesn't name the lane that calls it", node.place, lanes,
            "pass a mask with a bit for every lane that arrives here, such as 0xffffffff",
        )  # fmt: skip


def _bits(chosen: Bools) -> _LaneTable:
    """Lanes (..., lanes) as numbers with a bit for each: (...)."""
    return np.asarray((chosen.astype(np.uint64) << np.arange(LANES, dtype=np.uint64)).sum(axis=-1))


def _ballot(values: _LaneTable, seen: Bools) -> _LaneTable:
    return _bits(seen & (values != 0)[..., None, :])


def _any(values: _LaneTable, seen: Bools) -> _LaneTable:
    return np.asarray((seen & (values != 0)[..., None, :]).any(axis=-1))


def _all_of(values: _LaneTable, seen: Bools) -> _LaneTable:
    return np.asarray((~seen | (values != 0)[..., None, :]).all(axis=-1))


def _uniform(values: _LaneTable, seen: Bools) -> _LaneTable:
    """Whether all lanes vote the same way."""
    return _all_of(values, seen) | ~_any(values, seen)


def _lane_mask(values: _LaneTable, seen: Bools) -> _LaneTable:
    return _bits(seen)


def _match_any(values: _LaneTable, seen: Bools) -> _LaneTable:
    return _bits(seen & _equal_bits(values))


def _match_all_values(values: _LaneTable, seen: Bools) -> _LaneTable:
    same = (~seen | _equal_bits(values)).all(axis=-1)
    return np.where(same, _bits(seen), 0)


def _equal_bits(values: _LaneTable) -> Bools:
    """Whether the bits of two lanes' values are equal: (..., lane, other lane)."""
    bits = np.ascontiguousarray(values).view(f"u{values.itemsize}")
    return np.asarray(bits[..., :, None] == bits[..., None, :])


def _reduced(apply: np.ufunc, neutral: Callable[[Any], Any]) -> Callable[[_LaneTable, Bools], _LaneTable]:
    def reduced(values: _LaneTable, seen: Bools) -> _LaneTable:
        spread = np.where(seen, values[..., None, :], np.asarray(neutral(values.dtype), values.dtype))
        return np.asarray(apply.reduce(spread, axis=-1, dtype=values.dtype))

    return reduced


_IN_WARP: Mapping[str, Callable[[_LaneTable, Bools], _LaneTable]] = {
    "__ballot_sync": _ballot,
    "__any_sync": _any,
    "__all_sync": _all_of,
    "__uni_sync": _uniform,
    "__activemask": _lane_mask,
    "__match_any_sync": _match_any,
    "__match_all_sync": _match_all_values,
    "__reduce_add_sync": _reduced(np.add, lambda dtype: 0),
    "__reduce_min_sync": _reduced(np.minimum, lambda dtype: np.iinfo(dtype).max),
    "__reduce_max_sync": _reduced(np.maximum, lambda dtype: np.iinfo(dtype).min),
    "__reduce_and_sync": _reduced(np.bitwise_and, lambda dtype: np.array(-1).astype(dtype)),
    "__reduce_or_sync": _reduced(np.bitwise_or, lambda dtype: 0),
    "__reduce_xor_sync": _reduced(np.bitwise_xor, lambda dtype: 0),
}
_IN_BLOCK: Mapping[str, Callable[[Bools, Bools], _LaneTable]] = {
    "__syncthreads_count": lambda true, active: (true & active).sum(axis=1),
    "__syncthreads_and": lambda true, active: np.asarray((true | ~active).all(axis=1)),
    "__syncthreads_or": lambda true, active: np.asarray((true & active).any(axis=1)),
}


def intrinsic(node: Call, args: list[Closure], space: ThreadSpace) -> Closure:
    if node.name == "assert":
        return _assertion(node, args[0])
    if node.name == "memset":
        return _memset(node, args)
    if node.name in CLOCKS:
        return lambda machine: machine.steps
    return collective(node, args, space) or _function_value(node, args)


def _function_value(node: Call, args: list[Closure]) -> Closure:
    signature = function_for(node.name, [arg.type for arg in node.args if isinstance(arg.type, Scalar | VectorType)])
    assert signature is not None
    function, result = code_for(signature), signature.result
    scalar = scalar_of(result)

    def value(found: Any) -> Any:
        return found if isinstance(found, np.ndarray) else constant(found, scalar)

    if isinstance(result, VectorType):
        return lambda machine: [value(part) for part in function(*[arg(machine) for arg in args])]
    return lambda machine: value(function(*[arg(machine) for arg in args]))


def _assertion(node: Call, condition: Closure) -> Closure:
    place = node.place

    def run(machine: Machine) -> Any:
        machine.tick(place)
        failed = np.logical_not(condition(machine))
        if np.any(failed if machine.mask is None else failed & machine.mask):
            raise machine.fault(tr("this assertion fails"), place, failed, id="assertion")

    return run


def _memset(node: Call, args: list[Closure]) -> Closure:
    pointer, count, zero = args
    place = node.place
    kind = access_type(node.args[2].type)  # type: ignore[arg-type]

    def run(machine: Machine) -> None:
        memory, offset = pointer(machine)
        for index in range(count(machine)):
            at = memory.checked(machine, offset + index, kind, place)
            memory.store(machine, at, zero(machine), kind, place)

    return run
