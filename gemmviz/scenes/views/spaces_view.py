"""The memory spaces of CUDA: location, caching, access, scope, lifetime, and the declaration that selects them.

Sources: CUDA C++ Best Practices Guide, Device Memory Spaces (Table 1, Salient Features of Device Memory); CUDA C++
Programming Guide, Variable Memory Space Specifiers; for devices without a cache for global memory NVIDIA CUDA Programming
Guide 1.0, 5.1.2.
"""

from gemmviz.model.device import Device
from gemmviz.model.launch_case import LaunchCase
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.views.hierarchy_view import size_text

_HEADS = ("memory", "where", "cached", "access", "who", "lifetime", "declaration", "size")


def spaces_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw a row for each memory; those that the kernel uses are highlighted."""
    device, theme = case.device, options.theme
    used = used_spaces(case.setup.kernel.text)
    rows = []
    for name, *facts in _rows(device):
        fill = theme.slate if name in used else ""
        rows.append([TableCell(name, strong=True, fill=fill), *(TableCell(fact, fill=fill) for fact in facts)])
    room = Box(MARGIN, 120.0, options.width - 2 * MARGIN, options.height - 160.0)
    note = f"Highlighted: used by {case.setup.kernel.name}. {_note(device)}"
    return titled(table("spaces", _HEADS, rows, room, theme), f"Memories of {device.name}", note, options)


def used_spaces(text: str) -> frozenset[str]:
    """Return the memories that a kernel's text names, and global memory and registers, which every kernel uses."""
    named = {"shared": "__shared__", "constant": "__constant__", "texture": "tex1D"}
    return frozenset({"register", "global", *(name for name, word in named.items() if word in text)})


def _note(device: Device) -> str:
    if device.levels[1:-1]:
        return "Arrays with indices unknown at compile time, and spilled registers, are in local memory"
    return "Automatic arrays are in local memory, which is as slow as global memory"


def _rows(device: Device) -> list[tuple[str, ...]]:
    cached = "yes" if device.levels[1:-1] else "no"
    registers, shared = size_text(4 * device.registers_per_sm), size_text(device.shared_per_sm)
    sm, on = device.words["sm"], "on the chip"
    memory = size_text(device.memory_bytes)
    return [
        ("register", on, "–", "read, write", "one thread", "its thread", "int x;", f"{registers} per {sm}"),
        ("local", "off the chip", cached, "read, write", "one thread", "its thread", "int x[9];", "part of global"),
        ("shared", on, "–", "read, write", "a block's threads", "its block", "__shared__ int x;", f"{shared} per {sm}"),
        ("global", "off the chip", cached, "read, write", "all threads, host", "the program", "__device__ int x;", memory),
        ("constant", "off the chip", "yes", "read", "all threads, host", "the program", "__constant__ int x;", "64 KiB"),
        ("texture", "off the chip", "yes", "read", "all threads, host", "the program", "tex1D…", "part of global"),
    ]


VIEW = View("Memories and their qualifiers", LaunchCase, spaces_scene, order=42)
