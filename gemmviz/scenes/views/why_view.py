"""Views of what bounds a launch: the bytes that each level of memory moves, and the reasons for the kernel's speed."""

import dataclasses
import math
from collections.abc import Sequence
from itertools import groupby
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.counts import intensity
from gemmviz.model.cases import MOVED, Cause, SpeedCase, Traffic
from gemmviz.model.messages import counted, listed, marked, number, percent, size_text, spaced, tr
from gemmviz.scenes.charts.models import LEAST_INTENSITY, MOST_INTENSITY, level_ink, roofline
from gemmviz.scenes.kit.layout import (
    LINE_PITCH,
    NEAR,
    REST,
    Box,
    Line,
    Share,
    button,
    lines_down,
    square,
    wrapped,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import (
    Button,
    Labels,
    Lines,
    Meaning,
    Part,
    Primitive,
    Rects,
    Scene,
    boxes,
    fitted,
    text_width,
    without_clauses,
)
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.theme import SOFT, Style, Theme
from gemmviz.scenes.kit.view import ARRIVAL, View, ViewOptions, eased, message, titled

# Bytes of a whole launch at each level of memory, as squares whose areas are to scale: requested by threads, moved in sectors,
# and moved by DRAM, with each value of a parameter on which only this depends. The squares grow to their size.

_ELEMENT_BYTES, _SECTOR, _LANES = 4, 32, 32
_BETWEEN_LEVELS = 40
_WIDEST_WORDS, _USUAL_LEVELS = 300, 4
_NARROW = 6  # width of the words of a variant, in their size
_LEAST_SHARE = 1 / 25  # of the bytes of the common scale: kernels that move less are drawn on a scale of their own
_MOVED = 1  # place of what is moved in sectors
_LEAST_SIDE = 4  # units: a square that is visible
_HATCH = 22  # units between the lines of a hatched square


class _Plan(Struct, frozen=True):
    """The rows of a frame with their texts and the boxes of their squares; ``scale``: the box of the largest square, None for
    none; ``most``: the bytes that it stands for.
    """

    rows: tuple[Traffic, ...]
    texts: tuple[list[Line], ...]
    boxes: tuple[Box, ...]
    scale: Box | None
    most: float

    @classmethod
    def of(cls, case: SpeedCase, options: ViewOptions) -> "_Plan":
        names = listed(array.name for array in case.problem.arrays)
        rows = (
            *(case.traffic[_MOVED:-1] if case.variants else case.traffic),
            *(structs.replace(each, source="") for each in case.variants),
            Traffic(tr("minimum: {names} once", names=names), case.least_bytes, tr("counted from the sizes")),
        )
        count, room = max(len(rows), _USUAL_LEVELS), options.room(124, 40)
        column = min(_WIDEST_WORDS, (room.width - _BETWEEN_LEVELS * (count - 1)) / count)
        if case.variants:
            column = _NARROW * options.theme.plain.size
        texts = tuple(_lines_below(f"bytes-{place}", row, column, options.theme) for place, row in enumerate(rows))
        low = room.bottom - max(LINE_PITCH * sum(line.size for line in lines) for lines in texts)
        largest = min(low - room.y, room.width - (count - 1) * (column + _BETWEEN_LEVELS))
        most, own = _most(case, rows), max(row.size_bytes for row in rows)
        one_scale = case.problem.is_multiply and not case.variants and own >= _LEAST_SHARE * most
        most = most if one_scale else own
        if case.variants:
            sides = [math.sqrt(row.size_bytes / most) for row in rows]
            largest, wide = low - room.y, room.width - (len(rows) - 1) * _BETWEEN_LEVELS
            while largest > column and sum(max(column, share * largest) for share in sides) > wide:
                largest *= 0.98
        elif not one_scale:  # the levels may be equally large
            column = (room.width - _BETWEEN_LEVELS * (len(rows) - 1)) / len(rows)
            largest = min(low - room.y, column)
        x, places, scale = room.x, list[Box](), None
        for place, row in enumerate(rows):
            side = max(_LEAST_SIDE, largest * math.sqrt(row.size_bytes / most))
            places.append(Box(x, low - side, side, side))
            if place == _MOVED and one_scale:
                scale = Box(x, low - largest, largest, largest)
                side = largest  # the same places for all kernels
            x += max(side, column) + _BETWEEN_LEVELS
        return cls(rows, texts, tuple(places), scale, most)


def bytes_scene(case: SpeedCase, options: ViewOptions) -> Scene:
    """Bytes of a whole launch at each level of memory.

    Draw the words below a square for each level, and the outline of the largest. ``bytes_motion`` draws the squares.
    """
    title, note = tr("Bytes: {what}", what=case.what), _note(case)
    if not case.traffic:
        waiting = (
            tr("The launch was not counted: {no_counts}", no_counts=case.no_counts)
            if case.no_counts
            else tr("The launch is being counted")
        )
        return titled([message(waiting, options)], title, note, options)
    plan, primitives = _Plan.of(case, options), list[Primitive]()
    for lines, box in zip(plan.texts, plan.boxes, strict=True):
        below = Box(box.x, box.bottom, options.width - box.x, options.height - box.bottom)
        primitives += lines_down(below, lines)
    if plan.scale is not None:
        primitives += _scale(plan.most, plan.boxes[_MOVED].width, plan.scale, options.theme)
    return titled(primitives, title, note, options)


def bytes_motion(case: SpeedCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw a square for each level and for the minimum, each array once, grown up to ``options.moment``: areas grow evenly."""
    if not case.traffic:
        return ()
    plan, pieces = _Plan.of(case, options), list[Primitive]()
    share = math.sqrt(1 if case.has_begun else options.way)  # not in each step of a run
    for place, (row, box) in enumerate(zip(plan.rows, plan.boxes, strict=True)):
        asked = plan.rows[0].size_bytes if row in case.traffic else row.size_bytes
        side = max(_LEAST_SIDE, share * box.width)
        pieces += _square(f"bytes-{place}", row, asked, _grown(box, side), options.theme)
    return tuple(pieces)


def _most(case: SpeedCase, rows: Sequence[Traffic]) -> float:
    """Return the bytes of the largest square.

    Of a multiplication, what a kernel without tiles moves if each request reads one factor in sectors of their own and the
    other in one sector, so that all kernels that move no more have one scale.
    """
    most = max(row.size_bytes for row in rows)
    if not case.problem.is_multiply or case.variants:
        return most
    products = case.problem.M * case.problem.N * case.problem.K
    return max(most, products * _SECTOR * (_LANES + 1) / _LANES)


def _scale(most: float, side: float, box: Box, theme: Theme) -> list[Primitive]:
    """Outline the largest square behind a smaller one, with what it stands for."""
    text = tr("{most} if each element of A took its own sector", most=size_text(most))
    lines = wrapped("bytes-scale-text", text, theme.aside, box.width - 2 * NEAR, 3)
    if box.height - side < (len(lines) + 1) * LINE_PITCH * theme.type.least:
        return []
    return [Rects("bytes-scale", boxes(box), None, theme.line, 2, 2), *lines_down(box.inset(NEAR), lines)]


def _square(key: str, row: Traffic, asked: int, box: Box, theme: Theme) -> list[Primitive]:
    """Draw a square; what is moved beyond the requested bytes is red."""
    whole = boxes(box)
    if row.size_bytes <= asked:
        return [Rects(f"{key}-bar", whole, theme.faint, radius=2)]
    inner = box.width * math.sqrt(asked / row.size_bytes)
    count = max(1, round(box.width / _HATCH))
    red = theme.faded(theme.warning, SOFT)
    return [
        Rects(f"{key}-bar", whole, red, theme.warning, 2, 2),
        hatching(f"{key}-hatching", boxes(*box.grid(count, count)), theme.warning),
        Rects(f"{key}-requested", boxes(_grown(box, inner)), theme.faint, radius=2),
    ]


def _grown(box: Box, side: float) -> Box:
    """Return the square of a side at the lower left corner of a box."""
    return Box(box.x, box.bottom - side, side, side)


def _lines_below(key: str, row: Traffic, room: float, theme: Theme) -> list[Line]:
    """Return the lines below a square."""
    return [
        Line(f"{key}-size", size_text(row.size_bytes), *theme.strong.sized(theme.type.title)),
        *wrapped(f"{key}-name", tr(row.level), theme.plain, room, 3),
        *wrapped(f"{key}-source", row.source, theme.aside, room, 4),
    ]


def _note(case: SpeedCase) -> str:
    """Return where the traffic of variants is from, or on which GPU that of DRAM was recorded, or else what a multiplication
    without tiles requests; nothing for other problems.
    """
    if case.variants:
        return tr("To scale in this picture. DRAM: {source}", source=case.variants[0].source)
    if case.no_dram and case.dram_on:
        return tr("Areas are to scale. {why}", why=case.no_dram)
    problem = case.problem
    if not problem.is_multiply:
        return problem.kind.formula
    requested = _ELEMENT_BYTES * problem.M * problem.N * 2 * problem.K
    whole = tr("{requested} for all {M}", requested=size_text(requested), M=spaced(problem.M * problem.N))
    return tr("Areas are to scale. A thread that reads its own row and column requests 2 · 4 · K bytes: {whole}", whole=whole)


_TOP, _BAR, _BUTTON, _PAD, _MOST_SPARE = 112, 20, 38, 14, 30
_LEAST_CHART, _BELOW_CHART = 160, 3.9  # height; the axis below it, in lines of text
_MOST_NOTE, _MOST_LEVEL = 5, 3  # lines of the note on the model, and of a level of memory
_DRAWN = 0.5  # share of the motion after which the roof is drawn
_MODEL = marked(
    "Model: an SM passes one line of 128 bytes or one wavefront per cycle; no latency. Each bar: the "
    "model's time minus its time without the cause"
)
_UNTIMED = marked(
    "Bars: how many of all lines of 128 bytes and wavefronts fall away without the cause. What that saves in time isn't known"
)
_NO_CACHE = marked("; without a cache, DRAM moves it all")
_COUNTED = marked("The model of time doesn't hold for this device: bars show the counted share that is lost")


def why_scene(case: SpeedCase, options: ViewOptions) -> Scene:
    """The reasons for a kernel's speed.

    Draw the roofline on the left, the causes on the right; one above the other in a narrow frame.
    """
    theme, (left, right) = options.theme, _halves(options)
    drawn = [*_levels(case, left, theme), *_causes(case, right, options)]
    room, title = options.room().width, tr("Why this speed: {what}", what=case.what)
    fits = text_width(title, theme.type.title, "semibold") <= room
    speed = without_clauses(_speed(case), theme.type.words, room)
    shown = [each for each in drawn if not _what(each)]
    return titled(shown, title if fits else case.what, speed, structs.replace(options, words=True))


def why_motion(case: SpeedCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the roof from left to right, then let the marks of further levels slide on it from that of the first; meanwhile the
    bars of the causes grow. Once a run has begun to compute, the picture is whole in each of its steps.
    """
    theme, (left, right) = options.theme, _halves(options)
    moment = 1 if case.has_begun else min(1, options.moment / ARRIVAL)
    until = left.x + float(eased(min(1, moment / _DRAWN))) * left.width + 1
    way = max(0, (moment - _DRAWN) / (1 - _DRAWN))
    drawn = _slid([*_levels(case, left, theme), *_causes(case, right, options)], way)
    return tuple(_until(each, until, float(eased(moment))) for each in drawn if _what(each))


def _slid(drawn: list[Primitive], way: float) -> list[Primitive]:
    """Return what is drawn, with the marks of further levels a share of their way along the roof from the first one."""
    roof = next(each for each in drawn if isinstance(each, Lines) and each.meaning == Part("roof")).segments
    marks = [each for each in drawn if isinstance(each, Rects) and _what(each) == "level on the roof"]
    if way >= 1 or len(marks) < 2:
        return drawn
    first = float(marks[0].boxes[0, 0] + marks[0].boxes[0, 2] / 2)
    found: dict[Meaning | None, Primitive | None] = {}
    for each in marks[1:]:
        side = float(each.boxes[0, 2])
        x = first + float(eased(way)) * (float(each.boxes[0, 0]) + side / 2 - first)
        y = float(np.interp(x, [roof[0, 0], roof[0, 2], roof[1, 2]], [roof[0, 1], roof[0, 3], roof[1, 3]]))
        found[each.meaning] = dataclasses.replace(each, boxes=boxes((x - side / 2, y - side / 2, side, side)))
        assert isinstance(each.meaning, Part)
        found[Part("rate on the roof", each.meaning.number)] = None  # its number comes when it is there
    moved = (found.get(each.meaning, each) for each in drawn)
    return [each for each in moved if each is not None]


def _what(each: Primitive) -> str:
    """Return what a primitive is that is drawn bit by bit: the roof, a mark, its rate, or a bar; "" for others."""
    return each.meaning.what if isinstance(each.meaning, Part) else ""


def _until(each: Primitive, until: float, share: float) -> Primitive:
    """Return the part of a primitive that is drawn: left of ``until``, or a bar of which a share has grown."""
    if isinstance(each, Rects) and _what(each) == "bar":
        return dataclasses.replace(each, boxes=each.boxes * (1, 1, share, 1))
    if isinstance(each, Lines):
        ends = each.segments[each.segments[:, 0] < until]
        cut = np.clip((until - ends[:, 0]) / np.maximum(1e-9, ends[:, 2] - ends[:, 0]), 0.0, 1.0)[:, None]
        return dataclasses.replace(each, segments=np.hstack([ends[:, :2], ends[:, :2] + cut * (ends[:, 2:] - ends[:, :2])]))
    if isinstance(each, Labels):
        return each if float(each.at[0, 0]) < until else dataclasses.replace(each, at=each.at[:0], texts=())
    assert isinstance(each, Rects)
    return dataclasses.replace(each, boxes=each.boxes[each.boxes[:, 0] + each.boxes[:, 2] < until])


def _halves(options: ViewOptions) -> list[Box]:
    """Return the rooms of the roofline and of the causes."""
    return options.room(_TOP, 24).columns(Share(89), Share(93), gap=options.width / 25)


def _speed(case: SpeedCase) -> str:
    if case.problem.flops is None:
        return tr("No rate in GFLOP/s: {why_no_flops}", why_no_flops=case.problem.kind.why_no_flops)
    if case.rate is None:
        return tr("Time unknown: {rate_source}", rate_source=case.rate_source or tr("not measured yet"))
    share = (
        ""
        if case.share_of_cublas is None
        else tr(", {share_of_cublas} of cuBLAS", share_of_cublas=percent(case.share_of_cublas))
    )
    peak = tr("{rate} of the peak", rate=percent(case.rate / case.device.peak_gflops))
    return f"{number(case.rate)} GFLOP/s: {peak}{share}; {case.rate_source}"


# Levels of memory


def _levels(case: SpeedCase, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the roofline, and below it each level with its number."""
    size, indent = theme.type.note, 40
    levels = [[*group] for _, group in groupby(range(len(case.traffic)), lambda place: case.traffic[place].size_bytes)]
    texts = [_level_text(case, [case.traffic[place] for place in each]) for each in levels]
    texts += [case.no_dram] if case.no_dram else []
    inks = [theme.text] * len(levels) + [theme.faint]
    lines = [
        wrapped(f"level-text-{place}", text, Style(size, ink), room.width - indent, _MOST_LEVEL)
        for place, (text, ink) in enumerate(zip(texts, inks, strict=False))
    ]
    heights = [LINE_PITCH * size * len(each) + 8 for each in lines]
    axis = _BELOW_CHART * size
    chart, _, *parts = room.rows(max(_LEAST_CHART, room.height - axis - size / 2 - sum(heights)), axis, *heights)
    primitives = roofline(case, chart.trimmed(left=text_width("100\u2009000", size) + _PAD), theme)
    for place, (own, part) in enumerate(zip(lines, parts, strict=True)):
        if part.y + size <= room.bottom:
            mark = square((part.x + 4 + size / 2, part.y + LINE_PITCH * size / 2), size)
            for number_ in levels[place][:1] if place < len(levels) else ():
                primitives.append(Rects(f"level-chip-{place}", boxes(mark), level_ink(theme, number_), radius=size / 2))
            primitives += lines_down(part.trimmed(left=indent)._replace(height=room.bottom - part.y), own)
    return primitives


def _level_text(case: SpeedCase, levels: list[Traffic]) -> str:
    """Return bytes, intensity and roof of levels of memory with the same traffic in words; bytes only if the problem has no
    flops to count.
    """
    traffic = levels[-1]
    name = f"{_bytes_text(traffic.size_bytes)} {listed(tr(each.level) for each in levels)}"
    if case.problem.flops is None:
        return name
    per_byte = intensity(case.problem.flops, traffic.size_bytes)
    roof = case.device.roof(per_byte)
    tail = tr("; it is faster, so a cache serves it") if case.rate is not None and case.rate > roof else ""
    tail += tr(_NO_CACHE) if traffic.level == MOVED and not case.device.last_level_cache else ""
    tail += "" if LEAST_INTENSITY <= per_byte <= MOST_INTENSITY else tr("; outside the chart")
    return tr(
        "{name}: {per_byte} flop per byte; DRAM's roof {roof} GFLOP/s{tail}",
        name=name,
        per_byte=number(per_byte),
        roof=number(roof),
        tail=tail,
    )


def _bytes_text(size: int) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return tr("{size} bytes", size=size)


# Causes


class _Layout(Struct, frozen=True):
    """How much of each cause is drawn: lines of its sentence, and whether its proof is."""

    lines: int
    with_proof: bool


_LAYOUTS = (_Layout(2, True), _Layout(2, False), _Layout(1, False))


def _causes(case: SpeedCase, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the causes, the note on the model, and the effects of a cure, as much of each as there is room for."""
    theme = options.theme
    if not case.causes:
        waiting = (
            tr("The launch was not counted: {no_counts}", no_counts=case.no_counts)
            if case.no_counts
            else tr("The launch is being counted")
        )
        return [*lines_down(room, wrapped("reason", waiting, theme.soft.sized(theme.type.caption), room.width, 2))]
    note = wrapped("model", _model_note(case), theme.aside, room.width, _MOST_NOTE)
    free = room.trimmed(bottom=_effects_height(case, theme) + LINE_PITCH * theme.type.least * len(note) + 8)
    tried = ([sum(_cause_heights(cause, layout, room, options)) for cause in case.causes] for layout in _LAYOUTS)
    layouts = list(zip(_LAYOUTS, tried, strict=True))
    layout, heights = next((each for each in layouts if sum(each[1]) <= free.height), layouts[-1])
    spare = min(_MOST_SPARE, max(0, free.height - sum(heights)) / len(heights))
    parts = free.rows(*(high + spare for high in heights))
    fitting = [part for place, part in enumerate(parts) if not place or part.bottom <= free.bottom + spare / 2]
    primitives = [each for place, part in enumerate(fitting) for each in _cause(case, place, part, layout, options)]
    words, below = room.trimmed(top=fitting[-1].bottom - room.y).strip("top", LINE_PITCH * theme.type.least * len(note))
    return [*primitives, *lines_down(words, note), *_effects_of_cure(case, below, theme)]


def _model_note(case: SpeedCase) -> str:
    """Return what the bars are, and how the model's time compares with that of the real kernel."""
    if case.model_ms is None:
        return tr(_COUNTED)
    if case.time_ms is None:
        return tr(_UNTIMED)
    apart = sum(each.cost_ms or 0 for each in case.causes) <= case.model_ms
    overlap = "" if apart else tr(". Savings overlap")
    real = tr(", real kernel {time_ms}", time_ms=_time_text(case.time_ms))
    return tr(
        "{model}. All of it: {model_ms}{real}{overlap}",
        model=tr(_MODEL),
        overlap=overlap,
        model_ms=_time_text(case.model_ms),
        real=real,
    )


def _cause_heights(cause: Cause, layout: _Layout, room: Box, options: ViewOptions) -> list[float]:
    """Return the heights of a cause's sentence, its bar, its proof, its buttons and what is free below them."""
    theme = options.theme
    sentence = LINE_PITCH * theme.type.words * len(_sentence_of(cause, layout, room, theme))
    proof = LINE_PITCH * theme.type.note if layout.with_proof else 0
    return [sentence, _BAR + 14, proof, _BUTTON + 6 if options.buttons and (cause.cure or cause.view) else 0, 18]


def _sentence_of(cause: Cause, layout: _Layout, room: Box, theme: Theme, key: str = "") -> list[Line]:
    return wrapped(key, cause.sentence, theme.strong.sized(theme.type.words), room.width, layout.lines)


def _cause(case: SpeedCase, place: int, room: Box, layout: _Layout, options: ViewOptions) -> list[Primitive]:
    """Draw one cause: its sentence, its bar, its proof and its buttons."""
    theme = options.theme
    cause, style = case.causes[place], theme.strong.sized(theme.type.note)
    sentence, middle, proof, buttons, _ = room.rows(*_cause_heights(cause, layout, room, options))
    share, text = _cost(case, cause)
    bar, cost = middle.inset(0, 7).columns(REST, max(style.width(_cost(case, each)[1]) for each in case.causes), gap=_PAD)
    primitives: list[Primitive] = [*lines_down(sentence, _sentence_of(cause, layout, room, theme, f"reason-{place}"))]
    if share is not None:
        ink = theme.warning if cause.is_waste else theme.faint
        whole = Rects(f"meter-{place}-whole", boxes(bar), theme.line, radius=4)
        own = boxes(bar.part((0, share)))
        primitives += [whole, Rects(f"meter-{place}", own, ink, radius=4, meaning=Part("bar", place))]
    primitives.append(write(f"cost-{place}", cost, text, style, "end"))
    if layout.with_proof:
        primitives.append(write(f"proof-{place}", proof, cause.proof, style._replace(colour=theme.faint, face="regular")))
    return primitives + (_buttons(cause, place, buttons._replace(height=_BUTTON), theme) if options.buttons else [])


def _cost(case: SpeedCase, cause: Cause) -> tuple[float | None, str]:
    """Return the length of a cause's bar, 0 to 1, and its text; no length without a cost."""
    if case.model_ms is not None and cause.cost_ms is None:
        return None, tr("not in the model: no latency")
    if case.model_ms is not None and case.time_ms is None and cause.spared > 0:
        spared, passes = (counted(_in_millions(round(each))) for each in (cause.spared, case.passes))
        return cause.spared / case.passes, tr("{spared} fewer of {passes}", spared=spared, passes=passes)
    if case.model_ms is None or case.time_ms is None or cause.cost_ms is None:
        share = 1 - 1 / cause.excess
        times = tr("{excess} times", excess=counted(number(cause.excess))) if cause.excess > 1 else tr("no excess")
        return share, tr("{share} % lost", share=counted(f"{100 * share:.0f}")) if cause.is_waste else times
    return cause.cost_ms / case.model_ms, tr(
        "saves {cost_ms} of {model_ms}", cost_ms=_time_text(cause.cost_ms), model_ms=_time_text(case.model_ms)
    )


def _time_text(time_ms: float) -> str:
    """Return a time with its unit."""
    for scale, unit in ((1e3, "s"), (1, "ms"), (1e-3, "µs"), (1e-6, "ns")):
        if time_ms >= scale:
            return f"{number(time_ms / scale)} {unit}"
    return tr("0 ns")


def _buttons(cause: Cause, place: int, room: Box, theme: Theme) -> list[Primitive]:
    """Draw a button that runs the cure, and one that shows the cause."""
    look = "" if not cause.view else tr("look at line {line}", line=cause.site.place.line) if cause.site else tr("look at it")
    named: list[tuple[Literal["look", "cure"], str]] = [("look", look), ("cure", cause.cure.text if cause.cure else "")]
    primitives, style = list[Primitive](), theme.strong.sized(theme.type.note)
    for action, text in named:
        shown = fitted(without_clauses(text, style.size, room.width - 2 * _PAD), style.size, room.width - 2 * _PAD, style.face)
        if not text or len(shown) < 3:
            continue
        box, room = room.strip("left", style.width(shown) + 2 * _PAD, 10)
        tip = tr(_TIPS[action]) if shown == text else f"{text}. {tr(_TIPS[action])}"
        primitives += button(f"{action}-{place}", box, shown, Button(action, place), tip, style, theme)
    return primitives


_TIPS = {
    "cure": marked("Run this kernel, and compare it with the present one"), "look": marked("Show where the cause is seen"),
}  # fmt: skip


# Effects of a cure


def _effects_height(case: SpeedCase, theme: Theme) -> float:
    return 0 if len(case.effects) < 2 else 1.5 * theme.type.note * (len(case.effects) + 2) + 20


def _effects_of_cure(case: SpeedCase, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the results before and after."""
    if len(case.effects) < 2:
        return []
    style = theme.plain.sized(theme.type.note)
    lines = room.trimmed(top=_PAD / 2).rows(*[1.5 * style.size] * (len(case.effects) + 2))
    head, *rows, foot = (line.columns(*map(Share, (22, 8, 11, 9))) for line in lines)
    names = (tr("C is"), "sectors", "wavefronts", "time")
    primitives: list[Primitive] = [write_all("effects-names", head, names, style.inked(theme.faint), "end")]
    for number_, (effect, row) in enumerate(zip(case.effects, rows, strict=True)):
        cells = (
            {True: "right", False: "wrong", None: "…"}[effect.is_right],
            "…" if effect.sectors is None else _in_millions(effect.sectors),
            "…" if effect.wavefronts is None else _in_millions(effect.wavefronts),
            "unknown" if effect.time_ms is None else _time_text(effect.time_ms),
        )
        label = row[0].trimmed(right=style.width("wrong") + NEAR)
        primitives += [
            write(f"effect-{number_}", label, effect.label, style),
            write_all(f"effect-{number_}-results", row, cells, style, "end"),
        ]
    sources = " · ".join(dict.fromkeys(effect.time_source for effect in case.effects if effect.time_source))
    if sources:
        line = foot[0]._replace(width=room.width)
        primitives.append(write("effects-source", line, sources, style.inked(theme.faint)))
    return primitives


def _in_millions(count: int) -> str:
    return spaced(count) if count < 1_000_000 else f"{count / 1e6:,.4g} M"


VIEWS = {
    "bytes": View(
        marked("Bytes requested, moved and from DRAM"), SpeedCase, bytes_scene, bytes_motion, is_count=True, order=504
    ),
    "why": View(marked("Why this speed"), SpeedCase, why_scene, draw_motion=why_motion, is_count=True, back="stage", order=501),
}
