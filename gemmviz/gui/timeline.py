"""The strip below the stage: the timeline of the run, transport buttons, the speed, and the slider of the tile size."""

from collections.abc import Callable
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QIcon, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QSlider,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from gemmviz.analysis.replay.replay import Replay
from gemmviz.gui.widgets.controls import button_with_tip, choice, line, plain, quietly, set_look, tip_text
from gemmviz.gui.widgets.input import WheelGuard, keep_keys
from gemmviz.gui.widgets.scene_widget import faded
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import asking, marked, told, tr
from gemmviz.model.setup import Setup
from gemmviz.render.qt.painter import ScenePainter, Viewport
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.theme import Theme, load_theme, mixed
from gemmviz.scenes.kit.timeline import (
    height_with_names,
    segment_text,
    step_under,
    timeline_names,
    timeline_primitives,
    track_room,
    track_text,
    x_of_step,
)
from gemmviz.session.playing import SPEEDS
from gemmviz.shots.runs import KnownRun, TileSizes, tile_facts, tile_sizes

# The slider below the stage that changes the tile size of the kernel while it is dragged.

_HIGH, _TILE_SLIDER_EDGE, _STOP, _LEAST = 34, 18, 5.0, 150
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
        return _TILE_SLIDER_EDGE + place * (self.width() - 2 * _TILE_SLIDER_EDGE) / max(1, self.maximum())

    def _place_at(self, x: float) -> int:
        share = (x - _TILE_SLIDER_EDGE) / max(1.0, self.width() - 2.0 * _TILE_SLIDER_EDGE)
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

    def __init__(self, model: WindowModel, parent: QWidget) -> None:
        super().__init__(parent)  # without one it would be shown as a window of its own
        self.model, self.session = model, model.session
        self.name, self.facts = plain(), line()
        self.facts.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.facts.setMaximumHeight(_HIGH)  # a longer text must not move the stage
        self.slider, self._fits = StopSlider(), True
        self._pointed: int | None = None  # the place of a size
        self._sized: tuple[Setup, KnownRun | None, TileSizes | None] | None = None  # the sizes of a setup and its run
        self.larger = button_with_tip(tr("Try 64 × 64"), tr("Matrices of 64 × 64 elements have room for larger tiles"))
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


# The transport icons in the colour of the theme: triangles and bars in a unit square.

_RIGHT_TRIANGLE = ((0.0, 0.0), (1.0, 0.5), (0.0, 1.0))
_LEFT_TRIANGLE = ((1.0, 0.0), (0.0, 0.5), (1.0, 1.0))
_RECTANGLE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
# name -> shapes, each with the box (x, y, width, height) that it fills
_ICONS = {
    "first": ((_RECTANGLE, (0.1, 0.2, 0.1, 0.6)), (_LEFT_TRIANGLE, (0.28, 0.2, 0.55, 0.6))),
    "previous phase": ((_LEFT_TRIANGLE, (0.08, 0.22, 0.4, 0.56)), (_LEFT_TRIANGLE, (0.48, 0.22, 0.4, 0.56))),
    "back": ((_LEFT_TRIANGLE, (0.2, 0.2, 0.32, 0.6)), (_RECTANGLE, (0.62, 0.2, 0.14, 0.6))),
    "play": ((_RIGHT_TRIANGLE, (0.22, 0.12, 0.62, 0.76)),),
    "pause": ((_RECTANGLE, (0.22, 0.15, 0.2, 0.7)), (_RECTANGLE, (0.58, 0.15, 0.2, 0.7))),
    "forward": ((_RECTANGLE, (0.24, 0.2, 0.14, 0.6)), (_RIGHT_TRIANGLE, (0.48, 0.2, 0.32, 0.6))),
    "next phase": ((_RIGHT_TRIANGLE, (0.12, 0.22, 0.4, 0.56)), (_RIGHT_TRIANGLE, (0.52, 0.22, 0.4, 0.56))),
    "last": ((_RIGHT_TRIANGLE, (0.17, 0.2, 0.55, 0.6)), (_RECTANGLE, (0.8, 0.2, 0.1, 0.6))),
    "reverse": ((_LEFT_TRIANGLE, (0.16, 0.12, 0.62, 0.76)),),
}


def transport_icon(name: str, colour: str) -> QIcon:
    side = 48
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    for shape, box in _ICONS[name]:
        area = QRectF(*(side * part for part in box))
        corners = [QPointF(area.x() + px * area.width(), area.y() + py * area.height()) for px, py in shape]
        painter.drawPolygon(QPolygonF(corners))
    painter.end()
    return QIcon(pixmap)


_NARROW, _LEAST_BESIDE, _NEAR_MARK = 470, 640, 5.0  # pixels
_SCALE, _TIMELINE_EDGE = 0.62, 3.0  # pixels of a unit in the usual text size; around the timeline
_HEIGHT_WITHOUT_NAMES = 66.0  # units: height without names


class TimelineSlider(QSlider):
    """The run as a timeline. Drag or click to go to a step; hover for a description."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.replay: Replay | None = None
        self.marked: range | None = None
        self.theme = load_theme("dark")
        self._painter = ScenePainter()
        self._pixmap: QPixmap | None = None
        self.setAccessibleName(tr("Step"))
        self.setToolTip(
            tr("The run: loads of inputs, stores into tiles, computation, stores of outputs. Click to go to a step")
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self._scale, self._is_low = _SCALE, False
        self.set_type_scale(1.0)

    def set_type_scale(self, scale: float) -> None:
        """Set the size of text relative to the usual one."""
        self._scale = _SCALE * scale
        self._fit()

    def set_low(self, is_low: bool) -> None:
        """Set whether there is little height: then nothing is named."""
        if is_low != self._is_low:
            self._is_low = is_low
            self._fit()

    def _fit(self) -> None:
        self._pixmap = None
        height = _HEIGHT_WITHOUT_NAMES if self._is_low else height_with_names(None, self.theme)
        self.setFixedHeight(ceil(height * self._scale + 2 * _TIMELINE_EDGE))

    def show_run(self, replay: Replay | None, theme: Theme) -> None:
        """Show a run in the colours of a theme."""
        self.replay, self.theme, self._pixmap = replay, theme, None
        self.update()

    def show_marks(self, marked: range) -> None:
        """Show the range of steps to export; the others are shaded."""
        if marked != self.marked:
            self.marked = marked
            self.update()

    @property
    def _whole(self) -> Box:
        """The box of names and tracks, in units."""
        width = max(1.0, self.width() - 2 * _TIMELINE_EDGE) / self._scale
        return Box(
            _TIMELINE_EDGE / self._scale,
            _TIMELINE_EDGE / self._scale,
            width,
            (self.height() - 2 * _TIMELINE_EDGE) / self._scale,
        )

    @property
    def tracks(self) -> Box:
        """The box of the tracks, in pixels."""
        room = self._whole if self.replay is None else track_room(self.replay, self._whole, self.theme)
        return Box(*(each * self._scale for each in room))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._pixmap is None:
            self._pixmap = self._painted()
        painter.drawPixmap(0, 0, self._pixmap)
        if self.replay is None and not self.maximum():  # the view has no time
            painter.end()
            return
        x = x_of_step(self.value() + 0.5, self.maximum() + 1, self.tracks)
        self._shade(painter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, width = (self.theme.chosen, 3.0) if self.hasFocus() else (self.theme.background, 1.0)
        painter.setPen(QPen(QColor(colour), width))
        painter.setBrush(QColor(self.theme.text))
        room = self.tracks
        painter.drawRoundedRect(QRectF(x - 3, room.y - 5, 6, room.height + 8), 2, 2)
        painter.end()

    def _shade(self, painter: QPainter) -> None:
        """Shade the steps outside the marked range."""
        if self.marked is None or len(self.marked) > self.maximum():
            return
        shade = faded(self.theme.panel, 0.75)
        first, last = (x_of_step(step, self.maximum() + 1, self.tracks) for step in (self.marked.start, self.marked.stop))
        room = self.tracks
        painter.fillRect(QRectF(room.x, room.y, first - room.x, room.height), shade)
        painter.fillRect(QRectF(last, room.y, room.right - last, room.height), shade)

    def _painted(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(QColor(self.theme.panel))
        if self.replay is not None:
            brush = QPainter(pixmap)
            room = track_room(self.replay, self._whole, self.theme)
            primitives = timeline_names(self.replay, self._whole, self.theme)
            primitives += timeline_primitives(self.replay, room, self.theme)
            self._painter.paint_over(brush, primitives, Viewport(self._scale, ratio=ratio), QRectF(self.rect()))
            brush.end()
        return pixmap

    def step_at(self, x: float) -> int:
        """Return the step under the pointer, or the step of a hazard's mark that is close to it."""
        steps = self.maximum() + 1
        marked = [] if self.replay is None else self.replay.conflicts.steps
        near = min(marked, key=lambda step: abs(x_of_step(step + 0.5, steps, self.tracks) - x), default=None)
        if near is not None and abs(x_of_step(near + 0.5, steps, self.tracks) - x) <= _NEAR_MARK:
            return near
        return step_under(x, steps, self.tracks)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setValue(self.step_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.setValue(self.step_at(event.position().x()))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.replay is not None:
            x, y, room = event.pos().x(), event.pos().y(), self.tracks
            text = track_text(self.replay, y, room) if x < room.x else segment_text(self.replay, self.step_at(x))
            QToolTip.showText(event.globalPos(), tip_text(text), self)
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._pixmap = None
        super().resizeEvent(event)


class TimelineBar(QWidget):
    """The position of the session in its run, with the controls that move it, and ``tiles`` beside or below them."""

    def __init__(self, model: WindowModel, tiles: QWidget) -> None:
        super().__init__()
        self.model, self._tiles = model, tiles
        self.session, self.player = model.session, model.session.player
        player = self.player
        self.slider, self._type_scale = TimelineSlider(), 1.0
        self.position = QLabel("–")
        self.position.setMinimumWidth(80)
        self.position.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._icons: dict[str, QToolButton] = {}
        buttons = QHBoxLayout()
        buttons.setSpacing(1)
        self._add(buttons, "first", tr("First step (Home)"), lambda: player.jump(0))
        to_phase = self.session.navigation.phase_start
        self._add(buttons, "previous phase", tr("Previous phase (Page Up)"), lambda: player.jump(to_phase(-1)))
        self._add(buttons, "back", tr("Step back (Left)"), lambda: player.step_by(-1))
        self.play = self._add(buttons, "play", tr("Play or pause (Space)"), player.toggle)
        self._add(buttons, "forward", tr("Step forward (Right)"), lambda: player.step_by(1))
        self._add(buttons, "next phase", tr("Next phase (Page Down)"), lambda: player.jump(to_phase(1)))
        self._add(buttons, "last", tr("Last step (End)"), lambda: player.jump(player.played.steps - 1))
        self.reverse = self._add(buttons, "reverse", tr("Play backwards (R)"), lambda: None)
        self.reverse.setCheckable(True)
        self.reverse.toggled.connect(player.reverse)
        self.speed = choice(tr("Speed"), tr("Steps per second (+ and −)"), ((f"{speed:g} /s", speed) for speed in SPEEDS))
        self.speed.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.speed.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.speed.activated.connect(lambda row: player.set_speed(SPEEDS[row]))
        self.wheel = WheelGuard(self, model.released.emit)
        buttons.addSpacing(6)
        buttons.addWidget(self.speed)
        self._beside, self._below = QHBoxLayout(), QHBoxLayout()
        buttons.addLayout(self._beside, 1)
        buttons.addWidget(self.position)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 2, 10, 0)
        layout.setSpacing(2)
        layout.addWidget(self.slider)
        layout.addLayout(buttons)
        layout.addLayout(self._below)
        self.wheel.guard(self)
        self.slider.valueChanged.connect(self._on_slid)
        self.session.run_changed.connect(self._on_run_changed)
        self.session.analysis_changed.connect(self._on_analysis_changed)
        self.session.position_changed.connect(self._on_moved)
        self.session.shot_changed.connect(self._on_moved)
        player.changed.connect(self._on_player)
        model.theme_changed.connect(self._on_theme)
        self._on_theme()

    def _add(self, row: QHBoxLayout, icon: str, tip: str, action: Callable[[], object]) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        button.setIconSize(QSize(22, 22))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(action)
        button.clicked.connect(lambda: self.model.released.emit())
        row.addWidget(button)
        self._icons[icon] = button
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        """If there is little space, hide the buttons that the slider can replace, and move what is beside them below them."""
        super().resizeEvent(event)
        (self._beside if self.width() >= _LEAST_BESIDE else self._below).addWidget(self._tiles, 1)
        for name in ("first", "last"):
            self._icons[name].setVisible(self.width() >= _NARROW)

    def _on_theme(self) -> None:
        theme = self.model.theme
        self._show_run()
        for name, button in self._icons.items():
            button.setIcon(transport_icon(name, theme.text))
        self._on_player()

    def _on_run_changed(self) -> None:
        self._show_run()
        self._on_moved()

    def _show_run(self) -> None:
        shown = self.session.shown
        is_run = shown is not None and not self.player.played.is_launch
        self.slider.show_run(shown.replay if shown is not None and is_run else None, self.model.theme)

    def _on_analysis_changed(self) -> None:
        shown = self.session.shown
        if shown is not None and shown.replay is not self.slider.replay:
            self._show_run()

    def _on_slid(self, step: int) -> None:
        if step != self.player.played.step:
            self.player.played.go(step)

    def _on_moved(self) -> None:
        time = self.player.played
        if self.slider.maximum() != time.steps - 1:
            quietly(self.slider, lambda: self.slider.setRange(0, max(0, time.steps - 1)))
            self._show_run()
        if self.slider.value() != time.step:
            quietly(self.slider, lambda: self.slider.setValue(time.step))
            self.slider.update()
        self.slider.show_marks(self.player.marked)
        if self._type_scale != self.session.shot.type_scale:
            self._type_scale = self.session.shot.type_scale
            self.slider.set_type_scale(self._type_scale)
        step = f"{time.step + 1} / {time.steps}" if time.steps else "–"
        self.position.setText(f"{100 * self.session.shot.instant:.0f} %" if time.is_launch else step)

    def _on_player(self) -> None:
        self.slider.show_marks(self.player.marked)
        self.play.setIcon(transport_icon("pause" if self.player.is_playing else "play", self.model.theme.text))
        self.play.setAccessibleName(tr("Pause (Space)") if self.player.is_playing else tr("Play (Space)"))
        quietly(self.reverse, lambda: self.reverse.setChecked(self.player.is_backwards))
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self.player.speed))
        quietly(self.speed, lambda: self.speed.setCurrentIndex(nearest))
