"""The cost of each step of a replay."""

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.chart import Chart
from gemmviz.model.records import replace
from gemmviz.model.translation import marked
from gemmviz.scenes.charts.models import cost_chart
from gemmviz.scenes.kit.chart import chart_view


def _chart(moment: Moment) -> Chart:
    return cost_chart(moment.replay, moment.scope, moment.step)


def _is_ready(moment: Moment) -> bool:
    return moment.replay.knows_costs(moment.scope)


VIEW = replace(chart_view(marked("Cost per step"), Moment, _chart, order=112, grows=False), is_ready=_is_ready, is_count=True)
