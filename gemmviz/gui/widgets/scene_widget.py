"""A widget that shows a scene and what moves over it, and reports the cell under the pointer; the bubble with the answer to a
click; and words of the glossary, explained where they stand.
"""

import sys
from collections.abc import Mapping
from html import escape

from PySide6.QtCore import QCollator, QEvent, QLocale, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QCursor,
    QFocusEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QTextBrowser,
    QToolTip,
    QVBoxLayout,
    QWhatsThis,
    QWidget,
)

from gemmviz.files.languages import GlossaryEntry, glossary, term_at
from gemmviz.gui.widgets.controls import close_button, plain
from gemmviz.gui.widgets.fact_table import FactGrid, OwnWords, PictureTables, Words, scene_grids
from gemmviz.model.messages import language, tr
from gemmviz.render.qt.painter import ScenePainter, Viewport, font
from gemmviz.render.qt.raster import Ground, Layers, RetainedLayer
from gemmviz.scenes.kit.primitives import Cells, Hit, Labels, Primitive, Scene, text_width
from gemmviz.scenes.kit.shapes import LabelUnder, label_at

# Words of the glossary, explained where they stand.

_FIRST_SIZE = 640, 560


def entry_text(entry: GlossaryEntry) -> str:
    """Return an entry as HTML."""
    return f"<p><b>{escape(entry.title)}</b><br>{escape(entry.text)}</p>"


def explain(entry: GlossaryEntry, at: QPoint, widget: QWidget) -> None:
    """Show an entry at a place of the screen until the next click or key."""
    QWhatsThis.showText(at, entry_text(entry), widget)


def explain_first(text: str, at: QPoint, widget: QWidget) -> None:
    """Show the entry of the first term of a text, if it has one."""
    found = next(filter(None, (term_at(text, index) for index in range(len(text)))), None)
    if found is not None:
        explain(found.entry, at, widget)


class GlossaryBox(QDialog):
    """All entries."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Glossary"))
        self.resize(*_FIRST_SIZE)
        self.text = QTextBrowser()
        self.text.setAccessibleName(tr("Glossary"))
        order = QCollator(QLocale(language()))
        self.text.setHtml("".join(map(entry_text, sorted(glossary(), key=lambda each: order.sortKey(each.title)))))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.text, 1)
        layout.addWidget(buttons)


_HOVER_MS = 90
_LINE_BELOW = 0.14  # of a text's size: from its baseline to the line below a word that is explained
_RING = 3.0  # pixels: around the picture when it has the keyboard's focus
_PIXELS_AT_ONCE = 1 << 20  # of a picture that is prepared: a few milliseconds
_Ahead = tuple[Scene, Layers, list[QRect | None]]  # a picture that is prepared, and what differs from the present one
_SOON_MS = 150  # a picture that takes less time is not announced


class SceneWidget(QWidget):
    """A picture. ``hovered`` carries the Hit that the pointer rests on or that has the keyboard's focus, None when it leaves;
    ``clicked`` a Hit; ``resized`` follows a change of size. ``words``: what the picture says to those who can't see it.
    """

    hovered = Signal(object)
    clicked = Signal(object)
    resized = Signal()
    painted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.scene: Scene | None = None
        self.motion: tuple[Primitive, ...] = ()
        self.stale = ""
        self.pending = ""
        self._pending = ""
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(lambda: self._show_pending(self._pending))
        self._painter = ScenePainter()
        self._layers, self._moving = Layers(), RetainedLayer()
        self._still: Ground | None = None
        self._spare: Ground | None = None  # the ground before, or of the picture that is prepared
        self._ahead: _Ahead | None = None
        self._pointed: Hit | None = None
        self._explained: QRectF | None = None  # the line below the word that a click explains
        self._at: QPointF | None = None
        self._rest = QTimer(self, singleShot=True, interval=_HOVER_MS)
        self._rest.timeout.connect(self._on_rest)
        self.words: Words = OwnWords()
        self.tables = PictureTables(self, self, self._on_focused, self.clicked.emit)
        self._focused: Hit | None = None
        self._is_entered = False  # whether the focus came by the keyboard

    def set_scene(self, scene: Scene | None, motion: tuple[Primitive, ...] = ()) -> None:
        """Show another picture, None for an empty one. Only what differs is painted."""
        before, self.scene, self.motion = self.scene, scene, motion
        ahead, self._ahead = self._ahead, None
        if scene is None or before is None or self._still is None or _canvas(scene) != _canvas(before):
            self.forget_still()
        else:
            is_prepared = ahead is not None and ahead[0] is scene
            layers, changed = ahead[1:] if ahead is not None and is_prepared else self._layers.then(scene, *self._views(scene))
            self._layers = layers
            self._still.add(changed[0])
            if is_prepared and self._spare is not None:
                self._still, self._spare = self._spare, self._still
            elif self._spare is not None:
                self._spare.add(changed[0])
                self._forget_ahead(ahead)
            self._update([*changed, self._take_motion()])
        if self._at is not None:
            self._rest.start()  # the cell under the pointer may have changed
        self.tables.changed()

    def prepare(self, scene: Scene) -> bool:
        """Paint a part of the ground of the picture that is probably shown next, so that ``set_scene`` with it has little to
        paint. Return whether more of it is left.
        """
        if self._still is None or self.scene is None or _canvas(scene) != _canvas(self.scene):
            return False
        spare = self._spare = self._spare or Ground(self.rect(), self.devicePixelRatioF())
        if self._ahead is None or self._ahead[0] is not scene:
            self._forget_ahead(self._ahead)
            self._ahead = scene, *self._layers.then(scene, *self._views(scene))
            spare.add(self._ahead[2][0])
        else:
            spare.paint(self._painter, self._ahead[1].below, scene.background, _PIXELS_AT_ONCE)
        return not spare.outdated.isEmpty()

    def _forget_ahead(self, ahead: _Ahead | None) -> None:
        """Count as outdated what was painted for a picture that is not shown now."""
        if ahead is not None and self._spare is not None:
            self._spare.add(ahead[2][0])

    def set_stale(self, why: str) -> None:
        """Dim the picture and show why it does not match the settings; "" removes the message."""
        if why != self.stale:
            self.stale = why
            self.update()

    def set_pending(self, what: str) -> None:
        """Show in a corner what is being prepared, if that takes longer than a moment; "" removes it."""
        if not what:
            self._soon.stop()
            self._show_pending("")
        elif self.pending:
            self._show_pending(what)
        elif not self._soon.isActive():
            self._soon.start()
        self._pending = what

    def _show_pending(self, what: str) -> None:
        if what != self.pending:
            self.pending = what
            self.update()

    def set_motion(self, motion: tuple[Primitive, ...]) -> None:
        """Show the same picture at another moment."""
        if motion or self.motion:
            self.motion = motion
            self._update([self._take_motion() if self.scene is not None else None])

    def _take_motion(self) -> QRect | None:
        """Lay out what moves, and return what differs, None for all."""
        self._moving, changed = self._moving.then(self.motion, self.view)
        return changed

    def _views(self, scene: Scene) -> tuple[Viewport, Viewport]:
        """Return the present view of a scene, and that of what keeps its place."""
        view = self.view
        return view, view.whole(scene, QRectF(self.rect()))

    def _update(self, changed: list[QRect | None]) -> None:
        """Have the rectangle around these painted, all of the widget if one of them is None."""
        whole = QRect()
        for rect in changed:
            whole |= self.rect() if rect is None else rect
        self.update(whole)

    @property
    def view(self) -> Viewport:
        """The mapping of the scene's units to the pixels of this widget."""
        assert self.scene is not None
        fitted = Viewport.fit(self.scene, self.width(), self.height())
        return Viewport(fitted.scale, fitted.dx, fitted.dy, self.devicePixelRatioF())

    def hit(self, at: QPointF) -> Hit | None:
        """Return the cell at a position in pixels, None if there is none."""
        if self.scene is None:
            return None
        view = self.view
        return self.scene.hit((at.x() - view.dx) / view.scale, (at.y() - view.dy) / view.scale)

    def text_at(self, at: QPointF) -> str:
        """Return the text that is drawn at a position in pixels, "" if there is none."""
        written = self._written_at(at)
        return "" if written is None else written[0].text

    def _written_at(self, at: QPointF) -> tuple[LabelUnder, Viewport] | None:
        """Return the text at a position, and the view in which it lies."""
        if self.scene is None:
            return None
        scene, (view, whole) = self.scene, self._views(self.scene)
        for drawn, seen in ((scene.words, whole), ((*scene.primitives, *self.motion, *scene.above), view)):
            written = label_at(drawn, (at.x() - seen.dx) / seen.scale, (at.y() - seen.dy) / seen.scale)
            if written is not None:
                return written, seen
        return None

    def term_at(self, at: QPointF) -> tuple[GlossaryEntry, QRectF] | None:
        """Return the entry of the glossary for the word at a position, and the line below that word; None for other words."""
        found = self._written_at(at)
        if found is None:
            return None
        written, seen = found
        term = term_at(written.text, written.index_at((at.x() - seen.dx) / seen.scale))
        if term is None:
            return None
        start, end = written.x_of(term.start), written.x_of(term.end)
        return term.entry, seen.rect(start, written.y + _LINE_BELOW * written.size, end - start, 0.0)

    def explain_at(self, at: QPointF) -> None:
        """Explain the word at a position, if the glossary has it."""
        term = self.term_at(at)
        if term is not None:
            explain(term[0], self.mapToGlobal(at.toPoint()), self)

    def words_of(self) -> str:
        """Return the whole picture in words."""
        return "" if self.scene is None else self.words.picture(self.scene)

    def grids(self) -> Mapping[str, FactGrid]:
        """Return the tables of the picture."""
        return {} if self.scene is None else dict(scene_grids(self.scene, self.words, self.box_of, QRectF(self.rect())))

    def box_of(self, hit: Hit) -> QRectF:
        """Return the place of a cell in pixels."""
        return self.view.rect(*hit.box)

    def title_box(self) -> QRect:
        """Return the place of the title and of the sentence about the step in pixels, empty without them."""
        box = QRectF()
        if self.scene is not None:
            seen = self._views(self.scene)[1]
            for each in self.scene.words:
                if isinstance(each, Labels) and each.meaning in ("title", "action"):
                    for (x, y), text in zip(each.at.tolist(), each.texts, strict=True):
                        box |= seen.rect(x, y - each.size, text_width(text, each.size, each.face), 1.25 * each.size)
        return box.toAlignedRect()

    @property
    def tip_place(self) -> QPoint:
        """The place on the screen for what is said about the cell that ``hovered`` carries."""
        hit = self._focused or self._pointed
        if hit is None:
            return QCursor.pos()
        corner = self.box_of(hit).bottomRight().toPoint()
        return self.mapToGlobal(QPoint(min(corner.x(), self.width()), min(corner.y(), self.height())))

    def forget_still(self) -> None:
        """Discard what is painted, because the picture is now viewed differently."""
        self._still = self._spare = self._ahead = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, is_painted = QPainter(self), True
        area = QRectF(self.rect())
        if self.scene is None:
            painter.fillRect(area, self.palette().base())
        else:
            try:
                self._paint(painter, self.scene, area, event.rect())
            except Exception:  # PySide may end the program if an exception leaves a paint event
                sys.excepthook(*sys.exc_info())
                is_painted = False
        if self.stale:
            self._paint_veil(painter, area)
        if self.pending:
            self._paint_pending(painter, area)
        if self._is_entered:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self.palette().text().color(), _RING))
            painter.drawRect(area.adjusted(_RING / 2, _RING / 2, -_RING / 2, -_RING / 2))
        painter.end()
        if is_painted:
            self.painted.emit()

    def _paint(self, painter: QPainter, scene: Scene, area: QRectF, asked: QRect) -> None:
        """Paint the rectangle ``asked`` of the picture: the ground, which is kept, and what lies over it."""
        if self._still is None:
            self._still = Ground(self.rect(), self.devicePixelRatioF())
            self._layers, _ = self._layers.then(scene, *self._views(scene))
            self._take_motion()
        self._still.paint(self._painter, self._layers.below, scene.background)
        painter.drawPixmap(0, 0, self._still.pixmap)
        for layer in (self._moving, self._layers.above, self._layers.over):
            layer.paint(self._painter, painter, asked)
        painter.setClipping(False)
        if self._explained is not None:
            painter.setPen(QPen(self.palette().text().color(), 2.0))
            painter.drawLine(self._explained.topLeft(), self._explained.topRight())
        if self._pointed is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self.palette().text().color(), 2.0))
            painter.drawRect(self.view.rect(*self._pointed.box))

    def _paint_veil(self, painter: QPainter, area: QRectF) -> None:
        if self.scene is not None:
            painter.fillRect(area, faded(self.scene.background, 0.72))
        painter.setFont(font("semibold", 22 if area.height() > 400 else 15))
        painter.setPen(self.palette().text().color())
        inside = area.adjusted(40, 20, -40, -20)
        painter.drawText(inside, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.stale)

    def _paint_pending(self, painter: QPainter, area: QRectF) -> None:
        """Paint the message in the upper right corner, scaled with the picture."""
        size = max(13.0, min(area.height() / 36, area.width() / 40))
        painter.setFont(font("semibold", size))
        width = painter.fontMetrics().horizontalAdvance(self.pending) + 1.6 * size
        sign = QRectF(area.right() - width - size, area.top() + size, width, 2.0 * size)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().text())
        painter.drawRoundedRect(sign, size, size)
        painter.setPen(self.palette().base().color())
        painter.drawText(sign, Qt.AlignmentFlag.AlignCenter, self.pending)

    def point_at(self, at: QPointF | None) -> None:
        """Set the position of the pointer in pixels, None when it has left."""
        self._at = at
        hit = None if at is None else self.hit(at)
        if (hit is None) != (self._pointed is None) or (hit and self._pointed and hit.box != self._pointed.box):
            self._pointed = hit
            self.update()
        if hit is None:
            self.hovered.emit(None)
        self._rest.start()

    def _on_rest(self) -> None:
        self._pointed = self.hit(self._at) if self._at is not None else None
        term = self.term_at(self._at) if self._at is not None and self._pointed is None else None
        self._explained = None if term is None else term[1]
        self.update()
        self.hovered.emit(self._pointed)

    def _on_focused(self, hit: Hit | None) -> None:
        self._focused = hit
        self.hovered.emit(hit)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go on to the tables of the picture."""
        if forward:
            self.tables.enter()
        return super().focusNextPrevChild(forward)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._is_entered = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self.tables.changed()
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._is_entered = False
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.point_at(event.position())

    def leaveEvent(self, event: QEvent) -> None:
        self.point_at(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.forget_still()
        self.tables.changed()
        self.resized.emit()


def _canvas(scene: Scene) -> tuple[float, float, str]:
    return scene.width, scene.height, scene.background


def faded(colour: str, share: float) -> QColor:
    """Return a colour with the opacity ``share``."""
    result = QColor(colour)
    result.setAlphaF(share)
    return result


# A bubble with the answer to a click, beside the place that was clicked. Its text can be selected and copied.

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
        self.close_button = close_button(tr("Close this answer"), tr("Close this answer (Esc)"))
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
