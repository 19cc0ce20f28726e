"""The shelf: a card for each shipped lesson, in teaching order or by title."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gemmviz.gui.start.card import LessonCard
from gemmviz.gui.widgets.controls import choice, line
from gemmviz.gui.window_model import WindowModel
from gemmviz.launch.catalog import lesson_names
from gemmviz.model.translation import marked, tr
from gemmviz.teaching.lesson_file import lesson_title

_FRAME_MS = 160
_ORDERS = ((marked("In teaching order"), False), (marked("By title"), True))
_KEYS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}


class Shelf(QWidget):
    """The cards in a column. Their pictures move while they are visible, unless motion is reduced."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.course = model, model.course
        self.setAccessibleName(tr("Shelf of lessons"))
        self.order = choice(
            tr("Order of the lessons"), tr("Order of the lessons"), ((tr(text), by_title) for text, by_title in _ORDERS)
        )
        self.order.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        heading = line("heading")
        heading.setText(tr("Lessons"))
        head = QHBoxLayout()
        head.addWidget(heading, 1)
        head.addWidget(self.order)
        self.cards = [LessonCard(name, lesson_title(name), model.theme) for name in lesson_names()]
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, 4, 0)
        self._column.setSpacing(6)
        self.area = QScrollArea()
        self.area.setAccessibleName(tr("Lessons"))
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(inside)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addWidget(self.area, 1)
        for card in self.cards:
            card.clicked.connect(lambda checked=False, name=card.name: model.opening.open_lesson(name))
        self._clock = QTimer(self, interval=_FRAME_MS)
        self._clock.timeout.connect(self._move)
        self.order.activated.connect(self._arrange)
        model.thumbnails.changed.connect(self._on_contents)
        model.course.changed.connect(self._show_progress)
        model.theme_changed.connect(self._on_theme)
        self._arrange()

    def _arrange(self) -> None:
        """Put the cards in the chosen order."""
        cards = sorted(self.cards, key=lambda card: card.title) if self.order.currentData() else self.cards
        while self._column.count():
            self._column.takeAt(0)
        for before, card in zip([self.order, *cards], cards, strict=False):
            self._column.addWidget(card)
            QWidget.setTabOrder(before, card)
        self._column.addStretch(1)

    @property
    def shown(self) -> list[LessonCard]:
        """The cards from top to bottom."""
        return sorted(self.cards, key=self._column.indexOf)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between the cards with the arrow keys."""
        distance = _KEYS.get(Qt.Key(event.key()))
        cards = self.shown
        place = next((number for number, card in enumerate(cards) if card.hasFocus()), None)
        if distance is None or place is None:
            super().keyPressEvent(event)
            return
        card = cards[max(0, min(place + distance, len(cards) - 1))]
        card.setFocus()
        self.area.ensureWidgetVisible(card)

    def showEvent(self, event: QShowEvent) -> None:
        QTimer.singleShot(0, self._prepare)  # panels are shown for a moment while a window is laid out
        self._show_progress()
        self._clock.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self._clock.stop()

    def _move(self) -> None:
        if not self.model.session.player.is_calm:
            for card in self.cards:
                if not card.visibleRegion().isEmpty():
                    card.advance()

    def _on_contents(self, name: str) -> None:
        card = next(each for each in self.cards if each.name == name)
        contents = self.model.thumbnails.all[name]
        card.show_contents(contents, sum(step in self.course.seen for step in contents.facts.steps))

    def _show_progress(self) -> None:
        if self.isVisible():
            for name in self.model.thumbnails.all:
                self._on_contents(name)

    def _on_theme(self) -> None:
        for card in self.cards:
            card.theme = self.model.theme
            card.update()
        self._prepare()

    def _prepare(self) -> None:
        """Prepare the pictures in the present colours if they can be seen."""
        if self.isVisible():
            self.model.thumbnails.prepare(self.model.theme_name)
