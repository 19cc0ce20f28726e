"""The first-run tour: captions beside the parts of the window."""

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gemmviz.gui.timeline import DRAG
from gemmviz.gui.widgets.controls import set_look
from gemmviz.gui.widgets.scene_widget import announce, faded
from gemmviz.model.messages import tr
from gemmviz.scenes.kit.theme import Theme

TourStep = tuple[QWidget, str, str]
_CAPTION_WIDTH, _GAP = 380, 24


def tour_stops(stage: QWidget, time: QWidget, tiles: QWidget, source: QWidget, panels: QWidget) -> list[TourStep]:
    """Return widget, title and text of each caption."""
    of_stage = tr(
        "B is above C, A is to its left, and the block's shared tiles are between them. Bright cells are "
        "accessed in this step. Copies move from a matrix to a tile and to a thread. Hover over a cell for "
        "details. Click an element of the result to follow its thread."
    )
    of_time = tr(
        "Press Space to play or pause, an arrow key for one step, Page Up or Page Down for one phase. + and − change the speed."
    )
    of_source = tr(
        "The source code of the kernel, with the current access highlighted. Click a line to go to its next "
        "step. The variables of the watched thread are below."
    )
    of_panels = tr(
        "Settings, counts, costs, lessons and saved views open beside the picture. A click opens those that were open last, "
        "the arrow lists all."
    )
    return [
        (stage, tr("The stage"), of_stage),
        (time, tr("Time"), of_time),
        (tiles, tr("Tile size"), tr(DRAG)),
        (source, tr("Source"), of_source),
        (panels, tr("Panels"), of_panels),
    ]


class Tour(QWidget):
    """An overlay of the window. Enter or Next goes on, Escape ends; ``finished`` is emitted in both cases. Parts of the window
    that aren't shown are left out.
    """

    finished = Signal()

    def __init__(self, window: QWidget, stops: list[TourStep], theme: Theme) -> None:
        super().__init__(window)
        self._over = window
        self.stops, self.theme, self.number = [stop for stop in stops if stop[0].isVisible()], theme, 0
        self.setGeometry(window.rect())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Tour"))
        self.card = QFrame(self)
        self.card.setObjectName("card")
        self.card.setStyleSheet(
            f"#card {{ background: {theme.panel}; border: 1px solid {theme.accent('A')}; border-radius: 8px; }}"
        )
        self.card.setFixedWidth(_CAPTION_WIDTH)
        self.title, self.text, self.count = QLabel(), QLabel(), QLabel()
        set_look(self.title, "heading")
        self.text.setWordWrap(True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        set_look(self.count, "faint")
        self.skip, self.next = QPushButton(tr("Skip")), QPushButton(tr("Next"))
        self.skip.setToolTip(tr("End the tour (Escape). Help › Tour starts it again"))
        self.next.setToolTip(tr("Next caption (Enter)"))
        self.skip.clicked.connect(self.end)
        self.next.clicked.connect(self.go_on)
        buttons = QHBoxLayout()
        buttons.addWidget(self.count)
        buttons.addStretch(1)
        buttons.addWidget(self.skip)
        buttons.addWidget(self.next)
        self._column = layout = QVBoxLayout(self.card)
        layout.addWidget(self.title)
        layout.addWidget(self.text, 1)
        layout.addLayout(buttons)
        self.show()
        self._show()
        self.raise_()
        self.next.setFocus()

    def go_on(self) -> None:
        self.number += 1
        self._show() if self.number < len(self.stops) else self.end()

    def end(self) -> None:
        self.finished.emit()  # the focus goes before the tour, or Qt would move it as Tab does
        self.hide()
        self.deleteLater()

    def _show(self) -> None:
        _, title, text = self.stops[self.number]
        self.title.setText(title)
        self.count.setText(tr("{number} of {stops}", number=self.number + 1, stops=len(self.stops)))
        self.next.setText(tr("Done") if self.number + 1 == len(self.stops) else tr("Next"))
        announce(self.card, f"{title}. {text}")
        self.place()

    def place(self) -> None:
        """Cover the window, with the card at the lower right of the first part, or below a part that is too low for it. It
        is as high as the longest text, and stays there.
        """
        self.setGeometry(self._over.rect())
        high = 0
        for _, _, text in (*self.stops, self.stops[self.number]):
            self.text.setText(text)
            self._column.activate()
            high = max(high, self._column.totalHeightForWidth(_CAPTION_WIDTH))
        self.card.setFixedHeight(high)
        first = self._hole(0)
        inside, below = first.bottom() - self.card.height() - _GAP, first.bottom() + _GAP
        self.card.move(first.right() - self.card.width() - _GAP, inside if inside > first.top() else below)
        self.update()

    def _hole(self, number: int) -> QRect:
        """Return the place of a part of the window."""
        target = self.stops[number][0]
        return QRect(target.mapTo(self._over, QPoint(0, 0)), target.size()).adjusted(-3, -3, 3, 3)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        cover, hole = QPainterPath(), QPainterPath()
        cover.addRect(self.rect())
        hole.addRoundedRect(self._hole(self.number), 6, 6)
        painter.fillPath(cover.subtracted(hole), faded(self.theme.background, 0.72))
        painter.setPen(QPen(faded(self.theme.chosen, 1.0), 2))
        painter.drawPath(hole)
        painter.end()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # during the tour, the window receives no keys
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Right):
            self.go_on()

    def mousePressEvent(self, event: object) -> None:
        """Ignore clicks."""
