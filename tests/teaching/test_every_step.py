"""Every step of the included lessons: its numbers are true, its picture can be read, and all its texts are translated.

One test holds most of what is checked of a lesson, because its kernels are run once for all checks. What is stored with the lessons
isn't run again: ``test_stored`` compares it with today's sources.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import lesson_names, plan_names
from gemmviz.render.export import save_reel
from gemmviz.render.pack import THEMES
from gemmviz.render.qt.raster import Raster, start_qt
from gemmviz.render.reel import Frame, RenderOptions
from gemmviz.render.svg import scene_svg
from gemmviz.run.choosing import opened_engines
from gemmviz.shots.export import ExportOptions, prepared
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.picture import picture
from gemmviz.shots.shot import Shot
from gemmviz.teaching.checking import LessonCheck, LessonChecker, _checked_expectation, question_faults
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import original_lesson, shipped_lesson
from gemmviz.teaching.reel import lesson_reel
from tests.conftest import stored_first
from tests.legible import too_small, wrong_with
from tests.pseudo import accented, pseudo, texts_of
from tests.shots.test_pseudo_views import once_in_pseudo, plain_texts

OWN = [name for name in lesson_names() if name not in plan_names()]
PAGED = ("slides", "streams", "two-buffers")  # with an exercise, with questions, and with two launches beside each other
PAGE = RenderOptions(960, 540)
CHECKER = LessonChecker(stored_first)  # of all lessons: many show the same launches


def numbers(lesson: Lesson, *, runs_draws: bool = False) -> Iterator[str]:
    """Every expectation is true, and every step has one. The next draw of a question has true numbers and answers that can be
    drawn; ``runs_draws``: the runs of all draws are right, too, and their pictures show something.
    """
    found = list(CHECKER.checks_of(lesson if runs_draws else structs.replace(lesson, steps=tuple(map(undrawn, lesson.steps)))))
    for drawn in () if runs_draws else (each for stop in lesson.steps for each in stop.variants[1:2]):
        with opened_engines(stored_first) as engine:
            known = Knowledge(drawn.shot, engine)
            found += (_checked_expectation(drawn, each, drawn.place, known) for each in drawn.expect)
            found += (LessonCheck(drawn, what, place, error=error) for what, place, error in question_faults(drawn, known))
    yield from (str(each.as_error()) for each in found if not each.is_true)
    if len(found) < len(lesson.steps):
        yield f"{len(found)} checks of {len(lesson.steps)} steps"


def undrawn(stop: LessonStep) -> LessonStep:
    return stop if stop.question is None else structs.replace(stop, question=structs.replace(stop.question, draws=()))


def slides(lesson: Lesson, theme: str = "dark") -> Iterator[str]:
    """Every slide, those of the answers included, is drawn, and nothing overlaps."""
    start_qt()
    reel = lesson_reel(lesson, stored_first, ExportOptions(RenderOptions(1920, 1080)), dressed(theme), answers=True)
    pictures = 0
    for number, slide in enumerate(reel.slides(), 1):
        place = f"slide {number}, {slide.title}"
        yield from (f"{place}: {each}" for each in (*wrong_with(slide.scene)[:3], *too_small(slide.scene)[:3]))
        if number % 3 == 1:  # of every kind of slide
            if not scene_svg(slide.scene, "fonts" if number == 1 else "named").startswith("<svg"):
                yield f"{place}: no SVG"
            pixels = Raster(RenderOptions(640, 360)).array(Frame(slide.scene))
            if np.count_nonzero(pixels != pixels[0, 0]) <= 6000:
                yield f"{place}: an empty picture"
        if not slide.caption or "{" in slide.caption or slide.caption.count("?") != len(re.findall(r"\w\?", slide.caption)):
            yield f"{place}: the caption {slide.caption!r}"
        pictures += 1
    if pictures != reel.slide_count:
        yield f"{pictures} slides of {reel.slide_count}"


def dressed(theme: str) -> Callable[[Shot], Shot]:
    return lambda shot: structs.replace(shot, theme=theme)


def page(lesson: Lesson, folder: Path) -> Iterator[str]:
    """Every step is in the page, in its themes."""
    reel = lesson_reel(lesson, stored_first, ExportOptions(PAGE))
    steps = list(reel.steps())
    if len(steps) != len(lesson.steps) or any(set(step.after) != set(THEMES) for step in steps):
        yield f"{len(steps)} steps of {len(lesson.steps)}"
    save_reel(structs.replace(reel, steps=lambda: iter(steps)), folder / "l.html", PAGE)
    if (folder / "l.html").stat().st_size <= 20_000:
        yield "an empty page"


def texts(lesson: Lesson, *, all_steps: bool = False) -> Iterator[str]:
    """In a pseudo-language, the picture of a step has no plain words: of the first step with a view, or of all. A text has named
    what it counts.
    """
    alike = {(each.shot.view, each.shot.against is None): each for each in reversed(lesson.steps)}
    with pseudo(), opened_engines(once_in_pseudo) as engine:
        known = Knowledge(lesson.steps[0].shot, engine)
        for stop in lesson.steps if all_steps else reversed(alike.values()):
            known = known.about(stop.shot)
            stage = prepared(known)
            fault = stage.replay.trace.stop if stage.replay is not None else None
            why = () if fault is None else (fault.sentence,)
            scene = picture(stop.shot, stage.subject(stage.step))
            yield from (f"{stop.id}: {each}" for each in plain_texts(scene, stop.shot, *why))
            until = lesson.steps[: lesson.steps.index(stop) + 1]
            said = " ".join(text for each in until for text in (each.caption, each.text, each.notes))
            shown = " ".join(text for _, text in texts_of(scene))
            counted = (word for word in ("sector", "wavefront", "bank") if accented(word) in shown)
            yield from (f"{stop.id}: no text explains {word}" for word in counted if word not in said)


@pytest.mark.usefixtures("without_fonts")
@pytest.mark.parametrize("name", OWN)
def test_every_step_is_true_drawn_and_translated(name: str) -> None:
    lesson = shipped_lesson(name)
    faults = {"numbers": numbers(lesson), "slides": slides(lesson), "texts": texts(original_lesson(name))}
    assert {what: found for what, each in faults.items() if (found := list(each))} == {}


@pytest.mark.usefixtures("without_fonts")
@pytest.mark.parametrize(
    "name", [*PAGED, *(pytest.param(each, marks=pytest.mark.nightly) for each in OWN if each not in PAGED)]
)
def test_every_step_is_in_the_page(name: str, tmp_path: Path) -> None:
    assert list(page(shipped_lesson(name), tmp_path)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", OWN)
def test_every_draw_of_a_question_is_true_and_drawn(name: str) -> None:
    assert list(numbers(shipped_lesson(name), runs_draws=True)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", OWN)
def test_every_picture_is_translated(name: str) -> None:
    assert list(texts(original_lesson(name), all_steps=True)) == []


@pytest.mark.nightly
@pytest.mark.usefixtures("without_fonts")
@pytest.mark.parametrize("theme", ["light", "print"])
@pytest.mark.parametrize("name", OWN)
def test_every_slide_is_drawn_in_every_theme(name: str, theme: str) -> None:
    assert list(slides(shipped_lesson(name), theme)) == []
