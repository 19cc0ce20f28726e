"""Views of the memories that a kernel uses: their levels, their spaces, and the data in them."""

from itertools import pairwise
from typing import NamedTuple

from gemmviz.analysis.counts import Counts
from gemmviz.analysis.listing import Declaration, MemorySpace, declarations
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.devices import load_device
from gemmviz.model.cases import ArrayUse, DataUse, LaunchCase
from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.messages import capital, counted, listed, many, marked, number, size_text, spaced, tr
from gemmviz.model.sites import shared_bytes
from gemmviz.scenes.kit.layout import (
    LINE_PITCH,
    NEAR,
    REST,
    ROW_PITCH,
    Box,
    Line,
    Share,
    along,
    lines_down,
    lines_in,
    path,
    round_boxes,
    term,
    wrapped,
    write,
)
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, fits_lines
from gemmviz.scenes.kit.shapes import CHIP, Chip, chips_into, memory, moving_chips
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.theme import Style, Theme
from gemmviz.scenes.kit.view import View, ViewOptions, eased_from, framed, titled
from gemmviz.scenes.stage.cells import WIDE, elements_at

# Memory hierarchy: bytes so far.

_COLUMNS = Share(49), Share(31), Share(20)  # shared memory, the pipe of global memory, caches of its parts
_SHARED_AT, _GLOBAL_AT = 0.85, 0.1  # of the first and of the second: their pipes
_LEAST_PIPE, _MOST_PIPE = 6, 44
_SMALL_CACHES = (marked("constant cache"), "__constant__"), (marked("texture cache"), "tex1D")


def hierarchy_scene(moment: Moment, options: ViewOptions) -> Scene:
    """The memories that a thread uses, from registers to global memory: their scope, their size on the device, and the bytes
    transferred so far.

    Draw all levels of memory; between them the bytes transferred so far by the warps of the watched threads.
    """
    return framed(_drawn_levels(moment, options), moment, options)


def hierarchy_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements of this step on their way to or from registers: a chip each, in the colour of a matrix."""
    room, levels = _level_boxes(moment, options)
    pieces: list[Primitive] = []
    for place, touched in enumerate(moment.touched):
        is_global = touched.array.space == "global"
        if not len(touched.cells):
            continue
        ends = [(_pipe_x(room, is_global), box.middle_y) for box in (levels[-1 if is_global else 1], levels[0])]
        way = ends if touched.operand.access == "read" else ends[::-1]
        pieces.append(elements_at(moment, place, along(way, eased_from(options.moment)), options.theme))
    return tuple(pieces)


def _level_boxes(moment: Moment, options: ViewOptions) -> tuple[Box, list[Box]]:
    """Return the space of the picture, and the boxes of the levels in it, the nearest to the threads first. Shared memory
    stands at the left, so that the pipe of global memory passes it.
    """
    count, room = len(load_device(moment.trace.setup.device).levels), options.room()
    first, below = room.rows(REST, Share(count), gap=1.8 * options.theme.large.size)
    levels = [first, *below.grid(count, 1, down=room.height / 33)]
    levels[1] = levels[1].columns(*_COLUMNS)[0]
    return room, levels


def _pipe_x(room: Box, is_global: bool) -> float:
    near, beyond, _ = room.columns(*_COLUMNS)
    return beyond.at(_GLOBAL_AT)[0] if is_global else near.at(_SHARED_AT)[0]


def _drawn_levels(moment: Moment, options: ViewOptions) -> list[Primitive]:
    (room, levels), theme = _level_boxes(moment, options), options.theme
    primitives = list[Primitive]()
    for place, ((name, who, size), box) in enumerate(zip(_level_facts(moment), levels, strict=True)):
        end, key = _pipe_x(room, is_global=place > 1) - WIDE / 2, f"level-{place}"
        inner = box.trimmed(22, right=box.right - end + 22)
        title = next((style for style in (theme.strong, theme.small) if style.width(name) <= inner.width), theme.small)
        lines = wrapped(f"{key}-name", name, title, inner.width)
        texts = (("size", size, theme.small), ("who", who, theme.aside))
        lines += [Line(f"{key}-{part}", text, *style) for part, text, style in texts if style.width(text) <= inner.width]
        primitives += memory(f"{key}-box", box, theme, lines, place, 3, inner)
    caches = _small_caches(moment, room, levels, options)
    return [*primitives, *_pipes(moment, room, levels, options, wide=not caches), *caches]


def _level_facts(moment: Moment) -> list[tuple[str, str, str]]:
    """Return name, who uses it, and size of each level, the nearest to the threads first."""
    device, arrays = load_device(moment.trace.setup.device), moment.trace.arrays
    words, (first, *caches, last) = device.words, device.levels
    own = shared_bytes(arrays)
    uses = tr("this kernel uses {own}", own=size_text(own)) if own else tr("this kernel uses none")
    registers = tr("{size_bytes} on each {sm}", size_bytes=size_text(device.register_bytes), sm=tr(words["sm"]))
    shared = tr("{size_bytes} on each {sm}", size_bytes=size_text(first.size_bytes), sm=tr(words["sm"]))
    rate = tr(
        "{size_bytes}, {bandwidth_gb_s} GB/s, off the chip",
        size_bytes=size_text(last.size_bytes),
        bandwidth_gb_s=number(device.bandwidth_gb_s),
    )
    return [
        (tr("Registers"), tr("private to each thread"), registers),
        (capital(tr(first.name)), tr("shared by a {block}; {uses}", block=tr(words["block"]), uses=uses), shared),
        *(_cache_facts(each, device) for each in caches),
        (
            capital(tr(last.name)),
            tr("all threads and the host share it"),
            rate + ("" if caches else tr("; no cache before it")),
        ),
    ]


def _cache_facts(level: MemoryLevel, device: Device) -> tuple[str, str, str]:
    """Name and texts of a cache."""
    where = (
        tr("on each {sm}", sm=tr(device.words["sm"]))
        if level.shared_by == "SM"
        else tr("for all {sm}s", sm=tr(device.words["sm"]))
    )
    rate = "" if level.bandwidth_gb_s is None else f", {number(level.bandwidth_gb_s)} GB/s"
    return capital(tr(level.name)), tr("filled by the hardware"), f"{size_text(level.size_bytes)} {where}{rate}"


def _pipes(moment: Moment, room: Box, levels: list[Box], options: ViewOptions, wide: bool) -> list[Primitive]:
    """Draw the ways to shared and to global memory, as wide as the bytes requested so far, and these numbers; ``wide``: those
    of global memory have the room of the small caches, too.
    """
    so_far = {"shared": moment.so_far("shared"), "global": moment.so_far("global")}
    most = max(1, *(each.bytes_asked for each in so_far.values()))
    primitives: list[Primitive] = []
    for (space, counts), ends in zip(so_far.items(), (levels[:2], [levels[0], *levels[2:]]), strict=True):
        x = _pipe_x(room, space == "global")
        across = _LEAST_PIPE + (_MOST_PIPE - _LEAST_PIPE) * counts.bytes_asked / most
        parts = [Box(x - across / 2, a.bottom, across, b.y - a.bottom) for a, b in pairwise(ends)]
        primitives.append(Rects(f"{space}-pipe", boxes(*parts), options.theme.faint))
        if space == "shared":
            said = ends[0]._replace(y=ends[0].bottom, width=x - room.x - _MOST_PIPE, height=ends[1].y - ends[0].bottom)
        else:
            end = room.right if wide else room.columns(*_COLUMNS)[1].right
            said = levels[1]._replace(x=x + _MOST_PIPE, width=end - x - _MOST_PIPE)
        primitives += _said(moment, space, counts, said, options)
    return primitives


def _said(moment: Moment, space: str, counts: Counts, box: Box, options: ViewOptions) -> list[Labels]:
    """Draw the bytes that were requested of a memory, large, and what that took, where there is space for it."""
    asked = tr("{count} bytes requested", count=spaced(counts.bytes_asked))
    styles, small = (options.theme.large, options.theme.strong, options.theme.small), options.theme.small
    large = next((style for style in styles if style.width(asked) <= box.width), small)
    lines = wrapped(f"{space}-passed", asked, large, box.width)
    if space == "global" and counts.sectors:
        moved = counted(size_text(counts.bytes_moved(moment.trace.rules)))
        text = tr("{moved} moved, in {sectors}", moved=moved, sectors=many(counts.sectors, "sector"))
        lines += wrapped("global-moved", text, small, box.width)
    elif counts.wavefronts:
        text = tr("in {wavefronts}", wavefronts=many(counts.wavefronts, "wavefront"))
        beyond = box.trimmed(left=large.width(asked) + NEAR)
        fits = small.width(text) <= beyond.width
        return [*lines_in(box, lines), *([write("shared-took", beyond, text, small)] if fits else [])]
    return lines_in(box, lines)


def _small_caches(moment: Moment, room: Box, levels: list[Box], options: ViewOptions) -> list[Primitive]:
    """Draw the caches of constant and texture memory beside shared memory, and their ways to global memory, of which both are
    parts; none where there is no space.
    """
    theme, text, primitives = options.theme, moment.trace.setup.kernel.text, list[Primitive]()
    column = room.columns(*_COLUMNS)[2]._replace(y=levels[1].y, height=levels[1].height)
    for box, (name, word) in zip(column.columns(REST, REST, gap=NEAR), _SMALL_CACHES, strict=True):
        style, (foot, below) = theme.small if word in text else theme.aside, (box.at(0.5, 1.0), levels[2].at(0.5, 0.0))
        most = int(box.height / (LINE_PITCH * style.size))
        if most < 1 or not fits_lines(tr(name), style.size, box.width - 2 * NEAR, most):
            return []
        lines = wrapped(f"{name}-name", tr(name), style, box.width - 2 * NEAR)
        primitives.append(path(f"{name}-way", [foot, (foot[0], below[1])], theme.line, _LEAST_PIPE))
        primitives.append(round_boxes(f"{name}-box", box, theme.panel, style.colour))
        primitives += lines_in(box.inset(NEAR, 0), lines)
    return primitives


# Memories and their qualifiers.

_INSET, _HEADING = 14, 38
_FACT_LINES = 4  # lines that say what is known of a memory
_NOTE = marked("an array is in registers if the compiler knows its indices, else in local memory")
_PLACES_OF_MEMORIES = (
    (marked("on the chip, in each {sm}"), ("register", "shared")),
    (marked("off the chip"), ("local", "global", "constant", "texture")),
)


class _Memory(NamedTuple):
    """A memory: its name, the declaration that selects it, its size, its scope, its lifetime, and how it is accessed."""

    name: MemorySpace
    declaration: str
    size: str
    scope: str
    lifetime: str
    access: str


class _Plan(NamedTuple):
    """``code``: the heading and the lines of the declarations; ``groups``: the boxes of chip and rest; ``cards``: the box of
    each memory; ``style``: that of the declarations.
    """

    code: list[Box]
    groups: list[Box]
    cards: dict[str, Box]
    style: Style

    @classmethod
    def of(cls, case: LaunchCase, options: ViewOptions) -> "_Plan":
        """Two memories in a row, the chip's above; the declarations as large as all of them fit, within limits."""
        code, right = options.room(112, 22).columns(Share(37), Share(63), gap=_INSET)
        head, rest = code.strip("top", _HEADING)
        texts, sizes = [each.text for each in _all_declarations(case)], options.theme.type
        longest = max((Style(1, "", "mono").width(text) for text in texts), default=1.0)
        size = min(sizes.title, rest.height / (ROW_PITCH * max(1, len(texts))), rest.width / longest)
        style = Style(max(size, sizes.code), options.theme.text, "mono")
        lines = rest.rows(*[ROW_PITCH * style.size] * int(rest.height / (ROW_PITCH * style.size) + 0.01))
        groups, cards = list[Box](), dict[str, Box]()
        first, upper, _, second, lower = right.rows(_HEADING, Share(1), _INSET, _HEADING, Share(2))
        for name, own, (_, names) in zip((first, second), (upper, lower), _PLACES_OF_MEMORIES, strict=True):
            groups.append(name._replace(height=own.bottom - name.y))
            places = own.trimmed(_INSET, 0, _INSET, NEAR).grid(len(names) // 2, 2, _INSET)
            cards |= dict(zip(names, places, strict=True))
        return cls([head, *lines], groups, cards, style)


def spaces_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """The memory spaces of CUDA with scope, lifetime and access, and the declarations of the kernel, each on its way into the
    memory that it selects.

    Sources: CUDA C++ Best Practices Guide, Device Memory Spaces (Table 1, Salient Features of Device Memory); CUDA C++
    Programming Guide, Variable Memory Space Specifiers; for devices without a cache for global memory NVIDIA CUDA
    Programming Guide 1.0, 5.1.2.

    Draw a card for each memory, grouped by where it is, and the kernel's declarations. Memories that the kernel uses are
    filled; names on their way are drawn by ``spaces_motion``.
    """
    device, plan, theme = case.device, _Plan.of(case, options), options.theme
    used = used_spaces(case.setup.kernel.text)
    pieces: list[Primitive] = []
    for group, ((name, _), box) in enumerate(zip(_PLACES_OF_MEMORIES, plan.groups, strict=True)):
        text = tr(name).format(sm=tr(device.words["sm"])) + ("" if group == 0 else _cached(device))
        head = box.inset(_INSET, 0)._replace(height=_HEADING)
        pieces += [
            round_boxes(f"place-{group}", box, None, theme.line),
            write(f"place-{group}-name", head, text, theme.aside),
        ]
    for each in _memory_cards(device):
        pieces += _card(each, plan.cards[each.name], each.name in used, theme)
    for place, (declared, box) in enumerate(zip(_shown_declarations(case, plan), plan.code[1:], strict=False)):
        pieces.append(write(f"declared-{place}", box, declared.text, plan.style))
    pieces.append(write("declared-name", plan.code[0], tr("declared by the kernel"), theme.strong))
    return titled(pieces, tr("Memories of {device}", device=device.name), f"{case.setup.kernel.name}: {tr(_NOTE)}", options)


def spaces_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the names of the declared variables on their way from their declarations into their memories."""
    plan, theme, chips = _Plan.of(case, options), options.theme, list[Chip]()
    shown = list(enumerate(_shown_declarations(case, plan)))
    for space, card in plan.cards.items():
        own = [(place, f"→ {each.name}" if each.is_pointer else each.name) for place, each in shown if each.space == space]
        named = [(place, name, plan.code[place + 1], theme.load) for place, name in own]
        chips += chips_into(_of_card(card, theme)[2], named, theme)
    return moving_chips(chips, options)


def _all_declarations(case: LaunchCase) -> tuple[Declaration, ...]:
    return declarations(case.setup.kernel.text, case.setup.definitions)


def _shown_declarations(case: LaunchCase, plan: _Plan) -> tuple[Declaration, ...]:
    """Return the declarations that fit below each other: all kinds of memories before more of one kind."""
    found = _all_declarations(case)
    rank = {each.name: sum(other.space == each.space for other in found[:n]) for n, each in enumerate(found)}
    chosen = set(sorted(rank, key=lambda name: rank[name])[: len(plan.code) - 1])
    return tuple(each for each in found if each.name in chosen)


def _of_card(box: Box, theme: Theme) -> list[Box]:
    """Return the parts of a card: the line of its name, what is known of the memory, and the names of variables."""
    sizes, inner = theme.type, box.inset(_INSET, NEAR / 2)
    free = inner.height - LINE_PITCH * sizes.name - CHIP * sizes.least - 8
    return inner.rows(LINE_PITCH * sizes.name, min(free, _FACT_LINES * LINE_PITCH * sizes.words), REST, gap=4)


def _card(memory: _Memory, box: Box, is_used: bool, theme: Theme) -> list[Primitive]:
    """Draw a memory. Lines without space are left out, the last ones first."""
    ink, key = theme.text if is_used else theme.faint, f"memory-{memory.name}"
    head, body, _ = _of_card(box, theme)
    name, size = tr(memory.name), min(theme.type.words, body.height / (_FACT_LINES * LINE_PITCH))
    small = Style(max(theme.type.least, size), ink)
    strong = Style(theme.type.name, ink, "semibold")
    beyond = head.trimmed(left=strong.width(name) + NEAR)
    texts = [text for text in (memory.scope, memory.lifetime, memory.access, memory.size) if text]
    return [
        round_boxes(key, box, theme.slate if is_used else None, theme.line),
        write(f"{key}-0", head, name, strong),
        write(f"{key}-declaration", beyond, memory.declaration, small._replace(face="mono"), "end"),
        *lines_down(body, [Line(f"{key}-{number}", text, *small) for number, text in enumerate(texts, 1)]),
    ]


def used_spaces(text: str) -> frozenset[str]:
    """Return the memories that a kernel's text names, and global memory and registers, which every kernel uses."""
    named = {"texture"} if "tex1D" in text else set[str]()
    return frozenset({"register", "global", *named, *(each.space for each in declarations(text))})


def _cached(device: Device) -> str:
    return tr(", global and local memory cached") if device.levels[1:-1] else tr(", global and local memory not cached")


def _memory_cards(device: Device) -> tuple[_Memory, ...]:
    """Return all memories."""
    registers, shared = size_text(device.register_bytes), size_text(device.shared_per_sm)
    sm, memory = tr(device.words["sm"]), size_text(device.memory_bytes)
    thread = tr("scope: one thread"), tr("lifetime: the thread's")
    block, everyone = (
        (tr("scope: one block"), tr("lifetime: the block's")),
        (tr("scope: grid, host"), tr("lifetime: the program's")),
    )
    local = "int x[9];" if device.levels[1:-1] else "__local__ int x;"
    both, read = tr("read and written"), tr("only read; cached; set by the host")
    return (
        _Memory(marked("register"), "int x;", tr("{registers} on each {sm}", registers=registers, sm=sm), *thread, both),
        _Memory(marked("shared"), "__shared__ int x;", tr("{shared} on each {sm}", shared=shared, sm=sm), *block, both),
        _Memory(marked("local"), local, tr("part of global memory"), *thread, both),
        _Memory(marked("global"), "__device__ int x;", memory, *everyone, both),
        _Memory(marked("constant"), "__constant__ int x;", "64 KiB", *everyone, read),
        _Memory(marked("texture"), "tex1D(x, i)", tr("part of global memory"), *everyone, read),
    )


# Data and the memories that it belongs in.

_STRETCH = 9  # how much higher than their text rows may be: the table is as high as the memories beside it
_CONSTANT_BYTES = 65536  # bytes: CUDA C++ Programming Guide, Technical Specifications per Compute Capability
_RULES = {
    "register": (marked("registers"), marked("used by one thread")),
    "shared": (marked("shared memory"), marked("read and written by a block")),
    "constant": (marked("constant memory"), marked("only read, and small")),
    "global": (marked("global memory"), marked("inputs and results")),
}


def data_scene(case: DataUse, options: ViewOptions) -> Scene:
    """A kernel's data with its reads and writes, and the memory that each kind of use asks for: names move from the table into
    the memories that they are in.

    Draw the table of data, and a box for each memory with the use that it is for. Names are drawn by ``data_motion``.
    """
    theme, pieces = options.theme, list[Primitive]()
    room, memories = _data_places(options)
    rows = [_use_row(each) for each in case.arrays]
    if case.variables:
        rows.append([TableCell(_variables(case), strong=True), TableCell(tr("each thread")), TableCell(tr("its own"))])
    pieces += table("data", (tr("data"), tr("elements read"), tr("written")), rows, room, theme, stretch=_STRETCH)
    small = [
        each.name for each in case.arrays if each.space == "global" and each.is_only_read and each.size_bytes <= _CONSTANT_BYTES
    ]
    for key, (name, rule) in _RULES.items():
        head, _, foot = _of_memory(memories[key], options)
        name_style = theme.strong.sized(theme.type.name)
        pieces += [
            round_boxes(f"memory-{key}", memories[key], theme.slate),
            *term(f"memory-{key}-name", head, tr(name), name_style, tr(rule), theme.soft),
        ]
        if key == "constant" and small and case.device.vendor == "NVIDIA":
            text = tr("{small} would fit into its {constant}", small=listed(small), constant=size_text(_CONSTANT_BYTES))
            pieces.append(write("small", foot, text, theme.plain))
    return titled(pieces, tr("Data of {what}", what=case.what), tr("counted over the whole launch"), options)


def data_motion(case: DataUse, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the names on their way from the table into their memories."""
    theme, chips, (room, memories) = options.theme, list[Chip](), _data_places(options)
    named = [(each.name, str(each.space)) for each in case.arrays] + [(name, "register") for name in case.variables]
    rows = room.grid(len(case.arrays) + bool(case.variables) + 1, 1)[1:]
    for key, box in memories.items():
        own = [(place, name) for place, (name, space) in enumerate(named) if space == key]
        starts = [(n, name, rows[min(n, len(rows) - 1)], theme.accents.get(name, theme.load)) for n, name in own]
        chips += chips_into(_of_memory(box, options)[1], starts, theme)
    return moving_chips(chips, options)


def _data_places(options: ViewOptions) -> tuple[Box, dict[str, Box]]:
    """Return the room of the table, and the box of each memory."""
    left, right = options.room(124, 40).columns(REST, REST, gap=40)
    return left, dict(zip(_RULES, right.grid(len(_RULES), 1, down=16), strict=True))


def _of_memory(box: Box, options: ViewOptions) -> list[Box]:
    """Return the parts of a memory: its name, the room of its chips, and in it what else is said of a memory without any."""
    sizes = options.theme.type
    head, chips = box.inset(18, 10).rows(LINE_PITCH * sizes.name, REST, gap=8)
    return [head, chips, chips.strip("bottom", sizes.words)[0]]


def _use_row(each: ArrayUse) -> list[TableCell]:
    written = spaced(each.writes) if each.writes else tr("never")
    return [TableCell(each.name, strong=True), TableCell(spaced(each.reads) if each.reads else tr("never")), TableCell(written)]


def _variables(case: DataUse) -> str:
    """Return the first variables of a thread by name."""
    return ", ".join(case.variables[:3]) + (", …" if len(case.variables) > 3 else "")


VIEWS = {
    "data": View(marked("Data and the memories that it belongs in"), DataUse, data_scene, data_motion, order=411),
    "hierarchy": View(
        marked("Memory hierarchy: bytes so far"), Moment, hierarchy_scene, draw_motion=hierarchy_motion, order=306
    ),
    "spaces": View(marked("Memories and their qualifiers"), LaunchCase, spaces_scene, draw_motion=spaces_motion, order=310),
}
