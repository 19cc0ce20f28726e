"""What every step costs, of a replay."""

from gemmviz.analysis.moment import Moment
from gemmviz.analysis.step_costs import cost_chart
from gemmviz.model.chart import Chart
from gemmviz.scenes.chart import chart_view


def _chart(moment: Moment) -> Chart:
    return cost_chart(moment.replay, moment.scope, moment.step)


VIEW = chart_view("Cost of every step", Moment, _chart, order=6)
