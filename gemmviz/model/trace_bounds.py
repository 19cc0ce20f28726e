"""Size limits of a trace, shared by the recorders, the writer and the reader."""

from msgspec import Struct


class TraceBounds(Struct, frozen=True):
    """The largest number of each thing. ``offsets``: of one layout, over all its lanes; ``offset``: in elements; ``text``:
    characters of a name, a note or a site's text; ``trips``: of a loop; ``shared_bytes``: of one array in shared memory.
    """

    steps: int = 250_000
    threads: int = 1 << 20
    threads_per_block: int = 4096
    arrays: int = 64
    sites: int = 20_000
    loops: int = 20_000
    notes: int = 1000
    operands: int = 8
    offsets: int = 1 << 16
    offset: int = 1 << 20
    shared_bytes: int = 1 << 20
    extent: int = (1 << 31) - 1
    trips: int = (1 << 31) - 2
    text: int = 10_000


BOUNDS = TraceBounds()
