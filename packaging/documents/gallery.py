"""Draws the gallery of the documentation, ``docs/gallery.md`` with its pictures.

The picture of a view is what the command on the page exports, that of a lesson a step of it; both are reduced. The example of a
view is a step of a lesson that shows it, or one of its own where no lesson does.
"""

import argparse
import io
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import structs
from PIL import Image

from documents import DOCS, ROOT
from gemmviz.cli.main import main as gemmviz
from gemmviz.cli.main import parser
from gemmviz.cuda.launch.catalog import COURSE, lesson_names, load_kernel, plan_names
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import many, tr
from gemmviz.model.problem import Problem
from gemmviz.render.export import formats, save_frame
from gemmviz.render.reel import Film, Still
from gemmviz.run.choosing import engine_for, with_stored_answers
from gemmviz.scenes.catalog import view_named, views
from gemmviz.scenes.views import FAMILIES
from gemmviz.shots.arguments import command_words, shot_from
from gemmviz.shots.export import TEMPLATES, ExportOptions
from gemmviz.shots.shot import Against, Shot, default_shot, save_view
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.pack import kernels_of, pack_files
from gemmviz.teaching.reel import lesson_reel
from gemmviz.teaching.shelf import thumbnail_shot

PAGE, FOLDER = DOCS / "gallery.md", DOCS / "gallery"
WIDTH, HEIGHT, COLORS = 640, 360, 96  # of a picture on the page
_INTRODUCTION = """\
# Gallery

<!-- made by make document WHAT=gallery -->

Every lesson, view and format, with the command that makes it. Add `-o FILE` to the commands of views: the suffix makes a
picture, a slide, a film or a page. Commands that name a file in `docs/gallery` need a checkout.
"""
_LESSONS = """\
## Lessons, and what to send to your course

```
gemmviz lesson pack LESSON -o LESSON.zip    # an archive of an included lesson, or of your own .toml file
gemmviz export LESSON -o LESSON.pptx        # slides alone; also .pdf, .mp4 and .html
```

A lesson without questions or exercises has no worksheets, one without questions no `quiz.xml`.
"""

_FIGURE = """\
The figure, on this page:

```{raw} html
:file: ../assets/gallery/tiled-figure.html
```
"""
STEPS = {
    "stage": "shared-memory/tile-loading",
    "banks": "analysis/bank-conflict",
    "block": "coalescing/warps-2d",
    "grid": "coalescing/blocks-to-sms",
}  # the clearest of the steps that show a view; the first one where none is named
COVERS = {"course": "lecture/many-blocks", "analysis": "bank-conflict"}  # lessons that would share a picture
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
    """The first sentence of the docstring of a view's module, or of its function if the module has several views, up to a
    colon, a semicolon or a comma after some words; the title of a chart that has none.
    """
    module = sys.modules.get(f"gemmviz.scenes.views.{view}_view")
    if any(view in family for family in FAMILIES.values()):
        shown = view_named(view)
        text = shown.draw.__doc__ or (shown.chart and shown.chart.__doc__) or ""
    else:
        text = tr(view_named(view).title) if module is None else module.__doc__ or ""
    sentence = " ".join(text.split()).partition(". ")[0].rstrip(".")
    for mark, least in (("[:;] ", 4), (", ", 8)):
        ends = (found.start() for found in re.finditer(f"{mark}|$", sentence))
        sentence = next((sentence[:end] for end in ends if len(sentence[:end].split()) >= least), sentence)
    return f"{sentence}."


def example(view: str) -> tuple[str, Shot]:
    """The lesson that shows a view, "" if none does, and the shot that shows it best, in dark."""
    own = _own_examples().get(view)
    lesson, shot = ("", own) if own is not None else next(_steps_with(view))
    if subject_of_view(view).page == "benchmark":  # of all kernels and sizes
        shot = structs.replace(shot, setup=default_shot().setup, chart=default_shot().chart)
    return lesson, structs.replace(shot, theme="dark")


def _steps_with(view: str) -> Iterator[tuple[str, Shot]]:
    """Lessons and shots of the steps that show a view, the one in STEPS first."""
    shown = [
        (f"{name}/{stop.id}" != STEPS.get(view), name, stop.shot)
        for name in lesson_names() for stop in shipped_lesson(name).steps
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
    buffered, pipelined = (setup_for(load_kernel(name)) for name in ("11_double_buffered", "12_pipelined"))
    return {
        "warp": structs.replace(column, view="warp"),
        "request": structs.replace(broadcast, view="request"),
        "costs": structs.replace(default_shot(), view="costs"),
        "listing": structs.replace(default_shot(), view="listing"),
        "pipeline": structs.replace(
            default_shot(), setup=pipelined, view="pipeline", at=structs.replace(default_shot().at, step=40)
        ),
        "pair_facts": structs.replace(default_shot(), setup=pipelined, view="pair_facts", against=Against(buffered)),
        "pair": structs.replace(
            conflict, setup=padded, at=structs.replace(conflict.at, step=3), view="pair", against=Against(without)
        ),
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
    """An entry for each lesson, with the command that packs it for a course. Of the plans, which have the steps of lessons, the
    whole course has one.
    """
    for name in (name for name in lesson_names() if name not in plan_names() or name == COURSE):
        lesson = shipped_lesson(name)
        yield Entry(f"{name}.zip", lesson.title, lesson.about, ("lesson", "pack", name), name)


def cover(lesson: Lesson) -> LessonStep:
    """The step of a lesson whose picture stands for it: that of its card in the window, unless COVERS has another one."""
    named = lesson.find(COVERS.get(lesson.name, ""))
    if named is not None:
        return lesson.steps[named]
    shot = thumbnail_shot(lesson)
    return next((stop for stop in lesson.steps if stop.shot == shot and stop.question is None), lesson.steps[0])


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


# Templates

_TEMPLATE_TITLE = "Each thread multiplies a row of one tile by a column of the other"


def template_entries() -> Iterator[Entry]:
    """An entry for each template of slides and print."""
    for name, template in TEMPLATES.items():
        words = (*_STAGE, "--step", "9", "--template", name, "--title", _TEMPLATE_TITLE)
        yield Entry(f"template-{name}.png", template.title, "", words)


# Pictures


def picture_of(entry: Entry, folder: Path) -> Path:
    """The full picture of an entry: of a view as its command makes it, of a lesson its cover."""
    path = folder / f"{picture_name(entry)}.png"
    if entry.words[0] != "lesson":
        gemmviz([*entry.words, "-o", str(path)])
        return path
    engine, lesson = engine_for("cpu"), shipped_lesson(entry.lesson)
    reel = lesson_reel(
        structs.replace(lesson, steps=(cover(lesson),)),
        with_stored_answers(lambda kernel: nullcontext(engine)), ExportOptions(),
        lambda shot: structs.replace(shot, theme="dark"),
    )  # fmt: skip
    save_frame(next(reel.slides()).scene, path)
    return path


def picture_name(entry: Entry) -> str:
    """The name of an entry's picture, without its suffix."""
    return f"lesson-{entry.lesson}" if entry.words[0] == "lesson" else Path(entry.file).stem


def reduced(path: Path, size: tuple[int, int] = (WIDTH, HEIGHT)) -> Image.Image:
    """A picture in the size that it has on a page."""
    with Image.open(path) as full:
        small = full.convert("RGB")
    small.thumbnail(size, Image.Resampling.LANCZOS)
    return small


def compressed(picture: Image.Image, colors: int = COLORS, passes: int = 1) -> bytes:
    """A picture as a PNG with few colours, which ``passes`` of k-means improve."""
    data = io.BytesIO()
    picture.quantize(colors, kmeans=passes, dither=Image.Dither.NONE).save(data, "png", optimize=True)
    return data.getvalue()


# The page


def page() -> str:
    """The text of the page."""
    shown = list(view_entries())
    parts = [
        _INTRODUCTION,
        _LESSONS,
        pack_list(),
        cards(map(lesson_card, lesson_entries())),
    ]
    for name in ("", *lesson_names()):
        group = [view_card(each) for each in shown if each.lesson == name]
        title = f"Views: *{shipped_lesson(name).title}*" if name else "Views of any run"
        parts += [f"## {title}\n", cards(group)] if group else []
    parts += ["## Templates\n", cards(map(view_card, template_entries()))]
    return "\n".join([*parts, "## Formats\n", format_list()])


def cards(texts: Iterable[str]) -> str:
    """Cards as a grid."""
    return "\n".join([":::{container} gallery", *texts, ":::", ""])


def view_card(entry: Entry) -> str:
    """The picture of a view with its title, a sentence and the command."""
    sentence = f"{entry.sentence}\n  " if entry.sentence else ""
    return f"- {_picture(entry)}\n  {sentence}`{shlex.join(['gemmviz', *entry.words])}`"


def lesson_card(entry: Entry) -> str:
    """The picture of a lesson with its title, what it is about, its size and its name."""
    return f"- {_picture(entry)}\n  {entry.sentence} {lesson_facts(entry)}\n  `{entry.lesson}`"


def _picture(entry: Entry) -> str:
    return f"![{entry.title}](gallery/{picture_name(entry)}.png)"


def lesson_facts(entry: Entry) -> str:
    """The size of a lesson."""
    lesson = shipped_lesson(entry.lesson)
    questions = sum(stop.question is not None for stop in lesson.steps)
    exercises = sum(stop.exercise is not None for stop in lesson.steps)
    parts = [(len(lesson.steps), "step"), (questions, "question"), (exercises, "exercise"), (len(kernels_of(lesson)), "kernel")]
    size = ", ".join(many(count, word) for count, word in parts if count)
    return f"{size}; {lesson.minutes:g} minutes."


def pack_list() -> str:
    """A list of the files of a pack, of a lesson that has all kinds."""
    lesson = shipped_lesson("slides")
    files = [each for each in pack_files(lesson, engine_for("cpu")) if not each.name.startswith("kernels/")]
    lines = [f"- `{each.name.replace(lesson.name, 'LESSON')}`: {each.purpose}" for each in files]
    return "\n".join([*lines, "- `kernels/`: the kernels of the lesson, as CUDA source", ""])


def format_list() -> str:
    """Links to the example of each format, and the command that makes one."""
    entries = [each for each in format_entries() if (ROOT / "assets" / "gallery" / each.file).is_file()]
    links = (f"[{each.title}](../assets/gallery/{each.file})" for each in entries)
    command = next(each.command for each in entries if each.file.endswith(".pdf"))
    return "\n".join([f"{', '.join(links)}. The PDF is from `{command}`.", "", _FIGURE])


def gallery() -> None:
    """Write the page, its pictures, and the views that its commands read."""
    FOLDER.mkdir(exist_ok=True)
    save_views()
    total = 0
    with TemporaryDirectory() as folder:
        for entry in (*lesson_entries(), *view_entries(), *template_entries()):
            data = compressed(reduced(picture_of(entry, Path(folder))))
            (FOLDER / f"{picture_name(entry)}.png").write_bytes(data)
            total += len(data)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{len(list(FOLDER.glob('*.png')))} pictures, {total // 1024} KiB")
