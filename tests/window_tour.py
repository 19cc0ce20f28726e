"""The usual things in a window, for tests of what the program loads: ``python -m tests.window_tour`` opens a kernel, every view, the
benchmark's charts and the export dialog, saves a run in each format that needs no extra, and prints the loaded modules as JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtWidgets import QApplication

import gemmviz
from gemmviz.cuda.program import reader
from gemmviz.gui.export_dialog import ExportDialog
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.window.menus import AboutBox
from gemmviz.render.export import formats
from gemmviz.render.reel import Still
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.band import qr_modules
from gemmviz.shots.shot import default_shot, shot_text

_LONG_S = 60.0


def main() -> None:
    reader().start()
    app = QApplication([])
    window = MainWindow(InMemoryStore(shot=shot_text(default_shot())))
    window.resize(1600, 960)
    window.start()
    window.show()
    _wait(lambda: window.session.shown is not None)
    window.docks.hide(False)
    for name in views():
        window.model.commands.show_view(name)
        app.processEvents()
        window.grab()
    window.model.commands.toggle_benchmark()
    _wait(lambda: window.session.display.is_benchmark and window.model.plotting.is_loaded)
    window.grab()
    window.model.commands.toggle_benchmark()
    ExportDialog(window.model, window).grab()
    AboutBox(window).grab()
    _save()
    assert qr_modules("https://example.org").any()  # as a picture with a link has it
    window.close()
    print(json.dumps(sorted(sys.modules)))


def _save() -> None:
    run = gemmviz.trace("04_tiled")
    with TemporaryDirectory() as folder:
        for suffix, each in formats().items():
            if not each.extra:
                gemmviz.save(run.scene(step=3) if isinstance(each, Still) else run, Path(folder) / f"f.{suffix}")


def _wait(ready: Callable[[], bool]) -> None:
    end = time.monotonic() + _LONG_S
    while not ready():
        assert time.monotonic() < end
        QApplication.processEvents()
        time.sleep(0.002)


if __name__ == "__main__":
    main()
