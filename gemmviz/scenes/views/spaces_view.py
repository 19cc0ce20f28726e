"""The memory spaces of CUDA with scope, lifetime and access, and the declarations of the kernel, each on its way into the
memory that it selects.

Sources: CUDA C++ Best Practices Guide, Device Memory Spaces (Table 1, Salient Features of Device Memory); CUDA C++
Programming Guide, Variable Memory Space Specifiers; for devices without a cache for global memory NVIDIA CUDA Programming
Guide 1.0, 5.1.2.
"""

from typing import NamedTuple

from gemmviz.analysis.declarations import Declaration, MemorySpace, declarations
from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.translation import marked, size_text, tr
from gemmviz.scenes.kit.hardware import CHIP, Chip, chips_into, moving_chips
from gemmviz.scenes.kit.layout import LINE_PITCH, NEAR, REST, ROW_PITCH, Box, Line, Share, lines_down, round_boxes, write
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.theme import Style, Theme
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_INSET, _HEADING = 14, 38
_FACTS = 4  # lines that say what is known of a memory
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
    """Draw a card for each memory, grouped by where it is, and the kernel's declarations. Memories that the kernel uses are
    filled; names on their way are drawn by ``spaces_motion``.
    """
    device, plan, theme = case.device, _Plan.of(case, options), options.theme
    used = used_spaces(case.setup.kernel.text)
    pieces: list[Primitive] = []
    for number, ((name, _), box) in enumerate(zip(_PLACES_OF_MEMORIES, plan.groups, strict=True)):
        text = tr(name).format(sm=tr(device.words["sm"])) + ("" if number == 0 else _cached(device))
        head = box.inset(_INSET, 0)._replace(height=_HEADING)
        pieces += [
            round_boxes(f"place-{number}", box, None, theme.line),
            write(f"place-{number}-name", head, text, theme.aside),
        ]
    for memory in _memory_cards(device):
        pieces += _card(memory, plan.cards[memory.name], memory.name in used, theme)
    for place, (each, box) in enumerate(zip(_shown_declarations(case, plan), plan.code[1:], strict=False)):
        pieces.append(write(f"declared-{place}", box, each.text, plan.style))
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
    return inner.rows(LINE_PITCH * sizes.name, min(free, _FACTS * LINE_PITCH * sizes.words), REST, gap=4)


def _card(memory: _Memory, box: Box, is_used: bool, theme: Theme) -> list[Primitive]:
    """Draw a memory. Lines without space are left out, the last ones first."""
    ink, key = theme.text if is_used else theme.faint, f"memory-{memory.name}"
    head, body, _ = _of_card(box, theme)
    name, size = tr(memory.name), min(theme.type.words, body.height / (_FACTS * LINE_PITCH))
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


VIEW = View(marked("Memories and their qualifiers"), LaunchCase, spaces_scene, draw_motion=spaces_motion, order=310)
