"""The metrics panel: one table of counted metrics, and sentences about the rest. A new metric is one row."""

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.analysis.memory.counts import Counts, LaunchCounts, intensity, loads_per_element
from gemmviz.analysis.replay.focus import focus_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.launch.legality import device_for
from gemmviz.model.device import MemoryRules
from gemmviz.model.setup import Setup
from gemmviz.model.sites import Space
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.trace import INTERPRETER
from gemmviz.model.words import all_blocks, many, number, percent, spaced
from gemmviz.subjects.runs import KnownRun


@dataclass(frozen=True, slots=True)
class CostMetric:
    """A metric of each step, of all steps so far and of the whole launch. ``tip`` may contain ``{sector}`` and ``{line}``, in
    bytes, and ``{banks}``.
    """

    name: str
    space: Space
    of: Callable[[Counts], int]
    tip: str

    def tip_for(self, rules: MemoryRules) -> str:
        """The tooltip for a device's memory rules."""
        return self.tip.format(sector=rules.sector_bytes, line=rules.line_bytes, banks=rules.banks)


COSTS = (
    CostMetric("Requests", "global", lambda counts: counts.requests, "One warp's execution of one global load or store"),
    CostMetric("Sectors", "global", lambda counts: counts.sectors, "{sector}-byte sectors that the requests touch"),
    CostMetric("    needed", "global", lambda counts: counts.ideal_sectors,
               "The minimum for the requested bytes (Nsight's ideal)"),
    CostMetric("    lost", "global", lambda counts: counts.excessive_sectors,
               "Moved but not needed: uncoalesced or misaligned access"),
    CostMetric("Lines", "global", lambda counts: counts.lines, "{line}-byte lines, several sectors each"),
    CostMetric("Accesses", "shared", lambda counts: counts.requests, "One warp's execution of one shared load or store"),
    CostMetric("Wavefronts", "shared", lambda counts: counts.wavefronts, "Passes over the {banks} banks"),
    CostMetric("    needed", "shared", lambda counts: counts.ideal_wavefronts,
               "The minimum for the requested words"),
    CostMetric("    lost", "shared", lambda counts: counts.excessive_wavefronts, "Not needed: caused by bank conflicts"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its text."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class LaunchMetric:
    """A metric of the whole launch only."""

    name: str
    of: Callable[[Setup, LaunchCounts], Amount]
    tip: str
    input: int | None = None

    def name_for(self, setup: Setup) -> str:
        """The displayed name. ``input``: the number of the input array that it is about."""
        inputs = _inputs(setup)
        return self.name if self.input is None else f"{self.name} {inputs[self.input] if self.input < len(inputs) else '–'}"


def _whole(value: int) -> Amount:
    return Amount(value, spaced(value))


_NONE = Amount(float("nan"), "–")


def _intensity(setup: Setup, size_bytes: int) -> Amount:
    if setup.problem.flops is None:
        return _NONE
    value = intensity(setup.problem.flops, size_bytes)
    return Amount(value, f"{value:.3g} flop/B")


def _inputs(setup: Setup) -> list[str]:
    return [array.name for array in setup.problem.arrays if array.role != "output"]


def _reuse(setup: Setup, counts: LaunchCounts, place: int) -> Amount:
    inputs = _inputs(setup)
    if place >= len(inputs):
        return _NONE
    value = loads_per_element(counts).get(inputs[place], 0.0)
    return Amount(value, f"{value:.6g}")


LAUNCHES = (
    LaunchMetric("Global load sectors", lambda setup, counts: _whole(counts.total("global", "read").sectors),
                 "Nsight Compute: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    LaunchMetric("Global store sectors", lambda setup, counts: _whole(counts.total("global", "write").sectors),
                 "Nsight Compute: l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    LaunchMetric("Bytes requested, global", lambda setup, counts: _whole(counts.total("global").bytes_asked),
                 "Bytes that the threads read and write, summed over lanes"),
    LaunchMetric("Bytes moved, global", lambda setup, counts: _whole(counts.total("global").bytes_moved(counts.rules)),
                 "Number of sectors moved, times their size"),
    LaunchMetric("Intensity, bytes requested",
                 lambda setup, counts: _intensity(setup, counts.total("global").bytes_asked),
                 "Arithmetic intensity: floating-point operations per byte that the threads request"),
    LaunchMetric("Intensity, bytes moved",
                 lambda setup, counts: _intensity(setup, counts.total("global").bytes_moved(counts.rules)),
                 "Arithmetic intensity: floating-point operations per byte of moved sectors"),
    LaunchMetric("Loads per element of", lambda setup, counts: _reuse(setup, counts, 0),
                 "Average number of loads of an element of the first input from global memory", 0),
    LaunchMetric("Loads per element of", lambda setup, counts: _reuse(setup, counts, 1),
                 "Average number of loads of an element of the second input from global memory", 1),
)  # fmt: skip


def check_line(shown: KnownRun) -> str:
    """Whether C is correct in the traced blocks."""
    trace = shown.trace
    if trace.stop is not None:
        return f"✗ C was not checked, the run ended early: {trace.stop.sentence}"
    blocks, all_blocks = trace.blocks.count, trace.launch.block_count
    share = "all blocks" if blocks == all_blocks else f"{blocks} of {all_blocks} blocks"
    if trace.check.passed and shown.replay.hazards:
        return f"✗ {trace.check}, but only in this run's order of threads ({share} traced)"
    return ("✓ " if trace.check.passed else "✗ ") + f"{trace.check} ({share} traced)"


def hazard_lines(shown: KnownRun) -> list[str]:
    """Hazards, remarks on the order of threads, and notes on the source."""
    ordering = shown.replay.ordering
    return [*(f"Hazard: {hazard}" for hazard in ordering.hazards), *ordering.remarks, *shown.trace.notes]


def search_line(shown: KnownRun) -> str:
    """Number of blocks searched for hazards; "" if all were searched."""
    traced = shown.trace.blocks.count
    if shown.searched is None or shown.searched >= traced:
        return ""
    return f"{shown.searched} of the {traced} traced blocks were searched for hazards, to save time"


def source_line(shown: KnownRun, moment: Moment) -> str:
    """The threads that the columns describe, and the source of the counts."""
    who = focus_text(moment.focus, shown.trace)
    if moment.focus.thread is not None:
        who += f", costs of its warp {moment.focus.warp}"
    which = all_blocks(shown.trace.launch.block_count)
    state = "counting" if shown.counts is None else f"counted from the {'trace' if shown.from_file else 'source as written'}"
    launch = f"{which}, {state}" if shown.trace.stop is None else "not counted, the run ended early"
    if shown.no_counts:
        launch = f"not counted, {shown.no_counts}"
    return f"Step, so far: {who}, counted from the trace. Launch: {launch}.{rules_sentence(shown.setup)}"


def rules_sentence(setup: Setup) -> str:
    """A sentence if the device's own memory rules are unknown; "" otherwise."""
    device = device_for(setup)
    if device.memory is not None:
        return ""
    return f" Counted by the rules of recent NVIDIA GPUs, which differ from those of a {device.name}."


def speed_lines(shown: KnownRun) -> list[str]:
    """Time, rate, resources and source of the real kernel, for display."""
    if shown.speed is None:
        return [f"Real kernel: {shown.no_speed or '…'}"] if shown.trace.stop is None else []
    return _of_speed(shown.speed)


def _of_speed(speed: KernelSpeed) -> list[str]:
    measured = speed.measured
    if measured.timing is None:
        return [f"Real kernel: {measured.failure}"]
    timing, time_us = measured.timing, measured.timing.median_ms * 1e3
    time = f"{number(time_us)} µs" if time_us < 1e4 else f"{number(timing.median_ms)} ms"
    spread = "" if timing.spread is None else f" ± {percent(max(timing.spread, 0.001))} (quartiles)"
    share = "" if speed.share_of_cublas is None else f", {percent(speed.share_of_cublas)} of cuBLAS"
    lines = [f"Real kernel, {speed.source}:", f"{time}{spread}, {number(measured.gflops or 0.0)} GFLOP/s{share}"]
    if measured.resources is not None:
        resources, occupancy = measured.resources, measured.resources.occupancy
        spills = f"{resources.local_bytes} bytes spilled" if resources.local_bytes else "no spills"
        lines.append(f"{resources.registers} registers, {number(resources.shared_bytes)} bytes of shared memory, {spills}")
        blocks = f"{many(occupancy.blocks_per_sm, 'block')} of {many(occupancy.warps_per_block, 'warp')} per SM"
        lines.append(f"theoretical occupancy {percent(occupancy.share)}: {blocks}")
    if measured.transfer is not None:
        there, back = measured.transfer.to_device_ms, measured.transfer.to_host_ms
        lines.append(f"copies of pageable memory: A and B to the GPU {there:.3g} ms, C back {back:.3g} ms")
    if measured.check is not None and not measured.check.passed:
        lines.append(str(measured.check))
    if measured.reads_c:
        lines.append("C was filled with zeros, because the kernel reads it")
    return lines


def recorder_line(shown: KnownRun) -> str:
    """The engine or GPU that recorded the run."""
    by = shown.trace.by
    return "Run by the interpreter on the CPU" if by == INTERPRETER else f"Recorded on {by}"
