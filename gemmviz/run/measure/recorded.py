"""The engine that answers from what was measured before, on the device that it is asked about and no other."""

from gemmviz.files.benchmark_file import recorded_benchmarks
from gemmviz.launch.legality import device_for
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.engine import Cancel, CannotAnswer, Engine


class RecordedTimes(Engine):
    """Times of the shipped kernels on the devices that they were measured on."""

    name = "the record"

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        """Raises CannotAnswer that says what there is instead."""
        device, kernel = device_for(setup), setup.kernel
        of_device = [each for each in recorded_benchmarks() if each.gpu.name == device.name]
        for benchmark in of_device:
            found = benchmark.find(kernel.text_hash, setup.parameters, setup.problem)
            if found is not None and found.timing is not None:
                return KernelSpeed(found, benchmark.share_of_cublas(found), benchmark.source)
        sizes = sorted({row.problem.N for each in of_device for row in each.rows if row.source_hash == kernel.text_hash})
        if sizes:
            where = f"recorded on {device.name} are N = {sizes[0]} to {sizes[-1]}, see Benchmark"
        else:
            others = [each.gpu.name for each in recorded_benchmarks() if kernel.text_hash in {r.source_hash for r in each.rows}]
            where = f"nothing of it is recorded on {device.name}" + (f", but on {', '.join(others)}" if others else "")
        raise CannotAnswer(f"no time of this kernel at {setup.problem}: {where}")
