"""A, B and C poured into a box as large as the device's last-level cache, all areas on one scale; what does not fit is red.

The model: a cache holds whatever is used as long as all of it fits.
"""

from typing import NamedTuple

from gemmviz.analysis.models.time import data_bytes, largest_held, matrix_bytes
from gemmviz.model.cases import LaunchCase
from gemmviz.model.problem import Problem
from gemmviz.model.translation import counted, marked, number, tr
from gemmviz.scenes.kit.layout import (
    LINE_PITCH,
    REST,
    ROW_PITCH,
    Box,
    all_beside,
    fits_box,
    lines_down,
    path,
    round_boxes,
    square,
    wrapped,
    write,
)
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.theme import FIRM, SOFT, Theme
from gemmviz.scenes.kit.view import View, ViewOptions, eased_from, titled

_HEADROOM = 1.6  # height of the picture, in heights of the box, unless more has to be shown
_WALL, _JET = 4, 26
_MIB = 2**20


class _Plan(NamedTuple):
    """The box of the cache, units of height of a byte, and the room of the words beside it."""

    box: Box
    unit: float
    said: Box

    @classmethod
    def of(cls, case: LaunchCase, options: ViewOptions) -> "_Plan":
        cache, room = case.device.last_level_cache, options.room(150, 48)
        unit = room.height / max(_HEADROOM * cache, 1.06 * data_bytes(case.problem))
        _, column, _, said = room.columns(150, min(680, 0.44 * options.width), 70, REST)
        return cls(column.strip("bottom", cache * unit)[0], unit, said.trimmed(top=options.theme.large.size))

    def band(self, low: float, high: float) -> Box:
        """The part of the box between two heights in bytes."""
        return Box(self.box.x, self.box.bottom - high * self.unit, self.box.width, (high - low) * self.unit)


def cache_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the empty box of the cache with its size."""
    plan, theme, device = _Plan.of(case, options), options.theme, case.device
    cache, walls = device.last_level_cache, plan.box.trimmed(-_WALL / 2, right=-_WALL / 2, bottom=-_WALL / 2)
    corners = [walls.at(*share) for share in ((0, 0), (0, 1), (1, 1), (1, 0))]
    primitives: list[Primitive] = [path("cache-walls", corners if cache else corners[1:3], theme.faint, _WALL)]
    if cache:
        style = theme.strong.sized(theme.type.least)
        lines = square(plan.box.middle, plan.box.width, 2 * LINE_PITCH * style.size).grid(2, 1)
        names = (tr("cache"), f"{number(cache / _MIB)} MiB")
        ground = Rects("cache", boxes(plan.box), theme.slate)
        primitives = [ground, *primitives, all_beside("cache-size", lines, "left", names, style, 18)]
    note = tr("heights are to scale; the model: a cache holds what is used as long as all of it fits")
    return titled(primitives, tr("A, B and C in the last-level cache of {device}", device=device.name), note, options)


def cache_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Pour the matrices one after the other; when all have been poured, say what fits and what does not."""
    plan, theme = _Plan.of(case, options), options.theme
    total, edge, pieces = data_bytes(case.problem), case.device.last_level_cache, list[Primitive]()
    poured = total * eased_from(options.moment)
    for name, low, high in _spans(case.problem):
        for is_lost, start, stop in ((False, low, min(high, edge)), (True, max(low, edge), high)):
            if start < min(stop, poured):
                pieces += _poured_layer(name, is_lost, plan.band(start, min(stop, poured)), plan.unit, theme)
    if 0 < poured < total:
        name = next(each for each, _, high in _spans(case.problem) if poured < high)
        column = options.room(120)
        jet = square(plan.box.middle, _JET)._replace(y=column.y, height=max(0, plan.band(0, poured).y - column.y))
        pieces.append(round_boxes("jet", jet, theme.accent(name)))
    return (*pieces, *(_verdict(case, plan, theme) if poured >= total else ()))


def _spans(problem: Problem) -> list[tuple[str, int, int]]:
    """Return each matrix with the heights, in bytes, between which it lies."""
    spans, low = [], 0
    for name, size in matrix_bytes(problem).items():
        spans.append((name, low, low + size))
        low += size
    return spans


def _poured_layer(name: str, is_lost: bool, band: Box, unit: float, theme: Theme) -> list[Primitive]:
    """Draw a part of a matrix in its colour, or red and hatched where it does not fit, with its name and size."""
    key, style = f"{name}-{'lost' if is_lost else 'held'}", theme.strong
    text = f"{name}  {number(band.height / unit / _MIB)} MiB"
    fill = theme.faded(theme.warning, SOFT) if is_lost else theme.tint(name, FIRM)
    pieces: list[Primitive] = [Rects(key, boxes(band), fill, theme.warning if is_lost else None, 2)]
    if is_lost:
        pieces.append(hatching(f"{key}-hatching", boxes(band), theme.warning))
    if fits_box(band, [text], style):
        behind = square(band.middle, style.width(text) + 28, ROW_PITCH * style.size)
        pieces += [Rects(f"{key}-ground", boxes(behind), fill)] if is_lost else []
        ink = theme.text if is_lost else theme.ink_on(fill)
        pieces.append(write(f"{key}-name", band, text, style.inked(ink), "middle"))
    return pieces


def _verdict(case: LaunchCase, plan: _Plan, theme: Theme) -> list[Primitive]:
    """Draw the sizes of all matrices and of what does not fit, and up to which size they do."""
    total, cache = data_bytes(case.problem), case.device.last_level_cache
    said = [(tr("A, B and C: {total} MiB", total=number(total / _MIB)), theme.large)]
    if total > cache:
        lost = counted(number((total - cache) / _MIB))
        said.append((tr("{lost} MiB do not fit", lost=lost), theme.large.inked(theme.warning)))
    said.append((_up_to(case), theme.plain))
    parts = (wrapped(f"said-{n}", *each, plan.said.width, 3, 20) for n, each in enumerate(said))
    return [*lines_down(plan.said, (line for part in parts for line in part))]


def _up_to(case: LaunchCase) -> str:
    """Return up to which size three square matrices fit the cache."""
    largest = largest_held(case.device.last_level_cache)
    if not largest:
        return tr("{device} has no cache for global memory: each read goes to DRAM", device=case.device.name)
    return tr("N × N matrices, 12 N² bytes, fit up to N = {largest}", largest=largest)


VIEW = View(marked("What the cache holds"), LaunchCase, cache_scene, draw_motion=cache_motion, multiplies=True, order=307)
