"""A card of a lesson: a moving picture of it, its title and length, and how much of it was seen."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from gemmviz.gui.thumbnails import HEIGHT, WIDTH, CardContents
from gemmviz.model.translation import tr
from gemmviz.model.words import many
from gemmviz.render.qt.fonts import font
from gemmviz.scenes.kit.theme import Theme, mixed

_HIGH, _PAD, _RADIUS, _BAR = 96, 8, 8.0, 4.0
_TITLE, _NARROW_TITLE, _TEXT = 15.0, 13.0, 12.5  # pixels
_NARROW, _NARROW_SHARE = 330, 0.36
_OPEN = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_KEYS = (*_OPEN, Qt.Key.Key_Space, Qt.Key.Key_Up, Qt.Key.Key_Down)


class LessonCard(QAbstractButton):
    """A button that opens a lesson. ``seen``: number of its steps that were seen; ``frame``: which picture is shown."""

    def __init__(self, name: str, title: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name, self.title, self.theme = name, title, theme
        self.contents: CardContents | None = None
        self.seen, self.frame = 0, 0
        self.setAccessibleName(title)
        self.setToolTip(title)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
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

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in _KEYS:
            event.accept()  # here these keys open and choose lessons
            return True
        return super().event(event)

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
            wide = image.width() * scale
            painter.drawImage(QRectF(box.center().x() - wide / 2, box.top(), wide, box.height()), image)
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
