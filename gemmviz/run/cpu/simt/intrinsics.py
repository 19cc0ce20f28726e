"""Compiles intrinsics to closures: arithmetic, assert, and shuffles within a warp."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt.access_types import access_type
from gemmviz.run.cpu.simt.functions import code_for
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.values import Closure, constant
from gemmviz.source.functions import CLOCKS, function_for
from gemmviz.source.nodes import Call
from gemmviz.source.types import Scalar, VectorType, scalar_of

_WARP = 32
_WIDTHS = (1, 2, 4, 8, 16, 32)


def intrinsic(node: Call, args: list[Closure], space: ThreadSpace) -> Closure:
    if node.name == "assert":
        return _assertion(node, args[0])
    if node.name == "memset":
        return _cleared(node, args)
    if node.name.startswith("__shfl"):
        return _shuffle(node, args, space)
    if node.name in CLOCKS:
        return lambda machine: machine.steps
    return _computed(node, args)


def _computed(node: Call, args: list[Closure]) -> Closure:
    signature = function_for(node.name, [arg.type for arg in node.args if isinstance(arg.type, Scalar | VectorType)])
    assert signature is not None
    function, result = code_for(node.name, signature), signature.result
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
            raise machine.fault("this assertion fails", place, failed, id="assertion")

    return run


def _cleared(node: Call, args: list[Closure]) -> Closure:
    pointer, count, zero = args
    place = node.place
    kind = access_type(node.args[2].type)  # type: ignore[arg-type]

    def run(machine: Machine) -> None:
        memory, offset = pointer(machine)
        for index in range(count(machine)):
            at = memory.checked(machine, offset + index, kind, place)
            memory.store(machine, at, zero(machine), kind, place)

    return run


def _shuffle(node: Call, args: list[Closure], space: ThreadSpace) -> Closure:
    """The values after a shuffle within groups of ``width`` lanes. Raises KernelFault for a width that isn't a power of two."""
    value, lane, width = args
    dtype = node.type.dtype if isinstance(node.type, Scalar) and not node.type.is_float else None

    def run(machine: Machine) -> Any:
        operands = [np.asarray(value(machine), dtype), np.asarray(lane(machine)), np.asarray(width(machine))]
        bad = ~np.isin(operands[2], _WIDTHS)
        if np.any(bad if machine.mask is None else bad & machine.mask):
            raise machine.fault("this width is no power of two up to 32", node.place, bad, "use 1, 2, 4, 8, 16 or 32")
        operands = [each if each.ndim else each.reshape((1,) * len(space.shape)) for each in operands]
        outer = np.broadcast_shapes(*(each.shape[: len(space.block_shape)] for each in operands))
        rows, selector, widths = (_rows(each, outer, space) for each in operands)
        rows, source = np.broadcast_arrays(rows, _sources(node.name, selector, widths, space.threads_per_block))
        return np.take_along_axis(rows, source, axis=1).reshape(outer + space.thread_shape)

    return run


def _rows(values: npt.NDArray[Any], outer: tuple[int, ...], space: ThreadSpace) -> npt.NDArray[Any]:
    """Values as (blocks, threads), with one row if they are the same in all blocks of ``outer``."""
    own = values.shape[: len(outer)]
    blocks = own if own.count(1) == len(own) else outer
    return np.broadcast_to(values, blocks + space.thread_shape).reshape(-1, space.threads_per_block)


def _sources(name: str, selector: npt.NDArray[Any], width: npt.NDArray[Any], threads: int) -> npt.NDArray[np.int64]:
    """The thread of the block that each thread reads, itself where the source is outside its group (PTX ISA, shfl.sync).

    ``selector`` and ``width`` are (blocks, threads), or of length 1 along an axis.
    """
    own = np.arange(threads, dtype=np.int64)
    lane, by, segment = own % _WARP, selector.astype(np.int64) % _WARP, _WARP - width.astype(np.int64)
    first = lane & segment
    last = first | (~segment & (_WARP - 1))
    match name:
        case "__shfl_up_sync":
            target, is_inside = lane - by, lane - by >= first
        case "__shfl_down_sync":
            target, is_inside = lane + by, lane + by <= last
        case "__shfl_xor_sync":
            target, is_inside = lane ^ by, lane ^ by <= last
        case _:
            target, is_inside = first | (by & ~segment), np.ones_like(own, bool)
    target = own - lane + target
    return np.asarray(np.where(is_inside & (target < threads), target, own), np.int64)
