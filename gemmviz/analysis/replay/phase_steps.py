"""The steps of a replay that stand for its phases: when its tiles are loaded, in use, and done with."""

import numpy as np

from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.arrays import Ints
from gemmviz.model.sites import Access


def steps_in_use(replay: Replay) -> list[int]:
    """Return one step of each phase: in the middle of the products, when the tiles are filled and in use. The last step of a
    phase that reads no shared memory, and of what comes before and after the phases.
    """
    return [_in_use(replay, steps) for steps in _phases(replay)]


def beats_of_phases(replay: Replay) -> list[int]:
    """Return up to three steps of each phase: the last one that fills shared memory, the one in use, and the last one."""
    chosen: set[int] = set()
    for steps in _phases(replay):
        filled = _touching(replay, steps, "write")
        chosen |= {_in_use(replay, steps), int(steps[-1]), *(int(step) for step in filled[-1:])}
    return sorted(chosen)


def _phases(replay: Replay) -> list[Ints]:
    """Return the steps of each phase, and of what comes before and after them."""
    starts = replay.phase_starts
    return np.split(np.arange(replay.steps), starts[starts > 0].tolist())


def _in_use(replay: Replay, steps: Ints) -> int:
    reads, sites = _touching(replay, steps, "read"), replay.trace.site
    last = max((int(sites[step]) for step in reads), default=-1)  # the site that completes a product
    products = [step for step in reads if int(sites[step]) == last]
    return products[len(products) // 2] if products else int(steps[-1])


def _touching(replay: Replay, steps: Ints, access: Access) -> list[int]:
    """Return the steps that read or write shared memory."""
    trace = replay.trace
    sites = [
        any(operand.access == access and trace.arrays[operand.array].space == "shared" for operand in site.operands)
        for site in trace.sites
    ]
    return [int(step) for step in steps if sites[int(trace.site[step])]]
