"""A bubble with the answer to a click, beside the place that was clicked. Its text can be selected and copied."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QHBoxLayout, QToolButton, QToolTip, QWidget

from gemmviz.gui.widgets.controls import plain
from gemmviz.model.translation import tr
from gemmviz.render.qt.painter import font

_WIDTH, _MARGIN, _AWAY = 44, 12, 14  # in letters; pixels; pixels from the place
_LARGER, _LINES = 1.15, 45.0  # than other text; letters on a large stage: so many lines of them fill its height


class AnswerBubble(QWidget):
    """A message over a picture. Escape and the button at its right close it."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over, self._at = over, QPoint()
        self.text = plain()
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAccessibleDescription(tr("Answer"))
        self.close_button = QToolButton()
        self.close_button.setText("✕")
        self.close_button.setAutoRaise(True)
        self.close_button.setToolTip(tr("Close this answer (Esc)"))
        self.close_button.setAccessibleName(tr("Close this answer"))
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(_MARGIN, _MARGIN, _MARGIN // 2, _MARGIN)
        row.addWidget(self.text, 1)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.hide()

    def set_place(self, at: QPoint) -> None:
        """Set the place that the next answer is about, in pixels of the picture."""
        self._at = at

    def show_sentences(self, sentences: tuple[str, ...]) -> None:
        """Show sentences, one below the other; hide without any."""
        self.setVisible(bool(sentences))
        if not sentences:
            return
        size = max(_LARGER * QApplication.font().pixelSize(), self._over.height() / _LINES)
        self.text.setFont(font("regular", size))
        self.text.setText("\n".join(sentences))
        QToolTip.hideText()
        self.place()
        self.raise_()
        announce(self.text, " ".join(sentences))

    def place(self) -> None:
        """Move the bubble beside its place, inside the picture."""
        if self.isHidden():
            return
        width = min(_WIDTH * self.text.fontMetrics().averageCharWidth() + 4 * _MARGIN, self._over.width() - 8)
        inner = width - 1.5 * _MARGIN - self.close_button.sizeHint().width() - self._row.spacing()
        height = self.text.heightForWidth(int(inner)) + 2 * _MARGIN
        self.setFixedSize(width, max(1, min(height, self._over.height() - 8)))
        right = self._at.x() + _AWAY
        x = right if right + width <= self._over.width() - 4 else max(4, self._at.x() - _AWAY - width)
        y = max(4, min(self._at.y() + _AWAY, self._over.height() - self.height() - 4))
        self.move(x, y)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().placeholderText().color(), 1.0))
        painter.setBrush(self.palette().window())
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 8, 8)
        painter.end()


def announce(widget: QWidget, sentence: str) -> None:
    """Let a screen reader say a sentence."""
    if sentence and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, sentence))
