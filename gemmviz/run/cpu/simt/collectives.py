"""Compiles the functions by which the lanes of a warp, or the threads of a block, exchange values: shuffles, votes, matches,
reductions. Every argument is that of the CUDA function, with none left out.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Bools
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.shuffles import shuffle
from gemmviz.run.cpu.simt.values import Closure, constant
from gemmviz.source.nodes import Call
from gemmviz.source.types import Scalar

_LANES = 32
_ALL = (1 << _LANES) - 1
_Table = npt.NDArray[Any]


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
        outer = _outer(space, machine.mask, mask, value)
        values, masks = (_warps(each, outer, space) for each in (value, mask))
        here = _warps(True if machine.mask is None else machine.mask, outer, space)
        active = here & _exists(space)
        named = (masks.astype(np.uint64)[..., None] >> np.arange(_LANES, dtype=np.uint64)) & np.uint64(1) != 0
        _check_own_bit(machine, node, active & ~np.diagonal(named, axis1=-2, axis2=-1), outer, space)
        found = compute(values, active[..., None, :] & named)
        return _threads(found.astype(result), outer, space)

    return run


def _in_block(node: Call, value: Closure, space: ThreadSpace) -> Closure:
    compute, result = _IN_BLOCK[node.name], _dtype(node)

    def run(machine: Machine) -> Any:
        chosen = value(machine)
        outer = _outer(space, machine.mask, chosen)
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


def _outer(space: ThreadSpace, *values: Any) -> tuple[int, ...]:
    """The block axes of all values together."""
    blocks = len(space.block_shape)
    shapes = [np.shape(each)[:blocks] for each in values if each is not None and np.ndim(each)]
    return np.broadcast_shapes((1,) * blocks, *shapes)


def _warps(value: Any, outer: tuple[int, ...], space: ThreadSpace) -> _Table:
    """A value as (blocks, warps, lanes), zero in lanes that don't exist."""
    rows = np.broadcast_to(np.asarray(value), outer + space.thread_shape).reshape(-1, space.threads_per_block)
    missing = -space.threads_per_block % _LANES
    if missing:
        rows = np.pad(rows, ((0, 0), (0, missing)))
    return np.asarray(rows.reshape(len(rows), -1, _LANES))


def _exists(space: ThreadSpace) -> Bools:
    return _warps(True, (1,) * len(space.block_shape), space)


def _threads(found: _Table, outer: tuple[int, ...], space: ThreadSpace) -> _Table:
    """Values (blocks, warps, lanes) over the axes of the threads."""
    rows = found.reshape(len(found), -1)[:, : space.threads_per_block]
    return np.asarray(rows.reshape(outer + space.thread_shape))


def _check_own_bit(machine: Machine, node: Call, bad: Bools, outer: tuple[int, ...], space: ThreadSpace) -> None:
    if bad.any():
        lanes = _threads(bad, outer, space)
        raise machine.fault(
            f"the mask of {node.name} doesn't name the lane that calls it", node.place, lanes,
            "pass a mask with a bit for every lane that arrives here, such as 0xffffffff",
        )  # fmt: skip


def _bits(chosen: Bools) -> _Table:
    """Lanes (..., lanes) as numbers with a bit for each: (...)."""
    return np.asarray((chosen.astype(np.uint64) << np.arange(_LANES, dtype=np.uint64)).sum(axis=-1))


def _ballot(values: _Table, seen: Bools) -> _Table:
    return _bits(seen & (values != 0)[..., None, :])


def _any(values: _Table, seen: Bools) -> _Table:
    return np.asarray((seen & (values != 0)[..., None, :]).any(axis=-1))


def _all(values: _Table, seen: Bools) -> _Table:
    return np.asarray((~seen | (values != 0)[..., None, :]).all(axis=-1))


def _uniform(values: _Table, seen: Bools) -> _Table:
    """Whether all lanes vote the same way."""
    return _all(values, seen) | ~_any(values, seen)


def _active(values: _Table, seen: Bools) -> _Table:
    return _bits(seen)


def _match_any(values: _Table, seen: Bools) -> _Table:
    return _bits(seen & _equal(values))


def _match_all(values: _Table, seen: Bools) -> _Table:
    same = (~seen | _equal(values)).all(axis=-1)
    return np.where(same, _bits(seen), 0)


def _equal(values: _Table) -> Bools:
    """Whether the bits of two lanes' values are equal: (..., lane, other lane)."""
    bits = np.ascontiguousarray(values).view(f"u{values.itemsize}")
    return np.asarray(bits[..., :, None] == bits[..., None, :])


def _reduced(apply: np.ufunc, neutral: Callable[[Any], Any]) -> Callable[[_Table, Bools], _Table]:
    def reduced(values: _Table, seen: Bools) -> _Table:
        spread = np.where(seen, values[..., None, :], np.asarray(neutral(values.dtype), values.dtype))
        return np.asarray(apply.reduce(spread, axis=-1, dtype=values.dtype))

    return reduced


_IN_WARP: Mapping[str, Callable[[_Table, Bools], _Table]] = {
    "__ballot_sync": _ballot,
    "__any_sync": _any,
    "__all_sync": _all,
    "__uni_sync": _uniform,
    "__activemask": _active,
    "__match_any_sync": _match_any,
    "__match_all_sync": _match_all,
    "__reduce_add_sync": _reduced(np.add, lambda dtype: 0),
    "__reduce_min_sync": _reduced(np.minimum, lambda dtype: np.iinfo(dtype).max),
    "__reduce_max_sync": _reduced(np.maximum, lambda dtype: np.iinfo(dtype).min),
    "__reduce_and_sync": _reduced(np.bitwise_and, lambda dtype: np.array(-1).astype(dtype)),
    "__reduce_or_sync": _reduced(np.bitwise_or, lambda dtype: 0),
    "__reduce_xor_sync": _reduced(np.bitwise_xor, lambda dtype: 0),
}
_IN_BLOCK: Mapping[str, Callable[[Bools, Bools], _Table]] = {
    "__syncthreads_count": lambda true, active: (true & active).sum(axis=1),
    "__syncthreads_and": lambda true, active: np.asarray((true | ~active).all(axis=1)),
    "__syncthreads_or": lambda true, active: np.asarray((true & active).any(axis=1)),
}
