"""Files from strangers: what they say is text, what they name is no path, and what is written takes nobody's place."""

import dataclasses
import os
import pty
import stat
import subprocess
import sys
from html import escape
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QAction, QHelpEvent, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QToolTip
from pytestqt.qtbot import QtBot

from gemmviz.analysis.replay.replay import Replay
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.files.resources import atomic_write, file_stem, gemmviz_command, write_text
from gemmviz.files.trace_file import write_trace
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.timeline import TimelineSlider
from gemmviz.gui.widgets.controls import tip_text
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.messages import GemmvizError, UsageError
from gemmviz.model.trace import Trace
from gemmviz.shots.runs import recorded_run
from gemmviz.teaching.lesson import Choice, Exercise, Lesson, LessonStep, Question
from tests.conftest import trace_of

EVIL = "<img src=x onerror=alert(1)><b>x"


def named(name: str, says: str = "", file: str = "", trace: Trace | None = None) -> Trace:
    trace = trace or trace_of("04_tiled", 4, 4, 4, TILE_WIDTH=2)
    own = trace.setup.kernel
    kernel = structs.replace(own, name=name, is_shipped=False, title=says, description=says, file=file or own.file)
    return dataclasses.replace(trace, setup=structs.replace(trace.setup, kernel=kernel))


# Code


def test_nothing_is_imported_from_the_folder_that_a_worker_is_started_in(tmp_path: Path) -> None:
    for name in ("tomllib", "numpy", "queue", "json", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')")
    (tmp_path / "gemmviz").mkdir()
    (tmp_path / "gemmviz" / "__init__.py").write_text("open('ran', 'w')")
    done = subprocess.run(
        gemmviz_command("worker"), input=b'{"id": 1, "do": "hello"}\n', capture_output=True, cwd=tmp_path, check=False
    )
    assert b'"id":1' in done.stdout
    assert not (tmp_path / "ran").exists()


# Paths


@pytest.mark.parametrize("name", ["/etc/passwd", "../../up", "a/b", "..", ".hidden", "x" * 1000, "tab\there", "", "CON:"])
def test_a_name_from_a_file_is_no_path(name: str) -> None:
    stem = file_stem(name)
    assert Path(stem).name == stem
    assert not stem.startswith(".")
    assert 0 < len(stem) <= 80


def test_rendering_a_trace_without_a_display_writes_into_its_folder_alone(tmp_path: Path) -> None:
    target = tmp_path / "outside" / "victim.gif"
    target.parent.mkdir()
    target.write_text("mine")
    short = trace_of("02_naive", 1, 1, 1, BLOCK=2)
    write_trace(named(str(target.with_suffix("")), trace=short), tmp_path / "t.gvt")
    (tmp_path / "work").mkdir()
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    command = [sys.executable, "-m", "gemmviz", str(tmp_path / "t.gvt")]
    done = subprocess.run(command, cwd=tmp_path / "work", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no display" in done.stdout
    assert target.read_text() == "mine"
    (film,) = (path for path in tmp_path.rglob("*.gif") if path != target)
    assert film.parent == tmp_path / "work" / "out"
    assert film.stat().st_size > 10000
    assert len(list(film.with_suffix("").glob("*.png"))) == short.steps


# Text


def test_what_looks_like_html_is_shown_as_it_is(qtbot: QtBot) -> None:
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    window.docks.favour("settings")
    window.session.show_recorded(recorded_run(named("evil", EVIL)), "evil")
    window.session.notices.complain("result", GemmvizError(EVIL))
    qtbot.wait(50)
    QApplication.processEvents()
    labels = [label for label in window.findChildren(QLabel) if "<img" in label.text()]
    assert labels  # the banner
    assert all(label.textFormat() == label.textFormat().PlainText for label in labels)
    assert "<img" not in tip_text(EVIL)
    assert tip_text("a < b") == "a < b"
    window.close()


def test_what_a_lesson_and_a_kernel_say_is_text_all_over_the_window(qtbot: QtBot) -> None:
    window = MainWindow(InMemoryStore(tour="seen"))
    qtbot.addWidget(window)
    for dock in window.docks.all.values():
        dock.show()
    window.show()
    window.session.show_recorded(recorded_run(named(EVIL, EVIL, EVIL)), EVIL)
    question = Question(EVIL, (Choice(EVIL, True, EVIL), Choice(EVIL, False, EVIL)))
    stop = LessonStep(window.session.shot, EVIL, EVIL, EVIL, EVIL)
    stops = (stop, structs.replace(stop, question=question), structs.replace(stop, exercise=Exercise(EVIL, (), (EVIL,))))
    lesson = Lesson(EVIL, stops, EVIL)
    window.model.course.begin(lesson)
    window.docks.favour("lessons")
    window.lecture.begin(with_notes=True)
    for place in range(len(lesson.steps)):
        window.model.course.go(place)
        window.model.course.pick(0)
        qtbot.wait(50)
        for top in QApplication.topLevelWidgets():
            assert not [label for label in top.findChildren(QLabel) if EVIL in label.text() and not _is_plain(label)]
    tips = [widget.toolTip() for widget in QApplication.allWidgets()]
    tips += [action.toolTip() for action in window.findChildren(QAction)]
    for box in window.findChildren(QComboBox):
        tips += [str(box.itemData(row, Qt.ItemDataRole.ToolTipRole)) for row in range(box.count())]
    assert any(escape(EVIL) in tip for tip in tips)
    assert not [tip for tip in tips if EVIL in tip and Qt.mightBeRichText(tip)]  # type: ignore[attr-defined]
    window.lecture.end()  # then the panels behind it show the step
    assert sum(EVIL in label.text() for label in window.findChildren(QLabel)) >= 4
    assert not [label for label in window.findChildren(QLabel) if EVIL in label.text() and not _is_plain(label)]
    window.close()


def test_the_tip_of_the_score_is_text(qtbot: QtBot) -> None:
    trace = named("mild")
    slider = TimelineSlider()
    qtbot.addWidget(slider)
    arrays = tuple(structs.replace(array, name=EVIL) if array.name == "C" else array for array in trace.arrays)
    slider.show_run(Replay.of(dataclasses.replace(trace, arrays=arrays)), slider.theme)
    slider.setRange(0, trace.steps - 1)
    slider.show()
    end = QPoint(slider.width() - 6, 20)
    QApplication.sendEvent(slider, QHelpEvent(QEvent.Type.ToolTip, end, slider.mapToGlobal(end)))
    assert escape(EVIL) in QToolTip.text()


def _is_plain(label: QLabel) -> bool:
    return bool(label.textFormat() == Qt.TextFormat.PlainText)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="terminals of Linux")
def test_escape_sequences_do_not_reach_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trace(named("x\x1b]0;owned\x07"), tmp_path / "t.gvt")
    command = [sys.executable, "-m", "gemmviz", "info", str(tmp_path / "t.gvt")]
    outer, inner = pty.openpty()
    subprocess.run(command, stdout=inner, stderr=inner, check=True)
    os.close(inner)
    printed = os.read(outer, 65536)
    os.close(outer)
    assert b"\x1b" not in printed
    assert b"x\\x1b]0;owned\\x07" in printed
    assert main(command[-2:]) == 0
    assert "\x1b]0;owned" in capsys.readouterr().out  # what is no terminal gets what there is


# Writing


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_the_mode_of_a_file_stays(tmp_path: Path, mode: int) -> None:
    path, other = tmp_path / "secret.txt", tmp_path / "other.txt"
    path.write_text("old")
    path.chmod(mode)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    write_text(other, "new")
    (tmp_path / "plain.txt").write_text("new")
    assert other.stat().st_mode == (tmp_path / "plain.txt").stat().st_mode


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.txt")
    for path, why in (
        (tmp_path / "fifo.txt", "not a regular file"),
        (tmp_path, "a folder"),
        (Path("/dev/null"), "not a regular file"),
    ):
        with pytest.raises(GemmvizError, match=why):
            write_text(path, "new")
    assert stat.S_ISFIFO((tmp_path / "fifo.txt").stat().st_mode)
    with pytest.raises(GemmvizError, match="not the name of a file"):
        write_text(Path(""), "new")


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    ).stdout
    left, living = tmp_path / f".a.part-{dead.strip()}-xyz.txt", tmp_path / f".a.part-{os.getppid()}-xyz.txt"
    for each in (left, living):
        each.write_text("half")
    write_text(tmp_path / "a.txt", "whole")
    assert not left.exists()
    assert living.exists()  # somebody may still be writing it


def test_names_as_long_as_the_system_allows_no_more_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(GemmvizError, match="can't write"):
        write_text(tmp_path / ("x" * 300 + ".txt"), "new")


# Reading


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
@pytest.mark.parametrize("suffix", [".cu", ".gvt", ".toml", ".json"])
def test_what_is_no_plain_file_is_not_opened(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / f"fifo{suffix}")
    assert main(["export", str(tmp_path / f"fifo{suffix}"), "-o", str(tmp_path / "x.svg")]) in (1, 2)
    assert "not a regular file" in capsys.readouterr().err
    (tmp_path / f"folder{suffix}").mkdir()
    assert main(["export", str(tmp_path / f"folder{suffix}"), "-o", str(tmp_path / "x.svg")]) in (1, 2)
    assert "this is a folder" in capsys.readouterr().err


def test_a_text_beyond_all_bounds_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large.cu").open("wb") as file:
        file.truncate(1 << 30)  # takes no disk
    with pytest.raises(GemmvizError, match=r"1,073,741,824 bytes; at most 2,097,152 are read"):
        load_kernel(str(tmp_path / "large.cu"))


def test_what_can_not_be_saved_says_so_itself(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^no such thing$"), atomic_write(tmp_path / "a.txt"):
        raise UsageError("no such thing")
    assert list(tmp_path.iterdir()) == []
