"""The legend of colours: chips with texts, line by line."""

from collections.abc import Callable

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import Layer, ViewOptions
from gemmviz.scenes.kit.groups import group_colours
from gemmviz.scenes.kit.palette import HEAT_LEVELS, heat_palette, most_loads
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_width

_SIDE, _LEADING = 18.0, 28.0


def legend(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the legend; nothing for matrix colours, which need none."""
    if options.layer == "matrix":
        return []
    return _flowing(_ENTRIES[options.layer](moment, options), room, options)


def _warps(moment: Moment, options: ViewOptions) -> list[tuple[str, str]]:
    warps = moment.trace.space.warps_per_block
    shown = min(warps, len(options.theme.warps))
    more = tr(", repeating") if warps > shown else ""
    entries = [
        (options.theme.warps[warp], tr("warp {warp}", warp=warp) + (more if warp == shown - 1 else "")) for warp in range(shown)
    ]
    return [*entries, (options.theme.faint, "several")] if warps > 1 else entries


def _lanes(moment: Moment, options: ViewOptions) -> list[tuple[str, str]]:
    each = moment.trace.rules.warp_size // len(options.theme.lanes)
    entries = [(colour, f"{number * each}…{(number + 1) * each - 1}") for number, colour in enumerate(options.theme.lanes)]
    return [("", tr("lanes")), *entries, (options.theme.faint, tr("several"))]


def _blocks(moment: Moment, options: ViewOptions) -> list[tuple[str, str]]:
    (x0, x1), (y0, y1), _ = moment.trace.blocks.ranges
    blocks = [(x, y) for y in range(y0, y1) for x in range(x0, x1)]
    threads = np.arange(min(len(blocks), len(options.theme.warps))) * moment.trace.space.threads_per_block
    colours = group_colours(moment.trace, threads, "block").tolist()
    entries = [(options.theme.warps[colour], f"{x}, {y}") for colour, (x, y) in zip(colours, blocks, strict=False)]
    more = [("", "…")] if len(blocks) > len(entries) else []
    return [("", tr("blocks x, y")), *entries, *more, (options.theme.faint, "several")]


def _heat(moment: Moment, options: ViewOptions) -> list[tuple[str, str]]:
    """Return the levels with the colours of the first two inputs."""
    top = most_loads(moment.trace.setup.problem)
    bounds = [0, *np.ceil(max(2, top) ** (np.arange(HEAT_LEVELS - 1) / (HEAT_LEVELS - 2)) - 1e-9).astype(int).tolist()]
    levels = [level for level, bound in enumerate(bounds) if level + 1 == len(bounds) or bound != bounds[level + 1]]
    names = [moment.trace.arrays[number].name for number in moment.trace.inputs[:2]]
    palettes = [heat_palette(options.theme, options.theme.accent(name)) for name in names]
    entries = [("", tr("loads so far, in a tile since stored:"))]
    for level in levels:
        entries.append((" ".join(palette[level] for palette in palettes), str(bounds[level])))
    return entries


_ENTRIES: dict[Layer, Callable[[Moment, ViewOptions], list[tuple[str, str]]]] = {
    "warp": _warps, "lane": _lanes, "block": _blocks, "reuse": _heat,
}  # fmt: skip


def _flowing(entries: list[tuple[str, str]], room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw entries from the left edge on, in as many lines as needed. Several colours of an entry stand before its text."""
    theme, size = options.theme, options.theme.type.note
    x, y = room.x, room.y
    at: list[tuple[float, float]] = []
    primitives: list[Primitive] = []
    for number, (colours, text) in enumerate(entries):
        chips = colours.split()
        wide = (_SIDE + 4) * len(chips) + (4 if chips else 0)
        width = wide + text_width(text, size)
        if x + width > room.x + room.width and x > room.x:
            x, y = room.x, y + _LEADING
        for place, colour in enumerate(chips):
            box = boxes((x + place * (_SIDE + 4), y, _SIDE, _SIDE))
            primitives.append(Rects(f"legend-{number}-{place}", box, colour, radius=3.0))
        at.append((x + wide, y + 16))
        x += width + 18
    return [*primitives, Labels("legend", points(*at), tuple(text for _, text in entries), size, theme.faint)]
