"""Views of the memory on the chip: registers of threads, and parts of blocks."""

import dataclasses
from typing import NamedTuple

import numpy as np

from gemmviz.analysis.models import REGISTERS, SHARED, OccupancyLimits, occupancy_limits
from gemmviz.analysis.replay.focus import block_label, thread_place
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.private import PrivateValues, ReadFactor, private_values
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import recorded_registers
from gemmviz.model.device import REGISTER_BYTES, Device, Needs
from gemmviz.model.messages import counted, grouped, marked, size_text, sized, tr
from gemmviz.model.sites import shared_bytes
from gemmviz.scenes.kit.layout import (
    NEAR,
    REST,
    ROW_PITCH,
    Box,
    Point,
    Share,
    along,
    arrow,
    beside,
    cells_in,
    round_boxes,
    squares,
    tag,
    write,
)
from gemmviz.scenes.kit.primitives import Cells, Primitive, Scene, Squares
from gemmviz.scenes.kit.shapes import memory, named_memory
from gemmviz.scenes.kit.slots import block_colour
from gemmviz.scenes.kit.theme import FIRM, SOFT, Theme, mixed
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, framed, message
from gemmviz.scenes.stage.cells import CellGrid, elements_at, label_size
from gemmviz.scenes.stage.tile_cells import Element, middle_of, small_inputs, small_matrices, small_tile_places, small_tiles

# Registers: a copy for each thread.

_MOST_THREADS, _LEAST_WIDE = 4, 330  # threads, and the least width of each
_VALUE_SIDE = 44  # of a value on its way


class _RegistersPlan(NamedTuple):
    """The line that says what is below, the boxes of the threads' registers, and the room below for what is there once."""

    words: Box
    threads: list[Box]
    common: Box

    @classmethod
    def of(cls, count: int, options: ViewOptions) -> "_RegistersPlan":
        words, upper, _, common = options.room().trimmed(top=-30).rows(28, Share(17), 50, Share(13))
        return cls(words, upper.grid(1, count, 28), common)

    def slot(self, number: int, place: int) -> tuple[Box, Box]:
        """The places of a variable's name and value: that of A, of B, or the sum."""
        rows = self.threads[number].trimmed(18, 50, 18, 18).grid(3, 1, down=10)
        name, value = rows[place].columns(Share(4), Share(5), gap=6)
        return name, value

    @property
    def arrays(self) -> Box:
        """The part of the room below in which tiles or matrices are drawn."""
        return self.common.inset(200, NEAR)


def registers_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Registers: each thread of a block has its own copy of every variable, with its own value, while the block's tiles in
    shared memory, or the matrices in global memory, are there once for all.

    Draw the registers of some threads around the watched one, above what all of them share.
    """
    held = _values_held(moment, moment.step if options.arrived else moment.step - 1, options)
    if not held:
        return framed([message(tr("The threads of this block don't sum one element of C each."), options)], moment, options)
    plan, theme = _RegistersPlan.of(len(held), options), options.theme
    where = tr("shared memory") if _uses_shared_memory(moment) else tr("global memory")
    text = tr(
        "In registers: a copy of every variable for each thread. In {where}, below: one copy for all of them", where=where
    )
    primitives: list[Primitive] = [write("registers-words", plan.words, text, theme.small)]
    for number, values in enumerate(held):
        primitives += _thread_registers(moment, number, values, plan, options)
    return framed([*primitives, *_shared_by_all(moment, plan, options)], moment, options)


def registers_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the factors that are read at this step on their way to the registers of their threads."""
    held = [] if options.arrived else _values_held(moment, moment.step, options)
    if not held:
        return ()
    plan, pieces = _RegistersPlan.of(len(held), options), list[Primitive]()
    sources = _read_places(moment, plan, options)
    for number, values in enumerate(held):
        for place, factor in enumerate((values.a, values.b)):
            if factor is None or factor.step != moment.step or (values.thread, factor.matrix) not in sources:
                continue
            at = along([sources[values.thread, factor.matrix], plan.slot(number, place)[1].middle], options.way)
            pieces.append(_value_chip(f"reading-{number}-{place}", at, factor, values, options))
    return tuple(pieces)


def _value_chip(key: str, at: Point, factor: ReadFactor, values: PrivateValues, options: ViewOptions) -> Squares:
    accent = options.theme.accent(factor.matrix)
    text = options.labels.pair(*_place_of(factor, values))
    size = label_size(text, _VALUE_SIDE, options.pixels, options.least)
    drawn = squares(key, [at], _VALUE_SIDE, accent, options.theme.ink_on(accent), options.theme.background)
    return dataclasses.replace(drawn, labels=np.array([text]) if size else None, label_size=size)


def _values_held(moment: Moment, step: int, options: ViewOptions) -> list[PrivateValues]:
    """Return the values of the threads that are shown; nothing if any of them has no single sum."""
    count = moment.trace.space.threads_per_block
    most = max(1, min(_MOST_THREADS, int((options.width - 2 * MARGIN) / _LEAST_WIDE)))
    first = max(0, min(moment.scope.first_thread, count - most))
    found = [private_values(moment, thread, step) for thread in range(first, min(count, first + most))]
    return [] if None in found else [each for each in found if each is not None]


def _place_of(factor: ReadFactor, values: PrivateValues) -> tuple[int, int]:
    """Return row and column of a factor."""
    return (values.row, factor.k) if factor.matrix == "A" else (factor.k, values.column)


def _thread_registers(
    moment: Moment, number: int, values: PrivateValues, plan: _RegistersPlan, options: ViewOptions
) -> list[Primitive]:  # fmt: skip
    """Draw what one thread holds, in a box of its own."""
    theme, (x, y, _) = options.theme, thread_place(values.thread, moment.trace.launch)
    title = tr("thread {thread_of}", thread_of=options.labels.thread_of(x, y))
    primitives = named_memory(f"thread-{number}", plan.threads[number], title, theme, level=0)
    rows = []
    for matrix, factor in (("A", values.a), ("B", values.b)):
        name = (
            tr("of {matrix}", matrix=matrix) if factor is None else options.labels.element(matrix, *_place_of(factor, values))
        )
        shown = "" if factor is None else "?" if factor.value is None else f"{factor.value:.3g}"
        is_new = factor is not None and factor.step == moment.step
        rows.append((name, shown, theme.accent(matrix) if is_new else theme.tint(matrix, SOFT)))
    total = "?" if values.sum is None else f"{values.sum:.3g}"
    rows.append((tr("sum of {terms}", terms=values.terms) if values.terms else tr("sum"), total, theme.tint("C", SOFT)))
    for place, (name, value, fill) in enumerate(rows):
        left, slot = plan.slot(number, place)
        primitives.append(write(f"name-{number}-{place}", left, name, theme.small))
        primitives += tag(f"slot-{number}-{place}", slot, value, fill, theme, theme.strong)
    return primitives


def _uses_shared_memory(moment: Moment) -> bool:
    return any(each.space == "shared" for each in moment.trace.arrays)


def _shared_by_all(moment: Moment, plan: _RegistersPlan, options: ViewOptions) -> list[Primitive]:
    """Draw what is there once: the tiles of the block, or the matrices."""
    theme, inner = options.theme, plan.arrays
    box = memory("common", plan.common, theme, level=1)
    if _uses_shared_memory(moment):
        return [*box, *small_tiles(moment, small_tile_places(moment, inner, options), options)]
    now: set[Element] = set()
    for touched in moment.touched if options.arrived else ():
        if touched.array.space == "global":
            now |= {(touched.operand.array, int(each)) for each in touched.block_cells}
    return [*box, *small_matrices(moment, small_inputs(moment, inner, options), now, options)]


def _read_places(moment: Moment, plan: _RegistersPlan, options: ViewOptions) -> dict[tuple[int, str], tuple[float, float]]:
    """Return where each thread's reads of this step come from, by the thread and the matrix of the element."""
    tiles = small_tile_places(moment, plan.arrays, options)
    matrices = small_inputs(moment, plan.arrays, options)
    found = {}
    first = moment.scope.in_block.start - moment.scope.of_block.start
    for touched in moment.touched:
        content = moment.tiles.get(touched.operand.array)
        for place, element in enumerate(touched.in_block.tolist()):
            if element < 0 or touched.operand.access != "read":
                continue
            if content is None and touched.operand.array in matrices:
                found[first + place, touched.array.name] = middle_of(moment, matrices, (touched.operand.array, element))
            elif content is not None and content.array[element] >= 0:
                matrix = moment.trace.arrays[int(content.array[element])].name
                found[first + place, matrix] = _middle_of_tile(tiles[touched.operand.array], element)
    return found


def _middle_of_tile(table: CellGrid, element: int) -> Point:
    x, y = table.middle(*divmod(element, table.columns)).tolist()
    return x, y


# On-chip memory, divided among blocks.

_MOST_BLOCKS, _LANES = 8, 32  # blocks whose threads are drawn; threads in a row
_ROAD = 96  # width of the way to global memory, beside shared memory
_ARROW = 44  # from the edge of shared memory to the arrow into it


class _SmMemoryPlan(NamedTuple):
    """Boxes of the threads and of the three memories, the nearest first; what an SM holds, and its blocks."""

    threads: Box
    registers: Box
    shared: Box
    outer: Box
    limits: OccupancyLimits
    device: Device

    @classmethod
    def of(cls, moment: Moment, options: ViewOptions) -> "_SmMemoryPlan":
        setup, threads = moment.trace.setup, moment.trace.space.threads_per_block
        device = load_device(setup.device)
        count = recorded_registers(setup, device)
        needs = Needs(threads, None if count is None else count.per_thread, shared_bytes(moment.trace.arrays))
        room = options.room().trimmed(top=-24).trimmed(bottom=8)
        above, registers, shared, outer = room.rows(Share(13), *[Share(10)] * 3, gap=room.height / 14)
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
        return (parts[0].x + min(parts[0].width, bar.width / 5) / 2 if parts else bar.x + 80), bar.middle_y


def sm_memory_scene(moment: Moment, options: ViewOptions) -> Scene:
    """The on-chip memory of one multiprocessor, divided among the blocks that it holds: their threads, and their parts of the
    registers and of shared memory, to scale; and a copy's way from global memory through registers.

    Draw the blocks of one multiprocessor above their parts of its memories, and global memory below.
    """
    plan = _SmMemoryPlan.of(moment, options)
    primitives = [*_blocks_of_threads(moment, plan, options)]
    for name, bar in ((REGISTERS, plan.registers), (SHARED, plan.shared)):
        primitives += _divided_memory(name, bar, plan, options)
    primitives += _global_memory_bar(plan, options)
    return framed([*primitives, *_copy_ways(moment, plan, options)], moment, options)


def sm_memory_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements of this step on their way to or from registers; asynchronous copies pass them by."""
    plan, pieces = _SmMemoryPlan.of(moment, options), list[Primitive]()
    share = options.way
    for place, touched in enumerate(moment.touched):
        start, stop = _memories_of(moment, touched)
        if not len(touched.cells) or start == stop:
            continue
        middle = along([plan.place(start), plan.place(stop)], share)
        pieces.append(elements_at(moment, place, middle, options.theme, _ROAD - 16, plan.shared.height / ROW_PITCH))
    return tuple(pieces)


def _memories_of(moment: Moment, touched: TouchedOperand) -> tuple[str, str]:
    """Return the memories between which an access moves elements."""
    if moment.site.is_async:
        return ("global", "shared") if touched.operand.access == "read" else ("shared", "shared")
    space = touched.array.space
    return (space, "registers") if touched.operand.access == "read" else ("registers", space)


def _blocks_of_threads(moment: Moment, plan: _SmMemoryPlan, options: ViewOptions) -> list[Primitive]:
    """Draw the threads of each block, a warp in each row, below its name."""
    theme, shown = options.theme, min(plan.blocks, _MOST_BLOCKS)
    if not shown:
        text = tr("An SM of {device} holds no block of this size.", device=plan.device.name)
        return [write("no-block", plan.threads, text, theme.plain)]
    threads, primitives = sized(moment.trace.space.threads_per_block, "thread"), list[Primitive]()
    own, strong = block_label(moment.scope.focus.block, moment.trace.launch), theme.strong.sized(theme.type.least)
    for number, column in enumerate(plan.threads.grid(1, shown)):
        head, box = column.trimmed(right=16).rows(ROW_PITCH * strong.size, REST)
        name = own if number == 0 else tr("another block") if column.width > 220 else tr("another")
        words, style = f"{name}: {threads}" if column.width > 300 else name, strong.inked(theme.faint) if number else strong
        primitives += [write(f"block-{number}-name", head, words, style), _block_threads(f"block-{number}", moment, box, theme)]
    return primitives


def _block_threads(key: str, moment: Moment, box: Box, theme: Theme) -> Cells:
    """Draw the threads of a block as cells in the colours of their warps."""
    count = moment.trace.space.threads_per_block
    lanes = min(_LANES, count)
    rows = -(-count // lanes)
    side = min(box.width / lanes, 30)
    high = min(box.height / rows, side)
    number = np.arange(rows * lanes).reshape(rows, lanes)
    warp = number // moment.trace.rules.warp_size % len(theme.warps)
    fill = np.where(number < count, warp, len(theme.warps)).astype(np.uint8)
    table = Box(box.x, box.y, lanes * side, rows * high)
    return cells_in(key, table, fill, (*theme.warps, theme.background), theme.background if high >= 5 else None)


def _divided_memory(name: str, bar: Box, plan: _SmMemoryPlan, options: ViewOptions) -> list[Primitive]:
    """Draw an on-chip memory with the part of each block, below what it is."""
    theme, parts = options.theme, plan.parts(name, bar)
    place, left = (0, 0) if name == REGISTERS else (1, _ARROW + 24)
    strong, title = theme.strong.sized(theme.type.least), _bar_title(name, plan)
    primitives: list[Primitive] = [
        *memory(f"{name}-bar", bar, theme, (), place, 3),
        beside(f"{name}-name", bar.trimmed(left=left), "top", title, strong, 9),
    ]
    for number, part in enumerate(parts):
        inner = part.inset(3, 4)
        inner = inner._replace(width=max(2, inner.width))
        colour = mixed(theme.slate, block_colour(number, theme), FIRM)
        primitives.append(round_boxes(f"{name}-part-{number}", inner, colour))
    text = _unused(name, parts, plan)
    rest = bar.trimmed(left=(parts[-1].right - bar.x if parts else _ROAD) + 16, right=12)
    return (
        [*primitives, write(f"{name}-free", rest, text, theme.aside)] if rest.width >= theme.aside.width(text) else primitives
    )


def _bar_title(name: str, plan: _SmMemoryPlan) -> str:
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


def _unused(name: str, parts: list[Box], plan: _SmMemoryPlan) -> str:
    uses = plan.limits.uses[name]
    if uses is None:
        return tr("divided among the threads; how many each has, the compiler decides")
    if not parts:
        return tr("this kernel uses none")
    rest = (uses[1] - plan.blocks * uses[0]) * (REGISTER_BYTES if name == REGISTERS else 1)
    return tr("{rest} in no use", rest=counted(size_text(rest))) if rest else ""


def _global_memory_bar(plan: _SmMemoryPlan, options: ViewOptions) -> list[Primitive]:
    theme, box = options.theme, plan.outer
    text = tr(
        "Global memory: {memory_bytes} outside the chip, for the blocks of all {sms} SMs",
        memory_bytes=size_text(plan.device.memory_bytes),
        sms=plan.device.sms,
    )
    inner, strong = box.trimmed(left=_ROAD + 16, right=16), theme.strong.sized(theme.type.least)
    return [round_boxes("outer-bar", box, theme.panel, theme.level(4), 3), write("outer-name", inner, text, strong)]


def _copy_ways(moment: Moment, plan: _SmMemoryPlan, options: ViewOptions) -> list[Primitive]:
    """Draw arrows from global memory to registers and, in a kernel with copies, from there to shared memory."""
    faint, below = options.theme.faint, plan.registers.bottom
    road, x = plan.road_x - _ROAD / 3, plan.shared.x + _ARROW
    primitives: list[Primitive] = [arrow("way-global", (road, plan.outer.y - 4), (road, below + 6), faint)]
    if len(moment.trace.origin_step) and not any(site.is_async for site in moment.trace.sites):
        primitives.append(arrow("way-shared", (x, below + 2), (x, plan.shared.y - 3), faint))
    return primitives


VIEWS = {
    "registers": View(
        marked("Registers: a copy for each thread"), Moment, registers_scene, registers_motion, multiplies=True, order=108
    ),
    "sm_memory": View(marked("On-chip memory, divided among blocks"), Moment, sm_memory_scene, sm_memory_motion, order=309),
}
