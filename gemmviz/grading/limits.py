"""Limits of the process that judges a hand-in: processor time, memory, and files."""

import contextlib

import psutil
from msgspec import Struct

_MIB = 1 << 20


class Limits(Struct, frozen=True):
    """``cpu_s``: seconds of processor time; ``memory_mib``: memory beyond that of the program itself."""

    cpu_s: float = 20.0
    memory_mib: int = 2048

    @property
    def wall_s(self) -> float:
        """Seconds after which a process is ended, also on a busy computer."""
        return 4 * self.cpu_s + 10

    @property
    def time_words(self) -> str:
        return f"judging takes more than {self.cpu_s:g} s (does a loop never end?)"

    @property
    def memory_words(self) -> str:
        return f"judging takes more than {self.memory_mib:,} MiB of memory (choose smaller arrays or tiles)"


def limit_this_process(limits: Limits) -> None:
    """Limit processor time, memory, and the size of files that are written, where the system can. The process that started this
    one watches its time and memory everywhere.
    """
    with contextlib.suppress(ImportError):
        import resource

        used = psutil.Process().cpu_times()
        seconds = int(used.user + used.system + limits.cpu_s) + 1
        _lower(resource.RLIMIT_CPU, seconds)
        _lower(resource.RLIMIT_AS, psutil.Process().memory_info().vms + limits.memory_mib * _MIB)
        _lower(resource.RLIMIT_FSIZE, 0)
        _lower(resource.RLIMIT_CORE, 0)


def _lower(kind: int, value: int) -> None:
    """Lower a limit of this process; it can't be raised again."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
