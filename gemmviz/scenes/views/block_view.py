"""The threads of a block, cut into warps: each thread at its place (x, y, z), and the warps in the order x, y, z, with the
idle lanes of the last one. Threads move from their places into their lanes.
"""

from itertools import groupby

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import Floats, Longs, Strings
from gemmviz.model.cases import LaunchCase
from gemmviz.model.messages import many, marked, sized, tr
from gemmviz.scenes.kit.layout import (
    CELL_FILL,
    LINE_PITCH,
    NAMED,
    ROW_PITCH,
    Box,
    Share,
    cells_in,
    line_at,
    names_of_parts,
    square,
    tag,
    text_at,
)
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, Squares, boxes, text_width
from gemmviz.scenes.kit.slots import has_too_many_threads, refused_block, refused_motion
from gemmviz.scenes.kit.theme import Style, Theme
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, eased_in_turn, message, titled

_MOST_LAYERS, _MOST_ROWS = 4, 32
_TOP, _HEAD, _NAMES = 116, 64, 96  # the heading and the axis above a picture; the names beside it
_LARGEST, _TALLEST = 84, 270
_LAYERS_APART = 1.35  # cells by which a layer is behind the one before
_WARP_HEIGHT = 0.84  # of the pitch of warps: height of one
_TO_AXIS = 9  # from a picture to its numbers


class _BlockPlan(Struct, frozen=True):
    """The places of a block in a frame: ``layers`` (x, y) of each layer's upper left corner, the first in front, with ``cell``
    wide and ``tall`` high cells; ``warp``: the vendor's word; ``warps``: the lanes, ``lane`` wide and ``pitch`` high.
    """

    block: tuple[int, int, int]
    warp_size: int
    warp: str
    layers: tuple[tuple[float, float], ...]
    cell: float
    tall: float
    warps: Box
    lane: float
    pitch: float

    @property
    def threads(self) -> int:
        dx, dy, dz = self.block
        return dx * dy * dz

    @property
    def rows(self) -> int:
        return min(-(-self.threads // self.warp_size), _MOST_ROWS)

    @classmethod
    def of(cls, case: LaunchCase, block: tuple[int, int, int], options: ViewOptions) -> "_BlockPlan":
        """Block at the left, warps at the right; a single row of threads stands above its warps."""
        (dx, dy, dz), warp_size, warp = block, case.device.warp_size, tr(case.device.words["warp"])
        room = options.room(_TOP + _HEAD, 24)
        rows = min(-(-dx * dy * dz // warp_size), _MOST_ROWS)
        names = max(_NAMES, options.theme.small.width(f"{warp} {rows}") + 2 * _TO_AXIS)
        if dy == dz == 1:
            cell = min(room.width / dx, _LARGEST)
            tall = min(max(cell, 40), 0.2 * room.height)
            warps = Box(room.x + names, room.y + tall + _HEAD + 14, room.width - names, room.height - tall - _HEAD - 14)
            layers: tuple[tuple[float, float], ...] = ((room.x, room.y),)
        else:
            shown = min(dz, _MOST_LAYERS)
            behind = _LAYERS_APART * (shown - 1)
            beside = _NAMES * (1.6 if dz > 1 else 0.6)
            cell = tall = min((0.46 * room.width - beside) / (dx + behind), room.height / (dy + behind), _LARGEST)
            front = room.x + beside, room.y + behind * cell
            layers = tuple((front[0] + z * _LAYERS_APART * cell, front[1] - z * _LAYERS_APART * cell) for z in range(shown))
            left = layers[-1][0] + dx * cell + 50 + names
            warps = Box(left, room.y, room.right - left, room.height)
        pitch = min(warps.height / rows, _TALLEST)
        return cls(block, warp_size, warp, layers, cell, tall, warps, warps.width / warp_size, pitch)

    def numbers(self, z: int) -> Longs:
        """Return the numbers of the threads of a layer: (y, x)."""
        dx, dy, _ = self.block
        return np.arange(dx * dy).reshape(dy, dx) + z * dx * dy

    def at_home(self, number: Longs) -> Floats:
        """Return the boxes of threads at their places in the block: x, y, width, height."""
        dx, dy, _ = self.block
        z = np.minimum(number // (dx * dy), len(self.layers) - 1)
        corner = np.array(self.layers)[z]
        x, y = corner[:, 0] + number % dx * self.cell, corner[:, 1] + number // dx % dy * self.tall
        return np.column_stack([x, y, np.full(len(x), self.cell), np.full(len(x), self.tall)])

    def in_lanes(self, number: Longs) -> Floats:
        """Return the boxes of threads in the lanes of their warps: x, y, width, height."""
        x = self.warps.x + number % self.warp_size * self.lane
        y = self.warps.y + number // self.warp_size * self.pitch
        return np.column_stack([x, y, np.full(len(x), self.lane), np.full(len(x), _WARP_HEIGHT * self.pitch)])


def block_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the layers of the block, one behind the other for each z, and a row of lanes for each warp."""
    title = tr("A block of {what}", what=case.what)
    if case.launch is None:
        if not has_too_many_threads(case):
            return titled([message(case.refusal, options)], title, case.device.name, options)
        return titled(refused_block(case, options), title, f"{case.device.name}: {case.refusal}", options)
    dx, dy, dz = case.launch.block
    plan, words = _BlockPlan.of(case, case.launch.block, options), case.device.words
    idle = plan.rows * plan.warp_size - plan.threads
    threads, warps = sized(plan.threads, "thread"), many(-(-plan.threads // plan.warp_size), words["warp"])
    note = f"{dx} × {dy} × {dz} = {threads}: {warps}"
    note += (
        tr(" of {warp_size}, {lanes} idle in the last one", warp_size=plan.warp_size, lanes=many(idle, "lane"))
        if idle > 0
        else tr(" of {warp_size}", warp_size=plan.warp_size)
    )
    primitives = [*_layers(plan, options.theme), *_rows_of_warps(plan, options), *_headings(plan, options)]
    return titled(primitives, title, note, options)


def block_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the threads on their way into their lanes, one after another; those of a refused block into the device's slots."""
    if case.launch is None:
        return refused_motion(case, options) if has_too_many_threads(case) else ()
    if options.arrived:
        return ()
    plan = _BlockPlan.of(case, case.launch.block, options)
    number = np.arange(min(plan.threads, plan.rows * plan.warp_size))
    share = eased_in_turn(options.passed, number, len(number))[:, None]
    now = plan.at_home(number) * (1 - share) + plan.in_lanes(number) * share
    side = now[:, 2:].min(axis=1)
    middle = now[:, :2] + (now[:, 2:] - side[:, None]) / 2
    colours = number // plan.warp_size % len(options.theme.warps)
    palette = options.theme.warps
    flying = np.column_stack([middle, CELL_FILL * side])
    return (Squares("threads", flying, colours.astype(np.uint8), palette, palette),)


def _headings(plan: _BlockPlan, options: ViewOptions) -> list[Primitive]:
    dx, dy, dz = plan.block
    theme, size = options.theme, options.theme.type.words
    left, wide = MARGIN, plan.warps.x - MARGIN - 20
    above = plan.warps.y - _HEAD + 20
    if dy == dz == 1:
        wide = options.width - 2 * MARGIN
    formula = "x" + (f" + {dx} y" if dy > 1 or dz > 1 else "") + (f" + {dx * dy} z" if dz > 1 else "")
    texts = (
        tr("number of a thread: {formula}", formula=formula),
        tr("each {warp}: {warp_size} successive numbers", warp=plan.warp, warp_size=plan.warp_size),
    )
    texts = texts if theme.strong.width(texts[1]) <= plan.warps.width else (texts[0], tr("{count} each", count=plan.warp_size))
    places = ((left, options.room(_TOP).y + 20, wide), (plan.warps.x, above, plan.warps.width))
    return [
        line_at(key, (x, y), text, size, theme.text, room, "start", "semibold")
        for key, text, (x, y, room) in zip(("layers-name", "warps-name"), texts, places, strict=True)
    ]


def _layers(plan: _BlockPlan, theme: Theme) -> list[Primitive]:
    """Draw the layers from behind to the front, each with its z, and x and y of the threads of a single one."""
    primitives: list[Primitive] = []
    size, inks = theme.type.least, tuple(theme.ink_on(each) for each in theme.warps)
    for z in reversed(range(len(plan.layers))):
        (x, y), number = plan.layers[z], plan.numbers(z)
        fill = (number // plan.warp_size % len(theme.warps)).astype(np.uint8)
        fits = text_width(str(plan.threads - 1), size) + 6 <= plan.cell and NAMED * size <= plan.tall
        if len(plan.layers) > 1:
            edge = boxes((x - 3, y - 3, plan.block[0] * plan.cell + 6, plan.block[1] * plan.tall + 6))
            primitives.append(Rects(f"layer-{z}-edge", edge, theme.background))
        primitives.append(
            Cells(
                f"layer-{z}", x, y, plan.cell, fill, theme.warps, inks, number.astype("<U4") if fits else None,
                size if fits else 0, theme.background, height=plan.tall, tips=_layer_tips(number, plan),
            )
        )  # fmt: skip
        if plan.block[2] > 1:
            primitives.append(_layer_name(plan, z, theme))
        elif plan.block[1] > 1:
            primitives += [*_layer_axes(plan, theme), *([] if fits else _region_names(plan, theme))]
    return primitives


def _layer_name(plan: _BlockPlan, z: int, theme: Theme) -> Labels:
    """Draw z of a layer at its upper left corner, with its warps."""
    (x, y), number, size = plan.layers[z], plan.numbers(z), theme.type.least
    first, last = int(number.min()) // plan.warp_size, int(number.max()) // plan.warp_size
    more = tr(" of {depth}", depth=plan.block[2]) if z == len(plan.layers) - 1 and len(plan.layers) < plan.block[2] else ""
    text = (
        tr("z = {z}{more}: {warp} {first}", z=z, more=more, warp=plan.warp, first=first)
        if first == last
        else tr("z = {z}{more}: {first} to {last}", z=z, more=more, first=first, last=last)
    )
    return text_at(f"layer-{z}-name", (x - 12, y + 0.9 * size), text, size, theme.faint, "end")


def _layer_axes(plan: _BlockPlan, theme: Theme) -> list[Primitive]:
    """Draw x above and y beside a single layer, as many as can be read."""
    (dx, dy, _), (x, y), size = plan.block, plan.layers[0], theme.type.least
    layer = Box(x, y, dx * plan.cell, dy * plan.tall)
    return [
        names_of_parts("x-axis", layer, [str(column) for column in range(dx)], size, theme.faint, "top"),
        names_of_parts("y-axis", layer, [str(row) for row in range(dy)], size, theme.faint, "left"),
        text_at("axes-names", (x - _TO_AXIS, y - _TO_AXIS), "y, x", size, theme.text, "end"),
    ]


def _region_names(plan: _BlockPlan, theme: Theme) -> list[Primitive]:
    """Draw the name of each warp over its threads, where these are whole rows."""
    dx, size = plan.block[0], theme.type.least
    rows, (x, y) = plan.warp_size // dx if plan.warp_size % dx == 0 else 0, plan.layers[0]
    high, names = rows * plan.tall, [f"{plan.warp} {number}" for number in range(plan.rows)]
    wide = text_width(names[-1], size, "semibold") + 16
    if not rows or high < LINE_PITCH * size or wide > dx * plan.cell:
        return []
    primitives: list[Primitive] = []
    own = plan.tall if plan.tall >= LINE_PITCH * size else high  # in one row, if it is high enough: no line crosses the name
    for warp, name in enumerate(names):
        colour = theme.warps[warp % len(theme.warps)]
        ground = square((x + dx * plan.cell / 2, y + warp * high + own / 2), wide, min(own - 2, LINE_PITCH * size))
        primitives += tag(f"region-{warp}", ground, name, colour, theme, Style(size, colour, "semibold"))
    return primitives


def _rows_of_warps(plan: _BlockPlan, options: ViewOptions) -> list[Primitive]:
    """Draw the lanes of each warp, empty until the threads have arrived, and numbers of lanes and warps."""
    theme, size = options.theme, options.theme.type.least
    number = np.arange(plan.rows * plan.warp_size).reshape(plan.rows, plan.warp_size)
    empty = len(theme.warps)
    is_used = (number < plan.threads) & options.arrived
    fill = np.where(is_used, number // plan.warp_size % empty, empty).astype(np.uint8)
    palette = (*theme.warps, theme.empty)
    rows = plan.warps._replace(height=plan.rows * plan.pitch).grid(plan.rows, 1)
    drawn: list[Primitive] = []
    for row, box in enumerate(rows):
        lanes, own = box.part(down=(0, _WARP_HEIGHT)), number[row : row + 1]
        tips = _lane_tips(own, plan)
        drawn.append(cells_in(f"warp-{row}", lanes, fill[row : row + 1], palette, theme.background, palette, tips=tips))
        drawn += _lane_runs(row, lanes, plan, theme) if options.arrived else []
    bars = plan.warps._replace(height=(plan.rows - 1 + _WARP_HEIGHT) * plan.pitch)
    names, lane_numbers = [f"{plan.warp} {row}" for row in range(plan.rows)], [str(n) for n in range(plan.warp_size)]
    return [
        *drawn,
        names_of_parts("warp-numbers", bars, names, size, theme.text, "left", meaning=None),
        names_of_parts("lane-numbers", bars, lane_numbers, size, theme.faint, "top"),
        text_at("lanes-name", (bars.x - _TO_AXIS, bars.y - _TO_AXIS), tr("lane"), size, theme.faint, "end"),
    ]


def _lane_runs(row: int, lanes: Box, plan: _BlockPlan, theme: Theme) -> list[Primitive]:
    """Draw, on each run of lanes whose threads are of one row of the block, y and z of that row; and the idle lanes."""
    first, size = row * plan.warp_size, theme.type.least
    runs = [list(run) for _, run in groupby(range(first, first + plan.warp_size), lambda n: _row_of(n, plan))]
    parts, texts = lanes.columns(*(Share(len(run)) for run in runs)), [_run_text(run, plan) for run in runs]
    cuts = boxes(*((box.x, box.y, box.x, box.bottom) for box in parts[1:]))
    drawn: list[Primitive] = [Lines(f"runs-{row}", cuts, theme.background, 4)] if len(cuts) else []
    if lanes.height < NAMED * size or any(text_width(t, size) + 14 > box.width for t, box in zip(texts, parts, strict=True)):
        return drawn
    for place, (text, run, part) in enumerate(zip(texts, runs, parts, strict=True)):
        colour = theme.empty if run[0] >= plan.threads else theme.warps[row % len(theme.warps)]
        box = square(part.middle, text_width(text, size) + 12, ROW_PITCH * size)
        drawn += tag(f"run-{row}-{place}", box, text, colour, theme)
    return drawn


def _row_of(number: int, plan: _BlockPlan) -> int:
    """Return the row of the block that a thread is in, -1 for an idle lane."""
    return number // plan.block[0] if number < plan.threads else -1


def _run_text(run: list[int], plan: _BlockPlan) -> str:
    dx, dy, dz = plan.block
    if run[0] >= plan.threads:
        return tr("{run} idle", run=len(run))
    if dy == dz == 1:
        return tr("threads {first} to {last}", first=run[0], last=run[-1])
    return f"y {run[0] // dx % dy}, z {run[0] // (dx * dy)}" if dz > 1 else f"y = {run[0] // dx}"


def _layer_tips(number: Longs, plan: _BlockPlan) -> Strings:
    """Return the hover text of each thread of a layer by its number."""
    form, size = marked("thread {thread}\nnumber {number}: warp {warp}, lane {lane}"), plan.warp_size

    def tip(n: int) -> str:
        return tr(form, thread=_thread_index(n, plan), number=n, warp=n // size, lane=n % size)

    return np.array([[tip(n) for n in row] for row in number.tolist()])


def _lane_tips(number: Longs, plan: _BlockPlan) -> Strings:
    """Return the hover text of each lane."""

    def tip(n: int) -> str:
        what = tr("thread {place}", place=_thread_index(n, plan)) if n < plan.threads else tr("idle")
        return tr("warp {warp}, lane {lane}\n", warp=n // plan.warp_size, lane=n % plan.warp_size) + what

    return np.array([[tip(n) for n in row] for row in number.tolist()])


def _thread_index(number: int, plan: _BlockPlan) -> str:
    dx, dy, _ = plan.block
    return f"({number % dx}, {number // dx % dy}, {number // (dx * dy)})"


VIEW = View(marked("Block: threads and warps"), LaunchCase, block_scene, draw_motion=block_motion, least=280, order=404)
