"""Two kernels, or two settings of one, held against each other."""

import argparse
import math
from pathlib import Path
from typing import Any

from gemmviz.analysis.counts import LaunchCounter, totals
from gemmviz.analysis.moment import Reader
from gemmviz.analysis.pairing import LOCKS, Pair, clock, step_like
from gemmviz.analysis.replay import Replay
from gemmviz.cli.command import Command, add_json, add_on, add_output, add_timeout, engine_of, print_json, remark
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.render.export import save_frame
from gemmviz.run.engine import CannotAnswer, FirstToAnswer
from gemmviz.run.recorded import Recorded
from gemmviz.show.flags import add_setup, parameter, setup_from
from gemmviz.show.picture import picture, run, watched_in
from gemmviz.show.shot import Against, Shot
from gemmviz.show.subjects import title_of_launch
from gemmviz.spec.legality import device_for


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "A", with_record=False)
    parser.add_argument("other", metavar="B", help="another kernel, or the same one again")
    parser.add_argument("--left", action="append", default=[], metavar="NAME=VALUE", help="a parameter of A alone")
    parser.add_argument("--right", action="append", default=[], metavar="NAME=VALUE", help="a parameter of B alone")
    parser.add_argument("--lock", choices=LOCKS, default="phase", help="what the same moment is in a picture (default: phase)")
    parser.add_argument("--step", type=int, default=1, help="of B, counted from 1, in a picture")
    parser.add_argument("--mark", default="", metavar="A[I,K]", help="an element that is followed in both")
    parser.add_argument("--theme", default="dark", help="colours of a picture (default: dark)")
    add_on(parser, "cpu")
    add_timeout(parser)
    add_json(parser)
    add_output(parser, "FRAME.svg|.png")


def _run(args: argparse.Namespace) -> int:
    sides = _setups(args)
    found = [_counted(args, setup) for setup in sides]
    rows = {name: [totals[name] for totals, _ in found] for name in found[0][0]}
    if args.json:
        print_json(_facts(sides, rows, [speed for _, speed in found]))
    else:
        _print(sides, rows, [speed for _, speed in found])
    if args.output is not None:
        _save(args, sides)
    return 0


def _setups(args: argparse.Namespace) -> tuple[Setup, Setup]:
    """Sizes and parameters are those of both, as far as each kernel has them."""
    shared = dict(map(parameter, args.D))
    found = []
    for kernel, own in ((args.kernel, args.left), (args.other, args.right)):
        args.kernel, args.D = kernel, []
        setup = setup_from(args)
        fitting = {name: value for name, value in shared.items() if name in setup.parameters}
        found.append(setup.changed(**fitting, **dict(map(parameter, own))))
    for name in shared:
        if not any(name in setup.parameters for setup in found):
            raise UsageError(f"neither kernel has a parameter {name}")
    left, right = found
    return left, right


def _counted(args: argparse.Namespace, setup: Setup) -> tuple[dict[str, int], KernelSpeed | str]:
    counter = LaunchCounter(device_for(setup).rules)
    with engine_of(args, setup.kernel) as engine:
        engine.count(setup, counter)
        try:
            return totals(counter.counts), FirstToAnswer(engine, Recorded()).time(setup)
        except CannotAnswer as error:
            return totals(counter.counts), error.message


def _ratio(left: float, right: float) -> float | None:
    """How many times as much on the right; None against nothing."""
    return right / left if left else None if right else 1.0


def _weight(pair: list[int]) -> float:
    ratio = _ratio(*pair)
    return math.inf if not ratio else max(ratio, 1 / ratio)


def _print(sides: tuple[Setup, Setup], rows: dict[str, list[int]], speeds: list[KernelSpeed | str]) -> None:
    print(f"A: {title_of_launch(sides[0])}\nB: {title_of_launch(sides[1])}")
    print(f"  {'whole launches, counted from the source':40} {'A':>18} {'B':>18} {'B / A':>8}")
    for name, pair in sorted(rows.items(), key=lambda item: -_weight(item[1])):
        ratio = _ratio(*pair)
        print(f"  {name:40} {pair[0]:>18,} {pair[1]:>18,} {'–' if ratio is None else f'{ratio:.3g}':>8}")
    for letter, speed in zip("AB", speeds, strict=True):
        if isinstance(speed, str):
            print(f"  {letter}: {speed}")
        elif speed.measured.timing is not None:
            print(f"  {letter}: {speed.measured.timing.median_ms * 1e3:,.1f} µs, {speed.source}")


def _facts(sides: tuple[Setup, Setup], rows: dict[str, list[int]], speeds: list[KernelSpeed | str]) -> dict[str, Any]:
    def side(setup: Setup, speed: KernelSpeed | str) -> dict[str, Any]:
        timing = None if isinstance(speed, str) else speed.measured.timing
        return {
            "kernel": setup.kernel.name, "problem": setup.problem.sizes, "parameters": dict(setup.parameters),
            "time_ms": None if timing is None else timing.median_ms,
            "time_source": speed if isinstance(speed, str) else speed.source,
        }  # fmt: skip

    return {
        "a": side(sides[0], speeds[0]), "b": side(sides[1], speeds[1]),
        "counts": {name: {"a": a, "b": b, "ratio": _ratio(a, b)} for name, (a, b) in rows.items()},
        "counted": "from a lockstep trace of the source as written, all blocks",
    }  # fmt: skip


def _save(args: argparse.Namespace, sides: tuple[Setup, Setup]) -> None:
    """Both stages at the same moment."""
    readers = []
    for setup in sides:
        with engine_of(args, setup.kernel) as engine:
            outcome = run(setup, (0, 0, 0), engine, values=True)
            if outcome.trace is None:
                raise outcome.fault or GemmvizError("the kernel gives no trace")
            reader = Reader(Replay.of(outcome.trace))
            reader.watched = watched_in(Shot(setup), outcome.trace, engine)
        remark(outcome.instead_of)
        readers.append(reader)
    left, right = readers
    if not 1 <= args.step <= right.replay.steps:
        raise UsageError(f"there is no step {args.step}: B has {right.replay.steps} steps, counted from 1")
    clocks = [clock(reader.replay, reader.scope, args.lock) for reader in readers]
    against = Against(sides[0], args.lock, args.mark)
    shot = Shot(sides[1], view="pair", theme=args.theme, against=against)
    at = step_like(clocks[0], clocks[1], args.step - 1)
    pair = Pair(left.at(at), right.at(args.step - 1), args.lock, marked=against.element)
    save_frame(picture(shot, pair), Path(args.output))


COMMAND = Command("hold two kernels, or two settings, against each other", _add, _run, order=5)
