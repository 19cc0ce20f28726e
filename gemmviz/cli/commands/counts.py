"""The command ``counts``: the cost of a whole launch."""

import argparse
from contextlib import suppress
from typing import Any

from msgspec import structs

from gemmviz.analysis.hazards.hazard import Hazard
from gemmviz.analysis.hazards.launch_hazards import LaunchHazards
from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.analysis.memory.counts import LaunchCounter, LaunchCounts, loads_per_element, totals
from gemmviz.cli.command import Command, add_json, print_json
from gemmviz.cli.running import ProgressBar, add_on, add_timeout, engine_of, report_hazards
from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.files.codec import to_plain
from gemmviz.model.errors import GemmvizError
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink, Tee
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.model.translation import all_blocks
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.shots.arguments import add_setup, at_main, setup_from


class _CountsAndHazards(LaunchCounter):
    """A counter that also searches the accesses for hazards."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(device_for(setup).rules)
        self.hazards = LaunchHazards()

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        return Tee(super().sink(space, arrays, phase_loop), self.hazards.sink(space, arrays, phase_loop))


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", with_record=False)
    add_on(parser, "cpu")
    add_timeout(parser)
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
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


COMMAND = Command("count requests, sectors and wavefronts of a whole launch", _add, _run, order=3)
