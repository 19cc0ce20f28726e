"""Source code with line numbers, as it is printed with a question: without comments, in one column or two, with the line that
is asked about highlighted and a legend of the launch.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.listing import PrintedSource
from gemmviz.model.translation import marked
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width, wrap_text
from gemmviz.scenes.kit.view import View

_TITLE, _LEGEND, _LEGEND_LINES, _INSET, _GAP, _HANGING = 50.0, 84.0, 4, 16.0, 16.0, 4
_LEADING, _TIGHT = 1.28, 1.15  # of rows, and of those that would not fit otherwise
_LARGEST = 1.6  # the size of the text, relative to the least one


class _Row(Struct, frozen=True):
    """One row of the picture: the number of its line, 0 for the continuation of one, and its text."""

    number: int
    text: str
    is_lit: bool


def listing_scene(source: PrintedSource, options: ViewOptions) -> Scene:
    """Draw the source: in one column if it fits, else in two; else the part around the highlighted line."""
    theme, room = options.theme, options.width - 2 * MARGIN
    legend = wrap_text(source.legend, theme.type.note, room, _LEGEND_LINES) if source.legend else ()
    leading = _LEADING * theme.type.note
    words: tuple[Primitive, ...] = (
        text_line("title", (MARGIN, _TITLE), source.name, theme.type.title, room, theme.text, "semibold", "title"),
        *(
            text_line(f"legend-{number}", (MARGIN, _LEGEND + number * leading), line, theme.type.note, room, theme.faint)
            for number, line in enumerate(legend)
        ),
    )
    top = _LEGEND + max(1, len(legend)) * leading - 6 if options.words else _INSET
    primitives = _columns(source, top, options)
    return Scene(options.width, options.height, theme.background, tuple(primitives), words=words if options.words else ())


def _columns(source: PrintedSource, top: float, options: ViewOptions) -> list[Primitive]:
    size, room, high = options.theme.type.least, options.width - 2 * MARGIN, options.height - top - _INSET
    wide = _rows(source, room, size)
    if len(wide) <= high / (_LEADING * size):
        size, wide = _largest(source, room, high, size, wide)
        return _column("left", wide, (MARGIN, top, room), size, _LEADING * size, options)
    half, most = (room - _GAP) / 2, max(1, int(high / (_TIGHT * size)))
    rows = _around_lit(_rows(source, half, size), 2 * most)
    split = _split(rows, most)
    leading = min(_LEADING * size, high / max(split, len(rows) - split))
    left = _column("left", rows[:split], (MARGIN, top, half), size, leading, options)
    return left + _column("right", rows[split:], (MARGIN + half + _GAP, top, half), size, leading, options)


def _largest(source: PrintedSource, room: float, high: float, least: float, rows: list[_Row]) -> tuple[float, list[_Row]]:
    """Return the largest size of the text at which no more lines are continued than at the least one, and the rows then."""
    sizes = np.arange(_LARGEST * least, least, -1.0)
    fitting = (size for size in sizes if len(rows) <= high / (_LEADING * size))
    found = ((float(size), _rows(source, room, size)) for size in fitting)
    return next(((size, wide) for size, wide in found if len(wide) == len(rows)), (least, rows))


def _split(rows: list[_Row], most: int) -> int:
    """Return the number of rows of the left column: half of them, but no line is in both columns unless it must be."""
    half = max(-(-len(rows) // 2), len(rows) - most)
    fitting = [at for at in range(max(1, len(rows) - most), min(most, len(rows) - 1) + 1) if rows[at].number]
    return min(fitting, key=lambda at: abs(at - half), default=half)


def _rows(source: PrintedSource, room: float, size: float) -> list[_Row]:
    """Return the rows of all lines that aren't empty, long lines continued in further rows."""
    most = max(_HANGING + 1, int((room - 2 * _INSET) / text_width("0", size, "mono")) - _digits(source))
    rows: list[_Row] = []
    for number, line in source.lines:
        is_lit, indent = number == source.lit, len(line) - len(line.lstrip())
        rest, start = line, number
        while len(rest) > most:
            cut = rest.rfind(" ", indent + _HANGING + 1, most)
            cut = cut if cut > 0 else most
            rows.append(_Row(start, rest[:cut], is_lit))
            rest, start = " " * min(indent + _HANGING, most // 2) + rest[cut:].lstrip(), 0
        if rest.strip():
            rows.append(_Row(start, rest, is_lit))
    return rows


def _digits(source: PrintedSource) -> int:
    """Return the letters that the numbers take, with the space behind them."""
    return len(str(source.lines[-1][0])) + 2 if source.lines else 0


def _around_lit(rows: list[_Row], most: int) -> list[_Row]:
    """Return the rows that fit, with the highlighted one in the middle."""
    lit = next((place for place, row in enumerate(rows) if row.is_lit), 0)
    first = max(0, min(lit - most // 2, len(rows) - most))
    return rows[first : first + most]


def _column(
    key: str, rows: list[_Row], place: tuple[float, float, float], size: float, leading: float, options: ViewOptions
) -> list[Primitive]:
    """Draw some rows. ``place``: left and upper edge, and width."""
    theme = options.theme
    left, top, width = place
    digits = max(len(str(row.number)) for row in rows)
    y = [top + 6 + (number + 0.5) * leading for number in range(len(rows))]
    panel = boxes((left, top, width, len(rows) * leading + 12))
    primitives: list[Primitive] = [Rects(f"{key}-panel", panel, theme.panel, radius=8.0)]
    lit = np.array([(left, at - leading / 2, width, leading) for row, at in zip(rows, y, strict=True) if row.is_lit])
    if len(lit):
        primitives.append(Rects(f"{key}-lit", lit, theme.line))
    number_width = text_width("0" * digits, size, "mono")
    numbered = [(row, at) for row, at in zip(rows, y, strict=True) if row.number]
    baseline = 0.36 * size
    if numbered:
        at = points(*((left + _INSET + number_width, y + baseline) for _, y in numbered))
        numbers = tuple(str(row.number) for row, _ in numbered)
        primitives.append(Labels(f"{key}-numbers", at, numbers, size, theme.faint, "end", "mono"))
    at = points(*((left + _INSET + number_width + 1.5 * size, each + baseline) for each in y))
    primitives.append(Labels(f"{key}-lines", at, tuple(row.text for row in rows), size, theme.text, "start", "mono"))
    return primitives


VIEW = View(marked("Source with line numbers"), PrintedSource, listing_scene, order=49)
