"""The gallery of the documentation: every view, lesson and format is in it, its commands work, and its pictures are what they make."""

import re
import shlex
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from documents import gallery
from documents.gallery import FIGURE, FOLDER, Entry, format_entries, lesson_entries, template_entries, view_entries
from PIL import Image

from gemmviz.cli.main import main, parser
from gemmviz.cuda.launch.catalog import COURSE, lesson_names, plan_names
from gemmviz.render.export import formats
from gemmviz.scenes.catalog import views
from gemmviz.shots.export import TEMPLATES

ROOT = Path(__file__).resolve().parent.parent
LESSONS = [f"lesson-{name}" for name in lesson_names() if name not in plan_names() or name == COURSE]
PICTURES = [*views(), *LESSONS, *(f"template-{name}" for name in TEMPLATES)]
FAR, MOST_FAR = 24, 0.01  # levels of a channel by which a pixel may differ; share of pixels that may differ more
MOST_BYTES = 3 << 20


@cache
def pictured() -> dict[str, Entry]:
    return {gallery.picture_name(each): each for each in (*view_entries(), *lesson_entries(), *template_entries())}


def test_every_view_lesson_and_format_is_in_it() -> None:
    assert sorted(pictured()) == sorted(PICTURES)
    assert [each.file for each in format_entries()] == [*(f"tiled.{suffix}" for suffix in formats()), FIGURE.file]
    assert {path.stem for path in FOLDER.glob("*.png")} == {*PICTURES}, "make document WHAT=gallery"


def test_the_page_is_that_of_the_program() -> None:
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page(), "make document WHAT=gallery"


def test_every_command_is_one() -> None:
    known = parser()
    for entry in (*pictured().values(), *format_entries()):
        words = shlex.split(entry.command)
        assert words[0] == "gemmviz"
        assert words[-2:] == ["-o", entry.file]
        known.parse_args(words[1:])
        saved = [ROOT / word for word in words if word.startswith("docs/")]
        assert all(path.is_file() for path in saved), "make document WHAT=gallery"


def test_it_stays_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST_BYTES


def test_every_view_has_a_command_for_a_slide_a_film_and_a_page() -> None:
    known = parser()
    for name in views():
        for suffix in ("pptx", "mp4", "html"):
            known.parse_args([*pictured()[name].words, "-o", f"{name}.{suffix}"])


def test_every_lesson_has_a_command_for_slides_a_film_and_a_page() -> None:
    known = parser()
    commands = re.findall(r"^gemmviz (.*LESSON[^#]*)", gallery.PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert commands
    for name in lesson_names():
        for command in commands:
            known.parse_args(shlex.split(command.replace("LESSON", name)))
        for suffix in ("pptx", "pdf", "mp4", "html"):
            known.parse_args(["export", name, "-o", f"{name}.{suffix}"])


def test_every_format_has_an_example() -> None:
    assert [each.file for each in format_entries() if not (ROOT / "assets" / "gallery" / each.file).is_file()] == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_its_command_makes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    made = np.asarray(gallery.reduced(gallery.picture_of(pictured()[name], tmp_path)), np.int16)
    with Image.open(FOLDER / f"{name}.png") as picture:
        kept = np.asarray(picture.convert("RGB"), np.int16)
    assert made.shape == kept.shape
    far = (np.abs(made - kept).max(axis=-1) > FAR).mean()
    assert far < MOST_FAR, f"{far:.1%} of the pixels differ: look at it, then make document WHAT=gallery"


@pytest.mark.parametrize(
    "file",
    [
        "tiled.svg",
        "tiled.html",
        *(pytest.param(each, marks=pytest.mark.nightly) for each in ("tiled.gif", "tiled.pptx", FIGURE.file)),
    ],
)
def test_an_example_of_a_format_is_what_its_command_makes(file: str, tmp_path: Path) -> None:
    """One of each kind: a picture, a film, slides, a page and a figure. The same input gives the same bytes."""
    entry = next(each for each in format_entries() if each.file == file)
    assert main([*entry.words, "-o", str(tmp_path / entry.file)]) == 0
    kept = ROOT / "assets" / "gallery" / entry.file
    assert (tmp_path / entry.file).read_bytes() == kept.read_bytes(), "look at it, then make document WHAT=pictures"
