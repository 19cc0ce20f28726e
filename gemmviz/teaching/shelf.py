"""What a card of a lesson shows: its length, its steps, and a short moving picture of one of them."""

import math
from collections.abc import Iterator
from contextlib import nullcontext

from msgspec import Struct, structs

from gemmviz.cuda.launch.legality import shapes_for
from gemmviz.model.messages import checkpoint
from gemmviz.render.reel import Frame
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Engine
from gemmviz.scenes.catalog import view_named
from gemmviz.shots.export import Prepared, prepare
from gemmviz.shots.picture import options_for, theme_of
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson

_CLEAREST = ("stage", "memory", "banks", "mapping", "sum")  # the clearest at the size of a thumbnail first
_WIDE, _HIGH = 1066.0, 600.0  # of a thumbnail in units: few, so that cells are large
_SMALL_SHOT = 1 << 12
_STEPS, _MOMENTS = 5, (0.15, 0.5, 0.8, 1.0)


class LessonFacts(Struct, frozen=True):
    """The facts of a shipped lesson. ``steps``: the names by which its steps are known as seen."""

    name: str
    title: str
    about: str
    minutes: float
    steps: tuple[str, ...]


def lesson_facts(name: str) -> LessonFacts:
    """The facts of a shipped lesson."""
    lesson = shipped_lesson(name)
    return LessonFacts(name, lesson.title, lesson.about, lesson.minutes, tuple(map(lesson.name_of, lesson.steps)))


def thumbnail_shot(lesson: Lesson) -> Shot | None:
    """The shot of the step that stands for a lesson: of a small run, in the clearest view. None if no step shows a run."""
    shots = [step.shot for step in lesson.steps if step.question is None and step.exercise is None]
    small = [shot for shot in shots if subject_of_view(shot.view).is_of_run and _element_count(shot) <= _SMALL_SHOT]
    ranked = sorted(small, key=lambda shot: _CLEAREST.index(shot.view) if shot.view in _CLEAREST else len(_CLEAREST))
    own = [shot for shot in ranked if shot.setup.kernel.name != "sequential"]  # a single thread moves too little
    return next(iter([*own, *ranked]), None)


def _element_count(shot: Shot) -> int:
    return sum(math.prod(shape) for shape in shapes_for(shot.setup).values())


def thumbnail_frames(lesson: Lesson, theme: str) -> Iterator[Frame]:
    """Successive frames of a few steps from the lesson's thumbnail on, without words. Drawn as they are asked for; ends early
    if the task is cancelled.
    """
    shot = thumbnail_shot(lesson)
    if shot is None:
        return
    stage = prepare(structs.replace(shot, theme=theme), lambda kernel: nullcontext(Interpreter()))
    first = max(0, min(stage.step, stage.steps - _STEPS))
    for step in range(first, min(first + _STEPS, stage.steps)):
        for moment in _MOMENTS:
            checkpoint()
            yield _thumbnail_frame(stage, step, moment)


def step_frame(step: LessonStep, theme: str, engine: Engine) -> Frame:
    """The small picture of a step without words; that of a question without its counts. Raises GemmvizError without one."""
    stage = prepare(structs.replace(step.shot, theme=theme), lambda kernel: nullcontext(engine))
    return _thumbnail_frame(stage, stage.step, stage.moment(stage.step), 0.0 if step.question is not None else 1.0)


def _thumbnail_frame(stage: Prepared, step: int, moment: float, counted: float = 1.0) -> Frame:
    shot = structs.replace(stage.shot, moment=moment)
    options = structs.replace(
        options_for(shot, theme_of(shot), (_WIDE, _HIGH), scale=0.5), words=False, timeline=False, counted=counted
    )
    view, subject = view_named(shot.view), stage.subject(step)
    return Frame(view.still(subject, options), view.motion(subject, options))
