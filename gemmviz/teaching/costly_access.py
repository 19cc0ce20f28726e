"""The costliest access of a run whose counts are beyond a limit, as the shot that shows it."""

import re
from collections.abc import Iterable
from dataclasses import replace

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.position import Position
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.requirements import QuantityRequirement

_SHARED = ("wavefronts", "bank", "shared")


def at_costly_access(facts: ShotFacts, requirements: Iterable[QuantityRequirement]) -> Shot:
    """The shot, moved to the first access that moves most sectors per request, or takes most wavefronts where the requirements
    are about shared memory; of the array that they name, if they name one.
    """
    wanted = " ".join(each.quantity for each in requirements)
    is_shared = any(word in wanted for word in _SHARED)
    named = re.search(r"array=(\w+)", wanted)
    trace, reader = facts.replay.trace, Reader(facts.replay, facts.shot.focus)
    best, at = -1, 0
    for step in _first_steps(facts):
        names = {trace.arrays[each.array].name for each in trace.site_of(step).operands}
        if named is not None and named[1] not in names:
            continue
        cost = reader.at(step).cost
        value = cost.excessive_wavefronts if is_shared else cost.excessive_sectors
        if value > best:
            best, at = value, step
    return replace(facts.shot, at=Position(step=at))


def _first_steps(facts: ShotFacts) -> list[int]:
    """The first step of each site."""
    trace = facts.replay.trace
    seen: dict[int, int] = {}
    for step in range(trace.steps):
        seen.setdefault(int(trace.site[step]), step)
    return list(seen.values())
