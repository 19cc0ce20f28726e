"""The memory strip and the punchcard show just what was counted."""

import numpy as np
import pytest

from gemmviz.analysis.replay import Replay
from gemmviz.scene.bank_view import bank_scene, punchcard
from gemmviz.scene.frame import StageOptions
from gemmviz.scene.memory_view import line_table, memory_scene
from gemmviz.scene.primitives import Cells, Labels
from gemmviz.scene.theme import LIGHT
from gemmviz.scene.views import VIEWS
from tests.conftest import kernel_from, trace_of


def step_of(replay: Replay, text: str) -> int:
    return next(step for step in range(replay.steps) if replay.trace.site_of(step).text == text)


@pytest.mark.parametrize("kernel", ["02_naive", "03_coalesced"])
@pytest.mark.parametrize("warp", [0, 5])
def test_the_strip_holds_the_requests_sectors_lines_and_lanes(kernel: str, warp: int) -> None:
    replay = Replay(trace_of(kernel, 32, 32, 32, BLOCK=32), None, warp)
    for step in (0, 1, replay.steps - 1):
        cost = replay.cost(step)
        lines, table, counts = line_table(replay.rows(step)[warp], 4, 1)
        assert counts.sum() == cost.lanes
        assert len(lines) == cost.lines
        assert (table.reshape(len(lines), 4, 8) > -2).any(axis=2).sum() == cost.sectors
        assert (table >= 0).sum() * 4 == cost.bytes_used
        cells = memory_scene(replay, step).find("lines")
        assert isinstance(cells, Cells)
        assert (cells.fill == 2).sum() == (table >= 0).sum()
        assert (cells.fill == 1).sum() * 4 == cost.sectors * 32 - cost.bytes_used


def test_a_shared_element_tells_how_many_lanes_share_it() -> None:
    _, table, counts = line_table(np.full(32, 5), 4, 1)
    assert table[0, 5] == 0
    assert counts[0, 5] == 32
    replay = Replay(trace_of("03_coalesced", 32, 32, 32, BLOCK=32), None, 0)
    cells = memory_scene(replay, 0).find("lines")
    assert isinstance(cells, Cells)
    assert cells.labels is not None
    assert cells.labels[0, 0] == "×32"


def test_wide_requests_fill_all_elements_of_a_lane() -> None:
    trace = trace_of(kernel_from("float4 v = reinterpret_cast<const float4*>(A)[threadIdx.x]; C[threadIdx.x] = v.x;"))
    _, table, _ = line_table(Replay(trace).rows(0)[0], 4, 4)
    assert table[0, :16].tolist() == np.repeat(np.arange(4), 4).tolist()
    assert (table[0, 16:] == -2).all()


@pytest.mark.parametrize(("pad", "rows"), [(0, 32), (1, 1), (2, 2)])
def test_the_punchcard_has_a_row_for_each_wavefront(pad: int, rows: int) -> None:
    replay = Replay(trace_of("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=32, PAD=pad), None, 3)
    step = step_of(replay, "tileA[x][y]")
    cells = bank_scene(replay, step).find("banks")
    assert isinstance(cells, Cells)
    assert cells.fill.shape == (rows, 32)
    assert len(cells.fill) == replay.cost(step).wavefronts
    assert (cells.fill > 0).sum() == 32


def test_a_broadcast_is_one_hole() -> None:
    first, served = punchcard(np.zeros(32, np.int64))
    assert first.shape == (1, 32)
    assert served[0].tolist() == [32] + [0] * 31
    replay = Replay(trace_of("07_tiled_transposed", 32, 32, 32), None, 0)
    cells = bank_scene(replay, step_of(replay, "tileA[k][y]")).find("banks")
    assert isinstance(cells, Cells)
    assert cells.labels is not None
    assert cells.labels[0, 0] == "×32"


@pytest.mark.parametrize("name", list(VIEWS))
def test_every_view_draws_every_step_within_its_frame(name: str) -> None:
    replay = Replay(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    for step in range(replay.steps):
        scene = VIEWS[name](replay, step, StageOptions(LIGHT))
        assert scene.find("action") is not None
        for primitive in scene.primitives:
            if isinstance(primitive, Labels):
                assert (primitive.at >= 0).all()
                assert (primitive.at <= (scene.width, scene.height)).all()


def test_steps_without_such_an_access_say_so() -> None:
    replay = Replay(trace_of("04_tiled", 8, 8, 8))
    assert "no request" in memory_scene(replay, step_of(replay, "tileA[y][k]")).find("message").texts[0]
    assert "not touch shared" in bank_scene(replay, 0).find("message").texts[0]
