"""The export dialog: format, size, speed and range, with a preview.

A separate process writes the file, so that the window stays responsive. A cancelled export leaves no file.
"""

import importlib
import re
import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from msgspec import structs
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gemmviz.files.extras import extras_command, missing_extras, missing_packages, pip_command
from gemmviz.files.resources import gemmviz_command, sweep
from gemmviz.gui.preferences import Preferences
from gemmviz.gui.widgets.controls import plain, set_name, side_by_side
from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import GemmvizError, UsageError, listed, marked, tr
from gemmviz.render.export import formats
from gemmviz.render.reel import DEFAULT_LICENCE, LICENCES, Deck, FigureOptions, Film, Format, RenderOptions, Still, WebPage
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.session.export_job import SAVED, SIZES, ExportJob, What, order_words, suggested, write_source
from gemmviz.shots.export import LONGEST_TITLE, PARTS, TEMPLATES, ExportOptions, Prepared, frame_at, only_part

# Installation of the packages that a format needs, with pip and only after a question.


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


# Options: fields with a name and a tip.

_Field = TypeVar("_Field", bound=QWidget)


def _option(field: _Field, tip: str, changed: Callable[[], None]) -> _Field:
    """Return a field with its name. ``changed`` is called for each change of its value, and when it is clicked."""
    field.setToolTip(tip)
    set_name(field, tip)
    match field:
        case QComboBox():
            (field.currentTextChanged if field.isEditable() else field.currentIndexChanged).connect(changed)
        case QLineEdit():
            field.textChanged.connect(changed)
        case QCheckBox():
            field.toggled.connect(changed)
        case QPushButton():
            field.clicked.connect(changed)
        case QSpinBox() | QDoubleSpinBox():
            field.valueChanged.connect(changed)
    return field


def _choice_of(names: Mapping[str, str], chosen: str = "") -> QComboBox:
    """Return a drop-down list of values with their names."""
    box = QComboBox()
    for value, name in names.items():
        box.addItem(name, value)
    box.setCurrentIndex(max(0, box.findData(chosen)))
    return box


def _check_box(text: str, is_checked: bool) -> QCheckBox:
    box = QCheckBox(text)
    box.setChecked(is_checked)
    return box


# The part of the export dialog for figures: whether a page becomes a figure, and who made it, its licence and its link.

_AUTHOR, _LICENCE = "figure author", "figure licence"


class FigureForm(QWidget):
    """Fields that edit ``FigureOptions``. Author and licence are kept for the next export."""

    changed = Signal()

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self.is_figure = QCheckBox(tr("Figure for a page of your own"))
        self.author, self.link = QLineEdit(preferences.text(_AUTHOR)), QLineEdit(placeholderText="https://")
        self.licence, self.is_split = QComboBox(editable=True), QCheckBox(tr("Script in a file of its own"))
        self.licence.addItems(list(LICENCES))
        self.licence.setCurrentText(preferences.text(_LICENCE, DEFAULT_LICENCE))
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        rows: tuple[tuple[str, QWidget, str], ...] = (
            ("", self.is_figure, tr("One element with a still inside, for articles, slides, notebooks and course pages")),
            (tr("A&uthor"), self.author, tr("Name in the line below the figure")),
            (tr("&Licence"), self.licence, tr("Licence below the figure: an SPDX identifier or your own text")),
            (tr("Lin&k"), self.link, tr("URL below the figure, with its QR code")),
            ("", self.is_split, tr("For sites that allow no script inside a page, and for many figures on one site")),
        )
        for name, field, tip in rows:
            form.addRow(name, _option(field, tip, self._on_change))
        self._on_change()

    @property
    def options(self) -> FigureOptions | None:
        """The chosen options; None for a whole page. Raises UsageError for a link that can't be used."""
        if not self.is_figure.isChecked():
            return None
        return FigureOptions(
            author=self.author.text().strip(), licence=self.licence.currentText().strip(), link=self.link.text().strip(),
            is_split=self.is_split.isChecked(),
        )  # fmt: skip

    def keep(self) -> None:
        """Keep author and licence for the next export."""
        self._preferences.put(_AUTHOR, self.author.text().strip())
        self._preferences.put(_LICENCE, self.licence.currentText().strip())

    def _on_change(self) -> None:
        for field in (self.author, self.licence, self.link, self.is_split):
            field.setEnabled(self.is_figure.isChecked())
        self.changed.emit()


_CONTENT_NAMES: dict[What, str] = {"picture": marked("This picture"), "steps": marked("Steps"), "lesson": marked("Saved views")}
_PART_NAMES = {
    "title": marked("Title"), "step": marked("Step number"), "caption": marked("Caption"), "timeline": marked("Timeline"),
}  # fmt: skip
_FORMAT_KEY = "export as"
_LONGEST_END_MS = 3000


class ExportDialog(QDialog):
    """A dialog that edits an ``ExportOptions``; it asks for the file name when it writes."""

    def __init__(self, model: WindowModel, parent: QWidget | None = None, suffix: str = "") -> None:
        super().__init__(parent)
        self.model, self.session = model, model.session
        self.setWindowTitle(tr("Export"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(1000)
        self.preview = SceneWidget(tr("Preview"), self)
        self.preview.setMinimumSize(480, 270)
        self._come_to_rest()
        self._make_fields(suffix)
        self.figure = FigureForm(model.preferences)
        self.figure.changed.connect(self.draw)
        self.status, self.bar = plain(), QProgressBar()
        self.bar.setAccessibleName(tr("Progress of the export"))
        self.status.setWordWrap(True)
        self.installer = ExtraInstaller(self)
        self.installer.started.connect(self.draw)
        self.installer.finished.connect(self._on_installed)
        self.save = _option(QPushButton(tr("Export …")), tr("Choose a file name and export"), self._ask)
        self.stop = QPushButton(tr("Close"))
        self.stop.clicked.connect(self.reject)
        tip = tr("Install the packages that this format needs")
        self.install = _option(QPushButton(tr("Install …")), tip, lambda: self.installer.ask(self._missing_extras()))
        self.process: QProcess | None = None
        self._folder: TemporaryDirectory[str] | None = None
        self._began = 0.0
        self._is_saved, self._is_cancelled = False, False
        self._lay_out()
        self.draw()

    def _come_to_rest(self) -> None:
        """Stop the replay at the end of its step, so that nothing is exported in mid-air."""
        player = self.session.player
        player.play(False)
        if not player.played.is_launch and player.played.moment < 1.0:
            player.played.go(player.played.step)

    def _make_fields(self, suffix: str) -> None:
        """Make a field for each option, as it is before the first change."""

        def option(field: _Field, tip: str) -> _Field:
            return _option(field, tip, self.draw)

        steps = self.session.player.played.steps if self.session.display.has_time else 1
        run, shot = self.session.player.marked, self.session.shot
        can = {"picture": True, "steps": steps > 1, "lesson": bool(self.model.saved_views.lesson.steps)}
        contents: dict[str, str] = {what: tr(words) for what, words in _CONTENT_NAMES.items() if can[what]}
        self.what = option(_choice_of(contents, "steps" if len(run) < steps else "picture"), tr("What to export"))
        kinds = {name: f"{tr(each.title)} (.{name})" for name, each in formats().items()}
        kind = suffix or self.model.preferences.text(_FORMAT_KEY, "png")
        self.kind = option(_choice_of(kinds, kind), tr("Format of the file"))
        self.own_size = option(QLineEdit("1920x1080"), tr("Width and height in pixels, such as 1600x1200"))
        sizes = {f"{width}x{height}": f"{width} × {height}" for width, height in SIZES} | {"": tr("Custom size")}
        self.pixels = option(_choice_of(sizes, self.own_size.text()), tr("Size in pixels"))
        themes = {"": tr("Same as the window")} | {name: tr(load_theme(name).title) for name in theme_names()}
        self.theme = option(_choice_of(themes), tr("Colours. Print is black and grey"))
        templates = {"": tr("None")} | {name: tr(template.title) for name, template in TEMPLATES.items()}
        tip = tr("Theme, size and contents for a slide or for print")
        self.template = _option(_choice_of(templates), tip, self._on_template)
        self.title = option(
            QLineEdit(maxLength=LONGEST_TITLE, placeholderText=tr("That of the picture")),
            tr("A title instead of the picture's own"),
        )
        parts = {"": tr("All of it"), shot.view: tr("Without words")} | {
            name: tr("Matrices and tiles") if name == "matrices" else tr(view_named(name).title)
            for name in view_named(shot.view).parts
        }
        self.only = option(_choice_of(parts), tr("A part that fills the picture"))
        most = max(1, steps)
        self.first = option(QSpinBox(minimum=1, maximum=most, value=run.start + 1), tr("First step"))
        self.last = option(QSpinBox(minimum=1, maximum=most, value=run.stop), tr("Last step"))
        self.fps = option(QSpinBox(minimum=1, maximum=120, value=30, suffix=tr(" frames/s")), tr("Frame rate of the film"))
        self.speed = option(
            QDoubleSpinBox(minimum=0.05, maximum=240.0, value=ExportOptions().speed, suffix=tr(" steps/s")),
            tr("Speed of the film"),
        )
        self.parts = {part: option(_check_box(tr(_PART_NAMES[part]), True), "") for part in PARTS}
        self.code = option(_check_box(tr("Source code"), shot.code), tr("Show the source code beside the matrices"))
        self.clear = option(QCheckBox(tr("Transparent background")), tr("For placing the picture on a slide"))
        self.outlines = option(QCheckBox(tr("Text as shapes")), tr("SVG that looks the same in every program"))
        self.by_phase = option(QCheckBox(tr("One per phase")), tr("One picture per phase instead of one per step"))
        self.film = option(QCheckBox(tr("Add a slide with the film")), tr("The last slide plays the film"))

    def _lay_out(self) -> None:
        self.steps_row = side_by_side(self.first, QLabel(tr("to")), self.last)
        self.size_row, self.film_row = side_by_side(self.pixels, self.own_size), side_by_side(self.fps, self.speed)
        form = QFormLayout()
        form.addRow(tr("T&emplate"), self.template)
        form.addRow(tr("&What"), self.what)
        form.addRow("", self.steps_row)
        form.addRow(tr("&As"), self.kind)
        form.addRow(tr("&Size"), self.size_row)
        form.addRow("", self.film_row)
        form.addRow(tr("&Theme"), self.theme)
        form.addRow(tr("T&itle"), self.title)
        form.addRow(tr("&Only"), self.only)
        for box in (*self.parts.values(), self.code, self.clear, self.outlines, self.by_phase, self.film):
            form.addRow("", box)
        form.addRow(self.figure)
        above, below = QHBoxLayout(), QHBoxLayout()
        above.addWidget(self.preview, 1)
        above.addLayout(form)
        below.addWidget(self.status, 1)
        for button in (self.install, self.save, self.stop):
            below.addWidget(button)
        rows = QVBoxLayout(self)
        rows.addLayout(above, 1)
        rows.addWidget(self.bar)
        rows.addLayout(below)
        self.bar.hide()

    def _on_template(self) -> None:
        """Choose the theme, the size and the parts of a template."""
        template = TEMPLATES.get(self.template.currentData())
        if template is None:
            return
        size = f"{template.width}x{template.height}"
        place = self.pixels.findData(size)
        self.own_size.setText(size)
        self.pixels.setCurrentIndex(self.pixels.count() - 1 if place < 0 else place)
        self.theme.setCurrentIndex(self.theme.findData(template.theme))
        for part, box in self.parts.items():
            box.setChecked(part not in template.hidden)

    def _missing_extras(self) -> list[str]:
        return missing_extras(formats()[self.job.suffix].extras(self.job.manner.look))

    @property
    def job(self) -> ExportJob:
        """The chosen export. Raises UsageError for an invalid size or link."""
        text = self.pixels.currentData() or self.own_size.text()
        width, _, height = text.replace("×", "x").replace(" ", "").partition("x")
        if not (width.isdecimal() and height.isdecimal()):
            raise UsageError(tr("{size} is not a size", size=f"{text!r}"), remedy=tr("write 1920x1080"))
        suffix, kind = self.kind.currentData(), formats()[self.kind.currentData()]
        look = RenderOptions(
            int(width), int(height), self.fps.value(), self.clear.isChecked() and kind.can_be_clear,
            self.outlines.isChecked() and suffix == "svg", self.film.isChecked() and suffix == "pptx",
            self.figure.options if isinstance(kind, WebPage) else None,
        )  # fmt: skip
        hidden = frozenset(part for part, box in self.parts.items() if not box.isChecked())
        first, last = sorted((self.first.value(), self.last.value()))
        if self.what.currentData() == "picture":
            step = self.session.navigation.step + 1
            first, last = (1, self.first.maximum()) if isinstance(kind, Film | WebPage) else (step, step)
        return ExportJob(
            self.what.currentData(), first, last, suffix, self.by_phase.isChecked(),
            ExportOptions(look, self.speed.value(), hidden, title=self.title.text().strip(), only=self.only.currentData()),
            self.theme.currentData(), self.code.isChecked(),
        )  # fmt: skip

    def draw(self) -> None:
        """Update the preview, and enable the settings that apply to the chosen format."""
        what, kind = self.what.currentData(), formats()[self.kind.currentData()]
        is_range = what == "steps"
        self.what.setItemText(
            0,
            tr("All steps") if isinstance(kind, Film | WebPage) and self.first.maximum() > 1 else tr(_CONTENT_NAMES["picture"]),
        )
        self.steps_row.setVisible(is_range)
        self.own_size.setVisible(not self.pixels.currentData())
        self.film_row.setVisible(isinstance(kind, Film) or self.film.isChecked())
        self.by_phase.setVisible(is_range and isinstance(kind, Still | Deck))
        self.clear.setVisible(kind.can_be_clear)
        self.outlines.setVisible(self.kind.currentData() == "svg")
        self.film.setVisible(self.kind.currentData() == "pptx")
        self.figure.setVisible(isinstance(kind, WebPage))
        self.title.setEnabled(what != "lesson")
        self.only.setEnabled(what != "lesson")
        for box in self.parts.values():
            box.setEnabled(what == "lesson" or not self.only.currentData())
        for widget in (self.theme, self.size_row):
            widget.setEnabled(not isinstance(kind, WebPage))
        try:
            job = self.job
        except UsageError as error:
            self.status.setText(f"{error.message}: {error.remedy}" if error.remedy else error.message)
            self.save.setEnabled(False)
            self.install.hide()
            return
        missing = self._missing_extras()
        can_start = self.process is None and not self.installer.is_running
        self.save.setEnabled(can_start and not missing and self.session.display.subject is not None)
        self.install.setVisible(bool(pip_command(missing)))
        self.install.setEnabled(can_start)
        if self.installer.is_running:
            self.status.setText(tr("Installing …"))
        else:
            self.status.setText(_needed(kind, missing) if missing else _picture_count(job))
        self._show(job)

    def _show(self, job: ExportJob) -> None:
        subject, shot = self.session.display.subject, self.session.display.drawn
        if subject is None or not view_named(shot.view).is_ready(subject):
            return
        shot = structs.replace(shot, theme=job.theme or self.session.shot.theme, code=job.has_code)
        if shot.theme == "system":
            shot = structs.replace(shot, theme="dark" if self.model.theme.is_dark else "light")
        shot = only_part(shot, job.manner.only) if job.manner.only else shot
        stage = Prepared(shot, self.session.player.played.steps, lambda step: subject)
        at = self.session.navigation
        self.preview.set_scene(frame_at(stage, at.step, at.moment, job.manner, subject).scene)

    # Writing

    def _ask(self) -> None:
        job, preferences = self.job, self.model.preferences
        start = str(
            Path(preferences.text("export folder", str(Path.home())))
            / suggested(job, self.session.shot, self.session.navigation.run_step)
        )
        if job.is_many:
            name = QFileDialog.getExistingDirectory(self, tr("Folder for the pictures"), str(Path(start).parent))
            name = name and str(Path(name) / Path(start).name)
        else:
            kind = f"{tr(formats()[job.suffix].title)} (*.{job.suffix})"
            name, _ = QFileDialog.getSaveFileName(self, tr("Export"), start, kind)
        if name:
            path = Path(name)
            path = (
                path if job.is_many or path.suffix.lower() == f".{job.suffix}" else path.with_name(f"{path.name}.{job.suffix}")
            )
            preferences.put("export folder", str(path.parent))
            preferences.put(_FORMAT_KEY, job.suffix)
            self.figure.keep()
            self.write(job, path)

    def write(self, job: ExportJob, path: Path) -> None:
        """Start writing the file in a separate process."""
        display = self.session.display
        measured = display.subject if display.is_benchmark else None
        shot = self.session.shot
        if shot.theme == "system" and not job.theme and job.manner.look.figure is None:
            job = structs.replace(job, theme="dark" if self.model.theme.is_dark else "light")
        self._folder = TemporaryDirectory(prefix="gemmviz-export-")
        try:
            source = write_source(
                job, Path(self._folder.name), shot, self.model.saved_views.lesson, self.session.shown, measured
            )
        except GemmvizError as error:
            self.status.setText(str(error))
            return
        engines = self.session.engines
        on = "gpu" if engines.chosen == "gpu" and engines.trust.includes(shot.setup.kernel) else "cpu"
        program, *words = gemmviz_command(*order_words(job, source, path, shot, on), "--progress")
        self.process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        environment.insert("QT_QPA_PLATFORM", "offscreen")
        self.process.setProcessEnvironment(environment)
        self.process.readyReadStandardOutput.connect(self._on_progress)
        self.process.finished.connect(lambda code: self._on_finished(code, path))
        self._began = time.monotonic()
        self._is_saved, self._is_cancelled = False, False
        self.bar.setRange(0, 0)
        self.bar.show()
        self.save.setEnabled(False)
        self.stop.setText(tr("Cancel"))
        self.status.setText(tr("Writing {path}", path=path))
        self.process.start(program, words)

    def _on_progress(self) -> None:
        assert self.process is not None
        output = bytes(self.process.readAllStandardOutput().data()).decode(errors="replace")
        self._is_saved = self._is_saved or SAVED in output.split()
        numbers = re.findall(r"^(\d+) (\d+)$", output, re.MULTILINE)
        if not numbers:
            return
        done, of = map(int, numbers[-1])
        self.bar.setRange(0, max(1, of))
        self.bar.setValue(done)
        elapsed = time.monotonic() - self._began
        if done:
            self.status.setText(
                tr("{done} of {of}, {elapsed} s left", done=done, of=of, elapsed=f"{elapsed / done * (of - done):.0f}")
            )

    def _on_finished(self, code: int, path: Path) -> None:
        process, self.process = self.process, None
        assert process is not None
        errors = bytes(process.readAllStandardError().data()).decode(errors="replace").strip()
        if self._folder is not None:
            self._folder.cleanup()
        sweep(path)
        self.bar.hide()
        self.stop.setText(tr("Close"))
        self.stop.setEnabled(True)
        self.save.setEnabled(True)
        if self._is_saved:
            self.status.setText(tr("Saved {path}", path=path))
            self.model.session.say(tr("Saved {path}", path=path))
        elif self._is_cancelled:
            self.status.setText(tr("Cancelled. No file was written"))
        else:
            self.status.setText(errors.removeprefix("gemmviz: ") or tr("No file was written"))

    def _on_installed(self, error: str) -> None:
        self.draw()
        self.save.setFocus()  # not on Close, where the disabled buttons left it
        self.status.setText(error or tr("Installed"))

    def reject(self) -> None:
        """Cancel the export that is running; otherwise close the dialog."""
        self.installer.stop()
        if self.process is not None:
            self._is_cancelled = True
            self.stop.setEnabled(False)
            self.status.setText(tr("Cancelling …"))
            self.process.terminate()
            QTimer.singleShot(_LONGEST_END_MS, self.process, self.process.kill)
            return
        super().reject()


def _needed(kind: Format, missing: list[str]) -> str:
    """Return what a format needs, and the command that installs it."""
    needed, command = listed(missing_packages(missing)), extras_command(missing)
    return tr("{kind}: {needed} must be installed first: {command}", kind=tr(kind.title), needed=needed, command=command)


def _picture_count(job: ExportJob) -> str:
    """Return how many pictures or frames the export has."""
    if job.is_film:
        seconds = job.pictures / job.manner.look.fps
        return (
            tr("{pictures} frames, {seconds} s", pictures=job.pictures, seconds=f"{seconds:.1f}")
            if job.what != "lesson"
            else ""
        )
    is_known = job.what == "steps" and not job.by_phase
    return tr("{pictures} pictures", pictures=job.pictures) if is_known and job.pictures > 1 else ""
