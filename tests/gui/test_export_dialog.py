"""The dialog writes what the command line writes, beside the window."""

import sys
from pathlib import Path

import pytest
from PIL import Image
from pptx import Presentation
from pytestqt.qtbot import QtBot

from gemmviz.files.extras import MODULES, pip_command
from gemmviz.gui.export_dialog import ExportDialog
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.render.export import formats
from gemmviz.scenes.kit.primitives import Labels
from gemmviz.session.export_job import order_words
from tests.conftest import sure
from tests.gui.conftest import write_here


@pytest.fixture
def window(window: MainWindow) -> MainWindow:
    """Somewhere in the run."""
    window.session.navigation.go_to_step(3)
    return window


@pytest.fixture
def dialog(window: MainWindow, qtbot: QtBot) -> ExportDialog:
    made = ExportDialog(window.model, window, "png")
    qtbot.addWidget(made)
    return made


def choose(dialog: ExportDialog, suffix: str, what: str = "picture") -> None:
    dialog.kind.setCurrentIndex(dialog.kind.findData(suffix))
    dialog.what.setCurrentIndex(dialog.what.findData(what))


def written(dialog: ExportDialog, path: Path, qtbot: QtBot) -> str:
    dialog.write(dialog.job, path)
    qtbot.waitUntil(lambda: dialog.process is None, timeout=60_000)
    return dialog.status.text()


@pytest.mark.nightly
@pytest.mark.parametrize("suffix", ["png", "pptx", "gif", "svg", "pdf", "html"])
def test_it_writes_every_kind(dialog: ExportDialog, tmp_path: Path, qtbot: QtBot, suffix: str) -> None:
    choose(dialog, suffix)
    path = tmp_path / f"f.{suffix}"
    assert written(dialog, path, qtbot) == f"Saved {path}"
    assert path.stat().st_size > 5000
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_steps_go_into_a_folder(dialog: ExportDialog, tmp_path: Path, qtbot: QtBot) -> None:
    choose(dialog, "png", "steps")
    dialog.first.setValue(2)
    dialog.last.setValue(4)
    dialog.pixels.setCurrentIndex(dialog.pixels.count() - 1)
    dialog.own_size.setText("800 × 600")
    assert dialog.job.is_many
    assert written(dialog, tmp_path / "steps", qtbot) == f"Saved {tmp_path / 'steps'}"
    pictures = sorted((tmp_path / "steps").iterdir())
    assert len(pictures) == 3
    with Image.open(pictures[0]) as image:
        assert image.size == (800, 600)


def test_what_is_called_off_leaves_nothing(dialog: ExportDialog, tmp_path: Path, qtbot: QtBot) -> None:
    choose(dialog, "mp4", "steps")
    dialog.write(dialog.job, tmp_path / "f.mp4")
    qtbot.waitUntil(lambda: dialog.bar.value() > 0, timeout=60_000)
    assert "left" in dialog.status.text()
    dialog.reject()
    qtbot.waitUntil(lambda: dialog.process is None, timeout=10_000)
    assert list(tmp_path.iterdir()) == []
    assert dialog.status.text() == "Cancelled. No file was written"
    assert dialog.stop.isEnabled()


def test_a_file_that_is_not_written_is_not_called_saved(
    dialog: ExportDialog, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(dialog, "png")
    path = tmp_path / "f.png"
    path.write_bytes(b"old")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # of the program that writes: its disk is full
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib\n\ndef full(*args):\n    raise OSError(28, 'No space left on device')\n\npathlib.Path.write_bytes = full\n"
    )
    assert "No space left on device" in written(dialog, path, qtbot)
    assert path.read_bytes() == b"old"


def test_the_preview_shows_the_choice(dialog: ExportDialog) -> None:
    dialog.theme.setCurrentIndex(dialog.theme.findData("print"))
    dialog.parts["step"].setChecked(False)
    words = order_words(dialog.job, Path("v.toml"), Path("f.png"), dialog.session.shot, "cpu")
    assert [word for word in words if word.startswith("--no-")] == ["--no-step", "--no-code"]
    scene = sure(dialog.preview.scene)
    assert scene.background == "#FFFFFF"
    assert scene.find("progress") is None
    assert isinstance(scene.find("title"), Labels)


def test_only_what_means_something_is_offered(dialog: ExportDialog) -> None:
    dialog.show()
    for suffix, has_film in (("mp4", True), ("svg", False)):
        choose(dialog, suffix, "steps")
        assert dialog.film_row.isVisible() == has_film
        assert dialog.outlines.isVisible() == (suffix == "svg")
        assert dialog.clear.isVisible() == formats()[suffix].can_be_clear
    dialog.pixels.setCurrentIndex(dialog.pixels.count() - 1)
    dialog.own_size.setText("large")
    assert not dialog.save.isEnabled()
    assert "not a size" in dialog.status.text()


def test_a_page_can_be_a_figure(window: MainWindow, dialog: ExportDialog, tmp_path: Path) -> None:
    dialog.show()
    assert not dialog.figure.isVisible()
    choose(dialog, "html", "steps")
    dialog.first.setValue(4)
    dialog.last.setValue(5)
    assert dialog.figure.isVisible()
    assert not dialog.figure.author.isEnabled()
    dialog.figure.is_figure.setChecked(True)
    dialog.figure.author.setText("Ada & Co")
    dialog.figure.licence.setCurrentText("")
    dialog.figure.link.setText("javascript:x")
    assert not dialog.save.isEnabled()
    assert "can't be linked to" in dialog.status.text()
    dialog.figure.link.setText("https://example.org/a")
    dialog.figure.is_split.setChecked(True)
    write_here(dialog, tmp_path / "tiles.html")
    text = (tmp_path / "tiles.html").read_text(encoding="utf-8")
    assert 'data-name="tiles" data-theme="auto"' in text
    assert "<small>Ada &amp; Co · Cite as" in text
    assert "QR code of https://example.org/a" in text
    assert "step 4 of 29" in text
    assert len(list(tmp_path.iterdir())) == 2  # and the script
    dialog.figure.keep()
    assert ExportDialog(window.model, window, "html").figure.author.text() == "Ada & Co"


def test_the_views_that_were_kept(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window.model.saved_views.keep("one")
    window.model.saved_views.keep("two")
    dialog = ExportDialog(window.model, window, "pptx")
    qtbot.addWidget(dialog)
    choose(dialog, "pptx", "lesson")
    write_here(dialog, tmp_path / "l.pptx")
    assert len(Presentation(str(tmp_path / "l.pptx")).slides) == 2


def test_marks_on_the_timeline_are_what_is_exported(window: MainWindow, qtbot: QtBot) -> None:
    window.menus.all["mark-first"].trigger()
    window.session.navigation.go_to_step(8)
    window.menus.all["mark-last"].trigger()
    assert window.session.player.marked == range(3, 9)
    dialog = ExportDialog(window.model, window, "gif")
    qtbot.addWidget(dialog)
    assert (dialog.job.what, dialog.job.first, dialog.job.last) == ("steps", 4, 9)
    slider = window.replay.timeline.slider
    at = slider.grab().toImage()
    window.session.player.mark(first=False)
    assert slider.grab().toImage() != at


@pytest.mark.parametrize(("suffix", "extra"), [("mp4", "film"), ("pptx", "slides")])
def test_a_format_that_is_not_installed_says_what_it_needs(
    dialog: ExportDialog, suffix: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog.show()
    for module in MODULES[extra]:
        monkeypatch.setitem(sys.modules, module, None)
    choose(dialog, suffix)
    assert f'pip install "gemmviz[{extra}]"' in dialog.status.text()
    assert not dialog.save.isEnabled()
    assert dialog.install.isVisible() == bool(pip_command([extra]))
    choose(dialog, "png")
    assert dialog.save.isEnabled()
    assert not dialog.install.isVisible()


def test_this_picture_is_one_slide(dialog: ExportDialog, tmp_path: Path) -> None:
    dialog.session.navigation.go_to_step(4)
    choose(dialog, "pptx")
    write_here(dialog, tmp_path / "f.pptx")
    (slide,) = Presentation(str(tmp_path / "f.pptx")).slides
    assert "step 5 of 29" in slide.notes_slide.notes_text_frame.text


def test_a_film_of_this_picture_has_all_steps_and_says_so(dialog: ExportDialog) -> None:
    steps = dialog.session.navigation.run_steps
    assert dialog.what.currentText() == "This picture"
    choose(dialog, "mp4")
    assert dialog.what.currentText() == "All steps"
    assert (dialog.job.first, dialog.job.last) == (1, steps)
    assert dialog.status.text().startswith(f"{round(steps * 30 / dialog.speed.value())} frames")
    choose(dialog, "png")
    assert dialog.what.currentText() == "This picture"


def test_after_an_installation_return_does_not_close_the_dialog(dialog: ExportDialog, qtbot: QtBot) -> None:
    dialog.show()
    qtbot.waitExposed(dialog)
    choose(dialog, "pdf")
    dialog.stop.setFocus()
    dialog.installer.finished.emit("")
    assert dialog.focusWidget() is dialog.save


def test_the_preview_of_a_launch_is_at_its_own_instant(window: MainWindow, qtbot: QtBot) -> None:
    session = window.session
    session.navigation.go_to_step(20)
    window.model.commands.show_view("grid")
    qtbot.waitUntil(lambda: session.display.subject is not None)
    session.navigation.go_to_instant(0.1)
    dialog = ExportDialog(window.model, window, "png")
    qtbot.addWidget(dialog)
    assert dialog.preview.scene is not None
    assert (dialog.job.first, dialog.job.last) == (6, 6)


def test_the_replay_comes_to_rest_first(window: MainWindow, qtbot: QtBot) -> None:
    """No copy is caught in mid-air."""
    session = window.session
    session.navigation.go_to_step(3, 0.4)
    session.player.play(True)
    dialog = ExportDialog(window.model, window, "png")
    qtbot.addWidget(dialog)
    assert not session.player.is_playing
    assert (session.navigation.step, session.shot.moment) == (3, 1.0)
    assert sure(dialog.preview.scene).find("flights-0") is None


def test_a_template_a_title_and_a_part(dialog: ExportDialog, tmp_path: Path) -> None:
    """A template sets fields that can be changed afterwards; the file is what the preview shows."""
    dialog.template.setCurrentIndex(dialog.template.findData("print"))
    assert (dialog.theme.currentData(), dialog.own_size.text()) == ("print", "2400x1800")
    assert {part for part, box in dialog.parts.items() if not box.isChecked()} == {"timeline"}
    dialog.title.setText("- my title")
    assert isinstance(sure(dialog.preview.scene).find("title"), Labels)
    assert sure(dialog.preview.scene).find("title").texts == ("- my title",)  # type: ignore[union-attr]
    dialog.only.setCurrentIndex(dialog.only.findData("matrices"))
    assert not dialog.parts["step"].isEnabled()
    words = order_words(dialog.job, Path("v.toml"), Path("f.png"), dialog.session.shot, "cpu")
    assert {"--title=- my title", "--only=matrices", "--no-timeline", "print"} <= {*words}
    write_here(dialog, tmp_path / "f.png")
    assert [each.name for each in tmp_path.iterdir()] == ["f.png"]
    with Image.open(tmp_path / "f.png") as image:
        assert image.size == (2400, 1800)
        assert image.text["Title"] == "- my title"  # type: ignore[attr-defined]
