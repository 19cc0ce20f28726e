"""The entries of the gallery: each view, lesson and format with the command that makes its picture or file.

The example of a view is a step of a lesson that shows it, or one of its own where no lesson does.
"""

import argparse
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gemmviz.cli.main import parser
from gemmviz.launch.catalog import lesson_names, load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.model.records import replace
from gemmviz.render.export import formats
from gemmviz.render.format import Film, Still
from gemmviz.scenes.catalog import views
from gemmviz.state.arguments import command_words, shot_from
from gemmviz.state.shot import Against, Shot, default_shot, save_view
from gemmviz.subjects.catalog import subject_of_view
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.shelf import thumbnail_shot

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "gallery"
STEPS = {
    "stage": "shared-memory/tile-loading",
    "banks": "analysis/bank-conflict",
    "block": "coalescing/warps-2d",
    "grid": "coalescing/blocks-to-sms",
}  # the clearest of the steps that show a view; the first one where none is named
COVERS = {"course": "lecture/many-blocks", "analysis": "bank-conflict"}  # lessons that would share a picture
_LEAST_WORDS = 4  # of a caption that ends before a colon
_STAGE = ("export", "04_tiled", "-D", "TILE_WIDTH=4")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the gallery: the name of its ``file``, its texts, its command without ``gemmviz`` and the output, and the
    name of the lesson whose step it shows; "" for none.
    """

    file: str
    title: str
    sentence: str
    words: tuple[str, ...]
    lesson: str = ""

    @property
    def command(self) -> str:
        return shlex.join(["gemmviz", *self.words, "-o", self.file])


# Views


def view_entries() -> Iterator[Entry]:
    """An entry for each view, in their order."""
    for name, view in views().items():
        lesson, shot = example(name)
        yield Entry(f"{name}.png", view.title, caption(name), tuple(words_of(name, shot)), lesson)


def caption(view: str) -> str:
    """The first sentence of the docstring of a view's module, up to a colon or a semicolon after some words."""
    text = sys.modules[f"gemmviz.scenes.views.{view}_view"].__doc__ or ""
    sentence = " ".join(text.split()).partition(". ")[0].rstrip(".")
    head = re.split("[:;] ", sentence)[0]
    return f"{head if len(head.split()) >= _LEAST_WORDS else sentence}."


def example(view: str) -> tuple[str, Shot]:
    """The lesson that shows a view, "" if none does, and the shot that shows it best, in dark."""
    own = _own_examples().get(view)
    lesson, shot = ("", own) if own is not None else next(_steps_with(view))
    if subject_of_view(view).page == "benchmark":  # of all kernels and sizes
        shot = replace(shot, setup=default_shot().setup, chart=default_shot().chart)
    return lesson, replace(shot, theme="dark")


def _steps_with(view: str) -> Iterator[tuple[str, Shot]]:
    """Lessons and shots of the steps that show a view, the one in STEPS first."""
    shown = [
        (f"{name}/{stop.id}" != STEPS.get(view), name, stop.shot)
        for name in lesson_names() for stop in shipped_lesson(name).stops
        if "/" not in stop.id and stop.shot.view == view and stop.question is None and stop.exercise is None
    ]  # fmt: skip
    for _, name, shot in sorted(shown, key=lambda each: each[0]):
        yield name, shot


@cache
def _own_examples() -> dict[str, Shot]:
    """Shots of the views that no lesson shows."""
    column = next(shot for _, shot in _steps_with("memory"))
    conflict = next(shot for _, shot in _steps_with("banks"))
    *_, broadcast = (shot for _, shot in _steps_with("banks"))
    square = Problem(kind="transpose", rows=32, columns=32)
    without, padded = (setup_for(load_kernel("transpose_tiled"), square, {"TILE": 32, "PAD": pad}) for pad in (0, 1))
    return {
        "warp": replace(column, view="warp"),
        "request": replace(broadcast, view="request"),
        "costs": replace(default_shot(), view="costs"),
        "listing": replace(default_shot(), view="listing"),
        "pair": replace(conflict, setup=padded, at=replace(conflict.at, step=3), view="pair", against=Against(without)),
    }


@cache
def _parser() -> argparse.ArgumentParser:
    return parser()


def words_of(name: str, shot: Shot) -> list[str]:
    """The words of the command that exports a shot, or a saved view beside the page if no flags say all of it."""
    words = command_words(shot)
    if words[0] == "compare" and shot.view in ("pair", "grid"):
        return words
    is_complete = "--tile-width" not in words or subject_of_view(shot.view).page == "benchmark"  # refused by other views
    if words[0] == "export" and is_complete and _shot_of(words) == shot:
        for place in range(len(words) - 2, 1, -1):
            if words[place] in ("--step", "--theme") and _shot_of(words[:place] + words[place + 2 :]) == shot:
                del words[place : place + 2]  # a default
        return words
    return ["export", f"docs/gallery/{name}.toml"]


def _shot_of(words: list[str]) -> Shot:
    return shot_from(_parser().parse_args([*words, "-o", "x.png"]))


def save_views() -> None:
    """Save the views that commands read."""
    for each in view_entries():
        name = Path(each.file).stem
        if each.words[1] == f"docs/gallery/{name}.toml":
            save_view(example(name)[1], FOLDER / f"{name}.toml")


# Lessons


def lesson_entries() -> Iterator[Entry]:
    """An entry for each lesson, with the command that packs it for a course."""
    for name in lesson_names():
        lesson = shipped_lesson(name)
        yield Entry(f"{name}.zip", lesson.title, f"**{lesson.title}.** {lesson.about}", ("lesson", "pack", name), name)


def cover(lesson: Lesson) -> LessonStep:
    """The step of a lesson whose picture stands for it: that of its card in the window, unless COVERS has another one."""
    named = lesson.find(COVERS.get(lesson.name, ""))
    if named is not None:
        return lesson.stops[named]
    shot = thumbnail_shot(lesson)
    return next((stop for stop in lesson.stops if stop.shot == shot and stop.question is None), lesson.stops[0])


# Formats

FIGURE = Entry("tiled-figure.html", "Figure for a web page", "", (*_STAGE, "--steps", "1:14", "--embed"))


def format_entries() -> Iterator[Entry]:
    """An entry for each format of files: the first phase of a tiled multiplication, or a step of it; and the figure."""
    for suffix, kind in formats().items():
        part = ("--step", "1") if isinstance(kind, Still) else ("--steps", "1:14")
        size: tuple[str, ...] = ("--size", "1280x720") if isinstance(kind, Film) else ()
        if isinstance(kind, Film) and suffix not in ("mp4", "webm"):
            size = ("--size", "640x360", "--fps", "8")
        yield Entry(f"tiled.{suffix}", kind.title, "", (*_STAGE, *part, *size))
    yield FIGURE
