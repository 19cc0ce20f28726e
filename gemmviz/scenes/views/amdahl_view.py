"""Amdahl's law in recorded times: kernels get faster from row to row, the copies around them don't."""

from typing import NamedTuple

from gemmviz.model.cases import AmdahlCase
from gemmviz.model.translation import marked, number, tr
from gemmviz.scenes.kit.layout import AIR, LINE_PITCH, NEAR, REST, Box, Line, Share, beside, lines_down, swatch, wrapped, write
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.theme import PALE, Theme, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, titled

_NO_TIME = marked("kernel: 0 ms")
_MOST_LIMIT_LINES = 3


class _TimeRow(NamedTuple):
    """The places of a name, of a bar, and of how many times as fast the program is."""

    name: Box
    bar: Box
    gain: Box


class _Plan(NamedTuple):
    """The row of the headings, those of the kernels and of none, the lines below, and the width of a millisecond."""

    head: _TimeRow
    rows: list[_TimeRow]
    said: Box
    limits: list[Line]
    unit: float

    @classmethod
    def of(cls, case: AmdahlCase, options: ViewOptions) -> "_Plan":
        room, style = options.room(120, 20), options.theme.plain
        each = (f"{n}:\u202f×\u202f{number(limit)}" for n, limit in case.limits)  # narrow spaces keep the parts together
        text = " ".join((tr("At most, by N:  ").rstrip(), *each))
        limits = wrapped("amdahl-limits", text, style, room.width, _MOST_LIMIT_LINES)
        sizes: list[float | Share] = [46, *[REST] * (len(case.names) + 1)]
        table, _, said = room.rows(REST, AIR, LINE_PITCH * style.size * len(limits))
        head, *rows = (_TimeRow(*row.columns(250, REST, 150)) for row in table.rows(*sizes))
        rows = [row._replace(bar=row.bar.bar()) for row in rows]
        return cls(head, rows, said, limits, head.bar.width / (case.kernel_ms[0] + case.copies_ms))


def amdahl_scene(case: AmdahlCase, options: ViewOptions) -> Scene:
    """Draw the names of the rows, the legend, and the limit at each recorded size."""
    theme, plan = options.theme, _Plan.of(case, options)
    kernel, copies, _ = plan.head.bar.columns(170, 170, REST)
    primitives: list[Primitive] = [
        *swatch("amdahl-legend-0", kernel, tr("kernel"), theme.load, theme.soft),
        *swatch("amdahl-legend-1", copies, tr("copies"), _copies_colour(theme), theme.soft),
        write("amdahl-gain", plan.head.gain, tr("as fast"), theme.soft, "end"),
        *lines_down(plan.said, plan.limits),
    ]
    for place, (name, row) in enumerate(zip((*case.names, tr(_NO_TIME)), plan.rows, strict=True)):
        primitives.append(write(f"amdahl-name-{place}", row.name.trimmed(right=AIR), name, theme.plain))
    return titled(primitives, tr("Kernels and their copies, N = {n}", n=case.n), case.source, options)


def amdahl_motion(case: AmdahlCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars, the time of a kernel and then that of the copies: each kernel begins with the time of the slowest and
    shrinks to its own.
    """
    theme, plan, drawn = options.theme, _Plan.of(case, options), list[Primitive]()
    times = (*case.kernel_ms, 0)
    for place, (row, own) in enumerate(zip(plan.rows, times, strict=True)):
        share = eased_in_turn(options.moment, place, len(times))
        shown = times[0] + (own - times[0]) * share
        kernel, copies = row.bar.columns(shown * plan.unit, case.copies_ms * plan.unit)
        drawn.append(Rects(f"amdahl-kernel-{place}", boxes(kernel), theme.load))
        drawn.append(Rects(f"amdahl-copies-{place}", boxes(copies), _copies_colour(theme)))
        if share >= 1 or place == 0:
            gain = case.gain(place) if place < len(case.names) else case.limit
            style = theme.strong.sized(theme.type.name)
            drawn.append(_times_of(case, place, own, (row.bar, kernel, copies), theme))
            drawn.append(write(f"amdahl-gain-{place}", row.gain, f"× {number(gain)}", style, "end"))
    return tuple(drawn)


def _times_of(case: AmdahlCase, place: int, kernel_ms: float, parts: tuple[Box, Box, Box], theme: Theme) -> Labels:
    """Write the times beside a bar, or on the larger part of one that leaves no space beside it."""
    text = tr("{kernel_ms} + {copies_ms} ms", kernel_ms=number(kernel_ms), copies_ms=number(case.copies_ms))
    (whole, kernel, copies), key, style = parts, f"amdahl-ms-{place}", theme.soft.sized(theme.type.note)
    if copies.right + style.width(text) + 2 * NEAR <= whole.right:
        return beside(key, copies, "right", text, style)
    is_kernel = kernel_ms >= case.copies_ms
    part, colour = (kernel, theme.load) if is_kernel else (copies, _copies_colour(theme))
    return write(key, part.inset(NEAR, 0), text, style.inked(theme.ink_on(colour)))


def _copies_colour(theme: Theme) -> str:
    return mixed(theme.slate, theme.text, PALE)


VIEW = View(marked("Kernels and copies"), AmdahlCase, amdahl_scene, amdahl_motion, order=510)
