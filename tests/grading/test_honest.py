"""Every right hand-in gets full points, in whatever habit it is written."""

import pytest

from gemmviz.files.kernel_file import decoded
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.teaching.grading.judge import judged_hand_in
from gemmviz.teaching.grading.task import HandIn
from tests.grading.honest import HONEST
from tests.grading.judging import task_for

_LEAST = 60
_BY_A_PERSON = {"sizes in constant memory", "a counter for statistics"}  # the host code alone knows the values
_SAMPLE = (
    "grid-stride loops",
    "a flattened block",
    "device functions",
    "a kernel, its header and a program",
    "tiles in dynamic memory",
    "four results a thread, in a column",
)


def _refused(name: str) -> dict[str, str]:
    """The checks that a hand-in doesn't pass, with what is said of each."""
    task, files = HONEST[name]
    hand_in = HandIn("student", "A student", {file: decoded(text.encode()) for file, text in files.items()})
    checks = judged_hand_in(hand_in, task_for(task), Interpreter()).grade.checks
    return {each.id: each.output for each in checks if each.status != "passed"}


def test_enough_are_tried() -> None:
    assert len(HONEST) >= _LEAST


@pytest.mark.parametrize("name", _SAMPLE)
def test_a_sample_of_right_hand_ins_gets_full_points(name: str) -> None:
    assert _refused(name) == {}


@pytest.mark.nightly
def test_every_right_hand_in_gets_full_points() -> None:
    refused = {name: _refused(name) for name in HONEST}
    assert {name: each for name, each in refused.items() if each and name not in _BY_A_PERSON} == {}
    assert all("a person has to look" in each for name in _BY_A_PERSON for each in refused[name].values())
