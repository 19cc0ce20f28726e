"""One problem on the GPU: its arrays in one block of memory, the arguments of its kernel, and its launch with a time limit; and
the timing of the real kernel and of cuBLAS.
"""

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from statistics import median
from typing import Any

import cupy
import numpy as np
from cupy.cuda import driver, runtime
from cupy_backends.cuda.libs import cublas
from msgspec import Struct, structs

from gemmviz.cuda.nodes import FunctionParameter
from gemmviz.cuda.program import macros_of
from gemmviz.cuda.twin.units import DeviceSource, real_source
from gemmviz.cuda.types import PointerType, Scalar
from gemmviz.model.arrays import AnyArray
from gemmviz.model.kernel import NULL_POINTER, Launch
from gemmviz.model.messages import DeviceError, checkpoint, listed
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Measured, Occupancy, Resources, Timing, Transfer
from gemmviz.model.trace import Check
from gemmviz.run.align import Region
from gemmviz.run.cpu.executor import bound, contents_of
from gemmviz.run.cpu.simt.interpret import Binding, number_argument
from gemmviz.run.cuda.compiling import Compiled, Nvrtc, NvrtcUnit, free_memory
from gemmviz.run.data import Limit, check_result, matrices, rounding_in

_GAP_BYTES = 1 << 16  # between matrices, so that accesses beyond one don't reach the next
_LARGEST_WORD = 0x7FFFFFFE


class Workload(Struct, frozen=True):
    """A problem on the GPU. ``arena`` holds its arrays at ``offsets`` (bytes, multiples of 256); ``data`` is the host's copy
    before the run: flat inputs and outputs.
    """

    setup: Setup
    binding: Binding
    data: dict[str, AnyArray]
    arena: Any
    offsets: dict[str, int]

    def of(self, setup: Setup) -> "Workload":
        """The same problem with another recorded part."""
        return structs.replace(self, setup=setup, binding=structs.replace(self.binding, setup=setup))

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
    def unit(self) -> NvrtcUnit:
        """The unit of the real kernel."""
        kernel = self.setup.kernel
        return real_unit(self.setup, real_source(kernel, self.binding.program, macros_of(kernel, self.setup.definitions)))


def real_unit(setup: Setup, source: DeviceSource) -> NvrtcUnit:
    """The unit of a form of the real kernel, with the setup's parameters as template arguments."""
    return NvrtcUnit(source.text, setup.kernel.file, _entry_of(setup), (), source.headers)


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


# Timing of the real kernel and of cuBLAS: device events around so many launches that the host's share is negligible.

_HOLD = Path(__file__).with_name("hold.cu")
_DEVICE_REPEATS = 15
_BATCH_MS = 4.0
_MOST_LAUNCHES = 400
_LONG_KERNEL_MS = 400.0
_CHECKED_ROWS_FLOPS = 1 << 36
_CUBLAS_TYPES = {"float32": runtime.CUDA_R_32F, "float16": runtime.CUDA_R_16F, "bfloat16": runtime.CUDA_R_16BF}
_COMPUTE_IN_FLOAT, _ANY_ALGORITHM = 68, -1  # CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT


class Stopwatch:
    """Times launches, in milliseconds of the GPU: all are queued before the GPU starts the first. Raises Cancelled."""

    def __init__(self, nvrtc: Nvrtc, timeout_s: float, file: str) -> None:
        self._hold = nvrtc(NvrtcUnit(_HOLD.read_text(encoding="utf-8"), _HOLD.name, "hold"))
        self._timeout_s, self._file = timeout_s, file
        self._memory = cupy.cuda.alloc_pinned_memory(4)
        self._go = np.frombuffer(self._memory, np.int32, 1)

    def ms(self, start: Callable[[], None], launches: int) -> float:
        checkpoint()
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        self._go[0] = 0
        launch(self._hold, Launch((1, 1, 1), (1, 1, 1)), [self._memory.ptr])
        try:
            begin.record()
            for _ in range(launches):
                start()
            end.record()
        finally:
            self._go[0] = 1
        wait(self._timeout_s, self._file)
        return float(cupy.cuda.get_elapsed_time(begin, end))

    def time(self, start: Callable[[], None]) -> Timing:
        """The time of one launch: the median over repeats, each of many launches back to back, after a warm-up."""
        once = self.ms(start, 1)
        once = self.ms(start, 1) if once < _LONG_KERNEL_MS else once
        launches = int(min(_MOST_LAUNCHES, max(1, _BATCH_MS / max(once, 1e-4))))
        repeats = _DEVICE_REPEATS if once * launches < _LONG_KERNEL_MS / 4 else 5 if once < _LONG_KERNEL_MS else 3
        self.ms(start, launches)
        times = sorted(self.ms(start, launches) / launches for _ in range(repeats))
        quarter = len(times) // 4
        return Timing(median(times), times[quarter], times[-1 - quarter], repeats, launches)


def time_kernel(nvrtc: Nvrtc, work: Workload, timeout_s: float) -> Measured:
    """Checks and times the real kernel, as it stands in its file."""
    compiled = nvrtc(work.unit)
    check_resources(compiled, work.launch, work.setup.kernel.file)
    arguments = work.real_arguments
    check, reads_c = _checked_outputs(compiled, work, arguments, timeout_s)
    timing = Stopwatch(nvrtc, timeout_s, work.setup.kernel.file).time(launcher(compiled, work.launch, arguments))
    shared = compiled.shared_bytes + work.launch.shared_bytes
    resources = Resources(compiled.registers, shared, compiled.local_bytes, occupancy(compiled, work))
    setup, kernel, inputs = work.setup, work.setup.kernel, work.binding.element_types[next(iter(work.data))].name
    return Measured(
        kernel.name, setup.problem, timing, dict(setup.parameters), kernel.text_hash, resources, check, reads_c,
        inputs="" if inputs == "float32" else inputs,
    )  # fmt: skip


def _checked_outputs(compiled: Compiled, work: Workload, arguments: list[Any], timeout_s: float) -> tuple[Check, bool]:
    """The outputs compared with float64, poisoned by NaN before; if that fails, with zeros instead. The flag is true if the
    kernel reads an output that holds nothing before the run.
    """
    checks = []
    for value in (np.nan, 0.0):
        work.reset_outputs(value)
        work.fill_symbols(compiled)
        launch(compiled, work.launch, arguments)
        wait(timeout_s, work.setup.kernel.file)
        work.fetch_symbols(compiled)
        checks.append(check_on_device(work))
        if checks[-1].passed or not work.can_be_poisoned:
            break
    sizes = [work.data[name].size for name in work.setup.problem.output_names]
    reads_c = len(checks) > 1 and checks[1].passed and checks[0].unwritten == sum(sizes)
    return checks[reads_c], reads_c


def check_on_device(work: Workload) -> Check:
    """The comparison of all outputs with float64, as in ``check_result``: of a plain multiplication on the GPU, of another
    problem on the host. Elements that are NaN count as unwritten.
    """
    problem = work.setup.problem
    work.restore_inputs()
    if problem.is_multiply and not problem.factors:
        return _product_on_device(work)
    data = {name: work.matrix(name).get() for name in work.data}
    contents = contents_of(work.binding, data)
    written = {name: np.flatnonzero(~np.isnan(contents.numbers(name))) for name in problem.output_names}
    return check_result(contents, written, True)


def _product_on_device(work: Workload) -> Check:
    """The comparison of all of C with A . B in float64, on the GPU, some rows at a time."""
    problem = work.setup.problem
    shapes = {"A": (problem.M, problem.K), "B": (problem.K, problem.N), "C": (problem.M, problem.N)}
    types, column_major = work.binding.element_types, work.setup.kernel.column_major
    a, b, c = (_shaped(work.matrix(name), shape, name in column_major) for name, shape in shapes.items())
    limit = Limit(problem.K + 1, types["C"], rounding_in(problem, types, work.binding.program))
    right = types["B"].numbers(b)
    size = max(1, _CHECKED_ROWS_FLOPS // (problem.N * problem.K))
    wrong, unwritten, worst = 0, 0, (-np.inf, 0.0, 0.0, (0, 0))
    for start in range(0, problem.M, size):
        left, got = types["A"].numbers(a[start : start + size]), types["C"].numbers(c[start : start + size])
        error = limit.error(left @ right - got)
        allowed = limit.factor * (cupy.abs(left) @ cupy.abs(right)) + limit.least
        missing = cupy.isnan(got)
        unwritten += int(missing.sum())
        excess = cupy.where(missing, -cupy.inf, error - allowed)
        wrong += int((excess > 0).sum())
        row, column = divmod(int(cupy.argmax(excess)), problem.N)
        here = float(excess[row, column]), float(error[row, column]), float(allowed[row, column]), (start + row, column)
        worst = max(worst, here)
    _, error, bound, at = worst
    largest = error if np.isfinite(error) else None
    return Check(problem.M * problem.N - unwritten, wrong, unwritten, largest, bound, at)


def _shaped(flat: Any, shape: tuple[int, int], column_major: bool) -> Any:
    return flat.reshape(shape[::-1]).T if column_major else flat.reshape(shape)


def occupancy(compiled: Compiled, work: Workload) -> Occupancy:
    """Theoretical occupancy, computed by the driver."""
    launched = work.launch
    blocks = driver.occupancyMaxActiveBlocksPerMultiprocessor(
        compiled.handle, launched.threads_per_block, launched.shared_bytes
    )
    facts = cupy.cuda.runtime.getDeviceProperties(0)
    warp = facts["warpSize"]
    return Occupancy(blocks, -(-launched.threads_per_block // warp), facts["maxThreadsPerMultiProcessor"] // warp)


def time_cublas(nvrtc: Nvrtc, work: Workload, timeout_s: float) -> Timing:
    """Times cuBLAS on the same matrices, which it adds up in float32 (TF32 off). Raises DeviceError for types that it lacks."""
    if not work.setup.problem.is_multiply:
        raise DeviceError("cuBLAS multiplies matrices only", file=work.setup.kernel.file)
    types = tuple(work.binding.element_types[name].name for name in "ABC")
    if types[0] != types[1] or types[2] not in (types[0], "float32") or not set(types) <= _CUBLAS_TYPES.keys():
        raise DeviceError(f"cuBLAS doesn't multiply {types[0]} by {types[1]} to {types[2]}", file=work.setup.kernel.file)
    problem, handle = work.setup.problem, cupy.cuda.device.get_cublas_handle()
    of_a, of_b, of_c = map(_CUBLAS_TYPES.__getitem__, types)
    numbers = np.array([1.0, 0.0], np.float32)
    one, zero = (numbers.ctypes.data + 4 * at for at in range(2))
    pointers = [work.base + work.offsets[name] for name in "BAC"]
    before = cublas.getMathMode(handle)
    cublas.setMathMode(handle, cublas.CUBLAS_DEFAULT_MATH)

    def start() -> None:
        # Row-major C = A B is column-major C' = B' A'.
        cublas.gemmEx(
            handle, cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_N, problem.N, problem.M, problem.K, one, pointers[0], of_b,
            problem.N, pointers[1], of_a, problem.K, zero, pointers[2], of_c, problem.N, _COMPUTE_IN_FLOAT, _ANY_ALGORITHM,
        )  # fmt: skip

    try:
        work.reset_outputs(np.nan)
        start()  # cuBLAS initialises itself
        return Stopwatch(nvrtc, timeout_s, "cuBLAS").time(start)
    finally:
        cublas.setMathMode(handle, before)


def time_transfer(work: Workload) -> Transfer:
    """Times the copies of the inputs to the GPU and of the outputs back, with pageable memory as cudaMemcpy uses it."""
    problem, host = work.setup.problem, {name: np.array(array) for name, array in work.data.items()}
    inputs = [name for name in host if problem.holds_before(name)]

    def to_device() -> None:
        for name in inputs:
            work.matrix(name).set(host[name])

    def to_host() -> None:
        for name in problem.output_names:
            work.matrix(name).get(out=host[name])

    return Transfer(_wall(to_device), _wall(to_host))


def _wall(copy: Callable[[], None]) -> float:
    times = []
    for _ in range(6):
        cupy.cuda.get_current_stream().synchronize()
        start = time.perf_counter()
        copy()
        cupy.cuda.get_current_stream().synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return median(times[1:])
