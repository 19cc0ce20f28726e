"""What every step costs, as a chart: sectors above, shared-memory wavefronts below, each split into needed and wasted."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.analysis.counts import COST_COLUMNS
from gemmviz.analysis.replay import Replay
from gemmviz.gui.session import MOST_CHARTED_STEPS
from gemmviz.scene.theme import Theme, mixed


class _Unsigned(pg.AxisItem):
    """What points down is counted as what points up."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [f"{abs(value * scale):g}" for value in values]


class CostChart(QWidget):
    """A click goes to the step under it."""

    step_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = pg.PlotWidget(axisItems={"left": _Unsigned("left")})
        self.plot.setMenuEnabled(False)
        self.plot.setMouseEnabled(x=True, y=False)
        self.plot.hideButtons()
        self.plot.setToolTip(
            "Cost of each step for the watched block: global sectors up, shared wavefronts down. Click to go there."
        )
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._cursor = pg.InfiniteLine(angle=90)
        self._steps = 0
        self.plot.scene().sigMouseClicked.connect(self._on_clicked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.plot)

    def load(self, replay: Replay, theme: Theme) -> None:
        self.plot.clear()
        self.plot.setBackground(theme.background)
        for axis in ("left", "bottom"):
            self.plot.getAxis(axis).setPen(theme.faint)
            self.plot.getAxis(axis).setTextPen(theme.faint)
        what = "up: 32-byte sectors of global memory &nbsp; down: wavefronts of shared memory &nbsp; red: more than needed"
        self.plot.setTitle(what, color=theme.faint, size="9pt")
        self._cursor.setPen(pg.mkPen(theme.text, width=1))
        self._steps = replay.steps
        if replay.steps <= MOST_CHARTED_STEPS:
            self._draw(replay, theme)
        self.plot.addItem(self._cursor)
        self.plot.setXRange(0.5, max(1, replay.steps) + 0.5, padding=0.01)
        self.plot.enableAutoRange(axis="y")

    def _draw(self, replay: Replay, theme: Theme) -> None:
        columns = [COST_COLUMNS.index(name) for name in ("sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts")]
        sectors, needed, wavefronts, ideal = replay.costs[:, columns].T
        steps = np.arange(1, replay.steps + 1)
        for heights, bottoms, colour in (
            (needed, np.zeros_like(needed), theme.faint),
            (sectors - needed, needed, theme.warning),
            (-ideal, np.zeros_like(ideal), mixed(theme.background, theme.faint, 0.6)),
            (-(wavefronts - ideal), -ideal, theme.warning),
        ):
            shown = heights != 0
            if shown.any():
                bars = pg.BarGraphItem(
                    x=steps[shown], y0=bottoms[shown], height=heights[shown], width=0.86, brush=colour, pen=None
                )
                self.plot.addItem(bars)

    def show_step(self, step: int) -> None:
        self._cursor.setPos(step + 1)

    def _on_clicked(self, event: object) -> None:
        position = self.plot.plotItem.vb.mapSceneToView(event.scenePos())  # type: ignore[attr-defined]
        self.step_chosen.emit(max(0, min(self._steps - 1, round(position.x()) - 1)))
