"""The host's calls around a launch: those that it needs, with the times of the recorded run of exactly these calls."""

from gemmviz.cuda.launch.legality import can_run, device_for
from gemmviz.files.recordings import recordings
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.problem import Problem
from gemmviz.model.recording import HostCall, HostRun, HostRuns, StreamRuns, TransferCase, calls_of, recording_of
from gemmviz.model.records import replace
from gemmviz.model.translation import listed, tr
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

_RECORDED_KERNEL, _RECORDED_WIDTH = "04_tiled", {"TILE_WIDTH": 32}  # what the recorded kernel computes in the same way


def _make_host(shot: Shot, context: Context) -> TransferCase:
    """The calls of the shot's launch, with the recorded times of those that were recorded. Raises UsageError for a problem that
    is no multiplication.
    """
    setup = shot.setup
    if not setup.problem.is_multiply:
        raise UsageError(tr("the copies between host and device are shown for multiplications of matrices only"))
    device, copies_c = device_for(setup), _reads_c(shot, context)
    is_square = len(set(setup.problem.sizes.values())) == 1
    prefix, calls = "hip" if device.vendor == "AMD" else "cuda", calls_of(copies_c, "N" if is_square else "M, N, K")
    case = TransferCase(calls, setup.problem, device.name, prefix=prefix, copies_c=copies_c)
    is_kernel = (setup.kernel.name, dict(setup.parameters)) == (_RECORDED_KERNEL, _RECORDED_WIDTH)
    pieces = recording_of(device, recordings("streams", StreamRuns))
    if pieces is not None and is_kernel and setup.problem == Problem(pieces.n // pieces.pieces, pieces.n, pieces.n):
        return replace(case, pieces=pieces, source=f"{pieces.short_source}; {tr('kernel: {kernel}', kernel=tr(pieces.kernel))}")
    host = recording_of(device, recordings("host", HostRuns))
    if host is None:
        return replace(case, unmeasured=tr("not measured on {device}", device=device.name))
    sizes = setup.problem.sizes
    runs = tuple(run for run in host.rows if set(sizes.values()) == {run.n})
    if not runs:
        measured = listed([str(each) for each in sorted({run.n for run in host.rows})])
        return replace(
            case,
            unmeasured=tr(
                "not measured at this size; recorded on {device}: N = {measured}", device=device.name, measured=measured
            ),
        )
    runs = tuple(HostRun(run.n, run.memory, tuple(_transfer_times(call, run, is_kernel) for call in calls)) for run in runs)
    return replace(case, runs=runs, source=_times_source(host, is_kernel))


def _transfer_times(call: HostCall, run: HostRun, is_kernel: bool) -> HostCall:
    """A call with its recorded time; the launch of another kernel than the recorded one has none."""
    known = next((each for each in run.calls if (each.name, each.what) == (call.name, call.what)), None)
    return call if known is None or (call.name == "launch" and not is_kernel) else known


def _times_source(host: HostRuns, is_kernel: bool) -> str:
    return f"{host.short_source}; " + (
        tr("kernel: {kernel}", kernel=tr(host.kernel)) if is_kernel else tr("with another kernel")
    )


def _reads_c(shot: Shot, context: Context) -> bool:
    small = shot.setup.changed(M=4, N=4, K=4)
    known = context.known.about(replace(shot, setup=small)) if can_run(small) else context.known
    try:
        counts = known.counts
    except GemmvizError:
        return False
    return any(op.access == "read" and counts.arrays[op.array].name == "C" for _, op in counts.accesses)


SUBJECT = Subject(TransferCase, _make_host, is_slow=True, order=50)
