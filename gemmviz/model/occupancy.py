"""Resources that a block needs of an SM, and the number of blocks that fit at once."""

from msgspec import Struct

from gemmviz.model.device import Device


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
