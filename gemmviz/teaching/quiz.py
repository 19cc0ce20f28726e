"""Questions generated from a run: answers are computed from its trace, wrong choices from known mistakes."""

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations, islice, product
from random import Random
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.replay.focus import Focus, Position, position_of
from gemmviz.analysis.replay.moment import Moment, Reader, TouchedOperand
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.walk import LoopCounter, loop_counters
from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.model.arrays import Longs
from gemmviz.model.messages import UsageError, listed, many, ordinal, tr
from gemmviz.model.setup import Setup, kernel_title
from gemmviz.model.sites import PLAIN, LabelStyle, MemoryArray, Operand, Site, Space
from gemmviz.model.threads import Triple
from gemmviz.run.engine import Engine
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.picture import LaunchWords
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Choice, Expectation, Lesson, LessonStep, Question
from gemmviz.teaching.quantities.catalog import quantity_value

# The words of generated questions: names as in the source, moments by loop counters, threads by their indices.


class QuizWords(Struct, frozen=True, dict=True):
    """The words for one run; ``labels``: how elements and threads are written."""

    setup: Setup
    replay: Replay
    labels: LabelStyle

    @cached_property
    def launch(self) -> LaunchWords:
        return LaunchWords(self.setup, self.labels)

    def name(self, array: MemoryArray) -> str:
        """An array's name in the source."""
        return self.launch.name(array.name) if array.space == "global" else array.name

    def element(self, array: MemoryArray, element: int) -> str:
        """An element: of a matrix "Md[2, 1]" in the notation of the labels, of a shared array as in the source."""
        if array.space == "shared":
            return array.subscripted(element)
        return self.labels.element(self.name(array), *array.indices(element))

    def place(self, matrix: MemoryArray, row: int, column: int) -> str | None:
        """An element by row and column; None outside of the matrix, and for a vector."""
        is_inside = len(matrix.shape) > 1 and 0 <= row < matrix.extents[0] and 0 <= column < matrix.extents[1]
        return self.element(matrix, matrix.element_at(row, column)) if is_inside else None

    def thread(self, thread: Triple) -> str:
        """A threadIdx, such as "thread (3, 1)", with z if blocks have it."""
        return tr("thread {indices}", indices=self._indices(thread, self.replay.trace.launch.block))

    def block(self, block: Triple) -> str:
        """A blockIdx, such as "block (1, 0)", with z if the grid has it."""
        return tr("block {indices}", indices=self._indices(block, self.replay.trace.launch.grid))

    def _indices(self, indices: Triple, extents: Triple) -> str:
        used = indices if extents[2] > 1 else indices[:2]
        ordered = used if self.labels.thread == "x, y" else used[::-1]
        return f"({', '.join(map(str, ordered))})"

    def of_block(self, block: Triple) -> str:
        """Whose block it is, as " of block (1, 0)"; nothing if there is only one."""
        return tr(" of {block}", block=self.block(block)) if self.replay.trace.launch.block_count > 1 else ""

    @cached_property
    def counters(self) -> dict[int, LoopCounter]:
        """The counters of the loops, by number."""
        return loop_counters(self.launch.program)

    def moment(self, step: int, has_inner: bool = True) -> str:
        """When a step is, such as " in phase 2 (m = 1) when k = 3"; nothing for a step outside of loops. ``has_inner``: with
        the counters of the loops within the phase.
        """
        trace = self.replay.trace
        site, phase, when, trips = trace.site_of(step), "", list[str](), list[str]()
        for loop, trip in zip(site.loops, trace.visits[step].tolist(), strict=False):
            counter = self.counters.get(loop)
            value = "" if counter is None else f"{counter.name} = {counter.at(trip)}"
            if loop == trace.phase_loop and self.replay.has_phases:
                phase = tr(" in phase {phase}", phase=trip + 1) + (f" ({value})" if value else "")
            elif value:
                when.append(value)
            else:
                trips.append(
                    tr(
                        " in the {ordinal} trip of the loop in line {line}",
                        ordinal=ordinal(trip + 1),
                        line=trace.loops[loop].place.line,
                    )
                )
        return phase + "".join(trips) + (tr(" when {when}", when=listed(when)) if when and has_inner else "")


_STEPS, _WARPS = 12, 6  # drawn from each site, and for each of these steps, when requests are compared
_CachedAnswer = TypeVar("_CachedAnswer")


class QuizAccess(Struct, frozen=True):
    """An operand of a site at a step. ``place``: its index among the operands."""

    step: int
    place: int
    operand: Operand


class WarpRequest(Struct, frozen=True):
    """A warp's access in one step. ``main``: the accessed array and elements."""

    step: int
    focus: Focus
    moment: Moment
    main: TouchedOperand

    @property
    def verb(self) -> str:
        return tr("reads") if self.main.operand.access == "read" else tr("writes")

    @property
    def line(self) -> int:
        return self.moment.site.place.line

    @property
    def elements(self) -> Longs:
        """All elements that the warp accesses, each as often as it is accessed."""
        return self.main.cells


@dataclass(frozen=True)
class QuizSource:
    """What is known of the run that questions are generated from, with a random generator; ``labels``: how elements are
    written.
    """

    known: Knowledge
    random: Random
    labels: LabelStyle = PLAIN
    _cached: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def setup(self) -> Setup:
        return self.known.setup

    @property
    def replay(self) -> Replay:
        return self.known.replay

    @cached_property
    def words(self) -> QuizWords:
        return QuizWords(self.setup, self.replay, self.labels)

    def cached(self, key: Any, make: Callable[[], _CachedAnswer]) -> _CachedAnswer:
        """The value for a key, computed by ``make`` if missing."""
        if key not in self._cached:
            self._cached[key] = make()
        value: _CachedAnswer = self._cached[key]
        return value

    @cached_property
    def racing(self) -> set[str]:
        """Names of the arrays for which the order of threads matters."""
        return {hazard.array for hazard in self.replay.hazards}

    # Accesses

    def access(self, accepts: Callable[[Operand], bool]) -> QuizAccess | None:
        """A random step of a random operand for which ``accepts`` is true; None if there is none. It is identified by its line
        and its array.
        """
        trace = self.replay.trace
        places = [
            (number, place, operand)
            for number, site in enumerate(trace.sites)
            for place, operand in enumerate(site.operands)
            if accepts(operand) and self.is_alone(site, operand) and len(self.steps_of(number))
        ]
        if not places:
            return None
        number, place, operand = self.random.choice(places)
        return QuizAccess(int(self.random.choice(self.steps_of(number))), place, operand)

    def is_alone(self, site: Site, operand: Operand) -> bool:
        """Whether no other access of the kind in the site's line is to the same array."""
        same = (
            (each.array, each.access) == (operand.array, operand.access)
            for other in self.replay.trace.sites
            for each in other.operands
            if other.place.line == site.place.line
        )
        return sum(same) == 1

    def steps_of(self, site: int) -> list[int]:
        """The steps at a site."""
        return self.cached(("steps", site), lambda: np.flatnonzero(self.replay.trace.site == site).tolist())

    def step_beside(self, step: int, loop: int, trips: int) -> int | None:
        """The step at the same site so many trips of its loop ``loop`` (an index, outermost first) later; None if there is
        none.
        """
        trace, site = self.replay.trace, int(self.replay.trace.site[step])
        known = self.cached(("visits", site), lambda: {tuple(trace.visits[at].tolist()): at for at in self.steps_of(site)})
        visits = trace.visits[step].tolist()
        visits[loop] += trips
        return known.get(tuple(visits))

    def touched(self, access: QuizAccess, step: int, block: Triple, thread: Triple) -> int | None:
        """The element that a thread accesses with this operand at a step; None if it takes no part or isn't traced."""
        trace = self.replay.trace
        if not self.is_traced(block) or not _is_within(thread, trace.launch.block):
            return None
        element = int(trace.element[trace.row[step] + access.place, trace.space.number(block, thread)])
        return element if element >= 0 else None

    # Threads

    def any_block(self) -> Triple:
        """A random traced block."""
        x, y, z = (self.random.randrange(start, stop) for start, stop in self.replay.trace.blocks.ranges)
        return x, y, z

    def any_thread(self) -> Triple:
        x, y, z = (self.random.randrange(extent) for extent in self.replay.trace.launch.block)
        return x, y, z

    def is_traced(self, block: Triple) -> bool:
        return all(start <= at < stop for at, (start, stop) in zip(block, self.replay.trace.blocks.ranges, strict=True))

    def is_thread(self, thread: Triple) -> bool:
        return _is_within(thread, self.replay.trace.launch.block)

    def is_block(self, block: Triple) -> bool:
        return _is_within(block, self.replay.trace.launch.grid)

    # Requests

    def request(self, space: Space) -> WarpRequest | None:
        """A random warp's request to this memory space; None if the chosen warp makes none, or first another one."""
        access = self.access(lambda operand: self.replay.trace.arrays[operand.array].space == space)
        return None if access is None or access.place else self._request(access.step, self._any_warp())

    def varied_request(self, space: Space, cost: Callable[[Moment], int]) -> WarpRequest | None:
        """A random warp's request to this memory space, of any of the costs in the run; the least cost, which is guessed first,
        is half as likely as each of the others. None if all cost the same.
        """
        by_cost = self.cached(("requests", space), lambda: self._requests(space, cost))
        if len(by_cost) < 2:
            return None
        costs = sorted(by_cost)
        chosen = self.random.choices(costs, [1, *(2 for _ in costs[1:])])[0]
        return self.random.choice(by_cost[chosen])

    def _requests(self, space: Space, cost: Callable[[Moment], int]) -> dict[int, list[WarpRequest]]:
        """Some requests of each site, by their cost."""
        trace, found = self.replay.trace, dict[int, list[WarpRequest]]()
        for number, site in enumerate(trace.sites):
            if [trace.arrays[each.array].space for each in site.operands] != [space] or not self.is_alone(
                site, site.operands[0]
            ):
                continue
            steps = self.steps_of(number)
            for step, focus in product(self.random.sample(steps, min(_STEPS, len(steps))), self._some_warps()):
                request = self._request(step, focus)
                if request is not None:
                    found.setdefault(cost(request.moment), []).append(request)
        return found

    def _any_warp(self) -> Focus:
        return Focus(self.any_block(), self.random.randrange(self.replay.trace.space.warps_per_block))

    def _some_warps(self) -> list[Focus]:
        return [self._any_warp() for _ in range(_WARPS)]

    def _request(self, step: int, focus: Focus) -> WarpRequest | None:
        """A warp's request for the first operand; None if it makes none."""
        moment = self.moment(step, focus)
        return None if moment.main is None or not moment.cost.requests else WarpRequest(step, focus, moment, moment.main)

    def moment(self, step: int, focus: Focus | None = None) -> Moment:
        return Reader(self.replay, focus or Focus()).at(step)

    def shot(self, step: int | None, view: str, focus: Focus | None = None) -> Shot:
        """The view that shows an answer. ``step``: None if the answer is about no step."""
        at = Position() if step is None else position_of(self.replay.trace, step)
        return Shot(self.setup, focus or Focus(), view, at, labels=self.labels)


def _is_within(indices: Triple, extents: Triple) -> bool:
    return all(0 <= at < extent for at, extent in zip(indices, extents, strict=True))


def swaps(indices: Triple, extents: Triple) -> list[tuple[Triple, str]]:
    """Other orders of three indices, with the names of the two that are exchanged; those with z if ``extents`` have it."""
    x, y, z = indices
    orders = [((y, x, z), tr("x and y")), *([((x, z, y), tr("y and z")), ((z, y, x), tr("x and z"))] if extents[2] > 1 else [])]
    return [(order, names) for order, names in orders if order != indices]


def off_by_one(source: QuizSource, array: MemoryArray, element: int) -> list[tuple[str, str]]:
    """Wrong choices beside an element."""
    first, words = source.labels.first, source.words
    if len(array.shape) == 1:
        near = ((element + 1, tr("one element too far")), (element - 1, tr("one element too few")))
        return [
            (words.element(array, at), tr("{what}: elements are counted from {first}", what=what, first=first))
            for at, what in near
            if 0 <= at < array.size
        ]
    row, column = array.place(element)
    beside = (
        (row, column + 1, tr("one column too far: columns")), (row, column - 1, tr("one column too few: columns")),
        (row + 1, column, tr("one row too far: rows")), (row - 1, column, tr("one row too few: rows")),
    )  # fmt: skip
    places = ((words.place(array, other_row, other_column), what) for other_row, other_column, what in beside)
    return [
        (place, tr("{what} are counted from {first}", what=what, first=first)) for place, what in places if place is not None
    ]


@dataclass(frozen=True, slots=True)
class GeneratedQuestion:
    """A generated question. ``why``: the reason for the right answer; ``shot``: shows it; ``wrong``: wrong choices, each with
    the mistake that leads to it; ``expect``: what a run must say of ``shot`` if the answer is right; ``beside``: further wrong
    choices, used if the others are too few.
    """

    text: str
    right: str
    why: str
    shot: Shot
    wrong: list[tuple[str, str]]
    expect: tuple[Expectation, ...]
    beside: list[tuple[str, str]] = field(default_factory=list)


class QuizKind(Struct, frozen=True):
    """A kind of question: a module in ``gemmviz.teaching.quiz_kinds`` that ends with ``QUIZ_KIND = QuizKind(...)``.
    ``question`` generates a random one, or None if the run offers none.
    """

    title: str
    question: Callable[[QuizSource], GeneratedQuestion | None]
    order: int = 99


_MOST_CHOICES, _LEAST_CHOICES = 4, 3
_MOST_MIXED = 9  # wrong choices among which some are chosen
_MOST_DRAWS = 60
_NUMBER_IN_TEXT = re.compile(r"\d+")
Wrong = Sequence[tuple[str, str]]


@cache
def quiz_kinds() -> Catalog[QuizKind]:
    """All kinds of questions."""
    return extensions_in("gemmviz.teaching.quiz_kinds", "QUIZ_KIND", QuizKind)


def quiz_of(setup: Setup, engine: Engine, count: int, seed: int = 0, labels: LabelStyle = PLAIN) -> Lesson:
    """A lesson with ``count`` different questions about a run; ``labels``: how elements and threads are written. Raises
    UsageError if the run doesn't give that many, or the run's fault.
    """
    if count < 1:
        raise UsageError(tr("a quiz needs at least one question"))
    known = Knowledge(Shot(setup, view="listing", labels=labels), engine)
    if known.outcome.fault is not None:
        raise known.outcome.fault
    random = Random(f"{seed} {kernel_title(setup)} {setup.problem} {setup.kernel.text_hash}")  # other launches, other choices
    source, wrong = QuizSource(known, random, labels), _wrong_with(known)
    steps = [_quiz_step(number, each, wrong, source) for number, each in enumerate(islice(_questions(source, count), count), 1)]
    if len(steps) < count:
        raise UsageError(
            tr("this run gives only {questions} of {count}", questions=many(len(steps), "question"), count=count),
            remedy=tr("ask for fewer, or choose larger sizes"),
        )
    return Lesson(
        tr("Questions about {kernel}", kernel=setup.kernel.name), tuple(steps), source.words.launch.legend, is_quiz=True
    )


def _questions(source: QuizSource, count: int) -> Iterator[GeneratedQuestion]:
    """Different questions with enough choices, of each kind in turn."""
    texts, kinds = set[str](), tuple(quiz_kinds().values())
    for number in range(_MOST_DRAWS * count):
        question = kinds[number % len(kinds)].question(source)
        if question is None or question.text in texts:
            continue
        wrong = _wrong_choices(question, source.random)
        if len(wrong) + 1 >= _LEAST_CHOICES:
            texts.add(question.text)
            yield dataclasses.replace(question, wrong=wrong)


def _wrong_choices(question: GeneratedQuestion, random: Random) -> list[tuple[str, str]]:
    """Some of the wrong choices. As far as the mistakes allow, the right one isn't the one that has most numbers in common with
    the others, and its rank among them is drawn.
    """
    mistakes = _distinct_choices(question.right, question.wrong)
    random.shuffle(mistakes)
    every = _distinct_choices(question.right, [*mistakes, *question.beside])[:_MOST_MIXED]
    mixtures = list(combinations(every, min(len(every), _MOST_CHOICES - 1)))
    random.shuffle(mixtures)
    rank = random.randrange(_MOST_CHOICES)

    def trouble(wrong: Wrong) -> tuple[int, ...]:
        standing, own_rank = _standing(question.right, [text for text, _ in wrong])
        return standing > 1, own_rank != rank, len({*wrong} - {*mistakes}), standing

    chosen: Wrong = min(mixtures, key=trouble)
    return list(chosen)


def _standing(right: str, wrong: list[str]) -> tuple[int, int]:
    """Whether the right choice shares most numbers, place by place, with the other choices: 0 for no, 1 for as many as another,
    2 for yes; and the number of choices that are smaller than it.
    """
    numbers = [list(map(int, _NUMBER_IN_TEXT.findall(each))) for each in (right, *wrong)]
    shared = [sum(a == b for other in numbers for a, b in zip(own, other, strict=False)) for own in numbers]
    most = max(shared[1:], default=0)
    standing = 0 if len(numbers[0]) < 2 or shared[0] < most else 1 if shared[0] == most else 2
    return standing, sum(each < numbers[0] for each in numbers)


def _distinct_choices(right: str, wrong: Wrong) -> list[tuple[str, str]]:
    """The wrong choices, each once, with the first of its reasons."""
    others: dict[str, str] = {}
    for choice, reason in wrong:
        if choice != right:
            others.setdefault(choice, reason)
    return list(others.items())


def _quiz_step(number: int, question: GeneratedQuestion, known: tuple[Expectation, ...], source: QuizSource) -> LessonStep:
    """A lesson step with the question and its shuffled choices."""
    shot = question.shot
    right = Choice(question.right, True, question.why, shot, question.expect)
    choices = [right, *(Choice(choice, False, reason, shot) for choice, reason in question.wrong)]
    source.random.shuffle(choices)
    return LessonStep(
        structs.replace(shot, view="listing"),  # the view with the answer is shown with the choices
        tr("Question {number}", number=number),
        id=f"question-{number}",
        minutes=1.0,
        expect=known,
        question=Question(question.text, tuple(choices)),
        text=source.words.launch.legend,
    )


def _wrong_with(known: Knowledge) -> tuple[Expectation, ...]:
    """What is wrong with a run: a result that isn't right, and hazards, by kind."""
    result = str(quantity_value("result", known))
    wrong = [] if result == "right" else [Expectation("result", result)]
    for kind in sorted({hazard.kind.replace(" ", "-") for hazard in known.replay.hazards}):
        reference = f"hazards(kind={kind})"
        wrong.append(Expectation(reference, quantity_value(reference, known)))
    return tuple(wrong)
