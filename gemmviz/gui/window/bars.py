"""Bars of the window: the banner over the stage, the strip of the launch, and the status bar."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QStatusBar, QToolButton, QVBoxLayout, QWidget

from gemmviz.cuda.launch.launch_form import GivenLaunch, launch_line, not_confirmed
from gemmviz.gui.widgets.controls import (
    MESSAGE_MS,
    button_with_tip,
    choice,
    close_button,
    line,
    plain,
    quietly,
    set_look,
    tip_text,
    unless_covered,
)
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.kernel import KernelSpec, LaunchOrigin
from gemmviz.model.messages import marked, tr
from gemmviz.session.notices import Notice, Offer
from gemmviz.shots.metrics import recorder_line

# Notices about the picture, above it. Each can be closed.


class Banner(QWidget):
    """A column with a line for each notice of the session."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.setAccessibleName(tr("Messages"))
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(12, 4, 6, 4)
        self._rows.setSpacing(2)
        self._shown: list[Notice] = []
        self._lines: list[QWidget] = []
        self.hide()
        model.session.notices.changed.connect(self.sync)

    @property
    def texts(self) -> list[str]:
        """The texts of the notices."""
        return [notice.text for notice in self._shown]

    def sync(self) -> None:
        notices = self.model.session.notices.all
        if notices == self._shown:
            return
        self._shown = notices
        for each in self._lines:
            each.deleteLater()
        self._lines = [self._line(notice) for notice in notices]
        for each in self._lines:
            self._rows.addWidget(each)
        self.setVisible(bool(notices))

    def _line(self, notice: Notice) -> QWidget:
        line, text = QWidget(), plain(notice.text)
        close = close_button(tr("Close this message"), tr("Close this message"))
        text.setWordWrap(True)
        set_look(text, "message" if notice.warns else "notice")
        text.setToolTip(notice.tip)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text.setAccessibleDescription(tr("Message"))
        close.clicked.connect(lambda: self._close(notice))
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 2, 0, 2)
        row.addWidget(text, 1)
        if notice.offer is not None:
            row.addWidget(self._button(notice.offer), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _button(self, offer: Offer) -> QPushButton:
        button = _strip_button(offer.title, offer.tip)
        button.clicked.connect(lambda: self._take(offer))
        return button

    def _take(self, offer: Offer) -> None:
        offer.take()
        self.model.released.emit()

    def _close(self, notice: Notice) -> None:
        self.model.session.notices.drop(notice.topic)
        self.model.released.emit()


class WhyButton(QToolButton):
    """A button that shows *Why this speed*. It is visible outside of lessons, while a replay is shown whose launch has a main
    cause; its tip names it.
    """

    def __init__(self, model: WindowModel) -> None:
        super().__init__(autoRaise=True)
        self.model = model
        self.setText(tr("Why is it slow?"))
        self.setAccessibleName(self.text())
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the corner of a menu bar keeps its size
        self.setSizePolicy(policy)
        self.clicked.connect(lambda: model.commands.show_view("why"))
        for event in (model.session.shot_changed, model.session.analysis_changed, model.course.changed):
            event.connect(self.sync)
        self.sync()

    @unless_covered
    def sync(self) -> None:
        session = self.model.session
        known, cause, facts = session.completion.known, session.completion.main_cause, session.completion.whole
        is_current = known is not None and known.setup == session.shot.setup and session.display.is_replay
        self.setVisible(cause is not None and is_current and not self.model.course.is_on)
        if cause is not None and facts is not None:
            self.setToolTip(tip_text(f"{facts.title}: {cause.sentence}"))


# The status line: messages, current work, and what recorded the run.


class Status:
    """The status bar of a window."""

    def __init__(self, bar: QStatusBar, model: WindowModel) -> None:
        self.bar, self.model = bar, model
        self.busy, self.recorder = plain(), plain()
        self.recorder.setToolTip(tr("What ran and recorded the kernel"))
        bar.setAccessibleName(tr("Status"))
        for label in (self.busy, self.recorder):
            bar.addPermanentWidget(label)
        session = model.session
        for each in (session.busy_changed, model.opening.busy_changed):
            each.connect(self._show_busy)
        session.run_changed.connect(self._show_recorder)
        session.shot_changed.connect(lambda: self.recorder.setVisible(session.display.is_replay))
        session.message.connect(lambda sentence: bar.showMessage(sentence, MESSAGE_MS))

    def _show_busy(self) -> None:
        reads, runs = self.model.opening.is_busy, self.model.session.is_busy
        reading = f"{self.model.opening.work or tr('Reading the file')} …"
        self.busy.setText(reading if reads else tr("Running the kernel …") if runs else "")

    def _show_recorder(self) -> None:
        shown = self.model.session.shown
        if shown is not None:
            self.recorder.setText(recorder_line(shown))


# The line above the picture that says how the kernel of a plain file is launched, with a button that corrects it.

_LINES, _FILLED = 2, 0.78  # of the sentence; the part of a line that wrapped words fill
_LEADS: dict[LaunchOrigin, tuple[str, str]] = {
    "header": ("", ""),
    "read": (marked("Read"), marked("Read from the file. With these roles of the arguments the result is right")),
    "guessed": (marked("Guessed"), marked("The project launches this kernel nowhere. With this launch the result is right")),
    "unsure": (
        marked("Read"),
        marked("Read from the file. The result is not right"),
    ),
    "unchecked": (marked("Read"), marked("Read from the file. The result is not checked, since no problem fits it")),
    "given": (marked("Given"), marked("As you described it")),
}


class LaunchStrip(QWidget):
    """A row with the kernels of the file, the launch as one line, and the buttons Edit and Insert header. Hidden for kernels
    whose header describes the launch.
    """

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.sentence = model, ""
        self.setAccessibleName(tr("Launch"))
        self.kernels = choice(tr("Kernel of the file"), tr("Kernels of this file"))
        self.text = line()
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.text.setAccessibleDescription(tr("Launch"))
        self.edit = _strip_button(tr("Ed&it …"), tr("Correct what the arguments are, and the launch"))
        self.insert = _strip_button(tr("Insert header"), tr("Write this launch into the file, as a header"))
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 3, 6, 3)
        for widget in (self.kernels, self.text, self.edit, self.insert):
            row.addWidget(widget, 1 if widget is self.text else 0)
        self.kernels.activated.connect(self._on_kernel)
        self.edit.clicked.connect(model.opening.edit_launch)
        self.insert.clicked.connect(self._on_insert)
        model.session.shot_changed.connect(self.sync)
        self.sync()

    @unless_covered
    def sync(self) -> None:
        """Show the launch of the session's kernel."""
        kernel = self.model.session.shot.setup.kernel
        self.setVisible(kernel.launch_from != "header" and not self.model.session.display.is_benchmark)
        lead, tip = map(tr, _LEADS[kernel.launch_from])
        if (doubt := not_confirmed(kernel)) is not None:
            lead, tip = tr("Not confirmed"), doubt.message
        self.sentence = f"{lead}: {launch_line(kernel)}"
        self.text.setToolTip(f"{tip}\n{self.sentence}")
        self.text.setAccessibleName(self.sentence)  # what is shown may be shortened
        self._fit()
        set_look(self.text, "message" if kernel.unconfirmed else "")
        self.insert.setVisible(self.model.opening.can_insert_header)
        quietly(self.kernels, lambda: self._fill(kernel))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as much of the sentence as two lines hold; its tip has all of it."""
        room = int(_LINES * self.text.width() * _FILLED)
        self.text.setText(self.text.fontMetrics().elidedText(self.sentence, Qt.TextElideMode.ElideRight, room))

    def _fill(self, kernel: KernelSpec) -> None:
        names = self.model.opening.names
        self.kernels.clear()
        self.kernels.addItems(list(names))
        self.kernels.setCurrentIndex(self.kernels.findText(kernel.function))
        self.kernels.setVisible(len(names) > 1)

    def _on_kernel(self, row: int) -> None:
        kernel = self.model.session.shot.setup.kernel
        self.model.opening.choose_kernel(kernel.file, GivenLaunch(entry=self.kernels.itemText(row)))
        self.model.released.emit()

    def _on_insert(self) -> None:
        self.model.opening.insert_header()
        self.model.released.emit()


def _strip_button(text: str, tip: str) -> QPushButton:
    button = button_with_tip(text, tip)
    button.setAccessibleName(text.replace("&", ""))
    button.setAccessibleDescription(tip)
    return button
