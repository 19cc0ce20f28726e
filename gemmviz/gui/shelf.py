"""The shelf: a card for each shipped lesson, in teaching order or by title."""

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QImage, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gemmviz.cuda.launch.catalog import lesson_names
from gemmviz.gui.small_pictures import HEIGHT, WIDTH, CardContents
from gemmviz.gui.widgets import dialogs
from gemmviz.gui.widgets.controls import button_with_tip, choice, line, scrolled
from gemmviz.gui.widgets.input import keep_keys
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import many, marked, tr
from gemmviz.render.qt.painter import font
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.teaching.lesson_file import lesson_title

# A card of a lesson: a moving picture of it, its title and length, and how much of it was seen.

_HIGH, _PAD, _RADIUS, _BAR = 96, 8, 8.0, 4.0
_TITLE, _NARROW_TITLE, _TEXT = 15.0, 13.0, 12.5  # pixels
_NARROW, _NARROW_SHARE = 330, 0.36
_OPEN = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_CARD_KEYS = (*_OPEN, Qt.Key.Key_Space, Qt.Key.Key_Up, Qt.Key.Key_Down)


class LessonCard(QAbstractButton):
    """A button that opens a lesson. ``seen``: number of its steps that were seen; ``frame``: which picture is shown."""

    def __init__(self, name: str, title: str, theme: Theme) -> None:
        super().__init__()
        self.name, self.title, self.theme = name, title, theme
        self.contents: CardContents | None = None
        self.seen, self.frame = 0, 0
        self.setAccessibleName(title)
        self.setToolTip(title)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        keep_keys(self, _CARD_KEYS)  # here these keys open and choose lessons
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(380, _HIGH)

    def minimumSizeHint(self) -> QSize:
        return QSize(250, _HIGH)

    def show_contents(self, contents: CardContents, seen: int) -> None:
        """Show what is known of the lesson, and how much of it was seen."""
        self.contents, self.seen = contents, seen
        self.setToolTip(contents.facts.about)
        self.setAccessibleDescription(self.length)
        self.update()

    @property
    def length(self) -> str:
        """The lesson's length and progress as a sentence; "" until it is known."""
        if self.contents is None:
            return ""
        steps, minutes = len(self.contents.facts.steps), self.contents.facts.minutes
        seen = tr("all seen") if self.seen == steps else tr("{seen} seen", seen=self.seen)
        return tr("{minutes} minutes, {steps}, {seen}", minutes=f"{minutes:g}", steps=many(steps, "step"), seen=seen)

    def advance(self) -> None:
        """Show the next picture."""
        if self.contents is not None and self.contents.frames:
            self.frame = (self.frame + 1) % len(self.contents.frames)
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _OPEN:
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self.theme, QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        is_near = self.underMouse() or self.isDown()
        area = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        edge = theme.chosen if self.hasFocus() else theme.faint if is_near else theme.line
        painter.setPen(QPen(QColor(edge), 2 if self.hasFocus() else 1))
        painter.setBrush(QColor(mixed(theme.panel, theme.text, 0.07 if is_near else 0.03)))
        painter.drawRoundedRect(area, _RADIUS, _RADIUS)
        picture = self._picture(area)
        self._paint_picture(painter, picture)
        self._paint_words(
            painter, QRectF(picture.right() + 12, area.top() + 9, area.right() - picture.right() - 22, area.height() - 18)
        )
        painter.end()

    def _picture(self, area: QRectF) -> QRectF:
        high = area.height() - 2 * _PAD
        share = _NARROW_SHARE if self.width() < _NARROW else 0.44
        return QRectF(area.left() + _PAD, area.top() + _PAD, min(high * WIDTH / HEIGHT, share * area.width()), high)

    def _paint_picture(self, painter: QPainter, box: QRectF) -> None:
        path = QPainterPath()
        path.addRoundedRect(box, 5, 5)
        painter.save()
        painter.setClipPath(path)
        painter.fillRect(box, QColor(self.theme.background))
        frames = () if self.contents is None else self.contents.frames
        if frames:
            image = QImage.fromData(frames[self.frame % len(frames)])
            scale = box.height() / image.height()
            width = image.width() * scale
            painter.drawImage(QRectF(box.center().x() - width / 2, box.top(), width, box.height()), image)
        painter.restore()

    def _paint_words(self, painter: QPainter, box: QRectF) -> None:
        theme, wrap = self.theme, Qt.TextFlag.TextWordWrap
        painter.setFont(font("semibold", _NARROW_TITLE if self.width() < _NARROW else _TITLE))
        painter.setPen(QColor(theme.text))
        painter.drawText(box.adjusted(0, 0, 0, -26), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | wrap, self.title)
        painter.setFont(font("regular", _TEXT))
        painter.setPen(QColor(theme.faint))
        length = painter.fontMetrics().elidedText(self.length, Qt.TextElideMode.ElideRight, int(box.width()))
        painter.drawText(box.adjusted(0, 0, 0, -9), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, length)
        bar = QRectF(box.left(), box.bottom() - _BAR, box.width(), _BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.line))
        painter.drawRoundedRect(bar, 2, 2)
        steps = 0 if self.contents is None else len(self.contents.facts.steps)
        if steps and self.seen:
            painter.setBrush(QColor(theme.text))
            painter.drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width() * self.seen / steps, _BAR), 2, 2)


_CARD_FRAME_MS = 160
_LESSON_ORDERS = ((marked("In teaching order"), False), (marked("By title"), True))
_ROW_KEYS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}


class Shelf(QWidget):
    """The cards in a column. Their pictures move while they are visible, unless motion is reduced."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.course = model, model.course
        self.setAccessibleName(tr("Shelf of lessons"))
        self.order = choice(
            tr("Order of the lessons"), tr("Order of the lessons"), ((tr(text), by_title) for text, by_title in _LESSON_ORDERS)
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
        self.area = scrolled(inside, tr("Lessons"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addWidget(self.area, 1)
        for card in self.cards:
            card.clicked.connect(lambda checked=False, name=card.name: model.opening.open_lesson(name))
        self._clock = QTimer(self, interval=_CARD_FRAME_MS)
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
        distance = _ROW_KEYS.get(Qt.Key(event.key()))
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


# The panel beside the first picture: the shelf of lessons, and buttons to open a kernel and to explore tiles.

_LEAST, _MOST = 300, 520
_INTRODUCTION = marked(
    "See what every thread of a CUDA kernel does: the source runs as it is, and each number is counted from the run."
)


class StartPanel(QWidget):
    """The start: beside the picture, in place of all other panels. ``explore`` shows the tiled multiplication with all panels;
    ``open`` asks for a kernel of the user.
    """

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.setAccessibleName(tr("Start"))
        self.setMinimumWidth(_LEAST)
        self.setMaximumWidth(_MOST)
        title = line("heading")
        title.setText("gemmviz")
        title.setFont(font("semibold", 24))
        about = line("faint")
        about.setText(tr(_INTRODUCTION))
        self.explore = _tall_button(tr("Explore tiles"), tr("Show all panels, and change the tiled multiplication"))
        self.open = _tall_button(tr("Open my kernel …"), tr("Open a .cu file, a trace, a saved view or a lesson (Ctrl+O)"))
        self.open.clicked.connect(lambda: dialogs.ask_to_open(model, self.window()))
        buttons = QHBoxLayout()
        buttons.addWidget(self.explore)
        buttons.addWidget(self.open)
        self.shelf = Shelf(model)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 10, 10)
        column.setSpacing(10)
        for widget in (title, about):
            column.addWidget(widget)
        column.addLayout(buttons)
        column.addWidget(self.shelf, 1)


def _tall_button(text: str, tip: str) -> QPushButton:
    button = button_with_tip(text, tip)
    button.setMinimumHeight(34)
    return button
