"""Views of words: for software and hardware, and of CUDA and HIP."""

import numpy as np

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import CUDA_WORDS
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import grouped, many, marked, size_text, sized, tr
from gemmviz.scenes.kit.layout import (
    LINE_PITCH,
    NEAR,
    REST,
    ROW_PITCH,
    Box,
    Line,
    Share,
    along,
    cells_in,
    path,
    round_boxes,
    square,
    tag,
    term,
    write,
)
from gemmviz.scenes.kit.primitives import Labels, Primitive, Scene
from gemmviz.scenes.kit.shapes import memory, units
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, message, titled

# Terms: grid, block, device.

_INSET = 18
_MOST_IN_A_ROW = 32  # blocks or threads along an axis that are drawn
_LARGEST, _WORD = 58, 22
_MEMORY_SPACES = (marked("global"), marked("local"), marked("constant"), marked("texture"))


def _terms_boxes(case: LaunchCase, launch: Launch, options: ViewOptions) -> dict[str, Box]:
    """Return the boxes of all words: on the left the kernel, the grid and a block with the lines of their names; on the right
    the device with its multiprocessors, one of them enlarged, with the place of a block, its cores and memories, and the memory
    of the device with its spaces.
    """
    head = ROW_PITCH * options.theme.type.words
    software, device = options.room(116, 26).columns(Share(35), Share(63), gap=40)
    kernel, grid_word, upper, block_word, lower = software.rows(head, head, REST, head, REST)
    inner = device.trimmed(_INSET, head, _INSET, _INSET)
    outer, rest = inner.strip("bottom", inner.height / 5, _INSET)
    sms, sm = rest.columns(Share(3), Share(7), gap=40)
    slot, cores, parts = sm.trimmed(_INSET, head, _INSET, NEAR).rows(head + NEAR, 2 * NEAR, REST, gap=NEAR)
    names = [name for name, _ in _memory_parts(case)]
    places = parts.grid(-(-len(names) // 2), 2, NEAR)
    if len(names) % 2:
        places[len(names) - 1] = places[len(names) - 1]._replace(width=parts.width)
    spaces = outer.trimmed(NEAR, head, NEAR, 10).columns(*[REST] * len(_MEMORY_SPACES), gap=NEAR)
    return {
        "kernel": kernel, "grid-word": grid_word, "grid": upper.tiled(*_table_shape(launch.grid), _LARGEST),
        "block-word": block_word, "block": lower.tiled(*_table_shape(launch.block), _LARGEST), "device": device,
        "sms": sms.trimmed(top=head), "sm": sm, "slot": slot, "cores": cores, "memory": outer,
        **dict(zip(names, places, strict=False)), **dict(zip(_MEMORY_SPACES, spaces, strict=True)),
    }  # fmt: skip


def _cache_ways(boxes: dict[str, Box]) -> list[list[tuple[float, float]]]:
    """Return the ways from spaces of the device's memory to their own caches."""
    pairs = [(boxes[name], boxes.get(f"{name} cache")) for name in _MEMORY_SPACES]
    return [[space.edge("top"), cache.edge("bottom")] for space, cache in pairs if cache is not None]


def terms_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """The words for software and for hardware in one picture: a kernel runs as a grid of blocks of threads; a device has
    multiprocessors with cores, registers, shared memory and caches, and its own memory. A block moves into a
    multiprocessor.

    Draw and name grid, block, device, multiprocessor, and their memories.
    """
    if case.launch is None:
        return titled([message(case.refusal, options)], tr("The words of {what}", what=case.what), case.device.name, options)
    boxes, theme = _terms_boxes(case, case.launch, options), options.theme
    pieces = [*_software(case, case.launch, boxes, options), *_hardware(case, boxes, options)]
    pieces += [path(f"way-{number}", way, theme.faint, 2) for number, way in enumerate(_cache_ways(boxes))]
    return titled(pieces, tr("The words, in one picture"), case.device.name, options)


def terms_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw a block on its way from the grid into a multiprocessor, where its threads run on the cores."""
    if case.launch is None:
        return ()
    boxes, theme = _terms_boxes(case, case.launch, options), options.theme
    start = boxes["grid"].grid(*_table_shape(case.launch.grid))[0]
    box = start.towards(boxes["slot"], options.way).inset(1)
    words = [square(along(way, options.way), _WORD) for way in _cache_ways(boxes)]
    text = tr("a {block} runs here, from its first thread to its last", block=tr(case.device.words["block"]))
    style = theme.strong.sized(theme.type.least).inked(theme.ink_on(theme.load))
    moved = [round_boxes("moving-words", words, theme.load, meaning="moving")] if words else []
    moved.append(round_boxes("moving-block", box, theme.load, meaning="moving"))
    return (*moved, write("moving-name", box.inset(NEAR, 0), text, style, "middle")) if options.way >= 1 else tuple(moved)


def _table_shape(extents: tuple[int, int, int]) -> tuple[int, int]:
    """Return the rows and columns of a table for two extents."""
    return min(extents[1], _MOST_IN_A_ROW), min(extents[0], _MOST_IN_A_ROW)


def _meaning(key: str, box: Box, name: str, meaning: str, options: ViewOptions) -> list[Labels]:
    """Draw a word and what it means in a line, or at the upper edge of a box."""
    theme = options.theme
    high = ROW_PITCH * theme.type.words
    line = box if box.height < 2 * high else box.trimmed(_INSET, right=_INSET)._replace(height=high)
    return term(key, line, name, theme.strong, meaning, theme.aside)


def _software(case: LaunchCase, launch: Launch, boxes: dict[str, Box], options: ViewOptions) -> list[Primitive]:
    """Draw the kernel's name, the grid of its launch, and one block."""
    theme, words = options.theme, case.device.words
    threads, count = sized(launch.threads_per_block, "thread"), many(launch.block_count, words["block"])
    grid, block = (np.zeros(_table_shape(each), np.uint8) for each in (launch.grid, launch.block))
    number = np.arange(block.size).reshape(block.shape)
    warps = (number // case.device.warp_size % len(theme.warps)).astype(np.uint8)
    function = tr("{function}, the GPU's program", function=case.setup.kernel.function)
    every, some = tr("all {count} of a launch", count=count), tr("{threads} that share memory", threads=threads)
    return [
        *_meaning("kernel", boxes["kernel"], tr("kernel"), function, options),
        *_meaning("grid-word", boxes["grid-word"], tr("grid"), every, options),
        cells_in("grid", boxes["grid"], grid, (theme.load,), theme.background, ("",), meaning="grid"),
        *_meaning("block-word", boxes["block-word"], tr(words["block"]), some, options),
        cells_in("block", boxes["block"], warps, theme.warps, theme.background),
    ]


def _hardware(case: LaunchCase, boxes: dict[str, Box], options: ViewOptions) -> list[Primitive]:
    """Draw the device with all of its multiprocessors and its memory, and one multiprocessor: the place of its blocks, cores,
    registers, shared memory and caches.
    """
    theme, device = options.theme, case.device
    gpu = tr("the GPU: {multiprocessors} and a memory", multiprocessors=sized(device.sms, "multiprocessor"))
    one = tr("{fp32_per_sm} cores with their own memories", fp32_per_sm=grouped(device.fp32_per_sm))
    outer = tr("{memory_bytes}, off the chip", memory_bytes=size_text(device.memory_bytes))
    pieces: list[Primitive] = [
        round_boxes("device", boxes["device"], theme.panel, theme.line),
        *_meaning("device-word", boxes["device"], tr("device"), gpu, options),
        units("sms", device.sms, boxes["sms"], theme, first=True),
        round_boxes("sm", boxes["sm"], theme.background, theme.load, 3),
        *_meaning("sm-word", boxes["sm"], tr("multiprocessor"), one, options),
        round_boxes("slot", boxes["slot"], theme.empty),
        units("cores", device.fp32_per_sm, boxes["cores"], theme),
        *memory("memory", boxes["memory"], theme),
        *_meaning("memory-word", boxes["memory"], tr("device memory"), outer, options),
    ]
    for place, (name, text) in enumerate(_memory_parts(case)):
        box, key = boxes[name], f"part-{place}"
        lines = [Line(f"{key}-0", tr(name), *theme.small), Line(f"{key}-1", text, *theme.aside)]
        fits = box.height >= 2 * LINE_PITCH * theme.type.least
        pieces += memory(key, box, theme, lines if fits else [Line(f"{key}-0", f"{tr(name)}, {text}", *theme.small)])
    for name in _MEMORY_SPACES:
        pieces += tag(f"space-{name}", boxes[name], tr(name), theme.panel, theme)
    return pieces


def _memory_parts(case: LaunchCase) -> list[tuple[str, str]]:
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


# Words of CUDA and HIP.

_INDENT = 24
_WAY = 0.35  # share of the way between the columns, from which a term comes
_MODELS = ("CUDA", "HIP")
_CALLS = (
    (marked("allocate"), "cudaMalloc", "hipMalloc"),
    (marked("copy memory"), "cudaMemcpy", "hipMemcpy"),
    (marked("free"), "cudaFree", "hipFree"),
    (marked("mark of a kernel"), "__global__", "__global__"),
)
_MAKERS = (
    (marked("made by"), "NVIDIA", marked("AMD, open source")),
    (marked("runs on"), marked("NVIDIA GPUs"), marked("AMD and NVIDIA GPUs")),
)
_PARTS_OF_DEVICES = (
    (marked("threads in step"), "warp"),
    (marked("memory of a block"), "shared memory"),
    (marked("group of cores"), "sm"),
)


def vendors_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """CUDA and HIP side by side: who makes them, what they run on, and what each calls the same thing.

    Sources: NVIDIA CUDA C++ Programming Guide; AMD HIP documentation, What is HIP? and HIP porting guide (the HIP runtime
    runs on AMD GPUs, and on NVIDIA GPUs as a layer over CUDA). Words for parts of a device are those of the device's file.

    Draw the names of the rows and of both columns.
    """
    theme, (names, columns), primitives = options.theme, _table_boxes(case, options), list[Primitive]()
    for place, (model, rows) in enumerate(zip(_MODELS, columns, strict=True)):
        box = rows[0]._replace(height=rows[-1].bottom - rows[0].y + 8)
        fill = theme.slate if (case.device.vendor == "AMD") == bool(place) else theme.panel
        style = theme.strong.sized(theme.type.title)
        primitives += [
            round_boxes(f"vendors-column-{place}", box, fill),
            write(f"vendors-head-{place}", rows[0].inset(_INDENT, 0), model, style),
        ]
    for place, ((name, *_), box) in enumerate(zip(_term_rows(case), names[1:], strict=True)):
        primitives.append(write(f"vendors-name-{place}", box, tr(name), theme.soft))
    note = (
        tr("words for parts of the chip on the right: {device}", device=case.device.name)
        if case.device.own_words
        else tr("words of CUDA and of HIP")
    )
    return titled(primitives, tr("CUDA and HIP"), note, options)


def vendors_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the terms: row by row, that of CUDA and then its counterpart, which comes from it."""
    theme, rows, (_, columns), drawn = options.theme, _term_rows(case), _table_boxes(case, options), list[Primitive]()
    left, right = ([box.inset(_INDENT, 0) for box in column[1:]] for column in columns)
    widest = max(theme.strong.sized(1).width(term) for row in rows for term in row[1:])
    style = theme.strong.sized(min(theme.type.name, left[0].width / widest))
    for place, (_, cuda, hip) in enumerate(rows):
        share = eased_in_turn(options.moment, place, len(rows))
        start = left[place].towards(right[place], 1 - _WAY)
        ends = ((cuda, left[place]), (hip, start.towards(right[place], share)))
        for side, (word, box) in enumerate(ends if share > 0 else ()):
            is_same = side == 1 and hip == cuda
            ink = theme.faded(theme.faint if is_same else theme.text, share)
            drawn.append(write(f"vendors-{place}-{side}", box, word, style.inked(ink)))
    return tuple(drawn)


def _term_rows(case: LaunchCase) -> list[tuple[str, str, str]]:
    """Return what a row is about, and the term of CUDA and of HIP for it."""
    words = case.device.words if case.device.vendor == "AMD" else CUDA_WORDS
    makers = ((name, tr(cuda), tr(hip)) for name, cuda, hip in _MAKERS)
    return [*makers, *((name, tr(CUDA_WORDS[word]), tr(words[word])) for name, word in _PARTS_OF_DEVICES), *_CALLS]


def _table_boxes(case: LaunchCase, options: ViewOptions) -> tuple[list[Box], list[list[Box]]]:
    """Return the boxes of the names of the rows and of the terms in both columns, each below the box of a heading."""
    names, *columns = options.room(120, 28 + options.lacking(20)).columns(274, REST, REST, gap=26)
    sizes: list[float | Share] = [56, *[REST] * len(_term_rows(case))]
    return names.rows(*sizes), [column.rows(*sizes) for column in columns]


VIEWS = {
    "terms": View(
        marked("Terms: grid, block, device"), LaunchCase, terms_scene, draw_motion=terms_motion, least=260, order=406
    ),
    "vendors": View(marked("Words of CUDA and HIP"), LaunchCase, vendors_scene, vendors_motion, order=409),
}
