"""The panel of saved views: a list to show, name, reorder and save as a lesson."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from gemmviz.gui.panel import Panel
from gemmviz.gui.small_pictures import HEIGHT, WIDTH, icon_of
from gemmviz.gui.widgets import dialogs
from gemmviz.gui.widgets.controls import button_with_tip, choice, is_seen
from gemmviz.gui.widgets.input import OPENING, keep_keys
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import marked, tr
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import BUILDS

_BUILDS = {
    "": marked("All at once"),
    "phases": marked("Phase by phase"),
    "steps": marked("Step by step"),
    "terms": marked("Term by term"),
    "lanes": marked("Lane by lane"),
    "blanks": marked("Blank by blank"),
}
_LIST_TIP = marked(
    "Shift+B adds the current view. Return or a double click shows a view, as do Ctrl+Page Up and Ctrl+Page Down"
)


class SavedViews(QWidget):
    """The list of saved views, and the words of the selected one."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.saved_views = model, model.saved_views
        self.setAccessibleName(tr("Saved views"))
        self.list = QListWidget()
        self.list.setToolTip(tr(_LIST_TIP))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setIconSize(QSize(WIDTH // 2, HEIGHT // 2))
        self.list.setWordWrap(True)
        self.title, self.caption, self.text, self.notes = QLineEdit(), QLineEdit(), QPlainTextEdit(), QPlainTextEdit()
        builds = ((tr(_BUILDS[name]), name) for name in BUILDS)
        self.build = choice(tr("Build-up"), tr("How the view builds up in a lecture"), builds)
        for field, words, tip in (
            (self.title, tr("Title"), tr("Title of the slide")), (self.caption, tr("Caption"), tr("Text below the picture")),
            (self.text, tr("Text"), tr("Explanation for students, shown in the panel of lessons")),
            (self.notes, tr("Notes"), tr("Shown only to the presenter")),
        ):  # fmt: skip
            field.setPlaceholderText(words)
            field.setAccessibleName(words)
            field.setToolTip(tip)
        self.list.setAccessibleName(tr("Saved views"))
        self.buttons = {
            name: button_with_tip(text, tip)
            for name, text, tip in (
                ("add", tr("Add"), tr("Add the current view (Shift+B)")),
                ("replace", tr("Replace"), tr("Replace it with the current view")),
                ("up", tr("Up"), tr("Move up")),
                ("down", tr("Down"), tr("Move down")),
                ("remove", tr("Remove"), tr("Remove from the list")),
                ("undo", tr("Undo"), tr("Take back the last change of the list")),
                ("save", tr("Save …"), tr("Save the list as a lesson")),
            )
        }
        self._arrange()
        self._connect()
        self.draw()

    def _arrange(self) -> None:
        grid = QGridLayout()
        for number, button in enumerate(self.buttons.values()):
            grid.addWidget(button, number // 4, number % 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 4)
        column.addWidget(self.list, 3)
        column.addLayout(grid)
        for field in (self.title, self.caption, self.build):
            column.addWidget(field)
        for text in (self.text, self.notes):
            column.addWidget(text, 2)

    def _connect(self) -> None:
        marks = self.saved_views
        self.list.itemActivated.connect(lambda item: marks.go(self.list.row(item)))
        keep_keys(self.list, OPENING)
        self.list.currentRowChanged.connect(self._show_words)
        self.title.editingFinished.connect(lambda: self._edit(title=self.title.text()))
        self.caption.editingFinished.connect(lambda: self._edit(caption=self.caption.text()))
        self.text.textChanged.connect(lambda: self._edit(text=self.text.toPlainText()))
        self.notes.textChanged.connect(lambda: self._edit(notes=self.notes.toPlainText()))
        self.build.activated.connect(lambda: self._with_place(lambda at: marks.build(at, self.build.currentData())))
        for name, what in (
            ("replace", marks.take),
            ("remove", marks.remove),
            ("up", lambda at: self._move(at, -1)),
            ("down", lambda at: self._move(at, 1)),
        ):
            self.buttons[name].clicked.connect(lambda checked=False, what=what: self._with_place(what))
        self.buttons["add"].clicked.connect(lambda: marks.keep())
        self.buttons["undo"].clicked.connect(lambda: marks.undo())
        self.buttons["save"].clicked.connect(lambda: dialogs.ask_to_save_lesson(self.model, self))
        marks.changed.connect(self.draw)
        self.model.step_pictures.changed.connect(self._show_picture)
        self.model.theme_changed.connect(self._ask)

    def _with_place(self, what: object) -> None:
        place = self.list.currentRow()
        if place >= 0 and callable(what):
            what(place)

    def _move(self, at: int, by: int) -> None:
        self.saved_views.move(at, at + by)
        self.list.setCurrentRow(max(0, min(self.list.count() - 1, at + by)))

    def _edit(self, **words: str) -> None:
        place = self.list.currentRow()
        steps = self.saved_views.lesson.steps
        if 0 <= place < len(steps) and any(getattr(steps[place], name) != text for name, text in words.items()):
            self.saved_views.edit(place, **words)

    def draw(self) -> None:
        """Show the current list."""
        steps, place = self.saved_views.lesson.steps, self.list.currentRow()
        self.list.blockSignals(True)
        self.list.clear()
        for number, stop in enumerate(steps):
            item = QListWidgetItem(f"{number + 1}  {stop.title or stop.shot.view}")
            font = item.font()
            font.setBold(number == self.saved_views.at)
            item.setFont(font)
            self.list.addItem(item)
        shown = self.saved_views.at if self.saved_views.at is not None else place
        self.list.setCurrentRow(min(len(steps) - 1, max(-1, shown)))
        self.list.blockSignals(False)
        self._show_words()
        self._ask()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ask()

    def _ask(self) -> None:
        """Ask for the pictures of the views, and show those that are there."""
        if is_seen(self):
            steps = self.saved_views.lesson.steps
            self.model.step_pictures.want(steps, self.model.theme_name, self.saved_views.engine)
            for step in steps:
                self._show_picture(step.shot)

    def _show_picture(self, shot: Shot) -> None:
        picture = self.model.step_pictures.of(shot)
        for row, step in enumerate(self.saved_views.lesson.steps):
            if step.shot is shot and picture is not None and row < self.list.count():
                self.list.item(row).setIcon(icon_of(picture))

    def _show_words(self) -> None:
        steps, place = self.saved_views.lesson.steps, self.list.currentRow()
        chosen = steps[place] if 0 <= place < len(steps) else None
        for widget in (self.title, self.caption, self.text, self.notes):
            widget.setEnabled(chosen is not None)
        self.build.setEnabled(chosen is not None)
        for name, button in self.buttons.items():
            can = {"add": True, "save": bool(steps), "undo": self.saved_views.can_undo}
            button.setEnabled(can.get(name, chosen is not None))
        for field, text in ((self.title, chosen.title if chosen else ""), (self.caption, chosen.caption if chosen else "")):
            if field.text() != text:
                field.setText(text)
        for area, text in ((self.text, chosen.text if chosen else ""), (self.notes, chosen.notes if chosen else "")):
            if area.toPlainText() != text:
                area.setPlainText(text)
        self.build.setCurrentIndex(BUILDS.index(chosen.build) if chosen else 0)


PANEL = Panel(marked("Saved views"), SavedViews, order=9)
