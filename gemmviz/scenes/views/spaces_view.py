"""The memory spaces of CUDA with scope, lifetime and access, and the declarations of the kernel, each on its way into the
memory that it selects.

Sources: CUDA C++ Best Practices Guide, Device Memory Spaces (Table 1, Salient Features of Device Memory); CUDA C++
Programming Guide, Variable Memory Space Specifiers; for devices without a cache for global memory NVIDIA CUDA Programming
Guide 1.0, 5.1.2.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gemmviz.analysis.declarations import Declaration, MemorySpace, declarations
from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import size_text
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, eased_from, titled
from gemmviz.scenes.kit.layout import Box, Share, along, text_at
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.view import View

_TOP, _GAP, _INSET, _LEADING, _HEADING = 112.0, 14.0, 14.0, 1.3, 38.0
_CODE = 0.37  # of the width: the declarations
_FLIGHT = 0.35  # share of the motion that one declaration takes
_NOTE = marked("an array is in registers if the compiler knows its indices, else in local memory")
_PARTS = (
    (marked("on the chip, in each {sm}"), ("register", "shared")),
    (marked("off the chip"), ("local", "global", "constant", "texture")),
)


class _Memory(NamedTuple):
    """A memory: its name, the declaration that selects it, its size, its scope and lifetime, and how it is accessed."""

    name: MemorySpace
    declaration: str
    size: str
    scope: str
    access: str


class _Plan(NamedTuple):
    """``code``: the region of the declarations; ``groups``: the boxes of chip and rest; ``cards``: the box of each memory."""

    code: Box
    groups: list[Box]
    cards: dict[str, Box]

    @classmethod
    def of(cls, options: ViewOptions) -> "_Plan":
        """Two memories in a row, the chip's above."""
        code, right = options.room(_TOP, 22).columns(Share(_CODE), Share(1.0 - _CODE))
        between, around = 0.6 * _INSET, _HEADING + 0.3 * _INSET
        lines = right.trimmed(bottom=_GAP + 2 * around + between).rows(Share(1), Share(2))
        groups = right.rows(*(line.height + around for line in lines), gap=_GAP)
        cards = dict[str, Box]()
        for group, (_, names) in zip(groups, _PARTS, strict=True):
            inner = group.trimmed(_INSET, _HEADING, _INSET, 0.3 * _INSET)
            places = inner.grid(len(names) // 2, 2, _INSET, 0.0)
            cards |= {name: box.trimmed(bottom=between) for name, box in zip(names, places, strict=True)}
        return cls(code.trimmed(right=20), groups, cards)


def spaces_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw a card for each memory, grouped by where it is, and the kernel's declarations. Memories that the kernel uses are
    filled; names on their way are drawn by ``spaces_motion``.
    """
    device, plan, theme = case.device, _Plan.of(options), options.theme
    used = used_spaces(case.setup.kernel.text)
    pieces: list[Primitive] = []
    size = theme.type.words
    for number, ((name, _), box) in enumerate(zip(_PARTS, plan.groups, strict=True)):
        text = tr(name).format(sm=tr(device.words["sm"])) + ("" if number == 0 else _cached(device))
        inner = box.inset(_INSET, 0.74 * _HEADING)
        pieces += [
            Rects(f"place-{number}", boxes(box), None, theme.line, 2.0, 12.0),
            text_line(f"place-{number}-name", inner[:2], text, theme.type.least, inner.width, theme.faint),
        ]
    for memory in _memories(device):
        pieces += _card(memory, plan.cards[memory.name], memory.name in used, options)
    shown = _shown(case, plan, options)
    for place, each in enumerate(shown):
        at = _code_place(plan, place, options)
        pieces.append(text_line(f"declared-{place}", at, each.text, theme.type.code, plan.code.width, theme.text, "mono"))
    head, code = tr("declared by the kernel"), plan.code
    at = code.x, code.y + 0.74 * _HEADING
    pieces.append(text_line("declared-name", at, head, size, code.width, theme.text, "semibold"))
    return titled(pieces, tr("Memories of {device}", device=device.name), f"{case.setup.kernel.name}: {tr(_NOTE)}", options)


def spaces_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the names of the declared variables on their way from their declarations into their memories."""
    plan, theme = _Plan.of(options), options.theme
    shown, moment = _shown(case, plan, options), min(1.0, options.moment / ARRIVAL)
    pieces, size = list[Primitive](), theme.type.least
    for place, name, x, wide, inset in _chips(shown, plan, size):
        card = plan.cards[shown[place].space]
        share = eased_from(moment, place / len(shown) * (1 - _FLIGHT), _FLIGHT)
        if share <= 0:
            continue
        left, y = along([_code_place(plan, place, options), (x, card.bottom - 0.75 * size)], share)
        ground = Box(left, y - 0.98 * size, wide, 1.36 * size)
        pieces.append(Rects(f"chip-{place}", boxes(ground), theme.load, None, radius=5.0))
        if share >= 1.0:  # on their way names would stand over others
            ink = theme.ink_on(theme.load)
            pieces.append(text_at(f"chip-{place}-name", (left + inset, y), name, size, ink, "start", "mono"))
    return tuple(pieces)


def _chips(shown: tuple[Declaration, ...], plan: _Plan, size: float) -> Iterator[tuple[int, str, float, float, float]]:
    """Yield the chips that fit in their cards: place of the declaration, name, left edge, width, and inset of the name. Many
    names in a card stand closer together.
    """
    for space, card in plan.cards.items():
        own = [
            (place, f"→ {each.name}" if each.is_pointer else each.name)
            for place, each in enumerate(shown)
            if each.space == space
        ]
        widths, room = [text_width(name, size, "mono") for _, name in own], card.width - 1.5 * _INSET
        inset = min(8.0, max(4.0, (room - sum(widths)) / (3 * len(own)))) if own else 0.0
        x = card.x + _INSET
        for (place, name), wide in zip(own, widths, strict=True):
            if x + wide + 2 * inset <= card.right - 0.5 * _INSET:
                yield place, name, x, wide + 2 * inset, inset
            x += wide + 3 * inset


def _shown(case: LaunchCase, plan: _Plan, options: ViewOptions) -> tuple[Declaration, ...]:
    """Return the declarations that fit below each other: all kinds of memories before more of one kind."""
    found = declarations(case.setup.kernel.text, case.setup.definitions)
    most = int((plan.code.height - _HEADING) / (1.5 * options.theme.type.code))
    rank = {each.name: sum(other.space == each.space for other in found[:n]) for n, each in enumerate(found)}
    chosen = set(sorted(rank, key=lambda name: rank[name])[:most])
    return tuple(each for each in found if each.name in chosen)


def _code_place(plan: _Plan, place: int, options: ViewOptions) -> tuple[float, float]:
    return plan.code.x, plan.code.y + _HEADING + (place + 1) * 1.5 * options.theme.type.code


def _card(memory: _Memory, box: Box, is_used: bool, options: ViewOptions) -> list[Primitive]:
    """Draw a memory. Lines without space are left out, the last ones first; the lowest part is that of the names."""
    theme = options.theme
    ink, inner = theme.text if is_used else theme.faint, box.width - 2 * _INSET
    key, ground, sizes = f"memory-{memory.name}", boxes(box), theme.type
    pieces: list[Primitive] = [Rects(key, ground, theme.slate if is_used else None, theme.line, 2.0, 8.0)]
    y = box.y + 1.25 * sizes.name
    pieces.append(text_line(f"{key}-0", (box.x + _INSET, y), tr(memory.name), sizes.name, inner, ink, "semibold"))
    beside = inner - text_width(tr(memory.name), sizes.name, "semibold") - 20
    declared = fitted(memory.declaration, sizes.least, beside, "mono")
    at = (box.right - _INSET, y)
    pieces.append(text_at(f"{key}-declaration", at, declared, sizes.least, ink, "end", "mono"))
    y += 4
    for number, text in enumerate((memory.scope, memory.access, memory.size)):
        y += _LEADING * sizes.least
        if y + 0.3 * sizes.least > box.bottom - 1.9 * sizes.least or not text:
            break
        pieces.append(text_line(f"{key}-{number + 1}", (box.x + _INSET, y), text, sizes.least, inner, ink))
    return pieces


def used_spaces(text: str) -> frozenset[str]:
    """Return the memories that a kernel's text names, and global memory and registers, which every kernel uses."""
    named = {"texture"} if "tex1D" in text else set[str]()
    return frozenset({"register", "global", *named, *(each.space for each in declarations(text))})


def _cached(device: Device) -> str:
    return tr(", global and local memory cached") if device.levels[1:-1] else tr(", global and local memory not cached")


def _memories(device: Device) -> tuple[_Memory, ...]:
    """Return all memories."""
    registers, shared = size_text(device.register_bytes), size_text(device.shared_per_sm)
    sm, memory = tr(device.words["sm"]), size_text(device.memory_bytes)
    thread, block = tr("scope: one thread; lifetime: the thread's"), tr("scope: one block; lifetime: the block's")
    everyone = tr("scope: grid, host; lifetime: the program's")
    local = "int x[9];" if device.levels[1:-1] else "__local__ int x;"
    both, read = tr("read and written"), tr("read by threads, written by the host; cached")
    return (
        _Memory(marked("register"), "int x;", tr("{registers} on each {sm}", registers=registers, sm=sm), thread, both),
        _Memory(marked("shared"), "__shared__ int x;", tr("{shared} on each {sm}", shared=shared, sm=sm), block, both),
        _Memory(marked("local"), local, tr("part of global memory"), thread, both),
        _Memory(marked("global"), "__device__ int x;", memory, everyone, both),
        _Memory(marked("constant"), "__constant__ int x;", "64 KiB", everyone, read),
        _Memory(marked("texture"), "tex1D(x, i)", tr("part of global memory"), everyone, read),
    )


VIEW = View(marked("Memories and their qualifiers"), LaunchCase, spaces_scene, draw_motion=spaces_motion, order=42)
