"""Records what compute-sanitizer's racecheck reports for kernels with a race, compiled with and without optimisation.

Needs an NVIDIA GPU, nvcc and compute-sanitizer, and nothing of gemmviz: it also runs where gemmviz isn't installed.
"""

import re
import sys
import tempfile
from collections.abc import Iterator
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
        report = printed("compute-sanitizer", "--tool", "racecheck", "--racecheck-report", "all", str(binary))
        summary = _SUMMARY.search(report)
        if summary is None:
            sys.exit(f"{program.name} can't be checked: {report}")
        names = _SHARED.findall(printed("cuobjdump", "-sass", str(binary)))
        row[build] = {
            "errors": int(summary[2]), "warnings": int(summary[3]),
            "instructions": {name: names.count(name) for name in sorted(set(names))},
        }  # fmt: skip
        binary.unlink()
    return row


def races() -> None:
    """Write the reports for all programs."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [checked(each, Path(folder)) for each in programs()]
    device, driver = device_and_driver()
    tool = re.findall(r"[Vv]ersion (\S+)", printed("compute-sanitizer", "--version"))[0]
    head = {
        "what": WHAT, "device": device, "driver": driver, "date": str(date.today()), "compiler": f"V{nvcc_version()}",
        "tool": tool,
    }  # fmt: skip
    RACES.write_text(rows_text(head, "programs", rows), encoding="utf-8")
