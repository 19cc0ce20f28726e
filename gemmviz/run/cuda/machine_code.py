"""Conditional jumps in a kernel's machine code, from NVIDIA's disassembler, by the lines of the source that they came from."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from gemmviz.files.child_process import NO_CONSOLE
from gemmviz.model.timing import MachineCode

_TOOL = "nvdisasm"
_TIMEOUT_S = 30
_LINE = re.compile(r'//## File "([^"]*)", line (\d+)')
_LABEL = re.compile(r"(\.L\w+):")
_APART = re.compile(r"\bBSSY\S* B\d+, `\((\.L\w+)\)")
_CONDITIONAL = re.compile(r"/\*[0-9a-f]+\*/\s+@!?U?P\d\s+(BRA|BRX|EXIT)\b")


def machine_code(cubin: bytes, file: str, source: str) -> MachineCode | None:
    """What a disassembler lists of a compiled ``file``; None without a disassembler, or if it can't read the code.

    ``cubin``: machine code with information about lines. ``source``: the compiler and the architecture.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        for tool in disassemblers():
            command = [tool, "-g", "-c", str(path)]
            with suppress(OSError, subprocess.SubprocessError):
                found = subprocess.run(
                    command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True, creationflags=NO_CONSOLE
                )
                return MachineCode(source, *jumps_in(found.stdout, file))
    return None


def jumps_in(listing: str, file: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lines of ``file`` that became conditional jumps at which lanes may part, and those that became only exits under a
    condition.

    An instruction belongs to the first line that is listed above it: the others are the calls that it was inlined at. Where
    lanes may part, BSSY names the label before which they meet again; all lanes of a warp take another jump, such as that of an
    unrolled loop, together.
    """
    jumps, exits, meetings = set[int](), set[int](), set[str]()
    line, is_above = 0, False
    for text in listing.splitlines():
        place = _LINE.search(text)
        if place is None:
            is_above = False
            if label := _LABEL.match(text):
                meetings.discard(label[1])
            elif apart := _APART.search(text):
                meetings.add(apart[1])
            elif line and (found := _CONDITIONAL.search(text)):
                if found[1] == "EXIT":
                    exits.add(line)
                elif meetings:
                    jumps.add(line)
        elif not is_above:
            line, is_above = int(place[2]) if Path(place[1]).name == Path(file).name else 0, True
    return tuple(sorted(jumps)), tuple(sorted(exits - jumps))


@cache
def disassemblers() -> tuple[str, ...]:
    """The paths of the disassemblers here: in NVIDIA's wheel, on the search path, in a CUDA toolkit. One that is older than the
    compiler can't read its code.
    """
    found = (shutil.which(_TOOL, path=each) for each in _folders())
    return tuple(dict.fromkeys(each for each in found if each))


def _folders() -> Iterator[str | None]:
    """Folders to look in; None is the search path."""
    wheels = find_spec("nvidia")
    for root in [] if wheels is None else wheels.submodule_search_locations or []:
        yield from map(str, Path(root).glob("*/bin"))
    yield None
    yield from (str(Path(root, "bin")) for root in (os.environ.get("CUDA_PATH"), "/usr/local/cuda") if root)
