"""The engine that looks up recorded times of the setup's device."""

from gemmviz.files.benchmark_file import recorded_benchmarks, recorded_pattern_benchmarks
from gemmviz.launch.legality import device_for
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.translation import tr
from gemmviz.run.engine import Cancel, CannotAnswer, Engine


class RecordedTimes(Engine):
    """Recorded times of the shipped kernels on the devices where they were measured."""

    name = "the record"

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        """The recorded time of a setup. Raises CannotAnswer with the recorded sizes or devices if there is none."""
        device, kernel = device_for(setup), setup.kernel
        recorded = recorded_benchmarks() if setup.problem.is_multiply else recorded_pattern_benchmarks()
        of_device = [each for each in recorded if each.gpu.name == device.name]
        for benchmark in of_device:
            row = benchmark.find(kernel.text_hash, setup.parameters, setup.problem)
            if row is not None and row.timing is not None:
                return KernelSpeed(row, benchmark.share_of_cublas(row), benchmark.source)
        problems = {row.problem for each in of_device for row in each.rows if row.source_hash == kernel.text_hash}
        if problems and setup.problem.is_multiply:
            sizes = sorted(problem.N for problem in problems if problem.is_multiply)
            where = tr(
                "{device} has records for N = {first} to {last}, see Benchmark",
                device=device.name, first=sizes[0], last=sizes[-1],
            )  # fmt: skip
        elif problems:
            where = tr("{device} has records for {sizes}", device=device.name, sizes="; ".join(sorted(map(str, problems))))
        else:
            others = [each.gpu.name for each in recorded if kernel.text_hash in {r.source_hash for r in each.rows}]
            where = tr("it has no record on {device}", device=device.name)
            if others:
                where = tr("it has no record on {device}, only on {others}", device=device.name, others=", ".join(others))
        raise CannotAnswer(tr("no time is recorded for this kernel at {sizes}: {where}", sizes=setup.problem, where=where))
