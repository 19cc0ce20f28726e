import numpy as np
import pytest

from gemmviz.model.kernel import Launch
from gemmviz.model.messages import SettingError
from gemmviz.model.threads import BlockRange, ThreadSpace
from tests.conftest import kernel_from, sure, trace_of


@pytest.mark.parametrize("block", [(6, 1, 1), (4, 3, 1), (2, 3, 2), (1, 5, 1), (1, 1, 1)])
def test_threads_are_numbered_x_first(block: tuple[int, int, int]) -> None:
    space = ThreadSpace(Launch((3, 2, 2), block), BlockRange((1, 3), (0, 2), (0, 2)))
    dx, dy, _ = block
    threads = np.zeros(space.shape, np.int64)
    for axis, factor in enumerate((1, dx, dx * dy)):
        threads = threads + np.asarray(space.index(False, axis), np.int64) * factor
    expected = np.tile(np.arange(space.threads_per_block), space.blocks.count)
    assert np.broadcast_to(threads, space.shape).ravel().tolist() == expected.tolist()
    for number in range(space.thread_count):
        where, thread = space.indices(number)
        assert space.number(where, thread) == number
        assert 1 <= where[0] < 3


def test_a_window_must_lie_in_the_grid() -> None:
    launch = Launch((4, 4, 1), (8, 8, 1))
    assert BlockRange((0, 4), (3, 4)).checked(launch).count == 4
    for wrong in (BlockRange((0, 5), (0, 1)), BlockRange((2, 2), (0, 1)), BlockRange((0, 1), (0, 1), (1, 2))):
        with pytest.raises(SettingError, match="outside the grid"):
            wrong.checked(launch)


def test_a_window_shows_what_the_whole_launch_shows_there() -> None:
    """Blocks are independent: tracing some gives the same rows as tracing all."""
    whole = trace_of("04_tiled", 14, 10, 9, TILE_WIDTH=4)
    part = trace_of("04_tiled", 14, 10, 9, TILE_WIDTH=4, blocks="1:3,2:4")
    threads = np.concatenate([np.arange(16) + whole.space.number((x, y, 0), (0, 0, 0)) for y in (2, 3) for x in (1, 2)])
    assert (part.element == whole.element[:, threads]).all()
    assert part.check.passed
    assert part.check.unwritten == 0


def test_three_dimensional_blocks_and_grids() -> None:
    body = """int i = threadIdx.x + 2 * (threadIdx.y + 2 * threadIdx.z) + 8 * (blockIdx.x + 2 * (blockIdx.y + 2 * blockIdx.z));
    C[i] = blockDim.z * 100 + gridDim.z;"""
    trace = trace_of(kernel_from(body, block='["2", "2", "2"]', grid='["2", "2", "2"]'), 8, 8, 1, values=True)
    assert trace.element[-1].tolist() == list(range(64))
    assert (sure(trace.value)[-1] == 202).all()
