"""The words for software and for hardware in one picture: a kernel runs as a grid of blocks of threads; a device has
multiprocessors with cores, registers, shared memory and caches, and its own memory. A block moves into a multiprocessor.
"""

import numpy as np
from msgspec import Struct

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.kernel import Launch
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many, size_text, spaced
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, message, titled
from gemmviz.scenes.kit.primitives import Box, Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

_TOP, _INSET, _LEFT = 116.0, 18.0, 0.37  # _LEFT: of the width: the software
_MOST = 32  # blocks or threads along an axis that are drawn
_SMS = 0.3  # of the width of the device: its multiprocessors
_MEMORY = 0.2  # of the height: the device's memory
_LARGEST = 58.0
_WORD = 22.0


class _Plan(Struct, frozen=True):
    """Boxes of both sides: ``grid`` and ``block`` with the size of their cells; ``device``; its multiprocessors ``sms`` in
    ``across`` columns; ``sm``: one of them, enlarged; ``memory``: that of the device.
    """

    grid: Box
    of_grid: float
    block: Box
    of_block: float
    device: Box
    sms: Box
    across: int
    sm: Box
    memory: Box

    @classmethod
    def of(cls, case: LaunchCase, launch: Launch, options: ViewOptions) -> "_Plan":
        size = options.theme.type.words
        room = Box(MARGIN, _TOP, options.width - 2 * MARGIN, options.height - _TOP - 26)
        half, head = _LEFT * room.width - 40, 1.7 * size
        high = (room.height - 3.2 * head) / 2
        (gx, gy), (bx, by) = _shown(launch.grid), _shown(launch.block)
        of_grid, of_block = min(half / gx, high / gy, _LARGEST), min(half / bx, high / by, _LARGEST)
        top = room.y + 2 * head
        grid = Box(room.x, top, gx * of_grid, gy * of_grid)
        block = Box(room.x, top + high + 1.2 * head, bx * of_block, by * of_block)
        left = room.x + _LEFT * room.width
        device = Box(left, room.y, room.x + room.width - left, room.height)
        inner = Box(left + _INSET, room.y + head, device.width - 2 * _INSET, device.height - head - _INSET)
        memory = Box(inner.x, inner.y + (1 - _MEMORY) * inner.height, inner.width, _MEMORY * inner.height)
        chips = Box(inner.x, inner.y + head, _SMS * inner.width, inner.height - memory.height - head - _INSET)
        across = _columns(case.device.sms, chips)
        sm = Box(
            inner.x + _SMS * inner.width + 50, inner.y, (1 - _SMS) * inner.width - 50, inner.height - memory.height - _INSET
        )
        return cls(grid, of_grid, block, of_block, device, chips, across, sm, memory)

    def one(self, count: int) -> Box:
        """Return the box of the first multiprocessor."""
        rows = -(-count // self.across)
        return Box(
            self.sms.x, self.sms.y, self.sms.width / self.across, min(self.sms.height / rows, self.sms.width / self.across)
        )


def terms_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw and name grid, block, device, multiprocessor, and their memories."""
    if case.launch is None:
        return titled([message(case.refusal, options)], tr("The words of {what}", what=case.what), case.device.name, options)
    plan = _Plan.of(case, case.launch, options)
    pieces = [*_software(case, plan, options), *_device(case, plan, options), *_multiprocessor(case, plan, options)]
    return titled(
        [*pieces, *_memory(case, plan, options), *_ways(case, plan, options)],
        tr("The words, in one picture"),
        case.device.name,
        options,
    )


def terms_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw a block on its way from the grid into a multiprocessor, where its threads run on the cores."""
    if case.launch is None:
        return ()
    plan, theme = _Plan.of(case, case.launch, options), options.theme
    share = options.way
    end = _slot(plan, options)
    start = Box(plan.grid.x, plan.grid.y, plan.of_grid, plan.of_grid)
    x, y, wide, high = (
        a + (b - a) * share
        for a, b in zip((start.x, start.y, start.width, start.height), (end.x, end.y, end.width, end.height), strict=True)
    )
    size = theme.type.least
    ways = [(a + (c - a) * share, b + (d - b) * share) for a, b, c, d in _cached_spaces(case, plan, options)]
    words = boxes(*((a - _WORD / 2, b - _WORD / 2, _WORD, _WORD) for a, b in ways))
    pieces: list[Primitive] = [Rects("moving-words", words, theme.load, None, radius=3.0)] if ways else []
    pieces += [Rects("moving-block", boxes((x + 1, y + 1, wide - 2, high - 2)), theme.load, None, radius=5.0)]
    if share >= 1.0:
        text = fitted(
            tr("a {block} runs here, from its first thread to its last", block=tr(case.device.words["block"])), size, wide - 20
        )
        at = points((x + wide / 2, y + high / 2 + 0.36 * size))
        pieces.append(Labels("moving-name", at, (text,), size, theme.ink_on(theme.load), "middle", "semibold"))
    return tuple(pieces)


def _columns(count: int, room: Box) -> int:
    """Return the number of columns with squares nearly as large as fit and the fewest empty places in the last row."""
    ideal = max(1, round((count * room.width / room.height) ** 0.5))
    return min(range(max(1, ideal - 2), ideal + 3), key=lambda each: (-count % each, abs(each - ideal)))


def _shown(extents: tuple[int, int, int]) -> tuple[int, int]:
    return min(extents[0], _MOST), min(extents[1], _MOST)


def _named(key: str, at: tuple[float, float], name: str, text: str, room: float, options: ViewOptions) -> list[Primitive]:
    """Draw a word and what it means."""
    theme, size = options.theme, options.theme.type.words
    label = text_line(key, at, name, size, room, theme.text, "semibold")
    x = at[0] + text_width(name, size, "semibold") + 12
    return [label, text_line(f"{key}-meaning", (x, at[1]), text, theme.type.least, at[0] + room - x, theme.faint)]


def _software(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the kernel's name, the grid of its launch, and one block."""
    theme, launch, words = options.theme, case.launch, case.device.words
    assert launch is not None
    room = _LEFT * (options.width - 2 * MARGIN) - 30
    threads, count = many(launch.threads_per_block, "thread"), many(launch.block_count, words["block"])
    grid, block = (np.zeros(_shown(each)[::-1], np.uint8) for each in (launch.grid, launch.block))
    number = np.arange(block.size).reshape(block.shape)
    warps = (number // case.device.warp_size % len(theme.warps)).astype(np.uint8)
    size, (x, y) = theme.type.words, (MARGIN, plan.grid.y)
    line, none = theme.background, ("",)
    return [
        *_named(
            "kernel",
            (x, _TOP + size),
            tr("kernel"),
            tr("{function}, the GPU's program", function=case.setup.kernel.function),
            room,
            options,
        ),
        *_named("grid-word", (x, y - 12), tr("grid"), tr("all {count} of a launch", count=count), room, options),
        Cells("grid", x, y, plan.of_grid, grid, (theme.load,), none, line=line),
        *_named(
            "block-word",
            (x, plan.block.y - 12),
            tr(words["block"]),
            tr("{threads} that share memory", threads=threads),
            room,
            options,
        ),
        Cells("block", x, plan.block.y, plan.of_block, warps, theme.warps, theme.warps, line=line),
    ]


def _device(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the device with all of its multiprocessors."""
    theme, device, size = options.theme, case.device, options.theme.type.words
    box, one = plan.device, plan.one(case.device.sms)
    number = np.arange(device.sms)
    parts = [
        (plan.sms.x + n % plan.across * one.width + 1.5, plan.sms.y + n // plan.across * one.height + 1.5,
         one.width - 3, one.height - 3) for n in number.tolist()
    ]  # fmt: skip
    meaning = tr("the GPU: {multiprocessors} and a memory", multiprocessors=many(device.sms, "multiprocessor"))
    return [
        Rects("device", boxes((box.x, box.y, box.width, box.height)), theme.panel, theme.line, 2.0, 12.0),
        *_named("device-word", (box.x + _INSET, box.y + 1.2 * size), tr("device"), meaning, box.width - 2 * _INSET, options),
        Rects("sms", boxes(*parts), theme.loaded(0.3), None, radius=3.0),
        Rects("sm-first", boxes(parts[0]), theme.load, None, radius=3.0),
    ]


def _slot(plan: _Plan, options: ViewOptions) -> Box:
    """Return the place in the enlarged multiprocessor where a block runs."""
    size = options.theme.type.words
    return Box(plan.sm.x + _INSET, plan.sm.y + 1.7 * size, plan.sm.width - 2 * _INSET, 2.0 * size)


def _multiprocessor(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw one multiprocessor: the place of its blocks, cores, registers, shared memory and caches."""
    theme, device, size = options.theme, case.device, options.theme.type.words
    box, slot = plan.sm, _slot(plan, options)
    meaning = tr("{fp32_per_sm} cores with their own memories", fp32_per_sm=spaced(device.fp32_per_sm))
    pieces: list[Primitive] = [
        Rects("sm", boxes((box.x, box.y, box.width, box.height)), theme.background, theme.load, 3.0, 10.0),
        *_named(
            "sm-word", (box.x + _INSET, box.y + 1.2 * size), tr("multiprocessor"), meaning, box.width - 2 * _INSET, options
        ),
        Rects("slot", boxes((slot.x, slot.y, slot.width, slot.height)), theme.empty, None, radius=5.0),
        _cores(device, Box(slot.x, slot.y + slot.height + 10, slot.width, 1.2 * size), theme),
    ]
    for place, (part, (name, text)) in enumerate(zip(_part_boxes(case, plan, options), _parts(case), strict=True)):
        pieces += _part(f"part-{place}", tr(name), text, part, options)
    return pieces


def _cores(device: Device, room: Box, theme: Theme) -> Primitive:
    """Draw the cores of a multiprocessor in a row, or in two if they are many."""
    rows = 1 if device.fp32_per_sm <= _MOST else 4
    columns = -(-device.fp32_per_sm // rows)
    fill = (np.arange(rows * columns) >= device.fp32_per_sm).reshape(rows, columns).astype(np.uint8)
    palette = (theme.loaded(0.6), theme.background)
    return Cells("cores", room.x, room.y, room.width / columns, fill, palette, palette, line=theme.background,
                 height=room.height / rows)  # fmt: skip


def _part_boxes(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Box]:
    """Return the boxes of a multiprocessor's memories, two in a row."""
    slot, count = _slot(plan, options), len(_parts(case))
    top = slot.y + slot.height + 20 + 1.2 * options.theme.type.words
    pitch = (plan.sm.y + plan.sm.height - 8 - top) / ((count + 1) // 2)
    wide = (slot.width - 12) / 2
    return [
        Box(
            slot.x + n % 2 * (wide + 12),
            top + n // 2 * pitch,
            wide if n + 1 < count or count % 2 == 0 else slot.width,
            pitch - 10,
        )
        for n in range(count)
    ]


def _cached_spaces(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[tuple[float, float, float, float]]:
    """Return the ways from spaces of the device's memory to their own caches: x and y of both ends."""
    parts = dict(zip((name for name, _ in _parts(case)), _part_boxes(case, plan, options), strict=True))
    spaces = _space_boxes(plan, options)
    pairs = [(spaces[name], parts[f"{name} cache"]) for name in spaces if f"{name} cache" in parts]
    return [(a.x + a.width / 2, a.y, b.x + b.width / 2, b.y + b.height) for a, b in pairs]


def _ways(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    ways = _cached_spaces(case, plan, options)
    return [Lines("ways", boxes(*ways), options.theme.faint, 2.0)] if ways else []


def _parts(case: LaunchCase) -> list[tuple[str, str]]:
    """Return names, to be translated, and texts of a multiprocessor's memories."""
    device = case.device
    own = [
        (marked("registers"), size_text(device.register_bytes)), (marked("shared memory"), size_text(device.shared_per_sm)),
    ]  # fmt: skip
    if device.vendor != "NVIDIA":
        return [*own, (marked("caches"), tr("filled by the hardware"))]
    read_only = tr("read-only")
    last = (marked("L1 cache"), tr("also for textures")) if device.levels[1:-1] else (marked("texture cache"), read_only)
    return [*own, (marked("constant cache"), read_only), last]


def _part(key: str, name: str, text: str, box: Box, options: ViewOptions) -> list[Primitive]:
    theme, size = options.theme, options.theme.type.least
    y = box.y + box.height / 2
    rows = ((name, theme.text), (text, theme.faint)) if box.height >= 2.7 * size else ((f"{name}, {text}", theme.text),)
    first = y - 0.65 * size * (len(rows) - 1) + 0.36 * size
    return [
        Rects(key, boxes((box.x, box.y, box.width, box.height)), theme.slate, None, radius=6.0),
        *(
            text_line(f"{key}-{row}", (box.x + 14, first + 1.3 * row * size), words, size, box.width - 28, ink)
            for row, (words, ink) in enumerate(rows)
        ),
    ]


def _memory(case: LaunchCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the device's memory with its four spaces."""
    theme, device, box, size = options.theme, case.device, plan.memory, options.theme.type.words
    meaning = tr("{memory_bytes}, off the chip", memory_bytes=size_text(device.memory_bytes))
    pieces: list[Primitive] = [
        Rects("memory", boxes((box.x, box.y, box.width, box.height)), theme.slate, theme.faint, 2.0, 8.0),
        *_named("memory-word", (box.x + _INSET, box.y + 1.2 * size), tr("device memory"), meaning, box.width - 40, options),
    ]
    for name, part in _space_boxes(plan, options).items():
        ground, least = boxes((part.x, part.y, part.width, part.height)), theme.type.least
        at = points((part.x + part.width / 2, part.y + part.height / 2 + 0.36 * least))
        pieces.append(Rects(f"space-{name}", ground, theme.panel, None, radius=5.0))
        pieces.append(Labels(f"space-{name}-name", at, (tr(name),), least, theme.text, "middle"))
    return pieces


def _space_boxes(plan: _Plan, options: ViewOptions) -> dict[str, Box]:
    """Return the boxes of the spaces of the device's memory."""
    box, names = plan.memory, (marked("global"), marked("local"), marked("constant"), marked("texture"))
    wide, y = (box.width - 5 * 12) / 4, box.y + 1.7 * options.theme.type.words
    high = box.y + box.height - y - 10
    return {name: Box(box.x + 12 + place * (wide + 12), y, wide, high) for place, name in enumerate(names)}


VIEW = View(marked("Terms: grid, block, device"), LaunchCase, terms_scene, draw_motion=terms_motion, least=260.0, order=39)
