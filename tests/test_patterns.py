"""Kernels of other problems than the multiplication of matrices: right as they are, wrong when broken, and drawn in every view."""

import re
from pathlib import Path

import pytest
from msgspec import structs

from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel, pattern_kernel_names
from gemmviz.cuda.launch.legality import can_run, launch_for, legal_choices, setup_for
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.model.messages import GemmvizError, SettingError, UsageError
from gemmviz.model.problems import MULTIPLICATIONS, PROBLEM_KINDS
from gemmviz.render.svg import scene_svg
from gemmviz.run.engine import FallbackEngine
from gemmviz.run.stored import StoredAnswers
from gemmviz.scenes.catalog import view_named, views
from gemmviz.scenes.kit.primitives import Cells, Labels
from gemmviz.scenes.kit.view import LAYERS, ViewOptions
from gemmviz.shots.export import prepared
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.picture import picture
from gemmviz.shots.shot import Shot, fields_of, launch_lines, parse_shot, put, shot_text
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.quantities.counts import flops_of
from tests.conftest import ENGINE, piece, sampled
from tests.legible import wrong_with
from tests.problem_kernels import OF_TESTS, PROBLEM_KERNELS, problem_kernel, reader_of_problem, run_of
from tests.scenes.test_text import FRAMES
from tests.scenes.test_text import views as views_of_a_run

MULTIPLIES_ONLY = {"accesses", "registers", "phases", "sum", "block_tiles", "work", "cache", "tensor_tile", "first_blocks"}
ELEMENTWISE = ("matrix_add", "dot_product", "axpy", "scale", "scale_in_place", "relu", "transpose_in_place")
UNANSWERED = {
    "traffic": "no width",
    "roof": "moves|compares|counts|unknown|depend|computes none",
    "host_timeline": "multiplications of matrices only",
    "profile": "no counters of this launch were recorded",
    "amdahl": "multiplications of matrices only",
    "loops": "multiplications of matrices only",
    "loads": "no tiles of A and B",
    "block_phase": "no two-dimensional tiles|not known to be alike",
}


def test_there_is_a_kernel_of_every_kind() -> None:
    alike = {name for name in MULTIPLICATIONS if name not in ("multiply", "linear_relu")}  # but for the function
    alike |= {"column_sums", "minimum"}
    assert {problem_kernel(name).problem.kind.name for name in PROBLEM_KERNELS} == set(PROBLEM_KINDS) - alike


@pytest.mark.parametrize("name", PROBLEM_KERNELS)
def test_it_is_right(name: str) -> None:
    trace = run_of(problem_kernel(name)).whole
    assert trace.check.passed
    assert trace.check.is_checked == (name != "none")
    sizes = {array.name: array.size for array in trace.arrays}
    assert trace.check.compared == (sizes[trace.check.array] if name != "none" else 0)


@pytest.mark.parametrize("name", pattern_kernel_names())
def test_each_choice_of_parameters_is_right_with_sizes_that_do_not_divide(name: str) -> None:
    kernel = load_kernel(name)
    for setup in legal_choices(kernel, kernel.problem):
        odd = setup.changed(**{size: number - 1 for size, number in kernel.problem.sizes.items() if size != "radius"})
        if launch_for(odd).threads_per_block <= 256:
            assert run_of(structs.replace(kernel, problem=odd.problem), **odd.parameters).whole.check.passed, odd.parameters


BROKEN = [
    ("vector_add", "A[i] + B[i]", "A[i] - B[i]", {}),
    (
        "transpose_naive",
        "out[col * rows + row] = in[row * columns + col]",
        "out[row * columns + col] = in[row * columns + col]",
        {},
    ),
    ("transpose_tiled", "tile[x][y];   // x", "tile[y][x];   // x", {}),
    ("reduction_tree", "half > 0", "half > 1", {}),
    ("reduction_tree", "own < BLOCK", "own < BLOCK / 2", {"INTERLEAVED": 1}),
    ("stencil_halo", "right < n ? in[right]", "right < n ? in[i]", {}),
    ("matrix_vector", "col < columns; ++col", "col < columns - 1; ++col", {}),
    ("matrix_vector", "half > 0", "half > 1", {"BY_BLOCK": 1}),
    ("batched", "b * K * N", "0", {}),
    ("scaled", "beta * C", "C", {}),
    ("scan", "j <= i", "j < i", {}),
    ("exclusive_scan", "j < i", "j <= i", {}),
    ("histogram", "in[i] == b", "in[i] > b", {}),
    ("convolution", "filter[(r + radius)", "filter[(radius - r)", {}),
    ("convolution_1d", "filter[r + radius]", "filter[radius - r]", {}),
    ("softmax", "/ sum", "* sum", {}),
    ("matrix_add", "+ B[i]", "- B[i]", {}),
    ("dot_product", "half = 4", "half = 2", {}),
    ("axpy", "a * x[i] + y[i]", "x[i] + y[i]", {}),
    ("scale", "a * in[i]", "in[i]", {}),
    ("scale_in_place", "*= a", "+= a", {}),
    ("relu", "fmaxf(in[i], 0.0f)", "in[i]", {}),
    ("transpose_in_place", "A[j * n + i] = t", "A[j * n + i] = u", {}),
]


@pytest.mark.parametrize(("name", "before", "after", "parameters"), BROKEN)
def test_a_broken_one_is_wrong(name: str, before: str, after: str, parameters: dict[str, int]) -> None:
    kernel = problem_kernel(name)
    assert before in kernel.text
    broken = structs.replace(kernel, text=kernel.text.replace(before, after), is_shipped=False)
    check = run_of(broken, **parameters).whole.check
    assert not check.passed
    assert str(check).startswith(f"{kernel.problem.output_names[0]} is wrong: ")


@pytest.mark.parametrize("name", sampled([*pattern_kernel_names(), "batched", "none", "histogram", *ELEMENTWISE], 9))
def test_every_view_is_drawn_or_says_why_not(name: str) -> None:
    setup = setup_for(problem_kernel(name))
    whole = Knowledge(Shot(setup, theme="dark"), FallbackEngine(StoredAnswers(), ENGINE))
    answered = {"traffic": {"BLOCK", "TILE_WIDTH"} & setup.parameters.keys(), "roof": setup.problem.flops is not None}
    for view in views():
        if subject_of_view(view).page == "benchmark" and name != "vector_add":
            continue  # of all kernels and sizes, whichever is shown
        known = whole.about(structs.replace(whole.shot, view=view))
        if view == "race" and name == "matrix_vector":
            known = Knowledge(structs.replace(known.shot, setup=setup.changed(rows=4, columns=4)), ENGINE)
        if view in ("pair", "pair_facts", "rounding"):
            continue
        if view in UNANSWERED and not answered.get(view):
            with pytest.raises(GemmvizError, match=UNANSWERED[view]):
                prepared(known)
            continue
        stage = prepared(known)
        svg = scene_svg(picture(known.shot, stage.subject(stage.step)), "named")
        assert ("This kernel solves another problem" in re.sub("<[^>]*>", " ", svg)) == (view in MULTIPLIES_ONLY), view


@pytest.mark.parametrize("name", sampled(PROBLEM_KERNELS, 8))
def test_nothing_overlaps_in_the_views_of_a_run(name: str) -> None:
    reader = reader_of_problem(name)
    wrong: dict[tuple[object, ...], list[str]] = {}
    for step in {0, reader.replay.steps // 2, reader.replay.steps - 1}:
        for view in views_of_a_run():
            if view_named(view).chart is None:
                wrong[view, step] = wrong_with(view_named(view).scene(reader.at(step), ViewOptions()))[:3]
        for width, height in FRAMES if step == reader.replay.steps // 2 else FRAMES[:1]:
            for code in (False, True):
                options = ViewOptions(width=width, height=height, code=code, moment=0.5)
                wrong["stage", step, width, height, code] = wrong_with(view_named("stage").scene(reader.at(step), options))[:3]
    assert {at: found for at, found in wrong.items() if found} == {}


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_is_drawn(layer: str, every: int) -> None:
    for name in [*PROBLEM_KERNELS][LAYERS.index(layer) % every :: every]:
        options = ViewOptions(layer=layer)  # type: ignore[arg-type]
        assert wrong_with(view_named("stage").scene(reader_of_problem(name).at(0), options)) == []


@pytest.mark.parametrize("width", [1600.0, 2400.0])
def test_the_stage_has_the_tile_between_input_and_output(width: float) -> None:
    scene = view_named("stage").scene(reader_of_problem("transpose_tiled").at(3), ViewOptions(width=width))
    source, tile, target = (piece(scene, key, Cells).box for key in ("in", "tile-tile", "out"))
    in_a_row = source[0] + source[2] < tile[0] and tile[0] + tile[2] < target[0]
    in_a_column = source[1] + source[3] < tile[1] and tile[1] + tile[3] < target[1]
    assert in_a_row != in_a_column
    assert len({piece(scene, key, Cells).size for key in ("in", "tile-tile", "out")}) == 1
    assert piece(scene, "in-name", Labels).texts == ("in  32 × 64",)


def test_a_vector_is_drawn_in_rows_and_named_with_one_index() -> None:
    reader = reader_of_problem("vector_add")
    cells = piece(view_named("stage").scene(reader.at(0), ViewOptions()), "A", Cells)
    assert cells.fill.shape == (8, 32)
    assert piece(view_named("stage").scene(reader.at(0), ViewOptions()), "A-axis-left", Labels).texts[:2] == ("0", "64")
    array = reader.replay.trace.arrays[0]
    assert (array.indices(33), array.place(33)) == ((33,), (1, 1))


def test_every_picture_of_an_unknown_problem_says_that_nothing_is_checked() -> None:
    now = reader_of_problem("none").at(0)
    progress = piece(view_named("stage").scene(now, ViewOptions()), "progress", Labels)
    assert "nothing is checked" in " ".join(progress.texts)
    assert "nothing is checked" not in str(
        view_named("stage").scene(reader_of_problem("scan").at(0), ViewOptions()).find("progress")
    )


@pytest.mark.parametrize("name", PROBLEM_KERNELS)
def test_a_trace_and_a_shot_come_back_from_their_files(name: str, tmp_path: Path) -> None:
    trace = run_of(problem_kernel(name)).whole
    write_trace(trace, tmp_path / "t.gvt")
    again = read_trace(tmp_path / "t.gvt")
    assert (again.setup, again.arrays, again.check) == (trace.setup, trace.arrays, trace.check)
    assert parse_shot(shot_text(Shot(trace.setup))) == Shot(trace.setup)


def test_sizes_are_set_by_flag_and_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "t.gvt")
    assert main(["trace", "transpose_tiled", "-D", "TILE=8", "--dim", "rows=9", "--dim", "columns=10", "-o", path]) == 0
    assert "out is right: 90 elements" in capsys.readouterr().out
    assert main(["trace", "transpose_tiled", "-m", "9", "-o", path]) == 2
    assert "this problem has no size M" in capsys.readouterr().err
    assert main(["trace", "transpose_tiled", "--dim", "rows", "-o", path]) == 2
    assert "write --dim NAME=NUMBER" in capsys.readouterr().err
    setup = setup_for(load_kernel("stencil_halo"))
    assert [field.name for field in fields_of(setup)][:3] == ["n", "radius", "BLOCK"]
    assert put(setup, "radius", 5).problem.sizes == {"n": 250, "radius": 5}
    assert launch_lines(setup, launch_for(setup))[0].startswith("Stencil: out[i] = ")
    with pytest.raises(SettingError):
        put(setup, "radius", 0)


def test_a_kernel_runs_no_problem_of_another_kind() -> None:
    assert list(legal_choices(load_kernel("04_tiled"), problem_kernel("scan").problem)) == []
    assert can_run(setup_for(load_kernel("transpose_naive")))


def test_no_view_of_a_multiplication_is_asked_for_the_sums_of_a_transposition() -> None:
    for name in OF_TESTS:
        assert reader_of_problem(name).at(0).terms is None or name == "scaled"
    with pytest.raises(UsageError, match="floating-point"):
        flops_of(load_kernel("transpose_naive").problem)
