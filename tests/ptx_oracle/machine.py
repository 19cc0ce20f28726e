"""Runs a PTX program over all threads of a launch in lockstep and records what each instruction touches.

Of the threads' places in the code the lowest runs first, so threads that part meet again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.ptx_oracle.memory import LOCAL, SHARED, Array, Memory
from tests.ptx_oracle.module import Instruction, Program, PtxError, Variable, split
from tests.ptx_oracle.operations import TYPES, compare, computed, converted, types_of

_RUNNING, _WAITING, _EXITED = 0, 1, 2
_SPACES = {"shared": SHARED, "local": LOCAL}
_MOST_STEPS = 2_000_000
_SHUFFLES = ("up", "down", "bfly", "idx")


@dataclass(frozen=True)
class Touch:
    """One instruction's access: the line, whether it writes, the address of each thread, (threads,), -1 if none, its bytes."""

    line: int
    writes: bool
    address: Array
    bytes: int


@dataclass
class Machine:
    """The threads of a launch. ``grid`` and ``block`` are (x, y, z); ``touches`` the accesses to global and shared memory."""

    program: Program
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0
    touches: list[Touch] = field(default_factory=list)

    def __post_init__(self) -> None:
        per_block, blocks = int(np.prod(self.block)), int(np.prod(self.grid))
        thread = np.arange(per_block * blocks)
        self.count = len(thread)
        within, number = thread % per_block, thread // per_block
        self.special = {"%laneid": within % 32, "%warpid": within // 32, "WARP_SZ": np.full(self.count, 32)}
        for name, index, extents in (("tid", within, self.block), ("ctaid", number, self.grid)):
            x, y, _ = extents
            for axis, value in zip("xyz", (index % x, index // x % y, index // x // y), strict=True):
                self.special[f"%{name}.{axis}"] = value
            for axis, extent in zip("xyz", extents, strict=True):
                self.special[f"%n{name}.{axis}"] = np.full(self.count, extent)
        self.lane0 = thread - within % 32
        self.last = (number + 1) * per_block - 1
        self.registers = {name: np.zeros(self.count, TYPES[kind]) for name, kind in self.program.registers.items()}
        self.places: dict[str, int] = {}
        local, shared = self._placed("local", 0), self._placed("shared", 0)
        self.memory = Memory(number, np.zeros((self.count, local), np.uint8), np.zeros((blocks, shared), np.uint8))
        self.parameters: dict[str, Array] = {}
        for each in self.program.variables.values():
            if each.space in ("const", "global"):
                self.places[each.name] = self.memory.add(_initial(each))

    def _placed(self, space: str, at: int) -> int:
        """Gives each variable of a space its offset; returns the bytes of all."""
        several = [each for each in self.program.variables.values() if each.space == space]
        for each in sorted(several, key=lambda variable: variable.bytes == 0):
            at = -(-at // 16) * 16
            self.places[each.name] = at
            at += each.bytes
        return at + (self.shared_bytes if space == "shared" else 0) + 16

    def run(self, arguments: Sequence[Any]) -> None:
        """Runs to the end. ``arguments``: NumPy scalars, addresses included. Raises PtxError."""
        for variable, value in zip(self.program.params, arguments, strict=True):
            raw = np.frombuffer(np.asarray(value).tobytes(), np.uint8)
            self.parameters[variable.name] = np.broadcast_to(raw, (self.count, len(raw))).copy()
        self.pc = np.zeros(self.count, np.int64)
        self.state = np.zeros(self.count, np.int8)
        steps = 0
        with np.errstate(all="ignore"):
            while (self.state != _EXITED).any():
                running = self.state == _RUNNING
                if not running.any():
                    self.state[self.state == _WAITING] = _RUNNING
                    continue
                at = int(self.pc[running].min())
                active = running & (self.pc == at)
                others = self.pc[running & ~active]
                steps += self._straight(at, active, int(others.min()) if len(others) else len(self.program.code))
                if steps > _MOST_STEPS:
                    raise PtxError("too many steps")

    def _straight(self, at: int, active: Array, limit: int) -> int:
        """Runs threads up to a branch, a barrier or the place of other threads; returns the number of steps."""
        start, threads = at, np.flatnonzero(active)
        while at < limit:
            each = self.program.code[at]
            at += 1
            guarded = threads if not each.guard else threads[self._guard(each.guard)[threads]]
            match each.op[0]:
                case "bra":
                    self.pc[threads] = at
                    self.pc[guarded] = self.program.labels[each.args[0]]
                    return at - start
                case "ret" | "exit":
                    self.pc[threads] = at
                    self.state[guarded] = _EXITED
                    return at - start
                case "bar" | "barrier" if each.op[1] != "warp":
                    self.pc[threads], self.state[threads] = at, _WAITING
                    return at - start
                case _:
                    if len(guarded):
                        self._one(each, guarded)
        self.pc[threads] = at
        if at == len(self.program.code):
            self.state[threads] = _EXITED
        return at - start

    def _guard(self, text: str) -> Array:
        value = self.registers[text.removeprefix("!")]
        return ~value if text[0] == "!" else value

    def _one(self, at: Instruction, threads: Array) -> None:
        """Runs an instruction for some threads."""
        op, args = at.op, at.args
        match op[0]:
            case "label" | "bar" | "fence" | "membar" | "pragma" | "prefetch":
                return
            case "call" | "trap":
                raise PtxError(f"line {at.line}: {' '.join(op)} is reached")
            case "declare":
                self.parameters[args[0]] = np.zeros((self.count, max(8, int(args[1]))), np.uint8)
            case "ld" | "ldu":
                self._load(at, threads)
            case "st":
                self._store(at, threads)
            case "cvta":
                base = _SPACES.get(next((each for each in op[1:] if each in _SPACES), ""), 0)
                self._put(
                    args[0],
                    self._get(args[1], "u64", threads)
                    + np.uint64(0)
                    + np.int64(-base if "to" in op else base).astype(np.uint64),
                    threads,
                )
            case "cp":
                self._copy(at, threads)
            case "atom" | "red":
                self._atomic(at, threads)
            case "shfl":
                self._shuffle(at, threads)
            case _:
                self._compute(at, threads)

    def _compute(self, at: Instruction, threads: Array) -> None:
        op, args = at.op, at.args
        kinds = types_of(op)
        if op[0] == "mov":
            self._move(args, kinds[-1], threads)
        elif op[0] == "setp":
            truth = compare(op, *(self._get(arg, kinds[-1], threads) for arg in args[1:3]))
            if len(args) > 3:
                joined = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[op[2]]
                truth = joined(truth, self._get(args[3], "pred", threads))
            self._put(args[0], truth, threads)
        elif op[0] == "selp":
            chosen = self._get(args[3], "pred", threads)
            self._put(args[0], np.where(chosen, *(self._get(arg, kinds[0], threads) for arg in args[1:3])), threads)
        elif op[0] == "cvt":
            self._put(args[0], converted(op, self._get(args[1], kinds[-1], threads)), threads)
        else:
            kind = kinds[-1]
            values = [self._get(arg, self._kind(op, kind, n), threads) for n, arg in enumerate(args[1:])]
            self._put(args[0], computed(op, values), threads)

    @staticmethod
    def _kind(op: tuple[str, ...], kind: str, operand: int) -> str:
        """The type of an operand: the third of a wide product is wider, a shift's amount is 32 bits."""
        if op[0] in ("shl", "shr") and operand == 1:
            return "u32"
        wide = op[0] == "mad" and "wide" in op and operand == 2
        return f"{kind[0]}{2 * int(kind[1:])}" if wide else kind

    def _move(self, args: tuple[str, ...], kind: str, threads: Array) -> None:
        if args[0][0] == "{":
            parts = split(args[0][1:-1])
            whole = np.ascontiguousarray(self._get(args[1], kind, threads))
            pieces = whole.view(f"u{whole.dtype.itemsize // len(parts)}").reshape(len(threads), -1)
            for number, part in enumerate(parts):
                if part != "_":
                    self._put(part, pieces[:, number], threads)
        elif args[1][0] == "{":
            parts = split(args[1][1:-1])
            size = TYPES[kind].itemsize // len(parts)
            pieces = np.stack([self._get(part, f"u{8 * size}", threads) for part in parts], axis=1)
            self._put(args[0], np.ascontiguousarray(pieces).view(TYPES[kind]).ravel(), threads)
        else:
            self._put(args[0], self._get(args[1], kind, threads), threads)

    def _get(self, arg: str, kind: str, threads: Array) -> Array:
        """The value of an operand for some threads, (n,), read as this type."""
        dtype = TYPES[kind]
        if arg in self.registers:
            value = self.registers[arg][threads]
            if value.dtype == dtype or dtype.kind == "b":
                return value.astype(dtype)
            if value.dtype.itemsize == dtype.itemsize:
                return value.view(dtype)
            return value.view(f"u{value.dtype.itemsize}").astype(f"u{dtype.itemsize}").view(dtype)
        if arg in self.special:
            return self.special[arg][threads].astype(dtype)
        if arg.startswith("!"):
            return ~self._get(arg[1:], kind, threads)
        name, _, offset = arg.partition("+")
        if name in self.places:
            return np.full(len(threads), self.places[name] + int(offset or 0)).astype(dtype)
        return np.broadcast_to(immediate(arg, dtype), len(threads))

    def _put(self, arg: str, value: Array, threads: Array) -> None:
        """Sets a register for some threads."""
        if arg == "_":
            return
        register = self.registers[arg]
        if value.dtype != register.dtype and value.dtype.itemsize == register.dtype.itemsize and register.dtype.kind != "b":
            value = np.ascontiguousarray(value).view(register.dtype)
        register[threads] = value.astype(register.dtype)

    def address(self, arg: str, op: tuple[str, ...], threads: Array) -> Array:
        """The generic addresses of an operand in brackets, int64 (n,)."""
        name, _, offset = arg.strip("[]").replace("+-", "+ -").partition("+")
        at = self._get(name.strip(), "u64", threads).astype(np.int64) + int(offset or 0)
        space = next((each for each in (part.split("_")[0] for part in op[1:]) if each in _SPACES), "")
        return at + _SPACES.get(space, 0)

    def note(self, at: Instruction, writes: bool, address: Array, threads: Array, size: int) -> None:
        """Records an access, unless it is to threads' own memory."""
        if (address >= SHARED).any():
            everywhere = np.full(self.count, -1, np.int64)
            everywhere[threads] = np.where(address >= SHARED, address, -1)
            self.touches.append(Touch(at.line, writes, everywhere, size))

    def _load(self, at: Instruction, threads: Array) -> None:
        targets = split(at.args[0].strip("{}"))
        dtype = TYPES[types_of(at.op)[-1]]
        if "param" in at.op:
            name, _, offset = at.args[1].strip("[]").partition("+")
            for number, target in enumerate(targets):
                start = int(offset or 0) + number * dtype.itemsize
                raw = np.ascontiguousarray(self.parameters[name][threads, start : start + dtype.itemsize])
                self._put(target, raw.view(dtype).ravel(), threads)
            return
        address = self.address(at.args[1], at.op, threads)
        self.note(at, False, address, threads, dtype.itemsize * len(targets))
        for number, target in enumerate(targets):
            self._put(target, self.memory.load(address + number * dtype.itemsize, threads, dtype), threads)

    def _store(self, at: Instruction, threads: Array) -> None:
        kind = types_of(at.op)[-1]
        dtype, sources = TYPES[kind], split(at.args[1].strip("{}"))
        values = [np.ascontiguousarray(self._get(source, kind, threads)) for source in sources]
        if "param" in at.op:
            name, _, offset = at.args[0].strip("[]").partition("+")
            for number, value in enumerate(values):
                start = int(offset or 0) + number * dtype.itemsize
                self.parameters[name][threads, start : start + dtype.itemsize] = value.view(np.uint8).reshape(len(threads), -1)
            return
        address = self.address(at.args[0], at.op, threads)
        self.note(at, True, address, threads, dtype.itemsize * len(values))
        for number, value in enumerate(values):
            self.memory.store(address + number * dtype.itemsize, threads, value)

    def _copy(self, at: Instruction, threads: Array) -> None:
        """An asynchronous copy, made at once."""
        if "ca" not in at.op and "cg" not in at.op:
            return  # commits and waits
        target = (
            self._get(
                at.args[0].strip("[]"),
                "u64" if at.args[0].strip("[]") not in self.registers else self._width(at.args[0]),
                threads,
            ).astype(np.int64)
            + SHARED
        )
        source, size = self.address(at.args[1], ("cp",), threads), int(at.args[2], 0)
        self.note(at, False, source, threads, size)
        self.note(at, True, target, threads, size)
        for start in range(0, size, 4):
            self.memory.store(target + start, threads, self.memory.load(source + start, threads, TYPES["u32"]))

    def _width(self, arg: str) -> str:
        return f"u{8 * self.registers[arg.strip('[]')].dtype.itemsize}"

    def _atomic(self, at: Instruction, threads: Array) -> None:
        args = at.args if at.op[0] == "atom" else ("_", *at.args)
        kind = types_of(at.op)[-1]
        address = self.address(args[1], at.op, threads)
        self.note(at, True, address, threads, TYPES[kind].itemsize)
        if "add" not in at.op:
            raise PtxError(f"the instruction {'.'.join(at.op)} is not known")
        values, old = self._get(args[2], kind, threads), np.zeros(len(threads), TYPES[kind])
        for number in range(len(threads)):
            one = threads[number : number + 1]
            old[number : number + 1] = self.memory.load(address[number : number + 1], one, TYPES[kind])
            self.memory.store(address[number : number + 1], one, old[number : number + 1] + values[number : number + 1])
        self._put(args[0], old, threads)

    def _shuffle(self, at: Instruction, threads: Array) -> None:
        """A shuffle (PTX ISA, shfl.sync): the third operand holds the last lane and, from bit 8, the segment mask."""
        mode = next(each for each in at.op if each in _SHUFFLES)
        target, *rest = at.args[0].split("|")
        value, by, limits = (
            self._get(at.args[1], "u32", threads),
            *(self._get(arg, "s32", threads).astype(np.int64) for arg in at.args[2:4]),
        )
        lane, segment, clamp = self.special["%laneid"][threads], limits >> 8 & 31, limits & 31
        first = lane & segment
        last = first | (clamp & ~segment)
        source = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": first | (by & ~segment)}[mode]
        inside = source >= first if mode == "up" else source <= last
        everywhere = np.zeros(self.count, np.uint32)
        everywhere[threads] = value
        chosen = np.minimum(self.lane0[threads] + np.where(inside, source, lane), self.last[threads])
        self._put(target.strip(), everywhere[chosen], threads)
        for each in rest:
            self._put(each.strip(), inside, threads)


def _initial(variable: Variable) -> Array:
    """The initial bytes of a variable in constant or global memory."""
    dtype = TYPES[variable.kind]
    values = np.zeros(max(1, variable.bytes // dtype.itemsize), dtype)
    for number, text in enumerate(variable.data):
        values[number] = immediate(text, dtype)
    return values


def immediate(text: str, dtype: np.dtype[Any]) -> Array:
    """A number in PTX, as this type."""
    if found := re.fullmatch(r"0[fF]([0-9A-Fa-f]{8})", text):
        value = np.array(int(found[1], 16), np.uint32).view(np.float32)
        return value.astype(dtype) if dtype.kind == "f" else value.view(dtype)
    if found := re.fullmatch(r"0[dD]([0-9A-Fa-f]{16})", text):
        return np.array(int(found[1], 16), np.uint64).view(np.float64).view(dtype)
    number, size = int(text.removesuffix("U"), 0), dtype.itemsize
    return np.array(bool(number)) if dtype.kind == "b" else np.array(number & (1 << 8 * size) - 1, f"u{size}").view(dtype)
