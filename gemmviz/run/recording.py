"""Options of a recorded run: its contents and its largest size."""

import psutil
from msgspec import Struct, field

_LEAST_RECORD = 256 << 20


def record_limit() -> int:
    """Bytes that a record may take: half of the memory available now, but at least 256 MiB."""
    return max(_LEAST_RECORD, _available() // 2)


def _available() -> int:
    """Bytes of memory that this process can still allocate: the free memory, or less under a resource limit."""
    free = int(psutil.virtual_memory().available)
    process = psutil.Process()
    if not hasattr(process, "rlimit"):
        return free
    address_space, data = (process.rlimit(kind)[0] for kind in (psutil.RLIMIT_AS, psutil.RLIMIT_DATA))
    if address_space == data == psutil.RLIM_INFINITY:
        return free
    taken = process.memory_info()
    limits = ((address_space, taken.vms), (data, taken.data))
    return int(min([free, *(most - now for most, now in limits if most != psutil.RLIM_INFINITY)]))


class Recording(Struct, frozen=True):
    """Options of a record besides accesses: the ``values`` read and written, and the ``origins``, the elements that the
    cells of shared arrays are copies of. ``limit_bytes`` is the largest size of the record, by default ``record_limit()``.
    """

    values: bool = False
    origins: bool = True
    limit_bytes: int = field(default_factory=record_limit)
