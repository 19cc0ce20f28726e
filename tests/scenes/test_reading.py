"""Pictures as text: reading order, tables, and cells as sentences."""

import dataclasses

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.device import MemoryRules
from gemmviz.model.sites import LabelStyle, MemoryArray
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import ArrayCells, Cells, Hit, Labels, Scene, points
from gemmviz.scenes.kit.table import lines_of, own_text, place_text, tables_of
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.stage.hover import address_text, cell_sentence
from tests.conftest import kernel_from, moment_of, piece, trace_of
from tests.problem_kernels import reader_of_problem


def labels(*placed: tuple[float, float, str], size: float = 20.0) -> Labels:
    return Labels("text", points(*((x, y) for x, y, _ in placed)), tuple(text for *_, text in placed), size, "#FFFFFF")


def scene(*primitives: Labels | Cells) -> Scene:
    return Scene(1600, 900, "#000000", primitives)


def test_rows_are_read_from_top_to_bottom_and_texts_beside_each_other_as_one_line() -> None:
    drawn = scene(labels((900, 40, "step 2")), labels((40, 300, "below")), labels((40, 40, "title")))
    assert lines_of(drawn) == ("title, step 2", "below")


def test_columns_are_read_one_after_the_other() -> None:
    left = labels((40, 100, "one"), (40, 130, "two"), (40, 160, "three"))
    right = labels((600, 110, "four"), (600, 140, "five"))
    assert lines_of(scene(right, left)) == ("one", "two", "three", "four", "five")


def test_numbers_along_an_axis_are_left_out() -> None:
    scale = dataclasses.replace(labels(*((40.0 * n, 40.0, str(n)) for n in range(8))), meaning="scale")
    assert lines_of(scene(scale, labels((40, 100, "8")))) == ("8",)


def test_tables_are_those_of_arrays_and_those_with_texts() -> None:
    fill = np.zeros((2, 3), np.uint8)
    plain = Cells("ground", 0, 0, 10, fill, ("#000000",), ("#FFFFFF",))
    array = Cells("tile-As", 0, 100, 10, fill, ("#000000",), ("#FFFFFF",), meaning=ArrayCells("As", "shared"))
    tips = np.array([["", "a\nb", ""]] * 2)
    told = Cells("slots", 0, 50, 10, fill, ("#000000",), ("#FFFFFF",), tips=tips)
    assert [each.key for each in tables_of(scene(plain, told, array), ("A", "As"))] == ["tile-As", "slots"]
    assert own_text(Hit(told, 0, 1)) == "a; b"
    part = Cells("A", 0, 0, 10, fill, ("#000000",), ("#FFFFFF",), origin=(4, 8))
    assert place_text(Hit(part, 1, 2)) == "row 5, column 10"
    many = Cells("A", 0, 0, 10, fill, ("#000000",), ("#FFFFFF",), factor=4)
    assert place_text(Hit(many, 1, 2)) == "rows 4 to 7, columns 8 to 11"


@pytest.fixture(scope="module")
def replay() -> Replay:
    return Replay.of(trace_of("04_tiled", 16, 16, 16))


def cell(moment: Moment, name: str, row: int, column: int, style: LabelStyle | None = None) -> str:
    drawn = view_named("stage").scene(moment, ViewOptions())
    names = tuple(array.name for array in moment.trace.arrays)
    cells = next(each for each in tables_of(drawn, names) if isinstance(each.meaning, ArrayCells) and each.meaning.name == name)
    return cell_sentence(moment, Hit(cells, row, column), style or LabelStyle())


def test_a_cell_says_who_touches_it_where_it_lies_and_what_it_holds(replay: Replay) -> None:
    first = Reader(replay).at(0)
    sentence = cell(first, "A", 1, 2)
    assert sentence.startswith("A, row 1, column 2: ")
    assert "read now by thread (2, 1) of warp 0" in sentence
    assert "element 18, byte 72: sector 2, line 0" in sentence
    assert "not touched at this step" in cell(first, "B", 1, 2)
    result = cell(first, "C", 5, 6)
    assert "computed by thread (2, 1) of warp 0 of block (1, 1)" in result
    stored = next(step for step in range(replay.steps) if replay.trace.site_of(step).kind == "store")
    tile = Reader(replay).at(stored)
    sentence = cell(tile, replay.trace.arrays[tile.touched[-1].operand.array].name, 1, 2)
    assert "written now by thread (2, 1) of warp 0" in sentence


def test_rows_and_columns_are_counted_as_the_labels_are(replay: Replay) -> None:
    assert cell(Reader(replay).at(0), "A", 1, 2, LabelStyle(first=1)).startswith("A, row 2, column 3: ")


def test_threads_of_several_warps_are_named_by_warp() -> None:
    moment = Reader(Replay.of(trace_of("02_naive", 16, 16, 16)), Focus(everyone=True)).at(1)
    sentence = cell(moment, "A", 3, 0)
    assert " of warp " in sentence
    assert " and 8 more" in sentence  # sixteen threads read the element


def test_a_cell_says_when_its_value_was_read_and_how_often_it_was_loaded() -> None:
    trace = trace_of(kernel_from("float a = A[0];\nfloat b = B[threadIdx.x];\nC[threadIdx.x] = a + b + A[0];"), values=True)
    said = [cell(moment_of(trace, step), "A", 0, 0) for step in range(3)]
    for text, step, loads in zip(said, (1, 1, 3), (4, 4, 8), strict=True):
        assert f", read at step {step};" in text
        assert f", {loads} by all traced blocks (8 at the end)" in text


def test_a_cell_of_a_tile_says_in_which_phase_it_was_stored() -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)
    seen = [cell(moment_of(trace, step), "tileA", 0, 0) for step in (0, trace.steps - 1)]
    assert "nothing stored yet" in seen[0]
    assert "holds A[0, 4], stored in phase 2" in seen[1]


def test_lanes_beyond_the_block_have_no_thread() -> None:
    trace = trace_of(kernel_from("C[threadIdx.x] = A[threadIdx.x];"))
    moment = moment_of(trace, 0, Focus(warp=0))
    lanes = piece(view_named("stage").scene(moment, ViewOptions()), "request-lanes", Cells)
    said = [cell_sentence(moment, Hit(lanes, lane // 8, lane % 8)) for lane in (3, 4, 31)]
    assert said[0].startswith("lane 3 of warp 0, thread (3): A, ")
    assert said[1:] == ["lane 4: no thread", "lane 31: no thread"]


@pytest.mark.parametrize(
    ("type_name", "place"), [("float32", "byte 136: bank 2"), ("float64", "byte 272: bank 4"), ("int8", "byte 34: bank 8")]
)
def test_a_cell_names_the_bank_that_holds_its_first_byte(type_name: str, place: str) -> None:
    array = MemoryArray("tile", "shared", (64,), type_name)
    assert address_text(array, 34, MemoryRules()) == place


def test_cells_of_partial_sums_say_of_how_many_elements() -> None:
    reader = reader_of_problem("reduction_tree")
    trace, said = reader.replay.trace, set[str]()
    for step in range(trace.steps):
        moment = reader.at(step)
        scene = view_named("stage").scene(moment, ViewOptions())
        said |= {
            text for each in scene.all if isinstance(each, Labels) and each.key == "tile-sums-sums-name" for text in each.texts
        }
        (content,) = moment.tiles.values()
        rounds = int((trace.phase[step] + 1) if trace.site_of(step).kind != "load" else trace.phase[step])
        assert set(content.summands.tolist()) <= {0, *(2**each for each in range(max(1, rounds + 1)))}
    assert said == {f"sums of {2**rounds} elements" for rounds in range(1, 8)}
    (content,) = reader.at(trace.steps - 1).tiles.values()
    assert content.summands[0] == 128


@pytest.mark.parametrize(
    ("statement", "summands"),
    [
        ("s[t] += s[t ^ 1];", 2), ("s[t] = s[t] + s[t ^ 1];", 2), ("s[t] += A[t ^ 1];", 2),
        ("s[t] *= s[t ^ 1];", -1), ("s[t] = s[t] - s[t ^ 1];", -1), ("s[t] += x;", -1), ("s[t] = fmaxf(s[t], s[t ^ 1]);", -1),
    ],
)  # fmt: skip
def test_only_sums_of_what_a_statement_reads_are_counted(statement: str, summands: int) -> None:
    body = f"__shared__ float s[4]; const int t = threadIdx.x; float x = 2.0f * A[t]; s[t] = A[t]; {statement} C[t] = s[t];"
    trace = trace_of(kernel_from(body))
    (content,) = moment_of(trace, trace.steps - 1).tiles.values()
    assert set(content.summands.tolist()) == {summands}
