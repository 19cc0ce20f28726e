"""Work and span of a multiplication: the ticks of one thread in a row, which part into sums that run side by side. Of a
multiplication with too many ticks to draw, a chart by size.

A tick is one multiplication and one addition. Time runs to the right, on one scale for one thread and for many.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.models.time import parallelism_of, span_of, work_of
from gemmviz.model.arrays import Floats
from gemmviz.model.cases import LaunchCase
from gemmviz.model.labels import LabelStyle
from gemmviz.model.problem import Problem
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many, number, sized, spaced
from gemmviz.scenes.charts.models import work_chart
from gemmviz.scenes.kit.chart import chart_motion, chart_still
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, eased_from, titled
from gemmviz.scenes.kit.layout import Box, baseline, path
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width, wrap_text
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.kit.view import View

_MOST_TICKS, _MOST_SUMS = 160, 24
_TOP, _FOOT, _ROW, _CELL = 128.0, 34.0, 34.0, 40.0  # the last two: the largest row and tick
_RUNS = 0.42  # share of the motion in which one thread works
_SHADES = (0.85, 0.5)  # of C's colour, in turn, so that neighbouring sums are results apart
_RAN = 0.22  # of C's colour where one thread has worked
_FLIES = 0.45  # share of the rest that one sum takes to its row


class _Plan(NamedTuple):
    """The row of one thread, the row of each sum below it, and how wide a tick is."""

    row: Box
    sums: list[Box]
    tick: float
    ticks: int

    @classmethod
    def of(cls, problem: Problem, options: ViewOptions) -> "_Plan":
        count, room = problem.M * problem.N, options.room(_TOP, _FOOT).trimmed(left=_names_width(problem, options))
        ticks = count * problem.K
        tick, pitch = min(_CELL, room.width / ticks), min(_ROW, room.height / (count + 4.6))
        row, _, *below = room.rows(pitch, 3.0 * options.theme.type.least + 0.6 * pitch, *[pitch] * count)
        sums = [each._replace(width=problem.K * tick, height=0.8 * pitch) for each in below]
        return cls(row._replace(width=ticks * tick), sums, tick, ticks)

    @property
    def whole(self) -> Box:
        """The box of all sums."""
        return self.sums[0]._replace(height=self.sums[-1].bottom - self.sums[0].y)


def is_drawn(problem: Problem) -> bool:
    """Whether a multiplication is small enough to draw its ticks."""
    return problem.M * problem.N <= _MOST_SUMS and problem.M * problem.N * problem.K <= _MOST_TICKS


def work_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the empty rows with their names; of a large multiplication, the axes of its chart."""
    if not is_drawn(case.problem):
        return chart_still(work_chart(case), options)
    problem, theme = case.problem, options.theme
    plan, size = _Plan.of(problem, options), theme.type.least
    y = plan.row.bottom
    at = [0, *range(problem.K, plan.ticks + 1, problem.K)]
    xs = [plan.row.x + each * plan.tick for each in at]
    shown = at[:: max(1, -(-round(text_width("000 ", size)) // max(1, round(problem.K * plan.tick))))]
    numbers = points(*((plan.row.x + each * plan.tick, y + 1.3 * size) for each in shown))
    names = [options.labels.element("C", *divmod(place, problem.N)) for place in range(len(plan.sums))]
    beside = points(*((row.x - 12, baseline(row.middle_y, size)) for row in plan.sums))
    primitives: list[Primitive] = [
        Lines("ticks", boxes(*((x, y, x, y + 6) for x in xs)), theme.faint, 1.5),
        Rects("empty", _cells(plan.row, plan, plan.ticks), None, theme.line, 1.0),
        Labels("ticks-numbers", numbers, tuple(map(str, shown)), size, theme.faint, "middle"),
        text_line("one", (MARGIN, baseline(plan.row.middle_y, size)), tr(_ONE), size, plan.row.x, theme.text),
        *([Labels("names", beside, tuple(names), size, theme.faint, "end")] if plan.sums[0].height >= 0.95 * size else []),
    ]
    title = tr(
        "Work and span: C has {elements}, each a sum of {products}",
        elements=many(len(names), "element"),
        products=sized(problem.K, "product"),
    )
    return titled(primitives, title, tr("a tick is one multiplication and one addition; counted from the algorithm"), options)


def work_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw one thread at work, then its sums on their way to rows of their own, and what both take."""
    if not is_drawn(case.problem):
        return chart_motion(work_chart(case), options)
    plan, theme = _Plan.of(case.problem, options), options.theme
    ran = min(1.0, options.moment / _RUNS)
    done = round(plan.ticks * ran)
    parted = max(0.0, (options.moment - _RUNS) / (1.0 - _RUNS))
    pieces: list[Primitive] = [Rects("ran", _cells(plan.row, plan, done), theme.tint("C", _RAN))] if done else []
    for place, target in enumerate(plan.sums):
        start = (1.0 - _FLIES) * place / max(1, len(plan.sums) - 1)
        way = eased_from(parted, start, _FLIES) if options.moment < 1.0 else 1.0
        first = place * case.problem.K
        count = min(case.problem.K, max(0, done - first))
        if count:
            row = plan.row.shifted(first * plan.tick).towards(target, way)
            colour = theme.tint("C", _SHADES[place % 2])
            pieces.append(Rects(f"sum-{place}", _cells(row, plan, count), colour, radius=2.0))
    return (*pieces, *_results(case.problem, plan, done, parted, options))


_ONE = marked("1 thread")


def _names_width(problem: Problem, options: ViewOptions) -> float:
    label: LabelStyle = options.labels
    longest = label.element("C", problem.M - 1, problem.N - 1)
    return max(text_width(each, options.theme.type.least) for each in (longest, tr(_ONE))) + 18


def _cells(row: Box, plan: _Plan, count: int) -> Floats:
    """Return the boxes of ticks in a row."""
    left = row.x + np.arange(count) * plan.tick
    gap = min(2.0, 0.1 * plan.tick)
    return np.stack([left, np.full(count, row.y), np.full(count, plan.tick - gap), np.full(count, row.height)], axis=1)


def _results(problem: Problem, plan: _Plan, done: int, parted: float, options: ViewOptions) -> list[Primitive]:
    """Draw the count of ticks of one thread, and after the sums have parted, of as many threads as there are sums."""
    theme, sizes = options.theme, options.theme.type
    x, y = max(plan.whole.right + 60, 0.46 * options.width), plan.whole.at(0.0, 0.46)[1]
    room, soft = options.width - MARGIN - x, mixed(theme.background, theme.text, 0.75)
    results = [(tr("{ticks} one after the other", ticks=many(done, "tick")), _formula(tr("work"), "2 M N K", work_of(problem)))]
    if parted >= 1.0:
        threads = tr("{ticks} with {threads}", ticks=many(problem.K, "tick"), threads=many(len(plan.sums), "thread"))
        results += [(threads, _formula(tr("each thread"), "2 K", 2 * problem.K)), (_chain(problem), _gain(problem))]
    pieces: list[Primitive] = []
    for place, (head, more) in enumerate(results):
        pieces.append(text_line(f"said-{place}", (x, y), head, sizes.sentence, room, theme.text, "semibold"))
        for line in wrap_text(more, sizes.words, room, 2):
            y += 1.35 * sizes.words
            pieces.append(text_line(f"said-{place}-{y:.0f}", (x, y), line, sizes.words, room, soft))
        y += 2.2 * sizes.sentence
    longer = plan.whole.inset(0.0, -8.0)
    end = path("end", [longer.at(1.0, 0.0), longer.at(1.0, 1.0)], theme.text, 2.0, dashed=True)
    return [*pieces, end] if parted >= 1.0 else pieces


def _formula(name: str, formula: str, value: int) -> str:
    return tr("{name} = {formula} = {value} operations", name=name, formula=formula, value=spaced(value))


def _chain(problem: Problem) -> str:
    return _formula(tr("span"), "K + 1", span_of(problem))


def _gain(problem: Problem) -> str:
    gain = number(parallelism_of(problem))
    return tr("products wait for nothing, an addition for the one before; work / span = {gain}", gain=gain)


VIEW = View(marked("Work and span"), LaunchCase, work_scene, draw_motion=work_motion, multiplies=True, order=43)
