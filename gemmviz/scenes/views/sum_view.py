"""One element of C as a sum: its products in order, with braces over k and over the phases, and below each product how it
moves the sum up or down.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.terms import Terms
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.records import replace
from gemmviz.model.sites import Site
from gemmviz.model.translation import counted, many, marked, tr
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Face, Labels, Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, framed, message
from gemmviz.scenes.stage.running_sum import value_read

# The loops around the products of a sum as source lines, each with its trip at this moment and the number of its trips: a
# tiled kernel has two short loops where another has a long one.

_LEADING, _MOST_LOOPS, _INDENT = 1.45, 3, 2
_LEAST_WIDE = 300.0


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
    lines, size = _loop_texts(moment, site), theme.type.least
    y = options.bottom - 16 - _LEADING * size * (len(lines) - 1)
    right, trips = (
        options.width - MARGIN,
        [tr("trip 88 of {count}", count=count) for count in (visits.max(axis=0) + 1).tolist()],
    )
    aside = max((text_width(each, size) for each in trips), default=0.0) + 24
    wide = min(right - left - 60, max(text_width(each, size, "mono") for each in lines) + aside) if lines else 0.0
    primitives: list[Primitive] = []
    for place, text in enumerate(lines):
        depth = len(site.loops) - len(lines) + place
        count = int(visits[:, depth].max()) + 1
        now = (
            tr("trip {visits} of {count}", visits=int(moment.trace.visits[int(reached.max()), depth]) + 1, count=count)
            if len(reached)
            else tr("{count} trips", count=count)
        )
        shown = fitted(text, size, wide - aside, "mono")
        primitives += [
            text_at(f"loop-{place}", (right - wide, y), shown, size, theme.text, "start", "mono"),
            text_at(f"loop-{place}-trip", (right, y), now, size, theme.faint, "end"),
        ]
        y += _LEADING * size
    top = options.bottom - 16 - _LEADING * size * len(lines)
    rule = boxes((right - wide - 20, top + 4, right - wide - 20, options.bottom - 10))
    return [Lines("loops-rule", rule, theme.line, 3.0), *primitives] if primitives else []


def _loop_texts(moment: Moment, site: Site) -> list[str]:
    """Return the source lines of the innermost loops around a site, outermost first, each indented further."""
    source = moment.trace.setup.kernel.text.split("\n")
    places = [moment.trace.loops[number].place.line for number in site.loops][-_MOST_LOOPS:]
    texts = [source[line - 1].strip().rstrip("{").strip() for line in places if 1 <= line <= len(source)]
    return [" " * _INDENT * depth + text for depth, text in enumerate(texts)]


_MOST_TERMS = 8
_LARGEST_TERM = 44.0
_FORMULA = 0.3  # of the height: where the line of products stands
_BAR_SHARE = 0.42  # of a column
_FOOT = 92.0  # height of the words below the bars
_NEVER = np.iinfo(np.int32).max


class _ShownTerms(Struct, frozen=True):
    """The visible terms: ``ks`` in the order in which they are computed, the place of the first, ``reached``: how many of all
    terms have arrived, ``values``: products that have arrived, by k; ``texts``, the ``size`` of the text, the ``left`` edge of
    the first term and the width of a column; ``tail``: whether more follow.
    """

    ks: list[int]
    first: int
    reached: int
    values: dict[int, float]
    texts: list[str]
    size: float
    left: float
    wide: float
    tail: bool

    @property
    def current(self) -> int:
        return max(0, self.reached - 1)

    def before(self, steps: Longs, step: int) -> "_ShownTerms":
        """The same before a step, in the same places. ``steps``: at which terms arrive, by k."""
        values = {k: value for k, value in self.values.items() if steps[k] < step}
        return replace(self, reached=int(np.count_nonzero(steps < step)), values=values)

    def span(self, place: int) -> float:
        """Width of the text of a term."""
        return text_width(self.texts[place], self.size)


class _Sum(Struct, frozen=True):
    """The sum of the first element of C that the watched thread stores: what is ``shown``, the baseline ``middle`` of its line
    of products, the ``steps`` at which its terms arrive, by k, and ``whole``: all products in order, None where the value is
    unknown.
    """

    terms: Terms
    element: tuple[int, int]
    steps: Longs
    shown: _ShownTerms
    middle: float
    whole: list[float | None]

    @classmethod
    def of(cls, moment: Moment, options: ViewOptions) -> "_Sum | None":
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
        middle = max(options.top + _FORMULA * (options.bottom - options.top), options.top - 46.0 + 4.8 * shown.size)
        return cls(terms, (row, column), steps, shown, middle, [values.get(int(k)) for k in order])

    def room(self, options: ViewOptions) -> Box:
        """The room of the bars: below the products, above the words."""
        top = self.middle + 1.2 * self.shown.size
        return Box(self.shown.left, top, 0.0, options.bottom - _FOOT - top)


def sum_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the first element of C that the first watched thread stores."""
    found = _Sum.of(moment, options)
    if found is None:
        return framed([message(tr("The watched thread stores no element of C."), options)], moment, options)
    return framed(_sum(moment, found, options), moment, options)


def sum_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars of the products of this step while they grow; nothing after that."""
    found = None if options.arrived else _Sum.of(moment, options)
    if found is None:
        return ()
    grown, (shown, heights) = options.way, (found.shown, _Heights.of(found, options))
    primitives: list[Primitive] = []
    for place, k in enumerate(shown.ks if heights else ()):
        if heights is not None and found.steps[k] == moment.step:
            y0, y1 = heights.ends(shown.first + place)
            x = shown.left + place * shown.wide + shown.span(place) / 2 - _BAR_SHARE * shown.wide / 2
            end = y0 + (y1 - y0) * grown
            box = boxes((x, min(y0, end), _BAR_SHARE * shown.wide, max(2.0, abs(end - y0))))
            primitives.append(Rects(f"growing-{k}", box, options.theme.accent("C"), radius=3.0))
    return tuple(primitives)


def _sum(moment: Moment, found: _Sum, options: ViewOptions) -> list[Primitive]:
    shown, middle, size = found.shown, found.middle, found.shown.size
    left = options.labels.element("C", *found.element) + " = " + ("… + " if shown.first else "")
    accent = options.theme.accent("C")
    primitives: list[Primitive] = [text_at("sum-left", (MARGIN, middle), left, size, accent, "start", "semibold")]
    primitives += [part for place in range(len(shown.ks)) for part in _term(shown, place, middle, options)]
    primitives += _braces_over(moment, shown, found.steps, middle, found.terms.length, options)
    if shown.tail:
        at = (shown.left + len(shown.ks) * shown.wide, middle)
        primitives.append(text_at("sum-tail", at, "…", size, options.theme.faint))
    account = _account(moment, found.terms, shown, options)
    end = max(float(each.at[0, 0]) + text_width(each.texts[0], each.size, each.face) for each in account)
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
    plus, room = text_width("  +  ", 1.0), options.width - 2 * MARGIN
    for most in range(_MOST_TERMS, 0, -1):
        first = 0 if len(order) <= most else min(max(0, reached - 1) // most * most, len(order) - 1)
        ks, tail = [int(k) for k in order[first : first + most]], first + most < len(order)
        texts = [f"{labels.element('A', element[0], k)} · {labels.element('B', k, element[1])}" for k in ks]
        left = labels.element("C", *element) + " = " + ("… + " if first else "")
        widest = max(text_width(text, 1.0, "semibold") for text in texts)
        long = text_width(left, 1.0, "semibold")
        size = min(_LARGEST_TERM, room / (long + len(ks) * (widest + plus) + (1.0 if tail else 0.0)))
        if size >= least or most == 1:
            break
    known = {k: value for k, value in values.items() if steps[k] <= step}
    return _ShownTerms(ks, first, reached, known, texts, size, MARGIN + long * size, (widest + plus) * size, tail)


def _term(shown: _ShownTerms, place: int, y: float, options: ViewOptions) -> list[Primitive]:
    """Draw one product, and the sign after it."""
    theme, size, k = options.theme, shown.size, shown.ks[place]
    x, span, at = shown.left + place * shown.wide, shown.span(place), shown.first + place
    is_now, is_done = at == shown.current and shown.reached > 0, at < shown.reached
    primitives: list[Primitive] = []
    if is_now:
        ground = boxes((x - 8, y - 1.05 * size, span + 16, 1.5 * size))
        primitives.append(Rects(f"term-{k}-ground", ground, theme.tint("C", 0.35), radius=6.0))
    face: Face = "semibold" if is_now else "regular"
    ink = theme.text if is_done else theme.faint
    primitives.append(text_at(f"term-{k}", (x, y), shown.texts[place], size, ink, "start", face))
    if place + 1 < len(shown.ks) or shown.tail:
        middle = (x + span + 0.5 * (shown.wide - span), y)
        primitives.append(text_at(f"plus-{k}", middle, "+", size, theme.faint, "middle"))
    return primitives


def _braces_over(
    moment: Moment, shown: _ShownTerms, steps: Longs, y: float, length: int, options: ViewOptions
) -> list[Primitive]:
    """Draw braces over each k, and over the phases if there are several."""
    phases = [int(moment.trace.phase[steps[k]]) if steps[k] < _NEVER else -1 for k in shown.ks]
    ks = [(place, place, f"k = {k + options.labels.first}") for place, k in enumerate(shown.ks)]
    primitives: list[Primitive] = []
    if 1 < moment.replay.phases < length:
        ks = [(place, place, _k_in_phase(moment, steps, k)) for place, k in enumerate(shown.ks)]
        primitives += _braces(_phase_runs(phases), shown, y - 3.4 * shown.size, options, "phase")
    return [*primitives, *_braces(ks, shown, y - 1.5 * shown.size, options, "k")]


class _Heights(Struct, frozen=True):
    """Where the sum is drawn after each number of terms: ``sums`` (n + 1,), on a scale of the finished sum from ``low`` at the
    ``bottom`` to ``high`` at the ``top``.
    """

    sums: Floats
    low: float
    high: float
    top: float
    bottom: float

    @classmethod
    def of(cls, found: _Sum, options: ViewOptions) -> "_Heights | None":
        """None if a product is unknown, or the sum never changes."""
        known = [each for each in found.whole if each is not None]
        sums = np.concatenate([[0.0], np.cumsum(np.array(known, np.float64))])
        low, high = float(sums.min()), float(sums.max())
        if len(known) != len(found.whole) or not known or not np.isfinite(high - low) or high - low <= 0:
            return None
        room, size = found.room(options), options.theme.type.words
        return cls(sums, low, high, room.y + 1.6 * size, room.bottom - 1.6 * size)

    def y(self, value: float) -> float:
        return self.bottom - (value - self.low) / (self.high - self.low) * (self.bottom - self.top)

    def ends(self, term: int) -> tuple[float, float]:
        """Heights before and after a term, counted from 0 in order."""
        return self.y(float(self.sums[term])), self.y(float(self.sums[term + 1]))


def _steps(found: _Sum, options: ViewOptions) -> list[Primitive]:
    """Draw how each product that has arrived moves the sum."""
    theme, size, shown, heights = options.theme, options.theme.type.words, found.shown, _Heights.of(found, options)
    if heights is None:
        return []
    right, zero_y = shown.left + len(shown.ks) * shown.wide, heights.y(0.0)
    zero = np.array([[shown.left - 0.1 * shown.wide, zero_y, right, zero_y]])
    zero_at = (shown.left - 0.1 * shown.wide - 10, baseline(zero_y, size))
    primitives: list[Primitive] = [
        Lines("sum-zero", zero, theme.line, 2.0), text_at("sum-zero-name", zero_at, "0", size, theme.faint, "end")
    ]  # fmt: skip
    for place, k in enumerate(shown.ks):
        at = shown.first + place
        if at < shown.reached:
            before, after = heights.ends(at)
            x = shown.left + place * shown.wide + shown.span(place) / 2
            value = float(heights.sums[at + 1] - heights.sums[at])
            primitives += _step(k, x, (before, after), value, at == shown.current, shown, options)
            if at + 1 < shown.reached and place + 1 < len(shown.ks):
                level = np.array([[x + _BAR_SHARE * shown.wide / 2, after, x + (1 - _BAR_SHARE / 2) * shown.wide, after]])
                primitives.append(Lines(f"level-{k}", level, theme.faint, 2.0, dashed=True))
    return primitives


def _step(
    k: int, x: float, ends: tuple[float, float], value: float, is_now: bool, shown: _ShownTerms, options: ViewOptions
) -> list[Primitive]:
    """Draw one product as a bar from the sum before to the sum after it, with its value beyond its end."""
    theme, size, (y0, y1) = options.theme, options.theme.type.words, ends
    box = boxes((x - _BAR_SHARE * shown.wide / 2, min(y0, y1), _BAR_SHARE * shown.wide, max(2.0, abs(y1 - y0))))
    fill = theme.accent("C") if is_now else theme.tint("C", 0.45)
    text_y = y1 - 0.5 * size if y1 <= y0 else y1 + 1.1 * size
    label = text_at(f"value-{k}", (x, text_y), f"{value:+.3g}", size, theme.text, "middle")
    return [Rects(f"product-{k}", box, fill, radius=3.0), label]


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


def _braces(
    spans: list[tuple[int, int, str]], shown: _ShownTerms, y: float, options: ViewOptions, key: str
) -> list[Primitive]:  # fmt: skip
    theme, size, wide = options.theme, shown.size, shown.wide
    primitives: list[Primitive] = []
    small = max(theme.type.least, 0.72 * size)
    for first, last, name in spans:
        left, right = shown.left + first * wide, shown.left + last * wide + shown.span(last)
        middle, low = (left + right) / 2, y + 0.4 * size
        bars = np.array(
            [[left, low, left, y], [left, y, right, y], [right, y, right, low], [middle, y, middle, y - 0.35 * size]]
        )
        primitives.append(Lines(f"brace-{key}-{first}", bars, theme.faint, 2.0))
        if text_width(name, small) <= wide * (last - first + 1) - 10:
            at = (middle, y - 0.6 * size)
            primitives.append(text_at(f"brace-{key}-{first}-name", at, name, small, theme.text, "middle"))
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


def _account(moment: Moment, terms: Terms, shown: _ShownTerms, options: ViewOptions) -> list[Labels]:
    """Draw how far the sum is, and its value if it is known."""
    theme, size, y = options.theme, options.theme.type.sentence, options.bottom - 16
    thread = thread_text(moment.scope.first_thread, moment.trace.launch)
    text = tr(
        "thread {thread}: {reached} of {terms}", thread=thread, reached=counted(shown.reached), terms=many(terms.length, "term")
    )
    parts = [text_at("sum-account", (MARGIN, y), text, size, theme.text, "start", "semibold")]
    if len(shown.values) == shown.reached and shown.reached:
        value = tr("sum = {values}", values=f"{np.float32(sum(shown.values.values())):.5g}")
        at = (MARGIN + text_width(text, size, "semibold") + 40, y)
        parts.append(text_at("sum-value", at, value, size, theme.accent("C"), "start", "semibold"))
    return parts


VIEW = View(marked("Sum, term by term"), Moment, sum_scene, sum_motion, multiplies=True, order=32)
