"""The loop whose trips are the phases of a run."""

from collections.abc import Iterable, Sequence


def phase_loop(holds_barrier: Sequence[bool], loops_of_loads: Iterable[tuple[int, ...]]) -> int:
    """Number of the loop whose trips are the phases: the first that contains a barrier (loops are numbered outermost first),
    else the outermost around a global load, else -1.
    """
    if any(holds_barrier):
        return list(holds_barrier).index(True)
    return next((loops[0] for loops in loops_of_loads if loops), -1)
