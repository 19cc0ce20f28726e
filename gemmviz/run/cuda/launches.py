"""Launches on the GPU: packing of arguments, waiting with a time limit, and messages for the driver's errors."""

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import cupy
import numpy as np
from cupy.cuda import driver, runtime
from cupy_backends.cuda.libs import cublas

from gemmviz.model.errors import DeviceError
from gemmviz.model.kernel import Launch
from gemmviz.run.cuda.compiling import Compiled

_PLAIN_SHARED = 48 << 10  # bytes of dynamic shared memory that need no attribute of the kernel
_POLL_S = 0.0002
_NOT_READY = 600
_FATAL = {
    700: "the kernel read or wrote an address outside of its arrays",
    714: "the kernel ran over its stack",
    715: "the kernel executed an illegal instruction",
    716: "the kernel read or wrote several elements at once at an address that is not aligned to them",
    717: "the kernel used an address of the wrong kind of memory",
    718: "the kernel jumped to an address that holds no code",
    719: "the kernel failed on the GPU",
    710: "an assert in the kernel failed",
}
_LAUNCH_ERRORS = {
    1: "the GPU refuses this launch: its grid or block is too large",
    2: "the GPU has not enough memory",
    701: "the launch needs more registers or shared memory than the GPU allows for a block",
}
_CONTEXT_LOST = "the GPU's context is lost; a new one is opened for the next run"


class LostContext(DeviceError):
    """The GPU's context is lost: this process must end."""


class EndlessKernel(LostContext):
    """The kernel exceeded its time limit."""


@contextmanager
def spoken_errors(file: str) -> Iterator[None]:
    """Translates the driver's errors. Raises LostContext if this process can't continue, DeviceError or KernelFault
    otherwise.
    """
    try:
        yield
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise DeviceError(f"{_LAUNCH_ERRORS[2]}: {error}", file=file, remedy="choose smaller sizes or fewer blocks") from None
    except cublas.CUBLASError as error:
        raise DeviceError(f"cuBLAS reports: {error}", file=file, remedy="choose smaller sizes") from None
    except (driver.CUDADriverError, runtime.CUDARuntimeError) as error:
        status = int(error.status)
        if status in _FATAL:
            raise LostContext(_FATAL[status], file=file, remedy=_CONTEXT_LOST) from None
        if status in _LAUNCH_ERRORS:
            raise DeviceError(_LAUNCH_ERRORS[status], file=file, remedy="choose smaller tiles, blocks or sizes") from None
        raise DeviceError(f"CUDA reports: {error}", file=file) from None


def launch(compiled: Compiled, launch: Launch, arguments: Sequence[Any]) -> None:
    """Starts a kernel. ``arguments``: NumPy scalars, or ints for pointers."""
    launcher(compiled, launch, arguments)()


def launcher(compiled: Compiled, launch: Launch, arguments: Sequence[Any]) -> Callable[[], None]:
    """A function that starts a kernel on the current stream, with its arguments packed once."""
    if launch.shared_bytes > _PLAIN_SHARED:
        attribute = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        driver.funcSetAttribute(compiled.handle, attribute, launch.shared_bytes)
    boxes = [np.asarray(each if isinstance(each, np.generic) else np.uint64(each)) for each in arguments]
    pointers = (ctypes.c_void_p * max(1, len(boxes)))(*(box.ctypes.data for box in boxes))

    def start() -> None:
        stream = cupy.cuda.get_current_stream().ptr
        driver.launchKernel(
            compiled.handle, *launch.grid, *launch.block, launch.shared_bytes, stream, ctypes.addressof(pointers), 0
        )
        assert boxes  # the pointers refer to these

    return start


def check_resources(compiled: Compiled, launch: Launch, file: str) -> None:
    """Raises DeviceError, with the figures, if the compiled kernel can't be launched with this number of threads."""
    if launch.threads_per_block > compiled.max_threads:
        raise DeviceError(
            f"a thread takes {compiled.registers} registers, so a block can have at most {compiled.max_threads} threads; "
            f"this one has {launch.threads_per_block}",
            file=file,
            remedy="choose a smaller block, or write __launch_bounds__",
        )


def wait(timeout_s: float, file: str) -> None:
    """Waits until the GPU is idle. Raises EndlessKernel after ``timeout_s``."""
    done = cupy.cuda.Event(disable_timing=True)
    done.record()
    deadline = time.monotonic() + timeout_s
    spins = 0
    while runtime.eventQuery(done.ptr) == _NOT_READY:
        spins += 1
        if spins > 200:
            time.sleep(_POLL_S)
        if time.monotonic() > deadline:
            raise EndlessKernel(
                f"the kernel did not end within {timeout_s:g} s", file=file,
                remedy=f"does a loop never end? {_CONTEXT_LOST}",
            )  # fmt: skip
    done.synchronize()  # raises an error that the kernel caused
