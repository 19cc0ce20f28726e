"""Draws the gallery of the documentation, ``docs/gallery.md`` with its pictures: make gallery.

The picture of a view is what the command on the page exports, that of a lesson a step of it; both are reduced.
"""

import io
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from gallery_entries import FOLDER, ROOT, Entry, cover, format_entries, lesson_entries, save_views, view_entries
from PIL import Image

from gemmviz.cli.main import main as gemmviz
from gemmviz.export.prepare import ExportOptions
from gemmviz.launch.catalog import lesson_names
from gemmviz.model.records import replace
from gemmviz.model.words import many
from gemmviz.render.export import save_frame
from gemmviz.run.choosing import engine_for
from gemmviz.subjects.gathering import with_stored_answers
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.pack import kernels_of, pack_files
from gemmviz.teaching.reel import lesson_reel

PAGE = ROOT / "docs" / "gallery.md"
WIDTH, HEIGHT, COLORS = 640, 360, 96  # of a picture on the page
_INTRODUCTION = """\
# Gallery

<!-- made by make gallery -->

Every lesson, view and format, with the command that makes it. Another suffix makes a slide, a film or a page instead of a
picture. Commands that name a file in `docs/gallery` need a checkout.
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


def picture_of(entry: Entry, folder: Path) -> Path:
    """The full picture of an entry: of a view as its command makes it, of a lesson its cover."""
    path = folder / f"{picture_name(entry)}.png"
    if entry.words[0] != "lesson":
        gemmviz([*entry.words, "-o", str(path)])
        return path
    engine, lesson = engine_for("cpu"), shipped_lesson(entry.lesson)
    reel = lesson_reel(
        replace(lesson, stops=(cover(lesson),)), with_stored_answers(lambda kernel: nullcontext(engine)), ExportOptions(),
        lambda shot: replace(shot, theme="dark"),
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


def compressed(picture: Image.Image) -> bytes:
    """A picture as a PNG with few colours."""
    data = io.BytesIO()
    picture.quantize(COLORS, kmeans=1, dither=Image.Dither.NONE).save(data, "png", optimize=True)
    return data.getvalue()


# The page


def page() -> str:
    """The text of the page."""
    shown = list(view_entries())
    parts = [
        _INTRODUCTION,
        _LESSONS,
        pack_table(),
        cards(list(lesson_entries()), lesson_facts),
    ]
    for name in ("", *lesson_names()):
        group = [each for each in shown if each.lesson == name]
        title = f"Views of the lesson *{shipped_lesson(name).title}*" if name else "Views of any run"
        parts += [f"## {title}\n", cards(group, lambda entry: "")] if group else []
    return "\n".join([*parts, "## Formats\n", format_table()])


def cards(entries: Sequence[Entry], facts: Callable[[Entry], str]) -> str:
    """Entries as a grid of cards: picture with its title, sentence, further ``facts`` and the command."""
    return "\n".join([":::::{container} gallery", *(_card(each, facts(each)) for each in entries), ":::::", ""])


def _card(entry: Entry, facts: str) -> str:
    picture = f"![{entry.title}](gallery/{picture_name(entry)}.png)"
    sentences = " ".join(filter(None, [entry.sentence, facts]))
    return "\n".join(["::::{container} card", f"{picture}\n\n{sentences}\n\n`{entry.command}`", "::::"])


def lesson_facts(entry: Entry) -> str:
    """The size of a lesson."""
    lesson = shipped_lesson(entry.lesson)
    questions = sum(stop.question is not None for stop in lesson.stops)
    exercises = sum(stop.exercise is not None for stop in lesson.stops)
    parts = [(len(lesson.stops), "step"), (questions, "question"), (exercises, "exercise"), (len(kernels_of(lesson)), "kernel")]
    size = ", ".join(many(count, word) for count, word in parts if count)
    return f"{size}; {lesson.minutes:g} minutes."


def pack_table() -> str:
    """A table of the files of a pack, of a lesson that has all kinds."""
    lesson = shipped_lesson("slides")
    files = [each for each in pack_files(lesson, engine_for("cpu")) if not each.name.startswith("kernels/")]
    rows = [f"| `{each.name.replace(lesson.name, 'LESSON')}` | {each.purpose} |" for each in files]
    return "\n".join(
        ["| file | contents |", "|---|---|", *rows, "| `kernels/` | the kernels of the lesson, as CUDA source |", ""]
    )


def format_table() -> str:
    """A table of the formats, each with its example and the command that makes it."""
    rows = [
        f"| [{each.title}](../assets/gallery/{each.file}) | `{each.command}` |"
        for each in format_entries() if (ROOT / "assets" / "gallery" / each.file).is_file()
    ]  # fmt: skip
    return "\n".join(["| example | command |", "|---|---|", *rows, "", _FIGURE])


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    save_views()
    total = 0
    with TemporaryDirectory() as folder:
        for entry in (*lesson_entries(), *view_entries()):
            data = compressed(reduced(picture_of(entry, Path(folder))))
            (FOLDER / f"{picture_name(entry)}.png").write_bytes(data)
            total += len(data)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{len(list(FOLDER.glob('*.png')))} pictures, {total // 1024} KiB")


if __name__ == "__main__":
    main()
