"""The on-chip memory of one multiprocessor, divided among the blocks that it holds: their threads, and their parts of the
registers and of shared memory, to scale; and a copy's way from global memory through registers.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.models.occupancy import REGISTERS, SHARED, OccupancyLimits, occupancy_limits
from gemmviz.analysis.replay.focus import block_label
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recorded_registers
from gemmviz.model.device import REGISTER_BYTES, Device, Needs
from gemmviz.model.sites import shared_bytes
from gemmviz.model.translation import counted, grouped, marked, tr
from gemmviz.model.words import size_text, sized
from gemmviz.scenes.kit.frame import ViewOptions, framed
from gemmviz.scenes.kit.layout import REST, Box, Point, along, arrow, cells_in, text_in
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.slots import block_colour
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.cells import chips, stored_matrix

_MOST_BLOCKS, _LANES = 8, 32  # blocks whose threads are drawn; threads in a row
_ROAD = 96.0  # width of the way to global memory, beside shared memory
_THREADS, _GAP = 0.24, 0.075  # of the height: the threads, and what is above each bar
_ARROW = 44.0  # from the edge of shared memory to the arrow into it


class _Plan(NamedTuple):
    """Boxes of the threads and of the three memories, the nearest first; what an SM holds, and its blocks."""

    threads: Box
    registers: Box
    shared: Box
    outer: Box
    limits: OccupancyLimits
    device: Device

    @classmethod
    def of(cls, moment: Moment, options: ViewOptions) -> "_Plan":
        setup, threads = moment.trace.setup, moment.trace.space.threads_per_block
        device = load_device(setup.device)
        count = recorded_registers(setup, device)
        needs = Needs(threads, None if count is None else count.per_thread, shared_bytes(moment.trace.arrays))
        room = options.room(options.top - 24).trimmed(bottom=8)
        gap = _GAP * room.height
        above, registers, shared, outer = room.rows(_THREADS * room.height, REST, REST, REST, gap=gap)
        return cls(above, registers, shared.trimmed(left=_ROAD), outer, occupancy_limits(device, needs), device)

    @property
    def blocks(self) -> int:
        return self.limits.blocks_per_sm

    def parts(self, name: str, bar: Box) -> list[Box]:
        """The part of a memory that each block has, as wide as its share; none if that is unknown."""
        uses = self.limits.uses[name]
        if uses is None or not uses[0]:
            return []
        return bar.columns(*[bar.width * uses[0] / uses[1]] * self.blocks)

    @property
    def road_x(self) -> float:
        return self.outer.x + _ROAD / 2

    def place(self, space: str) -> Point:
        """Where elements rest in a memory: in the first block's part."""
        bar = {"registers": self.registers, "shared": self.shared, "global": self.outer}[space]
        if space != "shared":
            return self.road_x, bar.middle_y
        parts = self.parts(SHARED, bar)
        return (parts[0].x + min(parts[0].width, 0.2 * bar.width) / 2 if parts else bar.x + 80), bar.middle_y


def sm_memory_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the blocks of one multiprocessor above their parts of its memories, and global memory below."""
    plan = _Plan.of(moment, options)
    primitives = [*_blocks(moment, plan, options)]
    for name, bar in ((REGISTERS, plan.registers), (SHARED, plan.shared)):
        primitives += _memory(name, bar, plan, options)
    primitives += _outer(plan, options)
    return framed([*primitives, *_ways(moment, plan, options)], moment, options)


def sm_memory_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements of this step on their way to or from registers; asynchronous copies pass them by."""
    plan, pieces = _Plan.of(moment, options), list[Primitive]()
    share = options.way
    for place, touched in enumerate(moment.touched):
        start, stop = _ends(moment, touched)
        if not len(touched.cells) or start == stop:
            continue
        x, y = along([plan.place(start), plan.place(stop)], share)
        colour = options.theme.accent(stored_matrix(moment, touched))
        squares = chips(len(touched.cells), x, y, _ROAD - 16, 0.7 * plan.shared.height)
        pieces.append(Rects(f"moving-{place}", squares, colour, radius=2.0, meaning="moving"))
    return tuple(pieces)


def _ends(moment: Moment, touched: TouchedOperand) -> tuple[str, str]:
    """Return the memories between which an access moves elements."""
    if moment.site.is_async:
        return ("global", "shared") if touched.operand.access == "read" else ("shared", "shared")
    space = touched.array.space
    return (space, "registers") if touched.operand.access == "read" else ("registers", space)


def _blocks(moment: Moment, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the threads of each block, a warp in each row, below its name."""
    theme, size, shown = options.theme, options.theme.type.least, min(plan.blocks, _MOST_BLOCKS)
    if not shown:
        text = tr("An SM of {device} holds no block of this size.", device=plan.device.name)
        at = (plan.threads.x, plan.threads.middle_y)
        return [text_line("no-block", at, text, theme.type.words, plan.threads.width, theme.text)]
    threads, primitives = sized(moment.trace.space.threads_per_block, "thread"), list[Primitive]()
    own = block_label(moment.scope.focus.block, moment.trace.launch)
    for number, column in enumerate(plan.threads.grid(1, shown)):
        box, ink = column.trimmed(right=16), theme.faint if number else theme.text
        name = own if number == 0 else tr("another block") if column.width > 220 else tr("another")
        words = f"{name}: {threads}" if column.width > 300 else name
        key, at = f"block-{number}", (box.x, box.y + size)
        primitives.append(text_line(f"{key}-name", at, words, size, box.width, ink, "semibold"))
        primitives.append(_threads(key, moment, box.trimmed(top=1.5 * size), options))
    return primitives


def _threads(key: str, moment: Moment, box: Box, options: ViewOptions) -> Cells:
    """Draw the threads of a block as cells in the colours of their warps."""
    theme, count = options.theme, moment.trace.space.threads_per_block
    lanes = min(_LANES, count)
    rows = -(-count // lanes)
    side = min(box.width / lanes, 30.0)
    high = min(box.height / rows, side)
    number = np.arange(rows * lanes).reshape(rows, lanes)
    warp = number // moment.trace.rules.warp_size % len(theme.warps)
    fill = np.where(number < count, warp, len(theme.warps)).astype(np.uint8)
    table = Box(box.x, box.y, lanes * side, rows * high)
    return cells_in(key, table, fill, (*theme.warps, theme.background), theme.background if high >= 5 else None)


def _memory(name: str, bar: Box, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw an on-chip memory with the part of each block, below what it is."""
    theme, parts, size = options.theme, plan.parts(name, bar), options.theme.type.least
    place, left = (0, 0.0) if name == REGISTERS else (1, _ARROW + 24)
    at, title = (bar.x + left, bar.y - 9), _bar_title(name, plan)
    primitives: list[Primitive] = [
        Rects(f"{name}-bar", boxes(bar), theme.slate, theme.level(place), 3.0, 8.0),
        text_line(f"{name}-name", at, title, size, bar.width - left, theme.text, "semibold"),
    ]
    for number, part in enumerate(parts):
        colour, inner = mixed(theme.slate, block_colour(number, theme), 0.75), part.inset(3, 4)
        inner = inner._replace(width=max(2.0, inner.width))
        primitives.append(Rects(f"{name}-part-{number}", boxes(inner), colour, radius=5.0))
    text = _free(name, parts, plan)
    rest = bar.trimmed(left=(parts[-1].right - bar.x if parts else _ROAD) + 16, right=12)
    if rest.width >= text_width(text, size):
        primitives.append(text_in(f"{name}-free", rest, text, size, theme.faint, "start"))
    return primitives


def _bar_title(name: str, plan: _Plan) -> str:
    """Return what a memory is, its size, and what a block has of it."""
    device, uses = plan.device, plan.limits.uses[name]
    if name == SHARED:
        whole = tr("Shared memory: {shared_per_sm}", shared_per_sm=size_text(device.shared_per_sm))
        own = plan.limits.needs.shared_bytes
        if not own or not uses:
            return tr("{whole}; this kernel uses none", whole=whole)
        kept = tr(", {own} of them for its arrays", own=size_text(own)) if own < uses[0] else ""
        return tr("{whole}; each block takes {uses}{kept}", whole=whole, uses=size_text(uses[0]), kept=kept)
    whole = tr(
        "{registers_per_sm} registers = {register_bytes}",
        registers_per_sm=grouped(device.registers_per_sm),
        register_bytes=size_text(device.register_bytes),
    )
    each = plan.limits.needs.registers
    return tr("Registers: {whole}; each thread has its own", whole=whole) + ("" if each is None else f" {each}")


def _free(name: str, parts: list[Box], plan: _Plan) -> str:
    uses = plan.limits.uses[name]
    if uses is None:
        return tr("divided among the threads; how many each has, the compiler decides")
    if not parts:
        return tr("this kernel uses none")
    rest = (uses[1] - plan.blocks * uses[0]) * (REGISTER_BYTES if name == REGISTERS else 1)
    return tr("{rest} in no use", rest=counted(size_text(rest))) if rest else ""


def _outer(plan: _Plan, options: ViewOptions) -> list[Primitive]:
    theme, box, size = options.theme, plan.outer, options.theme.type.least
    text = tr(
        "Global memory: {memory_bytes} outside the chip, for the blocks of all {sms} SMs",
        memory_bytes=size_text(plan.device.memory_bytes),
        sms=plan.device.sms,
    )
    inner = box.trimmed(left=_ROAD + 16, right=16)
    return [
        Rects("outer-bar", boxes(box), theme.panel, theme.level(4), 3.0, 8.0),
        text_in("outer-name", inner, text, size, theme.text, "start", "semibold"),
    ]


def _ways(moment: Moment, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw arrows from global memory to registers and, in a kernel with copies, from there to shared memory."""
    faint, below = options.theme.faint, plan.registers.bottom
    road, x = plan.road_x - 0.36 * _ROAD, plan.shared.x + _ARROW
    primitives: list[Primitive] = [arrow("way-global", (road, plan.outer.y - 4), (road, below + 6), faint)]
    if len(moment.trace.origin_step) and not any(site.is_async for site in moment.trace.sites):
        primitives.append(arrow("way-shared", (x, below + 2), (x, plan.shared.y - 3), faint))
    return primitives


VIEW = View(marked("On-chip memory, divided among blocks"), Moment, sm_memory_scene, sm_memory_motion, order=38)
