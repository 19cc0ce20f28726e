import numpy as np
import pytest

from gemmviz.model.errors import SettingError
from gemmviz.model.kernel import Launch
from gemmviz.model.lanes import LaneSpace, Window
from tests.conftest import kernel_from, trace_of


@pytest.mark.parametrize("block", [(6, 1, 1), (4, 3, 1), (2, 3, 2), (1, 5, 1), (1, 1, 1)])
def test_lanes_are_numbered_x_first(block: tuple[int, int, int]) -> None:
    space = LaneSpace(Launch((3, 2, 2), block), Window((1, 3), (0, 2), (0, 2)))
    dx, dy, _ = block
    lanes = np.zeros(space.shape, np.int64)
    for axis, factor in enumerate((1, dx, dx * dy)):
        lanes = lanes + np.asarray(space.index(False, axis), np.int64) * factor
    expected = np.tile(np.arange(space.threads), space.blocks)
    assert np.broadcast_to(lanes, space.shape).ravel().tolist() == expected.tolist()
    for lane in range(space.lanes):
        where, thread = space.thread_of(lane)
        assert space.lane(where, thread) == lane
        assert 1 <= where[0] < 3


def test_a_window_must_lie_in_the_grid() -> None:
    launch = Launch((4, 4, 1), (8, 8, 1))
    assert Window((0, 4), (3, 4)).checked(launch).blocks == 4
    for wrong in (Window((0, 5), (0, 1)), Window((2, 2), (0, 1)), Window((0, 1), (0, 1), (1, 2))):
        with pytest.raises(SettingError, match="not in the grid"):
            wrong.checked(launch)


def test_a_window_shows_what_the_whole_launch_shows_there() -> None:
    """Blocks are independent: tracing some gives the same rows as tracing all."""
    whole = trace_of("04_tiled", 14, 10, 9, TILE_WIDTH=4)
    part = trace_of("04_tiled", 14, 10, 9, TILE_WIDTH=4, window=Window((1, 3), (2, 4)))
    lanes = np.concatenate([np.arange(16) + whole.space.lane((x, y, 0), (0, 0, 0)) for y in (2, 3) for x in (1, 2)])
    assert (part.element == whole.element[:, lanes]).all()
    assert part.check.passed
    assert part.check.unwritten == 0


def test_three_dimensional_blocks_and_grids() -> None:
    body = """int i = threadIdx.x + 2 * (threadIdx.y + 2 * threadIdx.z) + 8 * (blockIdx.x + 2 * (blockIdx.y + 2 * blockIdx.z));
    C[i] = blockDim.z * 100 + gridDim.z;"""
    trace = trace_of(kernel_from(body, block='["2", "2", "2"]', grid='["2", "2", "2"]'), 8, 8, 1, values=True)
    assert trace.element[-1].tolist() == list(range(64))
    assert (trace.value[-1] == 202).all()
