"""Pictures of matrix instructions show what the trace and the lane maps say, to each lane its own."""

from functools import cache

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.counts import count_steps, totals
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.arrays import fragment_of
from gemmviz.model.trace import Trace
from gemmviz.render.reel import RenderOptions
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Cells, Hit, Labels, Lanes, Rects, Scene
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.scenes.kit.view import ViewOptions, linked_step
from gemmviz.shots.export import ExportOptions
from gemmviz.shots.subject import focus_at
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.reel import lesson_reel
from tests.conftest import moment_of, piece, stored_first, sure, trace_of
from tests.legible import texts_of, too_small, wrong_with
from tests.run.test_matrix_instructions import MMA, MOVED, wmma_kernel

VIEW = view_named("fragment")
LOAD, LOAD_TRANSPOSED, PRODUCT = 13, 14, 15  # steps of ldmatrix.cu


@cache
def swizzled(xored: int = 7) -> Trace:
    return trace_of("ldmatrix", 16, 8, 64, XORED=xored)


def scene_of(trace: Trace, step: int, lane: int | None = None, **options: float) -> Scene:
    return VIEW.scene(moment_of(trace, step, Focus(thread=lane)), ViewOptions(**options))  # type: ignore[arg-type]


def lanes_of(cells: Cells) -> np.ndarray:
    assert isinstance(cells.meaning, Lanes)
    return np.array(cells.meaning.lanes).reshape(cells.fill.shape)


def boxes_near(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.allclose(one, other, atol=0.5))


def test_each_register_of_a_product_is_where_its_lane_holds_it() -> None:
    scene, found = scene_of(swizzled(), PRODUCT), fragment_of("a", 16, 16)
    cells = piece(scene, "fragment-a", Cells)
    lanes = lanes_of(cells)
    assert lanes.shape == (16, 8)
    for lane in range(32):
        for row, column in zip(found.row[lane].tolist(), found.column[lane].tolist(), strict=True):
            assert lanes[row, column // 2] == lane
    assert sure(cells.labels)[9, 5] == "5"
    assert sure(cells.tips)[9, 5] == "elements 9,10 and 9,11 of A\nlane 5, register a3"
    registers = piece(scene, "registers-of-b", Cells)
    assert sure(registers.labels)[5].tolist() == ["2,1", "10,1"]
    assert sure(registers.tips)[5, 0] == "elements 2,1 and 3,1 of B\nlane 5, register b0"


@pytest.mark.parametrize(("name", "shapes"), [("f16", [(16, 8), (8, 8), (16, 4)]), ("s8", [(16, 4), (4, 8), (16, 8)])])
def test_a_register_that_holds_several_elements_is_one_cell(name: str, shapes: list[tuple[int, int]]) -> None:
    kernels = {"f16": parse_kernel(MMA.replace("PITCH", "24"), "t.cu"), "s8": wmma_kernel((16, 16, 16), "signed char", "int")}
    trace = trace_of(kernels[name], 16, 16, 16)
    step = next(step for step in range(trace.steps) if trace.site_of(step).kind == "product")
    cells = [piece(scene_of(trace, step), f"fragment-{use}", Cells) for use in "abc"]
    assert [each.fill.shape for each in cells] == shapes


def test_rows_and_columns_are_outlined_of_which_a_lane_makes_its_sums() -> None:
    scene = scene_of(swizzled(), PRODUCT, lane=5)
    a, b = (piece(scene, f"fragment-{use}", Cells) for use in "ab")
    rows = [(a.x, a.y + row * a.pitch, 8 * a.size, a.pitch) for row in (1, 9)]
    columns = [(b.x + column * b.size, b.y, b.size, 8 * b.pitch) for column in (2, 3)]
    assert boxes_near(piece(scene, "needed", Rects).boxes, np.array([*rows, *columns]))
    assert {int(each) for each in np.flatnonzero(a.fill == 2)} == set(np.flatnonzero(lanes_of(a) == 5).tolist())


@pytest.mark.parametrize("xored", [0, 3, 7])
def test_chunks_lie_where_the_lanes_point(xored: int) -> None:
    """As the kernel computes the address: row lane % 16, chunk lane / 16, combined with the row."""
    cells = piece(scene_of(swizzled(xored), LOAD), "chunks", Cells)
    lanes, texts = lanes_of(cells), sure(cells.labels)
    for lane in range(32):
        row, chunk = lane % 16, lane // 16
        assert lanes[row, chunk ^ (row & xored)] == lane
        assert texts[row, chunk ^ (row & xored)] == f"{lane}: {row},{8 * chunk}"
    assert (lanes >= 0).sum() == 32
    for row, place in np.ndindex(*lanes.shape):
        assert str(texts[row, place]).endswith(f"{row},{8 * (place ^ (row & xored))}")


@pytest.mark.parametrize(("xored", "took"), [(0, 32), (1, 16), (3, 8), (7, 4)])
def test_the_wavefronts_over_the_banks_are_those_that_are_counted(xored: int, took: int) -> None:
    trace = swizzled(xored)
    scene = scene_of(trace, LOAD)
    stacks, counts = piece(scene, "fragment", Cells), count_steps(trace, [LOAD])
    assert len(stacks.fill) == took == totals(counts)["shared_wavefronts"]
    assert piece(scene, "banks-name", Labels).texts == (f"{took} wavefronts, 4 needed",)
    assert piece(scene, "matrix-2-name", Labels).texts == (f"matrix 2: {took // 4} wavefront{'s' * (took > 4)}",)


def test_lanes_get_what_the_trace_says_that_they_read() -> None:
    """Elements of a matrix in the tile: for a transposed load, the trace has what the lanes would get without."""
    trace = swizzled()
    for step, is_transposed in ((LOAD, False), (LOAD_TRANSPOSED, True)):
        cells = piece(scene_of(trace, step), "lane-registers", Cells)
        for matrix, lane in np.ndindex(*cells.fill.shape):
            row, column = map(int, str(sure(cells.labels)[matrix, lane]).split(","))
            holder = 4 * row + column // 2 if not is_transposed else lane
            assert holder == lane
            assert (lane // 4, lane % 4 * 2) == ((column, row) if is_transposed else (row, column))


def test_a_lane_is_named_with_its_address_and_its_elements() -> None:
    trace = swizzled()
    words = [piece(scene_of(trace, step, 21), "fragment-words", Labels).texts[0] for step in (LOAD, LOAD_TRANSPOSED)]
    assert words == [
        "Lane 21 gives the address of row 5 of matrix 2, and gets elements 5,2 and 5,3 of each matrix.",
        "Lane 21 gives no address, and gets elements 2,5 and 3,5 of each matrix.",
    ]
    scene = scene_of(trace, LOAD, 21)
    chunks = piece(scene, "chunks", Cells)
    row, column = np.argwhere(lanes_of(chunks) == 21)[0]
    ring = piece(scene, "address-followed", Rects).boxes[0]
    assert boxes_near(
        ring, np.array([chunks.x + column * chunks.size, chunks.y + row * chunks.pitch, chunks.size, chunks.pitch])
    )
    tip = sure(chunks.tips)[row, column].split("\n")
    assert tip[:2] == ["row 5 of matrix 2", "lane 21 gives its address"]
    assert tip[-1] == "begins with element 5,8"


def test_a_click_follows_a_lane_and_another_one_stops() -> None:
    trace = swizzled()
    moment = moment_of(trace, LOAD)
    chunks = piece(scene_of(trace, LOAD), "chunks", Cells)
    row, column = np.argwhere(lanes_of(chunks) == 21)[0].tolist()
    focus = sure(focus_at(moment, Hit(chunks, row, column)))
    assert focus.thread == 21
    assert sure(focus_at(moment_of(trace, LOAD, focus), Hit(chunks, row, column))).thread is None
    empty_row, empty_column = np.argwhere(lanes_of(chunks) < 0)[0].tolist()
    assert focus_at(moment, Hit(chunks, empty_row, empty_column)) is None


def flying(trace: Trace, step: int, moment: float) -> list[Rects]:
    moved = VIEW.motion(moment_of(trace, step), ViewOptions(moment=moment))
    return [each for each in moved if isinstance(each, Rects)]


def test_rows_leave_their_chunks_and_become_registers() -> None:
    trace = swizzled(3)
    scene = scene_of(trace, LOAD)
    chunks, matrix = piece(scene, "chunks", Cells), piece(scene, "matrix-3", Cells)
    last = flying(trace, LOAD, 0.0)[3].boxes
    for row in range(8):
        line, column = np.argwhere(lanes_of(chunks) == 24 + row)[0]
        start = [chunks.x + column * chunks.size, chunks.y + line * chunks.pitch, chunks.size, chunks.pitch]
        assert boxes_near(last[row], np.array(start))
    arrived = flying(trace, LOAD, 0.6 * 0.85 - 1e-6)[3].boxes
    assert boxes_near(arrived[0], np.array([matrix.x, matrix.y, 4 * matrix.size, matrix.pitch]))
    first, other = (flying(trace, LOAD, 0.2)[number].boxes for number in (0, 3))
    assert (first[0] != flying(trace, LOAD, 0.0)[0].boxes[0]).any()
    assert np.array_equal(other[[0, 7]], last[[0, 7]])  # it waits for its wavefront
    strip = piece(scene, "lane-registers", Cells)
    dealt = flying(trace, LOAD, 0.85 - 1e-6)[3].boxes
    assert boxes_near(dealt[5], np.array([strip.x + 5 * strip.size, strip.y + 3 * strip.pitch, strip.size, strip.pitch]))
    assert not flying(trace, LOAD, 0.9)
    assert not flying(trace, PRODUCT, 0.3)


@cache
def matrix_steps() -> list[tuple[str, Moment]]:
    stored, moved = trace_of(parse_kernel(MMA.replace("PITCH", "64"), "t.cu"), 32, 16, 32), trace_of(MOVED, 8, 8, 8)
    traces = {"ldmatrix": swizzled(0), "stmatrix": stored, "movmatrix": moved}
    return [
        (f"{name} {trace.site_of(step).instruction}", moment_of(trace, step, Focus(thread=lane)))
        for name, trace in traces.items() for lane in (None, 9)
        for step in {trace.site_of(step).instruction: step for step in range(trace.steps)}.values()
    ]  # fmt: skip


FRAMES = ((1600.0, 900.0, True), (1600.0, 775.0, True), (1600.0, 1000.0, True), (1400.0, 900.0, True), (1600.0, 900.0, False))


@pytest.mark.parametrize(("width", "height", "words"), FRAMES)
def test_pictures_can_be_read_in_every_frame(width: float, height: float, words: bool) -> None:
    """All themes have the same letters at the same places."""
    options, is_first = ViewOptions(width=width, height=height, words=words), (width, height, words) == FRAMES[0]
    for name, moment in matrix_steps()[:: 1 if is_first else 4]:
        for at in (0.4, 1.0):
            scene = VIEW.scene(moment, structs.replace(options, moment=at))
            assert (wrong_with(scene), too_small(scene)) == ([], []), (name, at)
        for theme in theme_names() if is_first else ():
            assert texts_of(VIEW.scene(moment, structs.replace(options, theme=load_theme(theme)))) == texts_of(scene), (
                name,
                theme,
            )


def test_in_a_low_frame_the_lanes_that_can_be_read_are_shown() -> None:
    trace = swizzled()
    scene = scene_of(trace, PRODUCT, 30, height=775.0)
    cells = piece(scene, "registers-of-c", Cells)
    assert cells.labels is not None
    assert lanes_of(cells)[:, 0].tolist() == list(range(6, 32))
    assert "At the right are lanes 6 to 31" in " ".join(piece(scene, "fragment-words", Labels).texts)
    assert scene_of(trace, LOAD, height=775.0).find("lane-registers") is None
    moved = VIEW.motion(moment_of(trace, LOAD), ViewOptions(height=775.0, moment=0.85 - 1e-6))
    matrix = piece(scene_of(trace, LOAD, height=775.0), "matrix-0", Cells)
    rows = next(each for each in moved if each.key == "flying-0")
    assert isinstance(rows, Rects)
    assert boxes_near(rows.boxes[0], np.array([matrix.x, matrix.y, 4 * matrix.size, matrix.pitch]))


def test_the_steps_of_the_lesson_are_small_figures() -> None:
    slides = list(lesson_reel(shipped_lesson("tensor-cores"), stored_first, ExportOptions(RenderOptions(1920, 1080))).slides())
    assert len(slides) == 14
    sizes = [len(scene_svg(slide.scene, "named").encode()) for slide in slides]
    largest = slides[sizes.index(max(sizes))]
    assert max(sizes) <= 120_000
    assert len(scene_svg(largest.scene).encode()) <= 150_000  # with its fonts


def test_no_frame_is_too_small_or_odd() -> None:
    for _, moment in matrix_steps()[::2]:
        for width, height in ((900.0, 670.0), (2400.0, 700.0), (1000.0, 1800.0), (500.0, 400.0)):
            scene = VIEW.scene(moment, ViewOptions(width=width, height=height, moment=0.3))
            for each in scene.all:
                if isinstance(each, Cells):
                    assert each.size > 0 < each.pitch, each.key
                elif isinstance(each, Rects):
                    assert np.isfinite(each.boxes).all()
                    assert (each.boxes[:, 2:] >= 0).all(), each.key


@pytest.mark.parametrize("step", [LOAD, LOAD_TRANSPOSED])
def test_the_warp_view_names_an_element_of_every_matrix(step: int) -> None:
    trace = swizzled()
    for width in (1600.0, 1400.0):
        scene = view_named("warp").scene(moment_of(trace, step), ViewOptions(width=width))
        texts = piece(scene, "lane-touches", Labels).texts
        array = trace.arrays[trace.site_of(step).operands[0].array]
        for lane in range(32):
            elements = trace.element[trace.row[step] : trace.row[step + 1], lane]
            places = ", ".join(str(list(array.place(int(element)))) for element in elements)
            assert texts[lane] == array.name + places
        assert (wrong_with(scene), too_small(scene)) == ([], [])


def test_other_steps_lead_to_a_matrix_instruction() -> None:
    scene = scene_of(swizzled(), 0)
    link = piece(scene, "step-link", Cells)
    assert linked_step(Hit(link, 0, 0)) == LOAD
    none = VIEW.scene(moment_of(trace_of("04_tiled", 8, 8, 8), 0), ViewOptions())
    assert none.find("step-link") is None
    assert "no step does" in " ".join(piece(none, "message", Labels).texts)
