"""What a block needs of an SM, and how many of them an SM holds at once."""

from dataclasses import dataclass

from gemmviz.model.device import Device


@dataclass(frozen=True, slots=True)
class Needs:
    """Of one block: its threads, the registers of each (None where nobody knows them), and its shared memory in bytes."""

    threads: int
    registers: int | None
    shared_bytes: int


@dataclass(frozen=True)
class OccupancyCase:
    """A block on a device. ``what``: which launch it is of; ``registers_source``: who says how many there are; ``own``: what
    the block needs where nothing is tried out.
    """

    device: Device
    needs: Needs
    own: Needs
    what: str
    registers_source: str = ""

    @property
    def is_tried(self) -> bool:
        """Whether it is something else than what the kernel needs."""
        return self.needs != self.own
