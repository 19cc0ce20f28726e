"""The map of a lecture: all its steps as small pictures, to jump to one of them."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QKeyEvent, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QListWidget, QListWidgetItem, QWidget

from gemmviz.gui.small_pictures import HEIGHT, WIDTH, icon_of
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import tr
from gemmviz.shots.shot import Shot
from gemmviz.teaching.reveal import caption_of

_GAP, _LINES, _POINTS = 20, 3, 12
_MOVING = (
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
)  # fmt: skip


class StepMap(QListWidget):
    """The steps of the active lesson; their pictures come one after the other. ``chosen`` carries the index of a step. Keys
    that don't move in it are left to the lecture.
    """

    chosen = Signal(int)

    def __init__(self, model: WindowModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.lesson, self.pictures = model.active_lesson, model.step_pictures
        theme = model.theme
        self.setAccessibleName(tr("Map of all steps"))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Static)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrap(True)
        self.setIconSize(QSize(WIDTH, HEIGHT))
        self.setStyleSheet(
            f"QListWidget {{ background: {theme.background}; color: {theme.text}; font-size: {_POINTS}pt; padding: {_GAP}px; }}"
            f"QListWidget::item:selected {{ background: {theme.panel}; border: 2px solid {theme.text}; color: {theme.text}; }}"
        )
        self.ensurePolished()
        size = QSize(WIDTH + _GAP, HEIGHT + _GAP + _LINES * self.fontMetrics().lineSpacing())
        self.setGridSize(size + QSize(_GAP // 2, _GAP // 2))
        empty = QPixmap(WIDTH, HEIGHT)
        empty.fill(QColor(theme.panel))
        for number, step in enumerate(self.lesson.lesson.steps, 1):
            heading = f"{step.part}\n" if step.part else ""
            item = QListWidgetItem(icon_of(empty), f"{heading}{number}  {caption_of(step).title}")
            item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            item.setSizeHint(size)
            self.addItem(item)
        self.select(self.lesson.at or 0)
        self.itemClicked.connect(lambda item: self.chosen.emit(self.row(item)))
        self.pictures.changed.connect(self._show_picture)
        self._ask(model.theme_name)

    def _ask(self, theme: str) -> None:
        """Ask for the pictures, those near the present step first."""
        steps, at = self.lesson.lesson.steps, self.lesson.at or 0
        places = sorted(range(len(steps)), key=lambda place: abs(place - at))
        self.pictures.want([steps[place] for place in places], theme, self.lesson.engine)
        for step in steps:
            self._show_picture(step.shot)

    def _show_picture(self, shot: Shot) -> None:
        picture = self.pictures.of(shot)
        for place, step in enumerate(self.lesson.lesson.steps):
            if step.shot is shot and picture is not None:
                self.item(place).setIcon(icon_of(picture))

    def select(self, place: int) -> None:
        """Mark a step and scroll to it, if there is one at this index."""
        if 0 <= place < self.count():
            self.setCurrentRow(place)
            self.scrollToItem(self.item(place))

    def hideEvent(self, event: QHideEvent) -> None:
        """Draw no more pictures, and show none that comes late."""
        self.pictures.stop()
        self.pictures.changed.disconnect(self._show_picture, missing_ok=True)
        super().hideEvent(event)

    def focusNextPrevChild(self, following: bool) -> bool:
        """Leave Tab to the lecture."""
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVING:
            super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.currentRow())
        else:
            event.ignore()
