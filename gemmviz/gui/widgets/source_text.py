"""The source of the kernel with the current access highlighted and an error marked; and a source with numbered blanks, which
are typed where they stand.
"""

import re
from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QMimeData, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
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
from gemmviz.gui.widgets.input import keep_keys
from gemmviz.gui.widgets.scene_widget import announce
from gemmviz.model.kernel import BLANK
from gemmviz.model.messages import Place, tr
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

    def __init__(self) -> None:
        super().__init__()
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
        self.marked_error: Place | None = None
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
        self._running = self.marked_error = None
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

    def show_error(self, place: Place | None) -> None:
        self.marked_error = place
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
        if self.marked_error is not None:
            marks += self._marks(self.marked_error, mixed(self._theme.panel, self._theme.warning, 0.35), self._theme.warning)
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
        place = self.marked_error or self._running
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


# A source with numbered blanks, which are typed where they stand; the rest of the text can't be changed.

_Key, _Move, _Keep = Qt.Key, QTextCursor.MoveOperation, QTextCursor.MoveMode.KeepAnchor
_TO_NEIGHBOURS = {_Key.Key_Up: -1, _Key.Key_Down: 1}
_ENTERS = (_Key.Key_Return, _Key.Key_Enter)
_OF_THE_WINDOW = (_Key.Key_PageUp, _Key.Key_PageDown)
_DELETIONS = {
    (_Key.Key_Backspace, False): _Move.Left, (_Key.Key_Backspace, True): _Move.PreviousWord,
    (_Key.Key_Delete, False): _Move.Right, (_Key.Key_Delete, True): _Move.NextWord,
    (_Key.Key_K, True): _Move.EndOfBlock,
}  # fmt: skip

_PAD = "  "  # behind what is written, so that an empty blank can be seen


class _Blank(Struct):
    """The cursors before and behind what is written in a blank, and its number as the text shows it."""

    start: QTextCursor
    end: QTextCursor
    label: str

    def holds(self, cursor: QTextCursor) -> bool:
        """Whether a cursor and its selection lie in the blank."""
        low, high = self.start.position(), self.end.position()
        return low <= cursor.position() <= high and low <= cursor.anchor() <= high

    def between(self, from_: int, to: int) -> QTextCursor:
        """The selection of a part of the text, from before the blank to behind it."""
        cursor = QTextCursor(self.start)
        cursor.setKeepPositionOnInsert(False)
        cursor.setPosition(self.start.position() + from_)
        cursor.setPosition(self.end.position() + to, _Keep)
        return cursor


class WorksheetEdit(SourceTextEdit):
    """The editor. ``written`` follows each change of an answer; ``tried`` Return, ``left`` Escape."""

    written = Signal()
    tried = Signal()
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._blanks: list[_Blank] = []
        self.current = 0  # index of the blank that is written in
        self.wrong: int | None = None  # index of the blank that is marked
        self.setReadOnly(False)
        self.setAcceptDrops(False)
        self.setCursorWidth(2)
        self.setToolTip(tr("Type in the numbered blanks. Tab goes to the next one, Return tries the kernel, Esc leaves"))
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        keep_keys(self, (*_TO_NEIGHBOURS, *_ENTERS, _Key.Key_Left, _Key.Key_Right, _Key.Key_Escape))
        self.textChanged.connect(self._on_written)
        self.selectionChanged.connect(self._on_moved)
        self.cursorPositionChanged.connect(self._on_moved)

    def show_blanks(self, text: str, answers: Sequence[str], first_line: int) -> None:
        """Show a source with what is written in its blanks. The lines above ``first_line`` are hidden."""
        if text == self.text and tuple(answers) == self.answers:
            return
        self.text, self._blanks, self.current, self.wrong = text, [], 0, None
        first, *pieces = BLANK.split(text.rstrip())
        shown, spans = first, []
        for number, (answer, piece) in enumerate(zip(answers, pieces, strict=True), 1):
            label = f" {number} "
            spans.append((_qt_length(shown + label), _qt_length(shown + label + answer), label))
            shown += f"{label}{answer}{_PAD}{piece}"
        self.setPlainText(shown)
        self._indent()
        for start, end, label in spans:
            self._blanks.append(_Blank(self._at(start), self._at(end), label))
            self._blanks[-1].start.setKeepPositionOnInsert(True)
        block = self.document().begin()
        for _ in range(first_line):
            block.setVisible(False)
            block = block.next()
        self.document().markContentsDirty(0, block.position())  # so that the height is that of the visible lines
        self.go(0)

    @property
    def answers(self) -> tuple[str, ...]:
        """What is written in the blanks, in order."""
        return tuple(blank.between(0, 0).selectedText() for blank in self._blanks)

    def go(self, number: int, at_end: bool = True) -> None:
        """Put the cursor into a blank, and scroll to it."""
        if self._blanks:
            self.current = min(max(0, number), len(self._blanks) - 1)
            blank = self._blanks[self.current]
            self.setTextCursor(self._at((blank.end if at_end else blank.start).position()))
            self.ensureCursorVisible()
            self._name()
            self._mark()

    def mark_wrong(self, number: int | None) -> None:
        """Mark a blank as wrong and go to it; None removes the mark."""
        self.wrong = number
        self._mark() if number is None else self.go(number)

    def _at(self, position: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        return cursor

    def _name(self) -> None:
        """Say which blank the cursor is in, to those who can't see it."""
        blank = self._blanks[self.current]
        line = blank.start.block()
        before, behind = (self._at(blank.start.position() - len(blank.label)), self._at(blank.end.position() + len(_PAD)))
        before.setPosition(line.position(), _Keep)
        behind.movePosition(_Move.EndOfBlock, _Keep)
        around = f"{before.selectedText().strip()} … {behind.selectedText().strip()}".strip()
        name = tr("Blank {number} of {count}, line {line}: {around}", number=self.current + 1, count=len(self._blanks),
                  line=line.blockNumber() + 1, around=around)  # fmt: skip
        if name != self.accessibleName():
            self.setAccessibleName(name)
            if self.hasFocus():
                announce(self, name)

    def _on_written(self) -> None:
        if self._blanks:
            self._mark()
            self.written.emit()

    def _on_moved(self) -> None:
        """Follow the cursor into another blank; a selection of the text around the blanks can be copied, but not changed."""
        inside = next((number for number, blank in enumerate(self._blanks) if blank.holds(self.textCursor())), None)
        if self.isReadOnly() != (inside is None):
            self.setReadOnly(inside is None)
        if inside is not None and inside != self.current:
            self.current = inside
            self._name()
            self._mark()

    def _mark(self) -> None:
        """Mark the blanks: their numbers, and the ground of what is written in them."""
        marks = []
        for number, blank in enumerate(self._blanks):
            label, ground = QTextEdit.ExtraSelection(), QTextEdit.ExtraSelection()
            theme = self._theme
            colour = theme.warning if number == self.wrong else theme.text if number == self.current else theme.faint
            label.cursor = blank.between(-len(blank.label), 0)
            label.cursor.setPosition(blank.start.position() - len(blank.label))
            label.cursor.setPosition(blank.start.position(), _Keep)
            label.format.setBackground(QColor(colour))
            label.format.setForeground(QColor(theme.ink_on(colour)))
            label.format.setFontWeight(QFont.Weight.Bold)
            ground.cursor = blank.between(0, len(_PAD))
            ground.format.setBackground(QColor(mixed(theme.panel, colour, 0.3)))
            ground.format.setForeground(QColor(theme.text))
            marks += [label, ground]
        self.setExtraSelections(marks)

    # Keys

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go to the next blank or the one before; from the last and the first, leave the text."""
        to = self.current + (1 if forward else -1)
        if not 0 <= to < len(self._blanks):
            return super().focusNextPrevChild(forward)
        self.go(to)
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._blanks or event.key() in _OF_THE_WINDOW:
            event.ignore()
            return
        key, has_control = _Key(event.key()), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key in _ENTERS:
            self.tried.emit()
            return
        if key == _Key.Key_Escape:
            self.left.emit()
            return
        if key in _TO_NEIGHBOURS:
            self.go(self.current + _TO_NEIGHBOURS[key])
            return
        if key in (_Key.Key_Tab, _Key.Key_Backtab):  # there is nowhere to go
            return
        self._enter(unless=has_control)
        blank, cursor = self._blanks[self.current], self.textCursor()
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.setTextCursor(blank.between(0, 0))
        elif (key, has_control) in _DELETIONS:
            self._delete(_DELETIONS[key, has_control])
        elif key == _Key.Key_Left and cursor.position() == blank.start.position() and not event.modifiers():
            self.go(self.current - 1)
        elif key == _Key.Key_Right and cursor.position() == blank.end.position() and not event.modifiers():
            self.go(self.current + 1, at_end=False)
        else:
            was_inside = not self.isReadOnly()
            super().keyPressEvent(event)
            if was_inside:
                self._stay()

    def _enter(self, unless: bool = False) -> None:
        """Go back to the current blank if the cursor is elsewhere."""
        if self.isReadOnly() and not unless:
            self.go(self.current)

    def _delete(self, move: QTextCursor.MoveOperation) -> None:
        """Delete what is selected, or else up to where a move leads within the blank."""
        if self.isReadOnly():
            return
        cursor = self.textCursor()
        if not cursor.hasSelection():
            cursor.movePosition(move, _Keep)
            cursor.setPosition(self._limited(cursor.position()), _Keep)
        cursor.removeSelectedText()
        self.setTextCursor(cursor)

    def _stay(self) -> None:
        """Keep the cursor in the blank that it was in before a key."""
        cursor = self.textCursor()
        if any(blank.holds(cursor) for blank in self._blanks):
            self.ensureCursorVisible()
            return
        position, anchor = (self._limited(each) for each in (cursor.position(), cursor.anchor()))
        has_selection = cursor.hasSelection()
        cursor.setPosition(anchor if has_selection else position)
        cursor.setPosition(position, _Keep)
        self.setTextCursor(cursor)

    def _limited(self, position: int) -> int:
        blank = self._blanks[self.current]
        return min(max(position, blank.start.position()), blank.end.position())

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste a text as one line."""
        self._enter()
        if not self.isReadOnly():
            self.textCursor().insertText(" ".join(source.text().split()))

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._enter()
        super().inputMethodEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to the blank that was clicked, or the nearest in its line."""
        super().mouseReleaseEvent(event)
        cursor = self.textCursor()
        if self._blanks and self.isReadOnly() and not cursor.hasSelection():
            at, line = cursor.position(), cursor.blockNumber()
            inside = [place for place, blank in enumerate(self._blanks) if blank.start.blockNumber() == line]
            self.go(min(inside, key=lambda place: abs(self._blanks[place].start.position() - at), default=self.current))


def _qt_length(text: str) -> int:
    """The length of a text as Qt counts it."""
    return len(text.encode("utf-16-le")) // 2
