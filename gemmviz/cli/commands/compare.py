"""The command ``compare``: compares two kernels, or two settings of one kernel."""

import argparse
import math
from typing import Any

from msgspec import structs

from gemmviz.analysis.counts import totals
from gemmviz.analysis.replay.focus import Focus, Position
from gemmviz.analysis.replay.pairing import LOCKS, Difference
from gemmviz.cli.command import Command, add_json, add_output, print_error, print_json
from gemmviz.cli.running import add_on, add_timeout, engine_of, interruptible, print_fallback, report_outcome
from gemmviz.cuda.launch.legality import can_run
from gemmviz.files.codec import to_plain
from gemmviz.files.devices import device_names
from gemmviz.model.messages import GemmvizError, UsageError
from gemmviz.model.setup import Setup, launch_title
from gemmviz.model.timing import GridCase
from gemmviz.render.export import save_frame, stills
from gemmviz.run.engine import KernelEngines
from gemmviz.scenes.kit.theme import theme_names
from gemmviz.shots.arguments import add_setup, given_parameter, setup_from, share
from gemmviz.shots.kinds.launches import check_pair, grid_case
from gemmviz.shots.knowledge import Knowledge, LaunchFacts
from gemmviz.shots.picture import picture
from gemmviz.shots.shot import Against, Shot
from gemmviz.shots.subject import subject_of_view


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "A", with_record=False, with_launch=False)
    parser.add_argument("other", metavar="B", help="another kernel, or the same one; uses the sizes of A if it can")
    parser.add_argument("--left", action="append", default=[], metavar="NAME=VALUE", help="parameter of A only")
    parser.add_argument("--right", action="append", default=[], metavar="NAME=VALUE", help="parameter of B only")
    parser.add_argument("--left-device", choices=device_names(), help="device for A (default: as for B)")
    parser.add_argument(
        "--view", choices=("pair", "pair_facts", "grid", "rounding"), default="pair", help="view to draw (default: pair)"
    )
    parser.add_argument(
        "--instant", type=share, default=0.5, help="elapsed share of the launch time in the grid view (default: %(default)s)"
    )
    parser.add_argument(
        "--lock", choices=LOCKS, default="k", help="quantity that is equal in both halves of the picture (default: k)"
    )
    parser.add_argument("--step", type=int, default=1, help="step of B in the picture, from 1 (default: %(default)s)")
    parser.add_argument("--mark", default="", metavar="A[I,K]", help="element to mark in both halves")
    parser.add_argument("--theme", choices=theme_names(), default="dark", help="theme of the picture (default: dark)")
    add_on(parser, "cpu")
    add_timeout(parser)
    add_json(parser)
    add_output(parser, tuple(f".{suffix}" for suffix in stills()), "also save a picture of both runs")


def _run(args: argparse.Namespace) -> int:
    with interruptible():
        return _compare(args)


def _compare(args: argparse.Namespace) -> int:
    left, right = _setups(args)
    code = 0
    against = Against(left, args.lock, args.mark)
    at = Position(args.step - 1)
    shot = Shot(right, Focus(warp=0), args.view, at, theme=args.theme, instant=args.instant, against=against)
    check_pair(shot)
    if left.problem != right.problem:
        print_error(
            GemmvizError(f"the problems differ: {left.problem} and {right.problem}", remedy="set -m, -n and -k for both"), 0
        )
    with engine_of(args, left.kernel) as one, engine_of(args, right.kernel) as other:
        known = Knowledge(shot, KernelEngines(lambda kernel: one if kernel is left.kernel else other))
        if args.output is not None and args.view != "grid":
            code = _save_both(args, known.at_fault().in_run())
        counted = known.compared.facts, known.facts
        if args.output is not None and args.view == "grid":
            save_frame(picture(shot, _grids_of_both(shot)), args.output)
    if args.json:
        print_json(_comparison_json(*counted))
    else:
        _print_comparison(*counted)
    return code


def _save_both(args: argparse.Namespace, known: Knowledge) -> int:
    """Save the picture of both runs and return the exit code."""
    code = 0
    for outcome in (known.compared.outcome, known.outcome):
        print_fallback(outcome.instead_of)
        code = max(code, report_outcome(outcome))
    if not 1 <= args.step <= known.replay.steps:
        raise UsageError(f"there is no step {args.step}: B has {known.replay.steps} steps, counted from 1")
    save_frame(picture(known.shot, subject_of_view(args.view).at(known, args.step - 1)), args.output)
    return code


def _grids_of_both(shot: Shot) -> GridCase:
    """Return the grids of both launches. Raises UsageError if one of them can't run."""
    case = grid_case(shot)
    if case is None or case.beside is None:
        raise UsageError(f"{'B' if case is None else 'A'} has no launch that its device could run")
    return case


def _setups(args: argparse.Namespace) -> tuple[Setup, Setup]:
    """Return both setups. Shared sizes and parameters apply to each kernel that has them."""
    shared = dict(map(given_parameter, args.D))
    own_sizes = args.m is args.n is args.k is None
    setups: list[Setup] = []
    for kernel, parameters in ((args.kernel, args.left), (args.other, args.right)):
        args.kernel, args.D = kernel, []
        setup = setup_from(args)
        fitting = {name: value for name, value in shared.items() if name in setup.parameters}
        setup = setup.changed(**{**fitting, **dict(map(given_parameter, parameters))})
        if setups and own_sizes:
            setup = _at_the_same_sizes(setup, setups[0])
        setups.append(setup)
    if args.left_device is not None:
        setups[0] = structs.replace(setups[0], device=args.left_device)
    for name in shared:
        if not any(name in setup.parameters for setup in setups):
            raise UsageError(f"neither kernel has a parameter {name}")
    return setups[0], setups[1]


def _at_the_same_sizes(setup: Setup, other: Setup) -> Setup:
    """Return the setup at the sizes of the other one, if it can run them."""
    resized = setup.changed(**other.problem.sizes)
    return resized if can_run(resized) else setup


def _ratio(row: Difference) -> float | None:
    """Return B / A, None if A is 0."""
    return None if row.ratio == math.inf else row.ratio


def _total_rows(a: LaunchFacts, b: LaunchFacts) -> list[Difference]:
    assert a.counts is not None
    assert b.counts is not None
    left, right = totals(a.counts), totals(b.counts)
    names = dict.fromkeys((*left, *right))
    return [Difference(name, None, None, (left.get(name, 0), right.get(name, 0))) for name in names]


def _print_comparison(a: LaunchFacts, b: LaunchFacts) -> None:
    print(f"A: {launch_title(a.setup)}\nB: {launch_title(b.setup)}")
    print(f"  {'whole launches, counted from the source':40} {'A':>18} {'B':>18} {'B / A':>8}")
    for row in sorted(_total_rows(a, b), key=lambda each: -each.weight):
        (left, right), ratio = row.in_all, _ratio(row)
        print(f"  {row.name:40} {left:>18,} {right:>18,} {'–' if ratio is None else f'{ratio:.3g}':>8}")
    for letter, side in (("A", a), ("B", b)):
        time = "" if side.time_ms is None else f"{side.time_ms * 1e3:,.1f} µs, "
        print(f"  {letter}: {time}{side.time_source or side.no_speed}")
    if a.time_ms is not None and b.time_ms is not None:
        print(f"  B takes {b.time_ms / a.time_ms:.3g} times as long as A")


def _comparison_json(a: LaunchFacts, b: LaunchFacts) -> dict[str, Any]:
    def side(counted: LaunchFacts) -> dict[str, Any]:
        setup = counted.setup
        return {
            "kernel": setup.kernel.name, "problem": to_plain(setup.problem), "parameters": dict(setup.parameters),
            "time_ms": counted.time_ms, "time_source": counted.time_source or counted.no_speed,
        }  # fmt: skip

    return {
        "a": side(a), "b": side(b),
        "counts": {row.name: {"a": row.in_all[0], "b": row.in_all[1], "ratio": _ratio(row)} for row in _total_rows(a, b)},
        "counted": "from a lockstep trace of the source as written, all blocks",
    }  # fmt: skip


COMMAND = Command("compare two kernels, or two settings of one kernel", _add, _run, order=5)
