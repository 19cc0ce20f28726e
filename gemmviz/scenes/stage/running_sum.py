"""The sum of one thread, growing term by term: a pair of cells for each product, what is done so far, and the sum itself.

It shows what has arrived: a factor that is still on its way is not in its cell.
"""

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.terms import ThreadTerms
from gemmviz.model.arrays import AnyArray, Bools, Floats, Longs, Strings
from gemmviz.model.messages import counted, many, tr
from gemmviz.model.sites import LabelStyle
from gemmviz.model.trace import VariableValue, WatchedVariable
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Cells, Face, Labels, Primitive, Rects, boxes, points, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.stage.cells import label_size, longest_of, value_texts
from gemmviz.scenes.stage.cost import LARGE

# The outer product in the registers of a thread with several sums: its factors of A on the left of its sums and those of B
# above them, the products of the current k highlighted.

_MOST_SHOWN = 16  # rows and columns of the sums of one thread
_LARGEST, _LEAST = 84.0, 16.0
_TILE_GAP = 8.0
_NONE, _HELD, _LIT = range(3)
_CellTexts = Strings | None


def register_tile(moment: Moment, terms: ThreadTerms, step: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw factors of A on the left, of B above, sums where they meet, and names, as they are after a step; nothing if there is
    too little room.
    """
    if max(len(terms.rows), len(terms.columns)) > _MOST_SHOWN:
        return []
    theme, size = options.theme, options.theme.type.note
    rows, columns = len(terms.rows), len(terms.columns)
    name_a, name_b = _operand_names(moment, terms, options.labels)
    names = max(text_width(text, size) for text in (name_a, name_b, terms_text(terms)))
    cell = min((room.width - 3 * _TILE_GAP - names) / (columns + 1), (room.height - _TILE_GAP) / (rows + 1), _LARGEST)
    if cell < _LEAST:
        return []
    x, y = room.x + cell + _TILE_GAP, room.y + cell + _TILE_GAP
    lit = terms.has_a[:, None] & terms.has_b[None, :] & terms.owned
    sums = sums_of(moment, terms, step)
    values = np.full((rows, columns), np.nan)
    if sums is not None:
        values[terms.owned] = [np.nan if value is None else value for value in sums[1]]
    a, b = _factor_texts(moment, terms, cell, options)
    held = np.where(lit, _LIT, np.where(terms.owned, _HELD, _NONE))
    has_a, has_b = np.where(terms.has_a, _LIT, _NONE)[:, None], np.where(terms.has_b, _LIT, _NONE)[None, :]
    beside, drop = x + columns * cell + 2 * _TILE_GAP, baseline(0.5 * cell, size)
    return [
        _register_table("register-a", (room.x, y, cell), has_a, a, "A", options),
        _register_table("register-b", (x, room.y, cell), has_b, b, "B", options),
        _register_table("register-sum", (x, y, cell), held, value_texts(values, cell, options.least), "C", options),
        text_at("register-b-name", (beside, room.y + drop), name_b, size, theme.accent("B")),
        text_at("register-a-name", (beside, y + drop), name_a, size, theme.accent("A")),
        dataclasses.replace(
            text_at("register-terms", (beside, y + drop + 1.5 * size), terms_text(terms), size, theme.faint), tells=("terms",)
        ),
    ]


def terms_text(terms: ThreadTerms) -> str:
    """Return how many of the terms of each sum are done: "21 of 64 terms"."""
    return _done_text(terms, many(terms.length, "term"))


def _done_text(terms: ThreadTerms, whole: str) -> str:
    return tr("{min} of {terms}", min=counted(int(terms.done.min())), terms=whole)


def _factor_texts(moment: Moment, terms: ThreadTerms, cell: float, options: ViewOptions) -> tuple[_CellTexts, _CellTexts]:
    """Return the values of the factors that are read, of A (rows, 1) and of B (1, columns). The indices of the elements of a
    matrix if one of them is unknown: of a wide read, a trace has the first value only.
    """
    a, b = moment.factors(terms)
    names_a, names_b = _row_and_column_names(terms, cell, options)

    def texts(values: Floats, has: Bools, names: list[str]) -> _CellTexts:
        return np.where(has, names, "") if np.isnan(values[has]).any() else value_texts(values, cell, options.least)

    of_a, of_b = texts(a, terms.has_a, names_a), texts(b, terms.has_b, names_b)
    return None if of_a is None else of_a[:, None], None if of_b is None else of_b[None, :]


def _row_and_column_names(terms: ThreadTerms, cell: float, options: ViewOptions) -> tuple[list[str], list[str]]:
    """Return the indices of the factors of A and of B; where they don't fit, the row or the column only, as the names beside
    the cells give the other one.
    """
    pair, first, k = options.labels.pair, options.labels.first, terms.k
    rows, columns = terms.rows.tolist(), terms.columns.tolist()
    names = [pair(row, k) for row in rows], [pair(k, column) for column in columns]
    if label_size(longest_of([*names[0], *names[1]]), cell, options.pixels, options.least):
        return names
    return [str(row + first) for row in rows], [str(column + first) for column in columns]


def _register_table(
    key: str, at: tuple[float, float, float], fill: AnyArray, texts: _CellTexts, name: str, options: ViewOptions
) -> Cells:
    """Draw texts as cells, if they fit."""
    (x, y, cell), theme = at, options.theme
    palette = (theme.empty, theme.tint(name, 0.4), theme.accent(name))
    longest = "" if texts is None else longest_of(texts.ravel().tolist())
    size = label_size(longest, cell, options.pixels, options.least) if longest else 0.0
    inks = (theme.faint, *(theme.ink_on(colour) for colour in palette[1:]))
    return Cells(key, x, y, cell, fill.astype(np.uint8), palette, inks, texts if size else None, size, theme.background)


def short_number(value: float | None) -> str:
    """Return a number in few characters."""
    if value is None or np.isnan(value):
        return ""
    text = f"{value:.2g}" if abs(value) < 100 else f"{value:.3g}"
    return text.replace("e+0", "e").replace("e-0", "e-")


def _operand_names(moment: Moment, terms: ThreadTerms, labels: LabelStyle) -> tuple[str, str]:
    """Return the names of the factors: the kernel's variables if there are any, else the elements."""
    sums = _stored_names(moment)
    k = "k" if terms.k < 0 else str(terms.k + labels.first)
    names = []
    for name, own in (("A", terms.rows), ("B", terms.columns)):
        first, last = int(own[0]) + labels.first, int(own[-1]) + labels.first
        span = str(first) if len(own) == 1 else f"{first}…{last}"
        variable = _variable_of(moment, name, sums)
        element = labels.span(name, span, k) if name == "A" else labels.span(name, k, span)
        names.append(f"{variable} = {element}" if variable else element)
    return names[0], names[1]


def _stored_names(moment: Moment) -> list[str]:
    """Return the variables whose values are stored into C."""
    number = moment.trace.number_of("C")
    places = {site.place for site in moment.trace.sites if any(each.array == number for each in site.accesses("write"))}
    return [each.name for each in _known_variables(moment) if places.intersection(each.stores)]


def _variable_of(moment: Moment, matrix: str, sums: Iterable[str]) -> str:
    """Return the variable that receives what is read from a matrix or its copies; "" if it is used immediately."""
    own = {number for number, array in enumerate(moment.trace.arrays) if array.name == matrix}
    copies = {number for number, held in moment.tiles.items() if set(np.unique(held.array).tolist()) & own}
    loads = [site for site in moment.trace.sites if site.kind == "load"]
    places = {site.place for site in loads if any(each.array in (copies or own) for each in site.operands)}
    names = (each.name for each in _known_variables(moment) if places.intersection(each.loads) and each.name not in sums)
    return next(names, "")


def _known_variables(moment: Moment) -> tuple[WatchedVariable, ...]:
    return () if moment.watched is None else moment.watched.variables


def sums_of(moment: Moment, terms: ThreadTerms, step: int) -> tuple[str, list[float | None]] | None:
    """Return the variable that holds the sums, and their values after a step by the rows and columns of C; None if no
    variable is recognised.
    """
    order = moment.replay.cached(
        ("sums", moment.scope.of_block.start, moment.scope.first_thread), lambda: _order_of(moment, terms)
    )
    if order is None:
        return None
    name, places = order
    if step < 0:
        return None
    flat = list(_flat_values(moment.variables_after(step).get(name)))
    if len(flat) != len(places) or all(each is None for each in flat):
        return None
    return name, [flat[place] for place in places]


def _order_of(moment: Moment, terms: ThreadTerms) -> tuple[str, list[int]] | None:
    """Return the variable that the thread stores into C, and the index in it of each element. The stored values must equal
    its contents.
    """
    stored = _stored_values(moment, terms)
    for name in _stored_names(moment):
        flat = _held_when_stored(moment, name, stored)
        if flat is None or len(flat) != len(stored):
            continue
        known = [(at, value) for at, (_, value) in enumerate(stored) if value is not None]
        if known and all(flat[at] == value for at, value in known):
            return name, list(range(len(stored)))
        places = [[place for place, held in enumerate(flat) if held == value] for _, value in known]
        if len(known) == len(stored) and all(len(each) == 1 for each in places):
            return name, [each[0] for each in places]
    return None


def _stored_values(moment: Moment, terms: ThreadTerms) -> list[tuple[int, float | None]]:
    """Return step and value of the store of each element of C, row by row; None for unknown values."""
    replay, trace = moment.replay, moment.trace
    column, steps = moment.scope.of_block.start + moment.scope.first_thread, replay.owners.steps_of(terms.elements)
    values: list[tuple[int, float | None]] = []
    for element, step in zip(terms.elements.tolist(), steps.tolist(), strict=True):
        row = int(trace.row[step]) if 0 <= step < trace.steps else -1
        is_first = row >= 0 and int(trace.element[row, column]) == element  # only the first value of a wide store is known
        known = is_first and replay.value is not None
        values.append((step, float(replay.value[row, column]) if known and replay.value is not None else None))
    return values


def _held_when_stored(moment: Moment, name: str, stored: list[tuple[int, float | None]]) -> list[float | None] | None:
    """Return what a variable holds when the first element is stored; it does not change after that."""
    step = min((at for at, _ in stored), default=-1)
    if not 0 <= step < moment.trace.steps:
        return None
    value = moment.variables_after(step).get(name)
    return list(_flat_values(value)) if value is not None else None


def _flat_values(value: VariableValue) -> Iterable[float | None]:
    if isinstance(value, tuple):
        for each in value:
            yield from _flat_values(each)
    else:
        yield float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


_AHEAD, _DONE, _NOW = range(3)
_STRENGTHS = (0.13, 0.36, 1.0)
_HIGH, _GAP, _PAD, _BAR = 36.0, 10.0, 5.0, 10.0
_WIDEST, _HIGHEST = 64.0, 50.0
_SUM_LEADING = 1.3
_SAMPLED = 64  # terms whose texts are measured
_Texts = Callable[[int], tuple[str, str]]


def running_sum(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the sum of the first watched thread; its register tile if it has several. Nothing for a thread without a sum."""
    step = moment.step if options.arrived else moment.step - 1
    terms = moment.thread_terms if options.arrived else moment.cached("terms before", lambda: moment.thread_terms_after(step))
    if terms is None:
        return []
    size, high = options.theme.type.note, room.height - _foot_height(terms, options)
    head = _sum_heading(moment, terms, room, options) if high >= _HIGH + 1.6 * size else []
    top = _SUM_LEADING * size if head else 0.0
    middle = Box(room.x, room.y + top, room.width, high - top - 8)
    is_tile = len(terms.elements) > 1
    drawn = (register_tile if is_tile else _term_pairs)(moment, terms, step, middle, options)
    low = max((each.y + len(each.fill) * each.pitch for each in drawn if isinstance(each, Cells)), default=middle.y)
    low = max([low, *(float(each.boxes[:, 1:4:2].sum(axis=1).max()) for each in drawn if isinstance(each, Rects))])
    below = room.trimmed(top=low + 14.0 - room.y)
    return [
        *head,
        *drawn,
        *(_terms_bar(terms, below.y, room, options.theme) if is_tile else _foot(moment, terms, step, below, options)),
    ]


def _foot_height(terms: ThreadTerms, options: ViewOptions) -> float:
    """Return the height of the bar, and of the sum below it if there is a single one."""
    return _BAR + (0.0 if len(terms.elements) > 1 else 1.6 * LARGE * options.theme.type.title)


def _sum_heading(moment: Moment, terms: ThreadTerms, room: Box, options: ViewOptions) -> list[Primitive]:
    size, result = options.theme.type.note, moment.replay.owners.array
    assert result is not None
    count = len(terms.elements)
    what = options.labels.named(result, int(terms.elements[0])) if count == 1 else many(count, "element")
    first = thread_text(moment.scope.first_thread, moment.trace.launch)
    text = tr("thread {first_thread} sums {what}", first_thread=first, what=what)
    is_short = moment.focus.thread is not None or text_width(text, size) > room.width  # the sentence says a followed thread
    name = text_at("sum-name", (room.x, room.y + 0.8 * size), what if is_short else text, size, options.theme.faint)
    return [dataclasses.replace(name, tells=() if is_short else ("thread",))]


def _foot(moment: Moment, terms: ThreadTerms, step: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the bar, the sum if its value is known, and the number of terms."""
    theme, large, small = options.theme, LARGE * options.theme.type.title, options.theme.type.least
    y = room.y + _foot_height(terms, options)
    value = _sum_value(moment, terms, step)
    parts = _terms_bar(terms, y - 1.45 * large - _BAR, room, theme)
    text = "" if value is None else f"= {value:.3g}"
    if text:
        sum_ = text_at("sum-value", (room.x, y - 8), text, large, theme.accent("C"), "start", "semibold")
        parts.append(dataclasses.replace(sum_, tells=("sum",)))
    spare = room.width - text_width(text, large, "semibold") - 16
    counts = (terms_text(terms), _done_text(terms, counted(terms.length)))
    count = next((each for each in counts if text_width(each, small) <= spare), "")
    if count:
        done = text_at("sum-terms", (room.right, y - 8), count, small, theme.faint, "end")
        parts.append(dataclasses.replace(done, tells=("terms",)))
    return parts


def _terms_bar(terms: ThreadTerms, y: float, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the share of the terms that is done."""
    share = int(terms.done.min()) / max(1, terms.length)
    parts: list[Primitive] = [Rects("terms-track", boxes((room.x, y, room.width, _BAR)), theme.empty, radius=5.0)]
    if share:
        parts.append(Rects("terms-bar", boxes((room.x, y, room.width * share, _BAR)), theme.accent("C"), radius=5.0))
    return parts


def _sum_value(moment: Moment, terms: ThreadTerms, step: int) -> float | None:
    """Return the value of a thread's only sum: that of its variable or, if no variable is known, the products read so far."""
    if len(terms.elements) > 1:
        return None
    known = sums_of(moment, terms, step)
    if known is not None:
        return known[1][0]
    factors = _known_factors(moment, int(terms.done.min()))
    return None if factors is None else float(np.float32(sum(np.float32(a * b) for a, b in factors)))


def _known_factors(moment: Moment, done: int) -> list[tuple[np.float32, np.float32]] | None:
    """Return the factors of the first terms in the order in which they were read; None if a value is unknown."""
    if not done or moment.replay.value is None:
        return None
    order = _order_of_terms(moment)
    factors = [tuple(value_read(moment, int(step)) for step in (order.a[at], order.b[at])) for at in range(done)]
    return None if any(each is None for pair in factors for each in pair) else factors  # type: ignore[return-value]


def value_read(moment: Moment, step: int) -> np.float32 | None:
    """Return the value that the first watched thread read at a step that reads a single element."""
    values, trace = moment.replay.value, moment.trace
    reads = enumerate(trace.site_of(step).operands) if 0 <= step < trace.steps else ()
    found = [(place, each.width) for place, each in reads if each.access == "read"]
    if values is None or len(found) != 1 or found[0][1] != 1:
        return None
    value = values[int(trace.row[step]) + found[0][0], moment.scope.of_block.start + moment.scope.first_thread]
    return None if np.isnan(value) else np.float32(value)


class _Order(Struct, frozen=True):
    """The terms of a sum in the order in which they are computed: k, and the steps that read A's and B's factor."""

    k: Longs
    a: Longs
    b: Longs


def _order_of_terms(moment: Moment) -> _Order:
    terms = moment.terms
    assert terms is not None
    which = int(np.flatnonzero(terms.threads == moment.scope.first_thread)[0])
    kind = int(terms.kind[which])
    key = "order of terms", moment.scope.of_block.start, kind

    def ordered() -> _Order:
        k = np.argsort(terms.steps[kind], kind="stable")
        return _Order(k, terms.reads_a[kind][k].astype(np.int64), terms.reads_b[kind][k].astype(np.int64))

    return moment.replay.cached(key, ordered)


def _term_pairs(moment: Moment, terms: ThreadTerms, step: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the pairs of factors around the current one, as many rows as fit."""
    theme, size, order = options.theme, options.theme.type.least, _order_of_terms(moment)
    texts = _term_values(moment, order) if options.values else None
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
                labels.setdefault((name, light), []).append((x + wide / 2, baseline(y + 0.5 * high, size), texts(at)[side]))
    grounds = [
        Rects(f"term-{name}-{light}", boxes(*places), theme.tint(name, _STRENGTHS[light]), radius=2.0)
        for (name, light), places in rects.items()
    ]
    return [*grounds, *_term_names(labels.items(), theme)]


def _light(read: int, whole: int, now: int, step: int) -> int:
    """Return how strongly a factor is lit that is read at one step, its product whole at another: it is lit until then."""
    if read > step:
        return _AHEAD
    return _NOW if whole >= now else _DONE


def _widest(texts: _Texts, count: int) -> float:
    """Return the width of the widest of some texts in size 1."""
    sample = range(0, count, max(1, count // _SAMPLED))
    return max(text_width(each, 1.0) for at in sample for each in texts(at))


def _term_values(moment: Moment, order: _Order) -> _Texts | None:
    """Return a function that gives the values of both factors of a term; None if they are unknown."""

    def values(at: int) -> tuple[str, str]:
        a, b = (value_read(moment, int(step)) for step in (order.a[at], order.b[at]))
        return short_number(None if a is None else float(a)), short_number(None if b is None else float(b))

    return values if moment.replay.value is not None and any(values(0)) else None


def _indices(terms: ThreadTerms, ks: Longs, options: ViewOptions) -> _Texts:
    """Return a function that gives the indices of both factors of a term."""
    row, column, labels = int(terms.rows[0]), int(terms.columns[0]), options.labels
    return lambda at: (labels.pair(row, int(ks[at])), labels.pair(int(ks[at]), column))


def _term_names(labels: Iterable[tuple[tuple[str, int], list[tuple[float, float, str]]]], theme: Theme) -> list[Primitive]:
    parts: list[Primitive] = []
    for (name, light), places in labels:
        at, texts = points(*((x, y) for x, y, _ in places)), tuple(text for _, _, text in places)
        ink = theme.ink_on(theme.tint(name, _STRENGTHS[light]))
        face: Face = "semibold" if light == _NOW else "regular"
        parts.append(Labels(f"term-{name}-{light}-name", at, texts, theme.type.least, ink, "middle", face))
    return parts
