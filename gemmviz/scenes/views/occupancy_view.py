"""Occupancy: blocks that drop into the warp slots of an SM and into its other resources, the limit that stops them, and the
effect of block size, registers and shared memory.
"""

from typing import NamedTuple

from gemmviz.analysis.models.occupancy import SHARED, WARPS, OccupancyLimits, occupancy_limits, what_ifs
from gemmviz.model.device import OccupancyCase
from gemmviz.model.records import replace
from gemmviz.model.translation import counted, grouped, marked, tr
from gemmviz.model.words import listed, many, sized, spaced
from gemmviz.scenes.kit.frame import ViewOptions, titled
from gemmviz.scenes.kit.layout import REST, Box, baseline, square, text_at, text_in
from gemmviz.scenes.kit.primitives import Face, Labels, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.slots import Tray, TurnedAway, block_colour, block_pieces, count_landed, empty_name, empty_tray
from gemmviz.scenes.kit.text import fitted, text_width, wrap_text
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.kit.what_if import what_if_curve

_TOP, _HEAD = 122.0, 38.0
_TRAY, _BARS = 0.44, 0.22  # of the height: the tray with its heading, and the bars below it
_LARGE = 1.4  # of the sentence's size: the number of blocks
_SAID = 0.32  # of the width: the numbers on the right
_COUNT_HEIGHT = 36.0  # of the number of blocks in a dock
_LOW_SIZE = 17.0  # of the text in a dock
_LOW_COLUMNS = ((0.0, 0.34), (0.37, 0.57), (0.585, 0.99))  # of the width of a dock: tray with bars, numbers, curves

_Line = tuple[str, float, bool, float]  # text, size, whether it is strong, and leading


class _Layout(NamedTuple):
    """The regions of a frame. ``size``: the text of the bars."""

    tray: Tray
    bars: Box
    sums: Box
    curves: Box
    size: float

    @property
    def beside(self) -> Box:
        """The room at the right of the tray, below the number of blocks."""
        return self.sums.trimmed(top=max(self.tray.box.y - self.sums.y, _COUNT_HEIGHT))

    @classmethod
    def of(cls, limits: OccupancyLimits, options: ViewOptions) -> "_Layout":
        """Tray and bars above with their numbers beside them, curves below; in a low frame all side by side."""
        slots = _slots(limits)
        if not options.words:
            whole = Box(0.0, 0.0, options.width, options.height)
            left, sums, curves = (whole.part(across=part).trimmed(top=14, bottom=14) for part in _LOW_COLUMNS)
            above, bars = left.trimmed(left=14, right=-14).rows(0.5 * whole.height - 20, REST, gap=10)
            return cls(Tray.within(above, slots), bars.trimmed(bottom=-2), sums, curves, _LOW_SIZE)
        room = options.room(_TOP, 30)
        left = room.trimmed(right=_SAID * room.width + 30)
        tray = Tray.within(left._replace(height=_TRAY * room.height).trimmed(top=_HEAD), slots)
        below = left.trimmed(top=tray.box.bottom - room.y + 14)
        bars = below._replace(height=_BARS * room.height)
        sums = Box(left.right + 50, room.y - 4, _SAID * room.width - 20, bars.bottom - room.y)
        curves = room.trimmed(top=bars.bottom + 26 - room.y)
        return cls(tray, bars, sums, curves, options.theme.type.least)


def occupancy_scene(case: OccupancyCase, options: ViewOptions) -> Scene:
    """Draw the empty tray and bars, and the curves. The blocks and their numbers are drawn by ``occupancy_motion``."""
    limits = occupancy_limits(case.device, case.needs)
    layout = _Layout.of(limits, options)
    pieces = [*empty_tray(layout.tray, options.theme), *_bar_names(limits, layout, options)]
    for number, each in enumerate(what_ifs(case.device, case.needs)):
        room = layout.curves.grid(1, 3)[number].trimmed(right=26)
        pieces += what_if_curve(each, case, room, options, has_scale=number == 2)
    note = tr("one SM of {device}; by the vendor's rules, not measured", device=case.device.name)
    scene = titled(pieces, tr("Occupancy of {what}", what=case.what), note, options)
    return replace(scene, words=(*_heading(limits, layout, options), *scene.words)) if options.words else scene


def occupancy_motion(case: OccupancyCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the blocks at a moment of their fall into the tray and into the bars, and the numbers reached so far."""
    limits, theme = occupancy_limits(case.device, case.needs), options.theme
    layout, blocks, refused = _Layout.of(limits, options), limits.blocks_per_sm, TurnedAway.of(limits)
    moment = options.moment if refused is None else refused.before(options.moment)
    lying = count_landed(moment, blocks)
    is_over = lying == blocks if refused is None else options.moment >= 1.0
    pieces = block_pieces(layout.tray, blocks, limits.warps_per_block, moment, theme)
    if refused is not None:
        pieces += refused.pieces(layout.tray, layout.beside, options.moment, theme)
    if is_over and options.words:
        pieces += empty_name(layout.tray, limits.warps, theme)
    for place, (name, uses) in enumerate(_bars(limits)):
        track = _track(layout, place)
        taken = 0.0 if uses is None else track.width * uses[0] / uses[1]
        gap = min(2.0, 0.2 * taken)
        for number in range(lying if taken > 0 else 0):
            box = track._replace(width=max(0.5, taken - gap)).shifted(number * taken)
            pieces.append(Rects(f"limit-{name}-{number}", boxes(box), block_colour(number, theme)))
        pieces.append(_used(name, uses, lying, limits, layout, place, options))
    lines = _lines(case, limits, lying, layout.sums.width, options)
    return (*pieces, *_sums(lines if is_over else lines[:1], layout.sums, options))


def _slots(limits: OccupancyLimits) -> int:
    uses = limits.uses[WARPS]
    assert uses is not None
    return uses[1]


def _bars(limits: OccupancyLimits) -> list[tuple[str, tuple[int, int] | None]]:
    """Return the resources that are drawn as bars, with what a block takes and an SM holds: all but the warps."""
    return [(name, uses) for name, uses in limits.uses.items() if name != WARPS]


def _track(layout: _Layout, place: int) -> Box:
    """Return the box of a bar; all bars are equally long, an SM's whole resource."""
    row = layout.bars.grid(3, 1)[place].trimmed(_name_width(layout.size), right=_value_width(layout.size))
    return square(row.middle, row.width, min(0.62 * row.height, 40.0))


def _name_width(size: float) -> float:
    return text_width(tr("shared memory"), size, "semibold") + 16


def _value_width(size: float) -> float:
    return text_width("65 536 of 65 536", size, "semibold") + 14


def _ink(name: str, limits: OccupancyLimits, options: ViewOptions) -> tuple[str, Face]:
    """Return the colour and face of a bar's words: a resource that limits is strong."""
    return (options.theme.text, "semibold") if name in limits.limiting else (options.theme.faint, "regular")


def _bar_names(limits: OccupancyLimits, layout: _Layout, options: ViewOptions) -> list[Primitive]:
    """Draw the empty bars and their names."""
    size = layout.size
    pieces: list[Primitive] = []
    for place, (name, _) in enumerate(_bars(limits)):
        track, (ink, face) = _track(layout, place), _ink(name, limits, options)
        words = track.trimmed(left=layout.bars.x - track.x)
        pieces.append(text_in(f"limit-{name}-name", words, tr(name), size, ink, "start", face))
        pieces.append(Rects(f"limit-{name}-track", boxes(track), options.theme.empty))
    return pieces


def _used(
    name: str, uses: tuple[int, int] | None, blocks: int, limits: OccupancyLimits, layout: _Layout, place: int,
    options: ViewOptions,
) -> Labels:  # fmt: skip
    """Draw beside a bar how much of a resource so many blocks take."""
    track, (ink, face) = _track(layout, place), _ink(name, limits, options)
    words = (
        tr("unknown: try values")
        if uses is None
        else tr("{used} of {available}", used=spaced(uses[0] * blocks), available=grouped(uses[1]))
    )
    at = track.right + 12, baseline(track.middle_y, layout.size)
    return text_at(f"limit-{name}-used", at, words, layout.size, ink, "start", face)


def _heading(limits: OccupancyLimits, layout: _Layout, options: ViewOptions) -> list[Primitive]:
    """Draw what the tray is, and what a block takes of it. Blocks that fall come from behind it."""
    theme, box = options.theme, layout.tray.box
    size, room = theme.type.words, layout.bars.width
    piece = many(limits.warps_per_block, "warp")
    texts = (
        tr("{slots} warp slots of an SM; a block takes {piece}", slots=_slots(limits), piece=piece),
        tr("{slots} warp slots; a block: {piece}", slots=_slots(limits), piece=piece),
    )
    text = next((text for text in texts if text_width(text, size, "semibold") <= room), fitted(texts[-1], size, room))
    ground = boxes(box._replace(height=layout.tray.pitch).shifted(y=-layout.tray.pitch))
    name = text_at("slots-name", (box.x, box.y - 12), text, size, theme.text, "start", "semibold")
    return [Rects("slots-ground", ground, theme.background), name]


def why_no_more(limits: OccupancyLimits) -> str:
    """Return why no other block fits: what it would take of the first limit, and what is left of that."""
    name = limits.limiting[0]
    uses = limits.uses[name]
    if not limits.blocks_per_sm or uses is None:
        return tr("not even one block fits")
    taken, held = uses
    left = held - taken * limits.blocks_per_sm
    if left >= taken:  # registers lie in parts, one for each scheduler
        return tr("the {left} {name} left lie in parts that are too small", left=spaced(left), name=tr(name))
    units = tr(name) if name != "shared memory" else tr("bytes of shared memory")
    return (
        tr("the next block needs {taken} {units}, {left} left", taken=spaced(taken), units=units, left=spaced(left))
        if left
        else tr("no {name} left", name=tr(name))
    )


def _sums(lines: list[_Line], room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the resulting numbers, as many as fit, the most important first."""
    y, pieces = room.y, list[Primitive]()
    for number, (text, size, is_strong, leading) in enumerate(lines):
        if y + leading * size > room.bottom + 4:
            break
        y += leading * size
        face: Face = "semibold" if is_strong else "regular"
        ink = options.theme.text if is_strong else options.theme.faint
        at = (room.x, y - 0.3 * size)
        pieces.append(text_at(f"sum-{number}", at, fitted(text, size, room.width, face), size, ink, "start", face))
    return pieces


def _lines(
    case: OccupancyCase, limits: OccupancyLimits, lying: int, room: float, options: ViewOptions
) -> list[_Line]:  # fmt: skip
    """Return the lines of the resulting numbers."""
    sizes, device, needs = options.theme.type, case.device, case.needs
    large, words, least = (_LARGE * sizes.sentence, sizes.words, sizes.least) if options.words else (24.0, 19.0, _LOW_SIZE)
    at_most = "" if limits.is_certain or lying < limits.blocks_per_sm else tr("at most ")
    registers = tr("unknown registers") if needs.registers is None else sized(needs.registers, "register")
    source = tr("trial values") if needs.registers != case.own.registers else case.registers_source
    percent_warps = tr(
        "{warps_percent} % of warps: {warps} of {max_warps_per_sm}",
        warps_percent=counted(f"{limits.warps_percent:.4g}"),
        warps=counted(limits.warps),
        max_warps_per_sm=device.max_warps_per_sm,
    )
    percent_threads = tr(
        "{threads_percent} % of threads: {threads} of {max_threads_per_sm}",
        threads_percent=counted(f"{limits.threads_percent:.4g}"),
        threads=counted(limits.threads),
        max_threads_per_sm=device.max_threads_per_sm,
    )
    lines = [
        (tr("limited by {limiting}", limiting=listed(map(tr, limits.limiting))), words, True, 1.25),
        (why_no_more(limits), words, False, 1.25),
        (percent_warps, words, True, 1.6),
        (percent_threads, words, False, 1.25),
        (
            tr("block: {threads}, {registers} each", threads=sized(needs.threads, "thread"), registers=registers),
            least,
            False,
            1.7,
        ),
        (_shared_text(limits), least, False, 1.3),
        (source, least, False, 1.3),
    ]
    result = tr("{at_most}{blocks} per SM", at_most=at_most, blocks=many(lying, "block"))
    size = next((size for size in (large, sizes.sentence) if text_width(result, size, "semibold") <= room), words)
    return [(result, min(size, large), True, 1.1), *(part for line in lines if line[0] for part in _wrapped(*line, room=room))]


def _shared_text(limits: OccupancyLimits) -> str:
    """Return the shared memory of a block, and what it takes of the SM's if that is more."""
    own, (taken, _) = limits.needs.shared_bytes, limits.uses[SHARED] or (0, 0)
    text = tr("{shared_bytes} bytes of shared memory", shared_bytes=grouped(own))
    return text + (tr(", {taken} with what is reserved", taken=grouped(taken)) if taken > own else "")


def _wrapped(text: str, size: float, is_strong: bool, leading: float, room: float) -> list[_Line]:
    """Return a line as one or two that fit; the second one stands close to the first."""
    parts = wrap_text(text, size, room, 2, "semibold" if is_strong else "regular")
    return [(part, size, is_strong, 1.25 if place else leading) for place, part in enumerate(parts)]


VIEW = View(marked("Occupancy: blocks per SM"), OccupancyCase, occupancy_scene, draw_motion=occupancy_motion, order=20)
