"""The picture's numbers are the trace's."""

import numpy as np
import pytest

from gemmviz.analysis.replay import Replay
from gemmviz.scene.matrix import AREA, BASE, LIT, SOURCE, label_size, pooled
from gemmviz.scene.primitives import Cells, Labels, Picture, Rects
from gemmviz.scene.stage_view import StageOptions, cross_layout, matrix_state, stage_scene
from gemmviz.scene.text import fitted, text_width
from gemmviz.scene.theme import DARK, LIGHT
from tests.conftest import trace_of


@pytest.fixture(scope="module")
def replay() -> Replay:
    return Replay(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4), (1, 0, 0))


def test_lit_cells_are_the_touched_elements(replay: Replay) -> None:
    for step in range(replay.steps):
        site = replay.trace.site_of(step)
        for number, array in enumerate(replay.trace.arrays[:3]):
            lit = matrix_state(replay, step, number) == LIT
            touched = {int(e) for e in replay.elements(step) if e >= 0} if site.array == number else set()
            rows, columns = np.nonzero(lit)
            assert {int(r) * array.shape[1] + int(c) for r, c in zip(rows, columns, strict=True)} == touched


def test_what_is_read_from_a_tile_shows_where_it_came_from(replay: Replay) -> None:
    step = next(s for s in range(replay.steps) if replay.trace.site_of(s).text == "tileB[k][x]")
    state = matrix_state(replay, step, 1)
    assert np.argwhere(state == SOURCE).tolist() == [[0, 4], [0, 5], [0, 6], [0, 7]]
    assert (state[:4, 4:] >= AREA).all()
    assert (state[4:] == BASE).all()


def test_tiles_are_labelled_with_the_element_they_hold(replay: Replay) -> None:
    step = next(s for s in range(replay.steps) if replay.trace.site_of(s).is_barrier)
    tile = stage_scene(replay, step).find("tile-tileB")
    assert isinstance(tile, Cells)
    assert tile.labels is not None
    assert tile.labels.tolist() == [[f"{r},{c}" for c in range(4, 8)] for r in range(4)]


def test_words_tell_the_step_and_its_cost(replay: Replay) -> None:
    scene = stage_scene(replay, 0)
    cost = replay.cost(0)
    texts = {p.key: p.texts[0] for p in scene.primitives if isinstance(p, Labels)}
    assert texts["title"] == "04_tiled, TILE_WIDTH = 4"
    assert texts["progress"] == f"step 1 of {replay.steps}, phase 1 of 2"
    assert texts["action"] == "block (1, 0): 16 threads read A, line 36"
    assert texts["cost"].startswith(
        f"{cost.requests} request moves {cost.sectors} sectors of 32 bytes, {cost.ideal_sectors} needed"
    )


def test_the_same_moment_is_the_same_scene(replay: Replay) -> None:
    assert stage_scene(replay, 5) == stage_scene(replay, 5)
    assert stage_scene(replay, 5) != stage_scene(replay, 6)
    assert stage_scene(replay, 5, StageOptions(LIGHT)) != stage_scene(replay, 5, StageOptions(DARK))


@pytest.mark.parametrize(
    "size", [(8, 8, 8), (64, 64, 64), (1, 1, 1), (200, 3, 7), (3, 200, 7), (7, 3, 200), (4096, 4096, 4096), (300, 8, 8)]
)
def test_everything_stays_inside_the_frame_and_apart(size: tuple[int, int, int]) -> None:
    cross = cross_layout(*size)
    m, n, k = size
    extents = {"A": (k, m), "B": (n, k), "C": (n, m)}
    boxes = [(*cross.at[name], columns * cross.cell, rows * cross.cell) for name, (columns, rows) in extents.items()]
    for x, y, width, height in boxes:
        assert x >= 0
        assert y >= 70
        assert x + width <= 1600
        assert y + height <= 900 - 90
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            assert a[0] + a[2] < b[0] or b[0] + b[2] < a[0] or a[1] + a[3] < b[1] or b[1] + b[3] < a[1]


def test_labels_only_where_they_can_be_read() -> None:
    assert label_size("7,7", 40) > 12
    assert label_size("127,127", 6) == 0
    assert label_size("127,127", 6, zoom=8) > 0
    assert text_width("127,127", label_size("127,127", 30)) <= 30


def test_large_matrices_are_one_image_and_lose_nothing_lit() -> None:
    state = np.zeros((3000, 2000), np.uint8)
    state[2999, 1999] = LIT
    small = pooled(state)
    assert max(small.shape) <= 1024
    assert small[-1, -1] == LIT
    replay = Replay(trace_of("03_coalesced", 300, 8, 4, BLOCK=8))
    assert isinstance(stage_scene(replay, 0).find("A"), Picture)


def test_text_is_cut_to_its_room() -> None:
    assert fitted("short", 20, 500) == "short"
    cut = fitted("a very long title indeed", 20, 100)
    assert cut.endswith("…")
    assert text_width(cut, 20) <= 100


def test_watching_a_warp_lights_only_its_lanes() -> None:
    trace = trace_of("04_tiled", 16, 16, 16, TILE_WIDTH=8)
    assert (matrix_state(Replay(trace, None, 1), 0, 0) == LIT).sum() == 32
    assert (matrix_state(Replay(trace), 0, 0) == LIT).sum() == 64


def test_outlines_are_the_blocks_area(replay: Replay) -> None:
    outline = stage_scene(replay, 0).find("C-area")
    cross = cross_layout(8, 8, 8)
    assert isinstance(outline, Rects)
    x, y = cross.at["C"]
    assert outline.boxes.tolist() == [[x + 4 * cross.cell, y, 4 * cross.cell, 4 * cross.cell]]
