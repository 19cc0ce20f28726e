"""The words for software and for hardware in one picture: a kernel runs as a grid of blocks of threads; a device has
multiprocessors with cores, registers, shared memory and caches, and its own memory. A block moves into a multiprocessor.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.kernel import Launch
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.model.words import many, size_text, sized
from gemmviz.scenes.kit.frame import ViewOptions, message, titled
from gemmviz.scenes.kit.layout import REST, Box, Line, Point, Share, along, cells_in, lines_in, square, text_in
from gemmviz.scenes.kit.primitives import Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

_TOP, _INSET, _LEFT = 116.0, 18.0, 0.37  # _LEFT: of the width: the software
_MOST = 32  # blocks or threads along an axis that are drawn
_SMS = 0.3  # of the width of the device: its multiprocessors
_MEMORY = 0.2  # of the height: the device's memory
_LARGEST, _WORD, _AIR = 58.0, 22.0, 12.0
_SPACES = (marked("global"), marked("local"), marked("constant"), marked("texture"))


class _Places(NamedTuple):
    """Boxes of both sides: the table of the ``grid`` and that of a ``block``; ``device``; the table of its multiprocessors;
    ``sm``: one of them, enlarged, with its ``slot`` of a block, its ``cores`` and memories by name; ``memory``: that of the
    device, with its spaces.
    """

    grid: Box
    block: Box
    device: Box
    sms: Box
    sm: Box
    slot: Box
    cores: Box
    parts: dict[str, Box]
    memory: Box
    spaces: dict[str, Box]

    @classmethod
    def of(cls, case: LaunchCase, launch: Launch, options: ViewOptions) -> "_Places":
        size = options.theme.type.words
        head, room = 1.7 * size, options.room(_TOP, 26.0)
        software, device = room.columns(Share(_LEFT), Share(1.0 - _LEFT))
        _, upper, _, lower = software.trimmed(right=40).rows(2 * head, REST, 1.2 * head, REST)
        inner = device.trimmed(_INSET, head, _INSET, _INSET)
        memory, rest = inner.strip("bottom", _MEMORY * inner.height, _INSET)
        sms, sm = rest.columns(Share(_SMS), Share(1.0 - _SMS))
        sm = sm.trimmed(left=50)
        slot, cores, parts = sm.trimmed(_INSET, head, _INSET, 8).rows(2.0 * size, 1.2 * size, REST, gap=10)
        names = [name for name, _ in _parts(case)]
        places = [box.trimmed(bottom=10) for box in parts.grid(-(-len(names) // 2), 2, _AIR, 0.0)]
        if len(names) % 2:
            places[len(names) - 1] = places[len(names) - 1]._replace(width=parts.width)
        own = dict(zip(names, places, strict=False))
        spaces = memory.trimmed(_AIR, head, _AIR, 10).columns(*[REST] * len(_SPACES), gap=_AIR)
        grid, block = _squares_in(upper, launch.grid), _squares_in(lower, launch.block)
        within_memory = dict(zip(_SPACES, spaces, strict=True))
        return cls(grid, block, device, sms.trimmed(top=head), sm, slot, cores, own, memory, within_memory)

    @property
    def ways(self) -> list[tuple[Point, Point]]:
        """The ways from spaces of the device's memory to their own caches."""
        pairs = [(self.spaces[name], self.parts.get(f"{name} cache")) for name in self.spaces]
        return [(space.at(0.5, 0.0), cache.at(0.5, 1.0)) for space, cache in pairs if cache is not None]


def _squares_in(room: Box, extents: tuple[int, int, int]) -> Box:
    """Return the box of a table of squares for two extents, as large as fits."""
    columns, rows = _shown(extents)
    side = min(room.width / columns, room.height / rows, _LARGEST)
    return Box(room.x, room.y, columns * side, rows * side)


def terms_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw and name grid, block, device, multiprocessor, and their memories."""
    if case.launch is None:
        return titled([message(case.refusal, options)], tr("The words of {what}", what=case.what), case.device.name, options)
    places = _Places.of(case, case.launch, options)
    pieces = [*_software(case, case.launch, places, options), *_device(case, places, options)]
    pieces += [*_multiprocessor(case, places, options), *_memory(case, places, options)]
    if places.ways:
        segments = boxes(*((*start, *end) for start, end in places.ways))
        pieces.append(Lines("ways", segments, options.theme.faint, 2.0))
    return titled(pieces, tr("The words, in one picture"), case.device.name, options)


def terms_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw a block on its way from the grid into a multiprocessor, where its threads run on the cores."""
    if case.launch is None:
        return ()
    places, theme, share = _Places.of(case, case.launch, options), options.theme, options.way
    columns, rows = _shown(case.launch.grid)
    box = places.grid.grid(rows, columns)[0].towards(places.slot, share)
    words = [square(along(way, share), _WORD) for way in places.ways]
    moved = [*([("words", boxes(*words), 3.0)] if words else []), ("block", boxes(box.inset(1)), 5.0)]
    pieces: list[Primitive] = [Rects(f"moving-{key}", at, theme.load, radius=r, meaning="moving") for key, at, r in moved]
    if share >= 1.0:
        text = tr("a {block} runs here, from its first thread to its last", block=tr(case.device.words["block"]))
        ink = theme.ink_on(theme.load)
        pieces.append(text_in("moving-name", box.inset(10, 0), text, theme.type.least, ink, face="semibold"))
    return tuple(pieces)


def _shown(extents: tuple[int, int, int]) -> tuple[int, int]:
    return min(extents[0], _MOST), min(extents[1], _MOST)


def _named(key: str, at: Point, name: str, text: str, room: float, options: ViewOptions) -> list[Primitive]:
    """Draw a word and what it means."""
    theme, size = options.theme, options.theme.type.words
    label = text_line(key, at, name, size, room, theme.text, "semibold")
    x = at[0] + text_width(name, size, "semibold") + 12
    return [label, text_line(f"{key}-meaning", (x, at[1]), text, theme.type.least, at[0] + room - x, theme.faint)]


def _headed(key: str, box: Box, name: str, text: str, options: ViewOptions) -> list[Primitive]:
    """Draw a word and what it means at the upper edge of a box."""
    at = box.x + _INSET, box.y + 1.2 * options.theme.type.words
    return _named(key, at, name, text, box.width - 2 * _INSET, options)


def _software(case: LaunchCase, launch: Launch, places: _Places, options: ViewOptions) -> list[Primitive]:
    """Draw the kernel's name, the grid of its launch, and one block."""
    theme, words = options.theme, case.device.words
    whole = options.room(_TOP, 26.0)
    room, size = _LEFT * whole.width - 30, theme.type.words
    threads, count = sized(launch.threads_per_block, "thread"), many(launch.block_count, words["block"])
    grid, block = (np.zeros(_shown(each)[::-1], np.uint8) for each in (launch.grid, launch.block))
    number = np.arange(block.size).reshape(block.shape)
    warps = (number // case.device.warp_size % len(theme.warps)).astype(np.uint8)
    function = tr("{function}, the GPU's program", function=case.setup.kernel.function)
    every, some = tr("all {count} of a launch", count=count), tr("{threads} that share memory", threads=threads)
    return [
        *_named("kernel", (whole.x, whole.y + size), tr("kernel"), function, room, options),
        *_named("grid-word", (whole.x, places.grid.y - 12), tr("grid"), every, room, options),
        cells_in("grid", places.grid, grid, (theme.load,), theme.background, ("",), meaning="grid"),
        *_named("block-word", (whole.x, places.block.y - 12), tr(words["block"]), some, room, options),
        cells_in("block", places.block, warps, theme.warps, theme.background),
    ]


def _device(case: LaunchCase, places: _Places, options: ViewOptions) -> list[Primitive]:
    """Draw the device with all of its multiprocessors."""
    theme, device, room = options.theme, case.device, places.sms
    columns = _columns(device.sms, room)
    rows = -(-device.sms // columns)
    high = min(room.height, rows * room.width / columns)
    parts = [box.inset(1.5) for box in room._replace(height=high).grid(rows, columns)[: device.sms]]
    meaning = tr("the GPU: {multiprocessors} and a memory", multiprocessors=sized(device.sms, "multiprocessor"))
    return [
        Rects("device", boxes(places.device), theme.panel, theme.line, 2.0, 12.0),
        *_headed("device-word", places.device, tr("device"), meaning, options),
        Rects("sms", boxes(*parts), theme.loaded(0.3), None, radius=3.0),
        Rects("sm-first", boxes(parts[0]), theme.load, None, radius=3.0),
    ]


def _columns(count: int, room: Box) -> int:
    """Return the number of columns with squares nearly as large as fit and the fewest empty places in the last row."""
    ideal = max(1, round((count * room.width / room.height) ** 0.5))
    return min(range(max(1, ideal - 2), ideal + 3), key=lambda each: (-count % each, abs(each - ideal)))


def _multiprocessor(case: LaunchCase, places: _Places, options: ViewOptions) -> list[Primitive]:
    """Draw one multiprocessor: the place of its blocks, cores, registers, shared memory and caches."""
    theme, device = options.theme, case.device
    meaning = tr("{fp32_per_sm} cores with their own memories", fp32_per_sm=grouped(device.fp32_per_sm))
    pieces: list[Primitive] = [
        Rects("sm", boxes(places.sm), theme.background, theme.load, 3.0, 10.0),
        *_headed("sm-word", places.sm, tr("multiprocessor"), meaning, options),
        Rects("slot", boxes(places.slot), theme.empty, None, radius=5.0),
        _cores(device, places.cores, theme),
    ]
    for place, (name, text) in enumerate(_parts(case)):
        pieces += _part(f"part-{place}", tr(name), text, places.parts[name], theme)
    return pieces


def _cores(device: Device, room: Box, theme: Theme) -> Primitive:
    """Draw the cores of a multiprocessor in a row, or in four if they are many."""
    rows = 1 if device.fp32_per_sm <= _MOST else 4
    columns = -(-device.fp32_per_sm // rows)
    fill = (np.arange(rows * columns) >= device.fp32_per_sm).reshape(rows, columns).astype(np.uint8)
    return cells_in("cores", room, fill, (theme.loaded(0.6), theme.background), theme.background)


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


def _part(key: str, name: str, text: str, box: Box, theme: Theme) -> list[Primitive]:
    size = theme.type.least
    lines = [Line(f"{key}-0", name, size, theme.text), Line(f"{key}-1", text, size, theme.faint)]
    if box.height < 2.7 * size:
        lines = [Line(f"{key}-0", f"{name}, {text}", size, theme.text)]
    return [Rects(key, boxes(box), theme.slate, None, radius=6.0), *lines_in(box.inset(14, 0), lines)]


def _memory(case: LaunchCase, places: _Places, options: ViewOptions) -> list[Primitive]:
    """Draw the device's memory with its four spaces."""
    theme, box = options.theme, places.memory
    meaning = tr("{memory_bytes}, off the chip", memory_bytes=size_text(case.device.memory_bytes))
    pieces: list[Primitive] = [
        Rects("memory", boxes(box), theme.slate, theme.faint, 2.0, 8.0),
        *_headed("memory-word", box, tr("device memory"), meaning, options),
    ]
    for name, part in places.spaces.items():
        pieces += [
            Rects(f"space-{name}", boxes(part), theme.panel, None, radius=5.0),
            text_in(f"space-{name}-name", part, tr(name), theme.type.least, theme.text),
        ]
    return pieces


VIEW = View(marked("Terms: grid, block, device"), LaunchCase, terms_scene, draw_motion=terms_motion, least=260.0, order=39)
