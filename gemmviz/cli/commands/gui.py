"""The window; where there is no display, what it would show as files."""

import argparse
import os
import sys
from pathlib import Path

from gemmviz.cli.command import Command
from gemmviz.files.kinds import file_stem, kind_of
from gemmviz.files.whole import is_file
from gemmviz.model.errors import UsageError
from gemmviz.model.words import many
from gemmviz.render.qt.libraries import platform_here, require_qt
from gemmviz.show.flags import add_setup, is_set, setup_from
from gemmviz.show.shot import Shot

_MOST_FRAMES = 60


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE", required=False)
    parser.add_argument("--lecture", action="store_true", help="full screen, as F5 does")


def _run(args: argparse.Namespace) -> int:
    path = None if args.kernel is None else Path(args.kernel)
    kind = "kernel" if path is None else kind_of(path)
    if path is not None and kind != "kernel" and is_set(args):
        raise UsageError(f"{path.name} has its own sizes and parameters", remedy="leave out -m, -n, -k, -D and the like")
    shot = None
    if kind == "kernel" and (is_set(args) or (path is not None and not is_file(path))):
        path, shot = None, Shot(setup_from(args))
    if not _has_display():
        return _without_display(path, shot)
    require_qt(platform_here())
    from gemmviz.gui.app import run_window

    return run_window(path, shot, args.lecture)


def _has_display() -> bool:
    if os.environ.get("QT_QPA_PLATFORM") or not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _without_display(path: Path | None, shot: Shot | None) -> int:
    """Writes a picture of each of up to 60 steps, evenly spread, and an animation of all, into the folder ``out``."""
    from contextlib import closing

    from gemmviz.files.trace_file import read_trace
    from gemmviz.model.outcome import Outcome
    from gemmviz.render.export import save_numbered, save_reel
    from gemmviz.render.format import Look
    from gemmviz.run.choosing import engine_for
    from gemmviz.show.lesson import read_lesson
    from gemmviz.show.shot import default_shot
    from gemmviz.show.staging import Manner, run_reel, staged, staged_run
    from gemmviz.spec.catalog import load_kernel
    from gemmviz.spec.legality import setup_for

    if path is not None and kind_of(path) == "trace":
        trace = read_trace(path)
        stage = staged_run(Shot(trace.setup), Outcome(trace, trace.by))
    else:
        if path is not None:
            shot = read_lesson(path).stops[0].shot if kind_of(path) == "view" else Shot(setup_for(load_kernel(str(path))))
        stage = staged(shot or default_shot(), lambda kernel: closing(engine_for("cpu")))
    folder, name = Path("out"), file_stem(stage.shot.setup.kernel.name)
    steps = list(range(0, stage.steps, max(1, -(-stage.steps // _MOST_FRAMES))))
    reel = run_reel(stage, Manner(), steps, range(stage.steps))
    print(f"There is no display to open a window on, so the replay of {name} is rendered to {folder}/ instead.")
    save_numbered(reel, folder / name, "png")
    save_reel(reel, folder / f"{name}.gif", Look(960, 540, fps=10))
    print(f"{folder}/{name}.gif: {many(len(steps), 'picture')}")
    outcome = stage.outcome
    return 0 if outcome is None or outcome.trace is None or outcome.trace.check.passed else 1


COMMAND = Command("open the window (also without naming this command)", _add, _run, order=0)
