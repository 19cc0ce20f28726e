"""Which engines answer here, and in which order."""

import importlib.util
from collections.abc import Mapping
from typing import Literal

from gemmviz.launch.catalog import is_own
from gemmviz.model.kernel import KernelSpec
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Engine, FirstToAnswer
from gemmviz.run.measure.recorded import Recorded
from gemmviz.run.protocol import TIMEOUT_S
from gemmviz.run.worker.remote import RemoteGpu

On = Literal["auto", "gpu", "cpu"]
CHOICES: Mapping[On, str] = {
    "auto": "the GPU where CuPy is installed and the CPU where it can't; for a kernel of your own, the CPU",
    "gpu": "the GPU alone",
    "cpu": "the interpreter on the CPU",
}


def has_cupy() -> bool:
    """Whether somebody installed what a GPU needs."""
    return importlib.util.find_spec("cupy") is not None


def chosen(on: On, kernel: KernelSpec) -> On:
    """The choice for this kernel: one that doesn't ship with gemmviz runs on the GPU only where a person says so."""
    return "cpu" if on == "auto" and not is_own(kernel) else on


def engine_for(on: On, timeout_s: float = TIMEOUT_S) -> Engine:
    """Who answers. ``timeout_s``: how long a launch may take on the GPU."""
    if on == "gpu":
        return RemoteGpu(timeout_s=timeout_s)
    without_gpu = (Interpreter(), Recorded())
    if on == "auto" and has_cupy():
        return FirstToAnswer(RemoteGpu(timeout_s=timeout_s), *without_gpu)
    return FirstToAnswer(*without_gpu)
