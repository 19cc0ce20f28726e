"""Makes the README's pictures anew: make pictures."""

import os
import time
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtWidgets import QApplication

from gemmviz.analysis.replay import Replay
from gemmviz.gui.main_window import MainWindow
from gemmviz.model.problem import Problem
from gemmviz.render.export import save_animation, save_frame
from gemmviz.run.executor import trace_kernel
from gemmviz.scene.frame import ViewOptions
from gemmviz.scene.memory_view import memory_scene
from gemmviz.scene.stage_view import stage_scene
from gemmviz.scene.theme import LIGHT
from gemmviz.source.catalog import load_kernel
from gemmviz.source.launching import settings_for

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "pictures"


def main() -> None:
    app = QApplication([])
    window = MainWindow()
    window.resize(1600, 960)
    window.show()
    window.open_kernel("04_tiled")
    _run(app, 2.0)
    window.playback.go(7)
    _run(app, 0.5)
    window.grab().save(str(FOLDER / "window.png"))
    window.close()
    naive = _replay("02_naive", Problem(32, 32, 32), BLOCK=32)
    save_frame(stage_scene(naive, 2, ViewOptions(LIGHT)), FOLDER / "naive.png")
    one_warp = Replay(naive.trace, None, 0)
    save_frame(memory_scene(one_warp, 2, ViewOptions(LIGHT)), FOLDER / "memory.png")
    tiled = _replay("04_tiled", Problem(8, 8, 8), TILE_WIDTH=4)
    save_animation((stage_scene(tiled, step) for step in range(tiled.steps)), FOLDER / "tiled.gif", 500)


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
