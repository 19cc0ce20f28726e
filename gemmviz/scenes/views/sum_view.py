"""Views of the sums of C: one element as its products in order, and the work and span of a multiplication."""

from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.models import parallelism_of, span_of, work_of
from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.terms import Terms
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.cases import LaunchCase
from gemmviz.model.messages import counted, many, marked, number, sized, spaced, tr
from gemmviz.model.problem import Problem
from gemmviz.model.sites import Site
from gemmviz.scenes.charts.models import work_chart
from gemmviz.scenes.kit.chart import chart_motion, chart_still
from gemmviz.scenes.kit.layout import (
    BAR,
    LINE_PITCH,
    NAMED,
    NEAR,
    RISE,
    ROW_PITCH,
    Box,
    Edge,
    Line,
    Point,
    all_beside,
    beside,
    lines_down,
    path,
    round_boxes,
    square,
    ticks_along,
    wrapped,
    write,
)
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, text_width
from gemmviz.scenes.kit.scale import Scale
from gemmviz.scenes.kit.theme import FIRM, HALF, PALE, SOFT, Style
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, eased_in_turn, framed, message, titled
from gemmviz.scenes.stage.running_sum import value_read

# The loops around the products of a sum as source lines, each with its trip at this moment and the number of its trips: a
# tiled kernel has two short loops where another has a long one.

_MOST_LOOPS, _INDENT = 3, 2
_LEAST_WIDE = 300


def loop_lines(moment: Moment, steps: Longs, left: float, options: ViewOptions) -> list[Primitive]:
    """Draw the loops at the lower right, from ``left`` on at most; nothing in a narrow room. ``steps``: those at which the
    products are complete.
    """
    if options.width - MARGIN - left < _LEAST_WIDE:
        return []
    done = steps[steps < _NEVER]
    sites = {int(moment.trace.site[step]) for step in done.tolist() if step < moment.trace.steps}
    if len(sites) != 1:
        return []
    number = sites.pop()
    site, theme = moment.trace.sites[number], options.theme
    done = np.flatnonzero(moment.trace.site == number)  # those of the thread's other elements, too
    visits = moment.trace.visits[done][:, : len(site.loops)]
    reached = done[done <= (moment.step if options.arrived else moment.step - 1)]
    lines, trips = _loop_texts(moment, site), (visits.max(axis=0) + 1).tolist()
    if not lines:
        return []
    code, aside = Style(theme.type.least, theme.text, "mono"), theme.aside
    tail = max(aside.width(tr("trip 88 of {count}", count=count)) for count in trips) + 24
    room = options.room().trimmed(left=left + 60 - MARGIN, bottom=9)
    block, _ = room.strip("bottom", ROW_PITCH * code.size * len(lines))
    block, _ = block.strip("right", min(block.width, max(map(code.width, lines)) + tail))
    edge = block.inset(-20, 0)
    drawn: list[Primitive] = [path("loops-rule", [edge.at(0, 0), edge.at(0, 1)], theme.line)]
    for place, (text, row) in enumerate(zip(lines, block.grid(len(lines), 1), strict=True)):
        depth = len(site.loops) - len(lines) + place
        count = trips[depth]
        now = (
            tr("trip {visits} of {count}", visits=int(moment.trace.visits[int(reached.max()), depth]) + 1, count=count)
            if len(reached)
            else tr("{count} trips", count=count)
        )
        drawn += [
            write(f"loop-{place}", row.trimmed(right=tail), text, code),
            write(f"loop-{place}-trip", row, now, aside, "end"),
        ]
    return drawn


def _loop_texts(moment: Moment, site: Site) -> list[str]:
    """Return the source lines of the innermost loops around a site, outermost first, each indented further."""
    source = moment.trace.setup.kernel.text.split("\n")
    places = [moment.trace.loops[number].place.line for number in site.loops][-_MOST_LOOPS:]
    texts = [source[line - 1].strip().rstrip("{").strip() for line in places if 1 <= line <= len(source)]
    return [" " * _INDENT * depth + text for depth, text in enumerate(texts)]


_MOST_TERMS, _LARGEST_TERM = 8, 44
_FORMULA = 0.3  # of the height: where the line of products stands
_BAR_SHARE = 0.42  # of a column
_FOOT, _ACCOUNT = 92, 56  # heights of the words below the bars, and of the line with the sum
_NEVER = np.iinfo(np.int32).max


class _ShownTerms(Struct, frozen=True):
    """The visible terms: ``ks`` in the order in which they are computed, the place of the first, ``reached``: how many of all
    terms have arrived, ``values``: products that have arrived, by k; ``texts``, the ``size`` of the text, the ``line`` of the
    terms in equal columns; ``tail``: whether more follow.
    """

    ks: list[int]
    first: int
    reached: int
    values: dict[int, float]
    texts: list[str]
    size: float
    line: Box
    tail: bool

    @property
    def current(self) -> int:
        return max(0, self.reached - 1)

    def before(self, steps: Longs, step: int) -> "_ShownTerms":
        """The same before a step, in the same places. ``steps``: at which terms arrive, by k."""
        values = {k: value for k, value in self.values.items() if steps[k] < step}
        return structs.replace(self, reached=int(np.count_nonzero(steps < step)), values=values)

    @property
    def columns(self) -> list[Box]:
        """The columns of the terms, each with the sign after its term."""
        return self.line.grid(1, len(self.ks))

    def term(self, place: int) -> Box:
        """The box of the text of a term."""
        return self.columns[place]._replace(width=text_width(self.texts[place], self.size))


class _WatchedSum(Struct, frozen=True):
    """The sum of the first element of C that the watched thread stores: what is ``shown``, the ``steps`` at which its terms
    arrive, by k, and ``whole``: all products in order, None where the value is unknown.
    """

    terms: Terms
    element: tuple[int, int]
    steps: Longs
    shown: _ShownTerms
    whole: list[float | None]

    @classmethod
    def of(cls, moment: Moment, options: ViewOptions) -> "_WatchedSum | None":
        """None for a thread that stores nothing. What moves in this step counts as soon as it has arrived."""
        terms, array = moment.terms, moment.replay.owners.array
        own = [] if terms is None else np.flatnonzero(terms.threads == moment.scope.first_thread).tolist()
        if terms is None or array is None or not own:
            return None
        row, column = (int(each) for each in array.row_column(terms.elements[own[0]]))
        steps = terms.steps[int(terms.kind[own[0]])]
        order, values = np.argsort(steps, kind="stable"), _known_products(moment, terms, own[0])
        arrived = int(np.count_nonzero(steps <= moment.step))
        shown = _fitting_terms(order, arrived, (row, column), values, moment.step, steps, options)
        if not options.arrived:
            shown = shown.before(steps, moment.step)
        return cls(terms, (row, column), steps, shown, [values.get(int(k)) for k in order])

    def bar(self, place: int, ends: Point, share: float = 1) -> Box:
        """The bar of a term between two heights, or of the first ``share`` of the way."""
        start, end = ends[0], ends[0] + (ends[1] - ends[0]) * share
        middle = self.shown.term(place).middle_x, (start + end) / 2
        return square(middle, _BAR_SHARE * self.shown.columns[place].width, max(2, abs(end - start)))


def sum_scene(moment: Moment, options: ViewOptions) -> Scene:
    """One element of C as a sum.

    Draw the first element of C that the first watched thread stores.
    """
    found = _WatchedSum.of(moment, options)
    if found is None:
        return framed([message(tr("The watched thread stores no element of C."), options)], moment, options)
    return framed(_sum(moment, found, options), moment, options)


def sum_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars of the products of this step while they grow; nothing after that."""
    found = None if options.arrived else _WatchedSum.of(moment, options)
    if found is None:
        return ()
    shown, heights, theme = found.shown, _Heights.of(found, options), options.theme
    if heights is None:
        return ()
    now = [(place, k) for place, k in enumerate(shown.ks) if found.steps[k] == moment.step]
    bars = ((k, found.bar(place, heights.ends(shown.first + place), options.way)) for place, k in now)
    return tuple(round_boxes(f"growing-{k}", bar, theme.accent("C")) for k, bar in bars)


def _sum(moment: Moment, found: _WatchedSum, options: ViewOptions) -> list[Primitive]:
    shown, theme = found.shown, options.theme
    left = options.labels.element("C", *found.element) + " = " + ("… + " if shown.first else "")
    head, style = shown.line._replace(x=MARGIN, width=shown.line.x - MARGIN), Style(shown.size, theme.accent("C"), "semibold")
    primitives: list[Primitive] = [write("sum-left", head, left, style)]
    primitives += [part for place in range(len(shown.ks)) for part in _drawn_term(shown, place, options)]
    primitives += _braces_over(moment, shown, found.steps, found.terms.length, options)
    if shown.tail:
        primitives.append(beside("sum-tail", shown.line, "right", "…", Style(shown.size, theme.faint), 0))
    account, end = _account(moment, found.terms, shown, options)
    return [*primitives, *_steps(found, options), *account, *loop_lines(moment, found.steps, end, options)]


def _fitting_terms(
    order: Longs,
    reached: int,
    element: tuple[int, int],
    values: dict[int, float],
    step: int,
    steps: Longs,
    options: ViewOptions,
) -> _ShownTerms:
    """Return the terms around the current one, as many as fit in a size that can be read."""
    labels, least = options.labels, options.theme.type.words
    plus, room = text_width("  +  ", 1), options.width - 2 * MARGIN
    for most in range(_MOST_TERMS, 0, -1):
        first = 0 if len(order) <= most else min(max(0, reached - 1) // most * most, len(order) - 1)
        ks, tail = [int(k) for k in order[first : first + most]], first + most < len(order)
        texts = [f"{labels.element('A', element[0], k)} · {labels.element('B', k, element[1])}" for k in ks]
        left = labels.element("C", *element) + " = " + ("… + " if first else "")
        widest = max(text_width(text, 1, "semibold") for text in texts)
        long = text_width(left, 1, "semibold")
        size = min(_LARGEST_TERM, room / (long + len(ks) * (widest + plus) + (1 if tail else 0)))
        if size >= least or most == 1:
            break
    known = {k: value for k, value in values.items() if steps[k] <= step}
    down = max(options.top + _FORMULA * (options.bottom - options.top), options.top + 2 * _brace_height(size))
    line = Box(MARGIN + long * size, down - (RISE + ROW_PITCH / 2) * size, len(ks) * (widest + plus) * size, ROW_PITCH * size)
    return _ShownTerms(ks, first, reached, known, texts, size, line, tail)


def _drawn_term(shown: _ShownTerms, place: int, options: ViewOptions) -> list[Primitive]:
    """Draw one product, and the sign after it."""
    theme, size, k, at = options.theme, shown.size, shown.ks[place], shown.first + place
    box, column = shown.term(place), shown.columns[place]
    is_now, is_done = at == shown.current and shown.reached > 0, at < shown.reached
    primitives: list[Primitive] = [round_boxes(f"term-{k}-ground", box.inset(-8, 0), theme.tint("C", SOFT))] if is_now else []
    style = Style(size, theme.text if is_done else theme.faint, "semibold" if is_now else "regular")
    primitives.append(write(f"term-{k}", column, shown.texts[place], style))
    if place + 1 < len(shown.ks) or shown.tail:
        primitives.append(write(f"plus-{k}", column.trimmed(left=box.width), "+", Style(size, theme.faint), "middle"))
    return primitives


def _braces_over(moment: Moment, shown: _ShownTerms, steps: Longs, length: int, options: ViewOptions) -> list[Primitive]:
    """Draw braces over each k, and over the phases if there are several."""
    phases = [int(moment.trace.phase[steps[k]]) if steps[k] < _NEVER else -1 for k in shown.ks]
    ks = [(place, place, f"k = {k + options.labels.first}") for place, k in enumerate(shown.ks)]
    primitives: list[Primitive] = []
    if 1 < moment.replay.phases < length:
        ks = [(place, place, _k_in_phase(moment, steps, k)) for place, k in enumerate(shown.ks)]
        primitives += _braces(_phase_runs(phases), shown, 1, options, "phase")
    return [*primitives, *_braces(ks, shown, 0, options, "k")]


class _Heights(Struct, frozen=True):
    """Where the sum is drawn after each number of terms: ``sums`` (n + 1,) on a ``scale``."""

    sums: Floats
    scale: Scale

    @classmethod
    def of(cls, found: _WatchedSum, options: ViewOptions) -> "_Heights | None":
        """None if a product is unknown, or the sum never changes."""
        known = [each for each in found.whole if each is not None]
        sums = np.concatenate([[0.0], np.cumsum(np.array(known, np.float64))])
        low, high = float(sums.min()), float(sums.max())
        if len(known) != len(found.whole) or not known or not np.isfinite(high - low) or high - low <= 0:
            return None
        line, words = found.shown.line, ROW_PITCH * options.theme.type.words
        return cls(sums, Scale(low, high, options.bottom - _FOOT - words, line.bottom + 2 * NEAR + words, False))

    def ends(self, term: int) -> Point:
        """Heights before and after a term, counted from 0 in order."""
        return self.scale.at(float(self.sums[term])), self.scale.at(float(self.sums[term + 1]))


def _steps(found: _WatchedSum, options: ViewOptions) -> list[Primitive]:
    """Draw how each product that has arrived moves the sum."""
    theme, shown, heights = options.theme, found.shown, _Heights.of(found, options)
    if heights is None:
        return []
    wide = shown.columns[0].width
    zero = square(shown.line.middle, shown.line.width, 0)._replace(y=heights.scale.at(0)).trimmed(left=-NEAR)
    primitives: list[Primitive] = [
        path("sum-zero", [zero.at(0), zero.at(1)], theme.line, 2),
        beside("sum-zero-name", zero, "left", "0", theme.soft, 10),
    ]
    arrived = [(place, k) for place, k in enumerate(shown.ks) if shown.first + place < shown.reached]
    for place, k in arrived:
        at = shown.first + place
        ends = heights.ends(at)
        bar, value = found.bar(place, ends), float(heights.sums[at + 1] - heights.sums[at])
        fill = theme.accent("C") if at == shown.current else theme.tint("C", HALF)
        side: Edge = "top" if ends[1] <= ends[0] else "bottom"
        primitives += [
            round_boxes(f"product-{k}", bar, fill),
            beside(f"value-{k}", bar.inset((bar.width - wide) / 2, 0), side, f"{value:+.3g}", theme.plain, NEAR, "middle"),
        ]
        if (place, k) != arrived[-1]:
            level = bar.right, ends[1]
            primitives.append(path(f"level-{k}", [level, (level[0] + wide - bar.width, ends[1])], theme.faint, 2, dashed=True))
    return primitives


def _k_in_phase(moment: Moment, steps: Longs, k: int) -> str:
    """Return the text of a term's k, counted from the first one of its phase."""
    made = steps < _NEVER
    if not made[k]:
        return ""
    phase = moment.trace.phase[steps[k]]
    first = int(np.flatnonzero(made & (moment.trace.phase[np.where(made, steps, 0)] == phase))[0])
    return tr("k in phase = {k}", k=k - first)


def _phase_runs(phases: list[int]) -> list[tuple[int, int, str]]:
    """Return the stretches of terms of one phase: first, last, and the text above them."""
    runs: list[tuple[int, int, str]] = []
    for place, phase in enumerate(phases):
        name = tr("phase {phase}", phase=phase + 1)
        if runs and runs[-1][2] == name:
            runs[-1] = (runs[-1][0], place, name)
        else:
            runs.append((place, place, name))
    return runs


def _brace_height(size: float) -> float:
    """The height of a brace with its name, over terms of this size."""
    return 2 * NEAR + LINE_PITCH * size


def _braces(
    spans: list[tuple[int, int, str]], shown: _ShownTerms, above: int, options: ViewOptions, key: str
) -> list[Primitive]:  # fmt: skip
    """Draw braces over the line of the terms, ``above`` so many other ones, with their names."""
    theme, size, columns = options.theme, shown.size, shown.columns
    small = Style(max(theme.type.least, size / LINE_PITCH), theme.text)
    primitives: list[Primitive] = []
    for first, last, name in spans:
        start, end = shown.term(first), shown.term(last)
        box = Box(start.x, start.y - NEAR - above * _brace_height(size), end.right - start.x, NEAR)
        top, nose = box.edge("top"), box.shifted(y=-NEAR)
        corners = [box.at(0, 1), box.at(0, 0), top, nose.edge("top"), top, box.at(1, 0), box.at(1, 1)]
        primitives.append(path(f"brace-{key}-{first}", corners, theme.faint, 2))
        room = square(nose.middle, columns[0].width * (last - first + 1), nose.height)
        if small.width(name) <= room.width - 10:
            primitives.append(beside(f"brace-{key}-{first}-name", room, "top", name, small, NEAR / 2, "middle"))
    return primitives


def _known_products(moment: Moment, terms: Terms, which: int) -> dict[int, float]:
    """Return the products of the run, by k; none if values are unknown."""
    replay, kind = moment.replay, int(terms.kind[which])
    if replay.value is None:
        return {}
    values = {}
    for k in range(terms.length):
        a, b = (value_read(moment, int(steps[kind, k])) for steps in (terms.reads_a, terms.reads_b))
        if a is not None and b is not None:
            values[k] = float(a) * float(b)
    return values


def _account(moment: Moment, terms: Terms, shown: _ShownTerms, options: ViewOptions) -> tuple[list[Labels], float]:
    """Draw how far the sum is, and its value if it is known; return where it ends, too."""
    theme, thread = options.theme, thread_text(moment.scope.first_thread, moment.trace.launch)
    text = tr(
        "thread {thread}: {reached} of {terms}", thread=thread, reached=counted(shown.reached), terms=many(terms.length, "term")
    )
    room, style = options.room().strip("bottom", _ACCOUNT)[0], theme.large
    parts, end = [write("sum-account", room, text, style)], room.x + style.width(text)
    if len(shown.values) == shown.reached and shown.reached:
        value = tr("sum = {values}", values=f"{np.float32(sum(shown.values.values())):.5g}")
        after = room.trimmed(left=style.width(text) + 40)
        parts.append(write("sum-value", after, value, style.inked(theme.accent("C"))))
        end = after.x + style.width(value)
    return parts, end


# Work and span of a multiplication: the ticks of one thread in a row, which part into sums that run side by side. Of a
# multiplication with too many ticks to draw, a chart by size.

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
    """Work and span of a multiplication.

    Draw the empty rows with their names; of a large multiplication, the axes of its chart.
    """
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


VIEWS = {
    "sum": View(marked("Sum, term by term"), Moment, sum_scene, sum_motion, multiplies=True, order=103),
    "work": View(marked("Work and span"), LaunchCase, work_scene, draw_motion=work_motion, multiplies=True, order=506),
}
