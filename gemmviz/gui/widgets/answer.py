"""A bubble with the answer to a click, beside the place that was clicked. Its text can be selected and copied."""

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QHBoxLayout, QToolButton, QToolTip, QWidget

from gemmviz.gui.widgets.controls import plain
from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.model.translation import tr
from gemmviz.render.qt.painter import font
from gemmviz.scenes.kit.primitives import Cells, Hit

_WIDTH, _MARGIN, _AWAY = 44, 12, 14  # in letters; pixels; pixels from the place
_LARGER, _LINES = 1.15, 45.0  # than other text; letters on a large stage: so many lines of them fill its height


class AnswerBubble(QWidget):
    """A message over a picture. Escape and the button at its right close it."""

    def __init__(self, over: SceneWidget) -> None:
        super().__init__(over)
        self._over = over
        self._about: Hit | None = None
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

    def set_place(self, about: Hit | None) -> None:
        """Set the cell that the next answer is about, None for no single one."""
        self._about = about

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
        """Move the bubble inside the picture: beside its place, or below or above it, and not over the title."""
        if self.isHidden():
            return
        width = min(_WIDTH * self.text.fontMetrics().averageCharWidth() + 4 * _MARGIN, self._over.width() - 8)
        inner = width - 1.5 * _MARGIN - self.close_button.sizeHint().width() - self._row.spacing()
        height = self.text.heightForWidth(int(inner)) + 2 * _MARGIN
        self.setFixedSize(width, max(1, min(height, self._over.height() - 8)))
        room, title = self._over.rect().adjusted(4, 4, -4, -4), self._over.title_box()
        about = QRect(self._over.width() // 3, self._over.height() // 3, 1, 1)
        if self._about is not None and self._over.scene is not None:
            now = self._over.scene.find(self._about.cells.key)  # elsewhere since the picture has another size
            cells = now if isinstance(now, Cells) else self._about.cells
            about = self._over.box_of(Hit(cells, self._about.row, self._about.column)).toAlignedRect()
        box = QRect(about.bottomRight() + QPoint(_AWAY, _AWAY), self.size())
        if box.right() > room.right():
            box.moveRight(about.left() - _AWAY)
        if box.left() < room.left():  # there is no room at either side
            box.moveLeft(max(room.left(), min(about.left(), room.right() - width)))
            if box.bottom() > room.bottom():
                box.moveBottom(about.top() - _AWAY)
        elif box.intersects(title):
            box.moveTop(title.bottom() + _AWAY)
        box.moveTop(max(room.top(), min(box.top(), room.bottom() - box.height())))
        self.move(box.topLeft())

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
