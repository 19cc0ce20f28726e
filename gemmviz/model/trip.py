"""The trip of one word from memory to a thread, beside what memory delivers meanwhile."""

from msgspec import Struct

from gemmviz.model.access_times import AccessTimes

_WORD_BYTES, _KHZ, _NS = 4, 1e3, 1e9


class TripCase(Struct, frozen=True):
    """``times``: measured access times; ``bandwidth_gb_s``: the published bandwidth of the same GPU's memory in GB/s."""

    times: AccessTimes
    cycles: float
    bandwidth_gb_s: float

    @property
    def trip_ns(self) -> float:
        """Time until a word from memory arrives, in nanoseconds."""
        return self.cycles / (self.times.clock_khz * _KHZ) * _NS

    @property
    def words(self) -> float:
        """Words of 4 bytes that memory delivers at its full bandwidth during that time."""
        return self.bandwidth_gb_s * self.trip_ns / _WORD_BYTES
