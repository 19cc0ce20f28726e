"""Lessons as data: steps with a shot and texts, what is expected of each, questions and exercises."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal, get_args

from gemmviz.model.errors import Place, UsageError, closest
from gemmviz.state.shot import Shot
from gemmviz.teaching.answer_keys import key_names
from gemmviz.teaching.quantities.quantity import QuantityValue

Build = Literal["", "phases", "steps", "terms", "lanes", "blanks"]
BUILDS: tuple[Build, ...] = get_args(Build)
_FIELD = re.compile(r"\{(\w+)\}")
_MOST_MINUTES, _MOST_CHOICES = 600.0, 26


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expected value. ``quantity``: a reference to a quantity, as listed by ``gemmviz lesson quantities``. ``value``: the
    expected value; numbers are compared in the digits given. ``about``: tolerance as a fraction of ``value``, 0 for none.
    ``name``: the name by which a caption includes it, as ``{name}``. ``place``: position in the lesson file.
    """

    quantity: str
    value: QuantityValue
    name: str = ""
    about: float = 0.0
    place: Place | None = field(default=None, compare=False)

    @property
    def digits(self) -> int:
        """Number of digits after the decimal point of ``value``."""
        exponent = Decimal(str(self.value)).as_tuple().exponent if isinstance(self.value, float) else 0
        return max(0, -exponent) if isinstance(exponent, int) and self.value != int(self.value) else 0

    def is_met_by(self, actual: QuantityValue) -> bool:
        """Whether a computed value is the expected one: equal texts, or numbers that agree in the written digits."""
        value = self.value
        if isinstance(value, str) or isinstance(actual, str):
            return str(actual) == str(value)
        if not math.isfinite(actual):
            return False
        if self.about:
            return abs(actual - value) <= self.about * abs(value)
        if isinstance(value, bool) or isinstance(actual, bool):
            return bool(actual) == bool(value)
        return round(float(actual), self.digits) == round(float(value), self.digits)


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a question. ``why``: the reason that it is right or wrong. ``shot``: the view that shows the reason."""

    text: str
    right: bool = False
    why: str = ""
    shot: Shot | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A multiple-choice question. Raises UsageError unless it has 2 to 26 choices of which exactly one is right."""

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
        """Index of the right choice."""
        return next(place for place, choice in enumerate(self.choices) if choice.right)


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest allowed value of a quantity."""

    quantity: str
    most: float


@dataclass(frozen=True, slots=True)
class ExerciseSize:
    """A size at which an exercise is judged. ``problem``: sizes of the problem; ``parameters``: parameters of the kernel, those
    that are left out are the student's; ``at_most``: limits at this size, on top of what the exercise requires at each.
    """

    problem: tuple[tuple[str, int], ...] = ()
    parameters: tuple[tuple[str, int], ...] = ()
    at_most: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True)
class Solution:
    """A solution of an exercise without a key: the name of the ``kernel`` to choose, and its ``parameters``, or the
    ``answers`` for the blanks.
    """

    kernel: str = ""
    parameters: tuple[tuple[str, int], ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exercise:
    """A task for a student. ``until``: expectations that must be met at each of the ``sizes``, at the size of the shot if there
    are none. ``hints``: shown one after the other. ``key``: name of the shipped answer key for a kernel with blanks;
    ``solution``: the solution of any other exercise. Raises UsageError for an unknown key.
    """

    task: str
    until: tuple[Expectation, ...]
    hints: tuple[str, ...] = ()
    key: str = ""
    sizes: tuple[ExerciseSize, ...] = ()
    solution: Solution | None = None

    def __post_init__(self) -> None:
        if self.key and self.key not in key_names():
            raise UsageError(f"there is no key {self.key!r}", remedy=closest(self.key, key_names()) or "leave it out")


@dataclass(frozen=True, slots=True)
class LessonStep:
    """One step of a lesson. ``title`` and ``caption``: the text above the view and below it; ``text``: an explanation for
    students who read the lesson by themselves; ``notes``: for the speaker alone. ``build``: what the step is revealed by,
    ``""`` for all at once. ``id``: the name by which other steps refer to it. ``minutes``: planned duration. ``sources``:
    references. ``needs``: ids of earlier steps. ``expect``: what must be true of the view. ``place``: position in the lesson
    file. Raises UsageError for an unknown ``build``, a duration out of range, or a caption with a number that no expectation
    names.
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
    text: str = ""
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.build not in BUILDS:
            raise UsageError(f"a view can't be revealed by {self.build!r}", remedy=f"choose {', '.join(filter(None, BUILDS))}")
        if not 0.0 <= self.minutes <= _MOST_MINUTES:
            raise UsageError(f"a step can't take {self.minutes:g} minutes", remedy=f"choose 0 to {_MOST_MINUTES:g}")
        unknown = sorted({name for name in _FIELD.findall(self.caption)} - {each.name for each in self.expect})
        if unknown:
            raise UsageError(f"the caption has {{{unknown[0]}}}, but no expectation has this name", remedy="give one that name")

    @property
    def needed(self) -> tuple[str, ...]:
        """Names of the numbers in the caption."""
        return tuple(dict.fromkeys(_FIELD.findall(self.caption)))

    def caption_with(self, values: Mapping[str, str]) -> str:
        """The caption with ``values`` in place of the names."""
        return _FIELD.sub(lambda name: values.get(name[1], name[0]), self.caption)


@dataclass(frozen=True, slots=True)
class Lesson:
    """Steps in order. ``about``: what the lesson teaches. ``name``: the name of its file. ``needs``: required knowledge."""

    title: str = "Lesson"
    stops: tuple[LessonStep, ...] = ()
    about: str = ""
    sources: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    name: str = ""

    @property
    def is_view(self) -> bool:
        """Whether this is a saved view: a single step without texts."""
        return len(self.stops) == 1 and not self.stops[0].title and not self.stops[0].caption

    @property
    def minutes(self) -> float:
        return sum(stop.minutes for stop in self.stops)

    def name_of(self, stop: LessonStep) -> str:
        """The name that identifies a step in all lessons that include it."""
        return stop.id if "/" in stop.id else f"{self.name}/{stop.id or stop.title}"

    def find(self, id: str) -> int | None:
        """Index of the step with this id; None if there is none."""
        return next((place for place, stop in enumerate(self.stops) if stop.id and stop.id == id), None)

    def with_stop(self, stop: LessonStep, at: int | None = None) -> "Lesson":
        """A lesson with one more step, before index ``at`` or at the end."""
        place = len(self.stops) if at is None else at
        return replace(self, stops=(*self.stops[:place], stop, *self.stops[place:]))

    def without(self, at: int) -> "Lesson":
        return replace(self, stops=(*self.stops[:at], *self.stops[at + 1 :]))

    def changed(self, at: int, stop: LessonStep) -> "Lesson":
        """A lesson with the step at index ``at`` replaced."""
        return replace(self, stops=(*self.stops[:at], stop, *self.stops[at + 1 :]))

    def moved(self, at: int, to: int) -> "Lesson":
        """A lesson with the step at index ``at`` moved to index ``to``."""
        return self.without(at).with_stop(self.stops[at], to)
