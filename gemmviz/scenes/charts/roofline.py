"""A roofline: a launch's rate and its roofs at each level of memory, on a device.

Levels are told apart by numbers and lightness, because hues belong to the matrices.
"""

import math

import numpy as np

from gemmviz.analysis.memory.counts import intensity
from gemmviz.model.cases import SpeedCase
from gemmviz.model.translation import letter, number, tr
from gemmviz.scenes.kit.layout import Box, baseline, path, text_at
from gemmviz.scenes.kit.primitives import Labels, Lines, Part, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.scale import Scale
from gemmviz.scenes.kit.text import fitted
from gemmviz.scenes.kit.theme import Theme, mixed

LEAST_INTENSITY, MOST_INTENSITY = 1 / 64, 1024
_LOWEST_RATE = 1 / 4096  # share of the peak
_SIDE, _NAME_ROOM = 16, 70
_WEAKER = 0.75  # of a level's ink is in that of the next level


def level_ink(theme: Theme, place: int) -> str:
    """The ink of a level of memory by its place, the nearest to the threads first: the strongest."""
    return mixed(theme.text, theme.background, 1 - _WEAKER**place)


def roofline(case: SpeedCase, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the roof with its axes, and a numbered mark for each level of memory."""
    device, size = case.device, theme.type.note
    peak = device.peak_gflops
    x = Scale(LEAST_INTENSITY, MOST_INTENSITY, room.x, room.right, True)
    y = Scale(peak * _LOWEST_RATE, peak * 2, room.bottom, room.y, True)
    ridge = peak / device.bandwidth_gb_s
    start = max(LEAST_INTENSITY, peak * _LOWEST_RATE / device.bandwidth_gb_s)
    roof = np.array([
        [x.at(start), y.at(start * device.bandwidth_gb_s), x.at(ridge), y.at(peak)],
        [x.at(ridge), y.at(peak), room.right, y.at(peak)],
    ])  # fmt: skip
    powers = [4**each for each in range(-3, 6)]
    rates = [10**each for each in range(math.ceil(math.log10(peak * _LOWEST_RATE)), int(math.log10(peak * 2)) + 1)]
    grid = boxes(
        *((x.at(at), room.y, x.at(at), room.bottom) for at in powers),
        *((room.x, y.at(at), room.right, y.at(at)) for at in rates),
    )
    below = points(*((x.at(at), room.bottom + 1.3 * size) for at in powers))
    beside = points(*((room.x - 10, baseline(y.at(at), size)) for at in rates))
    numbers = tuple(f"{at:g}" if at >= 1 else f"1/{round(1 / at)}" for at in powers)
    axis = fitted(tr("flop per byte, stores included"), size, room.width)
    top = tr("peak {peak} GFLOP/s", peak=f"{peak:.4g}") if peak < 1000 else tr("peak {peak} GFLOP/s", peak=number(peak))
    slope = f"DRAM {number(device.bandwidth_gb_s)} GB/s"
    primitives: list[Primitive] = [
        Lines("roof-grid", grid, theme.line),
        Labels("roof-x", below, numbers, size, theme.faint, "middle"),
        Labels("roof-y", beside, tuple(number(at) for at in rates), size, theme.faint, "end"),
        text_at("roof-rates", (room.x + 8, room.y + 2.4 * size), "GFLOP/s", size, theme.faint),
        text_at("roof-axis", (room.x, room.bottom + 2.9 * size), axis, size, theme.faint),
        Lines("roof", roof, theme.text, 3, meaning=Part("roof")),
        text_at("roof-peak", (room.right - 6, y.at(peak) - 10), top, size, theme.text, "end"),
        text_at("roof-slope", (x.at(3 * start) + 26, y.at(3 * start * device.bandwidth_gb_s) + 26), slope, size, theme.text),
    ]
    return [*primitives, *_level_marks(case, x, y, theme), *_block_so_far(case, x, y, room, theme)]


def _level_marks(case: SpeedCase, x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    """Draw the mark of each level of memory; where levels meet, the rate of the first is named."""
    primitives, named, peak = list[Primitive](), list[float](), case.device.peak_gflops
    for place, each in enumerate(case.traffic):
        side = _SIDE + 8 * (len(case.traffic) - 1 - place)  # where levels meet, each stays visible
        if case.problem.flops is None:
            continue
        flops_per_byte = intensity(case.problem.flops, each.size_bytes)
        primitives += _level(case, place, flops_per_byte, level_ink(theme, place), (x, y), side, theme)
        at = x.at(min(max(flops_per_byte, LEAST_INTENSITY), MOST_INTENSITY))
        is_slope = case.device.roof(flops_per_byte) < peak  # the peak itself is named once
        if is_slope and all(abs(at - other) >= _NAME_ROOM for other in named):
            primitives.append(_rate_name(case, place, flops_per_byte, (at, y), side, theme))
            named.append(at)
    return primitives


def _level(
    case: SpeedCase, place: int, flops_per_byte: float, accent: str, at: tuple[Scale, Scale], side: float, theme: Theme
) -> list[Primitive]:
    """Draw a filled mark at the kernel's rate, and a hollow one on the roof above or below it."""
    x, y = at
    device, key, part = case.device, _level_key(case, place), Part("level", place)
    seen = min(max(flops_per_byte, LEAST_INTENSITY), MOST_INTENSITY)
    across, hollow = x.at(seen), y.at(max(device.roof(seen), device.peak_gflops * _LOWEST_RATE))
    half = side / 2
    primitives: list[Primitive] = [
        Rects(
            f"{key}-roof", boxes((across - half, hollow - half, side, side)), theme.background, accent, 3, half,
            Part("level on the roof", place),
        )
    ]  # fmt: skip
    if case.rate is not None:
        filled = y.at(max(case.rate, device.peak_gflops * _LOWEST_RATE))
        primitives.append(Lines(f"{key}-gap", np.array([[across, hollow, across, filled]]), accent, 2, True, part))
        primitives.append(Rects(key, boxes((across - half, filled - half, side, side)), accent, radius=half, meaning=part))
    return primitives


def _rate_name(
    case: SpeedCase, place: int, flops_per_byte: float, at: tuple[float, Scale], side: float, theme: Theme
) -> Labels:
    """Name the rate of the roof above a mark, on the upper left of it."""
    roof = case.device.roof(flops_per_byte)
    y = at[1].at(max(roof, case.device.peak_gflops * _LOWEST_RATE)) - side / 2 - 4
    at_mark, part = (at[0] - side / 2 - 6, y), Part("rate on the roof", place)
    return text_at(
        f"{_level_key(case, place)}-rate", at_mark, number(roof), theme.type.note, theme.text, "end", "semibold", part
    )


def _level_key(case: SpeedCase, place: int) -> str:
    return f"level-{case.traffic[place].level.replace(' ', '-')}"


def _block_so_far(case: SpeedCase, x: Scale, y: Scale, room: Box, theme: Theme) -> list[Primitive]:
    """Draw ticks at the current intensity of the watched block along the lower edge."""
    if case.so_far is None:
        return []
    flops, sizes = case.so_far
    primitives: list[Primitive] = []
    for place, size_bytes in enumerate(sizes):
        if flops <= 0 or size_bytes <= 0:
            continue
        at = x.at(min(max(flops / size_bytes, LEAST_INTENSITY), MOST_INTENSITY))
        way = [(at, room.bottom - 26), (at, room.bottom)]
        primitives.append(path(f"so-far-{letter(place)}", way, level_ink(theme, place), 5))
    if primitives:
        words = (room.x + 8, room.bottom - 34)
        primitives.append(text_at("so-far-name", words, tr("ticks: this block so far"), theme.type.note, theme.faint))
    return primitives
