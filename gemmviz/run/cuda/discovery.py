"""Detection of the GPU, with an error that names what is missing."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from gemmviz.files.codec import read_json
from gemmviz.files.extras import cupy_command
from gemmviz.model.device import Gpu
from gemmviz.model.messages import DeviceError
from gemmviz.model.setup import Setup
from gemmviz.run.protocol import PROFILED_LAUNCHES

if TYPE_CHECKING:
    from gemmviz.run.cuda.runner import CudaRunner

try:
    import cupy
except ImportError as error:  # CuPy is an extra
    cupy, _MISSING = None, "" if isinstance(error, ModuleNotFoundError) and error.name == "cupy" else str(error)


def open_gpu() -> Gpu:
    """The first GPU of this machine, with a context. Raises DeviceError naming what is missing."""
    if cupy is None:
        missing = f"CuPy can't be loaded: {_MISSING}" if _MISSING else "CuPy is not installed"
        raise DeviceError(missing, remedy=cupy_command())
    runtime = cupy.cuda.runtime
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        raise _no_driver(error.status) from None
    if count == 0:
        raise DeviceError("this machine has no NVIDIA GPU")
    facts = runtime.getDeviceProperties(0)
    cupy.cuda.Device(0).use()
    runtime.free(0)  # creates the context
    return Gpu(
        name=facts["name"].decode(),
        compute_capability=f"{facts['major']}.{facts['minor']}",
        driver=_driver_version() or f"for CUDA {_dotted(runtime.driverGetVersion())}",
        compiler="NVRTC " + ".".join(str(part) for part in cupy.cuda.nvrtc.getVersion()),
        sms=facts["multiProcessorCount"],
        last_level_cache=facts["l2CacheSize"],
        memory_bytes=facts["totalGlobalMem"],
    )


def open_runner() -> "CudaRunner":
    """The first GPU, ready to run kernels. Raises the errors of ``open_gpu``, before other modules of this package are
    imported.
    """
    gpu = open_gpu()
    from gemmviz.run.cuda.runner import CudaRunner

    return CudaRunner(gpu)


def _no_driver(status: int) -> DeviceError:
    if status == 100:
        return DeviceError("this machine has no NVIDIA GPU")
    if status == 35:
        needs = _dotted(cupy.cuda.runtime.runtimeGetVersion())
        return DeviceError(
            f"the NVIDIA driver is missing, or too old for CUDA {needs}",
            remedy="install a newer driver, or the CuPy that fits it: " + cupy_command(),
        )
    return DeviceError(f"the NVIDIA driver can't be used (CUDA error {status})", remedy="does nvidia-smi work?")


def _driver_version() -> str | None:
    """Version of the driver on Linux, else None."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
    except OSError:
        return None
    match = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", text)
    return match[1] if match else None


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


# Launches kernels under a profiler.


def launch_all(listed: Path) -> int:
    """Launches the kernels listed in a file, each PROFILED_LAUNCHES times. Returns the exit code."""
    runner = open_runner()
    for setup in read_json(listed, tuple[Setup, ...]):
        runner.use(setup, lambda work: runner.launch_real(work, PROFILED_LAUNCHES))
    return 0
