"""Texts judged in the process of the tests."""

from functools import cache

from gemmviz.files.kernel_file import decoded
from gemmviz.teaching.grading.judge import Judged, judged_hand_in
from gemmviz.teaching.grading.task import CheckResult, HandIn, Task
from gemmviz.teaching.grading.task_file import named_task
from tests.conftest import ENGINE
from tests.grading.planted import FOLDER


@cache
def task_for(kernel: str) -> Task:
    """The task of one of the five kernels."""
    return named_task(str(FOLDER / kernel / "task.toml"))


def judged_text(text: str, task: Task, **others: str) -> Judged:
    """A hand-in of one file, and of ``others`` by their names without the suffix .cu."""
    texts = {"main.cu": decoded(text.encode()), **{f"{name}.cu": each for name, each in others.items()}}
    return judged_hand_in(HandIn("student", "A student", texts), task, ENGINE)


def failed(judged: Judged) -> dict[str, CheckResult]:
    return {each.id: each for each in judged.grade.checks if each.status == "failed"}
