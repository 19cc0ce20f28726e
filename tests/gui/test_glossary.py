"""Words of the glossary are explained where they stand."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gemmviz.files.languages import GlossaryEntry, catalogue, glossary, original_glossary, term_at
from gemmviz.gui.widgets.scene_widget import GlossaryBox, SceneWidget
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.messages import spoken
from gemmviz.scenes.kit.primitives import Labels, text_width
from tests.conftest import sure
from tests.gui.conftest import metrics_of
from tests.gui.shared_window import settled


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("1 request moves 4 sectors of 32 bytes", "request"), ("sectors", "sector, line"), ("Wavefronts", "bank, wavefront"),
        ("bank 3", "bank, wavefront"), ("Occupancy of 04_tiled", "occupancy"), ("it is memory-bound", "memory-bound"),
        ("arithmetic intensity", "arithmetic intensity"), ("by Little's law", "Little's law"), ("4 needed", "needed, lost"),
        *((word, word) for word in ("thread", "global memory", "shared memory", "register", "barrier", "tile", "phase")),
        *((word, title) for title in ("block, grid", "warp, lane", "kernel, launch") for word in title.split(", ")),
    ],
)  # fmt: skip
def test_words_that_pictures_use_are_in_the_glossary(text: str, title: str) -> None:
    found = [term.entry.title for index in range(len(text)) if (term := term_at(text, index))]
    assert title in found
    assert term_at("a banker requested it", 4) is None


def test_every_entry_is_plain_text() -> None:
    assert len(glossary()) >= 28
    for entry in glossary():
        assert entry.text.strip()
        assert not set("*`[]|") & set(entry.text.replace("A[i, k]", "").replace("B[k, j]", "").replace("C[i, j]", "")), entry


def test_every_entry_has_a_translation_whose_words_are_found_within_a_sentence() -> None:
    with spoken("zh_CN", catalogue("zh_CN")):
        for ours, theirs in zip(original_glossary(), glossary(), strict=True):
            assert theirs.title != ours.title
            assert theirs.text != ours.text
        found = [term_at("每个线程束的请求传输 4 个扇区", index) for index in (2, 7, 14)]
        assert [term and term.entry.title for term in found] == ["线程束、通道", "请求", "扇区、缓存行"]
        assert term_at("同步", 1) is None


def words_in(widget: SceneWidget) -> Iterator[tuple[QPointF, GlossaryEntry]]:
    """The middles of the words of a picture that the glossary has, outside of cells."""
    scene = sure(widget.scene)
    view, whole = widget._views(scene)
    for drawn, seen in ((scene.words, whole), (scene.primitives, view), (scene.above, view)):
        for each in (label for label in drawn if isinstance(label, Labels)):
            for (x, y), text in zip(each.at.tolist(), each.texts, strict=True):
                term = next(filter(None, (term_at(text, index) for index in range(len(text)))), None)
                if term is None:
                    continue
                left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[each.anchor] * text_width(text, each.size, each.face)
                middle = left + text_width(text[: (term.start + term.end) // 2], each.size, each.face)
                at = QPointF(middle * seen.scale + seen.dx, (y - 0.3 * each.size) * seen.scale + seen.dy)
                if widget.hit(at) is None:
                    yield at, term.entry


def test_a_word_is_underlined_and_a_click_explains_it(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, told = window.replay.stage, list[GlossaryEntry]()
    monkeypatch.setattr("gemmviz.gui.widgets.scene_widget.explain", lambda entry, at, widget: told.append(entry))
    for view in ("stage", "request", "banks", "occupancy", "grid", "why"):
        window.model.commands.show_view(view)
        qtbot.waitUntil(lambda: settled(window) and window.session.display.subject is not None, timeout=20_000)
        found = list(words_in(stage))
        assert found, view
        for at, entry in found:
            stage.point_at(at)
            stage._on_rest()
            line = sure(stage._explained)
            assert line.left() < at.x() < line.right()
            assert 0 < line.top() - at.y() < 40
            QTest.mouseClick(stage, Qt.MouseButton.LeftButton, pos=at.toPoint())
            assert told[-1] == entry
        stage.point_at(QPointF(2, 2))
        stage._on_rest()
        assert stage._explained is None


def test_tables_explain_too(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[str]()
    monkeypatch.setattr("gemmviz.gui.widgets.scene_widget.explain", lambda entry, at, widget: told.append(entry.title))
    metrics_of(window).costs.cellClicked.emit(1, 0)
    assert told == ["sector, line"]


def test_help_has_the_whole_glossary(window: MainWindow) -> None:
    assert window.menus.all["glossary"].isEnabled()
    shown = GlossaryBox(window).text.toPlainText()
    assert all(entry.title in shown and entry.text in shown for entry in glossary())
