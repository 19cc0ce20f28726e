"""Quantities of latency against bandwidth."""

from gemmviz.model.cases import TripCase
from gemmviz.model.translation import marked
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.quantities.quantity import quantity


@quantity(marked("nanoseconds until a word from memory arrives"), origin="recorded")
def trip_ns(facts: ShotFacts) -> float:
    """Recorded access time of global memory outside all caches, in ns."""
    return facts.of_kind(TripCase).trip_ns


@quantity(marked("thousands of words that memory delivers meanwhile"), origin="model")
def words_meanwhile_thousands(facts: ShotFacts) -> float:
    """Words of 4 bytes at the published bandwidth during the recorded access time, in thousands."""
    return facts.of_kind(TripCase).words / 1000
