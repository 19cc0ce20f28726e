"""The sum of one thread, growing term by term: a pair of cells for each product, what is done so far, and the sum itself.

It shows what has arrived: a factor that is still on its way is not in its cell.
"""

from collections.abc import Callable, Iterable

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.terms import ThreadTerms
from gemmviz.model.arrays import Longs
from gemmviz.model.translation import tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Face, Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.stage.register_tile import register_tile, short_number, sums_of, terms_text

_AHEAD, _DONE, _NOW = range(3)
_STRENGTHS = (0.13, 0.36, 1.0)
_HIGH, _GAP, _PAD, _BAR = 36.0, 10.0, 5.0, 10.0
_WIDEST, _HIGHEST = 64.0, 50.0
_LEADING = 1.3
_SAMPLED = 64  # terms whose texts are measured
_Texts = Callable[[int], tuple[str, str]]


def running_sum(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the sum of the first watched thread; its register tile if it has several. Nothing for a thread without a sum."""
    step = moment.step if options.arrived else moment.step - 1
    terms = moment.thread_terms if options.arrived else moment.cached("terms before", lambda: moment.thread_terms_after(step))
    if terms is None:
        return []
    theme, size = options.theme, options.theme.type.note
    is_tile = len(terms.elements) > 1
    foot = _bar(terms, room.y + room.height - _BAR, room, theme) if is_tile else _foot(moment, terms, step, room, options)
    high = room.height - _BAR - (0.0 if is_tile else 1.6 * theme.type.caption)
    head = _heading(moment, terms, room, options) if high >= _HIGH + 1.6 * size else []
    top = _LEADING * size if head else 0.0
    middle = Box(room.x, room.y + top, room.width, high - top - 8)
    draw = register_tile if is_tile else _pairs
    return [*head, *draw(moment, terms, step, middle, options), *foot]


def _heading(moment: Moment, terms: ThreadTerms, room: Box, options: ViewOptions) -> list[Primitive]:
    size, result = options.theme.type.note, moment.replay.owners.array
    assert result is not None
    count = len(terms.elements)
    what = options.labels.named(result, int(terms.elements[0])) if count == 1 else many(count, "element")
    text = tr(
        "thread {first_thread} sums {what}", first_thread=thread_text(moment.scope.first_thread, moment.trace.launch), what=what
    )
    at = points((room.x, room.y + 0.8 * size))
    return [Labels("sum-name", at, (fitted(text, size, room.width),), size, options.theme.faint)]


def _foot(moment: Moment, terms: ThreadTerms, step: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the bar, the sum if its value is known, and the number of terms."""
    theme, large, small = options.theme, options.theme.type.caption, options.theme.type.least
    y = room.y + room.height
    value, count = _value(moment, terms, step), terms_text(terms)
    parts = _bar(terms, y - 1.45 * large - _BAR, room, theme)
    text = "" if value is None else tr("sum = {value}", value=f"{value:.3g}")
    if text:
        parts.append(Labels("sum-value", points((room.x, y - 8)), (text,), large, theme.accent("C"), "start", "semibold"))
    spare = room.width - text_width(text, large, "semibold") - 16
    count = next((each for each in (count, count.rpartition(" ")[0]) if text_width(each, small) <= spare), "")
    if count:
        parts.append(Labels("sum-terms", points((room.x + room.width, y - 8)), (count,), small, theme.faint, "end"))
    return parts


def _bar(terms: ThreadTerms, y: float, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the share of the terms that is done."""
    share = int(terms.done.min()) / max(1, terms.length)
    parts: list[Primitive] = [Rects("terms-track", boxes((room.x, y, room.width, _BAR)), theme.empty, radius=5.0)]
    if share:
        parts.append(Rects("terms-bar", boxes((room.x, y, room.width * share, _BAR)), theme.accent("C"), radius=5.0))
    return parts


def _value(moment: Moment, terms: ThreadTerms, step: int) -> float | None:
    """Return the value of a thread's only sum: that of its variable or, if no variable is known, the products read so far."""
    if len(terms.elements) > 1:
        return None
    known = sums_of(moment, terms, step)
    if known is not None:
        return known[1][0]
    factors = _factors(moment, int(terms.done.min()))
    return None if factors is None else float(np.float32(sum(np.float32(a * b) for a, b in factors)))


def _factors(moment: Moment, done: int) -> list[tuple[np.float32, np.float32]] | None:
    """Return the factors of the first terms in the order in which they were read; None if a value is unknown."""
    if not done or moment.replay.value is None:
        return None
    order = _order(moment)
    factors = [tuple(_read(moment, int(step)) for step in (order.a[at], order.b[at])) for at in range(done)]
    return None if any(each is None for pair in factors for each in pair) else factors  # type: ignore[return-value]


def _read(moment: Moment, step: int) -> np.float32 | None:
    """Return the value that the thread read at a step that reads a single element."""
    values = moment.replay.value
    if not 0 <= step < moment.trace.steps:
        return None
    operands = moment.trace.site_of(step).operands
    if len(operands) != 1 or operands[0].width != 1 or values is None:
        return None
    found = np.float32(values[int(moment.trace.row[step]), moment.scope.of_block.start + moment.scope.first_thread])
    return None if np.isnan(found) else found


class _Order(Struct, frozen=True):
    """The terms of a sum in the order in which they are computed: k, and the steps that read A's and B's factor."""

    k: Longs
    a: Longs
    b: Longs


def _order(moment: Moment) -> _Order:
    terms = moment.terms
    assert terms is not None
    which = int(np.flatnonzero(terms.threads == moment.scope.first_thread)[0])
    kind = int(terms.kind[which])
    key = "order of terms", moment.scope.of_block.start, kind

    def ordered() -> _Order:
        k = np.argsort(terms.steps[kind], kind="stable")
        return _Order(k, terms.reads_a[kind][k].astype(np.int64), terms.reads_b[kind][k].astype(np.int64))

    return moment.replay.cached(key, ordered)


def _pairs(moment: Moment, terms: ThreadTerms, step: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the pairs of factors around the current one, as many rows as fit."""
    theme, size, order = options.theme, options.theme.type.least, _order(moment)
    texts = _values(moment, order) if options.values else None
    texts = texts or _indices(terms, order.k, options)
    key = "width of a pair", moment.scope.of_block.start, moment.scope.first_thread, options.values, options.labels
    wide = max(_HIGH, moment.replay.cached(key, lambda: _widest(texts, len(order.k))) * size + 2 * _PAD)
    across = int((room.width + _GAP) / (2 * wide + _GAP))
    rows = int((room.height + _GAP) / (_HIGH + _GAP))
    if not across or not rows:
        return []
    wide = max(wide, min(_WIDEST, ((room.width + _GAP) / across - _GAP) / 2))
    rows = min(rows, -(-len(order.k) // across))
    high = min(_HIGHEST, (room.height + _GAP) / rows - _GAP)
    here = min(int(terms.done.min()), len(order.k) - 1)
    first = max(0, min(here // across - rows + 2, -(-len(order.k) // across) - rows)) * across
    shown = range(first, min(len(order.k), first + rows * across))
    rects: dict[tuple[str, int], list[tuple[float, float, float, float]]] = {}
    labels: dict[tuple[str, int], list[tuple[float, float, str]]] = {}
    for at in shown:
        row, column = divmod(at - first, across)
        y = room.y + row * (high + _GAP)
        for side, (name, reads) in enumerate((("A", order.a), ("B", order.b))):
            x = room.x + column * (2 * wide + _GAP) + side * wide
            light = _light(int(reads[at]), max(int(order.a[at]), int(order.b[at])), moment.step, step)
            rects.setdefault((name, light), []).append((x + 0.5, y, wide - 1.0, high))
            if light != _AHEAD:
                labels.setdefault((name, light), []).append((x + wide / 2, y + 0.5 * high + 0.36 * size, texts(at)[side]))
    return [*_grounds(rects.items(), theme), *_names(labels.items(), theme)]


def _light(read: int, whole: int, now: int, step: int) -> int:
    """Return how strongly a factor is lit that is read at one step, its product whole at another: it is lit until then."""
    if read > step:
        return _AHEAD
    return _NOW if whole >= now else _DONE


def _widest(texts: _Texts, count: int) -> float:
    """Return the width of the widest of some texts in size 1."""
    sample = range(0, count, max(1, count // _SAMPLED))
    return max(text_width(each, 1.0) for at in sample for each in texts(at))


def _values(moment: Moment, order: _Order) -> _Texts | None:
    """Return a function that gives the values of both factors of a term; None if they are unknown."""

    def values(at: int) -> tuple[str, str]:
        a, b = (_read(moment, int(step)) for step in (order.a[at], order.b[at]))
        return short_number(None if a is None else float(a)), short_number(None if b is None else float(b))

    return values if moment.replay.value is not None and any(values(0)) else None


def _indices(terms: ThreadTerms, ks: Longs, options: ViewOptions) -> _Texts:
    """Return a function that gives the indices of both factors of a term."""
    row, column, labels = int(terms.rows[0]), int(terms.columns[0]), options.labels
    return lambda at: (labels.pair(row, int(ks[at])), labels.pair(int(ks[at]), column))


def _grounds(rects: Iterable[tuple[tuple[str, int], list[tuple[float, float, float, float]]]], theme: Theme) -> list[Primitive]:
    return [
        Rects(f"term-{name}-{light}", boxes(*places), theme.tint(name, _STRENGTHS[light]), radius=2.0)
        for (name, light), places in rects
    ]


def _names(labels: Iterable[tuple[tuple[str, int], list[tuple[float, float, str]]]], theme: Theme) -> list[Primitive]:
    parts: list[Primitive] = []
    for (name, light), places in labels:
        at, texts = points(*((x, y) for x, y, _ in places)), tuple(text for _, _, text in places)
        ink = theme.ink_on(theme.tint(name, _STRENGTHS[light]))
        face: Face = "semibold" if light == _NOW else "regular"
        parts.append(Labels(f"term-{name}-{light}-name", at, texts, theme.type.least, ink, "middle", face))
    return parts
