"""The reason for a kernel's speed: its rooflines by level of memory, the limit with the counts that prove it, and
suggestions to run.
"""

import math

import numpy as np

from gemmviz.analysis.memory.counts import intensity
from gemmviz.model.speed_case import SpeedCase, Traffic
from gemmviz.model.words import letter, number, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.chart import Scale
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

CURE = "cure-"  # prefix of the keys of suggestions
_LEAST_INTENSITY, _MOST_INTENSITY = 1 / 64, 1024.0
_LOWEST_RATE = 1 / 4096  # share of the peak
_SIDE = 16.0


def why_scene(case: SpeedCase, options: ViewOptions) -> Scene:
    """Draw the roofline on the left, words and suggestions on the right."""
    theme, width, height = options.theme, options.width, options.height
    chart = Box(MARGIN + 80, 128.0, 0.52 * width - MARGIN - 80, height - 128.0 - 96.0)
    beside = Box(0.56 * width, 128.0, 0.44 * width - MARGIN, height - 128.0 - 30.0)
    primitives = [*_roofline(case, chart, theme), *_words(case, beside, options)]
    room = width - 2 * MARGIN
    title = f"Why this speed: {case.what}"
    title = case.what if text_width(title, theme.type.title, "semibold") > room else title
    title = fitted(title, theme.type.title, room, "semibold")
    speed = fitted(_speed(case), theme.type.words, room)
    words = (
        Labels("title", points((MARGIN, 50)), (title,), theme.type.title, theme.text, "start", "semibold"),
        Labels("note", points((MARGIN, 86)), (speed,), theme.type.words, theme.faint),
    )
    return Scene(width, height, theme.background, tuple(primitives), words=words)


def _speed(case: SpeedCase) -> str:
    if case.problem.flops is None:
        return f"No rate in GFLOP/s: {case.problem.kind.why_no_flops}"
    if case.rate is None:
        return f"Time unknown: {case.rate_source or 'not measured yet'}"
    share = "" if case.share_of_cublas is None else f", {case.share_of_cublas:.1%} of cuBLAS"
    peak = f"{case.rate / case.device.peak_gflops:.1%} of the peak of {number(case.device.peak_gflops)}"
    return f"{number(case.rate)} GFLOP/s: {peak}{share}; {case.rate_source}"


def _roofline(case: SpeedCase, room: Box, theme: Theme) -> list[Primitive]:
    device, size = case.device, theme.type.note
    peak = device.peak_gflops
    x = Scale(_LEAST_INTENSITY, _MOST_INTENSITY, room.x, room.x + room.width, True)
    y = Scale(peak * _LOWEST_RATE, peak * 2, room.y + room.height, room.y, True)
    ridge = peak / device.bandwidth_gb_s
    start = max(_LEAST_INTENSITY, peak * _LOWEST_RATE / device.bandwidth_gb_s)
    roof = np.array([
        [x.at(start), y.at(start * device.bandwidth_gb_s), x.at(ridge), y.at(peak)],
        [x.at(ridge), y.at(peak), room.x + room.width, y.at(peak)],
    ])  # fmt: skip
    powers = [4.0**each for each in range(-3, 6)]
    rates = [10.0**each for each in range(math.ceil(math.log10(peak * _LOWEST_RATE)), int(math.log10(peak * 2)) + 1)]
    down = np.array([[x.at(at), room.y, x.at(at), room.y + room.height] for at in powers])
    across = np.array([[room.x, y.at(at), room.x + room.width, y.at(at)] for at in rates])
    below = points(*((x.at(at), room.y + room.height + 1.3 * size) for at in powers))
    beside = points(*((room.x - 10, y.at(at) + 0.36 * size) for at in rates))
    numbers = tuple(f"{at:g}" if at >= 1 else f"1/{round(1 / at)}" for at in powers)
    axis = "flop per byte at a level of memory; vertical: GFLOP/s"
    top = f"peak {number(peak)} GFLOP/s"
    slope = f"DRAM {number(device.bandwidth_gb_s)} GB/s"
    primitives: list[Primitive] = [
        Lines("roof-grid", np.vstack([down, across]), theme.line, 1.0),
        Labels("roof-x", below, numbers, size, theme.faint, "middle"),
        Labels("roof-y", beside, tuple(number(at) for at in rates), size, theme.faint, "end"),
        Labels("roof-axis", points((room.x, room.y + room.height + 2.9 * size)), (axis,), size, theme.faint),
        Lines("roof", roof, theme.text, 3.0),
        Labels("roof-peak", points((room.x + room.width - 6, y.at(peak) - 10)), (top,), size, theme.text, "end"),
        Labels(
            "roof-slope",
            points((x.at(3 * start) + 14, y.at(3 * start * device.bandwidth_gb_s) + 16)),
            (slope,),
            size,
            theme.text,
        ),
    ]
    for place, each in enumerate(case.traffic):
        side = _SIDE + 8.0 * (len(case.traffic) - 1 - place)  # where levels meet, each stays visible
        if case.problem.flops is None:
            continue
        flops_per_byte = intensity(case.problem.flops, each.size_bytes)
        primitives += _level(case, each.level, flops_per_byte, theme.level(place), (x, y), side, theme)
    return [*primitives, *_so_far(case, x, y, room, theme)]


def _level(
    case: SpeedCase, level: str, flops_per_byte: float, accent: str, at: tuple[Scale, Scale], side: float, theme: Theme
) -> list[Primitive]:
    """Draw a filled mark at the kernel's rate, and a hollow one on the roof above or below it."""
    x, y = at
    device, key = case.device, f"level-{level.replace(' ', '-')}"
    seen = min(max(flops_per_byte, _LEAST_INTENSITY), _MOST_INTENSITY)
    across, hollow = x.at(seen), y.at(max(device.roof(seen), device.peak_gflops * _LOWEST_RATE))
    half = side / 2
    primitives: list[Primitive] = [
        Rects(f"{key}-roof", boxes((across - half, hollow - half, side, side)), theme.background, accent, 3.0, half)
    ]
    if case.rate is not None:
        filled = y.at(max(case.rate, device.peak_gflops * _LOWEST_RATE))
        primitives.append(Lines(f"{key}-gap", np.array([[across, hollow, across, filled]]), accent, 2.0, dashed=True))
        primitives.append(Rects(key, boxes((across - half, filled - half, side, side)), accent, radius=half))
    return primitives


def _so_far(case: SpeedCase, x: Scale, y: Scale, room: Box, theme: Theme) -> list[Primitive]:
    """Draw ticks at the current intensity of the watched block along the lower edge."""
    if case.so_far is None:
        return []
    flops, sizes = case.so_far
    primitives: list[Primitive] = []
    for place, size_bytes in enumerate(sizes):
        if flops <= 0 or size_bytes <= 0:
            continue
        at = x.at(min(max(flops / size_bytes, _LEAST_INTENSITY), _MOST_INTENSITY))
        base = room.y + room.height
        primitives.append(Lines(f"so-far-{letter(place)}", np.array([[at, base - 26, at, base]]), theme.level(place), 5.0))
    if primitives:
        words = points((room.x + 8, room.y + room.height - 34))
        primitives.append(Labels("so-far-name", words, ("ticks: this block so far",), theme.type.note, theme.faint))
    return primitives


def _words(case: SpeedCase, room: Box, options: ViewOptions) -> list[Primitive]:
    theme, sizes = options.theme, options.theme.type
    y = room.y
    primitives: list[Primitive] = []

    def say(key: str, text: str, size: float, colour: str, most: int = 2, strong: bool = False) -> None:
        nonlocal y
        face = "semibold" if strong else "regular"
        for line_number, line in enumerate(wrap_text(text, size, room.width, most, face)):  # type: ignore[arg-type]
            y += 1.3 * size
            at = points((room.x, y - 0.3 * size))
            primitives.append(Labels(f"{key}-{line_number}", at, (line,), size, colour, "start", face))  # type: ignore[arg-type]

    if case.reason:
        say("reason", case.reason, sizes.caption, theme.warning, 3, strong=True)
        say("proof", case.proof, sizes.words, theme.text, 2)
    else:
        waiting = f"The launch was not counted: {case.no_counts}" if case.no_counts else "The launch is being counted"
        say("reason", waiting, sizes.caption, theme.faint)
    y += 16
    for place, each in enumerate(case.traffic):
        key = letter(place)
        what = _level_text(case, each)
        primitives.append(Rects(f"level-chip-{key}", boxes((room.x, y + 8, 16, 16)), theme.level(place), radius=8.0))
        inner = Box(room.x + 28, y, room.width - 28, room.height)
        for line_number, line in enumerate(wrap_text(what, sizes.note, inner.width, 3)):
            y += 1.3 * sizes.note
            primitives.append(
                Labels(f"level-{key}-{line_number}", points((inner.x, y - 0.2 * sizes.note)), (line,), sizes.note, theme.text)
            )
        y += 6
    if case.traffic and case.lacks_dram:
        say("unknown", "DRAM bytes: not recorded for this launch", sizes.note, theme.faint)
    y += 10
    primitives += _suggestions(case, Box(room.x, y, room.width, room.height), options)
    y += 54.0 * len(case.suggestions) + (34 if case.suggestions else 0)
    primitives += _effects(case, Box(room.x, y, room.width, room.y + room.height - y), options)
    return primitives


def _level_text(case: SpeedCase, traffic: Traffic) -> str:
    """Return bytes, intensity and roof of a level of memory in words; bytes only if the problem has no flops to count."""
    name = f"{_bytes(traffic.size_bytes)} {traffic.level}"
    if case.problem.flops is None:
        return name
    per_byte = intensity(case.problem.flops, traffic.size_bytes)
    roof = case.device.roof(per_byte)
    tail = "; it is faster, so a cache serves it" if case.rate is not None and case.rate > roof else ""
    tail += "" if _LEAST_INTENSITY <= per_byte <= _MOST_INTENSITY else "; outside the chart"
    return f"{name}: {number(per_byte)} flop per byte; from DRAM {number(roof)} GFLOP/s{tail}"


def _bytes(size: int) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


def _suggestions(case: SpeedCase, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw a button for each suggestion; a click runs it."""
    theme, size = options.theme, options.theme.type.note
    if not case.suggestions:
        return []
    primitives: list[Primitive] = [
        Labels("suggestions-name", points((room.x, room.y + size)), ("Suggestions. Click one to run it:",), size, theme.faint)
    ]
    for place, cure in enumerate(case.suggestions):
        y, text = room.y + 34 + 54.0 * place, fitted(cure.text, size, room.width - 40, "semibold")
        width = text_width(text, size, "semibold") + 40
        ground = np.zeros((1, 1), np.uint8)
        primitives.append(Cells(f"{CURE}{place}", room.x, y, width, ground, (theme.line,), (theme.text,), height=42.0))
        primitives.append(
            Labels(f"{CURE}{place}-text", points((room.x + 20, y + 28)), (text,), size, theme.text, "start", "semibold")
        )
    return primitives


def _effects(case: SpeedCase, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the results before and after."""
    theme, size = options.theme, options.theme.type.note
    if len(case.effects) < 2:
        return []
    columns = [("C is", 0.44), ("sectors", 0.6), ("wavefronts", 0.82), ("time", 1.0)]
    y = room.y + 20
    primitives: list[Primitive] = [
        Labels(f"effects-{name}", points((room.x + share * room.width, y)), (name,), size, theme.faint, "end")
        for name, share in columns
    ]
    for number_, effect in enumerate(case.effects):
        y += 1.5 * size
        cells = (
            {True: "right", False: "wrong", None: "…"}[effect.is_right],
            "…" if effect.sectors is None else _short(effect.sectors),
            "…" if effect.wavefronts is None else _short(effect.wavefronts),
            "unknown" if effect.time_ms is None else f"{number(effect.time_ms * 1e3)} µs",
        )
        label = fitted(effect.label, size, 0.44 * room.width - text_width("wrong", size) - 12)
        primitives.append(Labels(f"effect-{number_}", points((room.x, y)), (label,), size, theme.text))
        for text, (name, share) in zip(cells, columns, strict=True):
            at = points((room.x + share * room.width, y))
            primitives.append(Labels(f"effect-{number_}-{name}", at, (text,), size, theme.text, "end"))
    sources = " · ".join(dict.fromkeys(effect.time_source for effect in case.effects if effect.time_source))
    if sources:
        y += 1.5 * size
        primitives.append(text_line("effects-source", (room.x, y), sources, size, room.width, theme.faint))
    return primitives


def _short(count: int) -> str:
    return spaced(count) if count < 1_000_000 else f"{count / 1e6:,.4g} M"


VIEW = View("Why this speed", SpeedCase, why_scene, is_count=True, order=22)
