"""The picture's numbers are the trace's."""

from itertools import combinations, product

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.grid import Grid
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.primitives import Cells, Labels, Rects, Scene, fitted, text_width
from gemmviz.scenes.kit.theme import (
    AREA,
    BASE,
    FIRST_FILL,
    FIRST_GROUP,
    FIRST_OWNER,
    LIT,
    PHASE,
    REST,
    SEVERAL,
    SOURCE,
    heat_levels,
    load_theme,
)
from gemmviz.scenes.kit.view import Layer, ViewOptions
from gemmviz.scenes.kit.window import Window
from gemmviz.scenes.stage.cells import CellGrid, label_size
from gemmviz.scenes.stage.layout import plan_of
from gemmviz.scenes.views.stage_view import matrix_state
from gemmviz.scenes.views.stage_view import stage_scene as drawn
from tests.conftest import kernel_from, outcome_of, piece, sure, trace_of
from tests.legible import wrong_with


@pytest.fixture(scope="module")
def reader() -> Reader:
    return read(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4), Focus((1, 0, 0)))


def read(trace: Trace, focus: Focus | None = None) -> Reader:
    return Reader(Replay.of(trace), focus)


def state_of(reader: Reader, step: int, number: int, layer: Layer = "matrix") -> np.ndarray:
    return matrix_state(reader.at(step), number, Grid(reader.replay.trace.arrays[number]), layer)


def cross(moment: Moment, options: ViewOptions | None = None) -> dict[str, CellGrid]:
    return plan_of(moment, options or ViewOptions()).matrices


def stage_scene(reader: Reader, step: int, options: ViewOptions | None = None) -> Scene:
    return drawn(reader.at(step), options or ViewOptions())


def test_lit_cells_are_the_touched_elements(reader: Reader) -> None:
    for step in range(reader.replay.steps):
        site = reader.replay.trace.site_of(step)
        for number, array in enumerate(reader.replay.trace.arrays[:3]):
            lit = state_of(reader, step, number) == LIT
            main = reader.at(step).main
            touched = {int(e) for e in main.elements if e >= 0} if site.touches(number) and main is not None else set()
            rows, columns = np.nonzero(lit)
            assert {int(r) * array.shape[1] + int(c) for r, c in zip(rows, columns, strict=True)} == touched


def test_what_is_read_from_a_tile_shows_where_it_came_from(reader: Reader) -> None:
    step = next(s for s in range(reader.replay.steps) if reader.replay.trace.site_of(s).text == "tileB[k][x]")
    state = state_of(reader, step, 1)
    assert np.argwhere(state == SOURCE).tolist() == [[0, 4], [0, 5], [0, 6], [0, 7]]
    assert (state[:4, 4:] >= AREA).all()
    assert (state[4:] == BASE).all()


def test_tiles_are_labelled_with_the_element_they_hold(reader: Reader) -> None:
    step = next(s for s in range(reader.replay.steps) if reader.replay.trace.site_of(s).is_barrier)
    tile = piece(stage_scene(reader, step), "tile-tileB", Cells)
    assert isinstance(tile, Cells)
    assert tile.labels is not None
    assert tile.labels.tolist() == [[f"{r},{c}" for c in range(4, 8)] for r in range(4)]


def test_words_tell_the_step_and_its_cost(reader: Reader) -> None:
    scene = stage_scene(reader, 0)
    cost = reader.at(0).cost
    texts = {p.key: " ".join(p.texts) for p in scene.all if isinstance(p, Labels)}
    assert texts["title"] == "04_tiled, TILE_WIDTH = 4"
    assert texts["progress"] == f"step 1 of {reader.replay.steps}, phase 1 of 2"
    assert texts["corner-name"].replace("\u00a0", " ") == "shared memory of block (1, 0)"
    assert texts["action"] == "16 threads each fetch one element of A"
    assert texts["request-moved"] == f"{cost.sectors} sectors"
    assert texts["request-needed"] == f"{cost.needed_sectors} needed"


def test_the_same_moment_is_the_same_scene(reader: Reader) -> None:
    assert stage_scene(reader, 5) == stage_scene(reader, 5)
    assert stage_scene(reader, 5) != stage_scene(reader, 6)
    assert stage_scene(reader, 5, ViewOptions(load_theme("light"))) != stage_scene(reader, 5, ViewOptions(load_theme("dark")))


FRAMES = [(1600, 900), (1600, 1200), (1600, 1059), (1000, 1000), (900, 1300), (2000, 700)]


@pytest.mark.parametrize(
    "size", [(8, 8, 8), (64, 64, 64), (1, 1, 1), (200, 3, 7), (3, 200, 7), (7, 3, 200), (512, 512, 64), (300, 8, 8)]
)
def test_everything_stays_inside_the_frame_and_apart(size: tuple[int, int, int]) -> None:
    blocks, lenses = "" if size[0] < 100 else "0:1,0:1", ("whole", "lens")
    moment = read(trace_of("03_coalesced", *size, BLOCK=8, blocks=blocks)).at(0)
    for frame, lens in product(FRAMES, lenses):
        options = ViewOptions(width=frame[0], height=frame[1], lens=lens, code=True)  # type: ignore[arg-type]
        plan = plan_of(moment, options)
        found = [each.box for each in plan.matrices.values()]
        found += [room for name, room in plan.rooms.items() if name != "legend"]
        for x, y, width, height in found:
            assert min(x, y) > 13.89, (frame, lens)
            assert x + width <= frame[0] - 14, (frame, lens)
            assert y + height <= frame[1] - options.timeline_height(moment.replay), (frame, lens)
        for a, b in combinations(found, 2):
            assert a[0] + a[2] < b[0] or b[0] + b[2] < a[0] or a[1] + a[3] < b[1] or b[1] + b[3] < a[1], (frame, lens)


def test_the_cross_is_the_hero() -> None:
    moment = read(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)).at(0)
    for width, height in FRAMES:
        plan = plan_of(moment, ViewOptions(width=width, height=height))
        assert plan.box.width > 0.56 * min(width, height)


def test_the_lens_shows_what_matters_with_true_indices() -> None:
    trace = trace_of("03_coalesced", 512, 512, 512, BLOCK=8, blocks="3:4,5:6")
    reader = read(trace, Focus((3, 5, 0)))
    plan = plan_of(reader.at(0), ViewOptions())
    assert plan.window.is_lens
    assert isinstance(plan.window, Window)
    assert plan.window.m == (39, 49)  # the block's eight rows and what is beside them
    assert plan.window.n == (23, 33)
    whole = plan_of(reader.at(0), ViewOptions(lens="whole"))
    assert not whole.window.is_lens
    assert 8 * whole.cell < 150 < 8 * plan.cell
    cells = piece(stage_scene(reader, 0), "A", Cells)
    lit = np.argwhere(cells.fill == LIT)
    assert [(cells.origin[0] + r, cells.origin[1] + c) for r, c in lit.tolist()] == [(row, 0) for row in range(40, 48)]
    later = plan_of(reader.at(2 * 300), ViewOptions())
    assert isinstance(later.window, Window)
    assert later.window.k[0] <= 300 < later.window.k[1]  # it goes along
    assert plan_of(read(trace, Focus((3, 5, 0), everyone=True)).at(0), ViewOptions()).window == whole.window


def test_axes_number_what_is_seen_and_never_touch() -> None:
    for reader in (read(trace_of("04_tiled", 64, 64, 64, TILE_WIDTH=8)), read(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))):
        for lens in ("lens", "whole"):
            scene = stage_scene(reader, 0, ViewOptions(lens=lens))
            table = plan_of(reader.at(0), ViewOptions(lens=lens)).matrices["C"]
            axis = piece(scene, "C-axis-above", Labels)
            numbers = [int(text) for text in axis.texts]
            middles = table.middle(np.zeros(len(numbers)), np.array(numbers))[:, 0]
            assert axis.at[:, 0] == pytest.approx(middles)
            widths = [text_width(text, axis.size) for text in axis.texts]
            ends = middles + np.array(widths) / 2
            assert (ends[:-1] < middles[1:] - np.array(widths[1:]) / 2).all()


def test_labels_only_where_they_can_be_read() -> None:
    assert label_size("7,7", 40) > 12
    assert label_size("127,127", 6) == 0
    assert label_size("127,127", 6, pixels=8) == 0
    assert label_size("127,127", 6, pixels=8, least=20 / 16) > 0
    assert text_width("127,127", label_size("127,127", 90)) <= 90


def test_large_matrices_are_pooled_and_lose_nothing_lit() -> None:
    reader = read(trace_of("03_coalesced", 3000, 8, 2, BLOCK=8), Focus((0, 374, 0)))
    cells = piece(stage_scene(reader, 0, ViewOptions(lens="whole")), "A", Cells)
    assert isinstance(cells, Cells)
    assert cells.size >= 1.7  # at least a pixel: nothing is lost when it is stretched
    assert cells.fill.shape == (-(-3000 // cells.factor), 1)
    assert np.flatnonzero(cells.fill == LIT)[-1] == len(cells.fill) - 1
    assert piece(stage_scene(reader, 0, ViewOptions(zoom=32, lens="whole")), "A", Cells).factor == 1


def test_what_is_seen_closely_is_all_that_is_drawn_and_the_same() -> None:
    reader = read(trace_of("03_coalesced", 600, 600, 2, BLOCK=8), Focus((40, 50, 0)))
    step = reader.replay.steps - 1
    table = cross(reader.at(step), ViewOptions(lens="whole"))["C"]
    x, y = table.x, table.y
    clip = (x + 320 * table.wide, y + 400 * table.cell, 40 * table.wide, 30 * table.cell)
    whole = piece(stage_scene(reader, step, ViewOptions(zoom=128, lens="whole")), "C", Cells)
    seen = piece(stage_scene(reader, step, ViewOptions(zoom=128, clip=clip, lens="whole")), "C", Cells)
    assert seen.fill.size < whole.fill.size / 20
    row, column = seen.origin
    rows, columns = seen.fill.shape
    assert (seen.fill == whole.fill[row : row + rows, column : column + columns]).all()
    assert (seen.fill == LIT).sum() == 64
    assert (seen.x, seen.y) == pytest.approx((x + column * table.wide, y + row * table.cell))
    assert sure(seen.labels)[0, 0] == f"{row},{column}"


def test_text_is_cut_to_its_room() -> None:
    assert fitted("short", 20, 500) == "short"
    cut = fitted("a very long title indeed", 20, 100)
    assert cut.endswith("…")
    assert text_width(cut, 20) <= 100


def test_watching_a_warp_lights_only_its_lanes() -> None:
    trace = trace_of("04_tiled", 16, 16, 16, TILE_WIDTH=8)
    assert (state_of(read(trace, Focus(warp=1)), 0, 0) == LIT).sum() == 32
    assert (state_of(read(trace), 0, 0) == LIT).sum() == 64
    assert (state_of(read(trace, Focus(everyone=True)), 0, 0) == LIT).sum() == 128  # two rows of blocks of it


def test_colours_by_warp_are_those_of_the_lanes() -> None:
    trace = trace_of("04_tiled", 16, 16, 16, TILE_WIDTH=8)
    reader = read(trace)
    load = state_of(reader, 0, 0, layer="warp")
    assert load[:4, :8].tolist() == [[FIRST_GROUP] * 8] * 4
    assert load[4:8, :8].tolist() == [[FIRST_GROUP + 1] * 8] * 4
    owned = state_of(reader, 0, 2, layer="warp")
    assert owned[:8, :8].tolist() == [[FIRST_OWNER] * 8] * 4 + [[FIRST_OWNER + 1] * 8] * 4
    naive = state_of(read(trace_of("03_coalesced", 8, 8, 8, BLOCK=8)), 1, 1, layer="warp")
    assert (naive[0] == SEVERAL).all()  # both warps read the row of B


def test_a_followed_thread_is_lit_alone_and_ringed() -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)
    reader = read(trace, Focus((1, 0, 0), thread=6))
    assert np.argwhere(state_of(reader, 0, 0) == LIT).tolist() == [[1, 2]]
    assert (state_of(reader, 0, 0) == SOURCE).sum() == 15  # the rest of its warp
    ring = piece(stage_scene(reader, 0), "followed", Rects)
    table = cross(reader.at(0))["C"]
    x, y, *_ = table.part((1, 2), (6, 7))
    assert ring.boxes.tolist() == [pytest.approx([x - 4, y - 4, table.wide + 8, table.cell + 8])]
    action = " ".join(piece(stage_scene(reader, 0), "action", Labels).texts)
    assert action.startswith("Thread (2, 1) fetches A[1, 2]")


def test_heat_is_the_loads_so_far(reader: Reader) -> None:
    last = reader.replay.steps - 1
    scene = stage_scene(reader, last, ViewOptions(layer="reuse"))
    cells, tile = piece(scene, "A", Cells), piece(scene, "tile-tileA", Cells)
    assert sure(cells.labels)[:4].tolist() == [["1"] * 8] * 4
    assert set(sure(cells.labels)[4:].ravel()) == {""}
    assert set(sure(tile.labels).ravel()) == {"4"}  # by four threads since the second phase stored it
    assert heat_levels(np.array([0, 1, 8, 80]), 1, 8).tolist() == [0, 1, 8, 8]


def test_what_an_earlier_phase_stored_is_faded(reader: Reader) -> None:
    def shown(text: str, phase: int) -> Cells:
        trace = reader.replay.trace
        step = next(s for s in range(reader.replay.steps) if trace.site_of(s).text.startswith(text) and trace.phase[s] == phase)
        return piece(stage_scene(reader, step), "tile-tileB", Cells)

    stale, held = shown("A[row", 1), shown("__syncthreads", 1)
    assert len(set(stale.fill.ravel().tolist())) == 1
    assert set(held.fill.ravel().tolist()) != set(stale.fill.ravel().tolist())
    palette = held.palette
    assert palette[int(held.fill[0, 0])] == load_theme("dark").tint("B", PHASE)
    assert palette[int(stale.fill[0, 0])] == load_theme("dark").tint("B", REST)


def test_outlines_are_the_blocks_area(reader: Reader) -> None:
    outline = piece(stage_scene(reader, 0), "C-area", Rects)
    table = cross(reader.at(0))["C"]
    assert outline.boxes.tolist() == [pytest.approx([*table.part((0, 4), (4, 8))])]


@pytest.mark.parametrize(
    ("body", "array", "elements", "inside"),
    [
        ("C[threadIdx.x] = A[threadIdx.x * 30];", "A", (30, 60, 90), False),
        ("C[threadIdx.x] = A[(int)threadIdx.x - 2];", "A", (-2, -1), False),
        (
            "__shared__ float s[4]; if (threadIdx.x < 3) s[threadIdx.x] = B[0]; C[threadIdx.x] = s[threadIdx.x];",
            "s",
            (3,),
            True,
        ),
    ],
)
def test_what_ended_a_run_is_marked(body: str, array: str, elements: tuple[int, ...], inside: bool) -> None:
    spec = kernel_from("float keep = A[0]; " + body)
    trace = sure(outcome_of(spec).trace)
    stop = sure(trace.stop)
    assert stop.elements == elements
    assert trace.arrays[stop.array].name == array
    scene = stage_scene(read(trace), trace.steps - 1)
    marks, table = piece(scene, "stop", Rects), piece(scene, array if array != "s" else "tile-s", Cells)
    x, y, width, height = table.box
    for left, top, side, _ in marks.boxes.tolist():
        middle = left + side / 2, top + side / 2
        assert (x <= middle[0] <= x + width and y <= middle[1] <= y + height) == inside
        assert 0 <= left <= 1600 - side
        assert 0 <= top <= 900 - side
    assert "the run ends" in " ".join(piece(scene, "cost", Labels).texts)
    assert stage_scene(read(trace), 0).find("stop") is None or trace.steps == 1


@pytest.mark.parametrize("body", ["C[threadIdx.x + 100] = 0.0f;", "__shared__ float s[4]; s[threadIdx.x + 4] = 0.0f;"])
def test_the_name_of_an_element_outside_its_array_stands_beside_all_that_are(body: str) -> None:
    trace = sure(outcome_of(kernel_from("float keep = A[0]; " + body)).trace)
    scene = stage_scene(read(trace), trace.steps - 1)
    boxes, name = piece(scene, "stop", Rects).boxes, piece(scene, "stop-name", Labels)
    x, width = float(name.at[0, 0]), text_width(name.texts[0], name.size, "semibold")
    start, end = (x - width, x) if name.anchor == "end" else (x, x + width)
    assert len(boxes) > 1
    assert end <= boxes[:, 0].min() or start >= (boxes[:, 0] + boxes[:, 2]).max()


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        ("C[threadIdx.x] = A[threadIdx.x + 13];", (4, 4, 4)),
        ("C[threadIdx.x] = A[threadIdx.x + 13];", (5, 7, 3)),
        ("C[threadIdx.x + 15] = A[0];", (4, 4, 4)),
        ("C[threadIdx.x + 15] = A[0];", (2, 9, 30)),
    ],
)
def test_names_give_way_to_what_ended_a_run(body: str, sizes: tuple[int, int, int]) -> None:
    trace = sure(outcome_of(kernel_from("float keep = A[0]; " + body), *sizes).trace)
    scene = stage_scene(read(trace), trace.steps - 1)
    assert scene.find("stop") is not None
    assert [each for each in wrong_with(scene) if "-name" in each] == []
    name, marks = piece(scene, "A-name", Labels), piece(scene, "stop", Rects)
    width = text_width(name.texts[0], name.size, name.face)
    left = name.at[0, 0] - (width if name.anchor == "end" else 0)
    for x, y, side, _ in marks.boxes.tolist():
        assert x + side <= left or left + width <= x or not y - side < name.at[0, 1] - name.size / 2 < y + side


def test_lanes_tell_a_naive_kernel_from_a_coalesced_one() -> None:
    """With all blocks watched, colours run down the columns of C in the one and along its rows in the other."""
    naive, coalesced = (
        state_of(read(trace_of(name, 16, 16, 4, BLOCK=8), Focus(everyone=True)), 0, 2, "lane")
        for name in ("02_naive", "03_coalesced")
    )
    down, along = ((len(set(each[:8, 0].tolist())), len(set(each[0, :8].tolist()))) for each in (naive, coalesced))
    assert (down, along) == ((2, 4), (4, 2))


def test_blocks_have_their_colours() -> None:
    owned = state_of(read(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4), Focus(everyone=True)), 0, 2, "block")
    quarters = [owned[r : r + 4, c : c + 4] for r in (0, 4) for c in (0, 4)]
    assert all((quarter == quarter[0, 0]).all() for quarter in quarters)
    assert len({int(quarter[0, 0]) for quarter in quarters}) == 4


def test_sums_of_c_fill_with_their_terms(reader: Reader) -> None:
    texts = [reader.replay.trace.site_of(step).text for step in range(reader.replay.steps)]
    step = texts.index("tileB[k][x]")
    bars = piece(stage_scene(reader, step), "sums", Rects).boxes
    assert len(bars) == 16
    assert bars[:, 2] == pytest.approx(0.8 * cross(reader.at(0))["C"].wide / 8)
    state = state_of(reader, step, 2)
    assert (state[:4, 4:] == FIRST_FILL).all()
    assert stage_scene(reader, 0).find("sums") is None
    assert (state_of(reader, reader.replay.steps - 1, 2)[:4, 4:] == LIT).all()


def test_the_corner_says_whose_tiles_it_shows_if_all_blocks_are_watched(reader: Reader) -> None:
    def title(focus: Focus, width: float = 1600.0) -> str:
        scene = stage_scene(read(reader.replay.trace, focus), 6, ViewOptions(width=width))
        name = scene.find("corner-name")
        return " ".join(name.texts).replace("\u00a0", " ") if isinstance(name, Labels) else ""

    assert title(Focus(everyone=True)) == "shared memory of block (0, 0); 3 other blocks have their own"
    assert title(Focus(block=(1, 0, 0))) == "shared memory of block (1, 0)"


def test_the_place_in_the_run_breaks_between_its_parts() -> None:
    scene = stage_scene(read(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4), Focus(warp=0)), 6)
    assert piece(scene, "progress", Labels).texts == ("warp 0 · step 7 of 29,", "phase 1 of 2, K-index 0")
