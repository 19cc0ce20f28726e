"""The command ``occupancy``: how many blocks an SM holds at once."""

import argparse

from gemmviz.analysis.models.occupancy import OccupancyLimits, occupancy_limits
from gemmviz.cli.command import Command, add_json, print_json
from gemmviz.files.devices import load_device
from gemmviz.model.device import Needs, OccupancyCase
from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.translation import many
from gemmviz.shots.arguments import add_setup, at_main, setup_from
from gemmviz.shots.occupancy import occupancy_case
from gemmviz.shots.shot import Shot, Trial


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu", required=False, with_record=False, taken=("shared",))
    parser.add_argument("--threads", type=int, help="threads per block, instead of the kernel's")
    parser.add_argument("--registers", type=int, help="registers per thread, instead of the recorded number")
    parser.add_argument("--shared", type=int, metavar="BYTES", help="shared memory per block, instead of the kernel's")
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
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
    return case if setup == drawn else replace(case, what=f"{case.what}, {setup.problem} as main() launches it")


def _occupancy_json(case: OccupancyCase, limits: OccupancyLimits, is_given: bool) -> dict[str, object]:
    needs = case.needs
    return {
        "device": case.device.name, "threads": needs.threads, "registers": needs.registers, "shared_bytes": needs.shared_bytes,
        "registers_source": "given" if is_given else case.registers_source,
        "blocks_per_sm": limits.blocks_per_sm, "is_certain": limits.is_certain, "limits": limits.limits,
        "limiting": list(limits.limiting), "threads_percent": limits.threads_percent, "warps_percent": limits.warps_percent,
    }  # fmt: skip


COMMAND = Command("compute how many blocks an SM holds, and what limits them", _add, _run, order=7)
