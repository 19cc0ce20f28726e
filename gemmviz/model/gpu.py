"""The GPU of a machine, as its driver describes it, with the driver's and the compiler's version."""

from msgspec import Struct


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
