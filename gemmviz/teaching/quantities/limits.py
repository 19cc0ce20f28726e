"""Quantities of what limits a program, as recorded: the copies around a kernel, and loads at a stride."""

from gemmviz.model.access_times import StrideTimes
from gemmviz.model.cases import AmdahlCase
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import marked, tr
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.quantities.quantity import Whole, quantity


@quantity(marked("times as fast at most, with copies[, at N = {n}]"), origin="recorded")
def speedup_limit(facts: ShotFacts, n: Whole = 0) -> float:
    """How many times faster a program with the slowest recorded kernel gets if its kernel takes no time but its copies do."""
    case = facts.of_kind(AmdahlCase)
    limits = dict(case.limits)
    if (n or case.n) not in limits:
        raise UsageError(tr("no copies were recorded at N = {n}", n=n))
    return limits[n or case.n]


@quantity(marked("times as fast with {kernel}, copies included"), origin="recorded")
def speedup_with_copies(facts: ShotFacts, kernel: str) -> float:
    """How many times faster a program is with a kernel than with the slowest recorded one, copies included in both."""
    case = facts.of_kind(AmdahlCase)
    if kernel not in case.names:
        raise UsageError(tr("{kernel} is not among the kernels that are compared", kernel=kernel))
    return case.gain(case.names.index(kernel))


@quantity(marked("cycles of a load, {elements} elements {stride} bytes apart"), origin="recorded")
def stride_cycles(facts: ShotFacts, stride: Whole, elements: Whole) -> float:
    """Recorded cycles of a load from the nearest cache that holds its chain, each load waiting for the one before."""
    rows = facts.of_kind(StrideTimes).of("L1").get(stride, [])
    found = next((row.cycles for row in rows if row.elements == elements), None)
    if found is None:
        raise UsageError(
            tr("no chain of {elements} elements {stride} bytes apart was recorded", elements=elements, stride=stride)
        )
    return found
