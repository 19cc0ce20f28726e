"""How a kernel uses its data: reads and writes of each array, and the variables of a thread."""

from msgspec import Struct

from gemmviz.model.device import Device
from gemmviz.model.sites import Space


class ArrayUse(Struct, frozen=True):
    """An array with the elements that lanes read from it and write to it in the whole launch. ``size_bytes``: its size, for
    shared memory in one block.
    """

    name: str
    space: Space
    reads: int
    writes: int
    size_bytes: int

    @property
    def is_only_read(self) -> bool:
        return self.reads > 0 and not self.writes


class DataUse(Struct, frozen=True):
    """The arrays of a launch, and the names of the variables that each thread has for itself. ``what``: its title."""

    what: str
    device: Device
    arrays: tuple[ArrayUse, ...]
    variables: tuple[str, ...]
