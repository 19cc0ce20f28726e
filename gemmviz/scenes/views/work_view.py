"""Work and span of a multiplication: the ticks of one thread in a row, which part into sums that run side by side. Of a
multiplication with too many ticks to draw, a chart by size.

A tick is one multiplication and one addition. Time runs to the right, on one scale for one thread and for many.
"""

from typing import NamedTuple

from gemmviz.analysis.models import parallelism_of, span_of, work_of
from gemmviz.model.arrays import Floats
from gemmviz.model.cases import LaunchCase
from gemmviz.model.problem import Problem
from gemmviz.model.translation import many, marked, number, sized, spaced, tr
from gemmviz.scenes.charts.models import work_chart
from gemmviz.scenes.kit.chart import chart_motion, chart_still
from gemmviz.scenes.kit.layout import (
    BAR,
    NAMED,
    NEAR,
    Box,
    Line,
    all_beside,
    beside,
    lines_down,
    path,
    round_boxes,
    ticks_along,
    wrapped,
)
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.theme import FIRM, HALF, PALE
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, titled

_MOST_TICKS, _MOST_SUMS = 160, 24
_ROW, _CELL = 34, 40  # the largest row and tick
_RUNS = 0.42  # share of the motion in which one thread works
_TINTS = (FIRM, HALF)  # of C's colour, in turn, so that neighbouring sums are results apart


class _Plan(NamedTuple):
    """The row of one thread, the row of each sum below it, and how wide a tick is."""

    row: Box
    sums: list[Box]
    tick: float
    ticks: int

    @classmethod
    def of(cls, problem: Problem, options: ViewOptions) -> "_Plan":
        count, room = problem.M * problem.N, options.room(128, 34).trimmed(left=_width_of_names(problem, options))
        ticks = count * problem.K
        tick, pitch = min(_CELL, room.width / ticks), min(_ROW, room.height / (count + 5))
        row, _, *below = room.rows(pitch, 3 * options.theme.type.least + pitch / 2, *[pitch] * count)
        sums = [each._replace(width=problem.K * tick, height=BAR * pitch) for each in below]
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
    plan, count = _Plan.of(problem, options), problem.M * problem.N
    step = max(1, -(-round(theme.small.width("000 ")) // max(1, round(problem.K * plan.tick))))
    shown = range(0, count + 1, step)
    names = [options.labels.element("C", *divmod(place, problem.N)) for place in range(count)]
    primitives: list[Primitive] = [
        Rects("empty", _ticks_in(plan.row, plan, plan.ticks), None, theme.line, 1),
        *ticks_along(
            "ticks", plan.row, [sums / count for sums in shown], [str(sums * problem.K) for sums in shown], theme.aside
        ),
        beside("one", plan.row, "left", tr(_ONE_ALONE), theme.small),
    ]
    if plan.row.height >= NAMED * theme.type.least:
        primitives.append(all_beside("names", plan.sums, "left", names, theme.aside))
    title = tr(
        "Work and span: C has {elements}, each a sum of {products}",
        elements=many(count, "element"),
        products=sized(problem.K, "product"),
    )
    return titled(primitives, title, tr("a tick is one multiplication and one addition; counted from the algorithm"), options)


def work_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw one thread at work, then its sums on their way to rows of their own, and what both take."""
    if not is_drawn(case.problem):
        return chart_motion(work_chart(case), options)
    plan, theme = _Plan.of(case.problem, options), options.theme
    done = round(plan.ticks * min(1, options.moment / _RUNS))
    parted, count = max(0, (options.moment - _RUNS) / (1 - _RUNS)), case.problem.K
    pieces: list[Primitive] = [Rects("ran", _ticks_in(plan.row, plan, done), theme.tint("C", PALE))] if done else []
    for place, target in enumerate(plan.sums):
        way, first = eased_in_turn(parted, place, len(plan.sums)), place * count
        if done > first:
            row = plan.row.shifted(first * plan.tick).towards(target, way)
            own = _ticks_in(row, plan, min(count, done - first))
            pieces.append(round_boxes(f"sum-{place}", own, theme.tint("C", _TINTS[place % 2])))
    return (*pieces, *_results(case.problem, plan, done, parted, options))


_ONE_ALONE = marked("1 thread")


def _width_of_names(problem: Problem, options: ViewOptions) -> float:
    longest = options.labels.element("C", problem.M - 1, problem.N - 1)
    return max(options.theme.small.width(each) for each in (longest, tr(_ONE_ALONE))) + NEAR


def _ticks_in(row: Box, plan: _Plan, count: int) -> Floats:
    """Return the boxes of ticks in a row."""
    gap = min(2, plan.tick / 10)
    return boxes(*(box.trimmed(right=gap) for box in row.columns(*[plan.tick] * count)))


def _results(problem: Problem, plan: _Plan, done: int, parted: float, options: ViewOptions) -> list[Primitive]:
    """Draw the count of ticks of one thread, and after the sums have parted, of as many threads as there are sums."""
    theme, lines = options.theme, list[Line]()
    soft, left = theme.soft.inked(theme.faded(theme.text, FIRM)), max(plan.whole.right + 60, 0.46 * options.width)
    room = options.room(foot=0).trimmed(top=plan.whole.middle_y - theme.large.size - options.top)
    box = room.trimmed(left=left - room.x)
    results = [
        (tr("{ticks} one after the other", ticks=many(done, "tick")), _operations(tr("work"), "2 M N K", work_of(problem)))
    ]
    if parted >= 1:
        threads = tr("{ticks} with {threads}", ticks=many(problem.K, "tick"), threads=many(len(plan.sums), "thread"))
        results += [
            (threads, _operations(tr("each thread"), "2 K", 2 * problem.K)),
            (_operations(tr("span"), "K + 1", span_of(problem)), _gain(problem)),
        ]
    for place, (head, more) in enumerate(results):
        lines += [
            Line(f"said-{place}", head, *theme.large, 20 if place else 0),
            *wrapped(f"said-{place}-more", more, soft, box.width, 2),
        ]
    longer = plan.whole.inset(0, -8)
    end = [path("end", [longer.at(1, 0), longer.at(1, 1)], theme.text, 2, dashed=True)] if parted >= 1 else []
    return [*lines_down(box, lines), *end]


def _operations(name: str, formula: str, value: int) -> str:
    return tr("{name} = {formula} = {value} operations", name=name, formula=formula, value=spaced(value))


def _gain(problem: Problem) -> str:
    gain = number(parallelism_of(problem))
    return tr("products wait for nothing, an addition for the one before; work / span = {gain}", gain=gain)


VIEW = View(marked("Work and span"), LaunchCase, work_scene, draw_motion=work_motion, multiplies=True, order=506)
