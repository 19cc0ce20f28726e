"""The slider below the stage that changes the tile size of the kernel while it is dragged."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QSlider, QWidget

from gemmviz.gui.widgets.controls import line, plain, quietly, set_look
from gemmviz.gui.widgets.input import keep_keys
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.setup import Setup
from gemmviz.model.translation import asking, marked, told, tr
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.shots.runs import KnownRun
from gemmviz.shots.sizes import TileSizes, tile_facts, tile_sizes

_HIGH, _EDGE, _STOP, _LEAST = 34, 18, 5.0, 150
_WITH_LARGER, _WITH_FACTS = 400, 560  # pixels: of a row with the button of a larger problem, and with what the size brings
_SLIDER_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End)
DRAG = marked("Drag the slider: the kernel runs again with each size, and the picture follows.")
_SLIDER_TIP = marked(
    "Drag, or use the arrow keys (I moves the focus here). Sizes with a small mark don't suit: hover over them for the reason"
)


class StopSlider(QSlider):
    """A slider with a labelled stop for each size; sizes that don't suit have small, faint stops. ``pointed`` carries the place
    of the size under the pointer, None if there is none.
    """

    pointed = Signal(object)

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.tiles: TileSizes | None = None
        self.theme: Theme | None = None
        self.setAccessibleName(tr("Tile size"))
        self.setToolTip(tr(_SLIDER_TIP))
        self.setFixedHeight(_HIGH)
        self.setMinimumWidth(_LEAST)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setPageStep(1)
        keep_keys(self, _SLIDER_KEYS)  # here these keys change the size, not the step

    def show_sizes(self, tiles: TileSizes, theme: Theme) -> None:
        """Show the sizes and the present one, without emitting a change."""
        if (tiles, theme) != (self.tiles, self.theme):
            self.tiles, self.theme = tiles, theme
            quietly(self, lambda: self.setRange(0, len(tiles.sizes) - 1))
            quietly(self, lambda: self.setValue(tiles.place))
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, _HIGH)

    def _x_of(self, place: int) -> float:
        return _EDGE + place * (self.width() - 2 * _EDGE) / max(1, self.maximum())

    def _place_at(self, x: float) -> int:
        share = (x - _EDGE) / max(1.0, self.width() - 2.0 * _EDGE)
        return max(0, min(self.maximum(), round(share * self.maximum())))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setValue(self._place_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position().x())
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.setValue(place)
        if self.tiles is not None and place < len(self.tiles.sizes):
            size = self.tiles.sizes[place]
            self.setToolTip(f"{self.tiles.name} = {size.value}: {size.why_not}" if size.why_not else tr(_SLIDER_TIP))
            self.pointed.emit(place)

    def leaveEvent(self, event: QEvent) -> None:
        self.pointed.emit(None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Nothing is left to do: the value followed the pointer."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.tiles is None or self.theme is None:
            return
        painter, theme, y = QPainter(self), self.theme, 12.0
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.line), 2))
        painter.drawLine(QPointF(self._x_of(0), y), QPointF(self._x_of(self.maximum()), y))
        for place, size in enumerate(self.tiles.sizes):
            ink = QColor(theme.text if size.suits or place == self.value() else mixed(theme.background, theme.faint, 0.7))
            radius, x = _STOP if size.suits else 0.5 * _STOP, self._x_of(place)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.faint) if size.suits else ink)
            painter.drawEllipse(QPointF(x, y), radius, radius)
            painter.setPen(ink)
            painter.drawText(QRectF(x - 24, y + 8, 48, _HIGH - y - 8), Qt.AlignmentFlag.AlignCenter, str(size.value))
        self._paint_handle(painter, theme, y)
        painter.end()

    def _paint_handle(self, painter: QPainter, theme: Theme, y: float) -> None:
        painter.setPen(QPen(QColor(theme.chosen if self.hasFocus() else theme.background), 2))
        painter.setBrush(QColor(theme.text))
        painter.drawEllipse(QPointF(self._x_of(self.value()), y), 8.0, 8.0)


class TileSlider(QWidget):
    """The slider with the name of its parameter and what the present size brings. It is shown for kernels with such a
    parameter, outside of lessons.
    """

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.session = model, model.session
        self.name, self.facts = plain(), line()
        self.facts.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.facts.setMaximumHeight(_HIGH)  # a longer text must not move the stage
        self.slider, self._fits = StopSlider(), True
        self._pointed: int | None = None  # the place of a size
        self._sized: tuple[Setup, KnownRun | None, TileSizes | None] | None = None  # the sizes of a setup and its run
        self.larger = QPushButton(tr("Try 64 × 64"))
        self.larger.setToolTip(tr("Matrices of 64 × 64 elements have room for larger tiles"))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 10, 0)
        row.setSpacing(10)
        row.addWidget(self.name)
        row.addWidget(self.slider, 2)
        row.addWidget(self.larger)
        row.addWidget(self.facts, 4)
        self.slider.valueChanged.connect(self._on_slid)
        self.slider.pointed.connect(self._on_pointed)
        self.larger.clicked.connect(self._on_larger)
        for event in (
            self.session.shot_changed,
            self.session.run_changed,
            self.session.analysis_changed,
            model.course.changed,
            model.theme_changed,
        ):
            event.connect(self.sync)
        self.sync()

    @property
    def _tiles(self) -> TileSizes | None:
        setup, run = self.session.shot.setup, self.session.shown
        if self._sized is None or self._sized[0] is not setup or self._sized[1] is not run:
            self._sized = setup, run, tile_sizes(setup, run)
        return self._sized[2]

    def set_fits(self, fits: bool) -> None:
        """Set whether the page has room for the slider; in a low one the picture has it."""
        if fits != self._fits:
            self._fits = fits
            self.sync()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what a narrow row has no room for."""
        super().resizeEvent(event)
        self._show_what_fits()

    def _show_what_fits(self) -> None:
        tiles = self.slider.tiles
        self.larger.setVisible(tiles is not None and tiles.larger is not None and self.width() >= _WITH_LARGER)
        self.facts.setVisible(self.width() >= _WITH_FACTS)

    def sync(self) -> None:
        """Show the session's tile size, and what it brings once that is counted."""
        display = self.session.display
        may_show = self._fits and display.kind.time == "run" and not self.model.course.is_on
        tiles = self._tiles if may_show else None
        self.setVisible(tiles is not None)
        if tiles is None:
            return
        self.name.setText(tiles.name)
        self.slider.show_sizes(tiles, self.model.theme)
        self._show_what_fits()
        self._say(tiles)

    def _say(self, tiles: TileSizes) -> None:
        """Show why the size under the pointer, or else the current one, doesn't suit; for one that does, what it brings."""
        shown, error, size = self.session.shown, self.session.error, tiles.sizes[tiles.place]
        if self._pointed is not None and not tiles.sizes[self._pointed].suits:
            size = tiles.sizes[self._pointed]
        if error is not None or not size.suits:
            self.facts.setText(size.why_not)
        elif shown is not None and shown.setup == self.session.shot.setup:
            with asking(self.session.display.counted < 1.0):
                self.facts.setText(told(tile_facts(shown), self.session.display.counted))
        set_look(self.facts, "message" if error is not None else "")

    def _on_pointed(self, place: int | None) -> None:
        if place != self._pointed and self.slider.tiles is not None:
            self._pointed = place
            self._say(self.slider.tiles)

    def _on_slid(self, place: int) -> None:
        tiles = self.slider.tiles
        if tiles is not None and place != tiles.place:
            self.model.commands.change(tiles.name, tiles.sizes[place].value)

    def _on_larger(self) -> None:
        tiles = self._tiles
        if tiles is not None and tiles.larger is not None:
            requested = self.session.state.requested.with_numbers(**tiles.larger.problem.sizes)
            self.session.alter(requested, setup=tiles.larger)
            self.slider.setFocus()
