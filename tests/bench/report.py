"""What the figures have in common: medians, and one line for each figure beside what is promised."""

import gc
import statistics
import time
from collections.abc import Callable

REPEATS = 7


def median(action: Callable[[], object], before: Callable[[], object] = lambda: None, repeats: int = REPEATS) -> float:
    """Seconds, the median of several runs."""
    times = []
    for _ in range(repeats):
        before()
        gc.collect()
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def show(what: str, value: float, unit: str, promised: float, more_is_better: bool = False) -> None:
    """Print one figure beside what is promised."""
    good = value >= promised if more_is_better else value <= promised
    print(
        f"{what:52} {value:9.1f} {unit:4} ({'at least' if more_is_better else 'at most'} {promised:g}){'' if good else '  MISSED'}",
        flush=True,
    )
