"""Attempts at the exercises, right and wrong ones, judged as in the window; where NVRTC is there, it is asked about them too."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable
from itertools import zip_longest
from random import Random
from typing import Any, TypeVar

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import lesson_names, plan_names
from gemmviz.cuda.launch.legality import launch_for
from gemmviz.model.messages import Place
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import EngineRequest
from gemmviz.teaching import lesson
from gemmviz.teaching.checking import exercise_faults
from gemmviz.teaching.exercises import Verdict, blank_at, drawn_sizes, judged
from gemmviz.teaching.lesson import Exercise, Expectation, LessonStep, Solution, answers_of
from gemmviz.teaching.lesson_file import lesson_text, parse_lesson, shipped_lesson
from tests.conftest import DATA, ENGINE, sampled, sure
from tests.nvrtc import compile_error, nvrtc

WAIT = "__syncthreads();"
_NO_TILES = (
    "row < width && col < width) { sum = 0; for (int q = 0; q < width; ++q) "
    "sum += Md[row * width + q] * Nd[q * width + col]; } if (row < width && col < width"
)
_OWN_KERNEL = (
    "row < width && col < width) Pd[row * width + col] = sum; } "
    "__global__ void other(float* Pd, int row, int width, int col, float sum) { if (0"
)

RIGHT = [  # changes of the right answers by the numbers of their blanks
    {},
    {2: "blockIdx.y * blockDim.y + threadIdx.y"},
    {2: "__umul24(blockIdx.y, blockDim.y) + threadIdx.y"},
    {2: "(int)(threadIdx.y + TILE_WIDTH * blockIdx.y)"},
    {2: "blockIdx.y * TILE_WIDTH + threadIdx.y;"},
    {3: "ceil((float)width / TILE_WIDTH)"},
    {3: "ceilf(width / (float)TILE_WIDTH)"},
    {3: "gridDim.x"},
    {3: "(width - 1) / TILE_WIDTH + 1"},
    {4: "k0 + threadIdx.x + width * row"},
    {4: "__umul24(row, width) + k0 + threadIdx.x"},
    {5: "__syncthreads(); // wait"},
    {5: "/* all */ __syncthreads();"},
    {5: "{ __syncthreads(); }"},
    {6: "Nds[k][threadIdx.x] * Mds[threadIdx.y][k]"},
    {6: "fmaf(Mds[threadIdx.y][k], Nds[k][threadIdx.x], 0.0f)"},
    {6: "__fmul_rn(Mds[threadIdx.y][k], Nds[k][threadIdx.x])"},
    {7: "if (m + 1 < tiles) __syncthreads();"},
    {7: "if (k0 + TILE_WIDTH < width) __syncthreads();"},
    {8: "!(row >= width || col >= width)"},
    {8: "max(row, col) < width"},
    {8: "row < width) if (col < width"},
    {8: "row < width and col < width"},
    {8: "row >= width || col >= width) return; if (true"},
]
WRONG = [  # with a part of what is said about them
    ({5: "__syncwarp();", 7: "__syncwarp();"}, "At M = N = K = 12, TILE_WIDTH = 8: blank 5: first difference: "),
    ({5: "__syncwarp();"}, "read-after-write hazards"),
    ({7: "__syncwarp();"}, "write-after-read hazards"),
    ({5: "__threadfence_block();"}, "read-after-write hazards"),
    ({5: ""}, "read-after-write hazards"),
    ({7: ""}, "write-after-read hazards"),
    ({5: "if (threadIdx.x == 0) __syncthreads();"}, "blank 5, line 43: __syncthreads() in divergent flow"),
    (
        {3: "3"},
        "shared memory reads, in elements: 12\u202f288, required: at most 8192",
    ),
    (
        {3: "width / TILE_WIDTH + 1"},
        "shared memory reads, in elements: 1536, required: at most 1024",
    ),
    ({3: "2"}, "line 53: write C[0], expected: read A[4]"),
    ({3: "0"}, "line 53: write C[0], expected: read A[0]"),
    ({3: "width"}, "shared memory reads, in elements: 720, required: at most 432"),
    ({1: "2"}, "Mds[2][0] is out of range"),
    ({1: "32"}, "bytes of shared memory per block: 272, required: at most 32"),
    ({5: "", 6: "0", 7: "", 8: _NO_TILES}, "global memory reads, in elements: "),
    ({5: "", 6: "Md[0]", 7: ""}, "line 47: read A[0], expected: barrier"),
    ({4: "(k0 + threadIdx.x) * width + row"}, "line 40: read A[5], expected: read A[1]"),
    ({6: "Mds[k][threadIdx.y] * Nds[k][threadIdx.x]"}, "line 47: read Mds[0][1], expected: read Mds[1][0]"),
    ({2: "blockIdx.x * TILE_WIDTH + threadIdx.y"}, "thread (0, 0) of block (1, 0), line 40: read A[10], expected: read A[0]"),
    ({8: "true"}, "C[25] is out of range"),
    ({8: "row < width"}, "C[25] is out of range"),
    ({8: "false"}, "line 53: nothing, expected: write C[0]"),
    ({6: "1.000001f * Mds[threadIdx.y][k] * Nds[k][threadIdx.x]"}, "blank 6: each thread reads and writes the right elements"),
    ({5: "__syncthreads(); *Pd = 1;"}, "hazards"),
    ({5: "while (true) {}"}, "does this loop ever end?"),
]
LONG = [({3: "1000"}, "in elements: 144\u202f000, required: at most 432"), ({3: "2147483647"}, "does this loop ever end?")]
REFUSED = [  # by nvcc
    ({1: ""}, "blank 1, line 26: an array needs a size (nothing is written for blank 1)"),
    ({1: "width"}, "blank 1, line 26: an array's size must be known when it is compiled"),
    ({1: "2.0"}, "blank 1, line 26: this must be a whole number"),
    ({1: "-1"}, "blank 1, line 26: "),
    ({2: "Md"}, "blank 2, line 30: a const float* can't become a int"),
    ({2: "blockIdx.y *"}, "blank 2, line 30: an operand is missing here"),
    ({2: "blockIdx * TILE_WIDTH + threadIdx.y"}, "blank 2, line 30: "),
    ({2: "blockIdx.y * TILE_WIDTH + threadIdx.w"}, "blank 2, line 30: uint3 has no member w"),
    ({3: '"3"'}, "blank 3, line 32: "),
    ({3: "ceil_div(width, TILE_WIDTH)"}, "blank 3, line 32: 'ceil_div' is not declared (declare it"),
    ({3: "N / TILE_WIDTH"}, "blank 3, line 32: 'N' is not declared"),
    ({4: "row * widht + k0 + threadIdx.x"}, "blank 4, line 40: 'widht' is not declared (did you mean width?)"),
    ({4: "row][k0 + threadIdx.x"}, "blank 4, line 40: "),
    ({5: "__syncthreads()"}, "blank 5, line 43: a ; is missing here"),
    ({5: "syncthreads();"}, "blank 5, line 43: 'syncthreads' is not declared (did you mean __syncthreads?)"),
    ({5: "sync();"}, "blank 5, line 43: 'sync' is not declared (declare it"),
    ({5: "__syncthreads(1);"}, "blank 5, line 43: it takes 0 arguments, not 1"),
    ({5: "__syncthreads(); Md[0] = 1;"}, "blank 5, line 43: const elements can't be assigned"),
    ({5: "__syncthreads(); blockIdx.x = 0;"}, "blank 5, line 43: blockIdx is const"),
    ({5: "__syncthreads(); const int c = 1; c = 2;"}, "blank 5, line 43: c is const"),
    ({5: "__syncthreads(); int k0 = 1;"}, "blank 5, line 43: k0 is declared twice"),
    ({5: "__syncthreads(); float* p = Md;"}, "blank 5, line 43: a const float* can't become a float*"),
    ({5: "__syncthreads(); if (width < 0) return 1;"}, "blank 5, line 43: a void function returns no value (write return;)"),
    ({5: "__syncthreads(); std::vector<int> v;"}, "blank 5: std::vector needs a header of the standard library"),
    ({5: "cooperative_groups::this_thread_block().sync();"}, "blank 5: cooperative_groups::this_thread_block needs"),
    ({5: "__syncthreads(); __shfl(1, 1);"}, "blank 5: __shfl is not in CUDA any more"),
    ({5: "__syncthreads(); break"}, "blank 5, line 43: a ; is missing here"),
    ({6: "Mds[threadIdx.y][k] x Nds[k][threadIdx.x]"}, "blank 6, line 47: "),
    ({6: "Mds * Nds"}, "blank 6, line 47: "),
    ({7: "{"}, "look at the brackets in blank 7"),
    (
        {7: "__syncthreads(); } if (row < width && col < width) Pd[row * width + col] = sum; }"},
        "look at the brackets in blank 7",
    ),
    ({8: "row < width &&"}, "blank 8, line 52: an operand is missing here"),
    ({8: "row < width AND col < width"}, "blank 8, line 52: "),
    ({8: "5 = row"}, "blank 8, line 52: this can't be assigned"),
]
BARRIERS = [
    ((WAIT, "if (k0 + TILE_WIDTH < K) __syncthreads();", ";"), ""),
    (("__syncthreads_count(1);", WAIT, ""), ""),
    (("__syncwarp();", "__syncwarp();", ""), "At M = K = 24, N = 16, TILE_WIDTH = 8: blank 1: first difference"),
    ((WAIT, "__syncwarp();", ""), "write-after-read hazards"),
    (("", WAIT, ""), "read-after-write hazards"),
    ((WAIT, WAIT, WAIT), "steps: 22, required: at most 21"),
    (("__syncthreads()", WAIT, ""), "blank 1, line 34: a ; is missing here"),
]
MORE_BARRIERS = [
    ((WAIT, WAIT, ""), ""),
    ((WAIT, "if (k0 != K - TILE_WIDTH) __syncthreads();", ""), ""),
    (("__syncwarp();", WAIT, ""), "read-after-write hazards"),
    ((WAIT + WAIT, WAIT, ""), "steps: 23, required: at most 21"),
    ((WAIT, "", WAIT), "write-after-read hazards"),
    ((WAIT, "", ""), "write-after-read hazards"),
    (("", "", ""), "read-after-write hazards"),
    (("__threadfence();", "__threadfence();", ""), "read-after-write hazards"),
]
OTHERS = tomllib.loads((DATA / "exercise_answers.toml").read_text(encoding="utf-8"))
OTHERS_RIGHT = [(name, change) for name, of in OTHERS.items() for change in of["right"]]
OTHERS_WRONG = [(name, change) for name, of in OTHERS.items() for change in of["wrong"]]
Blank = TypeVar("Blank", int, str)


def together(changes: list[dict[Blank, str]]) -> list[dict[Blank, str]]:
    """All changes in few attempts: each changes every blank for which there is one more spelling."""
    spellings = defaultdict[Blank, list[str]](list)
    for change in changes:
        for blank, answer in change.items() if len(change) == 1 else ():
            spellings[blank].append(answer)
    alone = [change for change in changes if len(change) != 1]
    rows = zip_longest(*spellings.values())
    return alone + [{blank: answer for blank, answer in zip(spellings, row, strict=True) if answer is not None} for row in rows]


def _step(lesson: str, id: str) -> LessonStep:
    found = shipped_lesson(lesson)
    return found.steps[sure(found.find(id))]


def _exercise(step: LessonStep) -> Exercise:
    return sure(step.exercise)


def _answers(change: dict[int, str]) -> tuple[str, ...]:
    return tuple(change.get(number, answer) for number, answer in enumerate(answers_of("blanks"), 1))


def _verdict(change: dict[int, str]) -> Verdict:
    step = _step("slides", "writing")
    return judged(_exercise(step), step.shot, ENGINE, _answers(change), Random(1))


def _refusal(change: dict[int, str]) -> str:
    """What NVRTC says about the filled text."""
    return compile_error(_step("slides", "writing").shot.setup.kernel.filled(_answers(change)).text, "-DTILE_WIDTH=2")


def _at_night(cases: Iterable[Any]) -> list[Any]:
    return [pytest.param(*(each if isinstance(each, tuple) else (each,)), marks=pytest.mark.nightly) for each in cases]


@pytest.mark.parametrize("change", [*filter(None, together(RIGHT)), {8: _OWN_KERNEL}, *_at_night(RIGHT)])
def test_other_spellings_of_the_right_answers_pass(change: dict[int, str]) -> None:
    verdict = _verdict(change)
    assert verdict.lines[0].startswith("Done. At M = N = K = 5, TILE_WIDTH = 2; M = N = K = 12, TILE_WIDTH = 8; ")
    assert verdict.passed


@pytest.mark.parametrize(("change", "said"), [*sampled(WRONG), *sampled(REFUSED), *_at_night(LONG)])
def test_wrong_answers_fail_and_it_is_said_why(change: dict[int, str], said: str) -> None:
    verdict = _verdict(change)
    assert not verdict.passed
    assert said in "\n".join(verdict.lines)


def test_a_place_in_an_answer_names_its_blank() -> None:
    kernel = _step("slides", "writing").shot.setup.kernel
    answers = tuple(f"answer{number}" for number, _ in enumerate(_answers({})))
    text = kernel.filled(answers).text
    for number, answer in enumerate(answers, 1):
        lines = text[: text.index(answer)].split("\n")
        line, column = len(lines), len(lines[-1]) + 1
        assert blank_at(kernel, answers, Place(line, column, line, column + 1)) == number


def _other_answers(lesson: str, change: dict[str, str]) -> tuple[LessonStep, tuple[str, ...]]:
    """The step of another exercise, and its right answers with a change."""
    step = _step(lesson, OTHERS[lesson]["step"])
    key = answers_of(sure(_exercise(step).key))
    return step, tuple(change.get(str(number), answer) for number, answer in enumerate(key, 1))


@pytest.mark.parametrize(
    ("lesson", "change"),
    [*((name, next(filter(None, together(of["right"])))) for name, of in OTHERS.items()), *_at_night(OTHERS_RIGHT)],
)
def test_right_answers_of_other_exercises_pass_in_each_spelling(lesson: str, change: dict[str, str]) -> None:
    step, answers = _other_answers(lesson, change)
    assert judged(_exercise(step), step.shot, ENGINE, answers, Random(1)).passed


@pytest.mark.parametrize(("lesson", "change"), sampled(OTHERS_WRONG, 4))
def test_mistakes_in_other_exercises_fail_with_their_reason(lesson: str, change: dict[str, str]) -> None:
    step, answers = _other_answers(lesson, change)
    verdict = judged(_exercise(step), step.shot, ENGINE, answers, Random(1))
    assert not verdict.passed
    assert verdict.blank == int(next(iter(change)))
    assert change["says"] in "\n".join(verdict.lines)


@pytest.mark.skipif(nvrtc() is None, reason="needs the wheel nvidia-cuda-nvrtc")
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_compiler_agrees_about_what_is_refused(every: int) -> None:
    assert [change for change in together(RIGHT) if _refusal(change)] == []
    assert [change for change, _ in [*WRONG, *LONG][::every] if _refusal(change)] == []
    assert [change for change, _ in REFUSED[::every] if not _refusal(change)] == []
    for other, of in OTHERS.items():
        for change in together(of["right"])[::every]:
            step, answers = _other_answers(other, change)
            options = [f"-D{name}={value}" for name, value in step.shot.setup.parameters.items()]
            assert compile_error(step.shot.setup.kernel.filled(answers).text, *options) == "", (other, change)


@pytest.mark.parametrize(("answers", "said"), [*BARRIERS, *_at_night(MORE_BARRIERS)])
def test_barriers_stand_where_they_are_needed_and_only_there(answers: tuple[str, ...], said: str) -> None:
    step = _step("shared-memory", "exercise-barriers")
    verdict = judged(_exercise(step), step.shot, ENGINE, answers, Random(1))
    assert verdict.passed == (not said)
    assert said in "\n".join(verdict.lines)


KNOW_THE_SIZES = [
    {3: "width == 5 ? 3 : width == 12 ? 2 : width == 8 ? 2 : 3"},
    {2: "blockIdx.y * TILE_WIDTH + threadIdx.y; if (width > 40) return"},
    {7: "if (width < 40) __syncthreads();"},
    {7: "if (width == 5 || width == 12 || width == 8 || width == 35) __syncthreads();"},
]


@pytest.mark.parametrize("change", sampled(KNOW_THE_SIZES, 4))
def test_an_answer_that_knows_the_listed_sizes_fails_at_a_drawn_one(change: dict[int, str]) -> None:
    verdict = _verdict(change)
    assert not verdict.passed
    assert verdict.size not in [each.words for each in _exercise(_step("slides", "writing")).sizes]
    assert verdict.blank == next(iter(change))
    assert verdict.lines[0].startswith(f"At {verdict.size}: blank {verdict.blank}")  # the size that was drawn is told


@pytest.mark.parametrize("seed", sampled(range(3), 3))
def test_a_barrier_for_the_listed_sizes_alone_fails(seed: int) -> None:
    step = _step("shared-memory", "exercise-barriers")
    verdict = judged(_exercise(step), step.shot, ENGINE, (WAIT, "if (K <= 32) __syncthreads();", ""), Random(seed))
    assert not verdict.passed
    assert verdict.blank == 2


def test_sizes_are_drawn_anew_at_each_try() -> None:
    step = _step("slides", "writing")
    exercise, setup = _exercise(step), step.shot.setup
    drawn = {tuple(each.words for each in drawn_sizes(exercise, setup, Random(seed))) for seed in range(20)}
    assert len(drawn) > 15
    barriers = _step("shared-memory", "exercise-barriers")
    for seed in range(10):
        for size in drawn_sizes(_exercise(barriers), barriers.shot.setup, Random(seed)):
            assert all(value % size.parameters["TILE_WIDTH"] == 0 for value in size.problem.values())


@pytest.mark.parametrize(
    ("change", "blank", "difference"),
    [
        ({5: ""}, 5, "first difference: thread (0, 0) of block (0, 0), line 47: read Mds[0][0], expected: barrier"),
        (  # the other spelling in blank 3 is no difference
            {2: "blockIdx.y * TILE_WIDTH + threadIdx.x", 3: "(width - 1) / TILE_WIDTH + 1"},
            2, "first difference: thread (1, 0) of block (0, 0), line 40: read A[6], expected: read A[1]",
        ),
        ({2: "blockIdx.y * TILE_WIDTH + threadIdx.y; if (row >= width) return"}, 2, ""),  # the error is in line 47, of blank 6
        ({2: "blockIdx.y * TILE_WIDTH + threadIdx.y; {"}, 2, ""),
    ],
)  # fmt: skip
def test_the_wrong_blank_and_the_first_access_that_differs_are_named(
    change: dict[int, str], blank: int, difference: str
) -> None:
    verdict = _verdict(change)
    assert (verdict.blank, verdict.difference) == (blank, difference)
    assert f"blank {blank}" in verdict.lines[0]


def test_empty_blanks_are_named() -> None:
    step = _step("slides", "writing")
    lines = judged(_exercise(step), step.shot, ENGINE).lines
    assert lines == ["8 of the blanks are empty (write something for each /*?*/)"]


@pytest.mark.parametrize(
    ("change", "size", "line", "block"),
    [
        ({5: "__syncwarp();"}, {"M": 12, "N": 12, "K": 12, "TILE_WIDTH": 8}, 47, (0, 0, 0)),  # the read that came too early
        ({8: "row < width"}, {"M": 5, "N": 5, "K": 5, "TILE_WIDTH": 2}, 53, (2, 2, 0)),
        ({6: "Mds[k][threadIdx.y] * Nds[k][threadIdx.x]"}, {"M": 5, "N": 5, "K": 5, "TILE_WIDTH": 2}, 47, (0, 0, 0)),
        ({6: "Mds[threadIdx.y][k] + Nds[k][threadIdx.x]"}, {"M": 5, "N": 5, "K": 5, "TILE_WIDTH": 2}, 53, (0, 0, 0)),
    ],
)
def test_the_picture_is_the_wrong_access_at_the_size_that_fails(
    change: dict[int, str], size: dict[str, int], line: int, block: tuple[int, int, int]
) -> None:
    shot = sure(_verdict(change).shot)
    assert {**shot.setup.problem.sizes, **shot.setup.parameters} == size
    trace = sure(ENGINE.trace(shot.setup).trace)
    assert trace.site_of(shot.at.step).place.line == line
    assert shot.focus.block == block


@pytest.mark.parametrize("name", [name for name in lesson_names() if name not in plan_names()])
def test_the_exercises_that_come_along_are_judged_at_several_sizes(name: str) -> None:
    """That they are sound is checked with the lessons."""
    exercises = [step.exercise for step in shipped_lesson(name).steps if step.exercise is not None]
    assert all(len(each.sizes) >= 2 for each in exercises)


class _Counting(Interpreter):
    """An interpreter that notes the blocks of each launch that it runs."""

    def __init__(self) -> None:
        self.blocks: list[int] = []

    def answer(self, request: EngineRequest) -> Any:
        self.blocks.append(launch_for(request.setup).block_count)
        return super().answer(request)


def test_judging_runs_few_small_launches() -> None:
    step, engine = _step("slides", "writing"), _Counting()
    exercise = _exercise(step)
    assert judged(exercise, step.shot, engine, _answers({}), Random(1)).passed
    assert len(engine.blocks) <= 2 * (len(exercise.sizes) + 2), "one trace and one count at each size"
    assert max(engine.blocks) <= 16 * 16


# Faults of exercises


def _faults(step: LessonStep, exercise: Exercise) -> list[str]:
    return [fault.message for fault in exercise_faults(structs.replace(step, exercise=exercise))]


def test_a_damaged_key_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    step = _step("slides", "writing")
    for answers, said in (
        (answers_of("blanks")[:7], "the key 'blanks' has 7 answers for 8 blanks"),
        (_answers({5: ""}), "the exercise's own solution fails: At M = N = K = 5"),
    ):
        monkeypatch.setattr("gemmviz.teaching.checking.answers_of", lambda name, answers=answers: answers)
        (fault,) = exercise_faults(step)
        assert fault.message.startswith(said)
        assert fault.place == step.place
    assert lesson.answers_of("blanks") == _answers({})


def test_an_exercise_that_is_passed_from_the_start_is_a_fault() -> None:
    barriers, tile = _step("shared-memory", "exercise-barriers"), _step("lecture", "exercise-tile")
    right = (Expectation("result", "right"),)
    assert _faults(barriers, structs.replace(_exercise(barriers), until=right)) == ["the exercise is passed by empty blanks"]
    assert _faults(tile, structs.replace(_exercise(tile), until=right)) == ["the exercise is passed by the step as it is shown"]


def test_an_exercise_that_nobody_can_pass_is_a_fault() -> None:
    step = _step("lecture", "exercise-tile")
    exercise = _exercise(step)
    (said,) = _faults(step, structs.replace(exercise, until=(Expectation("threads_per_block", 22),)))
    assert said.startswith("the exercise's own solution fails: At M = N = K = 64: threads per block: 256, required: 22")
    assert _faults(step, structs.replace(exercise, solution=None)) == ["the exercise has no solution to be checked with"]
    assert _faults(step, structs.replace(exercise, solution=Solution("03_coalescd"))) == ["there is no kernel '03_coalescd'"]


def test_sizes_limits_and_solutions_are_written_and_read() -> None:
    for name in ("slides", "lecture", "coalescing", "shared-memory"):
        lesson = shipped_lesson(name)
        again = parse_lesson(lesson_text(lesson))
        assert [step.exercise for step in again.steps] == [step.exercise for step in lesson.steps]


def test_a_kernel_whose_blanks_are_filled_is_the_students_own() -> None:
    kernel = next(stop.shot.setup.kernel for stop in shipped_lesson("slides").steps if stop.shot.setup.kernel.blanks)
    assert kernel.is_shipped
    assert not kernel.filled(["x"]).is_shipped
