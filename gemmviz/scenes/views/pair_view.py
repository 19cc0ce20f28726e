"""A comparison: both stages at the same moment, and below them the differences in the colours of the timeline, largest
first.
"""

import math
from dataclasses import replace

from gemmviz.analysis.replay.pairing import Difference, Pair, differences
from gemmviz.model.words import number
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.magnify import moved
from gemmviz.scenes.kit.primitives import Face, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.timeline import timeline_palette
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.views.stage_view import VIEW as STAGE

_ROW = 27.0
_LOCKED = {
    "phase": "in the same phase",
    "k": "at the same k",
    "step": "at the same step",
    "bytes": "after the same bytes moved",
}
_COLUMNS = (("left", 0.5), ("right", 0.6), ("left", 0.76), ("right", 0.88), ("on the right", 1.0))
_GROUPS = (("watched, so far", 0.6), ("whole launch", 1.0))


def pair_scene(pair: Pair, options: ViewOptions) -> Scene:
    """Draw the stages side by side, without motion."""
    theme = options.theme
    primitives: list[Primitive] = []
    above: list[Primitive] = []
    words: list[Primitive] = []
    for place, moment in enumerate((pair.left, pair.right)):
        still = STAGE.still(moment, half(pair, options))
        x, prefix = place * options.width / 2, ("left-", "right-")[place]
        primitives += [moved(each, x, 0.0, prefix) for each in still.primitives]
        above += [moved(each, x, 0.0, prefix) for each in still.above]
        words += [moved(each, x, 0.0, prefix) for each in still.words]
    top = _stage_height(pair, options)
    middle = options.width / 2
    primitives.append(Lines("between", boxes((middle, 12.0, middle, top - 12)), theme.line, 2.0))
    room = Box(MARGIN, top, options.width - 2 * MARGIN, options.height - top - 16)
    return Scene(
        options.width, options.height, theme.background, tuple(primitives), tuple(above), (*words, *_table(pair, room, theme))
    )


def pair_motion(pair: Pair, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the motion on the right side, which sets the time."""
    x = options.width / 2
    return tuple(moved(each, x, 0.0, "right-") for each in STAGE.motion(pair.right, half(pair, options)))


def half(pair: Pair, options: ViewOptions) -> ViewOptions:
    """Return the options for one of the stages."""
    return replace(
        options, width=options.width / 2, height=_stage_height(pair, options), timeline=False, clip=None, marked=pair.marked
    )


def _stage_height(pair: Pair, options: ViewOptions) -> float:
    """Return the height that the table leaves; the table is lower without shared memory."""
    arrays = (*pair.left.trace.arrays, *pair.right.trace.arrays)
    rows = 10 if any(array.space == "shared" for array in arrays) else 7
    return max(0.55 * options.height, options.height - rows * _ROW - 24)


def _table(pair: Pair, room: Box, theme: Theme) -> list[Primitive]:
    """Draw as many rows as fit."""
    size = theme.type.note
    y = room.y + size
    heading = f"Locked {_LOCKED[pair.lock]}"
    if not pair.is_same_problem:
        heading = "The problems differ in size"
    ink = theme.text if pair.is_same_problem else theme.warning
    primitives: list[Primitive] = [
        Labels("differences", points((room.x, y)), (heading,), size, ink, "start", "semibold"),
        *(
            Labels(f"group-{place}", points((room.x + share * room.width, y)), (name,), size, theme.text, "end")
            for place, (name, share) in enumerate(_GROUPS)
        ),
    ]
    y += _ROW
    primitives += [
        Labels(f"heading-{place}", points((room.x + share * room.width, y)), (name,), size, theme.faint, "end")
        for place, (name, share) in enumerate(_COLUMNS)
    ]
    shown = int((room.height - 1.5 * size) // _ROW) - 2
    for each in differences(pair)[: max(1, shown)]:
        y += _ROW
        primitives += _row(each, room, y, theme)
    times = [None if time is None else f"{number(time * 1e3)} µs" for time in pair.times_ms]
    if any(times):
        y += _ROW
        sources = " and ".join(dict.fromkeys(source for source in pair.time_sources if source))
        what = _real_kernel(sources, size, 0.62 * room.width)
        primitives.append(Labels("times", points((room.x + 26, y)), (what,), size, theme.text))
        for text, (_, share) in zip([time or "unknown" for time in times], _COLUMNS[2:4], strict=True):
            at = points((room.x + share * room.width, y))
            primitives.append(Labels(f"time-{share}", at, (text,), size, theme.text, "end"))
        left, right = pair.times_ms
        if left and right:
            at = points((room.x + room.width, y))
            primitives.append(
                Labels("time-factor", at, (factor(right / left, "slower", "faster"),), size, theme.text, "end", "semibold")
            )
    return primitives


def _real_kernel(sources: str, size: float, room: float) -> str:
    """Return the source of the times; in a narrow frame only the device."""
    whole = f"real kernel: {sources}" if sources else "real kernel"
    return whole if text_width(whole, size) <= room else fitted(whole.partition(", ")[0], size, room)


def _row(each: Difference, room: Box, y: float, theme: Theme) -> list[Primitive]:
    size, ratio = theme.type.note, each.ratio
    same = ratio == 1.0
    ink = theme.faint if same else theme.text
    colour = theme.line if each.track is None else timeline_palette(theme)[2 + 2 * each.track]
    so_far = ("", "") if each.so_far is None else tuple("–" if value != value else number(value) for value in each.so_far)
    in_all = tuple("" if each.so_far is not None and value is None and ratio is None else _text(value) for value in each.in_all)
    last = "" if ratio is None else factor(ratio, "more", "fewer")
    name = fitted(each.name, size, 0.4 * room.width)
    primitives: list[Primitive] = [
        Rects(f"chip-{each.name}", boxes((room.x, y - 15, 16, 16)), colour, radius=3.0),
        Labels(f"name-{each.name}", points((room.x + 26, y)), (name,), size, ink),
    ]
    for place, (text, (_, share)) in enumerate(zip((*so_far, *in_all, last), _COLUMNS, strict=True)):
        strong = place == len(_COLUMNS) - 1 and not same
        at = points((room.x + share * room.width, y))
        face: Face = "semibold" if strong else "regular"
        primitives.append(Labels(f"{each.name}-{place}", at, (text,), size, theme.text if strong else ink, "end", face))
    return primitives


def factor(ratio: float, more: str, less: str) -> str:
    """Return a ratio in words: "2 × more"."""
    if ratio in (0.0, math.inf):
        return "none" if ratio == 0.0 else "only there"
    if ratio == 1.0:
        return "the same"
    return f"{max(ratio, 1 / ratio):.3g} × {more if ratio > 1 else less}"


def _text(value: float | None) -> str:
    return "…" if value is None else number(value)


VIEW = View("Comparison", Pair, pair_scene, pair_motion, order=23)
