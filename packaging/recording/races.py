"""Records what compute-sanitizer's racecheck reports for kernels with a race, compiled with and without optimisation, and for
pipelines of copies.

Needs an NVIDIA GPU, nvcc and compute-sanitizer. Races need nothing of gemmviz: they also run where it isn't installed.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from recording import DATA, ROOT, device_and_driver, nvcc_version, printed, rows_text

RACES = DATA / "h200-races.json"
PROGRAMS = ROOT / "docs" / "notes" / "races"
COURSE = ("no_first_barrier", "no_second_barrier")
WIDTHS = (2, 4, 8, 16, 32)
BUILDS = {"optimised": ["-O3"], "debug": ["-G"]}
_TIMEOUT_S = 60  # of a checked program: some faults keep it from ending
_SUMMARY = re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)")
_SHARED = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?(LDS|STS|ATOMS|LDG|STG|LD|ST)\b", re.MULTILINE)
WHAT = (
    "errors, warnings = hazards that compute-sanitizer --tool racecheck --racecheck-report all reports; instructions = memory "
    "instructions of the kernel's machine code by cuobjdump -sass; optimised = nvcc -O3, debug = nvcc -G; "
    "-arch=native for each"
)
_HOST = """
int main()
{
    const int n = 2 * TILE_WIDTH, count = n * n;
    static float values[count];
    for (int i = 0; i < count; i++)
        values[i] = i + 1;
    float *A, *B, *C;
    cudaMalloc(&A, sizeof(values));
    cudaMalloc(&B, sizeof(values));
    cudaMalloc(&C, sizeof(values));
    cudaMemcpy(A, values, sizeof(values), cudaMemcpyHostToDevice);
    cudaMemcpy(B, values, sizeof(values), cudaMemcpyHostToDevice);
    phases_by_ceil<<<dim3(2, 2), dim3(TILE_WIDTH, TILE_WIDTH)>>>(A, B, C, n, n, n);
    cudaDeviceSynchronize();
}
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to check: its name, the width of its tiles (0 for one without tiles), and its text."""

    name: str
    width: int
    text: str


def programs() -> Iterator[Program]:
    """The programs of the note, and two kernels of the course for several widths of tiles."""
    for path in sorted(PROGRAMS.glob("*.cu")):
        yield Program(path.stem, 0, path.read_text(encoding="utf-8"))
    for name in COURSE:
        text = (ROOT / "kernels" / "course" / f"{name}.cu").read_text(encoding="utf-8")
        for width in WIDTHS:
            yield Program(name, width, f"#include <cassert>\n#define TILE_WIDTH {width}\n{text}{_HOST}")


def checked(program: Program, folder: Path) -> dict[str, Any]:
    """The reports for a program in each of BUILDS."""
    source, row = folder / "program.cu", {"program": program.name, "width": program.width}
    source.write_text(program.text, encoding="utf-8")
    for build, options in BUILDS.items():
        binary = folder / build
        messages = printed("nvcc", "-arch=native", *options, "-o", str(binary), str(source))
        if not binary.is_file():
            sys.exit(f"{program.name} can't be compiled: {messages}")
        names = _SHARED.findall(printed("cuobjdump", "-sass", str(binary)))
        row[build] = {**reported(binary), "instructions": {name: names.count(name) for name in sorted(set(names))}}
        binary.unlink()
    return row


def reported(binary: Path) -> dict[str, int]:
    """The errors and the warnings that racecheck reports for a program."""
    command = ("compute-sanitizer", "--tool", "racecheck", "--racecheck-report", "all", str(binary))
    report = printed(*command, timeout_s=_TIMEOUT_S)
    summary = _SUMMARY.search(report)
    if summary is None:
        raise RuntimeError(f"{binary.stem} can't be checked: {report}")
    return {"errors": int(summary[2]), "warnings": int(summary[3])}


def races() -> None:
    """Write the reports for all programs."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [checked(each, Path(folder)) for each in programs()]
    RACES.write_text(rows_text({"what": WHAT, **_head()}, "programs", rows), encoding="utf-8")


def _head() -> dict[str, Any]:
    """What a recording says of the machine, the tools and the day."""
    device, driver = device_and_driver()
    tool = re.findall(r"[Vv]ersion (\S+)", printed("compute-sanitizer", "--version"))[0]
    return {
        "device": device, "driver": driver, "date": str(date.today()), "compiler": f"V{nvcc_version()}", "tool": tool,
    }  # fmt: skip


# Pipelines of copies: those of the tests that are right, and the faults that are planted in them

PIPELINES = DATA / "h200-pipelines.json"
_AT_ONCE = 8


def pipelines() -> None:
    """Write the reports for pipelines of copies. A fault whose barrier never opens is left out: such a program never ends."""
    from tests.run.test_pipelines import FAULTS, RIGHT

    right = [(name, "", "") for name in RIGHT]
    cases = right + [(name, old, new) for name, old, new, found in FAULTS if found not in ("never opens", "divergent")]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
        places = [Path(folder, str(number)) for number in range(len(cases))]
        rows = list(pool.map(lambda place, case: _pipeline(place, *case), places, cases))
    what = "errors, warnings: as for races, of nvcc -O3 -arch=sm_90a; old, new: what is replaced in a right pipeline"
    PIPELINES.write_text(rows_text({"what": what, **_head()}, "programs", rows), encoding="utf-8")


def _pipeline(folder: Path, name: str, old: str, new: str) -> dict[str, Any]:
    from tests.run.test_pipelines import body_of, setup_of

    block, body = body_of(name, old, new)
    host = _HOST.replace("TILE_WIDTH", "16").replace("dim3(2, 2), dim3(16, 16)", f"1, {block}")
    folder.mkdir()
    source, binary = folder / "program.cu", folder / "program"
    source.write_text(setup_of(block, body).kernel.text + host.replace("phases_by_ceil", "kernel"), encoding="utf-8")
    messages = printed("nvcc", "-arch=sm_90a", "-std=c++17", "-O3", "-lineinfo", "-o", str(binary), str(source))
    row: dict[str, Any] = {"pipeline": name, "old": old, "new": new}
    try:
        row |= reported(binary) if binary.is_file() else {"refused": messages}
    except subprocess.TimeoutExpired:
        row["refused"] = "it doesn't end"
    print(row, flush=True)
    return row
