"""What the colours mean, on one line below the title."""

import numpy as np

from gemmviz.model.trace import Trace
from gemmviz.scenes.frame import MARGIN, ViewOptions
from gemmviz.scenes.palette import HEAT_LEVELS, heat_palette, most_loads
from gemmviz.scenes.primitives import Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.text import text_width
from gemmviz.scenes.theme import WARP_ACCENTS, warp_accent

_SIDE, _Y, _SIZE = 18.0, 63.0, 19.0


def legend(trace: Trace, options: ViewOptions) -> list[Primitive]:
    """Nothing for matrix colours, which name themselves."""
    if options.layer == "warp":
        return _warps(trace, options)
    return _heat(trace, options) if options.layer == "reuse" else []


def _warps(trace: Trace, options: ViewOptions) -> list[Primitive]:
    warps = trace.space.warps_per_block
    shown = min(warps, len(WARP_ACCENTS))
    more = ", then again" if warps > shown else ""
    entries = [(warp_accent(warp), f"warp {warp}" + (more if warp == shown - 1 else "")) for warp in range(shown)]
    if warps > 1:
        entries.append((options.theme.text, "several"))
    return _row(entries, options)


def _heat(trace: Trace, options: ViewOptions) -> list[Primitive]:
    problem = trace.setup.problem
    top = most_loads(problem)
    palette = heat_palette(options.theme, options.theme.faint)
    bounds = [0, *np.ceil(max(2, top) ** (np.arange(HEAT_LEVELS - 1) / (HEAT_LEVELS - 2)) - 1e-9).astype(int).tolist()]
    entries: list[tuple[str, str]] = []
    for level, bound in enumerate(bounds):
        if level + 1 == len(bounds) or bound != bounds[level + 1]:
            entries.append((palette[level], str(bound)))
    heading = f"loads of an element so far (without reuse: A {problem.N}, B {problem.M}):"
    return _row(entries, options, heading)


def _row(entries: list[tuple[str, str]], options: ViewOptions, heading: str = "") -> list[Primitive]:
    """Chips with their texts, from the left edge on."""
    theme = options.theme
    widths = [_SIDE + 8 + text_width(text, _SIZE) + 18 for _, text in entries]
    x = MARGIN
    found: list[Primitive] = []
    if heading:
        found.append(Labels("legend-heading", points((x, _Y + 16)), (heading,), _SIZE, theme.faint))
        x += text_width(heading, _SIZE) + 18
    at = []
    for number, ((colour, _), width) in enumerate(zip(entries, widths, strict=True)):
        found.append(Rects(f"legend-{number}", boxes((x, _Y, _SIDE, _SIDE)), colour, radius=3.0))
        at.append((x + _SIDE + 8, _Y + 16))
        x += width
    found.append(Labels("legend", points(*at), tuple(text for _, text in entries), _SIZE, theme.faint))
    return found
