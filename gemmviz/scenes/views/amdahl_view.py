"""Amdahl's law in recorded times: kernels get faster from row to row, the copies around them don't."""

from gemmviz.model.cases import AmdahlCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import number
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, eased_from, titled
from gemmviz.scenes.kit.layout import Box, baseline, text_at, text_in
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import View

_TOP, _FOOT, _NAMES, _GAIN = 170.0, 70.0, 250.0, 150.0
_THICK = 0.62  # of a row
_STAGGER = 0.5  # of the time: how much later the last row starts to shrink
_COPIES = 0.18  # of the text's colour in that of the copies
_INSTANT = marked("kernel: 0 ms")
_MOST_LIMIT_LINES = 3
_LEADING = 1.4  # of a text's size


def amdahl_scene(case: AmdahlCase, options: ViewOptions) -> Scene:
    """Draw the names of the rows, the legend, and the limit at each recorded size."""
    theme, sizes = options.theme, options.theme.type
    primitives: list[Primitive] = []
    for place, name in enumerate((*case.names, tr(_INSTANT))):
        row = _row(case, place, options)
        names = Box(MARGIN, row.y, _NAMES - 20.0, row.height)
        primitives.append(text_in(f"amdahl-name-{place}", names, name, sizes.words, theme.text, "start"))
    for place, (name, colour) in enumerate(((tr("kernel"), theme.load), (tr("copies"), _copies(theme)))):
        x = MARGIN + _NAMES + 170.0 * place
        primitives += [
            Rects(f"amdahl-legend-{place}", boxes(Box(x, _TOP - 46.0, 26.0, 26.0)), colour, radius=3.0),
            text_at(f"amdahl-legend-text-{place}", (x + 38.0, _TOP - 25.0), name, sizes.words, theme.faint),
        ]
    head = (options.width - MARGIN, _TOP - 25.0)
    primitives.append(text_at("amdahl-gain", head, tr("as fast"), sizes.words, theme.faint, "end"))
    lines = _limits(case, options)
    bottom, leading = options.height - 26.0, _LEADING * sizes.words
    at = points(*((MARGIN, bottom - leading * (len(lines) - 1 - place)) for place in range(len(lines))))
    primitives.append(Labels("amdahl-limits", at, lines, sizes.words, theme.text))
    return titled(primitives, tr("Kernels and their copies, N = {n}", n=case.n), case.source, options)


def amdahl_motion(case: AmdahlCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars: each kernel begins with the time of the slowest and shrinks to its own."""
    theme, rows = options.theme, len(case.names) + 1
    drawn: list[Primitive] = []
    for place in range(rows):
        start = _STAGGER * place / max(1, rows - 1)
        share = eased_from(options.moment, start, 1.0 - _STAGGER)
        own = case.kernel_ms[place] if place < len(case.names) else 0.0
        kernel = case.kernel_ms[0] + (own - case.kernel_ms[0]) * share
        drawn += _bar(case, place, kernel, options)
        if share >= 1.0 or place == 0:
            drawn.append(_times(case, place, own, options))
            gain = case.gain(place) if place < len(case.names) else case.limit
            beside = _row(case, place, options).trimmed(right=-_GAIN)
            text = f"× {number(gain)}"
            drawn.append(text_in(f"amdahl-gain-{place}", beside, text, theme.type.name, theme.text, "end", "semibold"))
    return tuple(drawn)


def _limits(case: AmdahlCase, options: ViewOptions) -> tuple[str, ...]:
    """Return the lines below the bars: how many times as fast the program gets at most, by size."""
    each = (f"{n}:\u202f×\u202f{number(limit)}" for n, limit in case.limits)  # narrow spaces keep the parts together
    room = options.width - 2 * MARGIN
    return wrap_text(" ".join((tr("At most, by N:  ").rstrip(), *each)), options.theme.type.words, room, _MOST_LIMIT_LINES)


def _row(case: AmdahlCase, place: int, options: ViewOptions) -> Box:
    """Return the room of a bar."""
    foot = _FOOT + _LEADING * options.theme.type.words * (len(_limits(case, options)) - 1)
    row = options.room(_TOP, foot).trimmed(_NAMES, right=_GAIN).grid(len(case.names) + 1, 1)[place]
    return row.part(down=(0.5 - _THICK / 2, 0.5 + _THICK / 2))


def _bar(case: AmdahlCase, place: int, kernel_ms: float, options: ViewOptions) -> list[Primitive]:
    """Draw the time of a kernel, then that of the copies."""
    theme, unit = options.theme, _unit(case, options)
    kernel, copies = _row(case, place, options).columns(kernel_ms * unit, case.copies_ms * unit)
    return [
        Rects(f"amdahl-kernel-{place}", boxes(kernel), theme.load),
        Rects(f"amdahl-copies-{place}", boxes(copies), _copies(theme)),
    ]


def _unit(case: AmdahlCase, options: ViewOptions) -> float:
    """Return the width of a millisecond."""
    return _row(case, 0, options).width / (case.kernel_ms[0] + case.copies_ms)


def _times(case: AmdahlCase, place: int, kernel_ms: float, options: ViewOptions) -> Labels:
    """Write the times beside a bar, or on the larger part of one that leaves no space beside it."""
    theme, row = options.theme, _row(case, place, options)
    size = theme.type.note
    text = tr("{kernel_ms} + {copies_ms} ms", kernel_ms=number(kernel_ms), copies_ms=number(case.copies_ms))
    middle, end = (row.x + ms * _unit(case, options) for ms in (kernel_ms, kernel_ms + case.copies_ms))
    x, ink = end, theme.faint
    if end + text_width(text, size) + 20.0 > row.right:
        is_kernel = kernel_ms >= case.copies_ms
        x, ink = (row.x, theme.ink_on(theme.load)) if is_kernel else (middle, theme.ink_on(_copies(theme)))
    at = (x + 14.0, baseline(row.middle_y, size))
    return text_at(f"amdahl-ms-{place}", at, text, size, ink)


def _copies(theme: Theme) -> str:
    """Return the colour of copies."""
    return mixed(theme.slate, theme.text, _COPIES)


VIEW = View(marked("Kernels and copies"), AmdahlCase, amdahl_scene, amdahl_motion, order=18)
