"""The command ``gui``: opens the window, or renders to files if there is no display."""

import argparse
import os
import sys
from pathlib import Path

from gemmviz.cli.command import Command
from gemmviz.files.kinds import kind_of
from gemmviz.files.whole import is_file, is_folder
from gemmviz.launch.catalog import lesson_names
from gemmviz.model.errors import UsageError
from gemmviz.render.qt.libraries import platform_here, require_qt
from gemmviz.state.arguments import add_setup, is_set, setup_from
from gemmviz.state.shot import Shot


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
        from gemmviz.cli.without_display import render_instead  # imported here so that the window starts sooner

        return render_instead(path, shot, lesson)
    require_qt(platform_here())
    from gemmviz.gui.app import run_window

    return run_window(path, shot, lesson, args.lecture)


def _has_display() -> bool:
    if os.environ.get("QT_QPA_PLATFORM") or not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


COMMAND = Command("open the window (the default command)", _add, _run, order=0)
