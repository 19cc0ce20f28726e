"""The reasons for a kernel's speed: its roofline by level of memory, and its causes as bars of what each costs, with the counts
behind them, a cure to run and a view to look at.
"""

from typing import Literal

import numpy as np
from msgspec import Struct

from gemmviz.analysis.memory.counts import intensity
from gemmviz.model.cases import MOVED, Cause, SpeedCase, Traffic
from gemmviz.model.records import replace
from gemmviz.model.translation import counted, marked, tr
from gemmviz.model.words import number, percent, spaced
from gemmviz.scenes.charts.roofline import LEAST_INTENSITY, MOST_INTENSITY, level_ink, roofline
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, eased
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.meaning import Button, Meaning, Part
from gemmviz.scenes.kit.primitives import Cells, Face, Labels, Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import fitted, text_line, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

_TOP, _LEADING = 112.0, 1.3
_BAR, _BUTTON, _PAD, _MOST_SPARE = 20.0, 38.0, 14.0, 30.0
_DRAWN = 0.5  # share of the motion after which the roof is drawn
_MODEL = marked(
    "Model: an SM passes one line of 128 bytes or one wavefront per cycle; no latency. Each bar: the "
    "model's time minus its time without the cause"
)
_NO_CACHE = marked("; without a cache, DRAM moves it all")
_COUNTED = marked("The model of time doesn't hold for this device: bars show the counted share that is lost")


def why_scene(case: SpeedCase, options: ViewOptions) -> Scene:
    """Draw the roofline on the left, the causes on the right; one above the other in a narrow frame."""
    theme, width, height = options.theme, options.width, options.height
    left, right = _halves(options)
    drawn = [*_levels(case, left, theme), *_causes(case, right, theme)]
    primitives = [each for each in drawn if not _what(each)]
    room = width - 2 * MARGIN
    title = tr("Why this speed: {what}", what=case.what)
    title = case.what if text_width(title, theme.type.title, "semibold") > room else title
    speed = _shortened(_speed(case), theme.type.words, room)
    words = (
        text_line("title", (MARGIN, 50), title, theme.type.title, room, theme.text, "semibold", "title"),
        text_line("note", (MARGIN, 88), speed, theme.type.words, room, theme.faint, meaning="note"),
    )  # fmt: skip
    return Scene(width, height, theme.background, tuple(primitives), words=words)


def why_motion(case: SpeedCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the roof from left to right, then let the marks of further levels slide on it from that of the first; meanwhile the
    bars of the causes grow. Once a run has begun to compute, the picture is whole in each of its steps.
    """
    theme, (left, right) = options.theme, _halves(options)
    moment = 1.0 if case.has_begun else min(1.0, options.moment / ARRIVAL)
    until = left.x + float(eased(min(1.0, moment / _DRAWN))) * left.width + 1
    way = max(0.0, (moment - _DRAWN) / (1.0 - _DRAWN))
    drawn = _slid([*_levels(case, left, theme), *_causes(case, right, theme)], way)
    return tuple(_until(each, until, float(eased(moment))) for each in drawn if _what(each))


def _slid(drawn: list[Primitive], way: float) -> list[Primitive]:
    """Return what is drawn, with the marks of further levels a share of their way along the roof from the first one."""
    roof = next(each for each in drawn if isinstance(each, Lines) and each.meaning == Part("roof")).segments
    marks = [each for each in drawn if isinstance(each, Rects) and _what(each) == "level on the roof"]
    if way >= 1.0 or len(marks) < 2:
        return drawn
    first = float(marks[0].boxes[0, 0] + marks[0].boxes[0, 2] / 2)
    found: dict[Meaning | None, Primitive | None] = {}
    for each in marks[1:]:
        side = float(each.boxes[0, 2])
        x = first + float(eased(way)) * (float(each.boxes[0, 0]) + side / 2 - first)
        y = float(np.interp(x, [roof[0, 0], roof[0, 2], roof[1, 2]], [roof[0, 1], roof[0, 3], roof[1, 3]]))
        found[each.meaning] = replace(each, boxes=boxes((x - side / 2, y - side / 2, side, side)))
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
        return replace(each, boxes=each.boxes * (1.0, 1.0, share, 1.0))
    if isinstance(each, Lines):
        ends = each.segments[each.segments[:, 0] < until]
        cut = np.clip((until - ends[:, 0]) / np.maximum(1e-9, ends[:, 2] - ends[:, 0]), 0.0, 1.0)[:, None]
        return replace(each, segments=np.hstack([ends[:, :2], ends[:, :2] + cut * (ends[:, 2:] - ends[:, :2])]))
    if isinstance(each, Labels):
        return each if float(each.at[0, 0]) < until else replace(each, at=each.at[:0], texts=())
    assert isinstance(each, Rects)
    return replace(each, boxes=each.boxes[each.boxes[:, 0] + each.boxes[:, 2] < until])


def _halves(options: ViewOptions) -> tuple[Box, Box]:
    """Return the rooms of the roofline and of the causes."""
    width, height = options.width, options.height - _TOP - 24.0
    return Box(MARGIN, _TOP, 0.47 * width - MARGIN, height), Box(0.51 * width, _TOP, 0.49 * width - MARGIN, height)


def _shortened(text: str, size: float, room: float) -> str:
    """Return a text without as many of its last clauses as don't fit."""
    while text_width(text, size) > room and (end := max(text.rfind(joint) for joint in (", ", ": ", "; "))) > 0:
        text = text[:end]
    return text


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
    size = theme.type.note
    texts = [_level_text(case, each) for each in case.traffic]
    if case.traffic and case.lacks_dram:
        texts.append(tr("DRAM bytes: not recorded for this launch"))
    lines = [wrap_text(text, size, room.width - 40, 2) for text in texts]
    below = _LEADING * size * sum(map(len, lines)) + 8 * len(lines)
    chart_height = max(160.0, room.height - below - 4.4 * size)
    inset = text_width("100\u2009000", size) + 14
    primitives = roofline(case, Box(room.x + inset, room.y, room.width - inset, chart_height), theme)
    y = room.y + chart_height + 3.9 * size
    for place, wrapped in enumerate(lines):
        if place < len(case.traffic):
            primitives.append(_chip(place, (room.x, y), theme))
        for number_, text in enumerate(wrapped):
            y += _LEADING * size
            if y <= room.bottom:
                at = (room.x + 40, y - 0.3 * size)
                ink = theme.text if place < len(case.traffic) else theme.faint
                primitives.append(text_at(f"level-text-{place}-{number_}", at, text, size, ink))
        y += 8
    return primitives


def _chip(place: int, at: tuple[float, float], theme: Theme) -> Rects:
    side = theme.type.note
    return Rects(f"level-chip-{place}", boxes((at[0] + 4, at[1] + 5, side, side)), level_ink(theme, place), radius=side / 2)


def _level_text(case: SpeedCase, traffic: Traffic) -> str:
    """Return bytes, intensity and roof of a level of memory in words; bytes only if the problem has no flops to count."""
    name = f"{_bytes_text(traffic.size_bytes)} {tr(traffic.level)}"
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


def _causes(case: SpeedCase, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the causes, the note on the model, and the effects of a cure, as much of each as there is room for."""
    if not case.causes:
        waiting = (
            tr("The launch was not counted: {no_counts}", no_counts=case.no_counts)
            if case.no_counts
            else tr("The launch is being counted")
        )
        return _wrapped_lines("reason", waiting, room, theme.type.caption, theme.faint)[0]
    effects = _effects_height(case, theme)
    note = wrap_text(_model_note(case), theme.type.least, room.width, 3)
    free = room.height - effects - _LEADING * theme.type.least * len(note) - 8
    layout = next((each for each in _LAYOUTS if _causes_height(case, each, room, theme) <= free), _LAYOUTS[-1])
    y, primitives = room.y, []
    spare = min(_MOST_SPARE, max(0.0, free - _causes_height(case, layout, room, theme)) / len(case.causes))
    for place, cause in enumerate(case.causes):
        high = _height_of(cause, layout, room, theme) + spare
        if place and y + high > room.y + free:
            break
        primitives += _cause(case, place, Box(room.x, y, room.width, high), layout, theme)
        y += high
    primitives += _wrapped_lines("model", _model_note(case), Box(room.x, y, room.width, 0), theme.type.least, theme.faint, 3)[0]
    y += _LEADING * theme.type.least * len(note)
    return primitives + _effects_of_cure(case, Box(room.x, y, room.width, room.bottom - y), theme)


def _model_note(case: SpeedCase) -> str:
    """Return what the bars are, and how the model's time compares with that of the real kernel."""
    if case.model_ms is None:
        return tr(_COUNTED)
    real = "" if case.time_ms is None else tr(", real kernel {time_ms}", time_ms=_time_text(case.time_ms))
    return tr("{model}. All of it: {model_ms}{real}", model=tr(_MODEL), model_ms=_time_text(case.model_ms), real=real)


def _causes_height(case: SpeedCase, layout: _Layout, room: Box, theme: Theme) -> float:
    return sum(_height_of(cause, layout, room, theme) for cause in case.causes)


def _height_of(cause: Cause, layout: _Layout, room: Box, theme: Theme) -> float:
    sizes = theme.type
    sentence = _LEADING * sizes.words * len(wrap_text(cause.sentence, sizes.words, room.width, layout.lines, "semibold"))
    proof = _LEADING * sizes.note if layout.with_proof else 0.0
    buttons = _BUTTON + 6 if cause.cure or cause.view else 0.0
    return sentence + _BAR + 14 + proof + buttons + 18


def _cause(case: SpeedCase, place: int, room: Box, layout: _Layout, theme: Theme) -> list[Primitive]:
    """Draw one cause: its sentence, its bar, its proof and its buttons."""
    cause, sizes = case.causes[place], theme.type
    primitives, y = _wrapped_lines(f"reason-{place}", cause.sentence, room, sizes.words, theme.text, layout.lines, "semibold")
    share, text = _cost(case, cause)
    y += 6
    width = room.width - max(text_width(_cost(case, each)[1], sizes.note, "semibold") for each in case.causes) - 14
    if share is not None:
        ink = theme.warning if cause.is_waste else theme.faint
        primitives.append(Rects(f"meter-{place}-whole", boxes((room.x, y, width, _BAR)), theme.line, radius=4.0))
        primitives.append(
            Rects(f"meter-{place}", boxes((room.x, y, share * width, _BAR)), ink, radius=4.0, meaning=Part("bar", place))
        )
    at = (room.right, baseline(y + 0.5 * _BAR, sizes.note))
    primitives.append(text_at(f"cost-{place}", at, text, sizes.note, theme.text, "end", "semibold"))
    y += _BAR + 8
    if layout.with_proof:
        line = (room.x, y + 0.85 * sizes.note)
        primitives.append(text_line(f"proof-{place}", line, cause.proof, sizes.note, room.width, theme.faint))
        y += _LEADING * sizes.note
    return primitives + _buttons(cause, place, Box(room.x, y, room.width, _BUTTON), theme)


def _cost(case: SpeedCase, cause: Cause) -> tuple[float | None, str]:
    """Return the length of a cause's bar, 0 to 1, and its text; no length without a cost."""
    if case.model_ms is None:
        share = 1 - 1 / cause.excess
        times = tr("{excess} times", excess=counted(number(cause.excess))) if cause.excess > 1.0 else tr("no excess")
        return share, tr("{share} % lost", share=counted(f"{100 * share:.0f}")) if cause.is_waste else times
    if cause.cost_ms is None:
        return None, tr("not in the model: no latency")
    return cause.cost_ms / case.model_ms, tr(
        "{cost_ms} of {model_ms}", cost_ms=_time_text(cause.cost_ms), model_ms=_time_text(case.model_ms)
    )


def _time_text(time_ms: float) -> str:
    """Return a time with its unit."""
    for scale, unit in ((1e3, "s"), (1.0, "ms"), (1e-3, "µs"), (1e-6, "ns")):
        if time_ms >= scale:
            return f"{number(time_ms / scale)} {unit}"
    return tr("0 ns")


def _buttons(cause: Cause, place: int, room: Box, theme: Theme) -> list[Primitive]:
    """Draw a button that runs the cure, and one that shows the cause."""
    look = "" if not cause.view else tr("look at line {line}", line=cause.site.place.line) if cause.site else tr("look at it")
    named: list[tuple[Literal["look", "cure"], str]] = [("look", look), ("cure", cause.cure.text if cause.cure else "")]
    primitives: list[Primitive] = []
    x, size = room.x, theme.type.note
    for action, text in named:
        shown = fitted(text, size, room.right - x - 2 * _PAD, "semibold")
        if not text or len(shown) < 3:
            continue
        width = text_width(shown, size, "semibold") + 2 * _PAD
        tips = np.array([[tr(_TIPS[action])]])
        ground = np.zeros((1, 1), np.uint8)
        primitives.append(
            Cells(
                f"{action}-{place}", x, room.y, width, ground, (theme.line,), (theme.text,), height=_BUTTON, tips=tips,
                meaning=Button(action, place),
            )
        )  # fmt: skip
        at = (x + _PAD, baseline(room.y + 0.5 * _BUTTON, size))
        primitives.append(text_at(f"{action}-{place}-text", at, shown, size, theme.text, "start", "semibold"))
        x += width + 10
    return primitives


_TIPS = {
    "cure": marked("Run this kernel, and compare it with the present one"), "look": marked("Show where the cause is seen"),
}  # fmt: skip


def _wrapped_lines(
    key: str, text: str, room: Box, size: float, ink: str, most: int = 2, face: Face = "regular"
) -> tuple[list[Primitive], float]:
    """Draw wrapped text from the top of a room, and return it with its lower edge."""
    primitives: list[Primitive] = []
    y = room.y
    for place, line in enumerate(wrap_text(text, size, room.width, most, face)):
        y += _LEADING * size
        primitives.append(text_at(f"{key}-{place}", (room.x, y - 0.3 * size), line, size, ink, "start", face))
    return primitives, y


# Effects of a cure


def _effects_height(case: SpeedCase, theme: Theme) -> float:
    return 0.0 if len(case.effects) < 2 else 1.5 * theme.type.note * (len(case.effects) + 2) + 20


def _effects_of_cure(case: SpeedCase, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the results before and after."""
    size = theme.type.note
    if len(case.effects) < 2:
        return []
    columns = [(tr("C is"), 0.44), ("sectors", 0.6), ("wavefronts", 0.82), ("time", 1.0)]
    y = room.y + 30
    primitives: list[Primitive] = [
        text_at(f"effects-{name}", (room.x + share * room.width, y), name, size, theme.faint, "end") for name, share in columns
    ]
    for number_, effect in enumerate(case.effects):
        y += 1.5 * size
        cells = (
            {True: "right", False: "wrong", None: "…"}[effect.is_right],
            "…" if effect.sectors is None else _in_millions(effect.sectors),
            "…" if effect.wavefronts is None else _in_millions(effect.wavefronts),
            "unknown" if effect.time_ms is None else _time_text(effect.time_ms),
        )
        label = fitted(effect.label, size, 0.44 * room.width - text_width("wrong", size) - 12)
        primitives.append(text_at(f"effect-{number_}", (room.x, y), label, size, theme.text))
        for text, (name, share) in zip(cells, columns, strict=True):
            at = (room.x + share * room.width, y)
            primitives.append(text_at(f"effect-{number_}-{name}", at, text, size, theme.text, "end"))
    sources = " · ".join(dict.fromkeys(effect.time_source for effect in case.effects if effect.time_source))
    if sources:
        y += 1.5 * size
        primitives.append(text_line("effects-source", (room.x, y), sources, size, room.width, theme.faint))
    return primitives


def _in_millions(count: int) -> str:
    return spaced(count) if count < 1_000_000 else f"{count / 1e6:,.4g} M"


VIEW = View(marked("Why this speed"), SpeedCase, why_scene, draw_motion=why_motion, is_count=True, order=22)
