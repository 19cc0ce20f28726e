"""What is worked out, read and written beside the window, and comes to the same as if it were not."""

import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gemmviz.session.session as launching
from gemmviz.analysis.replay.grid import Grid
from gemmviz.analysis.replay.moment import Reader
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.files.trace_file import write_trace
from gemmviz.model.messages import GemmvizError, SettingError
from gemmviz.scenes.kit.primitives import Cells, Hit
from gemmviz.scenes.stage.hover import hover_lines
from gemmviz.scenes.views.stage_view import stage_scene
from gemmviz.session.app_model import PointerTool
from gemmviz.shots.jobs import SaveQueue
from gemmviz.shots.picture import options_for
from tests.app_model import TestModel
from tests.conftest import kernel_from, sure, trace_of


def drawn_layer(model: TestModel) -> str:
    return model.session.display.drawn.layer


def test_after_a_jump_loads_are_counted_beside_the_window(model: TestModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.shots.completion._MOST_COUNTED_AT_ONCE", 20)
    session = model.session
    model.commands.show_layer("reuse")
    model.know()
    session.navigation.go_to_step(session.navigation.run_steps - 1)
    assert drawn_layer(model) == "matrix"  # no number is shown that isn't known
    assert session.shot.layer == "reuse"
    model.know()
    assert drawn_layer(model) == "reuse"
    grid = Grid(sure(session.now).trace.arrays[0])
    fresh = Reader(sure(session.completion.reading.reader).replay, session.shot.focus).at(session.navigation.run_steps - 1)
    assert np.array_equal(sure(session.now).loads(0, grid), fresh.loads(0, grid))
    assert sure(session.now).loads(0, grid).any()


def test_what_is_said_of_a_cell_is_looked_up_beside_the_window(model: TestModel) -> None:
    session = model.session
    pointer = PointerTool(session, model.inbox.post)
    said: list[list[str]] = []
    pointer.lines_changed.connect(said.append)
    now = sure(session.now)
    cells = stage_scene(now, options_for(session.shot, session.display.theme)).find("A")
    assert isinstance(cells, Cells)
    hit = Hit(cells, 1, 2)
    pointer.at(hit)
    assert said == []
    model.inbox.until(lambda: bool(said))
    assert said == [hover_lines(now, hit)]
    pointer.at(hit)
    session.navigation.go_to_step(5)  # the moment is over before its answer comes
    pointer.at(None)
    assert said[-1] == []
    pointer.worker.close()


def test_what_is_saved_is_whole_also_when_all_ends(tmp_path: Path) -> None:
    posted: queue.Queue[Callable[[], None]] = queue.Queue()
    saving, told, may_go_on = SaveQueue(posted.put), [], threading.Event()

    def slowly(path: Path) -> None:
        may_go_on.wait(10)
        write_trace(trace_of("04_tiled", 4, 4, 4, TILE_WIDTH=2), path)

    def badly(path: Path) -> None:
        raise GemmvizError("no room", file=str(path))

    saving.start(tmp_path / "a.gvt", slowly, lambda path: told.append(path.name), lambda error: told.append(str(error)))
    saving.start(tmp_path / "b", badly, lambda path: told.append(path.name), lambda error: told.append(error.message))
    assert not saving.close(0.05)
    may_go_on.set()
    assert saving.close(10)
    posted.get(timeout=5)()
    posted.get(timeout=5)()
    assert told == ["a.gvt", "no room"]
    assert (tmp_path / "a.gvt").stat().st_size > 1000


def test_a_file_is_opened_beside_the_window(model: TestModel, tmp_path: Path) -> None:
    write_trace(trace_of("02_naive", 8, 8, 8, BLOCK=4), tmp_path / "t.gvt")
    model.opening.open(tmp_path / "t.gvt")
    assert model.opening.is_busy
    assert sure(model.session.shown).setup.kernel.name == "04_tiled"
    model.opening.choose_kernel("03_coalesced")  # something else is wanted by now
    model.settle()
    time.sleep(0.2)
    model.know()
    assert sure(model.session.shown).setup.kernel.name == "03_coalesced"


def test_what_would_work_is_looked_for_beside_the_window(
    model: TestModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "_SOON_S", 0.0)
    model.commands.change("TILE_WIDTH", 7)
    error = model.session.error
    assert isinstance(error, SettingError)
    assert error.nearest == {}
    model.settle()
    error = model.session.error
    assert isinstance(error, SettingError)
    assert error.nearest == {"TILE_WIDTH": 8}


def test_variables_beyond_number_are_said_not_to_be_followed(
    model: TestModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemmviz.run.cpu.interpreter._MOST_VALUES", 2)
    (tmp_path / "mine.cu").write_text(kernel_from("float s = A[0] * B[0];\nC[threadIdx.x] = s;").text)
    model.open(tmp_path / "mine.cu")
    model.know()
    assert model.session.completion.watched is None
    assert "too many to be followed" in model.session.completion.unwatched


def test_a_run_that_ended_early_has_variables(model: TestModel, tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(kernel_from("int n = 40 * threadIdx.x;\nC[n] = 1.0f;").text)
    model.open(tmp_path / "mine.cu")
    model.know()
    now = sure(model.session.now)
    assert now.trace.stop is not None
    assert sure(model.session.completion.watched).at(now.step, now.site) == [("n", 0)]
    assert not model.session.completion.unwatched


def test_what_was_set_while_a_file_was_read_stays(model: TestModel, tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(load_kernel("04_tiled").text)
    model.opening.open(tmp_path / "mine.cu")
    model.commands.change("M", 12)
    model.settle()
    assert sure(model.session.shown).setup.kernel.name == "mine"
    assert sure(model.session.shown).setup.problem.M == 12


def test_a_file_that_is_gone_is_a_notice(model: TestModel) -> None:
    model.opening.choose_kernel("/nowhere/mine.cuh")
    model.settle()
    assert any("mine.cuh: there is no such file" in notice.text for notice in model.session.notices.all)


def test_variables_that_can_not_be_had_keep_nothing_else_from_being_found(
    model: TestModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **named: object) -> object:
        raise GemmvizError("no such luck")

    monkeypatch.setattr("gemmviz.run.cpu.interpreter.watch_thread", fail)
    model.commands.change("K", 12)
    model.know()
    assert model.session.completion.unwatched == "no such luck"
    assert sure(model.session.shown).counts is not None
