"""The command ``gui``: opens the window, or renders to files if there is no display."""

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path

from msgspec import structs

from gemmviz.cli.command import Command
from gemmviz.cli.running import ProgressBar, interruptible
from gemmviz.cuda.launch.catalog import lesson_names
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.recordings import read_benchmark
from gemmviz.files.resources import file_stem, is_file, is_folder, kind_of
from gemmviz.files.trace_file import read_trace
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError, UsageError, capital, many
from gemmviz.model.trace import Outcome
from gemmviz.render.export import save_numbered, save_reel
from gemmviz.render.qt.libraries import platform_here, require_qt
from gemmviz.render.reel import RenderOptions
from gemmviz.run.choosing import engine_for
from gemmviz.run.engine import Engine
from gemmviz.run.loader import open_kernel
from gemmviz.shots.arguments import add_setup, is_set, setup_from
from gemmviz.shots.export import ExportOptions, Prepared, prepare, prepare_benchmark, prepare_run, run_reel
from gemmviz.shots.shot import Shot, default_shot
from gemmviz.teaching.lesson_file import named_lesson
from gemmviz.teaching.reel import lesson_reel


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE|FOLDER|LESSON", required=False)
    parser.add_argument("--lecture", action="store_true", help="start the lecture, as F5 does")


def _run(args: argparse.Namespace) -> int:
    path = None if args.kernel is None else Path(args.kernel)
    kind = "kernel" if path is None else kind_of(path)
    lesson = args.kernel if path is not None and args.kernel in lesson_names() and not is_file(path) else ""
    if path is not None and (kind != "kernel" or lesson) and is_set(args):
        raise UsageError(f"{path.name} has its own sizes and parameters", remedy="leave out -m, -n, -k, -D and similar options")
    shot = None
    if lesson:
        path = None
    elif path is not None and is_folder(path):
        if not _has_display():
            raise UsageError("a folder needs a window to choose from", file=str(path), remedy=f"list it: gemmviz launch {path}")
    elif kind == "kernel" and (is_set(args) or (path is not None and not is_file(path))):
        path, shot = None, Shot(setup_from(args))
    if not _has_display():
        return render_instead(path, shot, lesson)
    require_qt(platform_here())
    from gemmviz.gui.app import run_window

    return run_window(path, shot, lesson, args.lecture)


def _has_display() -> bool:
    if os.environ.get("QT_QPA_PLATFORM") or not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


COMMAND = Command("open the window (the default command)", _add, _run, order=0)


# Rendering to files, on a machine without a display.

_FOLDER, _MOST_FRAMES = Path("out"), 60


def render_instead(path: Path | None, shot: Shot | None, lesson: str) -> int:
    """Write pictures and an animation into the folder ``out``: the steps of a lesson, or up to 60 evenly spread steps of a run.

    The arguments are those of ``run_window``. The exit code is 1 if C is wrong.
    """
    with interruptible():
        return _render(path, shot, lesson)


def _render(path: Path | None, shot: Shot | None, lesson: str) -> int:
    on_progress = ProgressBar(str(_FOLDER)).update
    named = named_lesson(lesson or str(path or ""))
    is_right = True
    if named is not None and not named.is_view:
        name, reel = file_stem(named.name or "lesson"), lesson_reel(named, _cpu_engine_of, ExportOptions())
    else:
        stage = _staged(path, shot if named is None else named.steps[0].shot)
        steps = range(0, stage.steps, max(1, -(-stage.steps // _MOST_FRAMES)))
        name, reel = file_stem(stage.shot.setup.kernel.name), run_reel(stage, ExportOptions(), list(steps), range(stage.steps))
        outcome = stage.outcome
        is_right = outcome is None or outcome.trace is None or outcome.trace.check.passed
    print(f"There is no display for a window. Rendering {name} to {_FOLDER}/ instead.")
    save_numbered(reel, _FOLDER / name, "png", on_progress=on_progress)
    film = _FOLDER / f"{name}.gif"
    try:
        save_reel(reel, film, RenderOptions(960, 540, fps=10), on_progress)
        print(f"{film}: {many(reel.slide_count, 'picture')}")
    except GemmvizError as error:
        if error.id != "installation":
            raise
        print(f"{_FOLDER / name}/: {many(reel.slide_count, 'picture')}. {capital(str(error))}")
    return 0 if is_right else 1


def _staged(path: Path | None, shot: Shot | None) -> Prepared:
    """Run what the window would show first."""
    if path is not None and kind_of(path) == "trace":
        trace = read_trace(path)
        return prepare_run(Shot(trace.setup), Outcome(trace, trace.by))
    if path is not None and kind_of(path) == "benchmark":
        return prepare_benchmark(structs.replace(default_shot(), view="rate"), read_benchmark(path))
    if shot is None and path is not None:
        shot = Shot(setup_for(open_kernel(str(path))))
    return prepare(shot or default_shot(), _cpu_engine_of)


def _cpu_engine_of(kernel: KernelSpec) -> closing[Engine]:
    return closing(engine_for("cpu"))
