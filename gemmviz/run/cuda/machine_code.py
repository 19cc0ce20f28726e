"""Conditional jumps in a kernel's machine code, from NVIDIA's disassembler, by the lines of the source that they came from."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from gemmviz.files.child_process import NO_CONSOLE
from gemmviz.model.timing import MachineCode

_TOOL = "nvdisasm"
_TIMEOUT_S = 30
_LINE = re.compile(r'//## File "([^"]*)", line (\d+)')
_CONDITIONAL = re.compile(r"/\*[0-9a-f]+\*/\s+@!?U?P\d\s+(BRA|BRX|EXIT)\b")


def machine_code(cubin: bytes, file: str, source: str) -> MachineCode | None:
    """What a disassembler lists of a compiled ``file``; None without a disassembler, or if it can't read the code.

    ``cubin``: machine code with information about lines. ``source``: the compiler and the architecture.
    """
    tool = disassembler()
    if tool is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        command = [tool, "-g", "-c", str(path)]
        found = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, creationflags=NO_CONSOLE
        )
    return None if found.returncode else MachineCode(source, *jumps_in(found.stdout, file))


def jumps_in(listing: str, file: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lines of ``file`` that became conditional jumps, and those that became only exits under a condition.

    An instruction belongs to the first line that is listed above it: the others are the calls that it was inlined at.
    """
    jumps, exits = set[int](), set[int]()
    line, is_above = 0, False
    for text in listing.splitlines():
        place = _LINE.search(text)
        if place is None:
            found, is_above = _CONDITIONAL.search(text), False
            if found and line:
                (exits if found[1] == "EXIT" else jumps).add(line)
        elif not is_above:
            line, is_above = int(place[2]) if Path(place[1]).name == Path(file).name else 0, True
    return tuple(sorted(jumps)), tuple(sorted(exits - jumps))


@cache
def disassembler() -> str | None:
    """The path of the disassembler: on the search path, in a CUDA toolkit, or in NVIDIA's wheel."""
    return shutil.which(_TOOL) or next((found for each in _folders() if (found := shutil.which(_TOOL, path=str(each)))), None)


def _folders() -> Iterator[Path]:
    yield from (Path(root, "bin") for root in (os.environ.get("CUDA_PATH"), "/usr/local/cuda") if root)
    wheels = find_spec("nvidia")
    for root in [] if wheels is None else wheels.submodule_search_locations or []:
        yield from Path(root).glob("*/bin")
