"""Notices about the picture, above it. Each can be closed."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from gemmviz.gui.widgets.controls import plain, set_look
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import tr
from gemmviz.state.notices import Notice, Offer


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
        for line in self._lines:
            line.deleteLater()
        self._lines = [self._line(notice) for notice in notices]
        for line in self._lines:
            self._rows.addWidget(line)
        self.setVisible(bool(notices))

    def _line(self, notice: Notice) -> QWidget:
        line, text, close = QWidget(), plain(notice.text), QToolButton()
        text.setWordWrap(True)
        set_look(text, "message" if notice.warns else "notice")
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text.setAccessibleDescription(tr("Message"))
        close.setText("✕")
        close.setAutoRaise(True)
        close.setToolTip(tr("Close this message"))
        close.setAccessibleName(tr("Close this message"))
        close.clicked.connect(lambda: self._close(notice))
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 2, 0, 2)
        row.addWidget(text, 1)
        if notice.offer is not None:
            row.addWidget(self._button(notice.offer), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _button(self, offer: Offer) -> QPushButton:
        button = QPushButton(offer.title)
        button.setToolTip(offer.tip)
        button.setAccessibleName(offer.title)
        button.setAccessibleDescription(offer.tip)
        button.clicked.connect(lambda: self._take(offer))
        return button

    def _take(self, offer: Offer) -> None:
        offer.take()
        self.model.released.emit()

    def _close(self, notice: Notice) -> None:
        self.model.session.notices.drop(notice.topic)
        self.model.released.emit()
