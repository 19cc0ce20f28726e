"""Lessons as TOML files: fields that are read and written, versions, translations, and the lessons that ship with gemmviz; and
the shipped kernels in groups with titles.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from msgspec import Struct, field, structs

from gemmviz.cuda.launch.catalog import (
    kernel_names,
    lesson_kernel_names,
    lesson_names,
    lesson_path,
    load_kernel,
    pattern_kernel_names,
)
from gemmviz.files.codec import (
    FieldPath,
    FormatError,
    WrittenPlace,
    check_version,
    nearest_place,
    read_fields,
    read_text,
    to_plain,
    toml_places,
    toml_text,
    toml_to_plain,
)
from gemmviz.files.languages import lesson_catalogue
from gemmviz.files.resources import kind_of, write_text
from gemmviz.model.messages import GemmvizError, Place, SettingError, UsageError, closest, language, marked, tr
from gemmviz.shots.shot import FORMAT as VIEW
from gemmviz.shots.shot import Shot, parse_shot, plain_of, shot_of
from gemmviz.teaching.lesson import Choice, Exercise, Lesson, LessonStep, Question

# A lesson with its texts in another language.

Translate = Callable[[str, str], str]  # takes a text, and where it stands: "caption of broadcast"


def translated(lesson: Lesson, translate: Translate) -> Lesson:
    """A lesson whose texts are replaced by what ``translate`` returns for them. Steps of other lessons stay, but for the
    headings above them. Raises UsageError for a caption with a number that no expectation names.
    """
    steps = tuple(_of_step(step, number, translate) for number, step in enumerate(lesson.steps, 1))
    title, about = (
        _of_text(translate, "the lesson", name, text) for name, text in (("title", lesson.title), ("about", lesson.about))
    )
    return structs.replace(lesson, title=title, about=about, steps=steps)


def _of_step(step: LessonStep, number: int, translate: Translate) -> LessonStep:
    text = partial(_of_text, translate, step.id or f"step {number}")
    step = structs.replace(step, part=text("part", step.part))
    if "/" in step.id:
        return step
    return structs.replace(
        step, title=text("title", step.title), caption=text("caption", step.caption), text=text("text", step.text),
        notes=text("notes", step.notes), question=step.question and step.question.with_texts(partial(text, "question")),
        exercise=step.exercise and _exercise(step.exercise, text),
        guide=step.guide and step.guide.with_texts(partial(text, "guide")),
    )  # fmt: skip


def _exercise(exercise: Exercise, text: Callable[[str, str], str]) -> Exercise:
    hints = tuple(text("hint", hint) for hint in exercise.hints)
    return structs.replace(exercise, task=text("task", exercise.task), hints=hints)


def _of_text(translate: Translate, step: str, name: str, text: str) -> str:
    return translate(text, f"{name} of {step}") if text else ""


# Reading and writing.

_FORMAT = "gemmviz lesson"
_LESSON_VERSION = 4
Places = Mapping[FieldPath, Place]


def lesson_text(lesson: Lesson) -> str:
    """The lesson as TOML."""
    plain = to_plain(lesson, brief=True)
    steps = [_named_kernels(step, fields) for step, fields in zip(lesson.steps, plain.get("step", ()), strict=True)]
    return toml_text({"format": _FORMAT, "version": _LESSON_VERSION, "title": lesson.title, **plain, "step": steps})


def _named_kernels(step: LessonStep, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a step with its shots as a saved view has them."""
    choices = [
        (choice, plain)
        for (name, *rest), question in step.questions.items()
        for choice, plain in zip(question.choices, (fields[name]["question"] if rest else fields[name])["choices"], strict=True)
    ]
    shown: list[tuple[LessonStep | Choice, dict[str, Any]]] = [(step, fields), *choices]
    for each, plain in shown:
        if each.shot is not None:
            plain["shot"] = plain_of(each.shot)
    return fields


def parse_lesson(text: str, file: str | None = None) -> Lesson:
    """The lesson in a text; a saved view becomes a lesson of one step. Raises FormatError or UsageError, with the place."""
    try:
        plain = toml_to_plain(text)
        kind, version = plain.pop("format", None), plain.pop("version", 0)
        if kind == VIEW:
            return Lesson("View", (LessonStep(parse_shot(text)),))
        if kind != _FORMAT:
            raise FormatError("this is neither a gemmviz lesson nor a saved view")
        places = toml_places(text)
        check_version(version, _LESSON_VERSION, f"write version = {_LESSON_VERSION}", places.get(("version",)))
        return _lesson_of_plain(plain, places, file or "")
    except GemmvizError as error:
        if file is not None:
            error.in_file(file)
        raise


def _lesson_of_plain(plain: dict[str, Any], places: Places, file: str) -> Lesson:
    if not plain.get("step"):
        raise FormatError("this lesson has no [[step]]")
    if isinstance(plain["step"], list):
        plain["step"] = [_read_step(each, ("step", number), places) for number, each in enumerate(plain["step"])]
    lesson = read_fields(plain, Lesson, lambda: places)
    steps = tuple(
        each if each.file else structs.replace(each, written=WrittenPlace(file, places, ("step", number)))
        for number, each in enumerate(lesson.steps)
    )
    for each in steps:
        if each.exercise is not None and not (each.exercise.task and each.exercise.until):
            raise FormatError('an exercise needs task = "…" and [[step.exercise.until]]', each.written.place("exercise"))
        if each.question is not None:
            _check_draws(each, each.question)
    return structs.replace(lesson, name=Path(file).stem if file else "", steps=steps)


def _check_draws(step: LessonStep, question: Question) -> None:
    """Check the draws of a question. Raises GemmvizError, with its place, for one that names no expectation, or sizes that its
    kernels can't have.
    """
    known = {each.name for expect in (step.expect, *(choice.expect for choice in question.choices)) for each in expect}
    place = step.written.place("question", "draw")
    for unknown in (name for draw in question.draws for name in draw.values if name not in known):
        raise FormatError(f"a draw expects {unknown!r}, but no expectation has this name", place)
    try:
        step.variants  # noqa: B018
    except GemmvizError as error:
        error.place = error.place or place
        raise


def _read_step(plain: Any, path: FieldPath, places: Places) -> Any:
    """A step with its shots read, or the step of another lesson that it is. Errors without a place get that of the step."""
    try:
        if isinstance(plain, dict) and "from" in plain:
            return _taken(plain, path, places)
        if isinstance(plain, dict) and "shot" not in plain:
            raise FormatError(f"step {int(path[1]) + 1} has no [step.shot]", remedy='write one, or from = "LESSON/ID"')
        return _with_shots(plain, path, places)
    except GemmvizError as error:
        error.place = error.place or nearest_place(places, path)
        raise


def _with_shots(plain: Any, path: FieldPath, places: Places) -> Any:
    """A part of a lesson in which each table ``shot`` is a Shot."""
    if isinstance(plain, list):
        return [_with_shots(each, (*path, number), places) for number, each in enumerate(plain)]
    if not isinstance(plain, dict):
        return plain
    read = {"shot": _shot(plain["shot"], (*path, "shot"), places)} if isinstance(plain.get("shot"), dict) else {}
    return {name: read.get(name) or _with_shots(each, (*path, name), places) for name, each in plain.items()}


def _shot(plain: dict[str, Any], path: FieldPath, places: Places) -> Shot:
    """A shot. Errors get the place of the field that they are about."""
    try:
        return shot_of(plain)
    except GemmvizError as error:
        error.place = error.place or nearest_place(places, (*path, *_path_in_shot(error)))
        raise


def _path_in_shot(error: GemmvizError) -> FieldPath:
    """The path of the field of a shot that an error is about."""
    match error:
        case FormatError(path=path):
            return path
        case SettingError(names=(name, *_)):
            return ("setup", name)
    return ("setup", "kernel")


class _Taken(Struct, frozen=True, forbid_unknown_fields=True):
    """A step as a plan names it: ``LESSON/ID``, the heading above it, and its own duration unless that of the lesson holds."""

    source: str = field(name="from")
    part: str = ""
    minutes: float | None = None


def _taken(plain: dict[str, Any], path: FieldPath, places: Places) -> LessonStep:
    """A step of a shipped lesson, by ``LESSON/ID``. Raises FormatError for an unknown id or further fields."""
    taken = read_fields(plain, _Taken, lambda: places, path)
    name, _, id = taken.source.partition("/")
    lesson = shipped_lesson(name)
    place = lesson.find(id)
    if place is None:
        raise FormatError(f"{name} has no step {id!r}", remedy=closest(id, [each.id for each in lesson.steps]))
    step = lesson.steps[place]
    minutes = step.minutes if taken.minutes is None else taken.minutes
    return structs.replace(step, id=f"{name}/{id}", part=taken.part, minutes=minutes)


def lesson_title(name: str) -> str:
    """The title of a shipped lesson, without parsing the rest: lists of lessons are made while a window opens."""
    catalogue = lesson_catalogue(language(), name)
    return _original_title(name) if catalogue is None else catalogue.gettext(_original_title(name))


@cache
def _original_title(name: str) -> str:
    text = read_text(lesson_path(name))
    match = re.search(r'^title = "(.*)"$', text, re.MULTILINE)
    return match[1] if match else name


def shipped_lesson(name: str) -> Lesson:
    """A lesson that ships with gemmviz, in the program's language if there is a translation. Raises UsageError for an unknown
    name.
    """
    return _in_language(name, language())


@cache
def _in_language(name: str, code: str) -> Lesson:
    lesson, catalogue = original_lesson(name), lesson_catalogue(code, name)
    return lesson if catalogue is None else translated(lesson, lambda text, where: catalogue.gettext(text))


@cache
def original_lesson(name: str) -> Lesson:
    """A lesson that ships with gemmviz, as it was written. Raises UsageError for an unknown name."""
    if name not in lesson_names():
        raise UsageError(
            f"there is no lesson {name!r}", remedy=closest(name, lesson_names()) or f"choose {', '.join(lesson_names())}"
        )
    return read_lesson(lesson_path(name))


def named_lesson(name: str) -> Lesson | None:
    """The shipped lesson of this name, or the lesson or saved view in this ``.toml`` file; None for anything else, such as a
    kernel. Raises as ``read_lesson`` does.
    """
    if kind_of(Path(name)) == "view":
        return read_lesson(Path(name))
    return shipped_lesson(name) if name in lesson_names() else None


def save_lesson(lesson: Lesson, path: Path) -> None:
    """Write a lesson. Raises GemmvizError where the file can't be written."""
    write_text(path, lesson_text(lesson))


def read_lesson(path: Path) -> Lesson:
    """The lesson in a file; a saved view becomes a lesson of one step. Raises UsageError if there is no such file, FormatError
    with file and place if it is wrong.
    """
    return parse_lesson(read_text(path), str(path))


# The shipped kernels in groups with titles: the ladder of multiplications, other problems, and the kernels of each lesson.

LADDER, PATTERNS, OTHERS = marked("Multiplication, step by step"), marked("Other problems"), marked("Other kernels")
_KERNEL_FIELD = re.compile(r'kernel = "(\w+)"')


class KernelEntry(Struct, frozen=True):
    """A kernel of a list: its name, and what it shows."""

    name: str
    title: str


class KernelGroup(Struct, frozen=True):
    """Kernels under a common title, in teaching order."""

    title: str
    kernels: tuple[KernelEntry, ...]


def kernel_groups() -> tuple[KernelGroup, ...]:
    """All shipped kernels in groups; a kernel of several lessons is in the group of the first."""
    return tuple(
        KernelGroup(tr("Lesson: {title}", title=lesson_title(name)) if name in lesson_names() else tr(name), kernels)
        for name, kernels in _kernel_groups()
    )


@cache
def _kernel_groups() -> tuple[tuple[str, tuple[KernelEntry, ...]], ...]:
    """The kernels by lesson, or by what they are."""
    groups = [(LADDER, kernel_names()), (PATTERNS, pattern_kernel_names())]
    left = dict.fromkeys(lesson_kernel_names())
    for lesson in lesson_names():
        own = [name for name in _kernels_of(lesson) if name in left]
        for name in own:
            del left[name]
        groups.append((lesson, own))
    groups.append((OTHERS, list(left)))
    return tuple((name, tuple(map(_entry_of_kernel, kernels))) for name, kernels in groups if kernels)


def _entry_of_kernel(name: str) -> KernelEntry:
    return KernelEntry(name, load_kernel(name).title)


def _kernels_of(lesson: str) -> list[str]:
    """Names of the kernels in a lesson's file, in order; a plan has none of its own."""
    return list(dict.fromkeys(_KERNEL_FIELD.findall(read_text(lesson_path(lesson)))))
