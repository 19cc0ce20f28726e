"""A bubble beside a field with an invalid value: the reason and a remedy. It floats, so that the form does not move."""

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygon
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from gemmviz.gui.widgets.controls import plain, set_look
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.theme import Theme

_WIDTH, _TIP, _MARGIN = 320, 10, 12


class Callout(QWidget):
    """A message to the right of a field; at the upper edge of the window if the field is not visible."""

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self.theme = theme
        self._over = window
        self._field: QWidget | None = None
        self._watched: list[QWidget] = []
        self.text = plain()
        self.text.setWordWrap(True)
        set_look(self.text, "message")
        self.text.setAccessibleDescription(tr("Error"))
        self.remedy = QPushButton()
        self.remedy.setToolTip(tr("Use the nearest valid setting"))
        close = QToolButton()
        close.setText("✕")
        close.setAutoRaise(True)
        close.setToolTip(tr("Close this message and keep the setting"))
        close.setAccessibleName(tr("Close this message"))
        close.clicked.connect(self.hide)
        row = QHBoxLayout()
        row.addWidget(self.text, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN + _TIP, _MARGIN, _MARGIN // 2, _MARGIN)
        column.addLayout(row)
        column.addWidget(self.remedy, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_error(self, text: str, remedy: str, field: QWidget | None) -> None:
        """Show an error. ``remedy``: the text of the button, "" for no button."""
        self.text.setText(text)
        self.remedy.setText(remedy)
        self.remedy.setVisible(bool(remedy))
        self._follow(field)
        self.show()
        self.raise_()
        self.place()

    def clear(self) -> None:
        self._follow(None)
        self.hide()

    def _follow(self, field: QWidget | None) -> None:
        """Follow the field when the window, its dock or its scroll area moves."""
        for each in self._watched:
            each.removeEventFilter(self)
        self._field, self._watched = field, []
        around: QWidget | None = field or self._over
        while around is not None:
            around.installEventFilter(self)
            self._watched.append(around)
            around = around.parentWidget()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kinds = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.LayoutRequest)
        if self.isVisible() and event.type() in kinds:
            self.place()
        return False

    def place(self) -> None:
        """Move the bubble beside the field."""
        window = self._over
        self.setFixedWidth(min(_WIDTH, window.width() // 2))
        self.setFixedHeight(self._column.heightForWidth(self.width()))
        field = self._field
        if field is None or not field.isVisible() or field.visibleRegion().isEmpty():
            self.move((window.width() - self.width()) // 2, 60)
        else:
            at = field.mapTo(window, QPoint(field.width() + 4, field.height() // 2))
            top = max(4, min(at.y() - self.height() // 2, window.height() - self.height() - 4))
            self.move(min(at.x(), window.width() - self.width() - 4), top)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self.theme.warning), 1.5))
        painter.setBrush(QColor(self.theme.panel))
        painter.drawRoundedRect(self.rect().adjusted(_TIP, 1, -1, -1), 6, 6)
        if self._field is not None and self._field.isVisible():
            middle = self.mapFrom(self._over, self._field.mapTo(self._over, self._field.rect().center())).y()
            tip = max(14, min(middle, self.height() - 14))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.theme.warning))
            painter.drawPolygon(QPolygon([QPoint(0, tip), QPoint(_TIP, tip - 7), QPoint(_TIP, tip + 7)]))
        painter.end()
