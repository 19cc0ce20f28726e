"""The window where a GPU is found: it traces, counts and times what is shown."""

import pytest
from pytestqt.qtbot import QtBot

from gemmviz.gui.window.main_window import MainWindow
from tests.gui.conftest import metrics_of, pictured, settings_of, shown_of, spin_of
from tests.gui.shared_window import settled

pytestmark = pytest.mark.gpu


def test_a_gpu_that_is_found_runs_what_is_shown(window: MainWindow, qtbot: QtBot) -> None:
    engines = window.session.engines
    pictured(window, qtbot, engines.look)
    assert engines.chosen == "gpu"
    assert settings_of(window).runner.runner.currentData() == "gpu"
    qtbot.waitUntil(lambda: settled(window) and shown_of(window).speed is not None, timeout=30_000)
    shown = shown_of(window)
    assert shown.trace.by.startswith("NVIDIA")
    assert "NVIDIA" in window.status.recorder.text()
    qtbot.waitUntil(lambda: metrics_of(window).speed.text().startswith("Real kernel, measured here on NVIDIA"))
    assert not window.banner.isVisible()
    pictured(window, qtbot, lambda: spin_of(window, "K").setValue(12))
    assert shown_of(window).trace.by == shown.trace.by
    assert shown_of(window).trace.check.passed
    pictured(window, qtbot, lambda: engines.choose("cpu"))
    assert "CPU" in window.status.recorder.text()
