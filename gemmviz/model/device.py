"""A GPU as figures: limits of a launch, resources of the chip, and the rules by which its memory serves warps."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from gemmviz.model.messages import UsageError, noun, tr
from gemmviz.model.records import fields

_WORD_SIZE = 4
REGISTER_BYTES = 4
DEFAULT_DEVICE = "h200"
CUDA_WORDS = {
    "sm": noun("SM"), "core": noun("core"), "warp": noun("warp"), "block": noun("block"), "shared memory": noun("shared memory")
}  # fmt: skip
HIP_WORDS = (noun("compute unit"), noun("stream processor"), noun("wavefront"), noun("work-group"), noun("LDS"))


_LONGEST_SHOWN = 40  # digits
_MAY_BE_ZERO = ("shared_reserved_per_block", "last_level_cache")
# Far above any GPU: numbers that would cost memory, time or precision are refused where they are read.
_MOST_LANES, _MOST_THREADS, _MOST_SMS, _MOST = 1024, 65536, 16384, 1 << 50
_MOST_OF = {
    "warp_size": _MOST_LANES, "request_lanes": _MOST_LANES, "banks": 4096, "bank_bytes": 64, "sector_bytes": 4096,
    "line_bytes": 65536, "max_threads_per_block": _MOST_THREADS, "max_threads_per_sm": _MOST_THREADS,
    "max_warps_per_sm": _MOST_THREADS, "max_blocks_per_sm": _MOST_THREADS, "schedulers": 64, "warp_granularity": 1024,
    "max_registers_per_thread": 65536, "sms": _MOST_SMS, "fp32_per_sm": _MOST_SMS,
}  # fmt: skip


def _check_figures(figures: Any) -> None:
    """Raises UsageError for a number that isn't positive (or, where zero is allowed, is negative) or is beyond any device."""
    for each in fields(type(figures)):
        value = getattr(figures, each.name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int | float) and not isinstance(number, bool):
                least, most = 0 if each.name in _MAY_BE_ZERO else 1e-9, _MOST_OF.get(each.name, _MOST)
                if not least <= number <= most:
                    remedy = tr("choose a positive number up to {most}", most=f"{most:,}")
                    shown = f"{number:g}" if isinstance(number, float) else str(number)[:_LONGEST_SHOWN]
                    raise UsageError(tr("{each} of a device can't be {shown}", each=each.name, shown=shown), remedy=remedy)


class MemoryRules(Struct, frozen=True):
    """Rules by which memory serves a warp. Sizes in bytes.

    A request to global memory comes from ``request_lanes`` lanes (a warp, or a part of it that is served separately) and moves
    sectors, which are parts of lines. A request to shared memory takes a wavefront for each distinct word that it needs from
    one bank. The defaults hold for NVIDIA GPUs from compute capability 5.0 on (CUDA C++ Programming Guide, Compute Capabilities
    5.x), as measured on an H200.

    ``coalescing``: with "sectors", a request moves each sector that it touches once; with "segments" (compute capability 1.0
    and 1.1), the lanes of half a warp move one segment together if lane k requests word k of it, and 32 bytes each otherwise.
    ``broadcast``: the words that a pass can deliver to several lanes, "each word" or (compute capability 1.x) "one word" (CUDA
    C Programming Guide 4.2, Appendix F.3, Compute Capability 1.x).
    """

    warp_size: int = 32
    request_lanes: int = 32
    sector_bytes: int = 32
    line_bytes: int = 128
    banks: int = 32
    bank_bytes: int = 4
    coalescing: Literal["sectors", "segments"] = "sectors"
    broadcast: Literal["each word", "one word"] = "each word"

    def __post_init__(self) -> None:
        """Raises UsageError for sizes that don't fit each other, or that no memory has."""
        _check_figures(self)
        for name in ("warp_size", "request_lanes", "sector_bytes", "line_bytes", "banks", "bank_bytes"):
            number = getattr(self, name)
            if number & (number - 1):
                raise UsageError(
                    tr("{name} of a device can't be {number}", name=name, number=number), remedy=tr("choose a power of two")
                )
        if min(self.sector_bytes, self.bank_bytes) < _WORD_SIZE:
            raise UsageError(tr("sectors and banks of less than {word_bytes} bytes hold no word", word_bytes=_WORD_SIZE))
        for small, large in (("request_lanes", "warp_size"), ("sector_bytes", "line_bytes")):
            if getattr(self, large) % getattr(self, small):
                raise UsageError(
                    tr(
                        "{large} ({larger}) is no multiple of {small} ({smaller})",
                        large=large,
                        larger=getattr(self, large),
                        small=small,
                        smaller=getattr(self, small),
                    )
                )


class MemoryLevel(Struct, frozen=True):
    """One level of a device's memory. ``shared_by``: whether each SM has its own or all SMs share one; ``bandwidth_gb_s``:
    GB/s, None if not published.
    """

    name: str
    size_bytes: int
    shared_by: Literal["SM", "device"] = "device"
    bandwidth_gb_s: float | None = None

    def __post_init__(self) -> None:
        """Raises UsageError for figures that no memory has."""
        _check_figures(self)


class Device(Struct, frozen=True):
    """A GPU. Memory in bytes, registers of 32 bits. ``sources`` names the publication of each figure.

    Registers are allocated in units of ``register_unit`` to a warp or, with ``registers_by_block``, to a block; warps in
    multiples of ``warp_granularity``, the number of schedulers of an SM, each with its own part of the registers.
    ``shared_opt_in``: shared memory of a block whose host code asks for more than ``shared_per_block``, None if it can't.
    ``shared_reserved_per_block``: shared memory of each block that isn't the kernel's; with ``arguments_in_shared``, the
    arguments of the launch are there as well.
    ``schedulers``: schedulers of an SM, None if equal to ``warp_granularity``. ``memory``: rules by which its memory serves a
    warp, None if unknown. ``caches``: levels between shared memory and the last-level cache, nearest to the threads first.
    ``own_words``: the vendor's terms, by CUDA's. ``written_name``: its name in the file. ``reported_as``: the name that its
    driver reports, if it is another.
    ``is_toy``: not a product, but a small model for pictures that can be followed by eye.
    """

    written_name: str = field(name="name")
    vendor: str
    architecture: str
    compute_capability: str
    warp_size: int
    max_threads_per_block: int
    max_block: tuple[int, int, int]
    max_grid: tuple[int, int, int]
    shared_per_block: int
    registers_per_block: int
    max_registers_per_thread: int
    register_unit: int
    sms: int
    fp32_per_sm: int
    max_threads_per_sm: int
    max_warps_per_sm: int
    max_blocks_per_sm: int
    registers_per_sm: int
    shared_per_sm: int
    shared_reserved_per_block: int
    shared_unit: int
    last_level_cache: int
    memory_bytes: int
    bandwidth_gb_s: float
    peak_gflops: float
    sources: Mapping[str, str]
    memory: MemoryRules | None = None
    registers_by_block: bool = False
    arguments_in_shared: bool = False
    warp_granularity: int = 4
    schedulers: int | None = None
    shared_opt_in: int | None = None
    reported_as: str = ""
    caches: tuple[MemoryLevel, ...] = ()
    own_words: Mapping[str, str] = field(default_factory=dict)
    is_toy: bool = False

    def __hash__(self) -> int:
        return hash((self.written_name, self.compute_capability, self.sms))

    @property
    def name(self) -> str:
        """The name in the language of the program: that of a product is the same in each."""
        return tr(self.written_name)

    @property
    def capability(self) -> tuple[int, ...]:
        """The compute capability as numbers; empty for a device without one."""
        return tuple(int(part) for part in self.compute_capability.split(".") if part.isdecimal())

    def __post_init__(self) -> None:
        """Raises UsageError for figures that no device has, or with which it could run no kernel."""
        _check_figures(self)
        if self.warp_size > min(self.max_threads_per_block, self.max_threads_per_sm):
            raise UsageError(
                tr("a warp of {warp_size} threads is larger than a block or an SM may be", warp_size=self.warp_size)
            )
        if self.memory is not None and self.memory.warp_size != self.warp_size:
            raise UsageError(
                tr(
                    "its memory serves warps of {warp_size} threads, but its warps have {own}",
                    warp_size=self.memory.warp_size,
                    own=self.warp_size,
                )
            )

    def is_of(self, gpu: "Gpu") -> bool:
        """Whether a GPU is such a device, by the name that its driver reports."""
        return gpu.name == (self.reported_as or self.written_name)

    @property
    def levels(self) -> tuple[MemoryLevel, ...]:
        """All levels of memory outside the registers, nearest to the threads first: shared memory, caches, DRAM."""
        shared = MemoryLevel(self.words["shared memory"], self.shared_per_sm, "SM")
        last = (MemoryLevel(tr("last-level cache"), self.last_level_cache),) if self.last_level_cache else ()
        memory = MemoryLevel(tr("global memory"), self.memory_bytes, bandwidth_gb_s=self.bandwidth_gb_s)
        return shared, *self.caches, *last, memory

    @property
    def register_bytes(self) -> int:
        """Bytes of all registers of an SM."""
        return REGISTER_BYTES * self.registers_per_sm

    def shared_limit(self, opts_in: bool) -> int:
        """Bytes of shared memory that a block may have: more if the host code asks for it with cudaFuncSetAttribute."""
        return max(self.shared_per_block, self.shared_opt_in or 0) if opts_in else self.shared_per_block

    @property
    def block_shared_text(self) -> str:
        """The shared memory of a block in words, and what it may have on request: "48 KiB (163 KiB opted in)"."""
        held, most = (self.shared_limit(opts_in) for opts_in in (False, True))
        return f"{held / 1024:g} KiB" + (tr(" ({most} KiB opted in)", most=f"{most / 1024:g}") if most > held else "")

    @property
    def words(self) -> dict[str, str]:
        """The vendor's terms for an SM, a core, a warp, a block and shared memory, by CUDA's."""
        return {**CUDA_WORDS, **self.own_words}

    @property
    def limits(self) -> dict[str, int]:
        """Names and values that the rules of a kernel header may use."""
        return {
            "warp_size": self.warp_size,
            "max_threads_per_block": self.max_threads_per_block,
            "shared_per_block": self.shared_per_block,
        }

    @property
    def rules(self) -> MemoryRules:
        """The memory rules of the device; those of recent NVIDIA GPUs if ``memory`` is None."""
        return self.memory or MemoryRules(warp_size=self.warp_size, request_lanes=self.warp_size)

    def roof(self, flops_per_byte: float) -> float:
        """GFLOP/s that DRAM bandwidth allows at this arithmetic intensity."""
        return min(self.peak_gflops, flops_per_byte * self.bandwidth_gb_s)

    def registers_of_block(self, threads: int, registers: int) -> int:
        """Registers that a block of ``threads`` threads takes, with ``registers`` for each: whole units for whole warps.

        Source: CUDA's cuda_occupancy.h, cudaOccMaxBlocksPerSMRegsLimit.
        """
        warps = -(-threads // self.warp_size)
        per_warp = -(-registers * self.warp_size // self.register_unit) * self.register_unit
        return warps * per_warp


# The GPU of a machine, as its driver describes it, with the driver's and the compiler's version.


class Gpu(Struct, frozen=True):
    """A GPU. Memory in bytes. ``driver`` and ``compiler`` are versions, such as "580.159.04" and "NVRTC 13.0"."""

    name: str
    compute_capability: str
    driver: str
    compiler: str
    sms: int
    last_level_cache: int
    memory_bytes: int

    @property
    def label(self) -> str:
        return f"{self.name}, driver {self.driver}, {self.compiler}"

    @property
    def architecture(self) -> str:
        """Name of the architecture for compilers, such as "sm_90"."""
        return "sm_" + self.compute_capability.replace(".", "")


# Resources that a block needs of an SM, and the number of blocks that fit at once.


class Needs(Struct, frozen=True):
    """Resources of one block: threads, registers per thread (None if unknown), shared memory in bytes, and the bytes of the
    kernel's arguments, 0 if unknown.
    """

    threads: int
    registers: int | None
    shared_bytes: int
    argument_bytes: int = 0


class OccupancyCase(Struct, frozen=True):
    """A block on a device. ``what``: its launch; ``registers_source``: the source of the register count; ``own``: the kernel's
    own resources, if others are being tried.
    """

    device: Device
    needs: Needs
    own: Needs
    what: str
    registers_source: str = ""

    @property
    def is_tried(self) -> bool:
        """Whether the resources differ from those of the kernel."""
        return self.needs != self.own
