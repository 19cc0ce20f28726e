"""Closures for the functions that CUDA C provides: arithmetic, assert, and the exchange of values within a warp."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.threads import ThreadSpace
from gemmviz.run.simt.machine import Machine
from gemmviz.run.simt.values import Closure, constant
from gemmviz.source.nodes import Call
from gemmviz.source.types import Scalar

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp": np.exp,
    "__exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "trunc": np.trunc,
    "fabs": np.abs,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "pow": np.power,
    "fmod": np.fmod,
    "min": np.minimum,
    "max": np.maximum,
    "abs": np.abs,
    "__fadd_rn": np.add,
    "__fmul_rn": np.multiply,
    "__mul24": np.multiply,
    "__umul24": np.multiply,
}


def intrinsic(node: Call, args: list[Closure], space: ThreadSpace) -> Closure:
    if node.name == "assert":
        return _assertion(node, args[0])
    if node.name == "memset":
        return _cleared(node, args)
    if node.name.startswith("__shfl"):
        return _shuffle(node, args, space)
    if node.name in ("fma", "fmaf", "__fmaf_rn", "__fma_rn"):
        return _fused(node, args)
    function = _FUNCTIONS[node.name if node.name in _FUNCTIONS else node.name.removesuffix("f")]
    assert isinstance(node.type, Scalar)
    scalar = node.type

    def run(machine: Machine) -> Any:
        inputs = [arg(machine) for arg in args]
        result = function(*inputs)
        if isinstance(result, np.ndarray):
            return result.astype(scalar.dtype, copy=False)
        return constant(float(result) if scalar.is_float else int(result), scalar)

    return run


def _fused(node: Call, args: list[Closure]) -> Closure:
    """A * b + c rounded once: the product of two float32 is exact in float64."""
    assert isinstance(node.type, Scalar)
    scalar = node.type

    def run(machine: Machine) -> Any:
        a, b, c = (np.asarray(arg(machine), dtype=np.float64) for arg in args)
        result = (a * b + c).astype(scalar.dtype)
        return result if result.ndim else constant(float(result), scalar)

    return run


def _assertion(node: Call, condition: Closure) -> Closure:
    place = node.place

    def run(machine: Machine) -> Any:
        machine.tick(place)
        failed = np.logical_not(condition(machine))
        if np.any(failed if machine.mask is None else failed & machine.mask):
            raise machine.fault("this assertion fails", place, failed)

    return run


def _cleared(node: Call, args: list[Closure]) -> Closure:
    pointer, count, zero = args
    place = node.place

    def run(machine: Machine) -> None:
        memory, offset = pointer(machine)
        for index in range(count(machine)):
            memory.store(machine, memory.checked(machine, offset + index, 1, place), zero(machine), place)

    return run


def _shuffle(node: Call, args: list[Closure], space: ThreadSpace) -> Closure:
    """Values change lanes within groups of ``width`` neighbours; a lane whose source is outside its group keeps its own."""
    value, lane, width = args
    dtype = node.type.dtype if isinstance(node.type, Scalar) and not node.type.is_float else None

    def run(machine: Machine) -> Any:
        values = np.asarray(value(machine), dtype)
        rows = space.per_block(values if values.ndim else values.reshape((1,) * len(space.shape)))
        selector = np.asarray(lane(machine))
        chosen = space.per_block(selector if selector.ndim else selector.reshape((1,) * len(space.shape)))
        source = _sources(node.name, chosen, int(width(machine)), space.threads_per_block)
        rows, source = np.broadcast_arrays(rows, source)
        moved = np.take_along_axis(rows, source, axis=1)
        outer = np.broadcast_shapes(np.shape(values)[: len(space.block_shape)], np.shape(selector)[: len(space.block_shape)])
        return moved.reshape((*(outer or (1,) * len(space.block_shape)), *space.thread_shape))

    return run


def _sources(name: str, selector: npt.NDArray[Any], width: int, threads: int) -> npt.NDArray[np.int64]:
    own = np.arange(threads, dtype=np.int64)
    group, inside = own // width * width, own % width
    selector = selector.astype(np.int64)
    if name == "__shfl_sync":
        return np.asarray(np.minimum(group + selector % width, threads - 1), np.int64)
    target = {"__shfl_up_sync": inside - selector, "__shfl_down_sync": inside + selector}.get(name, inside ^ selector)
    valid = (target >= 0) & (target < width) & (group + target < threads)
    return np.asarray(np.where(valid, group + target, own), np.int64)
