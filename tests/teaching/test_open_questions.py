"""Pictures of open questions: nothing in them is a count, at any size of the frame."""

import dataclasses

import pytest

from gemmviz.cuda.launch.catalog import lesson_names, plan_names
from gemmviz.render.reel import RenderOptions
from gemmviz.shots.export import ExportOptions, frame_at, prepare
from gemmviz.teaching.captions import Reveal, parts_of
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import stored_first
from tests.pseudo import texts_of
from tests.shots.test_asked_views import COUNT

COUNTS = ("count", "lanes", "banks")
QUESTIONS = [
    stop
    for name in lesson_names()
    if name not in plan_names()
    for stop in shipped_lesson(name).steps
    if stop.question is not None
]


def counts_in(part: Reveal, *sizes: tuple[int, int]) -> list[str]:
    """Keys of shapes that are counts, and texts with a count, outside the caption, in frames of these sizes."""
    stage, found = prepare(part.shot, stored_first), list[str]()
    for width, height in sizes:
        manner = ExportOptions(RenderOptions(width=width, height=height))
        scene = frame_at(stage, stage.step, stage.moment(stage.step), manner, caption=part.caption).scene
        shown = dataclasses.replace(scene, words=tuple(each for each in scene.words if each.meaning != "band"))
        found += [each.key for each in shown.all if each.meaning in COUNTS]
        found += [text for _, text in texts_of(shown) if COUNT.search(text)]
    return found


@pytest.mark.parametrize("stop", QUESTIONS, ids=lambda stop: stop.id)
def test_nothing_is_a_count_until_the_answer(stop: LessonStep) -> None:
    assert counts_in(parts_of(stop)[0], (1600, 900), (1920, 1080), (1024, 640)) == []


@pytest.mark.parametrize("stop", [stop for stop in QUESTIONS if len(stop.variants) > 1], ids=lambda stop: stop.id)
def test_nothing_is_a_count_in_another_draw(stop: LessonStep) -> None:
    assert [counts_in(parts_of(each)[0], (1600, 900)) for each in stop.variants[1:]] == [[]] * (len(stop.variants) - 1)


def test_facts_that_are_not_asked_for_stay() -> None:
    """The number of blocks stays beside the question how many threads return; that of threads does not."""
    stop = next(stop for stop in QUESTIONS if stop.id == "question-returned")
    part = parts_of(stop)[0]
    stage = prepare(part.shot, stored_first)
    texts = [text for _, text in texts_of(frame_at(stage, 0, 1.0, ExportOptions(), caption=part.caption).scene)]
    assert "grid: 3 × 3 = 9 blocks" in texts
    assert "? threads in all" in texts
    of_blocks = next(stop for stop in QUESTIONS if stop.id == "question-g80")
    assert "block" not in parts_of(of_blocks)[0].caption.facts
    assert parts_of(of_blocks)[1].caption.facts == frozenset()  # nothing is hidden then


def test_the_answer_shows_its_counts() -> None:
    stop = next(stop for stop in QUESTIONS if stop.id.endswith("question-lanes"))
    assert any("32 sectors moved" in text for text in counts_in(parts_of(stop)[1], (1600, 900)))
