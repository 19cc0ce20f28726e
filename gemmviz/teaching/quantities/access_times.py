"""Quantities of recorded access times."""

from gemmviz.model.access_times import AccessTimesCase, MemoryPlace
from gemmviz.model.errors import UsageError
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.quantities.quantity import quantity


@quantity("cycles of an access to {memory}", origin="recorded")
def access_cycles(facts: ShotFacts, memory: MemoryPlace) -> float:
    """Recorded cycles from an access of a memory to the next one, which depends on it."""
    cycles = facts.of_kind(AccessTimesCase).times.cycles(memory)
    if cycles is None:
        raise UsageError(f"no access to {memory} was recorded")
    return cycles
