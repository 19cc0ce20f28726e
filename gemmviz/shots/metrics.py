"""The metrics panel: one table of counted metrics, and sentences about the rest. A new metric is one row."""

from collections.abc import Callable

from msgspec import Struct

from gemmviz.analysis.counts import BranchCounts, Counts, LaunchCounts, intensity, loads_per_element
from gemmviz.analysis.replay.focus import focus_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.model.device import MemoryRules
from gemmviz.model.messages import all_blocks, many, marked, number, percent, spaced, tr
from gemmviz.model.setup import Setup
from gemmviz.model.sites import Space
from gemmviz.model.timing import Resources
from gemmviz.model.trace import INTERPRETER
from gemmviz.shots.runs import KnownRun


class CostMetric(Struct, frozen=True):
    """A metric of each step, of all steps so far and of the whole launch. ``tip`` may contain ``{sector}`` and ``{line}``, in
    bytes, and ``{banks}``.
    """

    name: str
    space: Space
    of: Callable[[Counts], int]
    tip: str

    def tip_for(self, rules: MemoryRules) -> str:
        """The tooltip for a device's memory rules."""
        return tr(self.tip).format(sector=rules.sector_bytes, line=rules.line_bytes, banks=rules.banks)


COSTS = (
    CostMetric(
        marked("Requests"), "global", lambda counts: counts.requests, marked("One warp's execution of one global load or store")
    ),
    CostMetric(
        marked("Sectors"), "global", lambda counts: counts.sectors, marked("{sector}-byte sectors that the requests touch")
    ),
    CostMetric(
        marked("    needed"),
        "global",
        lambda counts: counts.needed_sectors,
        marked("Sectors that the different elements of each request fit into"),
    ),
    CostMetric(
        marked("    lost"),
        "global",
        lambda counts: counts.lost_sectors,
        marked("Moved but not needed: uncoalesced or misaligned access"),
    ),
    CostMetric(
        marked("    ideal"),
        "global",
        lambda counts: counts.ideal_sectors,
        marked("As Nsight Compute has it: what the lanes would need if each had its own element, side by side"),
    ),
    CostMetric(marked("Lines"), "global", lambda counts: counts.lines, marked("{line}-byte lines, several sectors each")),
    CostMetric(
        marked("Accesses"), "shared", lambda counts: counts.requests, marked("One warp's execution of one shared load or store")
    ),
    CostMetric(marked("Wavefronts"), "shared", lambda counts: counts.wavefronts, marked("Passes over the {banks} banks")),
    CostMetric(
        marked("    needed"), "shared", lambda counts: counts.ideal_wavefronts, marked("The minimum for the requested words")
    ),
    CostMetric(
        marked("    lost"), "shared", lambda counts: counts.excessive_wavefronts, marked("Not needed: caused by bank conflicts")
    ),
)


class Amount(Struct, frozen=True):
    """A number with its text."""

    value: float
    text: str


class LaunchMetric(Struct, frozen=True):
    """A metric of the whole launch only."""

    name: str
    of: Callable[[Setup, LaunchCounts], Amount]
    tip: str
    input: int | None = None

    def name_for(self, setup: Setup) -> str:
        """The displayed name. ``input``: the number of the input array that it is about."""
        inputs = _names_of_inputs(setup)
        return (
            tr(self.name)
            if self.input is None
            else f"{tr(self.name)} {inputs[self.input] if self.input < len(inputs) else '–'}"
        )


def _amount(value: int) -> Amount:
    return Amount(value, spaced(value))


_NO_AMOUNT = Amount(float("nan"), "–")


def _intensity(setup: Setup, size_bytes: int) -> Amount:
    if setup.problem.flops is None:
        return _NO_AMOUNT
    value = intensity(setup.problem.flops, size_bytes)
    return Amount(value, tr("{value} flop/B", value=f"{value:.3g}"))


def _names_of_inputs(setup: Setup) -> list[str]:
    return [array.name for array in setup.problem.arrays if array.role != "output"]


def _input_loads(setup: Setup, counts: LaunchCounts, place: int) -> Amount:
    inputs = _names_of_inputs(setup)
    if place >= len(inputs):
        return _NO_AMOUNT
    value = loads_per_element(counts).get(inputs[place], 0.0)
    return Amount(value, f"{value:.6g}")


def _active_lanes(counts: LaunchCounts) -> Amount:
    total = counts.total()
    value = total.lanes * counts.rules.warp_size / counts.rules.request_lanes / max(1, total.requests)
    return Amount(value, f"{value:.3g}") if total.requests else _NO_AMOUNT


def _divergent_branches(counts: LaunchCounts) -> Amount:
    total = sum(counts.branches.values(), BranchCounts())
    parted, executions = spaced(total.parted), spaced(total.executions)
    return Amount(total.parted, tr("{parted} of {executions}", parted=parted, executions=executions))


LAUNCHES = (
    LaunchMetric(marked("Global load sectors"), lambda setup, counts: _amount(counts.total("global", "read").sectors),
                 "Nsight Compute: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    LaunchMetric(marked("Global store sectors"), lambda setup, counts: _amount(counts.total("global", "write").sectors),
                 "Nsight Compute: l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    LaunchMetric(marked("Bytes requested, global"), lambda setup, counts: _amount(counts.total("global").bytes_asked),
                 marked("Bytes that the threads read and write, summed over lanes")),
    LaunchMetric(marked("Bytes moved, global"), lambda setup, counts: _amount(counts.total("global").bytes_moved(counts.rules)),
                 marked("Number of sectors moved, times their size")),
    LaunchMetric(marked("Intensity, bytes requested"),
                 lambda setup, counts: _intensity(setup, counts.total("global").bytes_asked),
                 marked("Arithmetic intensity: floating-point operations per byte that the threads request")),
    LaunchMetric(marked("Intensity, bytes moved"),
                 lambda setup, counts: _intensity(setup, counts.total("global").bytes_moved(counts.rules)),
                 marked("Arithmetic intensity: floating-point operations per byte of moved sectors")),
    LaunchMetric(marked("Loads per element of"), lambda setup, counts: _input_loads(setup, counts, 0),
                 marked("Average number of loads of an element of the first input from global memory"), 0),
    LaunchMetric(marked("Loads per element of"), lambda setup, counts: _input_loads(setup, counts, 1),
                 marked("Average number of loads of an element of the second input from global memory"), 1),
    LaunchMetric(marked("Active lanes per access"), lambda setup, counts: _active_lanes(counts),
                 marked("Average number of lanes of a warp that take part in an access to memory")),
    LaunchMetric(marked("Divergent branches"), lambda setup, counts: _divergent_branches(counts),
                 marked("Executions of a branch by a warp at which its lanes part, of all executions")),
)  # fmt: skip


def check_line(shown: KnownRun) -> str:
    """Whether C is correct in the traced blocks."""
    trace = shown.trace
    if trace.stop is not None:
        return tr("✗ C was not checked, the run ended early: {sentence}", sentence=trace.stop.sentence)
    blocks, all_blocks = trace.blocks.count, trace.launch.block_count
    share = (
        tr("all blocks")
        if blocks == all_blocks
        else tr("{blocks} of {all_blocks} blocks", blocks=blocks, all_blocks=all_blocks)
    )
    if trace.check.passed and shown.replay.hazards:
        return tr("✗ {check}, but only in this run's order of threads ({share} traced)", check=trace.check, share=share)
    return ("✓ " if trace.check.passed else "✗ ") + tr("{check} ({share} traced)", check=trace.check, share=share)


def hazard_lines(shown: KnownRun) -> list[str]:
    """Hazards, remarks on the order of threads, and notes on the source."""
    ordering = shown.replay.ordering
    return [*(tr("Hazard: {hazard}", hazard=hazard) for hazard in ordering.hazards), *ordering.remarks, *shown.trace.notes]


def search_line(shown: KnownRun) -> str:
    """Number of blocks searched for hazards; "" if all were searched."""
    traced = shown.trace.blocks.count
    if shown.searched is None or shown.searched >= traced:
        return ""
    return tr(
        "{searched} of the {traced} traced blocks were searched for hazards, to save time",
        searched=shown.searched,
        traced=traced,
    )


def source_line(shown: KnownRun, moment: Moment) -> str:
    """The threads that the columns describe, and the source of the counts."""
    who = focus_text(moment.focus, shown.trace)
    if moment.focus.thread is not None:
        who += tr(", costs of its warp {warp}", warp=moment.focus.warp)
    whole = shown.whole
    which = all_blocks(launch_for(whole.setup).block_count) if shown.trace.stop is None else ""
    state = (
        "counting"
        if whole.counts is None
        else (tr("counted from the trace") if shown.from_file else tr("counted from the source as written"))
    )
    launch = f"{which}, {state}" if shown.trace.stop is None else tr("not counted, the run ended early")
    if whole.no_counts:
        launch = tr("not counted, {no_counts}", no_counts=whole.no_counts)
    if whole.origin:
        launch = tr("{sizes}, {origin}: {launch}", sizes=whole.setup.problem.text(), origin=whole.origin, launch=launch)
    return tr(
        "Step, so far: {who}, counted from the trace. Launch: {launch}.{rules_sentence}",
        who=who,
        launch=launch,
        rules_sentence=rules_sentence(shown.setup),
    )


def rules_sentence(setup: Setup) -> str:
    """A sentence if the device's own memory rules are unknown; "" otherwise."""
    device = device_for(setup)
    if device.memory is not None:
        return ""
    return tr(" Counted by the rules of recent NVIDIA GPUs, which differ from those of a {device}.", device=device.name)


def speed_lines(shown: KnownRun) -> list[str]:
    """Time, rate, resources and source of the real kernel; none if its time isn't known."""
    speed = shown.whole.speed
    if speed is None:
        return []
    measured = speed.measured
    if measured.timing is None:
        return [tr("Real kernel: {failure}", failure=measured.failure)]
    timing, time_us = measured.timing, measured.timing.median_ms * 1e3
    time = f"{number(time_us)} µs" if time_us < 1e4 else tr("{median_ms} ms", median_ms=number(timing.median_ms))
    spread = "" if timing.spread is None else tr(" ± {spread} (quartiles)", spread=percent(max(timing.spread, 0.001)))
    share = (
        ""
        if speed.share_of_cublas is None
        else tr(", {share_of_cublas} of cuBLAS", share_of_cublas=percent(speed.share_of_cublas))
    )
    lines = [
        tr("Real kernel, {source}:", source=speed.source),
        f"{time}{spread}, {number(measured.gflops or 0.0)} GFLOP/s{share}",
    ]
    lines += _of_resources(measured.resources) if measured.resources is not None else []
    if measured.transfer is not None:
        there, back = measured.transfer.to_device_ms, measured.transfer.to_host_ms
        lines.append(
            tr(
                "copies of pageable memory: A and B to the GPU {there} ms, C back {back} ms",
                there=f"{there:.3g}",
                back=f"{back:.3g}",
            )
        )
    if measured.check is not None and not measured.check.passed:
        lines.append(str(measured.check))
    if measured.reads_c:
        lines.append(tr("C was filled with zeros, because the kernel reads it"))
    return lines


def _of_resources(resources: Resources) -> list[str]:
    occupancy = resources.occupancy
    spills = tr("{local_bytes} bytes spilled", local_bytes=resources.local_bytes) if resources.local_bytes else tr("no spills")
    used = tr(
        "{registers} registers, {shared_bytes} bytes of shared memory, {spills}",
        registers=resources.registers, shared_bytes=number(resources.shared_bytes), spills=spills,
    )  # fmt: skip
    blocks = tr(
        "{blocks} of {warps} per SM",
        blocks=many(occupancy.blocks_per_sm, "block"), warps=many(occupancy.warps_per_block, "warp"),
    )  # fmt: skip
    return [used, tr("theoretical occupancy {share}: {blocks}", share=percent(occupancy.share), blocks=blocks)]


def recorder_line(shown: KnownRun) -> str:
    """The engine or GPU that recorded the run."""
    by = shown.trace.by
    return tr("Run by the interpreter on the CPU") if by == INTERPRETER else tr("Recorded on {by}", by=by)
