"""A window to try, and ways to its parts."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QDockWidget, QLineEdit, QSpinBox
from pytestqt.qtbot import QtBot

from gemmviz.cli.main import main
from gemmviz.gui.export_dialog import ExportDialog
from gemmviz.gui.panels.costs import Costs
from gemmviz.gui.panels.metrics import Metrics
from gemmviz.gui.panels.settings import Settings
from gemmviz.gui.panels.source import Source
from gemmviz.gui.setup_form import Callout, FieldEditor
from gemmviz.gui.widgets.controls import Refresh
from gemmviz.gui.widgets.fact_table import Table
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.timing import Benchmark
from gemmviz.run.choosing import engine_for
from gemmviz.scenes.kit.primitives import Cells, Labels, Rects, Scene
from gemmviz.session.export_job import order_words, write_source
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.runs import KnownRun, complete
from gemmviz.shots.shot import default_shot
from tests.gui.shared_window import LONG_MS, SharedWindow, wait_while

Kind = TypeVar("Kind")


@pytest.fixture(scope="session")
def first_run() -> Knowledge:
    """The run that a window shows first, with all that a window finds out about it. Windows of one process share it."""
    known = complete(Knowledge(default_shot(), engine_for("cpu"), with_values=False))
    known.replay.terms(known.reader.scope)
    return known


@pytest.fixture(scope="session")
def _shared_window(first_run: Knowledge) -> SharedWindow:
    return SharedWindow(first_run)


@pytest.fixture
def window(qtbot: QtBot, _shared_window: SharedWindow) -> MainWindow:
    """The window as it is after a start, with the source beside the stage. Other panels open when a test asks for them.
    Consecutive tests share one.
    """
    return _shared_window.get()


@pytest.fixture
def new_window(qtbot: QtBot, _shared_window: SharedWindow) -> MainWindow:
    """A window in which nothing was opened before."""
    _shared_window.close()
    return _shared_window.get()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Closes the window after a test that failed, and before one that has no use for it."""
    if call.excinfo is not None:
        _close_window(item)
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if "_shared_window" not in getattr(nextitem, "fixturenames", ()):
        _close_window(item)


def _close_window(item: pytest.Item) -> None:
    shared = getattr(item, "funcargs", {}).get("_shared_window")
    if shared is not None:
        shared.close()


@pytest.fixture
def full_window(window: MainWindow) -> MainWindow:
    """The window with all panels: the numbers alone, the others in tabs with the settings in front."""
    for dock in window.docks.all.values():
        dock.show()
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, window.docks.all["metrics"])
    window.docks.all["settings"].raise_()
    settings_of(window).setup.advanced.heading.setChecked(True)
    window.docks.fit()
    QApplication.processEvents()
    return window


def opened(window: MainWindow, name: str) -> QDockWidget:
    """A dock, which is opened below those that are open."""
    dock = window.docks.all[name]
    if dock.isHidden():
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        dock.show()
        window.docks.fit()
        QApplication.processEvents()
        for refresh in dock.findChildren(Refresh):
            refresh.now()  # not a moment later
    return dock


def open_file(model: WindowModel, path: Path) -> None:
    """Opens a file, and waits until it is read and shown."""
    model.opening.open(path)
    wait_while(lambda: model.opening.is_busy or model.course.is_waiting or model.saved_views.is_waiting)


def write_here(dialog: ExportDialog, path: Path) -> None:
    """Runs the command of a dialog in this process, which is quicker than in one of its own."""
    session, model = dialog.session, dialog.model
    measured = session.display.subject if session.display.is_benchmark else None
    assert measured is None or isinstance(measured, Benchmark)
    with TemporaryDirectory() as folder:
        source = write_source(dialog.job, Path(folder), session.shot, model.saved_views.lesson, session.shown, measured)
        assert main(order_words(dialog.job, source, path, session.shot, "cpu")) == 0


def pictured(window: MainWindow, qtbot: QtBot, action: Callable[[], Any]) -> None:
    """Does something, and waits for the picture of another run."""
    seen: list[bool] = []
    window.session.run_changed.connect(lambda: seen.append(True))
    action()
    qtbot.waitUntil(lambda: bool(seen), timeout=LONG_MS)


def shown_of(window: MainWindow) -> KnownRun:
    found = window.session.shown
    assert found is not None
    return found


# Panels


def panel_of(window: MainWindow, name: str, kind: type[Kind]) -> Kind:
    opened(window, name)
    found = window.docks.widgets[name]
    assert isinstance(found, kind)
    return found


def settings_of(window: MainWindow) -> Settings:
    """The settings, which open with what is seldom set."""
    is_new = window.docks.all["settings"].isHidden()
    found = panel_of(window, "settings", Settings)
    if is_new:
        found.setup.advanced.heading.setChecked(True)
    return found


def metrics_of(window: MainWindow) -> Metrics:
    return panel_of(window, "metrics", Metrics)


def source_of(window: MainWindow) -> Source:
    return panel_of(window, "source", Source)


def costs_of(window: MainWindow) -> Costs:
    return panel_of(window, "costs", Costs)


def callout_of(window: MainWindow) -> Callout:
    found = settings_of(window).setup.callout
    assert found is not None
    return found


# Fields


def field(window: MainWindow, name: str) -> FieldEditor:
    return settings_of(window).setup.controls[name]


def choice_of(window: MainWindow, name: str) -> QComboBox:
    found = field(window, name)
    assert isinstance(found, QComboBox)
    return found


def spin_of(window: MainWindow, name: str) -> QSpinBox:
    found = field(window, name)
    assert isinstance(found, QSpinBox)
    return found


def line_of(window: MainWindow, name: str) -> QLineEdit:
    found = field(window, name)
    assert isinstance(found, QLineEdit)
    return found


def text_in(table: Table, row: int, column: int) -> str:
    """What a cell says, "" for none."""
    item = table.item(row, column)
    return item.text() if item is not None else ""


# What the stage shows


def scene_of(window: MainWindow) -> Scene:
    found = window.replay.stage.scene
    assert found is not None
    return found


def _primitive(window: MainWindow, key: str, kind: type[Kind]) -> Kind:
    found = scene_of(window).find(key)
    assert isinstance(found, kind), key
    return found


def labels_of(window: MainWindow, key: str) -> Labels:
    return _primitive(window, key, Labels)


def cells_of(window: MainWindow, key: str) -> Cells:
    return _primitive(window, key, Cells)


def rects_of(window: MainWindow, key: str) -> Rects:
    return _primitive(window, key, Rects)
