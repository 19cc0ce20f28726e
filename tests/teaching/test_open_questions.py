"""Pictures of open questions: nothing in them is a count, at any size of the frame."""

from contextlib import nullcontext

import numpy as np
import pytest

from gemmviz.export.prepare import ExportOptions, frame_at, prepare
from gemmviz.launch.catalog import COURSE
from gemmviz.render.reel import RenderOptions
from gemmviz.run.choosing import engine_for
from gemmviz.scenes.kit.counting import SHAPES, counted_text
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Squares
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.reveal import Reveal, parts_of

ENGINE = engine_for("cpu")
QUESTIONS = [stop for stop in shipped_lesson(COURSE).stops if stop.question is not None]


def texts_in(each: Primitive) -> list[str]:
    """All texts of a primitive, with what is shown when one points at it."""
    match each:
        case Labels():
            return list(each.texts)
        case Cells() | Squares():
            tables = (each.labels, each.tips if isinstance(each, Cells) else None)
            return [str(text) for table in tables if table is not None for text in np.unique(table)]
    return []


def counts_in(part: Reveal, size: tuple[int, int]) -> list[str]:
    """Keys of shapes that are counts, and texts with a count, outside the caption."""
    stage = prepare(part.shot, lambda kernel: nullcontext(ENGINE))
    manner = ExportOptions(RenderOptions(width=size[0], height=size[1]))
    scene = frame_at(stage, stage.step, stage.moment(stage.step), manner, caption=part.caption).scene
    shown = [each for each in scene.all if not each.key.startswith("band")]
    shapes = [each.key for each in shown if not isinstance(each, Labels) and any(shape in each.key for shape in SHAPES)]
    return [*shapes, *(text for each in shown for text in texts_in(each) if counted_text(text, 0.0) != text)]


@pytest.mark.parametrize("stop", QUESTIONS, ids=lambda stop: stop.id)
@pytest.mark.parametrize("size", [(1600, 900), (1920, 1080), (1024, 640)])
def test_nothing_is_a_count_until_the_answer(stop: LessonStep, size: tuple[int, int]) -> None:
    assert counts_in(parts_of(stop)[0], size) == []


def test_the_answer_shows_its_counts() -> None:
    stop = next(stop for stop in QUESTIONS if stop.id.endswith("question-lanes"))
    assert any("32 sectors moved" in text for text in counts_in(parts_of(stop)[1], (1600, 900)))
