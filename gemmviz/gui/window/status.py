"""The status line: messages, current work, and what recorded the run."""

from PySide6.QtWidgets import QStatusBar

from gemmviz.gui.widgets.controls import plain
from gemmviz.gui.widgets.refresh import Refresh
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.beat import stage_of_run
from gemmviz.subjects.metrics import recorder_line

_MESSAGE_MS = 8000


class Status:
    """The status bar of a window."""

    def __init__(self, bar: QStatusBar, model: WindowModel) -> None:
        self.bar, self.model = bar, model
        self.busy, self.place, self.recorder = plain(), plain(), plain()
        self.recorder.setToolTip(tr("What ran and recorded the kernel"))
        self.place.setToolTip(tr("The phase of the run; without barriers, the trip of its loop"))
        bar.setAccessibleName(tr("Status"))
        self.place.setAccessibleDescription(tr("Place in the run"))
        for label in (self.busy, self.place, self.recorder):
            bar.addPermanentWidget(label)
        session = model.session
        for each in (session.busy_changed, model.opening.busy_changed):
            each.connect(self._show_busy)
        session.run_changed.connect(self._show_recorder)
        session.shot_changed.connect(lambda: self.recorder.setVisible(session.display.is_replay))
        self._refresh = Refresh(self.place, self._show_place)
        for event in (session.position_changed, session.run_changed, session.shot_changed):
            event.connect(self._refresh.due)
        session.message.connect(lambda sentence: bar.showMessage(sentence, _MESSAGE_MS))

    def _show_busy(self) -> None:
        reads, runs = self.model.opening.is_busy, self.model.session.is_busy
        reading = f"{self.model.opening.work or tr('Reading the file')} …"
        self.busy.setText(reading if reads else tr("Running the kernel …") if runs else "")

    def _show_place(self) -> None:
        session = self.model.session
        now = session.now if session.display.is_replay else None
        self.place.setText("" if now is None else stage_of_run(now, session.shot.labels))

    def _show_recorder(self) -> None:
        shown = self.model.session.shown
        if shown is not None:
            self.recorder.setText(recorder_line(shown))
