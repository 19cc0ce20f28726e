"""Every answer of generated quizzes is computed again, by an emulation of the kernels that shares no code with the program."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from gemmviz.cuda.launch.catalog import kernel_names, lesson_kernel_names, load_kernel, pattern_kernel_names
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import GemmvizError
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.teaching.lesson import Lesson, Question
from gemmviz.teaching.quiz import quiz_of
from tests.conftest import sure
from tests.teaching.quiz_emulation import THREADS, Launch
from tests.teaching.quiz_solver import Solver

Case = tuple[str, tuple[int, ...], tuple[tuple[str, int], ...]]


def case(kernel: str, *sizes: int, **parameters: int) -> Case:
    return kernel, sizes, tuple(parameters.items())


QUICK = (
    case("04_tiled"), case("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=16), case("cube_block", 12, 8, 8, DEPTH=3),
    case("hip_form", 8, 12, 4), case("column_first", 8, 8, 8), case("phases_by_ceil", 5, 3, 7), case("02_naive"),
    case("transpose_tiled"), case("reduction_tree"), case("12_pipelined"),
)  # fmt: skip
SLOW = (
    *(case(kernel) for kernel in THREADS if case(kernel) not in QUICK and kernel != "no_guard"),
    case("no_guard", 8, 8, 8), case("04_tiled", 16, 12, 10, TILE_WIDTH=8), case("04_tiled", 4, 4, 4),
    case("03_coalesced", 20, 40, 9, BLOCK=16), case("05_tiled_unguarded", 16, 32, 8), case("01_single_block", 20, 6, 4),
    case("05_tiled_unguarded", 64, 32, 32, TILE_WIDTH=32), case("06_tiled_unrolled", 24, 16, 16, TILE_WIDTH=8),
    case("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=32, PAD=1), case("07_tiled_transposed", 32, 16, 16, TILE_WIDTH=8),
    case("07_tiled_transposed", 32, 32, 64, TILE_WIDTH=32), case("08_register_tiled", 32, 64, 8, TILE_WIDTH=32, PER_THREAD=4),
    case("09_vectorised", 32, 32, 16, TILE_WIDTH=32, DEPTH=8), case("cube_block", 8, 16, 4), case("cube_block", 40, 8, 5, DEPTH=4),
    case("linear_block", 11, 13, 6), case("hip_form", 16, 16, 24, BLOCK_DIM=8), case("many_blocks", 12, 12, 12, TILE_WIDTH=3),
    case("early_return", 9, 9, 9, BLOCK=4), case("column_first", 36, 36, 36, TILE_WIDTH=12), case("phases_by_ceil", 8, 8, 2),
    case("phases_by_ceil", 16, 16, 16, TILE_WIDTH=8), case("transpose_tiled", TILE=16), case("transpose_tiled", PAD=1),
    case("transpose_naive", TILE=8), case("matrix_vector", BY_BLOCK=1), case("reduction_tree", INTERLEAVED=1, BLOCK=64),
    case("stencil_halo", BLOCK=32), case("vector_add", STRIDE=2), case("vector_add", STRIDE=8), case("rolled", 16, 16, 16),
    case("10_warp_tiled", 64, 128, 16, TILE_WIDTH=64, DEPTH=8), case("11_double_buffered", 32, 64, 32, DEPTH=16),
    case("12_pipelined", 32, 32, 32, STAGES=2), case("14_mma", 64, 128, 32, TILE_WIDTH=64, PER_WARP=32),
)  # fmt: skip
EACH, LEAST = 10, 500


@cache
def quiz(each: Case, count: int = EACH, seed: int = 1) -> Lesson:
    """A quiz, with fewer questions where the run doesn't give as many."""
    kernel, sizes, parameters = each
    spec = load_kernel(kernel)
    setup = setup_for(spec, Problem(*sizes) if sizes else None, dict(parameters))
    try:
        return quiz_of(setup, Interpreter(), count, seed)
    except GemmvizError as error:
        fewer = re.search(r"gives only (\d+) question", str(error))
        return quiz(each, int(sure(fewer)[1]), seed)


def questions(cases: tuple[Case, ...], count: int = EACH) -> Iterator[tuple[Launch, Question]]:
    for each in cases:
        lesson = quiz(each, count)
        launch = Launch(each[0], lesson.about)
        for stop in lesson.steps:
            yield launch, sure(stop.question)


def check(launch: Launch, question: Question) -> None:
    """The right choice is right; the wrong ones are wrong, exist, and have reasons."""
    solver = Solver(launch, question.text)
    answer = solver.answer()
    for choice in question.choices:
        assert (solver.meaning(choice.text) == answer) == choice.right, (launch.kernel, question.text, choice.text, answer)
        assert choice.why
    assert len({choice.text for choice in question.choices}) == len(question.choices) >= 3
    assert len({choice.why for choice in question.choices}) == len(question.choices), question.text


@pytest.mark.parametrize("each", QUICK, ids=lambda each: each[0])
def test_each_answer_is_that_of_an_emulation(each: Case) -> None:
    for launch, question in questions((each,)):
        check(launch, question)


@pytest.mark.nightly
def test_each_of_500_answers_is_that_of_an_emulation() -> None:
    """Of all shipped kernels and those of the course."""
    runnable = {name for name in (*kernel_names(), *lesson_kernel_names()) if not load_kernel(name).is_in_the_making}
    emulated = {each[0] for each in (*QUICK, *SLOW)}
    assert emulated == set(THREADS)
    assert {*pattern_kernel_names(), *kernel_names()} <= emulated
    assert len(runnable & emulated) >= 20
    checked = 0
    for launch, question in questions((*QUICK, *SLOW)):
        check(launch, question)
        checked += 1
    assert checked >= LEAST


@pytest.mark.nightly
def test_answers_can_not_be_guessed() -> None:
    """No kind has one answer for more than half of its questions, and the right choice has no usual place, length or rank."""
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    places, lengths, chance, total = Counter[int](), Counter[str](), 0.0, 0
    for launch, question in questions((*QUICK, *SLOW), 2 * EACH):
        right = question.choices[question.right].text
        answers[Solver(launch, question.text).kind][right] += 1
        sizes = [len(choice.text) for choice in question.choices]
        lengths["longest"] += sizes[question.right] == max(sizes) and sizes.count(max(sizes)) == 1
        lengths["shortest"] += sizes[question.right] == min(sizes) and sizes.count(min(sizes)) == 1
        chance, total = chance + 1 / len(question.choices), total + 1
        if len(question.choices) == 4:
            places[question.right] += 1
    for kind, counts in answers.items():
        assert counts.most_common(1)[0][1] <= 0.5 * counts.total(), (kind, counts.most_common(3))
        assert counts.total() >= 20, kind
    assert all(0.2 < count / places.total() < 0.3 for count in places.values()), places
    assert all(count < 1.1 * chance for count in lengths.values()), (lengths, chance, total)


def test_a_wrong_answer_is_found() -> None:
    """The check itself fails where another choice is said to be right."""
    launch, question = next(questions((QUICK[0],)))
    wrong = Question(
        question.text,
        tuple(type(each)(each.text, at == 1 - question.right % 2, each.why) for at, each in enumerate(question.choices)),
    )
    assert wrong.right != question.right
    with pytest.raises(AssertionError):
        check(launch, wrong)
