"""Records what an NVIDIA GPU counts for every shipped kernel, each choice of its parameters and several sizes.

On a machine with CuPy and Nsight Compute (PYTHONPATH=. and the repository's root as working folder):

    ncu --clock-control none -k regex:sgemm --csv --page raw --metrics $(python3 packaging/hardware_counters.py metrics) \
        --log-file ncu.csv python3 packaging/hardware_counters.py launch rows.json
    python3 packaging/hardware_counters.py merge rows.json ncu.csv tests/data/h200-shipped-kernels.json
"""

import csv
import itertools
import json
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from gemmviz.model.device import load_device
from gemmviz.model.errors import SettingError
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.model.measurements import text_hash
from gemmviz.model.problem import Problem
from gemmviz.source.header import parse_kernel
from gemmviz.source.launching import launch_for, settings_for

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
SIZES = ((8, 8, 8), (24, 16, 32), (128, 128, 128), (100, 70, 50), (192, 64, 128))
METRICS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_instructions": "smsp__inst_executed_op_shared_st.sum",
    "shared_wavefronts": "memory_l1_wavefronts_shared",
    "shared_wavefronts_ideal": "memory_l1_wavefronts_shared_ideal",
    "registers_per_thread": "launch__registers_per_thread",
}


def legal_launches() -> Iterator[tuple[KernelSpec, Settings]]:
    """Every shipped kernel with every choice of its parameters and every size that it can run with."""
    for path in sorted(KERNELS.glob("*.cu")):
        spec = parse_kernel(path.read_text(encoding="utf-8"), path.name)
        choices = [parameter.choices or (parameter.default,) for parameter in spec.parameters]
        for values in itertools.product(*choices):
            for size in SIZES:
                settings = settings_for(spec, Problem(*size), dict(zip(spec.defaults, values, strict=True)))
                try:
                    launch_for(spec, settings, load_device("h200"))
                except SettingError:
                    continue
                yield spec, settings


def launch(output: Path) -> None:
    """Runs each of them once, C poisoned with NaN, and checks it against float64."""
    import cupy as cp
    import numpy as np

    rows: list[dict[str, Any]] = []
    for spec, settings in legal_launches():
        problem, grid = settings.problem, launch_for(spec, settings, load_device("h200"))
        random = np.random.default_rng(0)
        a, b = (cp.asarray(random.random(problem.shapes[name], np.float32) * 2 - 1) for name in "AB")
        c = cp.full(problem.shapes["C"], np.nan, np.float32)
        macros = tuple(f"-D{name}={value}" for name, value in settings.parameters.items())
        function = cp.RawModule(code=spec.text, options=("--std=c++17", *macros)).get_function(spec.function)
        function(grid.grid, grid.block, (a, b, c, *(np.int32(size) for size in problem.sizes.values())))
        error = float(np.abs(a.get().astype(np.float64) @ b.get().astype(np.float64) - c.get()).max())
        rows.append({"kernel": spec.name, "sha256": text_hash(spec.text), "problem": problem.sizes,
                     "parameters": dict(settings.parameters), "largest_error": error})  # fmt: skip
    compiler = ".".join(str(part) for part in cp.cuda.nvrtc.getVersion())
    record = {
        "device": cp.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "driver": cp.cuda.runtime.driverGetVersion(),
        "compiler": f"NVRTC {compiler}, --std=c++17",
        "date": str(date.today()),
        "launches": rows,
    }
    output.write_text(json.dumps(record))


def merge(rows: Path, log: Path, output: Path) -> None:
    """Puts the profiler's counters beside the launches, which it saw in the same order."""
    record = json.loads(rows.read_text())
    lines = [line for line in log.read_text().splitlines() if line and not line.startswith("==")]
    _, *counted = csv.DictReader(lines)  # the first row names units
    for row, counters in zip(record["launches"], counted, strict=True):
        row["counters"] = {name: int(float(counters[metric].replace(",", ""))) for name, metric in METRICS.items()}
    output.write_text(json.dumps({**record, "metrics": METRICS}, indent=0) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["metrics"]:
            print(",".join(METRICS.values()))
        case ["launch", output]:
            launch(Path(output))
        case ["merge", rows, log, output]:
            merge(Path(rows), Path(log), Path(output))
        case _:
            sys.exit(__doc__)
