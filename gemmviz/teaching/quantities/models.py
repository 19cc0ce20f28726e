"""Quantities of models: work and span, sizes of the matrices, blocks of a growing problem."""

from gemmviz.model.errors import UsageError
from gemmviz.scenes.charts.growth import blocks_at
from gemmviz.scenes.charts.scaling import data_bytes, span_of, work_of
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.quantities.arguments import Whole
from gemmviz.teaching.quantities.quantity import quantity


def _n(facts: ShotFacts) -> int:
    """N of a multiplication. Raises UsageError for another problem."""
    if not facts.setup.problem.is_multiply:
        raise UsageError("this model is of a multiplication of matrices")
    return facts.setup.problem.N


@quantity("work", origin="definition")
def work(facts: ShotFacts) -> int:
    """Operations of the multiplication of N × N matrices."""
    return work_of(_n(facts))


@quantity("span", origin="definition")
def span(facts: ShotFacts) -> int:
    """Operations that must run one after the other."""
    return span_of(_n(facts))


@quantity("parallelism", origin="definition")
def parallelism(facts: ShotFacts) -> int:
    """Work divided by span."""
    return work_of(_n(facts)) // span_of(_n(facts))


@quantity("MiB of the matrices", origin="definition")
def matrix_mebibytes(facts: ShotFacts) -> float:
    """Size of A, B and C in MiB."""
    return data_bytes(_n(facts)) / 2**20


@quantity("blocks at N = {n}", origin="definition")
def block_count_at(facts: ShotFacts, n: Whole) -> int:
    """Blocks of an N × N problem, with square blocks of the width that the shot's chart selects."""
    return blocks_at(n, facts.shot.chart.width or 1)


@quantity("blocks for each SM of the recorded GPU at N = {n}", origin="definition")
def blocks_per_sm_at(facts: ShotFacts, n: Whole) -> float:
    """Blocks of an N × N problem divided by the multiprocessors of the GPU of the shot's recording."""
    return blocks_at(n, facts.shot.chart.width or 1) / facts.benchmark.gpu.sms
