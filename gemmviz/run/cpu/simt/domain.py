"""What the values of a run are: numbers of C's types here, in a run that computes; other domains are ``tags`` and ``sums``."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gemmviz.cuda import fold
from gemmviz.cuda.nodes import Assign, Deref, Expr, Loop, Unrolled
from gemmviz.cuda.types import Scalar
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt import values
from gemmviz.run.cpu.simt.local import CellTable, LocalMemory
from gemmviz.run.cpu.simt.machine import Closure, Machine
from gemmviz.run.cpu.simt.memory import AccessType, GlobalMemory, SharedMemory
from gemmviz.run.cpu.simt.values import Finish, PointerClosure

Holder = int | Expr  # what holds a value: a variable's slot, or an expression of a place in memory or of a choice


class Compiling(Protocol):
    """What compiles expressions: the compiler of a run, and ``plain``, that of what is a number in any domain."""

    domain: "Domain"

    @property
    def plain(self) -> "Compiling": ...
    def value(self, node: Expr) -> Closure: ...
    def by_rules(self, node: Expr) -> Closure: ...
    def address(self, node: Expr) -> PointerClosure: ...


class Domain:
    """The domain of numbers, of a run on ``data``. The compiler asks a domain wherever domains differ."""

    def __init__(self, data: Mapping[str, npt.NDArray[Any]]) -> None:
        self.data = data

    def value(self, compiler: Compiling, node: Expr) -> Closure | None:
        """The closure of an expression that isn't evaluated by C's rules; None for others."""
        return None

    def effect(self, compiler: Compiling, node: Expr) -> Closure | None:
        """A closure of what an expression does if its value isn't needed, or None if it does nothing."""
        return compiler.value(node)

    def operand(self, compiler: Compiling, node: Expr) -> Closure:
        """The closure of a value with which only floats, or elements of memory, are computed."""
        return compiler.value(node)

    def known(self, compiler: Compiling, node: Expr) -> Closure:
        """The closure of a value on which control flow or an address depends."""
        return compiler.value(node)

    def accessed(self, compiler: Compiling, node: Deref) -> PointerClosure:
        """The closure of the address of a place in memory that is read or written."""
        return compiler.address(node.pointer)

    def given(self, compiler: Compiling, to: Holder, node: Expr) -> Closure:
        """The closure of a value that something holds from now on."""
        return compiler.value(node)

    def running(self, scalar: Scalar | None, of: Holder) -> Scalar | None:
        """The type that values of ``scalar`` have in a run, in what holds them."""
        return scalar

    def zero(self, scalar: Scalar, of: Holder) -> Any:
        """The zero in what holds it."""
        return values.constant(scalar.dtype.type(0).item(), scalar)

    def combined(self, node: Assign) -> Finish:
        """A closure of the new value of a compound assignment."""
        assert isinstance(node.type, Scalar)
        assert node.op is not None
        assert node.within is not None
        operands: list[Any] = [None, None]
        apply = values.binary(node.op, node.within, lambda machine: operands[0], lambda machine: operands[1], node.place)
        is_same = node.type.element is node.within.element
        widen, narrow = values.conversion(node.type, node.within), values.conversion(node.within, node.type)

        def combined(machine: Machine, old: Any, right: Any) -> Any:
            operands[0] = old if is_same else widen(old)
            operands[1] = right
            result = apply(machine)
            return result if is_same else narrow(result)

        return combined

    def updated(self, width: int, update: Callable[..., list[Any]], *args: Any) -> list[Any]:
        """The values of some elements of memory before and after an update, which ``update(*args)`` computes."""
        return update(*args)

    def multiplied(self, compute: Callable[[], list[Any]], count: int) -> list[Any]:
        """The ``count`` registers of a product of matrices, which ``compute`` gives."""
        return compute()

    def packed(self, halves: list[Any]) -> Any:
        """A register of 32 bits from two integers of 16, the lower first."""
        low, high = (np.asarray(half).astype(np.uint32) for half in halves)
        return low | high << np.uint32(16)

    def halves(self, register: Any) -> list[Any]:
        """The two integers of 16 bits in a register, the lower first."""
        bits = np.asarray(register, np.uint32)
        return [(bits >> np.uint32(shift)).astype(np.uint16) for shift in (0, 16)]

    def announce(self, machine: Machine, memory: Any, parts: list[Any], kind: AccessType) -> None:
        """Reports to the sink the value that a store is about to write."""
        if machine.wants_values:
            machine.sink.value(parts[0])

    def repeated(self, node: Loop | Unrolled, closure: Closure) -> Closure:
        """The closure of a loop, which may take a repeated run of it from a recorded one."""
        return closure

    def argument(self, number: float, scalar: Scalar, slot: int) -> Any:
        """The value of a parameter of the kernel that is a number."""
        return values.constant(float(number), scalar) if scalar.is_float else fold.wrap(int(number), scalar)

    def local(self, slot: int, name: str, cells: CellTable, cell_values: list[Any], level: int) -> LocalMemory:
        """A new local variable."""
        return LocalMemory(name, cells, cell_values, level)

    def matrix(self, name: str, info: MemoryArray, number: int) -> GlobalMemory:
        return GlobalMemory(info, number, self.data[name])

    def shared(self, arrays: tuple[MemoryArray, ...], number: int, space: ThreadSpace) -> SharedMemory:
        """The shared array that is the one of this number among ``arrays``."""
        return SharedMemory(arrays[number], number, len(space.block_shape), len(space.thread_shape))
