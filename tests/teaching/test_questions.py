"""Questions of lessons: they name sizes as the code beside them does, and what they say of a launch is so."""

import re
from itertools import groupby

import pytest

from gemmviz.cuda.launch.catalog import lesson_names, plan_names
from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.captions import filled_step, named_value
from gemmviz.teaching.lesson import Expectation, LessonStep, shown_value
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import sure

_SIZE = re.compile(r"\b([A-Za-z_]\w*) = (\d+)")


def questions() -> list[LessonStep]:
    return [stop for name in ("analysis", "slides") for stop in shipped_lesson(name).steps if stop.question is not None]


def sizes_in_code(stop: LessonStep) -> dict[str, int]:
    """Sizes by the names that the kernel's own parameter list gives them."""
    kernel, setup = stop.shot.setup.kernel, stop.shot.setup
    declared = re.search(rf"\b{kernel.entry}\s*\(([^)]*)\)", kernel.text)
    assert declared is not None
    names = [part.split()[-1].strip("*") for part in declared[1].split(",")]
    sizes = {**setup.problem.sizes, **setup.parameters}
    return {name: sizes[arg] for name, arg in zip(names, kernel.args, strict=True) if arg in sizes} | dict(setup.parameters)


@pytest.mark.parametrize("stop", questions(), ids=lambda stop: stop.id)
def test_a_question_names_sizes_as_its_code_does(stop: LessonStep) -> None:
    filled = filled_step(stop, Knowledge(stop.shot, Interpreter()))
    assert filled.question is not None
    sizes = sizes_in_code(stop)
    for name, value in _SIZE.findall(filled.question.text):
        assert sizes[name] == int(value), name


def test_the_names_of_the_padding_question_are_not_those_of_the_problem() -> None:
    stop = next(stop for stop in questions() if stop.id == "question-padding")
    sizes, problem = sizes_in_code(stop), stop.shot.setup.problem
    assert (sizes["N"], sizes["K"], problem.K, problem.N) == (10, 8, 10, 8)


def test_a_block_of_the_barrier_question_has_several_warps() -> None:
    stop = next(stop for stop in questions() if stop.id == "question-barrier")
    assert stop.question is not None
    for shot in (stop.shot, *(choice.shot for choice in stop.question.choices if choice.shot is not None)):
        assert launch_for(shot.setup).threads_per_block > device_for(shot.setup).warp_size


def test_a_number_has_the_digits_that_are_expected_and_at_least_three() -> None:
    values = [(0.12345, 0.5, "0.123"), (12.3444, 12.34, "12.34"), (1234.6, 1200, "1235"), (2.0, 2, "2")]
    for value, like, shown in values:
        assert (
            named_value(Expectation("x", like), value) == shown_value(float(shown))
            or named_value(Expectation("x", like), value).replace("\u202f", "") == shown
        )


DRAWN = [
    stop
    for name in lesson_names()
    if name not in plan_names()
    for stop in shipped_lesson(name).steps
    if stop.question is not None and stop.question.draws
]


def right_answer(stop: LessonStep) -> str:
    """The text of the right choice, with the numbers that it expects."""
    question = sure(stop.with_expected_numbers().question)
    return question.choices[question.right].text


@pytest.mark.parametrize("stop", DRAWN, ids=lambda stop: stop.id)
def test_a_drawn_question_has_several_answers(stop: LessonStep) -> None:
    """That each of them is right, and the other choices wrong, is a check of the lesson."""
    assert len({str((each.shot.setup.sizes_and_parameters, each.shot)) for each in stop.variants}) == len(stop.variants) >= 3
    assert len({right_answer(each) for each in stop.variants}) >= 2


def test_most_questions_are_drawn() -> None:
    assert len(DRAWN) >= 50


def test_a_question_is_another_one_at_each_showing() -> None:
    (stop,) = (stop for stop in DRAWN if stop.id == "question-halo")
    assert stop.showing(0) is stop
    showings = [stop.showing(number) for number in range(len(stop.variants))]
    assert len({right_answer(each) for each in showings}) == len(stop.variants)
    orders = {tuple(choice.why for choice in sure(stop.showing(number).question).choices) for number in range(20)}
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset(choice.why for choice in sure(stop.question).choices)}


MOST_UNASKED = 5  # steps in a row of which none asks


@pytest.mark.parametrize("name", [name for name in lesson_names() if name not in plan_names()])
def test_a_lesson_asks_often(name: str) -> None:
    asked = groupby(shipped_lesson(name).steps, key=lambda stop: stop.question is not None)
    longest = max(len(list(run)) for is_asked, run in asked if not is_asked)
    assert longest <= MOST_UNASKED
