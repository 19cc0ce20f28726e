"""A course that moves: almost every step of the five lessons plays a motion or is revealed in parts."""

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import COURSE
from gemmviz.scenes.catalog import view_named
from gemmviz.shots.export import ExportOptions, Prepared, frame_at, prepare
from gemmviz.teaching.captions import parts_of
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import stored_first

INSTANTS = (0.0, 0.25, 0.5, 0.75)  # moments of a motion that are compared with its end
MOST_STILLS = 15


def prepared(stop: LessonStep) -> Prepared:
    return prepare(stop.shot, stored_first)


def moves(stop: LessonStep, stage: Prepared) -> bool:
    """Whether something moves on the way to a step's finished picture. ``stage``: the step's shot, prepared."""
    return is_revealed(stop, stage) or plays(stage)


def is_revealed(stop: LessonStep, stage: Prepared) -> bool:
    """Whether a step has several pictures, one after the other; the answer to a question is not one of them."""
    return stop.question is None and len({id(part.shot) for part in parts_of(stop, stage.replay)}) > 1


def plays(stage: Prepared) -> bool:
    """Whether a step's picture changes while its moment, or the time of its launch, passes."""
    if not stage.is_launch and not (view_named(stage.shot.view).moves and stage.shot.moment == 1.0):
        return False
    options, last = ExportOptions(), stage.steps - 1
    if stage.is_launch:
        end = frame_at(stage, last, 1.0, options).scene
        return any(frame_at(stage, round(share * last), 1.0, options).scene != end for share in INSTANTS)
    end = frame_at(stage, stage.step, 1.0, options).scene
    return any(frame_at(stage, stage.step, share, options).scene != end for share in INSTANTS)


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.nightly)])
def test_few_steps_of_the_course_are_stills(every: int) -> None:
    stills = [stop.id for stop in shipped_lesson(COURSE).steps[::every] if not moves(stop, prepared(stop))]
    assert len(stills) <= MOST_STILLS // every, stills


def test_what_moves() -> None:
    """A picture that plays, one that is frozen at half its motion, and a frozen one that is built from steps."""
    stop = next(stop for stop in shipped_lesson("shared-memory").steps if stop.id == "tile-loading")
    assert moves(structs.replace(stop, build=""), prepared(structs.replace(stop, build="")))
    frozen = structs.replace(stop, build="", shot=structs.replace(stop.shot, moment=0.5))
    assert not moves(frozen, prepared(frozen))
    built = structs.replace(frozen, build="steps")
    assert moves(built, prepared(built))
