"""One frame, as a file."""

import argparse
from dataclasses import replace
from pathlib import Path

from gemmviz.analysis.focus import Focus
from gemmviz.analysis.moment import Moment
from gemmviz.analysis.pairing import Pair
from gemmviz.analysis.position import Position
from gemmviz.analysis.replay import Replay
from gemmviz.analysis.speeds import narrowed
from gemmviz.cli.command import Command, add_on, add_output, add_timeout, complain, engine_of, remark, wrong
from gemmviz.files.benchmark_file import read_benchmark
from gemmviz.files.kinds import Kind, kind_of
from gemmviz.files.trace_file import read_trace
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.outcome import Outcome
from gemmviz.model.watched import Watched
from gemmviz.render.export import save_frame
from gemmviz.scenes.catalog import view_named
from gemmviz.show.benchmarks import named, recorded
from gemmviz.show.flags import add_setup, add_view, is_set, shot_from, view_from
from gemmviz.show.pairs import counted_by, pair_at, reader_by
from gemmviz.show.picture import Subject, moment_of, picture, run, searched_blocks, watched_in, with_hazards
from gemmviz.show.shot import Shot, default_shot
from gemmviz.show.speeds import speed_case_by
from gemmviz.show.stills import focus_inside, phase_numbered, step_numbered
from gemmviz.show.subjects import OF_LAUNCHES


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE")
    add_view(parser)
    add_on(parser, "cpu")
    add_timeout(parser)
    parser.add_argument("--scale", type=int, choices=(1, 2, 4), default=1, help="PNG pixels: 1 is 1920 x 1080")
    add_output(parser, "FRAME.svg|.png", required=True)


def _run(args: argparse.Namespace) -> int:
    path, kind = Path(args.kernel), kind_of(Path(args.kernel))
    if kind in ("trace", "benchmark") and is_set(args):
        raise UsageError(f"a {kind} has its own sizes and parameters", remedy="leave out -m, -n, -k, -D and the like")
    recorded_run = _from_trace(args, path) if kind == "trace" else None
    shot = _shot(args, kind) if recorded_run is None else recorded_run[0]
    subject = view_named(shot.view).subject
    if kind == "benchmark" or subject is Benchmark:
        return _save_measurements(args, shot, path, kind)
    if subject is not Moment:
        return _save(args, shot, _card(args, shot, kind))
    shot, outcome, watched = _from_run(args, shot) if recorded_run is None else recorded_run
    trace = outcome.trace
    if trace is None:
        raise outcome.fault or GemmvizError("the kernel gives no trace")
    replay = with_hazards(Replay.of(trace), searched_blocks(trace))
    at = _position(args, shot, replay, stopped=outcome.fault is not None)
    shot = replace(shot, focus=focus_inside(shot.focus, trace), at=at)
    _save(args, shot, moment_of(shot, replay, watched))
    if outcome.fault is not None:
        return complain(outcome.fault, 1)
    if replay.hazards:
        return complain(replay.hazards[0].fault(trace.setup.kernel.file), 1)
    return 0 if trace.check.passed else complain(wrong(trace), 1)


def _shot(args: argparse.Namespace, kind: Kind) -> Shot:
    return view_from(args, replace(default_shot(), view="rate", theme="dark")) if kind == "benchmark" else shot_from(args)


def _from_trace(args: argparse.Namespace, path: Path) -> tuple[Shot, Outcome, None]:
    trace = read_trace(path)
    x, y, z = (start for start, _ in trace.blocks.ranges)
    return view_from(args, Shot(trace.setup, Focus((x, y, z)), theme="dark")), Outcome(trace, trace.by), None


def _from_run(args: argparse.Namespace, shot: Shot) -> tuple[Shot, Outcome, Watched | None]:
    with engine_of(args, shot.setup.kernel) as engine:
        outcome = run(shot.setup, shot.focus.block, engine, values=True)
        watched = None if outcome.trace is None else watched_in(shot, outcome.trace, engine)
    remark(outcome.instead_of)
    return shot, outcome, watched


def _save(args: argparse.Namespace, shot: Shot, subject: Subject | None) -> int:
    if subject is None:
        raise UsageError(f"there is nothing to show in the view {shot.view!r}")
    save_frame(picture(shot, subject), args.output, args.scale)
    return 0


def _pair(args: argparse.Namespace, shot: Shot) -> Pair:
    """What a saved view of two runs shows."""
    if shot.against is None:
        raise UsageError("there is nothing to hold this against", remedy="gemmviz compare A B -o FRAME.png")
    sides = []
    for setup in (shot.against.setup, shot.setup):
        with engine_of(args, setup.kernel) as engine:
            sides.append((counted_by(setup, engine), reader_by(setup, engine, shot.focus)[0]))
    (one, left), (other, right) = sides
    return pair_at(shot, left, right, (one, other))


def _save_measurements(args: argparse.Namespace, shot: Shot, path: Path, kind: Kind) -> int:
    if is_set(args) or kind == "trace":
        remedy = "leave out -m, -n, -k, -D and the like"
        raise UsageError(f"the view {shot.view!r} shows measurements, of all kernels and sizes", remedy=remedy)
    measured = {"": read_benchmark(path, recorded=True)} if kind == "benchmark" else recorded()
    found = named(measured, shot.chart.source)
    return _save(args, shot, None if found is None else narrowed(found, shot.chart.width, shot.chart.with_host))


def _card(args: argparse.Namespace, shot: Shot, kind: Kind) -> Subject | None:
    """What a view of something else than a run shows. Of a trace only what needs none to be run."""
    subject = view_named(shot.view).subject
    made = OF_LAUNCHES.get(subject)
    if made is not None:
        found: Subject | None = made(shot)
        return found
    if kind == "trace":
        raise UsageError(f"the view {shot.view!r} needs the kernel to be run", remedy="name the kernel instead of the trace")
    if subject is Pair:
        return _pair(args, shot)
    with engine_of(args, shot.setup.kernel) as engine:
        return speed_case_by(shot, engine)


def _position(args: argparse.Namespace, shot: Shot, replay: Replay, stopped: bool) -> Position:
    """Raises UsageError for a phase or a step that there is none of."""
    if args.phase is not None:
        return phase_numbered(args.phase, replay)
    if args.step is not None:
        return step_numbered(args.step, replay)
    return Position(replay.steps - 1) if stopped else shot.at


COMMAND = Command("save one frame as SVG or PNG: of a kernel, a trace, a saved view or a benchmark", _add, _run, order=4)
