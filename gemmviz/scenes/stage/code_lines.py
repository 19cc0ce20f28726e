"""The source lines around the current one, with its expression highlighted."""

from functools import lru_cache

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.stage.tile_cells import tile_matrix

_PADDING = 12.0


def code_primitives(moment: Moment, room: Box, theme: Theme) -> list[Primitive]:
    """Draw as many source lines as fit, the current one in the middle; nothing if fewer than three fit."""
    font_size = theme.type.least
    leading = 1.3 * font_size
    count = int((room.height - _PADDING) // leading)
    if count < 3 or room.width < 260:
        return []
    (lines, code), place = _lines(moment.trace.setup.kernel.text), moment.site.place
    first = max(code, min(place.line - 1 - count // 2, len(lines) - count))
    shown = lines[first : first + count]
    indent = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
    y = room.y + _PADDING / 2
    advance = text_width("0", font_size, "mono")
    at = [(room.x + _PADDING, y + (i + 0.72) * leading) for i in range(len(shown))]
    row = max(0, min(place.line - 1 - first, len(shown) - 1))  # a line of the header highlights the first visible line
    most = int((room.width - 2 * _PADDING) / advance)
    stop = place.end_column - 1 - indent if place.end_line == place.line else len(shown[row]) - indent
    hidden = max(0, stop + 1 - most)  # the current line scrolls left if its expression would be cut
    texts = [fitted(line[indent:].rstrip(), font_size, room.width - 2 * _PADDING, "mono") for line in shown]
    if hidden:
        texts[row] = fitted("…" + shown[row][indent + hidden + 1 :].rstrip(), font_size, room.width - 2 * _PADDING, "mono")
    name = None if moment.main is None else tile_matrix(moment) or moment.main.array.name
    accent = theme.text if name is None else theme.accent(name)
    primitives: list[Primitive] = [
        Rects("code-panel", boxes((room.x, room.y, room.width, len(shown) * leading + _PADDING)), theme.panel, radius=6.0),
        Rects("code-line", boxes((room.x, y + row * leading, room.width, leading)), theme.line),
        Labels("code", points(*at), tuple(texts), font_size, theme.faint, "start", "mono"),
    ]
    start = place.column - 1 - indent - hidden
    stop -= hidden
    lit = texts[row][max(0, start) : stop]
    if lit:
        x = room.x + _PADDING + max(0, start) * advance
        primitives.append(
            Rects("code-lit-box", boxes((x - 2, y + row * leading + 2, len(lit) * advance + 4, leading - 4)), theme.panel)
        )
        primitives.append(Rects("code-lit-line", boxes((x, y + (row + 1) * leading - 4, len(lit) * advance, 3)), accent))
        primitives.append(Labels("code-lit", np.array([[x, at[row][1]]]), (lit,), font_size, theme.text, "start", "mono"))
    return primitives


@lru_cache(maxsize=4)
def _lines(text: str) -> tuple[list[str], int]:
    """Return the lines of a text, and the first line after the header."""
    lines = text.removesuffix("\n").split("\n")
    return lines, next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("//")), 0)
