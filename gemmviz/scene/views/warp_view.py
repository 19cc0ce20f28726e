"""One warp, lane by lane: its threadIdx, the element and the byte that it touches, the value, and whether it takes part."""

import numpy as np

from gemmviz.analysis.focus import thread_text
from gemmviz.analysis.replay import Replay
from gemmviz.model.words import spaced
from gemmviz.scene.frame import MARGIN, WIDTH, ViewOptions, framed, message
from gemmviz.scene.primitives import Labels, Primitive, Rects, Scene, points
from gemmviz.scene.sentence import element_text
from gemmviz.scene.text import fitted
from gemmviz.scene.tile_cells import tile_matrix

_COLUMNS = 4
_GAP = 8.0


def warp_scene(replay: Replay, step: int, options: ViewOptions | None = None) -> Scene:
    """The chosen warp at ``step``, or the block's first with an active lane."""
    options = options or ViewOptions()
    request = replay.request(step)
    warp = replay.warp if replay.warp is not None else request[0] if request else None
    if warp is None:
        return framed([message("No thread of this block takes part in this step.", options)], replay, step, options)
    return framed(_lanes(replay, step, warp, options), replay, step, options)


def _lanes(replay: Replay, step: int, warp: int, options: ViewOptions) -> list[Primitive]:
    trace, theme = replay.trace, options.theme
    size = trace.warp_size
    columns = _COLUMNS if options.words else 2 * _COLUMNS
    rows = -(-size // columns)
    top, heading = options.top + 44, f"warp {warp}: {_told(replay, options)}"
    width = (WIDTH - 2 * MARGIN + _GAP) / columns
    height = min(96.0, (options.bottom - top) / rows)
    lane = np.arange(size)
    x, y = MARGIN + lane % columns * width, top + lane // columns * height
    box = np.stack([x, y, np.full(size, width - _GAP), np.full(size, height - _GAP)], axis=1)
    texts = [_lane(replay, step, warp, number, options.words) for number in range(size)]
    active = np.array([touched is not None for _, touched in texts])
    font = min(22.0, (height - _GAP) * 0.36)
    accent = theme.accent(_matrix(replay, step))
    room = width - _GAP - 34
    first = [fitted(title, font, room, "semibold") for title, _ in texts]
    second = [fitted(touched or "inactive", font, room) for _, touched in texts]
    upper, lower = (
        np.stack([x + 22, y + (height - _GAP) * 0.42], axis=1),
        np.stack([x + 22, y + (height - _GAP) * 0.84], axis=1),
    )
    bars = np.stack([x, y, np.full(size, 8.0), np.full(size, height - _GAP)], axis=1)
    on, off = np.flatnonzero(active), np.flatnonzero(~active)
    return [
        Labels("warp-heading", points((MARGIN, top - 16)), (heading,), 24.0, theme.text, "start", "semibold"),
        Rects("lanes-active", box[on], theme.panel, radius=5.0),
        Rects("lane-bars", bars[on], accent),
        Rects("lanes-inactive", box[off], theme.empty, radius=5.0),
        Labels("lane-titles", upper[on], tuple(first[i] for i in on), font, theme.text, "start", "semibold"),
        Labels("lane-touches", lower[on], tuple(second[i] for i in on), font, theme.text),
        Labels("idle-titles", upper[off], tuple(first[i] for i in off), font, theme.faint, "start", "semibold"),
        Labels("idle-touches", lower[off], tuple(second[i] for i in off), font, theme.faint),
    ]


def _matrix(replay: Replay, step: int) -> str:
    array = replay.trace.array_of(step)
    if array is None:
        return ""
    return array.name if array.space == "global" else tile_matrix(replay, step) or array.name


def _told(replay: Replay, options: ViewOptions) -> str:
    address = ", byte address" if options.words else ""
    return f"lane, threadIdx, element{address}" + (", value" if replay.value is not None else "")


def _lane(replay: Replay, step: int, warp: int, lane: int, with_address: bool) -> tuple[str, str | None]:
    """Two lines of text for one lane; None for the second where it does nothing."""
    trace, array = replay.trace, replay.trace.array_of(step)
    thread = warp * trace.warp_size + lane
    if thread >= trace.space.threads:
        return f"{lane}  no thread", None
    title = f"{lane}  {thread_text(thread, trace)}"
    column = replay.block_lanes.start + thread
    element = int(trace.element[step, column])
    if element < 0:
        return title, None
    if array is None:
        return title, "waits"
    value = "" if replay.value is None else f"  {replay.value[step, column]:.3g}"
    address = f"  {spaced(element * array.itemsize)}" if with_address else ""
    return title, f"{element_text(array, element)}{address}{value}"
