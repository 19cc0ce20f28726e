"""A course as data: shots with words, what is expected of each, questions and exercises, to and from TOML."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from gemmviz.files.codec import FormatError, from_plain, read_text, to_plain, toml_text, toml_to_plain
from gemmviz.files.kinds import kind_of
from gemmviz.files.resources import resource
from gemmviz.files.whole import write_text
from gemmviz.launch.catalog import LESSONS_FOLDER, lesson_names
from gemmviz.model.errors import GemmvizError, Place, UsageError, closest
from gemmviz.state.shot import FORMAT as VIEW
from gemmviz.state.shot import Shot, parse_shot, plain_of, shot_of
from gemmviz.teaching.answer_keys import key_names

FORMAT = "gemmviz lesson"
VERSION = 2
Build = Literal["", "phases", "steps", "terms", "lanes", "blanks"]
BUILDS: tuple[Build, ...] = get_args(Build)
Answer = bool | int | float | str
_ERRORS = ("refusal", "fault")  # of which the words are expected, not all of the sentence
_FIELD = re.compile(r"\{(\w+)\}")
_MOST_MINUTES, _MOST_CHOICES = 600.0, 26


@dataclass(frozen=True, slots=True)
class Expectation:
    """``what``: a quantity in words (see ``gemmviz.teaching.quantities``); ``value``: what it must be; a number
    is compared in the digits that are written. ``about``: that it may be so much off, as a share. ``name``: by which a caption
    says it, as ``{name}``. ``line``: where it stands in its file, 0 for nowhere.
    """

    what: str
    value: Answer
    name: str = ""
    about: float = 0.0
    line: int = field(default=0, compare=False)

    @property
    def digits(self) -> int:
        """So many are written after the point."""
        exponent = Decimal(str(self.value)).as_tuple().exponent if isinstance(self.value, float) else 0
        return max(0, -exponent) if isinstance(exponent, int) and self.value != int(self.value) else 0

    def is_met_by(self, found: Answer) -> bool:
        """Whether a value is what is expected: the same text, of an error its words; a number in the digits that are here."""
        value = self.value
        if isinstance(value, str) or isinstance(found, str):
            return str(value) in str(found) if self.what in _ERRORS and value else str(found) == str(value)
        if not math.isfinite(found):
            return False
        if self.about:
            return abs(found - value) <= self.about * abs(value)
        if isinstance(value, bool) or isinstance(found, bool):
            return bool(found) == bool(value)
        return round(float(found), self.digits) == round(float(value), self.digits)


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a question; ``why`` it is right or wrong, and the ``shot`` that shows it."""

    text: str
    right: bool = False
    why: str = ""
    shot: Shot | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Raises UsageError for less than two choices, for more than there are letters, and unless one of them is right."""

    text: str
    choices: tuple[Choice, ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.choices) <= _MOST_CHOICES or sum(choice.right for choice in self.choices) != 1:
            right = sum(choice.right for choice in self.choices)
            raise UsageError(
                f"the question {self.text!r} has {len(self.choices)} choices, {right} of them right",
                remedy=f"write 2 to {_MOST_CHOICES}, one of them with right = true",
            )

    @property
    def right(self) -> int:
        """The place of the right one."""
        return next(place for place, choice in enumerate(self.choices) if choice.right)


@dataclass(frozen=True, slots=True)
class Exercise:
    """What a student is to bring about. ``until``: what must hold then of what is shown; ``hints``, one after the other;
    ``key``: the name of the key with the answers, among those that ship with gemmviz. Raises UsageError for what is no name.
    """

    task: str
    until: tuple[Expectation, ...]
    hints: tuple[str, ...] = ()
    key: str = ""

    def __post_init__(self) -> None:
        if self.key and self.key not in key_names():
            raise UsageError(f"there is no key {self.key!r}", remedy=closest(self.key, key_names()) or "leave it out")


@dataclass(frozen=True, slots=True)
class LessonStep:
    """One step of a lesson. ``title``, ``caption`` and ``notes``: what is written above, said below, and told to the speaker;
    ``build``: how it comes: at once, or phase by phase, step by step, term by term of a sum,
    lane by lane, blank by blank; ``id``: by which others know it;
    ``minutes``: how long it takes; ``sources``: where what is said is from; ``needs``: ids of steps that come before it.
    ``expect``: what must be true of what is shown. Raises UsageError for what no build is.
    """

    shot: Shot
    title: str = ""
    caption: str = ""
    notes: str = ""
    build: Build = ""
    id: str = ""
    minutes: float = 2.0
    sources: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    expect: tuple[Expectation, ...] = ()
    question: Question | None = None
    exercise: Exercise | None = None
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if self.build not in BUILDS:
            raise UsageError(f"a view can't come by {self.build!r}", remedy=f"choose {', '.join(filter(None, BUILDS))}")
        if not 0.0 <= self.minutes <= _MOST_MINUTES:
            raise UsageError(f"a step can't take {self.minutes:g} minutes", remedy=f"choose 0 to {_MOST_MINUTES:g}")
        unknown = sorted({name for name in _FIELD.findall(self.caption)} - {each.name for each in self.expect})
        if unknown:
            raise UsageError(f"the caption has {{{unknown[0]}}}, which no expectation names", remedy="give one that name")

    @property
    def needed(self) -> tuple[str, ...]:
        """Names of the numbers in its caption."""
        return tuple(dict.fromkeys(_FIELD.findall(self.caption)))

    def said(self, values: Mapping[str, str]) -> str:
        """The caption with its numbers in it."""
        return _FIELD.sub(lambda found: values.get(found[1], found[0]), self.caption)


@dataclass(frozen=True, slots=True)
class Lesson:
    """Steps in their order. ``about``: what it teaches; ``name``: that of its file; ``needs``: what one should know before."""

    title: str = "Lesson"
    stops: tuple[LessonStep, ...] = ()
    about: str = ""
    sources: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    name: str = ""

    @property
    def is_view(self) -> bool:
        """Whether it is a saved view: one step without words."""
        return len(self.stops) == 1 and not self.stops[0].title and not self.stops[0].caption

    @property
    def minutes(self) -> float:
        return sum(stop.minutes for stop in self.stops)

    def find(self, id: str) -> int | None:
        """The place of a step, by its id."""
        return next((place for place, stop in enumerate(self.stops) if stop.id and stop.id == id), None)

    def with_stop(self, stop: LessonStep, at: int | None = None) -> "Lesson":
        """With another one behind the others, or before the one at ``at``."""
        place = len(self.stops) if at is None else at
        return replace(self, stops=(*self.stops[:place], stop, *self.stops[place:]))

    def without(self, at: int) -> "Lesson":
        return replace(self, stops=(*self.stops[:at], *self.stops[at + 1 :]))

    def changed(self, at: int, stop: LessonStep) -> "Lesson":
        """With this one in the place of another."""
        return replace(self, stops=(*self.stops[:at], stop, *self.stops[at + 1 :]))

    def moved(self, at: int, to: int) -> "Lesson":
        """With one of them at another place."""
        return self.without(at).with_stop(self.stops[at], to)


# To TOML


def lesson_text(lesson: Lesson) -> str:
    """The lesson as TOML."""
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION, "title": lesson.title}
    head |= {name: list(value) if isinstance(value, tuple) else value for name in ("about", "sources", "needs")
             if (value := getattr(lesson, name))}  # fmt: skip
    return toml_text({**head, "step": [_plain_stop(stop) for stop in lesson.stops]})


def _plain_stop(stop: LessonStep) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for each in fields(LessonStep):
        value = getattr(stop, each.name)
        if each.name in ("shot", "line", "expect", "question", "exercise") or value == each.default:
            continue
        plain[each.name] = list(value) if isinstance(value, tuple) else value
    plain["shot"] = plain_of(stop.shot)
    if stop.expect:
        plain["expect"] = [_plain_expectation(each) for each in stop.expect]
    if stop.question is not None:
        choices = [
            {**to_plain(replace(choice, shot=None), brief=True), **({"shot": plain_of(choice.shot)} if choice.shot else {})}
            for choice in stop.question.choices
        ]
        plain["question"] = {"text": stop.question.text, "choices": choices}
    if stop.exercise is not None:
        until = [_plain_expectation(each) for each in stop.exercise.until]
        plain["exercise"] = {**to_plain(replace(stop.exercise, until=()), brief=True), "until": until}
    return plain


def _plain_expectation(each: Expectation) -> dict[str, Any]:
    plain: dict[str, Any] = {"what": each.what, "is": each.value}
    return plain | ({"name": each.name} if each.name else {}) | ({"about": each.about} if each.about else {})


# From TOML


def parse_lesson(text: str, file: str | None = None) -> Lesson:
    """What ``lesson_text`` wrote; a saved view is a lesson of one. Raises FormatError with the place, or UsageError for what
    there is none of.
    """
    try:
        plain = toml_to_plain(text)
        kind, version = plain.pop("format", None), plain.pop("version", 0)
        if kind == VIEW:
            return Lesson("View", (LessonStep(parse_shot(text)),))
        if kind != FORMAT:
            raise FormatError("this is neither a lesson of gemmviz nor a saved view")
        if not isinstance(version, int) or version > VERSION:
            raise FormatError(f"this lesson has version {version}; this gemmviz reads {VERSION}", remedy="update gemmviz")
        return _lesson(plain, text, file)
    except GemmvizError as error:
        if file is not None:
            error.in_file(file)
        raise


def _lesson(plain: dict[str, Any], text: str, file: str | None) -> Lesson:
    steps = plain.pop("step", [])
    if not isinstance(steps, list) or not steps:
        raise FormatError("this lesson has no [[step]]")
    unknown = plain.keys() - {"title", "about", "sources", "needs"}
    if unknown:
        raise FormatError(f"this lesson has {', '.join(sorted(unknown))}, which no lesson has")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.strip() == "[[step]]"]
    lines += [0] * (len(steps) - len(lines))
    stops = []
    for number, (each, line) in enumerate(zip(steps, lines, strict=False), 1):
        try:
            stops.append(_stop(each, number, _Lines(text, line)))
        except GemmvizError as error:
            error.place = error.place or (Place(line, 1, line, 9) if line else None)
            raise
    known = from_plain({"title": plain.get("title", "Lesson"), "about": plain.get("about", "")}, dict[str, str])
    lists = {name: tuple(from_plain(plain.get(name, []), list[str])) for name in ("sources", "needs")}
    return Lesson(known["title"], tuple(stops), known["about"], name=Path(file).stem if file else "", **lists)


class _Lines:
    """Where in a text the words of a step stand."""

    def __init__(self, text: str, first: int) -> None:
        self._lines, self.first = text.split("\n"), first

    def of(self, words: str) -> int:
        """The first line from the step's own on that holds them; the step's own where none does."""
        after = enumerate(self._lines[max(0, self.first - 1) :], max(1, self.first))
        return next((number for number, line in after if words in line), self.first)


def _stop(plain: object, number: int, lines: _Lines) -> LessonStep:
    if not isinstance(plain, dict):
        raise FormatError(f"step {number} is no table")
    if "from" in plain:
        if len(plain) > 1:
            more = ", ".join(sorted(plain.keys() - {"from"}))
            raise FormatError(f"step {number} is taken from another lesson, as it is: {more} can't be changed")
        return _taken(str(plain["from"]))
    if not isinstance(plain.get("shot"), dict):
        raise FormatError(f"step {number} has no [step.shot]", remedy='write one, or from = "LESSON/ID"')
    known = {each.name for each in fields(LessonStep)} - {"line"}
    if plain.keys() - known:
        raise FormatError(f"step {number} has {', '.join(sorted(plain.keys() - known))}, which no step has")
    words: dict[str, Any] = {
        name: from_plain(plain[name], str) for name in ("title", "caption", "notes", "build", "id") if name in plain
    }
    words |= {name: tuple(from_plain(plain[name], list[str])) for name in ("sources", "needs") if name in plain}
    if "minutes" in plain:
        words["minutes"] = from_plain(plain["minutes"], float)
    words["expect"] = _expectations(plain.get("expect", []), lines)
    if "question" in plain:
        words["question"] = _question(plain["question"])
    if "exercise" in plain:
        words["exercise"] = _exercise(plain["exercise"], lines)
    return LessonStep(shot_of(plain["shot"]), line=lines.first, **words)


def _expectations(plain: object, lines: _Lines) -> tuple[Expectation, ...]:
    if not isinstance(plain, list) or not all(isinstance(each, dict) for each in plain):
        raise FormatError("expectations are tables: [[step.expect]] with what and is")
    return tuple(_expectation(each, lines) for each in plain)


def _expectation(plain: dict[str, Any], lines: _Lines) -> Expectation:
    what, value = plain.get("what"), plain.get("is")
    line = lines.of(str(what)) if what else lines.first
    unknown = plain.keys() - {"what", "is", "name", "about"}
    if not isinstance(what, str) or not isinstance(value, Answer) or unknown:
        more = f"; {', '.join(sorted(unknown))} means nothing here" if unknown else ""
        raise FormatError(f'an expectation says what = "…" and is = …{more}', Place(line, 1, line, 2))
    facts = from_plain({name: plain[name] for name in ("name",) if name in plain}, dict[str, str])
    return Expectation(what, value, facts.get("name", ""), from_plain(plain.get("about", 0.0), float), line)


def _question(plain: object) -> Question:
    if not isinstance(plain, dict) or not isinstance(plain.get("choices"), list):
        raise FormatError('a question has text = "…" and [[step.question.choices]]')
    choices = []
    for each in plain["choices"]:
        if not isinstance(each, dict):
            raise FormatError('a choice has text = "…", why = "…", and right = true where it is')
        shot = shot_of(each["shot"]) if isinstance(each.get("shot"), dict) else None
        choices.append(replace(from_plain({k: v for k, v in each.items() if k != "shot"}, Choice), shot=shot))
    return Question(from_plain(plain.get("text", ""), str), tuple(choices))


def _exercise(plain: object, lines: _Lines) -> Exercise:
    if not isinstance(plain, dict) or not plain.get("task") or not plain.get("until"):
        raise FormatError('an exercise has task = "…" and [[step.exercise.until]] with what and is')
    rest = from_plain({k: v for k, v in plain.items() if k != "until"} | {"until": []}, Exercise)
    return replace(rest, until=_expectations(plain["until"], lines))


def _taken(name: str) -> LessonStep:
    """A step of another lesson, by "LESSON/ID"."""
    lesson, _, id = name.partition("/")
    found = shipped_lesson(lesson)
    place = found.find(id)
    if place is None:
        raise FormatError(f"{lesson} has no step {id!r}", remedy=closest(id, [stop.id for stop in found.stops]))
    return replace(found.stops[place], id=f"{lesson}/{id}")


@cache
def lesson_title(name: str) -> str:
    """That of one that ships with gemmviz, without reading all of it: lists of lessons are made while a window opens."""
    text = read_text(resource(f"{LESSONS_FOLDER}/{name}.toml"))
    found = re.search(r'^title = "(.*)"$', text, re.MULTILINE)
    return found[1] if found else name


@cache
def shipped_lesson(name: str) -> Lesson:
    """Raises UsageError for a name that none has."""
    if name not in lesson_names():
        raise UsageError(
            f"there is no lesson {name!r}", remedy=closest(name, lesson_names()) or f"choose {', '.join(lesson_names())}"
        )
    return read_lesson(resource(f"{LESSONS_FOLDER}/{name}.toml"))


def named_lesson(name: str) -> Lesson | None:
    """The lesson that ships with gemmviz under this name, or the lesson or saved view in this ``.toml`` file; None for anything
    else, such as a kernel. Raises as ``read_lesson`` does.
    """
    if kind_of(Path(name)) == "view":
        return read_lesson(Path(name))
    return shipped_lesson(name) if name in lesson_names() else None


def save_lesson(lesson: Lesson, path: Path) -> None:
    """Raises GemmvizError where the file can't be written."""
    write_text(path, lesson_text(lesson))


def read_lesson(path: Path) -> Lesson:
    """A lesson, or a saved view as one of a single step. Raises UsageError where there is no such file, FormatError that names
    the file and what is wrong in it.
    """
    return parse_lesson(read_text(path), str(path))
