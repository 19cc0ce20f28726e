"""What views are of besides runs: launches on devices, sources, traffic by tile width, races, what a host does; each made from
a shot alone.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gemmviz.analysis.listing import compared, listing_of
from gemmviz.analysis.memory.counts import LaunchCounter, LaunchCounts
from gemmviz.files.host_file import recorded_host_runs
from gemmviz.launch.legality import can_run, device_for, launch_for
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.code_case import CodeCase
from gemmviz.model.errors import GemmvizError
from gemmviz.model.host_run import HostRun, TransferCase
from gemmviz.model.launch_case import LaunchCase
from gemmviz.model.race import RaceCase
from gemmviz.model.setup import Setup
from gemmviz.model.sites import shared_bytes
from gemmviz.model.traffic import TrafficCase, WidthCount
from gemmviz.model.words import spaced
from gemmviz.run.cpu.executor import stream_launch
from gemmviz.run.cpu.race import race_of
from gemmviz.run.engine import Cancel
from gemmviz.state.shot import Shot
from gemmviz.subjects.subjects import parameters_text, title_of_launch

_WIDTHS = ("TILE_WIDTH", "BLOCK_DIM", "BLOCK")


def launch_case(shot: Shot, cancelled: Cancel = is_cancelled) -> LaunchCase:
    """The launch of a shot on its device, or why the device refuses it."""
    setup, device = shot.setup, device_for(shot.setup)
    what = ", ".join(filter(None, (setup.kernel.name, parameters_text(setup))))
    try:
        return LaunchCase(setup, device, what, launch_for(setup, with_nearest=False))
    except GemmvizError as error:
        return LaunchCase(setup, device, what, None, error.message)


def launch_counts(setup: Setup, cancelled: Cancel = is_cancelled) -> LaunchCounts:
    """All accesses of a launch, as the source has them. Raises GemmvizError where it can't be launched."""
    counter = LaunchCounter(device_for(setup).rules, cancelled)
    stream_launch(setup, counter, cancelled=cancelled)
    return counter.counts


def code_case(shot: Shot, cancelled: Cancel = is_cancelled) -> CodeCase:
    """The source of a shot's kernel, beside that of what it is held against."""
    main = listing_of(shot.setup.kernel)
    case = CodeCase(main) if shot.against is None else compared(main, listing_of(shot.against.setup.kernel))
    return replace(case, facts=_facts(shot.setup, cancelled))


def _facts(setup: Setup, cancelled: Cancel) -> tuple[tuple[str, str], ...]:
    """What a launch does; nothing where it can't be counted."""
    try:
        launch, counts = launch_for(setup, with_nearest=False), launch_counts(setup, cancelled)
    except GemmvizError:
        return ()
    return (
        ("blocks", spaced(launch.block_count)),
        ("threads a block", spaced(launch.threads_per_block)),
        ("shared bytes a block", spaced(shared_bytes(counts.arrays))),
        ("global reads", spaced(counts.elements("global", "read"))),
        ("shared writes", spaced(counts.elements("shared", "write"))),
        ("shared reads", spaced(counts.elements("shared", "read"))),
        ("elements of C stored", spaced(counts.elements("global", "write", "C"))),
    )


def traffic_case(shot: Shot, cancelled: Cancel = is_cancelled) -> TrafficCase | None:
    """Reads of a kernel by each of its widths; None for one without such a parameter."""
    setup = shot.setup
    name = next((name for name in _WIDTHS if name in setup.parameters), None)
    parameter = next((each for each in setup.kernel.parameters if each.name == name), None)
    if name is None or parameter is None:
        return None
    rows = []
    for width in sorted({*(parameter.choices or ()), setup.parameters[name]}):
        tried = setup.changed(**{name: width})
        if can_run(tried):
            found = launch_counts(tried, cancelled)
            rows.append(WidthCount(width, found.elements("global", "read"), found.total("global", "read").sectors))
    return TrafficCase(title_of_launch(setup), name, tuple(rows), setup.problem.flops, setup.parameters[name])


def race_case(shot: Shot, cancelled: Cancel = is_cancelled) -> RaceCase:
    """The watched block in the order that spoils C, beside lockstep. Raises as ``race_of``."""
    return race_of(shot.setup, shot.focus.block, title_of_launch(shot.setup), cancelled)


def transfer_case(shot: Shot, cancelled: Cancel = is_cancelled) -> TransferCase | None:
    """What was recorded of the host's calls at the nearest size, on the shot's device if there; None where nothing was."""
    setup, known = shot.setup, recorded_host_runs()
    found = next((each for each in known if each.gpu.name == device_for(setup).name), known[0] if known else None)
    if found is None or not found.runs:
        return None
    n = min({run.n for run in found.runs}, key=lambda each: abs(each - setup.problem.N))
    is_hip, copies_c = device_for(setup).vendor == "AMD", _reads_c(setup)
    runs = tuple(_without_c(run, copies_c) for run in found.runs if run.n == n)
    return TransferCase(runs, found.source, setup.problem.N, "hip" if is_hip else "cuda", copies_c)


def _without_c(run: HostRun, copies_c: bool) -> HostRun:
    """Without the copy of C to the device, where the kernel does not read it."""
    return run if copies_c else replace(run, calls=tuple(call for call in run.calls if call.what != "Cd from C"))


def _reads_c(setup: Setup) -> bool:
    small = setup.changed(M=4, N=4, K=4)
    try:
        counts = launch_counts(small if can_run(small) else setup)
    except GemmvizError:
        return False
    return any(op.access == "read" and counts.arrays[op.array].name == "C" for _, op in counts.accesses)


OF_SHOTS: dict[type, Callable[[Shot, Cancel], Any]] = {
    LaunchCase: launch_case, CodeCase: code_case, TrafficCase: traffic_case, RaceCase: race_case,
    TransferCase: transfer_case,
}  # fmt: skip
