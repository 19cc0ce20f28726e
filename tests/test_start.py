"""What starting costs, without a clock: the modules of gemmviz that are imported before there is an answer."""

import os
import subprocess
import sys
from functools import cache

import pytest

_LOADED = "import sys; print(*sorted(name for name in sys.modules if name.startswith('gemmviz')))"
_VERSION = f"""
import sys
sys.argv = ["gemmviz", "--version"]
from gemmviz.__main__ import main
try:
    main()
except SystemExit:
    {_LOADED}
"""
_TRACE = f"""
import gemmviz
gemmviz.trace("04_tiled", M=8, N=8, K=8)
{_LOADED}
"""
_WINDOW = f"""
from PySide6.QtWidgets import QApplication
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow
app = QApplication([])
window = MainWindow(InMemoryStore(tour="seen"))
window.warming.stop()
window.start()
window.show()
while window.session.shown is None or window.replay.stage.scene is None:
    app.processEvents()
{_LOADED}
window.close()
"""
MOST = {"version": 30, "trace": 140, "window": 400}
_LATER = (
    "gemmviz.gui.benchmark_page", "gemmviz.gui.export_dialog", "gemmviz.gui.lecture.wall",
    "gemmviz.gui.window.tour", "gemmviz.run.loader", "gemmviz.teaching.grading",
)  # fmt: skip


@cache
def _modules(code: str) -> list[str]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize(("name", "code"), [("version", _VERSION), ("trace", _TRACE), ("window", _WINDOW)])
def test_few_modules_are_imported(name: str, code: str) -> None:
    found = _modules(code)
    assert len(found) <= MOST[name], found
    assert "gemmviz.cuda.reader_process" not in found


def test_the_window_and_what_draws_are_not_imported_for_a_trace() -> None:
    assert not [name for name in _modules(_TRACE) if name.startswith(("gemmviz.gui", "gemmviz.scenes", "gemmviz.render"))]


def test_what_is_opened_later_is_not_imported_for_the_first_picture() -> None:
    assert not [name for name in _modules(_WINDOW) if name.startswith(_LATER)]
