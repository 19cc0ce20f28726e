"""No hand-in gets points for work that its kernel doesn't do."""

import pytest
from msgspec import structs

from gemmviz.files.kernel_file import decoded
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.teaching.grading.judge import judged_hand_in
from gemmviz.teaching.grading.task import HandIn
from tests.conftest import sampled
from tests.grading.cheats import BESIDE, CHEATS, REPLACED
from tests.grading.judging import failed, judged_text, task_for
from tests.grading.more_cheats import MORE_CHEATS, NOT_SEEN, Cheat

_LEAST = 60
_WORKING = {
    "one block alone",
    "reads all, writes zeros",
    "three products",
    "all but the last product",
    "right in another namespace",
    "right as an overload",
    "never launched",
    "a grid of one block",
    "columns by a header",
    "a rule of a header",
    "a small grid by a header",
    "right at small sizes",
    "right at all sizes but that of a count",
    "cheap where it is counted",
    "right in small grids",
}  # at some size they access all elements, so that what is said of their accesses and of the launch is true
_SAMPLE = (
    "zeros",
    "zeroes A through const_cast",
    "alpha by a header",
    "contents by a header",
    "unfinished by a header",
    "halves",
)


def _passed(text: str) -> set[str]:
    return {each.id for each in judged_text(text, task_for("naive")).grade.checks if each.status == "passed"}


def _undeserved(cheat: Cheat) -> set[str]:
    """The checks that a hand-in passes and mustn't."""
    texts = {"main.cu": cheat.text, **dict(cheat.files)}
    hand_in = HandIn("student", "A student", {name: decoded(text.encode()) for name, text in texts.items()})
    checks = judged_hand_in(hand_in, task_for(cheat.task), Interpreter()).grade.checks
    return {each.id for each in checks if each.status == "passed"} & {*cheat.denied}


@pytest.mark.parametrize("name", sampled(["square by the host", "adds, zeroes A", "nothing is copied back", "float is a byte"]))
def test_a_sample_of_others_gets_no_points_either(name: str) -> None:
    assert _undeserved(MORE_CHEATS[name]) == set()


@pytest.mark.nightly
def test_what_is_not_seen_is_known() -> None:
    assert {name for name, each in MORE_CHEATS.items() if _undeserved(each)} == NOT_SEEN


def test_enough_are_tried() -> None:
    assert len(CHEATS) + len(REPLACED) >= _LEAST


@pytest.mark.parametrize("name", _SAMPLE)
def test_a_sample_of_hand_ins_gets_no_points_without_the_work(name: str) -> None:
    assert _passed(CHEATS[name]) <= {"parses", "host"}, name


@pytest.mark.nightly
def test_no_hand_in_gets_points_without_the_work() -> None:
    passed = {name: _passed(text) for name, text in CHEATS.items()}
    assert {name for name, each in passed.items() if {"result", "host"} <= each} == set()
    idle = {name: each for name, each in passed.items() if not each <= {"parses", "host"}}
    assert idle.keys() == _WORKING, idle


@pytest.mark.parametrize("name", REPLACED)
def test_a_file_of_the_task_can_not_be_replaced(name: str) -> None:
    task = structs.replace(task_for("naive"), files=(("config.h", "#define SCALE 1\n"),))
    right = judged_hand_in(HandIn("s", "S", {"main.cu": BESIDE, name: REPLACED[name]}), task, Interpreter())
    assert right.grade.has_passed
    wrong = structs.replace(task, files=(("config.h", "#define SCALE 2\n"),))
    assert "result" in failed(
        judged_hand_in(HandIn("s", "S", {"main.cu": BESIDE, name: "#define SCALE 1\n"}), wrong, Interpreter())
    )
