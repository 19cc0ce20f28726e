"""Ladder: the recorded shares of cuBLAS of the included kernels, each with its counts at a smaller size."""

from gemmviz.analysis.memory.counts import Counts
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.files.answer_file import answer_key
from gemmviz.model.cases import Ladder, Rung
from gemmviz.model.errors import UsageError
from gemmviz.model.problem import Problem
from gemmviz.model.records import replace
from gemmviz.model.timing import Benchmark, Measured
from gemmviz.model.translation import tr
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

_N, _COUNTED_AT = 4096, 256  # tiles divide both, so that a multiply-add costs the same
_LANES = 32
_TOTALS = dict[str, Counts]()  # of what was counted by this process; it takes seconds


def _make_ladder(shot: Shot, context: Context) -> Ladder:
    """Each kernel's fastest row of the first benchmark that has it, of the chart's width if that is its only parameter.
    Raises UsageError if there is none.
    """
    rungs, sources = list[Rung](), list[str]()
    for name in kernel_names():
        rows = ((each, _fastest(each, name, shot.chart.width)) for each in context.measurements.values())
        found = next(((benchmark, row) for benchmark, row in rows if row is not None), None)
        if found is None:
            continue
        benchmark, row = found
        share = benchmark.share_of_cublas(row)
        if share is None:
            continue
        setup = setup_for(load_kernel(name), Problem(_COUNTED_AT, _COUNTED_AT, _COUNTED_AT), row.parameters)
        key = answer_key(setup, device_for(setup))
        if key not in _TOTALS:
            _TOTALS[key] = context.known.about(replace(shot, setup=setup, against=None)).counts.total()
        total = _TOTALS[key]
        per_warp = _LANES / _COUNTED_AT**3
        gpu = benchmark.gpu.name.replace("NVIDIA ", "").partition(" ")[0]
        base = f"{gpu}, {row.variant_of_inputs or 'float'}"
        rungs.append(
            Rung(name, *_number_and_word(name), 100 * share, base, total.sectors * per_warp, total.wavefronts * per_warp)
        )
        sources += [benchmark.source] if benchmark.source not in sources else []
    if not rungs:
        raise UsageError(tr("there are no measurements to show"), remedy=tr("run gemmviz bench and open its file"))
    return Ladder(_N, tuple(rungs), _COUNTED_AT, tuple(sources))


def _number_and_word(name: str) -> tuple[str, str]:
    """The number of a kernel, and the word of its name that tells it from the others: "register" of "08_register_tiled"."""
    number, first, *rest = name.split("_")
    return number, first if rest in ([], ["tiled"]) else rest[-1]


def _fastest(benchmark: Benchmark, kernel: str, width: int) -> Measured | None:
    rows = [row for row in benchmark.rows if row.kernel == kernel and row.problem == Problem(_N, _N, _N) and row.gflops]
    rows = [row for row in rows if not width or len(row.parameters) > 1 or width in row.parameters.values()]
    return max(rows, key=lambda row: row.gflops or 0.0, default=None)


SUBJECT = Subject(Ladder, _make_ladder, needs=("measurements",), is_slow=True, order=47, name=lambda case: f"N = {case.n}")
