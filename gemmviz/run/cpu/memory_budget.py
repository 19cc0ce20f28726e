"""Memory budgets: the number of threads, blocks and matrices that fit into memory at once, estimated in advance."""

import math
from collections.abc import Callable, Iterator
from typing import Any

from gemmviz.model.errors import SettingError
from gemmviz.model.kernel import Launch
from gemmviz.model.threads import BlockRange
from gemmviz.model.words import listed
from gemmviz.run.cpu.simt.interpret import Binding
from gemmviz.run.inputs import matrices

_THREADS_AT_ONCE, _MOST_GROUPS = 1 << 23, 10_000
_MOST_BYTES = 5 << 28  # of the matrices, and of the variables of all threads


def groups(launch: Launch, edges_differ: bool, most_threads: int) -> Iterator[BlockRange]:
    """Windows that cover the grid, none with too many threads. If the last blocks along x and y are guarded, they get windows
    of their own: the others then need no mask, and are counted once for all. Raises SettingError for too many windows.
    """
    gx, gy, gz = launch.grid
    blocks = max(1, most_threads // launch.threads_per_block)
    wide = min(gx, blocks)
    high = max(1, blocks // wide)
    number = gz * (-(-gx // wide) + edges_differ) * (-(-gy // high) + edges_differ)
    if number > _MOST_GROUPS:
        message = f"{launch.block_count:,} blocks of {launch.threads_per_block:,} threads are too many to be counted here"
        raise SettingError(message, remedy="choose smaller sizes")
    columns, rows = _cut(gx, wide, edges_differ), _cut(gy, high, edges_differ)
    return (BlockRange(x, y, (z, z + 1)) for z in range(gz) for y in rows for x in columns)


def _cut(extent: int, length: int, last_apart: bool) -> list[tuple[int, int]]:
    """Ranges of up to ``length``, with the last element in a range of its own if ``last_apart``."""
    parts = [(0, extent - 1), (extent - 1, extent)] if last_apart and extent > 1 else [(0, extent)]
    return [(start, min(stop, start + length)) for first, stop in parts for start in range(first, stop, length)]


def most_threads(binding: Binding) -> int:
    """Number of threads that fit at once, given the variables and arrays of each. Raises SettingError if not even one block
    fits.
    """
    held, block = 8 * max(1, binding.program.held), binding.launch.threads_per_block
    if held * block > _MOST_BYTES:
        message = f"the {block} threads of a block would hold {held * block >> 20:,} MiB in variables and arrays of their own"
        remedy = f"at most {_MOST_BYTES >> 20:,} MiB are available"
        raise SettingError(message, names=tuple(binding.setup.parameters), remedy=remedy)
    return min(_THREADS_AT_ONCE, _MOST_BYTES // held)


def inputs(binding: Binding, cancelled: Callable[[], bool]) -> dict[str, Any]:
    """The matrices with their initial contents. Raises SettingError if they are too large for memory."""
    problem, types = binding.setup.problem, binding.element_types
    shapes = binding.shapes
    size = sum(math.prod(shapes[name]) * element.bytes for name, element in types.items())
    if size > _MOST_BYTES:
        message = f"{listed(shapes)} would take {size >> 20:,} MiB; the interpreter holds at most {_MOST_BYTES >> 20:,} MiB"
        raise SettingError(message, names=tuple(problem.sizes), remedy="choose smaller sizes")
    return matrices(problem, shapes, types, binding.setup.filling, cancelled)
