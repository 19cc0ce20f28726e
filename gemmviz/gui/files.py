"""Opening, saving and copying: what the File menu does."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from gemmviz.files.trace_file import write_trace
from gemmviz.model.errors import GemmvizError
from gemmviz.render.export import PIXELS_PER_UNIT, save_frame
from gemmviz.render.qt.painter import scene_image

if TYPE_CHECKING:
    from gemmviz.gui.main_window import MainWindow

KINDS = (".cu", ".gvt")


class Files:
    """The dialogs of one window."""

    def __init__(self, window: "MainWindow") -> None:
        self.window = window

    def ask_to_open(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self.window, "Open", "", "Kernels and traces (*.cu *.gvt);;All files (*)")
        if name:
            self.window.open_file(Path(name))

    def ask_to_save_trace(self) -> None:
        replay = self.window.replay
        if replay is None:
            return
        name, _ = QFileDialog.getSaveFileName(self.window, "Save trace", f"{replay.trace.kernel}.gvt", "Traces (*.gvt)")
        if name:
            path = Path(name) if Path(name).suffix else Path(f"{name}.gvt")
            if self._save(lambda: write_trace(replay.trace, path), path):
                self.window.remember_file(path)

    def ask_to_save_frame(self, suffix: str, scale: int) -> None:
        if self.window.panels.tabs.currentIndex() == 1:
            self.window.panels.benchmark.ask_to_save(suffix)
            return
        scene, replay = self.window.slide(), self.window.replay
        if scene is None or replay is None:
            return
        suggestion = f"{replay.trace.kernel}-{self.window.view}-step{self.window.playback.step + 1}.{suffix}"
        name, _ = QFileDialog.getSaveFileName(self.window, "Save frame", suggestion, f"{suffix.upper()} (*.{suffix})")
        if name:
            path = Path(name) if Path(name).suffix else Path(f"{name}.{suffix}")
            self._save(lambda: save_frame(scene, path, scale), path)

    def copy_frame(self) -> None:
        """Puts the frame on the clipboard as an image of 1920 x 1080."""
        scene = self.window.slide()
        if scene is None:
            return
        QGuiApplication.clipboard().setImage(scene_image(scene, PIXELS_PER_UNIT))
        self.window.statusBar().showMessage("The frame is on the clipboard", 5000)

    def _save(self, action: Callable[[], None], path: Path) -> bool:
        try:
            action()
        except GemmvizError as error:
            self.window.show_warning(error)
            return False
        self.window.statusBar().showMessage(f"Saved {path}", 5000)
        return True
