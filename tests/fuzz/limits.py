"""Limits on what one case may use: processor time, never time on the clock, and memory."""

import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import psutil

SCALE = "GEMMVIZ_FUZZ_TIME"  # a variable of the environment: the times below are multiplied by it
_TIMES = float(os.environ.get(SCALE, "1"))
PATIENCE_S = 3.0 * _TIMES  # when a case is called off
ANSWER_S = 5.0 * _TIMES  # how much longer it may take to answer then
_AGAIN_S = 2.0 * _TIMES
_LOST_S = 6.0 * _TIMES  # how much longer until the process is ended from outside
MOST_MIB = 1536  # more than before a case
_ROOM = 3 << 30  # bytes that a case can get at all
_RESET_PEAK = Path("/proc/self/clear_refs")

Clock = Callable[[], float]


class Endless(BaseException):
    """Raised wherever the main thread is when a case has used up its time: no ``except Exception`` stops it."""


class Greedy(AssertionError):
    """A case that took too much memory."""


@contextmanager
def processor_time(own: bool = False, ends_process: bool = False) -> Iterator[Callable[[], bool]]:
    """Gives a function that tells when to give up. Raises Endless in a case that doesn't, again and again until it ends.

    ``own``: only the main thread's time counts. ``ends_process``: a case stuck in code that runs no Python ends the process by
    SIGXCPU.
    """
    clock: Clock = time.thread_time if own else time.process_time
    start = clock()

    def end(number: int, frame: FrameType | None) -> None:
        if clock() - start < PATIENCE_S + ANSWER_S:
            return
        where = "" if frame is None else f" in {frame.f_code.co_qualname} (line {frame.f_lineno})"
        raise Endless(
            f"it went on for {clock() - start:.1f} s of processor time after it began, called off after {PATIENCE_S:g} s{where}"
        )

    before = signal.signal(signal.SIGPROF, end)
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if ends_process:
        most = PATIENCE_S + ANSWER_S + _LOST_S * (4 if own else 1)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + most), hard))
    signal.setitimer(signal.ITIMER_PROF, PATIENCE_S + ANSWER_S, _AGAIN_S)
    try:
        yield lambda: clock() - start > PATIENCE_S
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
        signal.signal(signal.SIGPROF, before)


@contextmanager
def memory() -> Iterator[None]:
    """Raises Greedy for a case that took more than ``MOST_MIB``; no case can get all memory of the machine."""
    data = psutil.Process().memory_info()
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (getattr(data, "data", data.vms) + _ROOM, hard))
    if sys.platform == "linux":
        _RESET_PEAK.write_text("5")
    before = _peak()
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    if (taken := _peak() - before >> 20) > MOST_MIB:
        raise Greedy(f"it took {taken} MiB of memory")


def _peak() -> int:
    """Bytes that this process held at most: on Linux since the peak was last reset."""
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10
