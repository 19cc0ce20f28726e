"""Occupancy: blocks that drop into the warp slots of an SM and into its other resources, the limit that stops them, and the
effect of block size, registers and shared memory.
"""

import dataclasses
from typing import NamedTuple

from gemmviz.analysis.models import SHARED, WARPS, OccupancyLimits, occupancy_limits, what_ifs
from gemmviz.model.device import OccupancyCase
from gemmviz.model.messages import counted, grouped, listed, many, marked, sized, spaced, tr
from gemmviz.scenes.kit.chart import what_if_curve
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, Box, Line, Share, beside, lines_down, square, wrapped, write
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.slots import Tray, TurnedAway, block_colour, block_pieces, count_landed, empty_name, empty_tray
from gemmviz.scenes.kit.theme import Style
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_COUNT_HEIGHT = 36  # of the number of blocks in a dock
_SIZES_OF_DOCK = (24, 19, 17)  # of texts there: the number of blocks, words, and the least


class _Regions(NamedTuple):
    """The regions of a frame. ``style``: that of the bars."""

    tray: Tray
    bars: Box
    sums: Box
    curves: Box
    style: Style

    @classmethod
    def of(cls, limits: OccupancyLimits, options: ViewOptions) -> "_Regions":
        """Tray and bars above with their numbers beside them, curves below; in a low frame all side by side."""
        slots, style = _warp_slots(limits), options.theme.soft.sized(options.theme.type.note)
        if not options.words:
            whole = Box(0, 0, options.width, options.height).inset(14)
            left, sums, curves = whole.columns(Share(35), Share(20), Share(42), gap=24)
            above, bars = left.rows(REST, REST, gap=10)
            return cls(Tray.within(above, slots), bars, sums, curves, style.sized(_SIZES_OF_DOCK[-1]))
        room = options.room(122, 30)
        left, sums = room.columns(Share(2), Share(1), gap=50)
        tray = Tray.within(left.trimmed(top=38, bottom=0.56 * room.height), slots)
        below = room.trimmed(top=tray.box.bottom - room.y + 14)
        bars, curves = below.rows(0.22 * room.height, REST, gap=20)
        sums = sums._replace(height=bars.bottom - room.y)
        return cls(tray, bars._replace(width=left.width), sums, curves, style)

    @property
    def beside(self) -> Box:
        """The room at the right of the tray, below the number of blocks."""
        return self.sums.trimmed(top=max(self.tray.box.y - self.sums.y, _COUNT_HEIGHT))

    def bar(self, place: int) -> tuple[Box, Box, Box]:
        """The boxes of a name, a bar and what is used of it; all bars are equally long, an SM's whole resource."""
        strong = self.style._replace(face="semibold")
        wide = strong.width(tr("shared memory")) + 16, strong.width("655 360 of 655 360")
        name, track, value = self.bars.grid(3, 1)[place].columns(wide[0], REST, wide[1], gap=0)
        return name, square(track.middle, track.width - 10, min(0.62 * track.height, 40)), value


def occupancy_scene(case: OccupancyCase, options: ViewOptions) -> Scene:
    """Draw the empty tray and bars, and the curves. The blocks and their numbers are drawn by ``occupancy_motion``."""
    limits = occupancy_limits(case.device, case.needs)
    parts = _Regions.of(limits, options)
    pieces = [*empty_tray(parts.tray, options.theme), *_empty_bars(limits, parts, options)]
    head, below = parts.curves.strip("top", LINE_PITCH * options.theme.type.words if options.words else 0)
    if options.words:
        said = tr("warps on an SM if one of these changed, {warps} at most", warps=case.device.max_warps_per_sm)
        pieces.append(write("what-ifs", head, said, options.theme.strong))
    for number, each in enumerate(what_ifs(case.device, case.needs)):
        room = below.columns(REST, REST, REST, gap=26)[number]
        pieces += what_if_curve(each, case, room, options, has_scale=number == 2 and not options.words)
    note = tr("one SM of {device}; by the vendor's rules, not measured", device=case.device.name)
    scene = titled(pieces, tr("Occupancy of {what}", what=case.what), note, options)
    return dataclasses.replace(scene, words=(*_tray_heading(limits, parts, options), *scene.words)) if options.words else scene


def occupancy_motion(case: OccupancyCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the blocks at a moment of their fall into the tray and into the bars, and the numbers reached so far."""
    limits, theme = occupancy_limits(case.device, case.needs), options.theme
    parts, blocks, refused = _Regions.of(limits, options), limits.blocks_per_sm, TurnedAway.of(limits)
    moment = options.moment if refused is None else refused.before(options.moment)
    lying = count_landed(moment, blocks)
    is_over = lying == blocks if refused is None else options.moment >= 1
    pieces = block_pieces(parts.tray, blocks, limits.warps_per_block, moment, theme)
    if refused is not None:
        pieces += refused.pieces(parts.tray, parts.beside, options.moment, theme)
    if is_over and options.words:
        pieces += empty_name(parts.tray, limits.warps, theme)
    for place, (name, uses) in enumerate(_bar_resources(limits)):
        _, track, value = parts.bar(place)
        taken = 0 if uses is None else track.width * uses[0] / uses[1]
        for number in range(lying if taken > 0 else 0):
            box = track._replace(width=max(0.5, taken - min(2, taken / 5))).shifted(number * taken)
            pieces.append(Rects(f"limit-{name}-{number}", boxes(box), block_colour(number, theme)))
        words = (
            tr("unknown: try values")
            if uses is None
            else tr("{used} of {available}", used=spaced(uses[0] * lying), available=grouped(uses[1]))
        )
        pieces.append(write(f"limit-{name}-used", value, words, _style_of(name, limits, parts, options)))
    lines = _result_lines(case, limits, lying, parts.sums.width, options)
    return (*pieces, *lines_down(parts.sums, lines if is_over else lines[:1], 1.25))


def _warp_slots(limits: OccupancyLimits) -> int:
    uses = limits.uses[WARPS]
    assert uses is not None
    return uses[1]


def _bar_resources(limits: OccupancyLimits) -> list[tuple[str, tuple[int, int] | None]]:
    """Return the resources that are drawn as bars, with what a block takes and an SM holds: all but the warps."""
    return [(name, uses) for name, uses in limits.uses.items() if name != WARPS]


def _style_of(name: str, limits: OccupancyLimits, parts: _Regions, options: ViewOptions) -> Style:
    """Return the style of a bar's words: a resource that limits is strong."""
    return Style(parts.style.size, options.theme.text, "semibold") if name in limits.limiting else parts.style


def _empty_bars(limits: OccupancyLimits, parts: _Regions, options: ViewOptions) -> list[Primitive]:
    """Draw the empty bars and their names."""
    pieces: list[Primitive] = []
    for place, (name, _) in enumerate(_bar_resources(limits)):
        words, track, _ = parts.bar(place)
        pieces.append(write(f"limit-{name}-name", words, tr(name), _style_of(name, limits, parts, options)))
        pieces.append(Rects(f"limit-{name}-track", boxes(track), options.theme.empty))
    return pieces


def _tray_heading(limits: OccupancyLimits, parts: _Regions, options: ViewOptions) -> list[Primitive]:
    """Draw what the tray is, and what a block takes of it. Blocks that fall come from behind it."""
    style, box = options.theme.strong, parts.tray.box
    piece, slots = many(limits.warps_per_block, "warp"), _warp_slots(limits)
    texts = (
        tr("{slots} warp slots of an SM; a block takes {piece}", slots=slots, piece=piece),
        tr("{slots} warp slots; a block: {piece}", slots=slots, piece=piece),
    )
    text = next((text for text in texts if style.width(text) <= parts.bars.width), texts[-1])
    ground = boxes(box._replace(height=parts.tray.pitch).shifted(y=-parts.tray.pitch))
    name = beside("slots-name", box._replace(width=parts.bars.width), "top", text, style)
    return [Rects("slots-ground", ground, options.theme.background), name]


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


def _result_lines(
    case: OccupancyCase, limits: OccupancyLimits, lying: int, room: float, options: ViewOptions
) -> list[Line]:  # fmt: skip
    """Return the lines of the resulting numbers, the most important first."""
    theme, device, needs = options.theme, case.device, case.needs
    sizes = (1.4 * theme.type.sentence, theme.type.words, theme.type.note) if options.words else _SIZES_OF_DOCK
    large, strong, soft, aside = (style.sized(size) for style, size in zip(
        (theme.large, theme.strong, theme.soft, theme.aside), (sizes[0], sizes[1], sizes[1], sizes[2]), strict=True
    ))  # fmt: skip
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
    block = tr("block: {threads}, {registers} each", threads=sized(needs.threads, "thread"), registers=registers)
    said = (
        (tr("limited by {limiting}", limiting=listed(map(tr, limits.limiting))), strong, 0),
        (why_no_more(limits), soft, 0),
        (percent_warps, strong, 9),
        (percent_threads, soft, 0),
        (block, aside, 9),
        (_shared_text(limits), aside, 0),
        (source, aside, 0),
    )
    result = tr("{at_most}{blocks} per SM", at_most=at_most, blocks=many(lying, "block"))
    fitting = (large.sized(size) for size in (large.size, sizes[1]) if large.sized(size).width(result) <= room)
    lines = [Line("sum-0", result, *next(fitting, strong))]
    for text, style, space in said:
        lines += wrapped(f"sum-{len(lines)}", text, style, room, 2, space) if text else []
    return lines


def _shared_text(limits: OccupancyLimits) -> str:
    """Return the shared memory of a block, and what it takes of the SM's if that is more."""
    own, (taken, _) = limits.needs.shared_bytes, limits.uses[SHARED] or (0, 0)
    text = tr("{shared_bytes} bytes of shared memory", shared_bytes=grouped(own))
    return text + (tr(", {taken} with what is reserved", taken=grouped(taken)) if taken > own else "")


VIEW = View(marked("Occupancy: blocks per SM"), OccupancyCase, occupancy_scene, draw_motion=occupancy_motion, order=401)
