"""Installation of the packages that a format needs, with pip and only after a question."""

import importlib
import shlex

from PySide6.QtCore import QObject, QProcess, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from gemmviz.files.extras import missing_packages, pip_command
from gemmviz.model.translation import tr
from gemmviz.model.words import listed


class ExtraInstaller(QObject):
    """Runs pip in a process of its own. ``finished`` carries the error, "" after a success."""

    started = Signal()
    finished = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._process: QProcess | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def ask(self, extras: list[str]) -> None:
        """Ask whether to install extras, then start."""
        box = QMessageBox(
            QMessageBox.Icon.Question,
            tr("Install packages"),
            tr("Install {packages}?", packages=listed(missing_packages(extras))),
        )
        box.setParent(self._parent, box.windowFlags())
        box.setInformativeText(tr("pip downloads them into the Python environment of gemmviz. The details show the command."))
        box.setDetailedText(shlex.join(pip_command(extras)))
        yes = box.addButton(tr("Install"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.accepted.connect(lambda: self.start(extras) if box.clickedButton() is yes else None)
        box.open()

    def start(self, extras: list[str]) -> None:
        """Start pip. It keeps what was installed before if it fails."""
        program, *words = pip_command(extras)
        process = self._process = QProcess(self)
        process.finished.connect(self._on_finished)
        process.start(program, words)
        self.started.emit()

    def stop(self) -> None:
        """End pip; it removes what it has downloaded."""
        if self._process is not None:
            self._process.terminate()

    def _on_finished(self, code: int) -> None:
        process, self._process = self._process, None
        assert process is not None
        importlib.invalidate_caches()
        lines = bytes(process.readAllStandardError().data()).decode(errors="replace").strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        self.finished.emit("" if code == 0 else (errors or [tr("pip failed")])[-1])
