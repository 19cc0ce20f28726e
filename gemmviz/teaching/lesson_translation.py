"""A lesson with its texts in another language. The numbers in them keep their names, as ``{name}``."""

from collections.abc import Callable
from functools import partial

from gemmviz.model.records import replace
from gemmviz.teaching.lesson import Exercise, Lesson, LessonStep

Translate = Callable[[str, str], str]  # takes a text, and where it stands: "caption of broadcast"


def translated(lesson: Lesson, translate: Translate) -> Lesson:
    """A lesson whose texts are replaced by what ``translate`` returns for them. Steps of other lessons stay. Raises UsageError
    for a caption with a number that no expectation names.
    """
    stops = tuple(stop if "/" in stop.id else _of_step(stop, number, translate) for number, stop in enumerate(lesson.stops, 1))
    title, about = (
        _of_text(translate, "the lesson", name, text) for name, text in (("title", lesson.title), ("about", lesson.about))
    )
    return replace(lesson, title=title, about=about, stops=stops)


def _of_step(step: LessonStep, number: int, translate: Translate) -> LessonStep:
    text = partial(_of_text, translate, step.id or f"step {number}")
    return replace(
        step, title=text("title", step.title), caption=text("caption", step.caption), text=text("text", step.text),
        notes=text("notes", step.notes), question=step.question and step.question.with_texts(partial(text, "question")),
        exercise=step.exercise and _exercise(step.exercise, text),
    )  # fmt: skip


def _exercise(exercise: Exercise, text: Callable[[str, str], str]) -> Exercise:
    hints = tuple(text("hint", hint) for hint in exercise.hints)
    return replace(exercise, task=text("task", exercise.task), hints=hints)


def _of_text(translate: Translate, step: str, name: str, text: str) -> str:
    return translate(text, f"{name} of {step}") if text else ""
