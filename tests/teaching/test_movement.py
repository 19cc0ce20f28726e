"""A course that moves: almost every step of the five lessons plays a motion or is revealed in parts."""

from gemmviz.cuda.launch.catalog import COURSE
from gemmviz.model.records import replace
from gemmviz.shots.export import Prepared, prepare
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.movement import moves
from tests.conftest import once

MOST_STILLS = 15


def prepared(stop: LessonStep) -> Prepared:
    return prepare(stop.shot, once)


def test_few_steps_of_the_course_are_stills() -> None:
    stills = [stop.id for stop in shipped_lesson(COURSE).stops if not moves(stop, prepared(stop))]
    assert len(stills) <= MOST_STILLS, stills


def test_what_moves() -> None:
    """A picture that plays, one that is frozen at half its motion, and a frozen one that is built from steps."""
    stop = next(stop for stop in shipped_lesson("shared-memory").stops if stop.id == "tile-loading")
    assert moves(replace(stop, build=""), prepared(replace(stop, build="")))
    frozen = replace(stop, build="", shot=replace(stop.shot, moment=0.5))
    assert not moves(frozen, prepared(frozen))
    built = replace(frozen, build="steps")
    assert moves(built, prepared(built))
