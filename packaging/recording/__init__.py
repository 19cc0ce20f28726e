"""Recordings of what a machine does, and what their makers share. This file needs nothing of gemmviz."""

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gemmviz.model.device import Gpu

ROOT = Path(__file__).resolve().parents[2]
MEASUREMENTS, DATA = ROOT / "assets" / "measurements", ROOT / "tests" / "data"


def measurement(name: str, gpu: "Gpu") -> Path:
    """The path of a recording, in whose name ``GPU`` stands for the device."""
    return MEASUREMENTS / name.replace("GPU", re.sub(r"\W+", "-", gpu.name.lower()))


def rows_text(head: dict[str, Any], name: str, rows: Iterable[Any]) -> str:
    """JSON of a head and of rows under a name, with one line for each row."""
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    return json.dumps(head, indent=1)[:-2] + f',\n "{name}": [\n{lines}\n ]\n}}\n'


def printed(*words: str | Path, timeout_s: int = 300) -> str:
    """What a command prints, with its errors. It may fail: a checker that found something does."""
    pipe = subprocess.PIPE
    return subprocess.run(words, stdout=pipe, stderr=subprocess.STDOUT, text=True, timeout=timeout_s, check=False).stdout


def device_and_driver() -> tuple[str, str]:
    """The GPU with its compute capability, and the version of its driver."""
    query = ("nvidia-smi", "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader")
    name, capability, driver = printed(*query).strip().split(", ")
    return f"{name}, compute capability {capability}", driver


def nvcc_version() -> str:
    """The version of CUDA's compiler, such as 13.0.88."""
    found: list[str] = re.findall(r"V([\d.]+)", printed("nvcc", "--version"))
    return found[0]
