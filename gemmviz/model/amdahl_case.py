"""Recorded times of kernels and of the copies around them, and what a faster kernel can gain beside those copies."""

from msgspec import Struct


class AmdahlCase(Struct, frozen=True):
    """Kernels at one size ``n``, the slowest first: ``names``, and ``kernel_ms``, the time of each; ``copies_ms``: of the
    copies, the same for all. ``limits``: for each recorded size, how many times faster a program with the slowest kernel can
    get at most, when its kernel takes no time. ``source``: of the times.
    """

    n: int
    names: tuple[str, ...]
    kernel_ms: tuple[float, ...]
    copies_ms: float
    limits: tuple[tuple[int, float], ...]
    source: str

    def gain(self, place: int) -> float:
        """How many times faster the program is with a kernel than with the slowest one."""
        return (self.kernel_ms[0] + self.copies_ms) / (self.kernel_ms[place] + self.copies_ms)

    @property
    def limit(self) -> float:
        """How many times faster the program gets at most."""
        return (self.kernel_ms[0] + self.copies_ms) / self.copies_ms
