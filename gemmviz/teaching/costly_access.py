"""The costliest access of a run whose counts are beyond a limit, as the shot that shows it."""

import re
from collections.abc import Iterable

import numpy as np

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.position import Position
from gemmviz.model.records import replace
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.requirements import QuantityRequirement

_SHARED = ("wavefronts", "bank", "shared")


def at_costly_access(facts: ShotFacts, requirements: Iterable[QuantityRequirement]) -> Shot:
    """The shot, moved to the first access that moves most sectors per request, or takes most wavefronts where the requirements
    are about shared memory; of the array that they name, if they name one; of equal ones the most frequent one.
    """
    references = " ".join(each.quantity for each in requirements)
    is_shared = any(word in references for word in _SHARED)
    named = re.search(r"array=(\w+)", references)
    trace, reader = facts.replay.trace, Reader(facts.replay, facts.shot.focus)
    best, at = (-1, 0), 0
    for step, times in _first_steps(facts).items():
        names = {trace.arrays[each.array].name for each in trace.site_of(step).operands}
        if named is not None and named[1] not in names:
            continue
        cost = reader.at(step).cost
        excess = cost.excessive_wavefronts if is_shared else cost.excessive_sectors
        if (excess, times) > best:
            best, at = (excess, times), step
    return replace(facts.shot, at=Position(step=at))


def _first_steps(facts: ShotFacts) -> dict[int, int]:
    """The first step of each site, and the number of its steps."""
    sites, first, times = np.unique(facts.replay.trace.site, return_index=True, return_counts=True)
    return {int(first[number]): int(times[number]) for number in range(len(sites))}
