"""The memory strip and the punchcard show just what was counted."""

import json

import numpy as np
import pytest

from gemmviz.analysis.focus import Focus
from gemmviz.analysis.replay import Replay
from gemmviz.scene.frame import ViewOptions
from gemmviz.scene.primitives import Cells, Labels
from gemmviz.scene.theme import LIGHT
from gemmviz.scene.views import VIEWS
from gemmviz.scene.views.bank_view import bank_scene, punchcard
from gemmviz.scene.views.memory_view import line_table, memory_scene
from tests.conftest import DATA, kernel_from, trace_of


def step_of(replay: Replay, text: str) -> int:
    return next(step for step in range(replay.steps) if replay.trace.site_of(step).text == text)


@pytest.mark.parametrize("kernel", ["02_naive", "03_coalesced"])
@pytest.mark.parametrize("warp", [0, 5])
def test_the_strip_holds_the_requests_sectors_lines_and_lanes(kernel: str, warp: int) -> None:
    replay = Replay(trace_of(kernel, 32, 32, 32, BLOCK=32), Focus(warp=warp))
    for step in (0, 1, replay.steps - 1):
        cost = replay.cost(step)
        lines, table, counts = line_table(replay.request(step)[1], 4, 1)
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
    replay = Replay(trace_of("03_coalesced", 32, 32, 32, BLOCK=32), Focus(warp=0))
    cells = memory_scene(replay, 0).find("lines")
    assert isinstance(cells, Cells)
    assert cells.labels is not None
    assert cells.labels[0, 0] == "×32"


def test_wide_requests_fill_all_elements_of_a_lane() -> None:
    trace = trace_of(kernel_from("float4 v = reinterpret_cast<const float4*>(A)[threadIdx.x]; C[threadIdx.x] = v.x;"))
    _, table, _ = line_table(Replay(trace).request(0)[1], 4, 4)
    assert table[0, :16].tolist() == np.repeat(np.arange(4), 4).tolist()
    assert (table[0, 16:] == -2).all()


@pytest.mark.parametrize(("pad", "rows"), [(0, 32), (1, 1), (2, 2)])
def test_the_punchcard_has_a_row_for_each_wavefront(pad: int, rows: int) -> None:
    replay = Replay(trace_of("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=32, PAD=pad), Focus(warp=3))
    step = step_of(replay, "tileA[x][y]")
    cells = bank_scene(replay, step).find("banks")
    assert isinstance(cells, Cells)
    assert cells.fill.shape == (rows, 32)
    assert len(cells.fill) == replay.cost(step).wavefronts
    assert (cells.fill > 0).sum() == 32


def test_a_broadcast_is_one_hole() -> None:
    card = punchcard(np.zeros(32, np.int64))
    assert card.first.shape == (1, 32)
    assert card.served[0].tolist() == [32] + [0] * 31
    replay = Replay(trace_of("07_tiled_transposed", 32, 32, 32), Focus(warp=0))
    cells = bank_scene(replay, step_of(replay, "tileA[k][y]")).find("banks")
    assert isinstance(cells, Cells)
    assert cells.labels is not None
    assert cells.labels[0, 0] == "×32"


@pytest.mark.parametrize("name", list(VIEWS))
def test_every_view_draws_every_step_within_its_frame(name: str) -> None:
    replay = Replay(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    for step in range(replay.steps):
        scene = VIEWS[name].scene(replay, step, ViewOptions(LIGHT))
        assert scene.find("action") is not None
        for primitive in scene.primitives:
            if isinstance(primitive, Labels):
                assert (primitive.at >= 0).all()
                assert (primitive.at <= (scene.width, scene.height)).all()


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "stage"])
@pytest.mark.parametrize("height", [260.0, 420.0])
def test_every_view_but_the_stage_fits_a_low_band_without_words(name: str, height: float) -> None:
    replay = Replay(trace_of("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=32))
    for step in range(0, replay.steps, 7):
        scene = VIEWS[name].scene(replay, step, ViewOptions(height=height, words=False))
        assert scene.find("action") is None
        for primitive in scene.primitives:
            if isinstance(primitive, Labels):
                assert (primitive.at >= 0).all()
                assert (primitive.at <= (scene.width, scene.height)).all()
            if isinstance(primitive, Cells):
                x, y, width, rows = primitive.box
                assert x >= 0 <= y
                assert x + width <= scene.width
                assert y + rows <= scene.height


def test_punchcards_have_the_wavefronts_that_an_h200_took() -> None:
    """All 348 measured accesses, 32 to 128 bits: one row a wavefront."""
    for access in json.loads((DATA / "h200-shared-wavefronts.json").read_text())["accesses"]:
        active = (access["active"] >> np.arange(32)) & 1
        words = np.where(active, access["words"], -1).astype(np.int64)
        card = punchcard(words, access["bits"] // 32, access["op"] == "ld")
        assert len(card.first) == access["wavefronts"], access["pattern"]


def test_the_sentence_tells_moved_and_needed_sectors() -> None:
    naive = Replay(trace_of("02_naive", 32, 32, 32, BLOCK=32), Focus(warp=0))
    coalesced = Replay(trace_of("03_coalesced", 32, 32, 32, BLOCK=32), Focus(warp=0))
    sentence = memory_scene(naive, 0).find("memory-sentence").texts[0]
    assert sentence.endswith("32 lanes, 32 sectors moved, 4 needed: 12.5 %")
    assert memory_scene(coalesced, 1).find("memory-sentence").texts[0].endswith("32 lanes, 4 sectors of 4 needed: 100 %")


def test_threads_of_the_strip_end_at_what_their_lanes_touch() -> None:
    replay = Replay(trace_of("03_coalesced", 32, 32, 32, BLOCK=32), Focus(warp=2))
    ends = memory_scene(replay, 1).find("lane-threads").segments[:, 2]
    assert len(ends) == 32
    assert np.allclose(np.diff(ends), ends[1] - ends[0])  # neighbours touch neighbours


def test_the_warp_view_tells_thread_element_byte_and_value() -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4, values=True)
    scene = VIEWS["warp"].still(Replay(trace, Focus((1, 0, 0))), 0, ViewOptions())
    assert scene.find("lane-titles").texts[5] == "5  (1, 1)"
    lane = trace.space.lane((1, 0, 0), (1, 1, 0))
    assert scene.find("lane-touches").texts[5] == f"A[1, 1]  36  {trace.value[0, lane]:.3g}"
    assert len(scene.find("idle-titles").texts) == 16
    assert scene.find("idle-titles").texts[0] == "16  no thread"


def test_steps_without_such_an_access_say_so() -> None:
    replay = Replay(trace_of("04_tiled", 8, 8, 8))
    assert "no request" in memory_scene(replay, step_of(replay, "tileA[y][k]")).find("message").texts[0]
    assert "not touch shared" in bank_scene(replay, 0).find("message").texts[0]
