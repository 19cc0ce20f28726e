"""Quantities of models: work and span, sizes of the matrices, blocks of a growing problem."""

from gemmviz.analysis.models.time import data_bytes, largest_held, parallelism_of, span_of, work_of
from gemmviz.model.errors import UsageError
from gemmviz.model.problem import Problem
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.charts.models import blocks_at
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.quantities.quantity import Whole, quantity


def _problem(facts: ShotFacts) -> Problem:
    """The problem of a multiplication. Raises UsageError for another one."""
    if not facts.setup.problem.is_multiply:
        raise UsageError(tr("this model is of a multiplication of matrices"))
    return facts.setup.problem


@quantity("work", origin="definition")
def work(facts: ShotFacts) -> int:
    """Operations of the multiplication, 2 M N K."""
    return work_of(_problem(facts))


@quantity("span", origin="definition")
def span(facts: ShotFacts) -> int:
    """Operations of the longest chain, each of which needs the one before: a product and K additions, K + 1."""
    return span_of(_problem(facts))


@quantity("parallelism", origin="definition")
def parallelism(facts: ShotFacts) -> float:
    """Work divided by span."""
    return parallelism_of(_problem(facts))


@quantity(marked("MiB of the matrices"), origin="definition")
def matrix_mebibytes(facts: ShotFacts) -> float:
    """Size of A, B and C in MiB."""
    return data_bytes(_problem(facts)) / 2**20


@quantity(marked("largest N that the cache holds"), origin="model")
def largest_cached_size(facts: ShotFacts) -> int:
    """Largest N of which three N × N matrices fit the device's last-level cache; 0 for a device without one."""
    return largest_held(facts.device.last_level_cache)


@quantity(marked("MiB of the matrices that don't fit the cache"), origin="model")
def uncached_mebibytes(facts: ShotFacts) -> float:
    """Size of the part of A, B and C beyond the device's last-level cache, in MiB."""
    return max(0, data_bytes(_problem(facts)) - facts.device.last_level_cache) / 2**20


@quantity(marked("blocks at N = {n}"), origin="definition")
def block_count_at(facts: ShotFacts, n: Whole) -> int:
    """Blocks of an N × N problem, with square blocks of the width that the shot's chart selects."""
    return blocks_at(n, facts.shot.chart.width or 1)


@quantity(marked("blocks for each SM of the recorded GPU at N = {n}"), origin="definition")
def blocks_per_sm_at(facts: ShotFacts, n: Whole) -> float:
    """Blocks of an N × N problem divided by the multiprocessors of the GPU of the shot's recording."""
    return blocks_at(n, facts.shot.chart.width or 1) / facts.benchmark.gpu.sms
