"""Every text of the window goes through the catalogue: in a pseudo-language no plain words are left."""

import re
from collections.abc import Iterator
from functools import cache

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from gemmviz.cuda.launch.catalog import kernel_names, lesson_kernel_names, lesson_names, load_kernel, pattern_kernel_names
from gemmviz.files.devices import device_names, load_device
from gemmviz.files.languages import languages
from gemmviz.files.recordings import recordings
from gemmviz.gui.export_dialog import ExportDialog
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.window.menus import actions, keys_text
from gemmviz.model.timing import Benchmark
from gemmviz.render.reel import LICENCES
from gemmviz.shots.shot import default_shot, shot_text
from gemmviz.teaching.lesson_file import original_lesson, translated
from tests.gui.shared_window import settled, wait_while
from tests.gui.widget_texts import texts_below
from tests.pseudo import plain_words, pseudo

_LONG_MS = 20_000


@pytest.fixture(scope="module")
def accented_window(qapp: QApplication) -> Iterator[MainWindow]:
    with pseudo():
        made = MainWindow(InMemoryStore(shot=shot_text(default_shot())))
        made.resize(1600, 960)
        made.start()
        made.show()
        _settle(made)
        yield made
        made.close()
        made.deleteLater()


def _settle(window: MainWindow) -> None:
    wait_while(lambda: not settled(window))
    QTest.qWait(60)


def _kept(text: str, texts: list[str]) -> str:
    """The text itself, added to ``texts``."""
    texts.append(text)
    return text


@cache
def _names() -> tuple[str, ...]:
    """Texts that are data: kernels, licences, languages, what was measured, and lessons, which have catalogues of their own."""
    found = list[str]()
    for name in lesson_names():
        translated(original_lesson(name), lambda text, where: _kept(text, found))
    kernels = (*kernel_names(), *pattern_kernel_names(), *lesson_kernel_names())
    measured = (each for file in recordings("benchmark", Benchmark) for each in (file.host, *(row.kernel for row in file.rows)))
    devices = (load_device(name).name for name in device_names())
    return (
        *devices,
        load_kernel("04_tiled").text,
        "Nsight Compute",
        "gemmviz",
        "https://",
        *LICENCES,
        *languages().values(),
        *kernels,
        *dict.fromkeys(measured),
        *found,
    )


def _plain(window: MainWindow, widget: QWidget) -> list[str]:
    names = (window.session.shot.setup.kernel.text, *_names())
    found = (
        f"{type(each).__name__} {kind} {text!r}: {', '.join(words)}"
        for each, kind, text in texts_below(widget)
        if (words := plain_words(text, names))
    )
    return list(dict.fromkeys(found))


def test_the_window_has_no_text_of_its_own(accented_window: MainWindow) -> None:
    for menu in accented_window.findChildren(QMenu):
        menu.aboutToShow.emit()
    assert _plain(accented_window, accented_window) == []


@pytest.mark.parametrize("view", ["occupancy", "rate"])
def test_no_view_of_the_window_has(accented_window: MainWindow, view: str) -> None:
    accented_window.model.commands.show_view(view)
    _settle(accented_window)
    assert _plain(accented_window, accented_window) == []


def test_no_dialog_has(accented_window: MainWindow, qtbot: QtBot) -> None:
    dialog = ExportDialog(accented_window.model, accented_window)
    qtbot.addWidget(dialog)
    assert _plain(accented_window, dialog) == []
    assert plain_words(re.sub("<style>.*?</style>|<b>.*?</b>|<[^>]*>", " ", keys_text(actions()))) == []


@pytest.mark.nightly
def test_a_lesson_and_the_tour_have_none(accented_window: MainWindow, qtbot: QtBot) -> None:
    accented_window.model.opening.open_lesson("lecture", None)
    qtbot.waitUntil(lambda: bool(accented_window.model.course.lesson.steps), timeout=_LONG_MS)
    _settle(accented_window)
    accented_window.start_tour()
    qtbot.waitUntil(lambda: accented_window.tour is not None)
    assert _plain(accented_window, accented_window) == []
