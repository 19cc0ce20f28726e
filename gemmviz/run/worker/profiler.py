"""What Nsight Compute counts for real launches: our counts are held against it."""

import csv
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from gemmviz.files.codec import to_json
from gemmviz.model.errors import DeviceError
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Counters
from gemmviz.run.protocol import PROFILED_LAUNCHES
from gemmviz.run.worker.link import gemmviz_command

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
LEVELS = {
    "dram_bytes_read": "dram__bytes_read.sum",
    "dram_bytes_written": "dram__bytes_write.sum",
    "l2_sectors_read": "lts__t_sectors_op_read.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "registers_per_thread": "launch__registers_per_thread",
    "shared_config_bytes": "launch__shared_mem_config_size",
    "occupancy_limit_blocks": "launch__occupancy_limit_blocks",
    "occupancy_limit_warps": "launch__occupancy_limit_warps",
    "occupancy_limit_registers": "launch__occupancy_limit_registers",
    "occupancy_limit_shared_mem": "launch__occupancy_limit_shared_mem",
}
_PLACES = (
    "/usr/local/cuda/bin",
    "/opt/nvidia/nsight-compute",
    "/opt/nvidia/nsight-compute/*",
    "/usr/local/cuda/nsight-compute*",
)
_TIMEOUT_S = 1800
_SCALES = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9}


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
    printed = subprocess.run([str(profiler), "--version"], capture_output=True, text=True, check=False).stdout
    found = [word for word in printed.split() if word[0].isdigit() and word.count(".") >= 2]
    return f"Nsight Compute {found[0]}" if found else "Nsight Compute"


def counters_of(setups: Sequence[Setup], metrics: Mapping[str, str] = METRICS) -> list[Counters]:
    """For each setup's kernel, launched as it stands: what these counters say, by name.

    Raises DeviceError where the profiler is missing, not permitted or fails.
    """
    profiler = find_profiler()
    names = sorted({setup.kernel.function for setup in setups})
    with tempfile.TemporaryDirectory(prefix="gemmviz-") as folder:
        listed, log = Path(folder) / "launches.json", Path(folder) / "counters.csv"
        listed.write_bytes(to_json(list(setups)))
        command = [
            str(profiler), "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw",
            "--log-file", str(log), "--kernel-name", f"regex:^({'|'.join(names)})$",
            "--metrics", ",".join([*metrics.values(), DURATION]),
            *gemmviz_command("launches", str(listed)),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DeviceError(f"Nsight Compute did not end well: {error}") from None
        text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        return _read(text, done.stdout + done.stderr, len(setups), metrics)


def _read(log: str, output: str, setups: int, metrics: Mapping[str, str]) -> list[Counters]:
    if "ERR_NVGPUCTRPERM" in log + output:
        raise DeviceError(
            "Nsight Compute may not read the GPU's counters here",
            remedy="ask the administrator: https://developer.nvidia.com/ERR_NVGPUCTRPERM",
        )
    units, *rows = [*csv.DictReader(line for line in log.splitlines() if line and not line.startswith("=="))] or [{}]
    if len(rows) != setups * PROFILED_LAUNCHES:
        words = [line for line in (log + output).splitlines() if line.startswith(("==ERROR==", "gemmviz:"))]
        why = words[0] if words else (output.strip().splitlines() or ["it says nothing"])[-1]
        raise DeviceError(f"Nsight Compute saw {len(rows)} of {setups * PROFILED_LAUNCHES} launches: {why}")
    return [
        _counters(rows[start : start + PROFILED_LAUNCHES], units, metrics) for start in range(0, len(rows), PROFILED_LAUNCHES)
    ]


def _counters(rows: list[dict[str, str]], units: dict[str, str], metrics: Mapping[str, str]) -> Counters:
    def number(row: dict[str, str], metric: str) -> float:
        return float(row[metric].replace(",", "")) * _SCALES.get(units[metric], 1.0)

    counters = {name: round(number(rows[-1], metric)) for name, metric in metrics.items()}
    return Counters(counters, round(min(number(row, DURATION) for row in rows[1:])))
