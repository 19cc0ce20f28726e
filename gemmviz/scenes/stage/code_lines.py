"""The source at this moment: the statement that runs, wrapped to the width of its room, with its expression highlighted; or,
with the option for it, the lines around it. Where threads collide, the statements of both accesses.
"""

from functools import lru_cache

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.sites import Site
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.stage.collisions import guilty_sites
from gemmviz.scenes.stage.tile_cells import tile_matrix

_PADDING, _LEADING = 14.0, 1.4
_LEAST_CHARACTERS = 22  # of a line in the usual size; a narrower room has the least size
_LEAST_WIDTH = 200.0


class _Listing(Struct, frozen=True):
    """Lines of text and, for each, which characters are highlighted, half-open; ``current``: the lines of the statement;
    ``is_guilty``: whether the highlighted accesses collide.
    """

    lines: tuple[str, ...]
    lit: tuple[tuple[int, int], ...]
    current: range
    is_guilty: bool = False


def code_primitives(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the statement, or as many source lines as fit around it; nothing in a room that is too small."""
    sizes, inner = options.theme.type, room.width - 2 * _PADDING
    size = sizes.code if inner / text_width("0", sizes.code, "mono") >= _LEAST_CHARACTERS else sizes.least
    most = int((room.height - 2 * _PADDING) / (_LEADING * size))
    if room.width < _LEAST_WIDTH or most < 1:
        return []
    columns = int(inner / text_width("0", size, "mono"))
    guilty = guilty_sites(moment) if options.arrived else ()
    if guilty:
        listing = _both(moment, guilty, columns, most)
    else:
        is_around = options.code and most >= 3
        listing = _around(moment, columns, most) if is_around else _statement(moment, moment.site, columns, most)
    return _drawn(moment, listing, room, size, options.theme)


def _drawn(moment: Moment, listing: _Listing, room: Box, size: float, theme: Theme) -> list[Primitive]:
    leading, advance = _LEADING * size, text_width("0", size, "mono")
    name = None if moment.main is None else tile_matrix(moment) or moment.main.array.name
    x, y = room.x + _PADDING, room.y + _PADDING
    base = [(x, y + (row + 0.72) * leading) for row in range(len(listing.lines))]
    texts = tuple(fitted(line, size, room.width - 2 * _PADDING, "mono") for line in listing.lines)
    panel = boxes((room.x, room.y, room.width, len(texts) * leading + 2 * _PADDING))
    primitives: list[Primitive] = [Rects("code-panel", panel, theme.panel, radius=8.0)]
    if len(listing.current) < len(texts):
        band = (room.x, y + listing.current.start * leading, room.width, len(listing.current) * leading)
        primitives.append(Rects("code-line", boxes(band), theme.line))
    if listing.is_guilty:
        primitives.append(Rects("code-guilty", boxes((room.x, room.y, 6.0, panel[0, 3])), theme.warning, radius=3.0))
    accent = theme.faint if name is None else theme.accent(name)
    primitives.append(Labels("code", points(*base), texts, size, theme.faint, "start", "mono"))
    for row, (first, stop) in enumerate(listing.lit):
        lit, at = texts[row][first:stop], x + first * advance
        if lit.strip():
            under = boxes((at, y + (row + 1) * leading - 5, len(lit) * advance, 3))
            ground = boxes((at - 2, y + row * leading + 2, len(lit) * advance + 4, leading - 4))
            primitives += [
                Rects(f"code-lit-box-{row}", ground, theme.panel),
                Rects(f"code-lit-line-{row}", under, theme.warning if listing.is_guilty else accent),
                Labels("code-lit", np.array([[at, base[row][1]]]), (lit,), size, theme.text, "start", "mono"),
            ]
    return primitives


def _both(moment: Moment, sites: tuple[Site, ...], columns: int, most: int) -> _Listing:
    """Return the statements of accesses that collide."""
    parts = [_statement(moment, site, columns, max(1, most // len(sites))) for site in sites]
    rows = [(line, lit) for part in parts for line, lit in zip(part.lines, part.lit, strict=True)]
    return _Listing(tuple(line for line, _ in rows), tuple(lit for _, lit in rows), range(len(rows)), is_guilty=True)


def _statement(moment: Moment, site: Site, columns: int, most: int) -> _Listing:
    """Return the statement of a site, broken between words."""
    whole, (lines, _) = site.statement or site.place, _lines(moment.trace.setup.kernel.text)
    flat, lit = "", [0, 0]
    for number in range(whole.line, min(whole.end_line, len(lines)) + 1):
        line = lines[number - 1][: whole.end_column - 1] if number == whole.end_line else lines[number - 1]
        start = whole.column - 1 if number == whole.line else 0
        start += len(line[start:]) - len(line[start:].lstrip())
        base = len(flat) + (1 if flat else 0) - start
        flat = f"{flat} {line[start:].rstrip()}".strip()
        if number == site.place.line:
            lit[0] = base + site.place.column - 1
        if number == site.place.end_line:
            lit[1] = base + site.place.end_column - 1
    return _wrapped(flat, (lit[0], lit[1]), columns, most)


def _wrapped(text: str, lit: tuple[int, int], columns: int, most: int) -> _Listing:
    """Return a text in at most ``most`` lines, those around its highlighted part."""
    starts, at = [], 0
    while at < len(text):
        starts.append(at)
        stop = at + columns
        cut = text.rfind(" ", at, stop + 1) if stop < len(text) else len(text)
        at = cut + 1 if cut > at else stop
    edges = [*starts, len(text) + 1]
    inside = [row for row in range(len(starts)) if lit[0] < edges[row + 1] and lit[1] > edges[row]]
    first = max(0, min((inside[-1] if inside else 0) - most + 1, len(starts) - most))
    rows = range(first, min(len(starts), first + most))
    found = tuple(text[edges[row] : edges[row + 1]].rstrip() for row in rows)
    marks = tuple((max(0, lit[0] - edges[row]), max(0, min(lit[1], edges[row + 1]) - edges[row])) for row in rows)
    return _Listing(found, marks, range(len(found)))


def _around(moment: Moment, columns: int, most: int) -> _Listing:
    """Return the source lines around the current one, which scrolls left if its expression would be cut."""
    (lines, code), place = _lines(moment.trace.setup.kernel.text), moment.site.place
    first = max(code, min(place.line - 1 - most // 2, len(lines) - most))
    shown = lines[first : first + most]
    indent = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
    row = max(0, min(place.line - 1 - first, len(shown) - 1))  # a line of the header highlights the first visible line
    stop = place.end_column - 1 - indent if place.end_line == place.line else len(shown[row]) - indent
    hidden = max(0, stop + 1 - columns)
    texts = [line[indent:].rstrip() for line in shown]
    if hidden:
        texts[row] = "…" + shown[row][indent + hidden + 1 :].rstrip()
    lit = max(0, place.column - 1 - indent - hidden), stop - hidden
    return _Listing(tuple(texts), tuple(lit if at == row else (0, 0) for at in range(len(texts))), range(row, row + 1))


@lru_cache(maxsize=4)
def _lines(text: str) -> tuple[list[str], int]:
    """Return the lines of a text, and the first line after the header."""
    lines = text.removesuffix("\n").split("\n")
    return lines, next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("//")), 0)
