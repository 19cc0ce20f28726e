"""Quantities of models: work and span, sizes of the matrices, blocks of a growing problem."""

from gemmviz.scenes.charts.growth import blocks_at
from gemmviz.scenes.charts.scaling import data_bytes, span_of, work_of
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.quantities.arguments import Whole
from gemmviz.teaching.quantities.quantity import quantity


@quantity("work")
def work(facts: ShotFacts) -> int:
    """Operations of the multiplication of N × N matrices."""
    return work_of(facts.setup.problem.N)


@quantity("span")
def span(facts: ShotFacts) -> int:
    """Operations that must run one after the other."""
    return span_of(facts.setup.problem.N)


@quantity("parallelism")
def parallelism(facts: ShotFacts) -> int:
    """Work divided by span."""
    return work_of(facts.setup.problem.N) // span_of(facts.setup.problem.N)


@quantity("MiB of the matrices")
def matrix_mebibytes(facts: ShotFacts) -> float:
    """Size of A, B and C in MiB."""
    return data_bytes(facts.setup.problem.N) / 2**20


@quantity("blocks at N = {n}")
def block_count_at(facts: ShotFacts, n: Whole) -> int:
    """Blocks of an N × N problem, with square blocks of the width that the shot's chart selects."""
    return blocks_at(n, facts.shot.chart.width or 1)


@quantity("blocks for each SM at N = {n}")
def blocks_per_sm_at(facts: ShotFacts, n: Whole) -> float:
    """Blocks of an N × N problem divided by the number of multiprocessors."""
    return blocks_at(n, facts.shot.chart.width or 1) / facts.device.sms
