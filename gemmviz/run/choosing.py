"""The choice of an engine: by name, by what is installed, and by whether a kernel may run on the GPU."""

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
    "auto": "the GPU if CuPy is installed, with the CPU as fallback; the CPU for a kernel of your own",
    "gpu": "the GPU only",
    "cpu": "the interpreter on the CPU",
}


def has_cupy() -> bool:
    """Whether CuPy is installed, which the GPU engine needs."""
    return importlib.util.find_spec("cupy") is not None


def choice_for(on: EngineChoice, kernel: KernelSpec) -> EngineChoice:
    """The choice for this kernel: "auto" means "cpu" for a kernel that doesn't ship with gemmviz."""
    return "cpu" if on == "auto" and not is_shipped_kernel(kernel) else on


def engine_for(on: EngineChoice, timeout_s: float = TIMEOUT_S) -> Engine:
    """The engine of this choice. ``timeout_s`` limits one launch on the GPU."""
    if on == "gpu":
        return RemoteGpu(timeout_s=timeout_s)
    without_gpu = (Interpreter(), RecordedTimes())
    if on == "auto" and has_cupy():
        return FallbackEngine(RemoteGpu(timeout_s=timeout_s), *without_gpu)
    return FallbackEngine(*without_gpu)
