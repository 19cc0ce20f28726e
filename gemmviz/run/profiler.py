"""What Nsight Compute counts for real launches: our counts are held against it."""

import csv
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gemmviz.model.errors import DeviceError
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.run.link import worker_command
from gemmviz.run.protocol import kernel_facts, read_kernel

LAUNCHES = 5  # of each kernel: the first one warms the caches up; of the others the quickest was disturbed least
DURATION = "gpu__time_duration.sum"
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
_PLACES = (
    "/usr/local/cuda/bin",
    "/opt/nvidia/nsight-compute",
    "/opt/nvidia/nsight-compute/*",
    "/usr/local/cuda/nsight-compute*",
)
_LIMIT_S = 1800


def find_profiler() -> Path:
    """Nsight Compute's command line. Raises DeviceError where it is not installed."""
    found = shutil.which("ncu")
    if found:
        return Path(found)
    for place in _PLACES:
        for folder in sorted(Path("/").glob(place.lstrip("/")), reverse=True):
            if (folder / "ncu").is_file():
                return folder / "ncu"
    raise DeviceError(
        "Nsight Compute is not installed: there is no ncu",
        remedy="https://developer.nvidia.com/nsight-compute, or put ncu on PATH",
    )


def profiler_version(profiler: Path) -> str:
    said = subprocess.run([str(profiler), "--version"], capture_output=True, text=True, check=False).stdout
    found = [word for word in said.split() if word[0].isdigit() and word.count(".") >= 2]
    return f"Nsight Compute {found[0]}" if found else "Nsight Compute"


def counters_of(jobs: Sequence[tuple[KernelSpec, Settings]], device: str) -> list[dict[str, Any]]:
    """For each kernel with its settings, launched as it stands: what the counters of METRICS say, and ``duration_ns``.

    Raises DeviceError where the profiler is missing, not permitted or fails.
    """
    profiler = find_profiler()
    names = sorted({spec.function for spec, _ in jobs})
    with tempfile.TemporaryDirectory(prefix="gemmviz-") as folder:
        listed, log = Path(folder) / "launches.json", Path(folder) / "counters.csv"
        listed.write_text(json.dumps([kernel_facts(spec, settings, device) for spec, settings in jobs]), encoding="utf-8")
        command = [
            str(profiler), "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw",
            "--log-file", str(log), "--kernel-name", f"regex:^({'|'.join(names)})$",
            "--metrics", ",".join([*METRICS.values(), DURATION]),
            *worker_command()[:-1], "launches", str(listed),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DeviceError(f"Nsight Compute did not end well: {error}") from None
        said = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        return _read(said, done.stdout + done.stderr, len(jobs))


def _read(said: str, output: str, jobs: int) -> list[dict[str, Any]]:
    if "ERR_NVGPUCTRPERM" in said + output:
        raise DeviceError(
            "Nsight Compute may not read the GPU's counters here",
            remedy="ask the administrator: https://developer.nvidia.com/ERR_NVGPUCTRPERM",
        )
    rows = list(csv.DictReader(line for line in said.splitlines() if line and not line.startswith("==")))[1:]  # less the units
    if len(rows) != jobs * LAUNCHES:
        words = [line for line in (said + output).splitlines() if line.startswith(("==ERROR==", "gemmviz:"))]
        why = words[0] if words else (output.strip().splitlines() or ["it says nothing"])[-1]
        raise DeviceError(f"Nsight Compute saw {len(rows)} of {jobs * LAUNCHES} launches: {why}")
    return [_facts(rows[start : start + LAUNCHES]) for start in range(0, len(rows), LAUNCHES)]


def _facts(rows: list[dict[str, str]]) -> dict[str, Any]:
    def number(row: dict[str, str], metric: str) -> float:
        return float(row[metric].replace(",", ""))

    counters = {name: int(number(rows[-1], metric)) for name, metric in METRICS.items()}
    return {"counters": counters, "duration_ns": round(min(number(row, DURATION) for row in rows[1:]))}


def launch_all(listed: Path) -> int:
    """Launches the kernels listed in a file, each as often as LAUNCHES says: for the profiler to watch. The exit code."""
    from gemmviz.run.cuda.device import open_engine

    engine = open_engine()
    for facts in json.loads(listed.read_text(encoding="utf-8")):
        engine.use(*read_kernel(facts), lambda work: engine.launch_real(work, LAUNCHES))
    return 0
