"""Quantities of models: growth, speed-up, latency against bandwidth, and recorded access times."""

from gemmviz.analysis.models.time import data_bytes, largest_held, parallelism_of, span_of, work_of
from gemmviz.model.cases import AmdahlCase, TripCase
from gemmviz.model.errors import UsageError
from gemmviz.model.problem import Problem
from gemmviz.model.recording import AccessTimesCase, MemoryPlace, StrideTimes
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.charts.models import blocks_at
from gemmviz.shots.catalog import value_of
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.quantities.quantity import Whole, quantity


def _multiplication(facts: Knowledge) -> Problem:
    """The problem of a multiplication. Raises UsageError for another one."""
    if not facts.setup.problem.is_multiply:
        raise UsageError(tr("this model is of a multiplication of matrices"))
    return facts.setup.problem


@quantity("work", origin="definition")
def work(facts: Knowledge) -> int:
    """Operations of the multiplication, 2 M N K."""
    return work_of(_multiplication(facts))


@quantity("span", origin="definition")
def span(facts: Knowledge) -> int:
    """Operations of the longest chain, each of which needs the one before: a product and K additions, K + 1."""
    return span_of(_multiplication(facts))


@quantity("parallelism", origin="definition")
def parallelism(facts: Knowledge) -> float:
    """Work divided by span."""
    return parallelism_of(_multiplication(facts))


@quantity(marked("MiB of the matrices"), origin="definition")
def matrix_mebibytes(facts: Knowledge) -> float:
    """Size of A, B and C in MiB."""
    return data_bytes(_multiplication(facts)) / 2**20


@quantity(marked("largest N that the cache holds"), origin="model")
def largest_cached_size(facts: Knowledge) -> int:
    """Largest N of which three N × N matrices fit the device's last-level cache; 0 for a device without one."""
    return largest_held(facts.device.last_level_cache)


@quantity(marked("MiB of the matrices that don't fit the cache"), origin="model")
def uncached_mebibytes(facts: Knowledge) -> float:
    """Size of the part of A, B and C beyond the device's last-level cache, in MiB."""
    return max(0, data_bytes(_multiplication(facts)) - facts.device.last_level_cache) / 2**20


@quantity(marked("blocks at N = {n}"), origin="definition")
def block_count_at(facts: Knowledge, n: Whole) -> int:
    """Blocks of an N × N problem, with square blocks of the width that the shot's chart selects."""
    return blocks_at(n, facts.shot.chart.width or 1)


@quantity(marked("blocks for each SM of the recorded GPU at N = {n}"), origin="definition")
def blocks_per_sm_at(facts: Knowledge, n: Whole) -> float:
    """Blocks of an N × N problem divided by the multiprocessors of the GPU of the shot's recording."""
    return blocks_at(n, facts.shot.chart.width or 1) / facts.benchmark.gpu.sms


@quantity(marked("times as fast at most, with copies[, at N = {n}]"), origin="recorded")
def speedup_limit(facts: Knowledge, n: Whole = 0) -> float:
    """How many times faster a program with the slowest recorded kernel gets if its kernel takes no time but its copies do."""
    case = value_of(AmdahlCase, facts)
    limits = dict(case.limits)
    if (n or case.n) not in limits:
        raise UsageError(tr("no copies were recorded at N = {n}", n=n))
    return limits[n or case.n]


@quantity(marked("times as fast with {kernel}, copies included"), origin="recorded")
def speedup_with_copies(facts: Knowledge, kernel: str) -> float:
    """How many times faster a program is with a kernel than with the slowest recorded one, copies included in both."""
    case = value_of(AmdahlCase, facts)
    if kernel not in case.names:
        raise UsageError(tr("{kernel} is not among the kernels that are compared", kernel=kernel))
    return case.gain(case.names.index(kernel))


@quantity(marked("cycles of a load, {elements} elements {stride} bytes apart"), origin="recorded")
def stride_cycles(facts: Knowledge, stride: Whole, elements: Whole) -> float:
    """Recorded cycles of a load from the nearest cache that holds its chain, each load waiting for the one before."""
    rows = value_of(StrideTimes, facts).of("L1").get(stride, [])
    found = next((row.cycles for row in rows if row.elements == elements), None)
    if found is None:
        raise UsageError(
            tr("no chain of {elements} elements {stride} bytes apart was recorded", elements=elements, stride=stride)
        )
    return found


@quantity(marked("nanoseconds until a word from memory arrives"), origin="recorded")
def trip_ns(facts: Knowledge) -> float:
    """Recorded access time of global memory outside all caches, in ns."""
    return value_of(TripCase, facts).trip_ns


@quantity(marked("thousands of words that memory delivers meanwhile"), origin="model")
def words_meanwhile_thousands(facts: Knowledge) -> float:
    """Words of 4 bytes at the published bandwidth during the recorded access time, in thousands."""
    return value_of(TripCase, facts).words / 1000


@quantity(marked("cycles of an access to {memory}"), origin="recorded")
def access_cycles(facts: Knowledge, memory: MemoryPlace) -> float:
    """Recorded cycles from an access of a memory to the next one, which depends on it."""
    cycles = value_of(AccessTimesCase, facts).times.cycles(memory)
    if cycles is None:
        raise UsageError(tr("no access to {memory} was recorded", memory=memory))
    return cycles
