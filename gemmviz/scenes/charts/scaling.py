"""Work, span and parallelism of a multiplication as it grows, in operations."""

from collections.abc import Callable

from gemmviz.analysis.models.scaling import parallelism_of, span_of, work_of
from gemmviz.model.chart import Axis, Chart, Curve, Mark
from gemmviz.model.launch_case import LaunchCase
from gemmviz.model.problem import Problem
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import spaced

_SIZES = tuple(2**power for power in range(5, 14))
_TIMES = tuple(2**power for power in range(9))
_MOST_ELEMENTS = 2**31  # of a matrix
_NAMES = (marked("work T₁ = 2 M N K"), marked("parallelism T₁ / T∞"), marked("span T∞ = K + 1"))
_VALUES = (work_of, parallelism_of, span_of)


def work_chart(case: LaunchCase) -> Chart:
    """Return work, span and parallelism: of square matrices over N, of others over their size in multiples of the setup's."""
    here = case.problem
    is_square = here.M == here.N == here.K
    if is_square:
        problems = {float(n): Problem(n, n, n) for n in sorted({*_SIZES, here.N})}
        label, ticks, mark = tr("N of N × N matrices"), tuple((n, f"{n:g}") for n in problems), float(here.N)
    else:
        largest = max(here.M * here.N, here.N * here.K, here.M * here.K)
        times = [n for n in _TIMES if n * n * largest < _MOST_ELEMENTS]
        problems = {float(n): Problem(n * here.M, n * here.N, n * here.K) for n in times}
        label, ticks, mark = (
            tr("size, in multiples of {sizes}", sizes=_sizes(here)),
            tuple((n, f"× {n:g}") for n in problems),
            1.0,
        )
    at = tr(
        "{sizes}: {work_of} operations, the longest chain has {span_of}",
        sizes=_sizes(here),
        work_of=spaced(work_of(here)),
        span_of=spaced(span_of(here)),
    )
    return Chart(
        tr("Work and span of the multiplication"),
        Axis(label, is_log=True, ticks=ticks),
        Axis(tr("operations"), is_log=True),
        tuple(_curve(tr(name), value, problems, mark) for name, value in zip(_NAMES, _VALUES, strict=True)),
        marks=(Mark(mark, "", is_here=True),),
        families=tuple(map(tr, _NAMES)),
        notes=(at, tr("counted from the algorithm, not measured")),
    )


def _sizes(problem: Problem) -> str:
    if problem.M == problem.N == problem.K:
        return f"N = {problem.N}"
    return f"M = {problem.M}, N = {problem.N}, K = {problem.K}"


def _curve(name: str, value: Callable[[Problem], float], problems: dict[float, Problem], here: float) -> Curve:
    """Return a curve with its value at the setup's own size."""
    points = tuple((at, float(value(problem))) for at, problem in problems.items())
    texts = tuple(f"{name}, {_sizes(problem)}: {spaced(value(problem))}" for problem in problems.values())
    values = tuple(spaced(value(problem)) if at == here else "" for at, problem in problems.items())
    return Curve(name, name, name, points, texts, values=values)
