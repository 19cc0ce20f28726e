"""The outer product in the registers of a thread with several sums: its factors of A on the left of its sums and those of B
above them, the products of the current k highlighted.
"""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.terms import ThreadTerms
from gemmviz.model.arrays import Bools, Floats
from gemmviz.model.labels import LabelStyle
from gemmviz.model.sites import Site
from gemmviz.model.translation import tr
from gemmviz.model.watched import VariableValue
from gemmviz.model.words import many
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.stage.matrix import label_size, longest_of
from gemmviz.scenes.stage.values import value_texts

_MOST_SHOWN = 16  # rows and columns of the sums of one thread
_LARGEST, _LEAST = 84.0, 16.0
_GAP = 8.0
_NONE, _HELD, _LIT = range(3)
_Texts = npt.NDArray[np.str_] | None


def register_tile(moment: Moment, terms: ThreadTerms, step: int, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw factors of A on the left, of B above, sums where they meet, and names, as they are after a step; nothing if there is
    too little room.
    """
    if max(len(terms.rows), len(terms.columns)) > _MOST_SHOWN:
        return []
    theme, size = options.theme, options.theme.type.note
    rows, columns = len(terms.rows), len(terms.columns)
    name_a, name_b = _names(moment, terms, options.labels)
    names = max(text_width(text, size) for text in (name_a, name_b, terms_text(terms)))
    cell = min((room.width - 3 * _GAP - names) / (columns + 1), (room.height - _GAP) / (rows + 1), _LARGEST)
    if cell < _LEAST:
        return []
    x, y = room.x + cell + _GAP, room.y + cell + _GAP
    lit = terms.has_a[:, None] & terms.has_b[None, :] & terms.owned
    sums = sums_of(moment, terms, step)
    values = np.full((rows, columns), np.nan)
    if sums is not None:
        values[terms.owned] = [np.nan if value is None else value for value in sums[1]]
    a, b = _factor_texts(moment, terms, cell, options)
    held = np.where(lit, _LIT, np.where(terms.owned, _HELD, _NONE))
    has_a, has_b = np.where(terms.has_a, _LIT, _NONE)[:, None], np.where(terms.has_b, _LIT, _NONE)[None, :]
    beside, drop = x + columns * cell + 2 * _GAP, 0.5 * cell + 0.36 * size
    return [
        _table("register-a", (room.x, y, cell), has_a, a, "A", options),
        _table("register-b", (x, room.y, cell), has_b, b, "B", options),
        _table("register-sum", (x, y, cell), held, value_texts(values, cell, options.least), "C", options),
        Labels("register-b-name", points((beside, room.y + drop)), (name_b,), size, theme.accent("B")),
        Labels("register-a-name", points((beside, y + drop)), (name_a,), size, theme.accent("A")),
        Labels("register-terms", points((beside, y + drop + 1.5 * size)), (terms_text(terms),), size, theme.faint),
    ]


def terms_text(terms: ThreadTerms) -> str:
    """Return how many of the terms of each sum are done: "21 of 64 terms"."""
    return tr("{min} of {terms}", min=int(terms.done.min()), terms=many(terms.length, "term"))


def _factor_texts(moment: Moment, terms: ThreadTerms, cell: float, options: ViewOptions) -> tuple[_Texts, _Texts]:
    """Return the values of the factors that are read, of A (rows, 1) and of B (1, columns). The indices of the elements of a
    matrix if one of them is unknown: of a wide read, a trace has the first value only.
    """
    a, b = moment.factors(terms)
    names_a, names_b = _indices(terms, cell, options)

    def texts(values: Floats, has: Bools, names: list[str]) -> _Texts:
        return np.where(has, names, "") if np.isnan(values[has]).any() else value_texts(values, cell, options.least)

    of_a, of_b = texts(a, terms.has_a, names_a), texts(b, terms.has_b, names_b)
    return None if of_a is None else of_a[:, None], None if of_b is None else of_b[None, :]


def _indices(terms: ThreadTerms, cell: float, options: ViewOptions) -> tuple[list[str], list[str]]:
    """Return the indices of the factors of A and of B; where they don't fit, the row or the column only, as the names beside
    the cells give the other one.
    """
    pair, first, k = options.labels.pair, options.labels.first, terms.k
    rows, columns = terms.rows.tolist(), terms.columns.tolist()
    names = [pair(row, k) for row in rows], [pair(k, column) for column in columns]
    if label_size(longest_of([*names[0], *names[1]]), cell, options.pixels, options.least):
        return names
    return [str(row + first) for row in rows], [str(column + first) for column in columns]


def _table(
    key: str, at: tuple[float, float, float], fill: npt.NDArray[Any], texts: _Texts, name: str, options: ViewOptions
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


def _names(moment: Moment, terms: ThreadTerms, labels: LabelStyle) -> tuple[str, str]:
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


def _statement(moment: Moment, site: Site) -> str:
    """Return the text of the statement that contains a site."""
    place = site.statement or site.place
    lines = moment.trace.setup.kernel.text.splitlines()[place.line - 1 : place.end_line]
    if not lines:
        return ""
    lines[-1] = lines[-1][: place.end_column - 1]
    return "\n".join(lines)[place.column - 1 :]


def _stored_names(moment: Moment) -> list[str]:
    """Return the numeric variables whose values are stored into C."""
    number = moment.trace.number_of("C")
    known = moment.watched_names
    for site in moment.trace.sites:
        if any(operand.array == number and operand.access == "write" for operand in site.operands):
            _, _, value = _statement(moment, site).partition("=")
            names = [word for word in re.findall(r"[A-Za-z_]\w*", value) if word in known]
            if names:
                return names
    return []


def _variable_of(moment: Moment, matrix: str, sums: Iterable[str]) -> str:
    """Return the variable that receives what is read from a matrix or its copies; "" if it is used immediately."""
    arrays, known = moment.trace.arrays, moment.watched_names
    own = {n for n, array in enumerate(arrays) if array.name == matrix}
    copies = {number for number, held in moment.tiles.items() if set(np.unique(held.array).tolist()) & own}
    for site in moment.trace.sites:
        if site.kind == "load" and any(operand.array in (copies or own) for operand in site.operands):
            target = re.match(r"(?:const\s+)?(?:\w+\s+)?([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*=[^=]", _statement(moment, site))
            if target and target[1] in known and target[1] not in sums:
                return target[1]
    return ""


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
    flat = list(_flat(dict(moment.variables_at(step)).get(name)))
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
    value = dict(moment.variables_at(step)).get(name)
    return list(_flat(value)) if value is not None else None


def _flat(value: VariableValue) -> Iterable[float | None]:
    if isinstance(value, tuple):
        for each in value:
            yield from _flat(each)
    else:
        yield float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
