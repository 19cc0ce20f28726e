"""Records launches' traffic between memory levels and their occupancy limits, as counted by Nsight Compute: make levels.

Needs a GPU. Continues an unfinished record.
"""

import json
import re
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

from gemmviz.files.checksums import write_recording
from gemmviz.files.codec import to_plain
from gemmviz.launch.catalog import kernel_names, load_kernel
from gemmviz.launch.legality import launch_for, legal_choices
from gemmviz.model.errors import GemmvizError
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.run.worker import profiler
from gemmviz.run.worker.remote import RemoteGpu

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "measurements"
SIZES = (512, 1024, 2048, 4096)
OF_LESSONS = (
    "one_element", "early_return", "many_blocks", "column_first", "phases_by_ceil", "reads_c", "hip_form", "rolled", "unrolled",
    "linear_block", "cube_block",
)  # fmt: skip
LESSON_SIZES = (512, 1024)
MOST_OF_A_LESSONS = 3
MOST_AT_LARGE = 4  # setups per kernel at the largest sizes


def setups_of(name: str, size: int) -> list[Setup]:
    """Setups of a kernel at a size, one per choice of its parameters; at large sizes those with the largest blocks."""
    setups = list(legal_choices(load_kernel(name), Problem(size, size, size)))
    most = MOST_OF_A_LESSONS if name in OF_LESSONS else MOST_AT_LARGE if size > 1024 else 12
    return sorted(setups, key=lambda setup: -launch_for(setup).threads_per_block)[:most]


def main() -> None:
    with closing(RemoteGpu()) as remote:
        gpu = remote.gpu()
    path = FOLDER / f"levels-{re.sub(r'[^0-9a-z]+', '-', gpu.name.lower())}.json"
    launches: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["launches"] if path.is_file() else []
    done = {(row["sha256"], json.dumps(row["problem"]), json.dumps(row["parameters"])) for row in launches}
    for size in SIZES:
        for name in (*kernel_names(), *(OF_LESSONS if size in LESSON_SIZES else ())):
            setups = [each for each in setups_of(name, size) if _key(each) not in done]
            if not setups:
                continue
            try:
                counted = profiler.counters_of(setups, profiler.LEVELS)
            except GemmvizError as error:
                print(f"{name} {size}: {error}", flush=True)
                continue
            launches += [{**_about(setup), **to_plain(counters)} for setup, counters in zip(setups, counted, strict=True)]
            record = {
                "device": gpu.name, "driver": gpu.driver, "compiler": gpu.compiler, "date": str(date.today()),
                "tool": f"{profiler.profiler_version(profiler.find_profiler())}, clock control none, caches warm",
                "gpu": to_plain(gpu), "metrics": profiler.LEVELS, "launches": launches,
            }  # fmt: skip
            write_recording(path, json.dumps(record, indent=0) + "\n")
            print(f"{name} {size}: {len(setups)} launches", flush=True)


def _about(setup: Setup) -> dict[str, Any]:
    kernel = setup.kernel
    return {
        "kernel": kernel.name, "sha256": kernel.text_hash, "problem": setup.problem.sizes, "parameters": dict(setup.parameters),
    }  # fmt: skip


def _key(setup: Setup) -> tuple[str, str, str]:
    about = _about(setup)
    return about["sha256"], json.dumps(about["problem"]), json.dumps(about["parameters"])


if __name__ == "__main__":
    main()
