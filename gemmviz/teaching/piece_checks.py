"""Checks of a shipped kernel that is unfinished: its text is the beginning of the whole kernel of its name."""

import re
from collections.abc import Iterator

from gemmviz.launch.catalog import load_kernel
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import KernelSpec

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def piece_errors(kernel: KernelSpec) -> Iterator[GemmvizError]:
    """The first line in which an unfinished kernel differs from the whole one; nothing for any other kernel."""
    if not (kernel.unfinished and kernel.is_shipped):
        return
    own, whole = kernel_lines(kernel), kernel_lines(load_kernel(kernel.function))
    for number, line in enumerate(own):
        if number >= len(whole) or line != whole[number]:
            yield GemmvizError(
                f"{kernel.name} has the line {line!r}, which {kernel.function} hasn't there",
                remedy="a piece is the beginning of the whole kernel, and closes its braces",
            )
            return


def kernel_lines(kernel: KernelSpec) -> list[str]:
    """The lines of a kernel without comments, spaces at the ends and the braces that close it."""
    lines = [line.strip() for line in _COMMENT.sub("", kernel.text).split("\n") if line.strip()]
    while lines and lines[-1] == "}":
        lines.pop()
    return lines
