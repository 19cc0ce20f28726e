"""Lessons as data: steps with a shot and texts, what is expected of each, questions and exercises.

These are the tables of a lesson file; a field without a name there is not written.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any, Literal, get_args

from msgspec import Struct, field, structs

from gemmviz.analysis.replay.focus import Focus
from gemmviz.cuda.launch.formula import formula_value
from gemmviz.files.codec import WrittenPlace, read_toml
from gemmviz.files.resources import resource, resources
from gemmviz.model.messages import Place, UsageError, closest, marked, spaced, tr
from gemmviz.model.setup import Setup
from gemmviz.shots.shot import Shot, Trial
from gemmviz.teaching.quantities.quantity import QuantityValue

# Answer keys of kernels with blanks, in files separate from the kernels that students receive.

_KEYS_FOLDER = "assets/lessons/keys"


class AnswerKey(Struct, frozen=True):
    """The text for each blank, in order."""

    answers: tuple[str, ...]


@cache
def key_names() -> tuple[str, ...]:
    """Names of the keys that ship with gemmviz."""
    return tuple(path.stem for path in resources(_KEYS_FOLDER, "*.toml"))


@cache
def answers_of(name: str) -> tuple[str, ...]:
    """Answers of a key. Raises InstallationError for a name that is not in ``key_names``."""
    return read_toml(resource(f"{_KEYS_FOLDER}/{name}.toml"), AnswerKey).answers


# Lessons and their steps.

Build = Literal["", "phases", "steps", "terms", "lanes", "blanks"]
BUILDS: tuple[Build, ...] = get_args(Build)
FIELD = re.compile(r"\{(\w+)\}")
TEXT_FIELDS = ("title", "caption", "text", "notes", "question", "exercise", "guide")  # those that may have numbers
PENDING = "…"  # in place of a number that is not computed yet
_RESULT_WORDS = marked("right"), marked("wrong"), marked("unwritten"), marked("unchecked")  # values of "result"
_MOST_MINUTES, _MOST_CHOICES, _MOST = 600.0, 26, 2**63


def shown_value(value: Any) -> str:
    """A value as captions display it."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, float):
        return spaced(round(value)) if 1000 <= abs(value) < math.inf else f"{value:.4g}"
    if isinstance(value, int):
        return spaced(value)
    return tr(value) if value in _RESULT_WORDS else str(value)


def _evaluable(text: str) -> str:
    """A formula as it is written in texts, as one that can be evaluated: "2 N³" is 2*(N*N*N)."""
    text = re.sub(r"(\w+?)([²³])", lambda power: f"({'*'.join([power[1]] * (2 if power[2] == '²' else 3))})", text)
    return re.sub(r"(?<=[\w)]) (?=[\w(])", "*", text.replace("−", "-").replace("·", "*").replace("×", "*"))


class Expectation(Struct, frozen=True, forbid_unknown_fields=True):
    """An expected value. ``quantity``: a reference to a quantity, as listed by ``gemmviz lesson quantities``. ``value``: the
    expected value; numbers are compared in the digits given, and may be a formula of the sizes and parameters. ``about``:
    tolerance as a fraction of ``value``, 0 for none. ``name``: the name by which texts of the step include it, as ``{name}``.
    """

    quantity: str
    value: QuantityValue = field(name="is")
    name: str = ""
    about: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.value, int) and not -_MOST <= self.value < _MOST:
            raise ValueError("a whole number has at most 64 bits")  # as in TOML

    @property
    def digits(self) -> int:
        """Number of digits after the decimal point of ``value``."""
        exponent = Decimal(str(self.value)).as_tuple().exponent if isinstance(self.value, float) else 0
        return max(0, -exponent) if isinstance(exponent, int) and self.value != int(self.value) else 0

    def at(self, names: Mapping[str, int], actual: QuantityValue) -> "Expectation":
        """The expectation with the value of its formula, such as "2 · N³ / T", at the sizes and parameters of a launch, if
        ``actual`` is a number; itself if it has none. Raises GemmvizError for a formula that can't be evaluated.
        """
        if not isinstance(self.value, str) or isinstance(actual, str):
            return self
        return structs.replace(
            self, value=formula_value(_evaluable(self.value), {name: float(size) for name, size in names.items()})
        )

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


class Choice(Struct, frozen=True, forbid_unknown_fields=True):
    """One choice of a question. ``why``: the reason that it is right or wrong. ``shot``: the view that shows the reason.
    ``expect``: what makes it right, or would: it is true of the right choice's view, and false of that for any other.
    """

    text: str
    right: bool = False
    why: str = ""
    shot: Shot | None = None
    expect: tuple[Expectation, ...] = ()

    def with_texts(self, changed: Callable[[str], str]) -> "Choice":
        return structs.replace(self, text=changed(self.text), why=changed(self.why))


class Draw(Struct, frozen=True, forbid_unknown_fields=True):
    """Another launch that a question may be about: sizes, parameters, device, focus or trial values of all of its shots.
    ``answer``: sizes in the right choice's shot alone; ``values``: what is expected there, by the names of expectations;
    those that are left out expect the same.
    """

    problem: dict[str, int] = {}
    parameters: dict[str, int] = {}
    device: str = ""
    focus: Focus | None = None
    trial: Trial | None = None
    answer: dict[str, int] = {}
    values: dict[str, QuantityValue] = field(name="is", default={})

    def shot(self, shot: Shot) -> Shot:
        """A shot of the question at this launch. Raises SettingError for sizes or parameters that its kernel can't have."""
        against = shot.against and structs.replace(shot.against, setup=self._setup(shot.against.setup))
        focus, trial = self.focus or shot.focus, self.trial or shot.trial
        return structs.replace(shot, setup=self._setup(shot.setup), focus=focus, trial=trial, against=against)

    def _setup(self, setup: Setup) -> Setup:
        return structs.replace(setup.changed(**self.problem, **self.parameters), device=self.device or setup.device)

    def expected(self, expect: tuple[Expectation, ...]) -> tuple[Expectation, ...]:
        return tuple(structs.replace(each, value=self.values.get(each.name, each.value)) for each in expect)


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """A multiple-choice question. ``draws``: other launches that it may be about when it is shown. Raises UsageError unless it
    has 2 to 26 choices of which exactly one is right.
    """

    text: str = ""
    choices: tuple[Choice, ...] = ()
    draws: tuple[Draw, ...] = field(name="draw", default=())

    def __post_init__(self) -> None:
        if not 2 <= len(self.choices) <= _MOST_CHOICES or sum(choice.right for choice in self.choices) != 1:
            right = sum(choice.right for choice in self.choices)
            raise UsageError(
                tr(
                    "the question {question} has {choices} choices, {right} of them right",
                    question=f"{self.text!r}",
                    choices=len(self.choices),
                    right=right,
                ),
                remedy=tr("write 2 to {most_choices}, one of them with right = true", most_choices=_MOST_CHOICES),
            )

    @property
    def right(self) -> int:
        """Index of the right choice."""
        return next(place for place, choice in enumerate(self.choices) if choice.right)

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text, *(text for choice in self.choices for text in (choice.text, choice.why)))

    def with_own_numbers(self) -> "Question":
        """The question with the numbers in its choices that their own expectations name: the expected ones."""
        return structs.replace(self, choices=tuple(map(_with_own_numbers, self.choices)))

    def with_texts(self, changed: Callable[[str], str]) -> "Question":
        return structs.replace(
            self, text=changed(self.text), choices=tuple(choice.with_texts(changed) for choice in self.choices)
        )

    def at(self, draw: Draw) -> "Question":
        """The question about another launch."""
        answer = structs.replace(draw, problem=draw.problem | draw.answer)
        shots = ((each, each.shot and (answer if each.right else draw).shot(each.shot)) for each in self.choices)
        choices = (structs.replace(each, shot=shot, expect=draw.expected(each.expect)) for each, shot in shots)
        return Question(self.text, tuple(choices))


def _with_own_numbers(choice: Choice) -> Choice:
    values = {each.name: shown_value(each.value) for each in choice.expect}
    return choice.with_texts(lambda text: _fill_in(text, values))


def _fill_in(text: str, values: Mapping[str, str]) -> str:
    return FIELD.sub(lambda name: values.get(name[1], name[0]), text)


class ExerciseSize(Struct, frozen=True, forbid_unknown_fields=True):
    """A size at which an exercise is judged. ``problem``: sizes of the problem; ``parameters``: parameters of the kernel, those
    that are left out are the student's; ``at_most``: limits of quantities at this size, on top of what the exercise requires at
    each.
    """

    problem: dict[str, int] = {}
    parameters: dict[str, int] = {}
    at_most: dict[str, int | float] = {}

    def __hash__(self) -> int:
        return hash(self.words)

    @property
    def words(self) -> str:
        """The size, as in ``M = N = K = 12, TILE_WIDTH = 8``."""
        names: dict[int, list[str]] = {}
        for name, value in self.problem.items():
            names.setdefault(value, []).append(name)
        equal = [" = ".join([*some, str(value)]) for value, some in names.items()]
        return ", ".join([*equal, *(f"{name} = {value}" for name, value in self.parameters.items())])


class Solution(Struct, frozen=True, forbid_unknown_fields=True):
    """A solution of an exercise without a key: the name of the ``kernel`` to choose, and its ``parameters``, or the
    ``answers`` for the blanks.
    """

    kernel: str = ""
    parameters: dict[str, int] = {}
    answers: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash((self.kernel, self.answers))


class Exercise(Struct, frozen=True, forbid_unknown_fields=True):
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
            raise UsageError(
                tr("there is no key {key}", key=f"{self.key!r}"), remedy=closest(self.key, key_names()) or tr("leave it out")
            )


_USUAL_MISTAKES = 3


class Guide(Struct, frozen=True, forbid_unknown_fields=True):
    """What a lecturer does in the ten minutes or so from a step on. ``idea``: the sentence that should stay; ``show``: what to
    demonstrate in the program, with its ``keys``; ``number``: a sentence with the number to remember; ``question``: what to
    ask, with the right answer and the usual wrong ones; ``of_plans``: whether it holds in plans alone, where fewer steps have
    one. Raises UsageError unless there are three wrong answers.
    """

    idea: str
    show: str
    keys: tuple[str, ...]
    number: str
    question: Question
    of_plans: bool = False

    def __post_init__(self) -> None:
        if len(self.question.choices) != _USUAL_MISTAKES + 1:
            raise UsageError(
                "the question of a guide has one right answer and the three usual wrong ones", remedy="write four choices"
            )

    @property
    def sentences(self) -> tuple[str, str, str]:
        return self.idea, self.show, self.number

    def with_texts(self, changed: Callable[[str], str]) -> "Guide":
        idea, show, number = map(changed, self.sentences)
        return structs.replace(self, idea=idea, show=show, number=number, question=self.question.with_texts(changed))


class LessonStep(Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a lesson. ``title`` and ``caption``: the text above the view and below it; ``text``: an explanation for
    students who read the lesson by themselves; ``notes``: for the speaker alone. ``part``: the heading of the steps from
    this one on. ``build``: what the step is revealed by, ``""`` for all at once. ``id``: the name by which other steps refer
    to it. ``minutes``: planned duration. ``sources``: references. ``needs``: ids of earlier steps. ``expect``: what must be
    true of the view. ``guide``: for the lecturer, from this step on. ``written``: where. Raises UsageError for an unknown
    ``build``, a duration out of range, or a caption with a number that no expectation names.
    """

    shot: Shot
    title: str = ""
    caption: str = ""
    text: str = ""
    notes: str = ""
    part: str = ""
    build: str = ""
    id: str = ""
    minutes: float = 2.0
    sources: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    expect: tuple[Expectation, ...] = ()
    question: Question | None = None
    exercise: Exercise | None = None
    guide: Guide | None = None
    written: WrittenPlace = field(default=WrittenPlace(), name="")

    def __post_init__(self) -> None:
        if self.build not in BUILDS:
            raise UsageError(
                tr("a view can't be revealed by {build}", build=f"{self.build!r}"),
                remedy=tr("choose {filter}", filter=", ".join(filter(None, BUILDS))),
            )
        if not 0.0 <= self.minutes <= _MOST_MINUTES:
            raise UsageError(
                tr("a step can't take {minutes} minutes", minutes=f"{self.minutes:g}"),
                remedy=tr("choose 0 to {most_minutes}", most_minutes=f"{_MOST_MINUTES:g}"),
            )
        unknown = self.unknown_fields("caption")
        if unknown:
            raise UsageError(
                tr("the caption has {{{unknown}}}, but no expectation has this name", unknown=unknown[0]),
                remedy=tr("give one that name"),
            )

    @property
    def file(self) -> str:
        return self.written.file

    @property
    def place(self) -> Place | None:
        """Position of the step in its file."""
        return self.written.place()

    @property
    def questions(self) -> dict[tuple[str, ...], Question]:
        """The questions of the step and of its guide, by the path of their fields."""
        of_guide = None if self.guide is None else self.guide.question
        asked = (("question",), self.question), (("guide", "question"), of_guide)
        return {path: question for path, question in asked if question is not None}

    @property
    def variants(self) -> tuple["LessonStep", ...]:
        """The step, and the same step at each draw of its question. Raises GemmvizError for a draw that is impossible."""
        question = self.question
        if question is None:
            return (self,)
        drawn = (
            structs.replace(
                self, shot=draw.shot(self.shot), expect=draw.expected(self.expect), question=question.at(draw), guide=None,
                written=self.written.within("question", "draw", number),
            )
            for number, draw in enumerate(question.draws)
        )  # fmt: skip
        return (self, *drawn)

    def showing(self, number: int) -> "LessonStep":
        """The step as it is shown for the first time (0) or again: another variant each time, with its choices shuffled."""
        step = self.variants[number % len(self.variants)]
        if not number or step.question is None:
            return step
        choices = Random(number).sample(step.question.choices, len(step.question.choices))
        return structs.replace(step, question=structs.replace(step.question, choices=tuple(choices)))

    @property
    def texts(self) -> dict[str, str]:
        """The texts that may have numbers, by field; those of a question are one, and those of an exercise and of a guide."""
        question = "" if self.question is None else "\n".join(self.question.texts)
        exercise = "" if self.exercise is None else "\n".join((self.exercise.task, *self.exercise.hints))
        return {
            "title": self.title, "caption": self.caption, "text": self.text, "notes": self.notes, "question": question,
            "exercise": exercise,
            "guide": "" if self.guide is None else "\n".join((*self.guide.sentences, *self.guide.question.texts)),
        }  # fmt: skip

    def texts_with_names(self, field: str) -> Iterator[tuple[str, dict[str, Expectation]]]:
        """The texts of a field, each with the expectations that its names stand for."""
        own = {each.name: each for each in self.expect if each.name}
        if field in ("question", "guide"):
            question = next((each for path, each in self.questions.items() if path[0] == field), None)
            yield from ((text, own) for text in (self.guide.sentences if field == "guide" and self.guide is not None else ()))
            yield (question.text if question is not None else ""), own
            for choice in question.choices if question is not None else ():
                names = own | {each.name: each for each in choice.expect if each.name}
                yield from ((choice.text, names), (choice.why, names))
        else:
            yield self.texts[field], {} if field == "exercise" else own

    def unknown_fields(self, field: str) -> list[str]:
        """Names of numbers in a text that no expectation has."""
        return sorted(
            {name for text, known in self.texts_with_names(field) for name in FIELD.findall(text) if name not in known}
        )

    @property
    def needed(self) -> tuple[str, ...]:
        """Names of the numbers in the texts."""
        known = {each.name for each in self.expect}
        return tuple(dict.fromkeys(name for text in self.texts.values() for name in FIELD.findall(text) if name in known))

    def with_numbers(self, values: Mapping[str, str]) -> "LessonStep":
        """The step with ``values`` in its texts in place of their names, and PENDING for a number that has no value. In the
        title, which lists of steps show, the expected number stands for it.
        """
        question = self.question and self.question.with_own_numbers()
        guide = self.guide and structs.replace(self.guide, question=self.guide.question.with_own_numbers())
        if not self.needed:
            return (
                self
                if (question, guide) == (self.question, self.guide)
                else structs.replace(self, question=question, guide=guide)
            )
        expected = {each.name: shown_value(each.value) for each in self.expect}
        values = {name: values.get(name, PENDING) for name in self.needed}
        title = _fill_in(self.title, {name: expected[name] if value == PENDING else value for name, value in values.items()})
        caption, text, notes = (_fill_in(each, values) for each in (self.caption, self.text, self.notes))
        question = question and question.with_texts(lambda text: _fill_in(text, values))
        guide = guide and guide.with_texts(lambda text: _fill_in(text, values))
        return structs.replace(self, title=title, question=question, guide=guide, caption=caption, text=text, notes=notes)

    def with_expected_numbers(self) -> "LessonStep":
        """The step with the expected values in its texts, for those who need not wait for a run."""
        return self.with_numbers({each.name: shown_value(each.value) for each in self.expect})


class Lesson(Struct, frozen=True, forbid_unknown_fields=True):
    """Steps in order. ``about``: what the lesson teaches. ``name``: the name of its file. ``needs``: required knowledge.
    ``is_quiz``: its texts and choices were computed from a run, numbers included.
    """

    title: str = "Lesson"
    steps: tuple[LessonStep, ...] = field(name="step", default=())
    about: str = ""
    sources: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    name: str = field(name="", default="")
    is_quiz: bool = field(name="quiz", default=False)

    @property
    def is_view(self) -> bool:
        """Whether this is a saved view: a single step without texts."""
        return len(self.steps) == 1 and not self.steps[0].title and not self.steps[0].caption

    @property
    def minutes(self) -> float:
        return sum(step.minutes for step in self.steps)

    def name_of(self, step: LessonStep) -> str:
        """The name that identifies a step in all lessons that include it."""
        return step.id if "/" in step.id else f"{self.name}/{step.id or step.title}"

    def find(self, id: str) -> int | None:
        """Index of the step with this id; None if there is none."""
        return next((place for place, step in enumerate(self.steps) if step.id and step.id == id), None)

    def with_step(self, step: LessonStep, at: int | None = None) -> "Lesson":
        """A lesson with one more step, before index ``at`` or at the end."""
        place = len(self.steps) if at is None else at
        return structs.replace(self, steps=(*self.steps[:place], step, *self.steps[place:]))

    def without(self, at: int) -> "Lesson":
        return structs.replace(self, steps=(*self.steps[:at], *self.steps[at + 1 :]))

    def changed(self, at: int, step: LessonStep) -> "Lesson":
        """A lesson with the step at index ``at`` replaced."""
        return structs.replace(self, steps=(*self.steps[:at], step, *self.steps[at + 1 :]))

    def moved(self, at: int, to: int) -> "Lesson":
        """A lesson with the step at index ``at`` moved to index ``to``."""
        return self.without(at).with_step(self.steps[at], to)
