"""One multiplication on the GPU: its matrices in one block of memory, and the arguments of its kernel."""

from dataclasses import dataclass, replace
from typing import Any

import cupy
import numpy as np
import numpy.typing as npt

from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import DeviceError
from gemmviz.model.kernel import Launch
from gemmviz.model.setup import Setup
from gemmviz.run.align import Region
from gemmviz.run.cpu.executor import bound
from gemmviz.run.cpu.simt.interpret import Binding, number_argument
from gemmviz.run.cuda.compiling import Unit, free_memory
from gemmviz.run.inputs import matrices
from gemmviz.source.program import macros_of
from gemmviz.source.twin.real import DeviceSource, real_source
from gemmviz.source.types import PointerType, Scalar

_GAP_BYTES = 1 << 16  # between matrices, so that accesses beyond one don't reach the next
_LARGEST_WORD = 0x7FFFFFFE


@dataclass(frozen=True)
class Workload:
    """A multiplication on the GPU. ``arena`` holds A, B and C at ``offsets`` (bytes, multiples of 256); ``data`` is the host's
    copy: flat A, B, zeros.
    """

    setup: Setup
    binding: Binding
    data: dict[str, npt.NDArray[Any]]
    arena: Any
    offsets: dict[str, int]

    def of(self, setup: Setup) -> "Workload":
        """The same multiplication with another recorded part."""
        return replace(self, setup=setup, binding=replace(self.binding, setup=setup))

    @property
    def launch(self) -> Launch:
        return self.binding.launch

    @property
    def base(self) -> int:
        return int(self.arena.data.ptr)

    def matrix(self, name: str) -> Any:
        """A, B or C on the GPU, flat."""
        start = self.offsets[name]
        return self.arena[start : start + self.data[name].nbytes].view(self.data[name].dtype)

    def clear_c(self, value: float = 0.0) -> None:
        """Fills C; NaN poisons it if it holds floats."""
        c = self.matrix("C")
        c.fill(value if c.dtype.kind == "f" else 0)

    @property
    def arguments(self) -> list[Any]:
        """Arguments of the kernel: addresses as ints, numbers as NumPy scalars."""
        arguments: list[Any] = []
        for argument, parameter in zip(self.setup.kernel.args, self.binding.program.parameters, strict=True):
            if isinstance(parameter.type, PointerType):
                arguments.append(self.base + self.offsets[argument])
            else:
                assert isinstance(parameter.type, Scalar)
                number = number_argument(self.setup, argument)
                arguments.append(parameter.type.dtype.type(number if parameter.type.is_float else int(number)))
        return arguments

    @property
    def shift(self) -> int:
        """Number of low bits dropped from addresses in the record, since all elements are at least that large."""
        return int(np.log2(min(array.itemsize for array in self.data.values())))

    @property
    def regions(self) -> dict[int, Region]:
        """The location of each matrix in the record's words. Raises DeviceError if the words are too short."""
        if self.arena.nbytes >> self.shift > _LARGEST_WORD:
            raise DeviceError("the matrices are too large to be traced on the GPU", remedy="choose smaller sizes")
        return {
            number: Region(self.offsets[name] >> self.shift, scalar.bytes >> self.shift)
            for number, (name, scalar) in enumerate(self.binding.matrices)
        }

    @property
    def unit(self) -> Unit:
        """The unit of the real kernel."""
        kernel = self.setup.kernel
        return real_unit(self.setup, real_source(kernel, self.binding.program, macros_of(kernel, self.setup.parameters)))


def real_unit(setup: Setup, source: DeviceSource) -> Unit:
    """The unit of a form of the real kernel, with the setup's parameters as template arguments."""
    return Unit(source.text, setup.kernel.file, _entry_of(setup), (), source.headers)


def _entry_of(setup: Setup) -> str:
    """The kernel's name expression, with template arguments filled in."""
    given = setup.kernel.template_arguments
    named = ", ".join(str(setup.parameters.get(each, each)) for each in given)
    return f"{setup.kernel.function}<{named}>" if given else setup.kernel.function


def workload(setup: Setup) -> Workload:
    """The matrices of a setup, on the GPU. Raises the errors of ``bound``, and DeviceError if they don't fit."""
    binding = bound(setup)
    sizes = {name: setup.problem.shapes[name][0] * setup.problem.shapes[name][1] for name, _ in binding.matrices}
    needed = sum(sizes[name] * scalar.bytes for name, scalar in binding.matrices)
    if needed > free_memory():
        raise DeviceError(
            f"A, B and C take {needed >> 20} MiB; the GPU has {free_memory() >> 20} MiB free", file=setup.kernel.file,
            remedy="choose smaller sizes",
        )  # fmt: skip
    data = matrices(setup.problem, binding.element_types, setup.filling, is_cancelled)
    offsets, end = {}, _GAP_BYTES
    for name, array in data.items():
        offsets[name] = end
        end += -(-array.nbytes // 256) * 256 + _GAP_BYTES
    work = Workload(setup, binding, data, cupy.empty(end, cupy.uint8), offsets)
    for name, array in data.items():
        if name != "C":
            work.matrix(name).set(array)
    work.clear_c()
    return work
