"""Films and pages of a lesson move from step to step as the lecture does."""

from contextlib import nullcontext

import pytest
from msgspec import structs

from gemmviz.analysis.listing import printed_source
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.render.reel import Reel, RenderOptions
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.kit.primitives import Labels, Rects, Scene
from gemmviz.shots.export import ExportOptions
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.quiz import quiz_of
from gemmviz.teaching.reel import lesson_reel
from tests.conftest import sure


def reel_of(*ids: str) -> Reel:
    engine, stops = Interpreter(), []
    for id in ids:
        lesson = shipped_lesson(id.partition("/")[0])
        stops.append(lesson.steps[sure(lesson.find(id.partition("/")[2]))])
    lesson = structs.replace(lesson, steps=tuple(stops))
    return lesson_reel(lesson, lambda kernel: nullcontext(engine), ExportOptions(RenderOptions(640, 360), hold_s=1.0))


@pytest.fixture(scope="module")
def reel() -> Reel:
    return reel_of("coalescing/uncoalesced", "coalescing/coalesced", "shared-memory/zero-padding")


def test_a_film_moves_between_its_pictures(reel: Reel) -> None:
    frames = list(reel.frames(10))
    assert len(frames) == reel.frame_count(10) == 3 * 8 + 3 * 10 + 2 * 7  # beats, pauses, and ways
    swing, fade = frames[18:25], frames[43:50]
    moving = [each for layer in swing[3].layers for each in layer.primitives if isinstance(each, Rects)]
    assert [len(each.boxes) for each in moving if len(each.boxes) == 32]
    assert all(not layer.moves or all(each.key.startswith("band") for each in layer.primitives)
               for frame in fade for layer in frame.layers)  # fmt: skip
    beat = frames[50:58]
    assert all(frame.layers == () for frame in beat)
    assert len({id(frame.still) for frame in beat}) == 2  # before and after arrival


def test_a_page_knows_the_ways(reel: Reel) -> None:
    steps = list(reel.steps())
    assert [step.way for step in steps] == ["", "morph", "fade"]
    assert [len(step.motion["dark"]) for step in steps] == 3 * [len(reel.moments)]
    assert all(isinstance(step.after["dark"], Scene) for step in steps)


def test_a_handout_of_questions_begins_with_the_whole_source() -> None:
    kernel, engine = load_kernel("09_vectorised"), Interpreter()
    quiz = quiz_of(setup_for(kernel), engine, count=2)
    slides = list(lesson_reel(quiz, lambda kernel: nullcontext(engine), ExportOptions()).slides())
    assert len(slides) == 3
    numbers = [sum(len(each.texts) for each in slide.scene.all if isinstance(each, Labels) and each.key.endswith("-numbers"))
               for slide in slides]  # fmt: skip
    assert numbers[0] == sum(bool(line) for _, line in printed_source(kernel).lines) > max(numbers[1:])
