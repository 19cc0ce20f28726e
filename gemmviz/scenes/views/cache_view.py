"""A, B and C poured into a box as large as the device's last-level cache, all areas on one scale; what does not fit is red.

The model: a cache holds whatever is used as long as all of it fits.
"""

from msgspec import Struct

from gemmviz.analysis.models.time import data_bytes, largest_held, matrix_bytes
from gemmviz.model.cases import LaunchCase
from gemmviz.model.problem import Problem
from gemmviz.model.translation import counted, marked, tr
from gemmviz.model.words import number
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, eased_from, titled
from gemmviz.scenes.kit.layout import Box, path, square, text_in
from gemmviz.scenes.kit.primitives import Face, Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.text import text_line, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import View

_TOP, _FOOT, _LEADING = 150.0, 48.0, 1.35
_AIR = 1.6  # height of the picture, in heights of the box, unless more has to be shown
_WIDE, _WALL, _JET = 680.0, 4.0, 26.0
_MIB = 2**20


class _Layer(Struct, frozen=True):
    """A part of a matrix that lies in the box, or above its edge: its lower and upper height in bytes."""

    name: str
    low: float
    high: float
    is_lost: bool


class _Plan(Struct, frozen=True):
    """The box of the cache, and units of height of a byte."""

    box: Box
    unit: float

    @classmethod
    def of(cls, case: LaunchCase, options: ViewOptions) -> "_Plan":
        cache, room = case.device.last_level_cache, options.height - _TOP - _FOOT
        most = max(_AIR * cache, 1.06 * data_bytes(case.problem))
        unit = room / most
        x, wide = MARGIN + 150.0, min(_WIDE, 0.44 * options.width)
        return cls(Box(x, options.height - _FOOT - cache * unit, wide, cache * unit), unit)

    def band(self, low: float, high: float) -> Box:
        """The part of the box between two heights in bytes."""
        return Box(self.box.x, self.box.bottom - high * self.unit, self.box.width, (high - low) * self.unit)


def cache_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the empty box of the cache with its size."""
    plan, theme, device = _Plan.of(case, options), options.theme, case.device
    size, cache = theme.type.least, device.last_level_cache
    primitives: list[Primitive] = []
    if cache:
        walls = plan.box.trimmed(-_WALL / 2, right=-_WALL / 2, bottom=-_WALL / 2)
        corners = [walls.at(x, y) for x, y in ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0))]
        x, y = plan.box.x - 18, plan.box.middle_y
        at, texts = points((x, y - 4), (x, y + 1.25 * size)), (tr("cache"), f"{number(cache / _MIB)} MiB")
        primitives += [
            Rects("cache", boxes(plan.box), theme.slate),
            path("cache-walls", corners, theme.faint, _WALL),
            Labels("cache-size", at, texts, size, theme.text, "end", "semibold"),
        ]
    else:
        primitives.append(path("cache-walls", [plan.box.at(0.0, 1.0), plan.box.at(1.0, 1.0)], theme.faint, _WALL))
    note = tr("heights are to scale; the model: a cache holds what is used as long as all of it fits")
    return titled(primitives, tr("A, B and C in the last-level cache of {device}", device=device.name), note, options)


def cache_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Pour the matrices one after the other; when all have been poured, say what fits and what does not."""
    plan, theme = _Plan.of(case, options), options.theme
    total = data_bytes(case.problem)
    poured = total * eased_from(options.moment, 0.0, 1.0)
    pieces: list[Primitive] = []
    for layer in _layers(case, poured):
        pieces += _drawn(layer, plan, theme)
    if 0.0 < poured < total:
        name = next(each for each, _, high in _spans(case.problem) if poured < high)
        above = max(0.0, plan.band(0, poured).y - _TOP + 30)
        jet = boxes(Box(plan.box.middle_x - _JET / 2, _TOP - 30, _JET, above))
        pieces.append(Rects("jet", jet, theme.accent(name), radius=_JET / 4))
    return (*pieces, *(_verdict(case, plan, options) if poured >= total else ()))


def _spans(problem: Problem) -> list[tuple[str, int, int]]:
    """Return each matrix with the heights, in bytes, between which it lies."""
    spans, low = [], 0
    for name, size in matrix_bytes(problem).items():
        spans.append((name, low, low + size))
        low += size
    return spans


def _layers(case: LaunchCase, poured: float) -> list[_Layer]:
    """Return the parts of the matrices that have been poured, cut at the edge of the box."""
    edge, found = case.device.last_level_cache, []
    for name, low, high in _spans(case.problem):
        for start, stop, is_lost in ((low, min(high, edge), False), (max(low, edge), high, True)):
            if start < min(stop, poured):
                found.append(_Layer(name, start, min(stop, poured), is_lost))
    return found


def _drawn(layer: _Layer, plan: _Plan, theme: Theme) -> list[Primitive]:
    """Draw a layer in its matrix's colour, or red and hatched where it does not fit, with its name and size."""
    key, band = f"{layer.name}-{'lost' if layer.is_lost else 'held'}", plan.band(layer.low, layer.high)
    size, text = theme.type.heading, f"{layer.name}  {number((layer.high - layer.low) / _MIB)} MiB"
    tint, warned = theme.tint(layer.name, 0.75), mixed(theme.background, theme.warning, 0.35)
    pieces: list[Primitive] = [Rects(key, boxes(band), tint)]
    if layer.is_lost:
        ground = Rects(key, boxes(band), warned, theme.warning, 2.0)
        pieces = [ground, hatching(f"{key}-hatching", boxes(band), theme.warning)]
    if band.height >= 1.3 * size:
        if layer.is_lost:
            behind = square(band.middle, text_width(text, size, "semibold") + 28, 1.5 * size)
            pieces.append(Rects(f"{key}-ground", boxes(behind), warned))
        ink = theme.text if layer.is_lost else theme.ink_on(tint)
        pieces.append(text_in(f"{key}-name", band, text, size, ink, face="semibold"))
    return pieces


def _verdict(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the sizes of all matrices and of what does not fit, and up to which size they do."""
    theme, sizes, cache = options.theme, options.theme.type, case.device.last_level_cache
    x = plan.box.right + 70
    room, total = options.width - MARGIN - x, data_bytes(case.problem)
    lost = max(0, total - cache)
    lines = [(tr("A, B and C: {total} MiB", total=number(total / _MIB)), sizes.sentence, theme.text, True)]
    if lost:
        lines.append((tr("{lost} MiB do not fit", lost=counted(number(lost / _MIB))), sizes.sentence, theme.warning, True))
    lines.append((_up_to(case), sizes.words, theme.text, False))
    y, pieces = _TOP + 2.0 * sizes.sentence, list[Primitive]()
    for place, (text, size, colour, is_strong) in enumerate(lines):
        face: Face = "semibold" if is_strong else "regular"
        for row, line in enumerate(wrap_text(text, size, room, 3, face)):
            pieces.append(text_line(f"said-{place}-{row}", (x, y), line, size, room, colour, face))
            y += _LEADING * size
        y += 0.8 * sizes.words
    return pieces


def _up_to(case: LaunchCase) -> str:
    """Return up to which size three square matrices fit the cache."""
    largest = largest_held(case.device.last_level_cache)
    if not largest:
        return tr("{device} has no cache for global memory: each read goes to DRAM", device=case.device.name)
    return tr("N × N matrices, 12 N² bytes, fit up to N = {largest}", largest=largest)


VIEW = View(marked("What the cache holds"), LaunchCase, cache_scene, draw_motion=cache_motion, multiplies=True, order=44)
