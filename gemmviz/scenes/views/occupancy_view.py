"""Occupancy as gauges: the blocks per SM by each limit, the smallest one highlighted, and the effect of block size,
registers and shared memory.
"""

import numpy as np

from gemmviz.analysis.models.occupancy import OccupancyLimits, WhatIf, occupancy_limits, tried, what_ifs
from gemmviz.model.occupancy import Needs, OccupancyCase
from gemmviz.model.words import many, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.primitives import Cells, Face, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import View

_NAMES = {"threads": "threads per block", "registers": "registers per thread", "shared": "shared bytes per block"}
_BAR_NAME = 210.0
_MOST_TIMES, _CUT = 4, 26.0  # bars longer than this multiple of the shortest are cut, at this distance from the end
_CURVE_WITH_SCALE = "shared"  # where it covers the least
WHAT_IF = "what-if-"  # prefix of the keys of values to try


def occupancy_scene(case: OccupancyCase, options: ViewOptions) -> Scene:
    """Draw bars and their result above, curves below; in a low frame side by side."""
    limits = occupancy_limits(case.device, case.needs)
    width, height = options.width, options.height
    if options.words:
        top, bottom = 130.0, height - 40.0
        middle = top + 0.46 * (bottom - top)
        bars = Box(MARGIN, top, 0.56 * (width - 2 * MARGIN), middle - top - 40)
        sums = Box(MARGIN + 0.6 * (width - 2 * MARGIN), top, 0.4 * (width - 2 * MARGIN), middle - top - 40)
        curves = Box(MARGIN, middle, width - 2 * MARGIN, bottom - middle)
    else:
        bars = Box(14, 14, 0.34 * width, height - 28)
        sums = Box(0.37 * width, 14, 0.2 * width, height - 28)
        curves = Box(0.585 * width, 14, 0.405 * width, height - 28)
    pieces = [*_bars(limits, bars, options.theme), *_sums(case, limits, sums, options)]
    for number, each in enumerate(what_ifs(case.device, case.needs)):
        wide = curves.width / 3
        room = Box(curves.x + number * wide, curves.y, wide - 26, curves.height)
        pieces += what_if_curve(each, case, room, options)
    return Scene(width, height, options.theme.background, tuple(pieces), words=tuple(_words(case, options)))


def _words(case: OccupancyCase, options: ViewOptions) -> list[Primitive]:
    if not options.words:
        return []
    theme, sizes, room = options.theme, options.theme.type, options.width - 2 * MARGIN
    title = fitted(f"Occupancy of {case.what}", sizes.title, room, "semibold")
    note = fitted(f"one SM of {case.device.name}; by the vendor's rules, not measured", sizes.words, room)
    return [
        Labels("title", points((MARGIN, 50)), (title,), sizes.title, theme.text, "start", "semibold"),
        Labels("note", points((MARGIN, 86)), (note,), sizes.words, theme.faint),
    ]


def _bars(limits: OccupancyLimits, room: Box, theme: Theme) -> list[Primitive]:
    """Draw a bar for each limit, as long as the number of blocks it allows. The part beyond the smallest limit is faint,
    and very long bars are cut.
    """
    pitch = room.height / len(limits.limits)
    high, size = min(0.56 * pitch, 46.0), min(theme.type.heading, 0.5 * pitch)
    least = limits.blocks_per_sm
    known = [limit for limit in limits.limits.values() if limit is not None]
    most = max(1, min(max(known), _MOST_TIMES * max(least, 1)))
    across = room.width - _BAR_NAME - 140
    pieces: list[Primitive] = []
    for number, (name, limit) in enumerate(limits.limits.items()):
        y = room.y + number * pitch + (pitch - high) / 2
        x, base = room.x + _BAR_NAME, y + high / 2 + 0.36 * size
        is_least = limit == least
        ink: str = theme.text if is_least else theme.faint
        face: Face = "semibold" if is_least else "regular"
        pieces.append(Labels(f"limit-{name}-name", points((room.x, base)), (name,), size, ink, "start", face))
        pieces.append(Rects(f"limit-{name}-track", boxes((x, y, across, high)), theme.empty, radius=4.0))
        words, spot = "unknown: click to try values", points((x + 10, base))
        if limit is not None:
            words, spot = many(limit, "block"), points((x + across + 12, base))
            colour = theme.warning if is_least else theme.faint
            length = max(2.0, across * min(limit, most) / most)
            cut = (x + length - _CUT - 16, y, 8.0, high), (x + length - _CUT, y, 8.0, high)
            pieces.append(Rects(f"limit-{name}", boxes((x, y, length, high)), colour, radius=4.0))
            pieces += [Rects(f"limit-{name}-cut", boxes(*cut), theme.empty)] if limit > most else []
        pieces.append(Labels(f"limit-{name}-blocks", spot, (words,), size, ink, "start", face))
    end = room.x + _BAR_NAME + across * least / most
    pieces.append(Lines("least", np.array([[end, room.y, end, room.y + room.height]]), theme.warning, 2.0, dashed=True))
    return pieces


def _sums(case: OccupancyCase, limits: OccupancyLimits, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the resulting numbers."""
    theme, sizes = options.theme, options.theme.type
    device, needs = case.device, case.needs
    at_most = "" if limits.is_certain else "at most "
    registers = "unknown registers" if needs.registers is None else many(needs.registers, "register")
    source = "trial values" if needs.registers != case.own.registers else case.registers_source
    limiting = " and ".join(limits.limiting)
    warps = f"{limits.warps_percent:.4g} % of warps: {limits.warps} of {device.max_warps_per_sm}"
    threads = f"{limits.threads_percent:.4g} % of threads: {limits.threads} of {device.max_threads_per_sm}"
    block = f"a block: {many(needs.threads, 'thread')} in {many(limits.warps_per_block, 'warp')},"
    lines = [
        (f"{at_most}{many(limits.blocks_per_sm, 'block')} per SM", sizes.title, theme.text, True),
        (f"limited by {limiting}", sizes.caption, theme.warning, True),
        (warps, sizes.caption, theme.text, False),
        (threads, sizes.words, theme.faint, False),
        (block, sizes.words, theme.faint, False),
        (f"{registers} per thread,", sizes.words, theme.faint, False),
        *((line, sizes.note, theme.faint, False) for line in wrap_text(source, sizes.note, room.width, 2)),
        (f"{spaced(needs.shared_bytes)} bytes of shared memory", sizes.words, theme.faint, False),
    ]
    scale = min(1.0, room.height / sum(1.36 * size for _, size, _, _ in lines))
    y, pieces = room.y, []
    for number, (text, size, colour, is_strong) in enumerate(line for line in lines if line[0]):
        y += 1.36 * size * scale
        face: Face = "semibold" if is_strong else "regular"
        text = fitted(text, size * scale, room.width, face)
        at = points((room.x, y - 0.36 * size * scale))
        pieces.append(Labels(f"sum-{number}", at, (text,), size * scale, colour, "start", face))
    return list(pieces)


def what_if_curve(each: WhatIf, case: OccupancyCase, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw columns as high as the share of resident warps; the current value is highlighted."""
    theme, size = options.theme, options.theme.type.note if options.words else 17.0
    now = {"threads": case.needs.threads, "registers": case.needs.registers, "shared": case.needs.shared_bytes}[each.name]
    top, high = room.y + 8, room.height - 2.9 * size - 12
    count, most = len(each.values), case.device.max_warps_per_sm
    wide = room.width / count
    heights = high * each.warps / most
    here = None if now is None else each.nearest(now)
    x, inner = room.x + np.arange(count) * wide, np.full(count, max(wide - 1.0, 0.6 * wide))
    columns = np.stack([x, top + high - heights, inner, heights], axis=1)
    others = columns if here is None else np.delete(columns, here, axis=0)
    ground = np.zeros((1, count), np.uint8)
    pieces: list[Primitive] = [
        Cells(f"{WHAT_IF}{each.name}", room.x, top, wide, ground, (theme.panel,), (theme.faint,), height=high),
        Rects(f"{each.name}-columns", others, mixed(theme.background, theme.accent("A"), 0.6)),
    ]
    value = "?" if now is None else spaced(now)
    if here is not None:
        framed = max(wide, 6.0)
        frame = boxes((float(columns[here, 0]) + (wide - framed) / 2, top, framed, high))
        pieces.append(Rects(f"{each.name}-here", frame, None, theme.text, 2.0))
        pieces.append(Rects(f"{each.name}-column", columns[here : here + 1], theme.warning))
    first, last = spaced(int(each.values[0])), spaced(int(each.values[-1]))
    words = fitted(f"{value} {_NAMES[each.name]}", size, room.width, "semibold")
    y = top + high
    scale = f"top: {most} warps" if each.name == _CURVE_WITH_SCALE else ""
    above = top - 7 if options.words else top + 1.1 * size
    return [
        *pieces,
        Labels(f"{each.name}-most", points((room.x + room.width - 4, above)), (scale,), size, theme.faint, "end"),
        Labels(f"{each.name}-ends", points((room.x, y + 1.15 * size)), (first,), size, theme.faint),
        Labels(f"{each.name}-end", points((room.x + room.width, y + 1.15 * size)), (last,), size, theme.faint, "end"),
        Labels(f"{each.name}-name", points((room.x, y + 2.5 * size)), (words,), size, theme.text, "start", "semibold"),
    ]


def value_at(case: OccupancyCase, key: str, column: int) -> Needs | None:
    """Return the value that a column of a curve stands for, None for other cells."""
    for each in what_ifs(case.device, case.needs):
        if key == f"{WHAT_IF}{each.name}" and 0 <= column < len(each.values):
            return tried(case.needs, each.name, int(each.values[column]))
    return None


VIEW = View("Occupancy: blocks per SM", OccupancyCase, occupancy_scene, order=20)
