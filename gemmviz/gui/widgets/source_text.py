"""The source of the kernel with the current access highlighted and an error marked."""

import re

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
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
from PySide6.QtWidgets import QApplication, QTextEdit, QWidget

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


_INDENT_PERCENT, _HANGING = 50, 2  # of the width of a letter; letters by which the rest of a wrapped line is further right


class SourceTextEdit(QTextEdit):
    """A read-only editor with line numbers. Long lines are wrapped, with a hanging indent. ``place_clicked`` carries line and
    column, from 1.
    """

    place_clicked = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
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
        self.set_letters(font("mono", LETTERS))

    def set_letters(self, letters: QFont) -> None:
        """Set the font of the text."""
        if letters != self.font():
            self.setFont(letters)
            self._indent()

    def set_theme(self, theme: Theme) -> None:
        """Set the colours, and letters as large as those of the window."""
        self._theme = self._highlighter.theme = theme
        self.set_letters(font("mono", QApplication.font().pixelSize()))
        self._highlighter.rehighlight()
        self._mark()

    def load(self, text: str, hides_comments: bool = False) -> None:
        """Show a source. ``hides_comments``: leaves out its comments, and lines that hold nothing else."""
        if (text, hides_comments) != (self.text, self._hides_comments):
            self.text, self._hides_comments = text, hides_comments
            self.setPlainText(without_comments(text) if hides_comments else text)
            self._indent()
            self._hide_emptied()
        self._running = self._error = None
        self._mark()

    def _indent(self) -> None:
        """Halve the indentation, let the rest of a wrapped line hang, and give the numbers of the lines their room."""
        self.setUndoRedoEnabled(False)
        narrow = QTextCharFormat()
        narrow.setFontLetterSpacingType(QFont.SpacingType.PercentageSpacing)
        narrow.setFontLetterSpacing(_INDENT_PERCENT)
        letter = self.fontMetrics().horizontalAdvance("0")
        cursor, block = QTextCursor(self.document()), self.document().begin()
        cursor.beginEditBlock()
        while block.isValid():
            indent = len(block.text()) - len(block.text().lstrip())
            hang, form = letter * (indent * _INDENT_PERCENT / 100 + _HANGING), block.blockFormat()
            form.setLeftMargin(hang)
            form.setTextIndent(-hang)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(form)
            cursor.setPosition(block.position() + indent, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(narrow)
            block = block.next()
        cursor.endEditBlock()
        self.setUndoRedoEnabled(True)
        self.setViewportMargins(self.margin_width(), 0, 0, 0)

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
        """Scroll until the whole line is seen, or of a long one the part up to the end of the place."""
        first, last = (self.cursorRect(self._cursor(line, column, line, column))
                       for line, column in ((place.line, 1), (place.end_line, place.end_column)))  # fmt: skip
        shown, height, margin = first.united(last), self.viewport().height(), self.fontMetrics().lineSpacing()
        if not margin <= shown.top() <= shown.bottom() <= height - 2 * margin:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + max(shown.bottom() + margin - height, shown.center().y() - height // 2))

    def _mark(self) -> None:
        marks = []
        if self._running is not None:
            marks += self._marks(self._running, self._theme.line, self._accent or self._theme.faint)
        if self._error is not None:
            marks += self._marks(self._error, mixed(self._theme.panel, self._theme.warning, 0.35), self._theme.warning)
        self.setExtraSelections(marks)

    def _marks(self, place: Place, line_colour: str, colour: str) -> list[QTextEdit.ExtraSelection]:
        line, expression = QTextEdit.ExtraSelection(), QTextEdit.ExtraSelection()
        line.cursor = self._cursor(place.line, 1, place.line, 1)
        line.cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
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
        digits = len(str(max(99, self.document().blockCount())))
        return self.fontMetrics().horizontalAdvance("0" * (digits + 1)) + 6

    def paint_margin(self, event: QPaintEvent) -> None:
        painter = QPainter(self._margin)
        painter.fillRect(event.rect(), QColor(self._theme.panel))
        painter.setFont(self.font())
        layout, scrolled = self.document().documentLayout(), self.verticalScrollBar().value()
        block = self.cursorForPosition(QPoint(0, 0)).block()
        while (
            block.isValid() and (box := layout.blockBoundingRect(block).translated(0, -scrolled)).top() <= event.rect().bottom()
        ):
            number = block.blockNumber() + 1
            here = self._running is not None and number == self._running.line
            painter.setPen(QColor(self._theme.text if here else self._theme.faint))
            area = QRect(0, round(box.top()), self._margin.width() - 6, round(box.height()))
            if block.isVisible():
                painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop, str(number))
            block = block.next()
        painter.end()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._margin.update()

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
