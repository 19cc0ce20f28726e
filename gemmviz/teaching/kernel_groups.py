"""The shipped kernels in groups with titles: the ladder of multiplications, other problems, and the kernels of each lesson."""

import re
from functools import cache

from msgspec import Struct

from gemmviz.cuda.launch.catalog import (
    kernel_names,
    lesson_kernel_names,
    lesson_names,
    lesson_path,
    load_kernel,
    pattern_kernel_names,
)
from gemmviz.files.codec import read_text
from gemmviz.model.messages import marked, tr
from gemmviz.teaching.lesson_file import lesson_title

LADDER, PATTERNS, OTHERS = marked("Multiplication, step by step"), marked("Other problems"), marked("Other kernels")
_KERNEL_FIELD = re.compile(r'kernel = "(\w+)"')


class KernelEntry(Struct, frozen=True):
    """A kernel of a list: its name, and what it shows."""

    name: str
    title: str


class KernelGroup(Struct, frozen=True):
    """Kernels under a common title, in teaching order."""

    title: str
    kernels: tuple[KernelEntry, ...]


def kernel_groups() -> tuple[KernelGroup, ...]:
    """All shipped kernels in groups; a kernel of several lessons is in the group of the first."""
    return tuple(
        KernelGroup(tr("Lesson: {title}", title=lesson_title(name)) if name in lesson_names() else tr(name), kernels)
        for name, kernels in _kernel_groups()
    )


@cache
def _kernel_groups() -> tuple[tuple[str, tuple[KernelEntry, ...]], ...]:
    """The kernels by lesson, or by what they are."""
    groups = [(LADDER, kernel_names()), (PATTERNS, pattern_kernel_names())]
    left = dict.fromkeys(lesson_kernel_names())
    for lesson in lesson_names():
        own = [name for name in _kernels_of(lesson) if name in left]
        for name in own:
            del left[name]
        groups.append((lesson, own))
    groups.append((OTHERS, list(left)))
    return tuple((name, tuple(map(_entry_of_kernel, kernels))) for name, kernels in groups if kernels)


def _entry_of_kernel(name: str) -> KernelEntry:
    return KernelEntry(name, load_kernel(name).title)


def _kernels_of(lesson: str) -> list[str]:
    """Names of the kernels in a lesson's file, in order; a plan has none of its own."""
    return list(dict.fromkeys(_KERNEL_FIELD.findall(read_text(lesson_path(lesson)))))
