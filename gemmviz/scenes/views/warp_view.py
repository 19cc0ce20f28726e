"""One warp lane by lane: threadIdx, element and byte address of the access, value, and whether the lane is active."""

import numpy as np

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.scenes.kit.beat import element_text
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.layout import text_at
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene
from gemmviz.scenes.kit.text import fitted
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.tile_cells import tile_matrix

_COLUMNS = 4
_GAP = 8.0


def warp_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the watched warp, or the block's first one with an active lane."""
    request, chosen = moment.request, moment.focus.warp
    warp = chosen if chosen is not None else request.warp if request else None
    if warp is None:
        return framed([message(tr("No thread of this block is active in this step."), options)], moment, options)
    return framed(_lanes(moment, warp, options), moment, options)


def _lanes(moment: Moment, warp: int, options: ViewOptions) -> list[Primitive]:
    trace, theme = moment.trace, options.theme
    size = trace.rules.warp_size
    columns = _COLUMNS if options.words else 2 * _COLUMNS
    rows = -(-size // columns)
    top, heading = options.top + 44, tr("warp {warp}: {heading}", warp=warp, heading=_heading(moment, options))
    width = (options.width - 2 * MARGIN + _GAP) / columns
    height = min(96.0, (options.bottom - top) / rows)
    lane = np.arange(size)
    x, y = MARGIN + lane % columns * width, top + lane // columns * height
    box = np.stack([x, y, np.full(size, width - _GAP), np.full(size, height - _GAP)], axis=1)
    texts = [_lane(moment, warp, number, options) for number in range(size)]
    active = np.array([touched is not None for _, touched in texts])
    font = min(theme.type.note, (height - _GAP) * 0.36)
    accent = theme.accent(_matrix(moment))
    room = width - _GAP - 34
    first = [fitted(title, font, room, "semibold") for title, _ in texts]
    second = [fitted(touched or tr("inactive"), font, room) for _, touched in texts]
    upper, lower = (
        np.stack([x + 22, y + (height - _GAP) * 0.42], axis=1),
        np.stack([x + 22, y + (height - _GAP) * 0.84], axis=1),
    )
    bars = np.stack([x, y, np.full(size, 8.0), np.full(size, height - _GAP)], axis=1)
    on, off = np.flatnonzero(active), np.flatnonzero(~active)
    return [
        text_at("warp-heading", (MARGIN, top - 16), heading, theme.type.words, theme.text, "start", "semibold"),
        Rects("lanes-active", box[on], theme.panel, radius=5.0),
        Rects("lane-bars", bars[on], accent),
        Rects("lanes-inactive", box[off], theme.empty, radius=5.0),
        Labels("lane-titles", upper[on], tuple(first[i] for i in on), font, theme.text, "start", "semibold"),
        Labels("lane-touches", lower[on], tuple(second[i] for i in on), font, theme.text),
        Labels("idle-titles", upper[off], tuple(first[i] for i in off), font, theme.faint, "start", "semibold"),
        Labels("idle-touches", lower[off], tuple(second[i] for i in off), font, theme.faint),
    ]


def _matrix(moment: Moment) -> str:
    return "" if moment.main is None else tile_matrix(moment) or moment.main.array.name


def _heading(moment: Moment, options: ViewOptions) -> str:
    address = tr(", byte address") if options.words else ""
    return tr("each lane's thread, element{address}", address=address) + (
        tr(" and value") if moment.replay.value is not None else ""
    )


def _lane(moment: Moment, warp: int, lane: int, options: ViewOptions) -> tuple[str, str | None]:
    """Return two lines of text for a lane; the second is None if the lane is inactive."""
    trace, value = moment.trace, moment.replay.value
    thread = warp * trace.rules.warp_size + lane
    if thread >= trace.space.threads_per_block:
        return tr("lane {lane}, no thread", lane=lane), None
    title, column = (
        tr("lane {lane}, thread {thread}", lane=lane, thread=thread_text(thread, trace.launch)),
        moment.scope.of_block.start + thread,
    )
    if (trace.element[trace.row[moment.step] : trace.row[moment.step + 1], column] < 0).all():
        return title, None
    if not moment.touched:
        return title, "waits" if moment.site.is_barrier else moment.site.kind
    parts = []
    for touched in moment.touched:
        element = int(trace.element[touched.row, column])
        if element < 0:
            continue
        element += int(touched.operand.layout.offset(0, trace.lane[column]))
        what = "" if value is None else f"  {touched.array.element.text(float(value[touched.row, column]), 3)}"
        address = tr("  byte {element}", element=grouped(element * touched.array.itemsize)) if options.words else ""
        parts.append(f"{element_text(touched.array, element, options.labels)}{address}{what}")
    return title, ", ".join(parts)


VIEW = View(marked("Warp: all lanes"), Moment, warp_scene, is_count=True, order=4)
