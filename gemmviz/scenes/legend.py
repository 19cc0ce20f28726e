"""What the colours mean: chips with their texts, line after line."""

import numpy as np

from gemmviz.model.trace import Trace
from gemmviz.scenes.frame import ViewOptions
from gemmviz.scenes.layout import Box
from gemmviz.scenes.palette import HEAT_LEVELS, heat_palette, most_loads
from gemmviz.scenes.primitives import Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.text import text_width
from gemmviz.scenes.theme import WARP_ACCENTS, warp_accent

_SIDE, _LEADING = 18.0, 28.0


def legend(trace: Trace, room: Box, options: ViewOptions) -> list[Primitive]:
    """Nothing for matrix colours, which name themselves."""
    if options.layer == "warp":
        return _flowing(_warps(trace, options), room, options)
    return _flowing(_heat(trace, options), room, options) if options.layer == "reuse" else []


def _warps(trace: Trace, options: ViewOptions) -> list[tuple[str, str]]:
    warps = trace.space.warps_per_block
    shown = min(warps, len(WARP_ACCENTS))
    more = ", then again" if warps > shown else ""
    entries = [(warp_accent(warp), f"warp {warp}" + (more if warp == shown - 1 else "")) for warp in range(shown)]
    if warps > 1:
        entries.append((options.theme.text, "several"))
    return entries


def _heat(trace: Trace, options: ViewOptions) -> list[tuple[str, str]]:
    problem = trace.setup.problem
    top = most_loads(problem)
    palette = heat_palette(options.theme, options.theme.faint)
    bounds = [0, *np.ceil(max(2, top) ** (np.arange(HEAT_LEVELS - 1) / (HEAT_LEVELS - 2)) - 1e-9).astype(int).tolist()]
    entries: list[tuple[str, str]] = []
    for level, bound in enumerate(bounds):
        if level + 1 == len(bounds) or bound != bounds[level + 1]:
            entries.append((palette[level], str(bound)))
    return [("", "loads so far"), *entries]


def _flowing(entries: list[tuple[str, str]], room: Box, options: ViewOptions) -> list[Primitive]:
    """From the left edge on, in as many lines as it takes."""
    theme, size = options.theme, options.theme.type.note
    x, y, at, found = room.x, room.y, [], []
    for number, (colour, text) in enumerate(entries):
        chip = _SIDE + 8 if colour else 0.0
        width = chip + text_width(text, size)
        if x + width > room.x + room.width and x > room.x:
            x, y = room.x, y + _LEADING
        if colour:
            found.append(Rects(f"legend-{number}", boxes((x, y, _SIDE, _SIDE)), colour, radius=3.0))
        at.append((x + chip, y + 16))
        x += width + 18
    return [*found, Labels("legend", points(*at), tuple(text for _, text in entries), size, theme.faint)]
