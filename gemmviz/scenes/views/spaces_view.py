"""The memory spaces of CUDA: location, caching, access, scope, lifetime, and the declaration that selects them.

Sources: CUDA C++ Best Practices Guide, Device Memory Spaces (Table 1, Salient Features of Device Memory); CUDA C++
Programming Guide, Variable Memory Space Specifiers; for devices without a cache for global memory NVIDIA CUDA Programming
Guide 1.0, 5.1.2.
"""

from dataclasses import dataclass

from gemmviz.model.device import Device
from gemmviz.model.launch_case import LaunchCase
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Face, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import text_line, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.views.hierarchy_view import size_text

_SCALES = (1.4, 1.2, 1.0)  # of the type sizes, the largest that fits
_TOP, _GAP, _INSET, _LEADING, _HEADING = 116.0, 18.0, 18.0, 1.3, 40.0


_Line = tuple[str, float, Face]


@dataclass(frozen=True, slots=True)
class _Memory:
    """A memory: its name, the declaration that selects it, who accesses it and how, how long it lasts, and its size."""

    name: str
    declaration: str
    access: str
    lifetime: str
    size: str


def spaces_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw a card for each memory, grouped by where it is; those that the kernel uses are filled."""
    device, used = case.device, used_spaces(case.setup.kernel.text)
    room = Box(MARGIN, _TOP, options.width - 2 * MARGIN, options.height - _TOP - 24.0)
    high = (room.height - _GAP) / 2
    on_chip, off_chip = _memories(device)
    cached = "global and local memory cached" if device.levels[1:-1] else "global and local memory not cached"
    places = ((f"on the chip, in each {device.words['sm']}", on_chip), (f"off the chip, {cached}", off_chip))
    primitives: list[Primitive] = []
    for number, (place, memories) in enumerate(places):
        group = Box(room.x, room.y + number * (high + _GAP), room.width, high)
        primitives += _group(f"place-{number}", place, group, options.theme)
        wide, deep = (group.width - _INSET * (len(memories) + 1)) / len(memories), group.height - _HEADING - _INSET
        scale = _scale(memories, wide, deep, options.theme)
        for at, memory in enumerate(memories):
            card = Box(group.x + _INSET + at * (wide + _INSET), group.y + _HEADING, wide, deep)
            primitives += _card(memory, card, scale, memory.name in used, options.theme)
    note = f"Filled: used by {case.setup.kernel.name}. {_note(device)}"
    return titled(primitives, f"Memories of {device.name}", note, options)


def _group(key: str, name: str, box: Box, theme: Theme) -> list[Primitive]:
    """Draw the outline of a place with its name."""
    size = theme.type.words
    return [
        Rects(key, boxes((box.x, box.y, box.width, box.height)), None, theme.line, 2.0, 12.0),
        text_line(f"{key}-name", (box.x + _INSET, box.y + 0.76 * _HEADING), name, size, box.width - 2 * _INSET, theme.faint),
    ]


def _card(memory: _Memory, box: Box, scale: float, is_used: bool, theme: Theme) -> list[Primitive]:
    """Draw a memory. Lines without space are left out, the last ones first."""
    ink, inner = theme.text if is_used else theme.faint, box.width - 2 * _INSET
    key, ground = f"memory-{memory.name}", boxes((box.x, box.y, box.width, box.height))
    primitives: list[Primitive] = [Rects(key, ground, theme.slate if is_used else None, theme.line, 2.0, 8.0)]
    y = box.y + 0.5 * _INSET
    for number, (text, size, face) in enumerate(_lines(memory, inner, scale, theme)):
        y += _LEADING * size
        if y + 0.3 * size > box.y + box.height or (face == "mono" and text_width(text, size, face) > inner):
            break
        primitives.append(text_line(f"{key}-{number}", (box.x + _INSET, y), text, size, inner, ink, face))
    return primitives


def _scale(memories: tuple[_Memory, ...], width: float, height: float, theme: Theme) -> float:
    """Return the largest of the scales at which all words of the memories fit in cards of this size, else the least."""
    inner, room = width - 2 * _INSET, height - _INSET
    fitting = (each for each in _SCALES if all(_fits(_lines(one, inner, each, theme), inner, room) for one in memories))
    return next(fitting, _SCALES[-1])


def _lines(memory: _Memory, width: float, scale: float, theme: Theme) -> list[_Line]:
    """Return text, size and face of each line of a card."""
    sizes, note = theme.type, scale * theme.type.note
    lines: list[_Line] = [(memory.name, scale * sizes.name, "semibold"), (memory.declaration, scale * sizes.code, "mono")]
    for text in (memory.access, memory.lifetime, memory.size):
        lines += [(line, note, "regular") for line in wrap_text(text, note, width, 3)]
    return lines


def _fits(lines: list[_Line], width: float, height: float) -> bool:
    is_narrow = all(text_width(text, size, face) <= width for text, size, face in lines)
    return is_narrow and sum(_LEADING * size for _, size, _ in lines) <= height


def used_spaces(text: str) -> frozenset[str]:
    """Return the memories that a kernel's text names, and global memory and registers, which every kernel uses."""
    named = {"shared": "__shared__", "constant": "__constant__", "texture": "tex1D"}
    return frozenset({"register", "global", *(name for name, word in named.items() if word in text)})


def _note(device: Device) -> str:
    if device.levels[1:-1]:
        return "Arrays with indices unknown at compile time, and spilled registers, are in local memory"
    return "Automatic arrays are in local memory, which is as slow as global memory"


def _memories(device: Device) -> tuple[tuple[_Memory, ...], tuple[_Memory, ...]]:
    """Return the memories on the chip and those off the chip."""
    registers, shared = size_text(4 * device.registers_per_sm), size_text(device.shared_per_sm)
    sm, memory = device.words["sm"], size_text(device.memory_bytes)
    everyone, always = "all threads and the host", "lasts as long as the program"
    on_chip = (
        _Memory("register", "int x;", "read and written by one thread", "lasts as long as its thread", f"{registers} per {sm}"),
        _Memory(
            "shared", "__shared__ int x;", "read and written by the threads of a block", "lasts as long as its block",
            f"{shared} per {sm}",
        ),
    )  # fmt: skip
    off_chip = (
        _Memory("local", "int x[9];", "read and written by one thread", "lasts as long as its thread", "part of global"),
        _Memory("global", "__device__ int x;", f"read and written by {everyone}", always, memory),
        _Memory("constant", "__constant__ int x;", "read by all threads, written by the host; cached", always, "64 KiB"),
        _Memory("texture", "tex1D…", "read by all threads, written by the host; cached", always, "part of global"),
    )  # fmt: skip
    return on_chip, off_chip


VIEW = View("Memories and their qualifiers", LaunchCase, spaces_scene, order=42)
