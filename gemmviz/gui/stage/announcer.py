"""Says aloud what happens at the step that is shown, through the screen reader in use."""

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from gemmviz.gui.widgets.answer import announce
from gemmviz.session.session import Session
from gemmviz.session.spoken import Spoken

_REST_MS = 250  # a step that is passed sooner is not announced: nobody can follow a replay that is read aloud


class StepAnnouncer(QObject):
    """Announces each step of a session at which it rests, with the sentence that the picture has for it."""

    def __init__(self, stage: QWidget, session: Session) -> None:
        super().__init__(stage)
        self._stage, self._words = stage, Spoken(session)
        self._last_sentence = ""
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._say)
        for event in (session.position_changed, session.run_changed):
            event.connect(self._on_moved)

    def _on_moved(self) -> None:
        if QAccessible.isActive():
            self._rest.start()

    def _say(self) -> None:
        sentence = self._words.step()
        if sentence and sentence != self._last_sentence:
            self._last_sentence = sentence
            announce(self._stage, sentence)
