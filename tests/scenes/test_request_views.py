"""The memory strip and the punchcard show just what was counted."""

import json
from functools import cache
from itertools import product

import numpy as np
import pytest

from gemmviz.analysis.costs import punchcard
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.arrays import SCALAR, vector
from gemmviz.model.device import MemoryRules
from gemmviz.model.sites import Space
from gemmviz.model.trace import Trace
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.kit.primitives import Cells, Hit, Labels, Lines, Rects, Scene
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions, linked_step
from gemmviz.scenes.views.request_view import banks_scene, memory_scene, touched_lines
from tests.app_model import TestModel
from tests.conftest import DATA, kernel_from, moment_of, piece, sure, trace_of
from tests.legible import wrong_with

OPTIONS = ViewOptions()
RULES = MemoryRules()


def step_of(trace: Trace, text: str) -> int:
    return next(step for step in range(trace.steps) if trace.site_of(step).text == text)


@pytest.mark.parametrize("kernel", ["02_naive", "03_coalesced"])
@pytest.mark.parametrize("warp", [0, 5])
def test_the_strip_holds_the_requests_sectors_lines_and_lanes(kernel: str, warp: int) -> None:
    trace = trace_of(kernel, 32, 32, 32, BLOCK=32)
    for step in (0, 1, trace.steps - 1):
        moment = moment_of(trace, step, Focus(warp=warp))
        cost, lines = moment.cost, touched_lines(sure(moment.request).lanes, 4, SCALAR, RULES)
        table = lines.first
        assert lines.asking.sum() == cost.lanes
        assert len(lines.numbers) == cost.lines
        assert (table.reshape(-1, 4, 8) > -2).any(axis=2).sum() == cost.sectors
        assert (table >= 0).sum() * 4 == cost.bytes_used
        scene = memory_scene(moment, OPTIONS)
        assert len(piece(scene, "memory-asked", Rects).boxes) == (table >= 0).sum()
        key = "memory-wasted" if cost.lost_sectors else "memory-along"
        assert len(piece(scene, key, Rects).boxes) * 4 == cost.sectors * 32 - cost.bytes_used
        assert len(piece(scene, "memory-outlines", Rects).boxes) == cost.sectors


def test_a_shared_element_tells_how_many_lanes_share_it() -> None:
    lines = touched_lines(np.full(32, 5), 4, SCALAR, RULES)
    assert lines.first[0, 5] == 0
    assert lines.asking[0, 5] == 32
    moment = moment_of(trace_of("03_coalesced", 32, 32, 32, BLOCK=32), 0, Focus(warp=0))
    assert piece(memory_scene(moment, OPTIONS), "memory-lane-numbers", Labels).texts == ("×32",)


def test_wide_requests_fill_all_elements_of_a_lane() -> None:
    trace = trace_of(kernel_from("float4 v = reinterpret_cast<const float4*>(A)[threadIdx.x]; C[threadIdx.x] = v.x;"))
    table = touched_lines(sure(moment_of(trace).request).lanes, 4, vector(4), RULES).first
    assert table[0, :16].tolist() == np.repeat(np.arange(4), 4).tolist()
    assert (table[0, 16:] == -2).all()


@pytest.mark.parametrize(("pad", "rows"), [(0, 32), (1, 1), (2, 2)])
def test_the_punchcard_has_a_row_for_each_wavefront(pad: int, rows: int) -> None:
    trace = trace_of("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=32, PAD=pad)
    moment = moment_of(trace, step_of(trace, "tileA[x][y]"), Focus(warp=3))
    cells = piece(banks_scene(moment, OPTIONS), "banks", Cells)
    assert isinstance(cells, Cells)
    assert cells.fill.shape == (rows, 32)
    assert len(cells.fill) == moment.cost.wavefronts
    assert (cells.fill > 0).sum() == 32


def test_a_broadcast_is_one_hole() -> None:
    card = punchcard(np.zeros(32, np.int64))
    assert card.first.shape == (1, 32)
    assert card.served[0].tolist() == [32] + [0] * 31
    trace = trace_of("07_tiled_transposed", 32, 32, 32)
    cells = piece(banks_scene(moment_of(trace, step_of(trace, "tileA[k][y]"), Focus(warp=0)), OPTIONS), "banks", Cells)
    assert isinstance(cells, Cells)
    assert cells.labels is not None
    assert cells.labels[0, 0] == "×32"


@cache
def reader_of(kernel: str, size: int, width: int) -> Reader:
    return Reader(Replay.of(trace_of(kernel, size, size, size, TILE_WIDTH=width)))


@pytest.mark.parametrize("name", list(views_of(Moment)))
def test_every_view_draws_every_step_within_its_frame(name: str) -> None:
    reader = reader_of("04_tiled", 8, 4)
    for step in (*range(14), *range(14, reader.replay.steps, 6), reader.replay.steps - 1):  # those of a phase, and some more
        scene = view_named(name).scene(reader.at(step), ViewOptions(load_theme("light")))
        if name != "first_blocks":  # its picture is of no step
            assert scene.find("action" if view_named(name).chart is None else "notes") is not None
        for primitive in scene.primitives:
            if isinstance(primitive, Labels):
                assert (primitive.at >= 0).all()
                assert (primitive.at <= (scene.width, scene.height)).all()


@pytest.mark.parametrize("name", [name for name in views_of(Moment) if name != "stage"])
def test_every_view_but_the_stage_fits_a_low_band_without_words(name: str) -> None:
    reader = reader_of("07_tiled_transposed", 32, 32)
    for step, height in product(range(0, reader.replay.steps, 14), (260.0, 420.0)):
        scene = view_named(name).scene(reader.at(step), ViewOptions(height=height, words=False))
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
    naive = moment_of(trace_of("02_naive", 32, 32, 32, BLOCK=32), 0, Focus(warp=0))
    coalesced = moment_of(trace_of("03_coalesced", 32, 32, 32, BLOCK=32), 1, Focus(warp=0))
    sentence = piece(memory_scene(naive, OPTIONS), "memory-sentence", Labels).texts[0]
    assert sentence.endswith("32 lanes, 32 sectors moved, 4 needed: 12.5 %")
    assert (
        piece(memory_scene(coalesced, OPTIONS), "memory-sentence", Labels)
        .texts[0]
        .endswith("32 lanes, 4 sectors of 4 needed: 100 %")
    )


def test_threads_of_the_strip_end_at_what_their_lanes_touch() -> None:
    moment = moment_of(trace_of("03_coalesced", 32, 32, 32, BLOCK=32), 1, Focus(warp=2))
    ends = piece(memory_scene(moment, OPTIONS), "lane-threads", Lines).segments[:, 2]
    assert len(ends) == 32
    assert np.allclose(np.diff(ends), ends[1] - ends[0])  # neighbours touch neighbours


def test_the_warp_view_tells_thread_element_byte_and_value() -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4, values=True)
    scene = view_named("warp").still(moment_of(trace, 0, Focus((1, 0, 0))), OPTIONS)
    assert piece(scene, "lane-titles", Labels).texts[5] == "lane 5, thread (1, 1)"
    lane = trace.space.number((1, 0, 0), (1, 1, 0))
    assert piece(scene, "lane-touches", Labels).texts[5] == f"A[1, 1]  byte 36  {sure(trace.value)[0, lane]:.3g}"
    assert len(piece(scene, "idle-titles", Labels).texts) == 16
    assert piece(scene, "idle-titles", Labels).texts[0] == "lane 16, no thread"


def test_steps_without_such_an_access_link_to_the_next_one() -> None:
    trace = trace_of("04_tiled", 8, 8, 8)
    tile = moment_of(trace, step_of(trace, "tileA[y][k]"))
    spaces = [{trace.arrays[each.array].space for each in trace.site_of(step).operands} for step in range(trace.steps)]
    cases: tuple[tuple[Scene, Space, int], ...] = (
        (memory_scene(tile, OPTIONS), "global", tile.step),
        (banks_scene(moment_of(trace), OPTIONS), "shared", 0),
    )
    for scene, space, step in cases:
        assert piece(scene, "message", Labels).texts == (f"Step {step + 1} does not access {space} memory",)
        link = piece(scene, "step-link", Cells)
        x, y, wide, high = link.box
        assert linked_step(sure(scene.hit(x + wide / 2, y + high / 2))) == spaces.index({space}, step)
        assert not wrong_with(scene)
    naive = banks_scene(moment_of(trace_of("02_naive", 8, 8, 8, BLOCK=4)), OPTIONS)
    assert naive.find("step-link") is None
    assert piece(naive, "message", Labels).texts == ("Step 1 does not access shared memory; no step does",)


def test_a_click_on_the_link_goes_to_its_step(model: TestModel) -> None:
    session = model.session
    model.settle()
    model.commands.show_view("banks")
    scene = view_named("banks").still(session.display.subject, ViewOptions())
    link = piece(scene, "step-link", Cells)
    model.commands.click(Hit(link, 0, 0))
    assert session.now is not None
    assert session.now.step == linked_step(Hit(link, 0, 0)) == 1
    assert session.now.touched_in("shared") is not None


def flying(kernel: str, step: int, at: float) -> dict[str, Rects]:
    moment = moment_of(trace_of(kernel, 32, 32, 32, BLOCK=32), step, Focus(warp=0))
    pieces = view_named("memory").motion(moment, ViewOptions(moment=at))
    return {each.key: each for each in pieces if isinstance(each, Rects)}


def test_sectors_of_a_line_come_together_and_those_of_other_lines_later() -> None:
    line, lines = flying("03_coalesced", 1, 0.7), flying("02_naive", 0, 0.5)
    assert len(line["flying-sectors"].boxes) == 4
    assert len(line["flying-asked"].boxes) == 32
    assert not len(line["flying-along"].boxes)
    moment = moment_of(trace_of("03_coalesced", 32, 32, 32, BLOCK=32), 1, Focus(warp=0))
    end = piece(memory_scene(moment, OPTIONS), "memory-outlines", Rects).boxes
    start = flying("03_coalesced", 1, 0.401)["flying-sectors"].boxes
    shares = (line["flying-sectors"].boxes - start)[:, 2] / (end - start)[:, 2]
    assert shares == pytest.approx(shares[0], abs=1e-3)
    assert 0.1 < shares[0] < 0.9
    here = lines["flying-sectors"].boxes
    assert 1 < len(here) < 32
    assert (np.diff(here[:, 2]) <= 0).all()  # the first lines are ahead: a sector grows on its way
    assert len(lines["flying-asked"].boxes) == len(here)
    assert len(lines["flying-along"].boxes) == 7 * len(here)


def test_sectors_come_after_the_lanes_have_asked_and_cover_nothing_once_there() -> None:
    assert not len(flying("03_coalesced", 1, 0.2)["flying-sectors"].boxes)
    assert len(flying("03_coalesced", 1, 0.2)["sectors-cover"].boxes) == 4
    assert "threads-cover" not in flying("03_coalesced", 1, 0.7)
    assert flying("03_coalesced", 1, 1.0) == {}


def test_a_sign_is_explained_only_where_it_stands() -> None:
    """Lanes of a warp share elements of A in a block that is 16 wide, and none in one that is 32 wide."""
    for width, shares in ((16, True), (32, False)):
        scene = view_named("memory").still(
            moment_of(trace_of("02_naive", 32, 32, 32, BLOCK=width), 0, Focus(warp=0)), ViewOptions()
        )
        assert any("×n" in text for each in scene.all if isinstance(each, Labels) for text in each.texts) == shares
