"""Source code with line numbers, as it is printed with a question: without comments, in one column or two, with the line that
is asked about highlighted and a legend of the launch.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.listing import PrintedSource
from gemmviz.model.records import replace
from gemmviz.model.translation import marked
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, Box, lines_down, round_boxes, wrapped, write_all
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Style, Theme
from gemmviz.scenes.kit.view import View, ViewOptions, title_words

_LEGEND_LINES, _INSET, _PAD, _HANGING = 4, 16, 6, 4
_LEADING, _TIGHT = 1.28, 1.15  # of rows, and of those that would not fit otherwise
_LARGEST_PRINT = 1.6  # the size of the text, relative to the least one


class _PrintedRow(Struct, frozen=True):
    """One row of the picture: the number of its line, 0 for the continuation of one, and its text."""

    number: int
    text: str
    is_lit: bool


def listing_scene(source: PrintedSource, options: ViewOptions) -> Scene:
    """Draw the source: in one column if it fits, else in two; else the part around the highlighted line."""
    theme, room = options.theme, options.room(34, _INSET)
    legend = (
        wrapped("legend", source.legend, theme.soft.sized(theme.type.note), room.width, _LEGEND_LINES) if source.legend else []
    )
    high = LINE_PITCH * theme.type.note * max(1, len(legend))
    head, said, below = room.rows(_INSET, high, REST, gap=_INSET)
    title = title_words(source.name, head.width, options)
    words: tuple[Primitive, ...] = (title, *lines_down(said, legend)) if options.words else ()
    primitives = _printed_columns(source, below if options.words else options.room(_INSET, _INSET), theme)
    return Scene(options.width, options.height, theme.background, tuple(primitives), words=words)


def _printed_columns(source: PrintedSource, room: Box, theme: Theme) -> list[Primitive]:
    size, high = theme.type.least, room.height
    wide = _printed_rows(source, room.width, size)
    if len(wide) <= high / (_LEADING * size):
        size, wide = _largest_print(source, room.width, high, size, wide)
        return _printed_column("left", wide, room, size, _LEADING * size, theme)
    left, right = room.columns(REST, REST, gap=_INSET)
    most = max(1, int(high / (_TIGHT * size)))
    rows = _around_lit(_printed_rows(source, left.width, size), 2 * most)
    split = _rows_at_left(rows, most)
    leading = min(_LEADING * size, high / max(split, len(rows) - split))
    parts = (("left", rows[:split], left), ("right", rows[split:], right))
    return [piece for key, own, box in parts for piece in _printed_column(key, own, box, size, leading, theme)]


def _largest_print(
    source: PrintedSource, room: float, high: float, least: float, rows: list[_PrintedRow]
) -> tuple[float, list[_PrintedRow]]:
    """Return the largest size of the text at which no more lines are continued than at the least one, and the rows then."""
    sizes = np.arange(_LARGEST_PRINT * least, least, -1)
    fitting = (size for size in sizes if len(rows) <= high / (_LEADING * size))
    found = ((float(size), _printed_rows(source, room, size)) for size in fitting)
    return next(((size, wide) for size, wide in found if len(wide) == len(rows)), (least, rows))


def _rows_at_left(rows: list[_PrintedRow], most: int) -> int:
    """Return the number of rows of the left column: half of them, but no line is in both columns unless it must be."""
    half = max(-(-len(rows) // 2), len(rows) - most)
    fitting = [at for at in range(max(1, len(rows) - most), min(most, len(rows) - 1) + 1) if rows[at].number]
    return min(fitting, key=lambda at: abs(at - half), default=half)


def _printed_rows(source: PrintedSource, room: float, size: float) -> list[_PrintedRow]:
    """Return the rows of all lines that aren't empty, long lines continued in further rows."""
    most = max(_HANGING + 1, int((room - 2 * _INSET) / text_width("0", size, "mono")) - _digits(source))
    rows: list[_PrintedRow] = []
    for number, line in source.lines:
        is_lit, indent = number == source.lit, len(line) - len(line.lstrip())
        rest, start = line, number
        while len(rest) > most:
            cut = rest.rfind(" ", indent + _HANGING + 1, most)
            cut = cut if cut > 0 else most
            rows.append(_PrintedRow(start, rest[:cut], is_lit))
            rest, start = " " * min(indent + _HANGING, most // 2) + rest[cut:].lstrip(), 0
        if rest.strip():
            rows.append(_PrintedRow(start, rest, is_lit))
    return rows


def _digits(source: PrintedSource) -> int:
    """Return the letters that the numbers take, with the space behind them."""
    return len(str(source.lines[-1][0])) + 2 if source.lines else 0


def _around_lit(rows: list[_PrintedRow], most: int) -> list[_PrintedRow]:
    """Return the rows that fit, with the highlighted one in the middle."""
    lit = next((place for place, row in enumerate(rows) if row.is_lit), 0)
    first = max(0, min(lit - most // 2, len(rows) - most))
    return rows[first : first + most]


def _printed_column(key: str, rows: list[_PrintedRow], room: Box, size: float, leading: float, theme: Theme) -> list[Primitive]:
    """Draw some rows on a panel as high as they are."""
    panel = room._replace(height=len(rows) * leading + 2 * _PAD)
    lines = panel.inset(0, _PAD).rows(*[leading] * len(rows))
    style, digits = Style(size, theme.text, "mono"), max(len(str(row.number)) for row in rows)
    wide = style.width("0" * digits)
    numbered = [(str(row.number), box) for row, box in zip(rows, lines, strict=True) if row.number]
    numbers, texts = ([box.trimmed(left=_INSET)._replace(width=wide) for _, box in numbered],
                      [box.trimmed(left=_INSET + wide + 1.5 * size) for box in lines])  # fmt: skip
    lit = [box for row, box in zip(rows, lines, strict=True) if row.is_lit]
    return [
        round_boxes(f"{key}-panel", panel, theme.panel),
        *([Rects(f"{key}-lit", boxes(*lit), theme.line)] if lit else []),
        replace(
            write_all(f"{key}-numbers", numbers, [text for text, _ in numbered], style.inked(theme.faint), "end"),
            meaning="scale",
        ),
        write_all(f"{key}-lines", texts, [row.text for row in rows], style),
    ]


VIEW = View(marked("Source with line numbers"), PrintedSource, listing_scene, order=111)
