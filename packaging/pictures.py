"""Makes the README's pictures anew: make pictures."""

import os
import time
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtWidgets import QApplication

from gemmviz.analysis.focus import Focus
from gemmviz.analysis.replay import Replay
from gemmviz.gui.main_window import MainWindow
from gemmviz.model.kernel import Settings
from gemmviz.model.problem import Problem
from gemmviz.render.export import save_animation, save_frame
from gemmviz.run.executor import trace_kernel
from gemmviz.scene.frame import ViewOptions
from gemmviz.scene.theme import LIGHT
from gemmviz.scene.views import VIEWS
from gemmviz.spec.catalog import load_kernel
from gemmviz.spec.legality import settings_for

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "pictures"


def main() -> None:
    app = QApplication([])
    window = MainWindow()
    window.resize(1600, 960)
    window.show()
    window.open_kernel("04_tiled")
    _run(app, 2.0)
    window.playback.go(1, 0.55)
    _run(app, 0.5)
    window.grab().save(str(FOLDER / "window.png"))
    window.panels.toggle_benchmark()
    _run(app, 1.0)
    window.grab().save(str(FOLDER / "benchmark.png"))
    window.panels.toggle_benchmark()
    window.open_kernel("07_tiled_transposed", Settings(Problem(64, 64, 64), {"TILE_WIDTH": 32, "PAD": 0}))
    window.choose_theme("light")
    _run(app, 2.0)
    window.panels.focus.layer.setCurrentIndex(1)
    window.playback.go(1)
    _run(app, 0.5)
    window.grab().save(str(FOLDER / "conflict.png"))
    window.close()
    light = ViewOptions(LIGHT)
    naive = _replay("02_naive", Problem(32, 32, 32), BLOCK=32)
    save_frame(VIEWS["stage"].scene(naive, 2, light), FOLDER / "naive.png")
    save_frame(VIEWS["memory"].scene(Replay(naive.trace, Focus(warp=0)), 2, light), FOLDER / "memory.png")
    tiled, stage = _replay("04_tiled", Problem(8, 8, 8), TILE_WIDTH=4), VIEWS["stage"]
    film = (frame for step in range(tiled.steps) for frame in stage.film(tiled, step, ViewOptions(), 600))
    save_animation(film, FOLDER / "tiled.gif")


def _replay(name: str, problem: Problem, **parameters: int) -> Replay:
    spec = load_kernel(name)
    return Replay(trace_kernel(spec, settings_for(spec, problem, parameters)))


def _run(app: QApplication, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        app.processEvents()
        time.sleep(0.005)


if __name__ == "__main__":
    main()
