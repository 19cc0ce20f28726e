"""The panel with the cost of each step, as an interactive chart."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.gui.panel import Panel
from gemmviz.gui.widgets.controls import Refresh
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import marked, tr
from gemmviz.scenes.charts.models import cost_chart

if TYPE_CHECKING:
    from gemmviz.gui.chart_plot import ChartPlot


class Costs(QWidget):
    """A plot of the costs. A click goes to the step under it. The plot is created on first use."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.plot: ChartPlot | None = None
        self.setAccessibleName(tr("Cost per step"))
        self.setMinimumSize(240, 110)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._refresh = Refresh(self, self.draw)
        session = model.session
        for event in (
            session.run_changed,
            session.analysis_changed,
            session.position_changed,
            session.shot_changed,
            model.theme_changed,
            model.plotting.loaded,
        ):
            event.connect(self._refresh.due)

    def draw(self) -> None:
        """Draw the costs once they are counted."""
        session = self.model.session
        now, plotting = session.now, self.model.plotting
        plotting.load()
        if now is not None and now.replay.knows_costs(now.scope) and plotting.is_loaded:
            self.plot = self.plot or self._new_plot()
            self.plot.setVisible(session.display.counted >= 1.0)  # the costs may be the answer to an open question
            self.plot.show_chart(cost_chart(now.replay, now.scope, now.step), self.model.theme)

    def _new_plot(self) -> "ChartPlot":
        from gemmviz.gui.chart_plot import ChartPlot

        plot = ChartPlot(self.model, tr("Cost per step"), small=True)
        plot.chosen.connect(lambda x: self.model.session.player.jump(round(x) - 1))
        self._column.addWidget(plot)
        self._refresh.watch(plot.viewport())
        return plot


PANEL = Panel(marked("Costs"), Costs, order=6)
