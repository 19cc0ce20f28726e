"""A file opens and is judged alike from all doors: the window and the commands, exercises, and grading."""

from pathlib import Path
from random import Random

import pytest
from msgspec import structs

from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import decoded
from gemmviz.model.kernel import KernelSpec
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.loader import open_kernel
from gemmviz.shots.shot import Shot
from gemmviz.teaching.exercises import judged as judged_exercise
from gemmviz.teaching.grading.judge import judged_hand_in
from gemmviz.teaching.grading.opening import opened_hand_in
from gemmviz.teaching.grading.task import HandIn
from gemmviz.teaching.grading.task_file import parse_task
from gemmviz.teaching.lesson import Exercise, ExerciseSize, Expectation
from tests.conftest import sure
from tests.corpus.public_habits.corpus import Entry, entries

_FEW = 160  # of the files, every this many in the fast tests
_TASK = parse_task('format = "gemmviz task"\nversion = 1\ntitle = "T"\n', "t.toml")
_RIGHT = Exercise("Multiply.", until=(Expectation("result", "right"),))


def _multiplications() -> list[Entry]:
    return [each for each in entries() if each.case is not None and each.case.piece.problem == "gemm"]


def _launch(kernel: KernelSpec) -> tuple[object, ...]:
    return kernel.function, kernel.args, kernel.block, kernel.grid, kernel.shared_bytes, kernel.column_major


def _differences(chosen: list[Entry], folder: Path) -> dict[str, tuple[object, ...]]:
    """What differs between the doors, by the name of the file."""
    found: dict[str, tuple[object, ...]] = {}
    for number, each in enumerate(chosen):
        for name, text in each.files.items():
            path = folder / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (folder / str(number) / "Makefile").touch()
        window = open_kernel(str(folder / str(number) / each.main))
        hand_in = HandIn("s", "S", {name: decoded(text.encode()) for name, text in each.files.items()})
        size = ExerciseSize(problem=dict(window.problem.sizes))
        task = structs.replace(_TASK, sizes=(size,), square=(), type=sure(each.case).type)
        graded = opened_hand_in(hand_in, task).kernel
        exercise = judged_exercise(_RIGHT, Shot(setup_for(window)), Interpreter(), random=Random(0))
        grade = judged_hand_in(hand_in, task, Interpreter()).grade
        if _launch(window) != _launch(graded) or exercise.passed != grade.has_passed:
            found[each.name] = (_launch(window), _launch(graded), exercise.lines, grade.findings)
    return found


def test_a_file_opens_and_is_judged_alike_from_all_doors(tmp_path: Path) -> None:
    assert _differences(_multiplications()[::_FEW], tmp_path) == {}


@pytest.mark.nightly
def test_every_file_opens_and_is_judged_alike_from_all_doors(tmp_path: Path) -> None:
    assert _differences(_multiplications(), tmp_path) == {}
