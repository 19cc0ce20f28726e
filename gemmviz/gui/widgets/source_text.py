"""The source of the kernel with the current access highlighted and an error marked."""

import re

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit, QWidget

from gemmviz.analysis.listing import without_comments
from gemmviz.gui.style import LETTERS
from gemmviz.model.errors import Place
from gemmviz.model.translation import tr
from gemmviz.render.qt.painter import font
from gemmviz.scenes.kit.theme import Theme, load_theme, mixed

_HIGHLIGHTED = re.compile(
    r"//.*|\b(?:for|while|do|if|else|return|break|continue|const|constexpr|template|int|float|double|unsigned|void|extern|"
    r"__global__|__shared__|__device__|__syncthreads)\b|#.*|\b\d[\w.]*\b"
)


class _Highlighter(QSyntaxHighlighter):
    theme = load_theme("dark")

    def highlightBlock(self, text: str) -> None:
        for match in _HIGHLIGHTED.finditer(text):
            style = QTextCharFormat()
            comment = match[0].startswith("//")
            if comment:
                style.setForeground(QColor(self.theme.faint))
            else:
                style.setFontWeight(QFont.Weight.Bold)
            self.setFormat(match.start(), len(match[0]), style)


class SourceTextEdit(QPlainTextEdit):
    """A read-only editor with line numbers. ``place_clicked`` carries line and column, from 1."""

    place_clicked = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)  # the current access is scrolled into view
        self.setFont(font("mono", LETTERS))
        self.setAccessibleName(tr("Source"))
        self.setToolTip(tr("Click a line or an access to go to its next step"))
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self.setTabChangesFocus(True)
        self.text, self._hides_comments = "", False
        self._theme = load_theme("dark")
        self._highlighter = _Highlighter(self.document())
        self._margin = _Margin(self)
        self._running: Place | None = None
        self._accent = ""
        self._error: Place | None = None
        self.updateRequest.connect(self._on_update)
        self.setViewportMargins(self.margin_width(), 0, 0, 0)

    def set_theme(self, theme: Theme) -> None:
        """Set the colours, and letters as large as those of the window."""
        self._theme = self._highlighter.theme = theme
        self.setFont(font("mono", QApplication.font().pixelSize()))
        self.setViewportMargins(self.margin_width(), 0, 0, 0)
        self._highlighter.rehighlight()
        self._mark()

    def load(self, text: str, hides_comments: bool = False) -> None:
        """Show a source. ``hides_comments``: leaves out its comments, and lines that hold nothing else."""
        if (text, hides_comments) != (self.text, self._hides_comments):
            self.text, self._hides_comments = text, hides_comments
            self.setPlainText(without_comments(text) if hides_comments else text)
            self._hide_emptied()
        self._running = self._error = None
        self._mark()

    def _hide_emptied(self) -> None:
        """Hide lines that are empty without their comments, and empty lines above the code."""
        is_above, block = self._hides_comments, self.document().begin()
        for line in self.text.split("\n") if self._hides_comments else ():
            is_above = is_above and not block.text().strip()
            block.setVisible(bool(block.text().strip()) or not (is_above or line.strip()))
            block = block.next()

    def show_running(self, place: Place, accent: str) -> None:
        """Highlight a line and the expression in it, and scroll to them if they are out of sight."""
        if (place, accent) != (self._running, self._accent):
            self._running, self._accent = place, accent
            self._mark()
            self._reveal(place)

    @property
    def marked_error(self) -> Place | None:
        return self._error

    def show_error(self, place: Place | None) -> None:
        self._error = place
        self._mark()
        if place is not None:
            self._reveal(place)

    def _reveal(self, place: Place) -> None:
        here = self.cursorRect(self._cursor(place.line, place.column, place.line, place.column))
        margin = 2 * self.fontMetrics().lineSpacing()
        if not margin // 2 <= here.top() <= self.viewport().height() - 2 * margin:
            before = self.textCursor()
            self.setTextCursor(self._cursor(place.line, place.column, place.line, place.column))
            self.centerCursor()
            middle = self.verticalScrollBar().value()
            self.setTextCursor(before)
            self.verticalScrollBar().setValue(middle)
        self._reveal_columns(place)

    def _reveal_columns(self, place: Place) -> None:
        """Scroll sideways if the expression is out of sight: to the left edge if it can be seen from there."""
        bar, width = self.horizontalScrollBar(), self.viewport().width() - self.fontMetrics().averageCharWidth()
        end = place.end_column if place.end_line == place.line else place.column + 1
        left, right = (self.cursorRect(self._cursor(place.line, at, place.line, at)).left() + bar.value()
                       for at in (place.column, end))  # fmt: skip
        if right <= width:
            bar.setValue(0)
        elif not bar.value() <= left <= right <= bar.value() + width:
            bar.setValue(right - width)
            if left < bar.value():
                bar.setValue(left)

    def _mark(self) -> None:
        marks = []
        if self._running is not None:
            marks += self._marks(self._running, self._theme.line, self._accent or self._theme.faint)
        if self._error is not None:
            marks += self._marks(self._error, mixed(self._theme.panel, self._theme.warning, 0.35), self._theme.warning)
        self.setExtraSelections(marks)

    def _marks(self, place: Place, line_colour: str, colour: str) -> list[QTextEdit.ExtraSelection]:
        line, expression = QTextEdit.ExtraSelection(), QTextEdit.ExtraSelection()
        line.cursor = self._cursor(place.line, place.column, place.line, place.column)
        line.format.setBackground(QColor(line_colour))
        line.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        expression.cursor = self._cursor(place.line, place.column, place.end_line, place.end_column)
        expression.format.setBackground(QColor(colour))
        expression.format.setForeground(QColor(self._theme.ink_on(colour)))
        return [line, expression]

    def _cursor(self, line: int, column: int, end_line: int, end_column: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        start, end = (self.document().findBlockByNumber(number - 1) for number in (line, end_line))
        cursor.setPosition(min(start.position() + column - 1, self.document().characterCount() - 1))
        stop = min(end.position() + end_column - 1, self.document().characterCount() - 1)
        cursor.setPosition(max(stop, cursor.position()), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            cursor = self.cursorForPosition(event.position().toPoint())
            self.place_clicked.emit(cursor.blockNumber() + 1, cursor.positionInBlock() + 1)

    def margin_width(self) -> int:
        return self.fontMetrics().horizontalAdvance("0" * (len(str(max(99, self.blockCount()))) + 1)) + 6

    def paint_margin(self, event: QPaintEvent) -> None:
        painter = QPainter(self._margin)
        painter.fillRect(event.rect(), QColor(self._theme.panel))
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            number = block.blockNumber() + 1
            here = self._running is not None and number == self._running.line
            painter.setPen(QColor(self._theme.text if here else self._theme.faint))
            area = QRect(0, round(top), self._margin.width() - 6, round(height))
            if block.isVisible():
                painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop, str(number))
            top += height
            block = block.next()
        painter.end()

    def _on_update(self, rect: QRect, dy: int) -> None:
        self._margin.scroll(0, dy) if dy else self._margin.update(0, rect.y(), self._margin.width(), rect.height())
        if rect.contains(self.viewport().rect()):
            self.setViewportMargins(self.margin_width(), 0, 0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        area = self.contentsRect()
        self._margin.setGeometry(QRect(area.left(), area.top(), self.margin_width(), area.height()))
        place = self._error or self._running
        if place is not None:
            self._reveal(place)


class _Margin(QWidget):
    def __init__(self, panel: SourceTextEdit) -> None:
        super().__init__(panel)
        self.panel = panel

    def sizeHint(self) -> QSize:
        return QSize(self.panel.margin_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.panel.paint_margin(event)
