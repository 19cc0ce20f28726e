"""Commands that compute facts of a launch: its costs, its occupancy, how a tile is rid of conflicts, its instrumented twin."""

import argparse
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import Any

from msgspec import structs

from gemmviz.analysis.counts import LaunchCounter, LaunchCounts, loads_per_element, totals
from gemmviz.analysis.hazard import Hazard
from gemmviz.analysis.launch_hazards import LaunchHazards, ordering_of
from gemmviz.analysis.models import OccupancyLimits, occupancy_limits
from gemmviz.cli.command import Command, add_json, print_json
from gemmviz.cli.running import ProgressBar, add_on, add_timeout, engine_of, report_hazards
from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.cuda.twin.units import twin_for
from gemmviz.files.codec import to_plain
from gemmviz.files.devices import load_device
from gemmviz.model.device import Needs, OccupancyCase
from gemmviz.model.messages import GemmvizError, UsageError, all_blocks, many
from gemmviz.model.setup import Setup, kernel_title
from gemmviz.model.sinks import AccessSink, Tee
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.run.cpu.executor import bound, trace_kernel
from gemmviz.run.engine import Recording
from gemmviz.shots.arguments import add_setup, at_main, setup_from
from gemmviz.shots.occupancy import occupancy_case
from gemmviz.shots.rearranging import rearranged
from gemmviz.shots.shot import Shot, Trial

# The command ``counts``: the cost of a whole launch.


class _CountsAndHazards(LaunchCounter):
    """A counter that also searches the accesses for hazards."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(device_for(setup).rules)
        self.hazards = LaunchHazards()

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        return Tee(super().sink(space, arrays, phase_loop), self.hazards.sink(space, arrays, phase_loop))


def _add_counts(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", with_record=False)
    add_on(parser, "cpu")
    add_timeout(parser)
    add_json(parser)


def _run_counts(args: argparse.Namespace) -> int:
    drawn = setup_from(args)
    setup = at_main(args, drawn)
    launch_for(setup)
    counter = _CountsAndHazards(setup)
    progress = ProgressBar(f"{setup.kernel.name}, counting {all_blocks(launch_for(setup).block_count)}")
    with engine_of(args, setup.kernel) as engine, progress.at_work():
        engine.count(setup, counter)
    hazards = [] if setup.kernel.unconfirmed else _harmful(counter.hazards.hazards, setup)
    if args.json:
        print_json(_counts_json(setup, counter.counts, hazards))
    else:
        share = all_blocks(launch_for(setup).block_count)
        sizes = f"{setup.problem}{'' if setup == drawn else ' as main() launches it'}"
        print(f"{setup.kernel.name}, {sizes}, {share}, counted from the source as written")
        for name, value in totals(counter.counts).items():
            print(f"  {name:28} {value:>16,}")
    return report_hazards(hazards, setup)


def _harmful(hazards: list[Hazard], setup: Setup) -> list[Hazard]:
    """The hazards without those of threads that write the same value in one step, as the values of one block show."""
    if all(each.earlier != each.later or each.earlier_block is not None for each in hazards):
        return hazards
    with suppress(GemmvizError):
        trace = trace_kernel(setup, BlockRange((0, 1), (0, 1), (0, 1))).trace
        if trace is not None:
            seen = {(each.kind, each.earlier, each.later) for each in ordering_of(trace).hazards}
            return [each for each in hazards if each.earlier != each.later or (each.kind, each.earlier, each.later) in seen]
    return hazards


def _counts_json(setup: Setup, counts: LaunchCounts, hazards: list[Hazard]) -> dict[str, Any]:
    launch = launch_for(setup)
    sites = [
        {"line": site.place.line, "column": site.place.column, "text": site.text, "access": operand.access,
         "array": counts.arrays[operand.array].name, "space": counts.arrays[operand.array].space, **structs.asdict(counted)}
        for (site, operand), counted in counts.accesses.items()
    ]  # fmt: skip
    branches = [
        {"line": site.place.line, "column": site.place.column, "text": site.text, "executions": each.executions,
         "divergent": each.parted, "lanes": each.lanes}
        for site, each in counts.branches.items()
    ]  # fmt: skip
    return {
        "kernel": setup.kernel.name, "problem": to_plain(setup.problem), "parameters": dict(setup.parameters),
        "device": setup.device, "grid": launch.grid, "block": launch.block, "blocks_counted": launch.block_count,
        "totals": totals(counts), "sites": sites, "branches": branches,
        "phases": [
            {"phase": n + 1 if n >= 0 else None, **structs.asdict(counted)} for n, counted in sorted(counts.phases.items())
        ],
        "loads_per_element": loads_per_element(counts), "hazards": [str(hazard) for hazard in hazards],
        "counted": "from a lockstep trace of the source as written, all blocks",
    }  # fmt: skip


# The command ``occupancy``: how many blocks an SM holds at once.


def _add_occupancy(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", required=False, with_record=False, taken=("shared",))
    parser.add_argument("--threads", type=int, help="threads per block, instead of the kernel's")
    parser.add_argument("--registers", type=int, help="registers per thread, instead of the recorded number")
    parser.add_argument("--shared", type=int, metavar="BYTES", help="shared memory per block, instead of the kernel's")
    add_json(parser)


def _run_occupancy(args: argparse.Namespace) -> int:
    case = _occupancy_case(args)
    limits = occupancy_limits(case.device, case.needs)
    if args.json:
        print_json(_occupancy_json(case, limits, args.registers is not None))
        return 0
    device, needs = case.device, case.needs
    registers = "registers unknown" if needs.registers is None else f"{many(needs.registers, 'register')} per thread"
    source = f" ({case.registers_source})" if case.registers_source and needs.registers == case.own.registers else ""
    print(f"{case.what}: {many(needs.threads, 'thread')}, {registers}{source}, {needs.shared_bytes:,} bytes of shared memory")
    at_most = "" if limits.is_certain else "at most "
    print(
        f"  {at_most}{many(limits.blocks_per_sm, 'block')} per SM of {device.name}, limited by {' and '.join(limits.limiting)}"
    )
    for name, limit in limits.limits.items():
        print(f"  {name:14} {'unknown' if limit is None else limit:>8}")
    print(f"  threads {limits.threads:>6} of {device.max_threads_per_sm}: {limits.threads_percent:.2f} %")
    print(f"  warps   {limits.warps:>6} of {device.max_warps_per_sm}: {limits.warps_percent:.2f} %")
    return 0


def _occupancy_case(args: argparse.Namespace) -> OccupancyCase:
    """Return the occupancy of a kernel, or of a block without a kernel. Raises UsageError without either."""
    trial = Trial(args.threads, args.registers, args.shared)
    if args.kernel is None:
        if args.threads is None:
            raise UsageError(
                "occupancy needs a kernel or a block", remedy="name a kernel, or set --threads, --registers and --shared"
            )
        needs = Needs(args.threads, args.registers, args.shared or 0)
        return OccupancyCase(load_device(args.device) if args.device else load_device(), needs, needs, "a block")
    drawn = setup_from(args)
    setup = at_main(args, drawn)
    case = occupancy_case(Shot(setup, trial=trial))
    if case is None:
        raise UsageError("these settings have no launch")
    return case if setup == drawn else structs.replace(case, what=f"{case.what}, {setup.problem} as main() launches it")


def _occupancy_json(case: OccupancyCase, limits: OccupancyLimits, is_given: bool) -> dict[str, object]:
    needs = case.needs
    return {
        "device": case.device.name, "threads": needs.threads, "registers": needs.registers, "shared_bytes": needs.shared_bytes,
        "registers_source": "given" if is_given else case.registers_source,
        "blocks_per_sm": limits.blocks_per_sm, "is_certain": limits.is_certain, "limits": limits.limits,
        "limiting": list(limits.limiting), "threads_percent": limits.threads_percent, "warps_percent": limits.warps_percent,
    }  # fmt: skip


# The command ``swizzle``: padding, or an XOR of the columns, that rids a tile of bank conflicts, as patches of the source.

_FIRST_BLOCK = BlockRange((0, 1), (0, 1), (0, 1))


def _add_swizzle(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", with_record=False)


def _run_swizzle(args: argparse.Namespace) -> int:
    setup = setup_from(args)
    launch_for(setup)
    found = list(rearranged(setup, trace_kernel(setup, _FIRST_BLOCK, Recording(origins=False)).whole))
    name = Path(setup.kernel.file).name
    for each in found:
        took = f"{each.wavefronts:,} wavefronts of a block instead of {each.before:,}"
        if each.setup is None:
            print(f"{each.array}, {each.arrangement}: {took}, but no patch: {each.reason}")
            continue
        print(f"{each.array}, {each.arrangement}: {took}; the result is right")
        before, after = (kernel.text.splitlines(keepends=True) for kernel in (setup.kernel, each.setup.kernel))
        print("".join(unified_diff(before, after, f"a/{name}", f"b/{name}")))
    if not found:
        print(f"{kernel_title(setup)}: no padding and no XOR of columns takes fewer wavefronts")
    return 0


# The command ``instrument``: prints the instrumented twin of a kernel.


def _add_instrument(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", with_record=False)


def _run_instrument(args: argparse.Namespace) -> int:
    setup = setup_from(args)
    bound(setup)
    print(twin_for(setup.kernel, setup.definitions).text, end="")
    return 0


COMMANDS = {
    "counts": Command("count requests, sectors and wavefronts of a whole launch", _add_counts, _run_counts, order=3),
    "instrument": Command("print the instrumented twin of a kernel", _add_instrument, _run_instrument, order=5),
    "occupancy": Command("compute how many blocks an SM holds, and what limits them", _add_occupancy, _run_occupancy, order=7),
    "swizzle": Command(
        "find padding or a swizzle that rids shared tiles of bank conflicts", _add_swizzle, _run_swizzle, order=7
    ),
}
