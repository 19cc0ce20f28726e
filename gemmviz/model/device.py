"""A GPU as its figures: what a launch may ask for and what the chip has."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from gemmviz.model.errors import UsageError

DEFAULT_DEVICE = "h200"
CUDA_WORDS = {"sm": "SM", "core": "core", "warp": "warp", "block": "block", "shared memory": "shared memory"}


_MAY_BE_ZERO = ("shared_reserved_per_block", "last_level_cache")


def _demand_positive(figures: Any, may_be_zero: tuple[str, ...]) -> None:
    for each in fields(figures):
        value = getattr(figures, each.name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value < (0 if each.name in may_be_zero else 1e-9):
            raise UsageError(f"{each.name} of a device can't be {value:g}", remedy="write a positive number")


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """How memory serves a warp. Sizes in bytes.

    A request of ``request_lanes`` lanes (a warp's, or a part of them that is served by itself) to global memory moves sectors,
    which lie in lines; one to shared memory takes a wavefront for each different word that it needs from one bank. The defaults
    hold for NVIDIA GPUs from compute capability 5.0 on (CUDA C++ Programming Guide, Compute Capabilities 5.x), as measured on
    an H200.

    ``coalescing``: by "sectors", a request moves each that it touches once; by "segments", as compute capability 1.0 and 1.1
    have it, the lanes of half a warp move one segment together where lane k asks for word k of it, and 32 bytes each otherwise.
    ``broadcast``: a shared word may go to many lanes at once, "each word" or, there, "one word" of a pass (CUDA C Programming
    Guide 4.2, Appendix F.3, Compute Capability 1.x).
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
        """Raises UsageError for sizes that don't fit each other."""
        _demand_positive(self, ())
        for small, large in (("request_lanes", "warp_size"), ("sector_bytes", "line_bytes")):
            if getattr(self, large) % getattr(self, small):
                raise UsageError(f"{large} ({getattr(self, large)}) is no multiple of {small} ({getattr(self, small)})")


@dataclass(frozen=True, slots=True)
class Device:
    """Memory in bytes, registers of 32 bits. ``sources`` says for each figure where it is published.

    Registers are given in units of ``register_unit`` to a warp or, ``registers_by_block``, to a block; warps in multiples of
    ``warp_granularity``: the schedulers of an SM, each of which has its own part of the registers.
    ``schedulers``: those of an SM, None for as many as ``warp_granularity`` says. ``memory``: by which rules its memory serves
    a warp, None where nobody has written them down yet. ``own_words``: what its
    maker calls things otherwise than CUDA does, by CUDA's word. ``is_toy``: nobody sells it; it is for pictures that can be
    followed by eye.
    """

    name: str
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
    sources: Mapping[str, str] = field(hash=False)
    memory: MemoryRules | None = None
    registers_by_block: bool = False
    warp_granularity: int = 4
    schedulers: int | None = None
    own_words: Mapping[str, str] = field(default_factory=dict, hash=False)
    is_toy: bool = False

    def __post_init__(self) -> None:
        """Raises UsageError for a device that can run nothing."""
        _demand_positive(self, _MAY_BE_ZERO)

    @property
    def words(self) -> dict[str, str]:
        """What its maker calls an SM, a core, a warp, a block and shared memory."""
        return {**CUDA_WORDS, **self.own_words}

    @property
    def limits(self) -> dict[str, int]:
        """The names that a kernel header's rules may use."""
        return {
            "warp_size": self.warp_size,
            "max_threads_per_block": self.max_threads_per_block,
            "shared_per_block": self.shared_per_block,
        }

    @property
    def rules(self) -> MemoryRules:
        """How its memory serves a warp; those of recent NVIDIA GPUs where its file doesn't say (``memory`` is None)."""
        return self.memory or MemoryRules(warp_size=self.warp_size, request_lanes=self.warp_size)

    def roof(self, flops_per_byte: float) -> float:
        """GFLOP/s that it can reach where DRAM has to bring a byte for so many of them."""
        return min(self.peak_gflops, flops_per_byte * self.bandwidth_gb_s)

    def registers_of_block(self, threads: int, registers: int) -> int:
        """What a block of so many threads, each with so many registers, takes of the file: whole units for whole warps.

        Source: CUDA's cuda_occupancy.h, cudaOccMaxBlocksPerSMRegsLimit.
        """
        warps = -(-threads // self.warp_size)
        per_warp = -(-registers * self.warp_size // self.register_unit) * self.register_unit
        return warps * per_warp
