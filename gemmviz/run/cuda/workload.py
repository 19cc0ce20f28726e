"""One problem on the GPU: its arrays in one block of memory, the arguments of its kernel, and its launch with a time limit."""

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import cupy
import numpy as np
import numpy.typing as npt
from cupy.cuda import driver, runtime
from cupy_backends.cuda.libs import cublas
from msgspec import Struct

from gemmviz.cuda.nodes import FunctionParameter
from gemmviz.cuda.program import macros_of
from gemmviz.cuda.twin.units import DeviceSource, real_source
from gemmviz.cuda.types import PointerType, Scalar
from gemmviz.model.errors import DeviceError
from gemmviz.model.kernel import NULL_POINTER, Launch
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.translation import listed
from gemmviz.run.align import Region
from gemmviz.run.cpu.executor import bound
from gemmviz.run.cpu.simt.interpret import Binding, number_argument
from gemmviz.run.cuda.compiling import Compiled, Unit, free_memory
from gemmviz.run.data import matrices

_GAP_BYTES = 1 << 16  # between matrices, so that accesses beyond one don't reach the next
_LARGEST_WORD = 0x7FFFFFFE


class Workload(Struct, frozen=True):
    """A problem on the GPU. ``arena`` holds its arrays at ``offsets`` (bytes, multiples of 256); ``data`` is the host's copy
    before the run: flat inputs and outputs.
    """

    setup: Setup
    binding: Binding
    data: dict[str, npt.NDArray[Any]]
    arena: Any
    offsets: dict[str, int]

    def of(self, setup: Setup) -> "Workload":
        """The same problem with another recorded part."""
        return replace(self, setup=setup, binding=replace(self.binding, setup=setup))

    @property
    def launch(self) -> Launch:
        return self.binding.launch

    @property
    def base(self) -> int:
        return int(self.arena.data.ptr)

    def matrix(self, name: str) -> Any:
        """An array on the GPU, flat."""
        start = self.offsets[name]
        return self.arena[start : start + self.data[name].nbytes].view(self.data[name].dtype)

    def reset_outputs(self, value: float | None = None) -> None:
        """Fills the outputs, those that hold values before the run with these, the others with ``value`` if they hold floats;
        None for what the setup says.
        """
        problem = self.setup.problem
        if value is None:
            value = np.nan if self.setup.filling.old_outputs == "nan" else 0.0
        for name in problem.output_names:
            if problem.holds_before(name):
                self.matrix(name).set(self.data[name])
            else:
                array = self.matrix(name)
                array.fill(value if array.dtype.kind == "f" else 0)

    def restore_inputs(self) -> None:
        """Fills the inputs again, which a kernel may have changed."""
        for name in self.data.keys() - {*self.setup.problem.output_names}:
            self.matrix(name).set(self.data[name])

    @property
    def can_be_poisoned(self) -> bool:
        """Whether an output can hold NaN before the run."""
        problem = self.setup.problem
        free = [name for name in problem.output_names if not problem.holds_before(name)]
        return any(self.matrix(name).dtype.kind == "f" for name in free)

    @property
    def arguments(self) -> list[Any]:
        """Arguments of the twin: addresses and numbers as NumPy scalars."""
        return [
            self._argument(argument, parameter)
            for argument, parameter in zip(self.setup.kernel.args, self.binding.program.parameters, strict=True)
        ]

    @property
    def real_arguments(self) -> list[Any]:
        """Arguments of the real kernel: structs are packed to their bytes."""
        return [self._packed(number) for number, each in enumerate(self.binding.program.arguments) if not each.symbol]

    def fill_symbols(self, compiled: Compiled) -> None:
        """Copies what the arguments give to the global variables of the real kernel."""
        for number, each in enumerate(self.binding.program.arguments):
            if each.symbol:
                target, array = compiled.address_of(each.symbol), self._array_of(number)
                if array is None:
                    value = np.asarray(self._packed(number))
                    runtime.memcpy(target, value.ctypes.data, each.bytes, runtime.memcpyHostToDevice)
                else:
                    size = min(each.bytes, self.data[array].nbytes)
                    runtime.memcpy(target, self.base + self.offsets[array], size, runtime.memcpyDeviceToDevice)

    def fetch_symbols(self, compiled: Compiled) -> None:
        """Copies outputs that the real kernel leaves in global variables to the arena."""
        for number, each in enumerate(self.binding.program.arguments):
            array = self._array_of(number)
            if array is not None and array in self.setup.problem.output_names:
                size = min(each.bytes, self.data[array].nbytes)
                source = compiled.address_of(each.symbol)
                runtime.memcpy(self.base + self.offsets[array], source, size, runtime.memcpyDeviceToDevice)

    def _parts(self, number: int) -> Iterator[tuple[str, FunctionParameter]]:
        """The header's args and the flat parameters of an argument of the real kernel."""
        given = zip(self.setup.kernel.args, self.binding.program.parameters, strict=True)
        return (each for each in given if each[1].argument == number)

    def _array_of(self, number: int) -> str | None:
        """The name of the array whose contents a global variable has; None for one that holds numbers."""
        is_array = self.binding.program.arguments[number].is_array
        return next(name for name, _ in self._parts(number)) if is_array else None

    def _packed(self, number: int) -> Any:
        packed = bytearray(self.binding.program.arguments[number].bytes)
        for argument, parameter in self._parts(number):
            value = self._argument(argument, parameter).tobytes()
            packed[parameter.offset : parameter.offset + len(value)] = value
        return np.void(bytes(packed))

    def _argument(self, argument: str, parameter: FunctionParameter) -> Any:
        if isinstance(parameter.type, PointerType):
            return np.uint64(0 if argument == NULL_POINTER else self.base + self.offsets[argument])
        assert isinstance(parameter.type, Scalar)
        number, element = number_argument(self.setup, argument), parameter.type.element
        return element.elements(np.array(number if parameter.type.is_float else int(number)))[()]

    @property
    def shift(self) -> int:
        """Number of low bits dropped from addresses in the record, since all elements are at least that large."""
        return int(np.log2(min(array.itemsize for array in self.binding.arrays[: len(self.binding.matrices)])))

    @property
    def regions(self) -> dict[int, Region]:
        """The location of each matrix in the record's words. Raises DeviceError if the words are too short."""
        if self.arena.nbytes >> self.shift > _LARGEST_WORD:
            raise DeviceError("the matrices are too large to be traced on the GPU", remedy="choose smaller sizes")
        return {
            number: Region(self.offsets[name] >> self.shift, self.binding.arrays[number].itemsize >> self.shift)
            for number, (name, _) in enumerate(self.binding.matrices)
        }

    @property
    def unit(self) -> Unit:
        """The unit of the real kernel."""
        kernel = self.setup.kernel
        return real_unit(self.setup, real_source(kernel, self.binding.program, macros_of(kernel, self.setup.definitions)))


def real_unit(setup: Setup, source: DeviceSource) -> Unit:
    """The unit of a form of the real kernel, with the setup's parameters as template arguments."""
    return Unit(source.text, setup.kernel.file, _entry_of(setup), (), source.headers)


def _entry_of(setup: Setup) -> str:
    """The kernel's name expression, with template arguments filled in."""
    given = setup.kernel.template_arguments
    named = ", ".join(str(setup.definitions.get(each, each)) for each in given)
    return f"{setup.kernel.function}<{named}>" if given else setup.kernel.function


def workload(setup: Setup) -> Workload:
    """The matrices of a setup, on the GPU. Raises the errors of ``bound``, and DeviceError if they don't fit."""
    binding = bound(setup)
    sizes = {name: prod(shape) for name, shape in binding.shapes.items()}
    needed = sum(sizes[name] * scalar.bytes for name, scalar in binding.matrices)
    if needed > free_memory():
        raise DeviceError(
            f"{listed(sizes)} take {needed >> 20} MiB; the GPU has {free_memory() >> 20} MiB free", file=setup.kernel.file,
            remedy="choose smaller sizes",
        )  # fmt: skip
    data = matrices(setup.problem, binding.shapes, binding.element_types, setup.filling)
    offsets, end = {}, _GAP_BYTES
    for name, array in data.items():
        offsets[name] = end
        end += -(-array.nbytes // 256) * 256 + _GAP_BYTES
    work = Workload(setup, binding, data, cupy.empty(end, cupy.uint8), offsets)
    for name, array in data.items():
        work.matrix(name).set(array)
    return work


# Launches on the GPU: packing of arguments, waiting with a time limit, and messages for the driver's errors.

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
