"""A source with numbered blanks, which are typed where they stand; the rest of the text can't be changed."""

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QColor, QFont, QInputMethodEvent, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from gemmviz.gui.widgets.answer import announce
from gemmviz.gui.widgets.input import keep_keys
from gemmviz.gui.widgets.source_text import SourceTextEdit
from gemmviz.model.kernel import BLANK
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.theme import mixed

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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
            spans.append((_units(shown + label), _units(shown + label + answer), label))
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


def _units(text: str) -> int:
    """The length of a text as Qt counts it."""
    return len(text.encode("utf-16-le")) // 2
