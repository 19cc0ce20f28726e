"""gemmviz as a library."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

import gemmviz
from gemmviz.analysis.counts import LaunchCounter, totals
from gemmviz.analysis.replay.focus import Position
from gemmviz.cli.main import commands, main
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.model.messages import SettingError
from gemmviz.render.export import formats
from gemmviz.run.cpu.executor import stream_launch
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.primitives import Labels
from gemmviz.scenes.kit.theme import load_theme
from tests.conftest import DATA, kernel_from, piece, trace_of

pytestmark = pytest.mark.usefixtures("without_fonts")
WITHOUT_QT = """
import sys
for name in ("PySide6", "shiboken6", "pyqtgraph", "pytestqt", "cupy"):
    sys.modules[name] = None  # as if it weren't installed
import gemmviz
from gemmviz.cli.main import commands, main
from gemmviz.render.export import formats
from gemmviz.scenes.catalog import views
from gemmviz.session.session import Session
run = gemmviz.trace("tiled", M=8, N=8, K=8, TILE_WIDTH=4)
assert run.scene(step=3)._repr_svg_().startswith("<svg")
assert "<svg" in run._repr_html_()
gemmviz.save(run, sys.argv[1] + "/run.gvt")
gemmviz.save(run.scene(view="memory"), sys.argv[1] + "/frame.svg")
assert gemmviz.load(sys.argv[1] + "/run.gvt").steps == run.steps
assert gemmviz.count("naive", M=64, N=64, K=64).totals["global_load_requests"]
assert main(["export", sys.argv[1] + "/run.gvt", "-o", sys.argv[1] + "/picture.svg"]) == 0
print(len(gemmviz.kernels()), len(views()), len(formats()), len(commands()))
"""


def test_it_works_where_neither_qt_nor_cupy_is_installed(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_QT, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [*map(int, done.stdout.split())] == [len(kernel_names()), len(views()), len(formats()), len(commands())]
    for name in ("frame.svg", "picture.svg"):
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("<svg")


def test_a_run_is_what_the_engine_records() -> None:
    run = gemmviz.trace("04_tiled", M=8, N=8, K=8, TILE_WIDTH=4, on="cpu")
    assert (run.trace.element == trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4).element).all()
    assert repr(run).startswith("<Run 04_tiled, 8 x 8 x 8, ")
    assert "C is right" in repr(run)
    assert run.hazards == []
    assert run.fault is None


def test_counts_are_those_of_the_whole_launch() -> None:
    found = gemmviz.count("08_register_tiled", M=64, N=64, K=64, TILE_WIDTH=32)
    counter = LaunchCounter(device_for(found.setup).rules)
    stream_launch(found.setup, counter)
    assert found.totals == totals(counter.counts)
    assert (
        sum(each["requests"] for each in found.accesses if each["space"] == "global" and each["access"] == "read")
        == (found.totals["global_load_requests"])
    )
    assert f"{found.totals['global_load_sectors']:,}" in found._repr_html_()


@pytest.mark.parametrize("options", [{}, {"step": 5}, {"phase": 2, "warp": 0}, {"view": "warp"}, {"everyone": True}])
def test_pictures_of_a_run(options: dict[str, int]) -> None:
    run = gemmviz.trace("tiled", on="cpu")
    assert gemmviz.scene(run, **options).svg == run.scene(**options).svg  # type: ignore[arg-type]
    assert run.scene(step=1).svg != run.scene(step=5).svg


def test_whatever_is_saved_can_be_loaded(tmp_path: Path) -> None:
    run = gemmviz.trace("naive", M=4, N=4, K=4, on="cpu")
    gemmviz.save(run, tmp_path / "run.gvt")
    loaded = gemmviz.load(tmp_path / "run.gvt")
    assert isinstance(loaded, gemmviz.Run)
    assert gemmviz.scene(tmp_path / "run.gvt", step=2).svg == run.scene(step=2).svg
    kernel = gemmviz.load("naive")
    assert isinstance(kernel, gemmviz.Kernel)
    gemmviz.save(kernel, tmp_path / "mine.cu")
    assert gemmviz.trace(tmp_path / "mine.cu", M=4, N=4, K=4, on="cpu").steps == run.steps
    measured = gemmviz.load(DATA.parent.parent / "assets" / "measurements" / "benchmark-nvidia-h200.json")
    assert isinstance(measured, gemmviz.Measurements)
    gemmviz.save(measured, tmp_path / "b.json")
    again = gemmviz.load(tmp_path / "b.json")
    assert isinstance(again, gemmviz.Measurements)
    assert again.benchmark == measured.benchmark
    assert "<svg" in measured._repr_html_()


def test_a_saved_view_is_drawn_as_it_was_saved(tmp_path: Path) -> None:
    for view in ("warp", "rate"):
        shot = structs.replace(gemmviz.Shot(setup_for(load_kernel("tiled"))), view=view, at=Position(4), theme="light")
        gemmviz.save(shot, tmp_path / "view.toml")
        assert main(["export", str(tmp_path / "view.toml"), "-o", str(tmp_path / "view.svg")]) == 0
        assert gemmviz.scene(tmp_path / "view.toml").svg == (tmp_path / "view.svg").read_text(encoding="utf-8")


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    run = gemmviz.trace("tiled", M=np.int64(4), N=4, K=4, TILE_WIDTH=np.int32(2), on="cpu")
    gemmviz.save(run, tmp_path / "run.gvt")
    assert run in [run]
    assert gemmviz.trace("tiled", M=4, N=4, K=4, parameters={"TILE_WIDTH": 2}, on="cpu").steps == run.steps


def test_a_kernel_shows_its_text() -> None:
    kernel = gemmviz.load("tiled")
    assert isinstance(kernel, gemmviz.Kernel)
    assert repr(kernel) == "<Kernel 04_tiled TILE_WIDTH=4>"
    assert "__shared__ float" in kernel._repr_html_()
    assert "&lt;" in kernel._repr_html_()  # text is text


def test_a_lesson_is_loaded_by_name_and_saved(tmp_path: Path) -> None:
    lesson = gemmviz.load("slides")
    assert isinstance(lesson, gemmviz.Lesson)
    assert set(gemmviz.lessons()) > {"course", "slides"}
    gemmviz.save(lesson, tmp_path / "slides.toml")
    assert gemmviz.load(tmp_path / "slides.toml") == lesson
    gemmviz.save(lesson, tmp_path / "page.html")
    assert lesson.title in (tmp_path / "page.html").read_text(encoding="utf-8")
    with pytest.raises(gemmviz.GemmvizError, match="a lesson has many pictures"):
        gemmviz.scene("slides")
    with pytest.raises(gemmviz.GemmvizError, match="'slides' is a lesson, not a kernel"):
        gemmviz.trace("slides")


def test_an_access_is_placed_in_the_source() -> None:
    kernel = gemmviz.Kernel(kernel_from("C[threadIdx.x] = A[threadIdx.x] + B[0];"))
    lines = kernel.spec.text.splitlines()
    accesses = gemmviz.count(kernel).accesses
    assert len(accesses) == 3
    for access in accesses:
        assert lines[access["line"] - 1][access["column"] - 1 :].startswith(access["text"])


def test_a_size_that_a_rule_ties_to_another_one_is_given_once() -> None:
    rule = '// [[require]]\n// that = "M == N"\n// else = "A square result."'
    square = gemmviz.Kernel(kernel_from("C[threadIdx.x] = 1.0f;", parameters=rule))
    assert gemmviz.trace(square, on="cpu", M=2).setup.problem.sizes == {"M": 2, "N": 2, "K": square.spec.problem.sizes["K"]}


def test_values_are_recorded_if_asked_for() -> None:
    assert gemmviz.trace("04_tiled", on="cpu").trace.value is None
    assert gemmviz.trace("04_tiled", on="cpu", values=True).trace.value is not None


def test_a_fault_gives_the_run_up_to_there() -> None:
    body = "float first = B[0];\nC[threadIdx.x] = A[1000 * threadIdx.x] + first;"
    run = gemmviz.trace(gemmviz.Kernel(kernel_from(body)), on="cpu")
    assert run.fault is not None
    assert "A[" in str(run.fault)
    assert run.steps > 1
    assert run.scene().svg == run.scene(step=run.steps).svg != run.scene(step=1).svg


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gemmviz.trace("tield"), "there is no kernel 'tield'"),
        (lambda: gemmviz.trace("tiled", Q=3), "04_tiled has no Q (it has M, N, K, TILE_WIDTH)"),
        (lambda: gemmviz.trace("tiled", on="cpu").scene(step=0), "counted from 1"),
        (lambda: gemmviz.trace("tiled", on="cpu").scene(phase=99), "there is no phase 99"),
        (lambda: gemmviz.trace("tiled", on="cpu").scene(phase=2, step=3), "leave one of them out"),
        (lambda: gemmviz.trace("tiled", on="cpu", phases="2").scene(phase=1), "the trace contains phases 2 to 2"),
        (lambda: gemmviz.trace("tiled", on="cpu").scene(block=(9, 9)), "block 9,9 is not in the trace"),
        (lambda: gemmviz.trace("tiled", on="cpu").scene(warp=99), "warp 99 is not in the trace"),
        (lambda: gemmviz.trace("tiled", on="cpu").scene(thread=-1), "thread -1 is not in the trace"),
        (lambda: gemmviz.trace("tiled", on="cpu").scene(view="rate"), "choose stage, code_and_tiles, sum"),
        (lambda: gemmviz.scene("tiled", on="cpu", stpe=3), "there is no option stpe"),
        (lambda: gemmviz.scene(gemmviz.Shot(setup_for(load_kernel("tiled"))), step=3), "takes no options"),
        (lambda: gemmviz.trace("tiled", on="bogus"), "choose auto, gpu, cpu"),  # type: ignore[arg-type]
        (lambda: gemmviz.trace("tiled", M=8.0), "M is 8.0, not a whole number"),  # type: ignore[arg-type]
        (lambda: gemmviz.save(gemmviz.count("tiled"), "c.json"), "Count can't be saved"),  # type: ignore[arg-type]
        (lambda: gemmviz.save(gemmviz.trace("tiled", on="cpu"), "run.svg"), "saved as .gvt, not as .svg"),
        (lambda: gemmviz.load("no.gvt"), "no.gvt"),
    ],
)  # fmt: skip
def test_errors_say_what_and_what_to_do(call: object, words: str) -> None:
    with pytest.raises(gemmviz.GemmvizError) as caught:
        call()  # type: ignore[operator]
    assert words in str(caught.value)


def test_settings_that_can_not_run_say_which_limit_they_break() -> None:
    with pytest.raises(SettingError) as caught:
        gemmviz.count("tiled", TILE_WIDTH=64)
    assert caught.value.nearest == {"TILE_WIDTH": 32}


def test_names_are_those_of_the_library() -> None:
    assert all(getattr(gemmviz, name) is not None for name in gemmviz.__all__)
    with pytest.raises(AttributeError, match="no attribute 'tracer'"):
        _ = gemmviz.tracer  # type: ignore[attr-defined]


def test_the_readers_know_kernels_of_their_own() -> None:
    assert gemmviz.load("04_tiled") == gemmviz.Kernel(load_kernel("04_tiled"))


def test_a_figure_opens_at_its_step_and_a_page_in_its_theme() -> None:
    options: dict[str, Any] = {"M": 2, "N": 2, "K": 2, "BLOCK": 2}
    figure = gemmviz.figure("02_naive", step=3, follow="left", **options)
    assert figure.options.follow == "left"
    (still,) = figure.reel.slides()
    assert "step 3 of" in " ".join(piece(still.scene, "progress", Labels).texts)
    dark, light = (gemmviz.show("02_naive", theme=theme, **options).html for theme in ("dark", "light"))
    assert f"background: {load_theme('dark').background}" in dark
    assert f"background: {load_theme('light').background}" in light
