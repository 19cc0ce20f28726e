"""Which engines answer here, and in which order."""

import importlib.util
from collections.abc import Mapping
from typing import Literal

from gemmviz.launch.catalog import is_shipped_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Engine, FallbackEngine
from gemmviz.run.measure.recorded import RecordedTimes
from gemmviz.run.protocol import TIMEOUT_S
from gemmviz.run.worker.remote import RemoteGpu

EngineChoice = Literal["auto", "gpu", "cpu"]
CHOICES: Mapping[EngineChoice, str] = {
    "auto": "the GPU where CuPy is installed and the CPU where it can't; for a kernel of your own, the CPU",
    "gpu": "the GPU alone",
    "cpu": "the interpreter on the CPU",
}


def has_cupy() -> bool:
    """Whether somebody installed what a GPU needs."""
    return importlib.util.find_spec("cupy") is not None


def choice_for(on: EngineChoice, kernel: KernelSpec) -> EngineChoice:
    """The choice for this kernel: one that doesn't ship with gemmviz runs on the GPU only where a person says so."""
    return "cpu" if on == "auto" and not is_shipped_kernel(kernel) else on


def engine_for(on: EngineChoice, timeout_s: float = TIMEOUT_S) -> Engine:
    """Who answers. ``timeout_s``: how long a launch may take on the GPU."""
    if on == "gpu":
        return RemoteGpu(timeout_s=timeout_s)
    without_gpu = (Interpreter(), RecordedTimes())
    if on == "auto" and has_cupy():
        return FallbackEngine(RemoteGpu(timeout_s=timeout_s), *without_gpu)
    return FallbackEngine(*without_gpu)
