"""What a record of a run keeps, and how many bytes it may take."""

from dataclasses import dataclass, field

import psutil

_LEAST_RECORD = 256 << 20


def record_limit() -> int:
    """Bytes that the record of a run may take: half of the memory that is available now, and at least 256 MiB."""
    return max(_LEAST_RECORD, _available() // 2)


def _available() -> int:
    """Bytes of memory that this process may still take: what is free, or less where the system limits the process."""
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


@dataclass(frozen=True)
class Recording:
    """What of a run is kept besides its accesses: ``values`` that were read and written, and ``origins``, what the cells of
    shared tiles are copies of. ``limit_bytes``: how large the record may become, by default half of the free memory.
    """

    values: bool = False
    origins: bool = True
    limit_bytes: int = field(default_factory=record_limit)
