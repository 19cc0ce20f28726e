"""Recorded calls of a host program around a launch: allocations, copies, kernel."""

from dataclasses import replace

from gemmviz.files.host_file import recorded_host_runs
from gemmviz.launch.legality import can_run, device_for
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.host_run import HostRun, TransferCase
from gemmviz.model.setup import Setup
from gemmviz.state.shot import Shot
from gemmviz.subjects.counting import launch_counts
from gemmviz.subjects.subject import Context, Subject


def _make(shot: Shot, context: Context) -> TransferCase:
    """The calls at the nearest recorded size, on the shot's device if recorded. Raises UsageError without a recording."""
    setup, known = shot.setup, recorded_host_runs()
    host = next((each for each in known if each.gpu.name == device_for(setup).name), known[0] if known else None)
    if host is None or not host.runs:
        raise UsageError("there is no recording of a host program", remedy="reinstall gemmviz: its measurements are missing")
    if not setup.problem.is_multiply:
        raise UsageError("the copies between host and device are recorded for multiplications of matrices only")
    n = min({run.n for run in host.runs}, key=lambda each: abs(each - setup.problem.N))
    is_hip, copies_c = device_for(setup).vendor == "AMD", _reads_c(setup, context)
    runs = tuple(_without_c(run, copies_c) for run in host.runs if run.n == n)
    return TransferCase(runs, host.source, setup.problem.N, "hip" if is_hip else "cuda", copies_c)


def _without_c(run: HostRun, copies_c: bool) -> HostRun:
    """The calls without the copy of C to the device if the kernel does not read C."""
    return run if copies_c else replace(run, calls=tuple(call for call in run.calls if call.what != "Cd from C"))


def _reads_c(setup: Setup, context: Context) -> bool:
    small = setup.changed(M=4, N=4, K=4)
    try:
        counts = launch_counts(
            small if can_run(small) else setup, context.engine_for(setup.kernel), cancelled=context.cancelled
        )
    except GemmvizError:
        return False
    return any(op.access == "read" and counts.arrays[op.array].name == "C" for _, op in counts.accesses)


SUBJECT = Subject(TransferCase, _make, is_slow=True, order=50)
