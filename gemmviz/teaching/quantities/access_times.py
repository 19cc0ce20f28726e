"""Quantities of recorded access times."""

from gemmviz.model.access_times import AccessTimesCase, MemoryPlace
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import marked, tr
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.quantities.quantity import quantity


@quantity(marked("cycles of an access to {memory}"), origin="recorded")
def access_cycles(facts: ShotFacts, memory: MemoryPlace) -> float:
    """Recorded cycles from an access of a memory to the next one, which depends on it."""
    cycles = facts.of_kind(AccessTimesCase).times.cycles(memory)
    if cycles is None:
        raise UsageError(tr("no access to {memory} was recorded", memory=memory))
    return cycles
