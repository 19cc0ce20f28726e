"""A model of a launch's time, from its counts: the longest of three kinds of work that run side by side.

- Data path: an SM passes one line of global memory or one wavefront of shared memory per cycle, through one pipe. Source:
  Nsight Compute's Kernel Profiling Guide, L1TEX: different wavefronts are processed on different cycles.
- Arithmetic: multiply-adds at the peak rate.
- DRAM: every array moves once, at the peak bandwidth.

The blocks are dealt out evenly, and the SM with the most blocks ends last. The model has no latency and no instructions other
than these, and counts accesses as written; a compiler may merge some. For the first seven kernels at N = 4096 with blocks of at
least 64 threads, it is within 25 % of the times recorded on an H200.
"""

from msgspec import Struct

from gemmviz.model.device import Device

_GIGA, _MS = 1e9, 1e3


class Work(Struct, frozen=True):
    """Work of a whole launch: lines and wavefronts through the data paths, floating-point operations, bytes that DRAM moves at
    least, and the share of all SMs' time in which they have blocks, 0 to 1.
    """

    lines: float
    wavefronts: float
    flops: float
    dram_bytes: float
    busy: float

    def time_ms(self, device: Device) -> float:
        """The model's time in ms."""
        data_path = (self.lines + self.wavefronts) / (device.sms * self.busy * clock_ghz(device) * _GIGA)
        arithmetic = self.flops / (device.peak_gflops * self.busy * _GIGA)
        return _MS * max(data_path, arithmetic, self.dram_bytes / (device.bandwidth_gb_s * _GIGA))


def clock_ghz(device: Device) -> float:
    """The clock that the peak rate implies: each FP32 unit finishes one multiply-add per cycle."""
    return device.peak_gflops / (2 * device.sms * device.fp32_per_sm)


def holds_for(device: Device) -> bool:
    """Whether the model describes a device: a product whose requests pass a cache of lines and sectors."""
    return device.memory is not None and device.memory.coalescing == "sectors" and not device.is_toy


def busy_share(blocks: int, sms: int) -> float:
    """The mean number of blocks of an SM over that of the SM with the most."""
    return blocks / (-(-blocks // sms) * sms) if blocks else 1.0
