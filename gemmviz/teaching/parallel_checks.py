"""Checks of several lessons by two processes: a lesson is checked by one of them, and its findings are sent back."""

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

from gemmviz.model.errors import GemmvizError, Place
from gemmviz.run.choosing import engine_for
from gemmviz.teaching.checking import LessonChecker
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.lesson_check import LessonCheck
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.quantities.quantity import QuantityValue
from gemmviz.teaching.remembered_answers import RememberedAnswers

_PROCESSES = 2
_Sent = tuple[int, str, Place | None, Expectation | None, QuantityValue | None, GemmvizError | None, bool]


def new_checker() -> LessonChecker:
    """A checker that runs kernels in the interpreter."""
    engine = RememberedAnswers(engine_for("cpu"))
    return LessonChecker(lambda kernel: nullcontext(engine))


def checks_by_step(names: Iterable[str]) -> list[list[LessonCheck]]:
    """The checks of each step of some shipped lessons, computed by two processes; the longest lessons come first."""
    names = sorted(names, key=lambda name: -len(shipped_lesson(name).stops))
    steps: list[list[LessonCheck]] = []
    with ProcessPoolExecutor(_PROCESSES, get_context("spawn")) as pool:
        for name, sent in zip(names, pool.map(_sent_checks, names), strict=True):
            own: list[list[LessonCheck]] = [[] for _ in shipped_lesson(name).stops]
            for number, subject, place, expectation, actual, error, is_remark in sent:
                step = shipped_lesson(name).stops[number - 1]
                own[number - 1].append(LessonCheck(step, subject, place, expectation, actual, error, is_remark, number))
            steps += own
    return steps


def _sent_checks(name: str) -> list[_Sent]:
    """The checks of a lesson without their steps, which the other process has."""
    return [
        (each.number, each.subject, each.place, each.expectation, each.actual, _plain(each.error), each.is_remark)
        for each in new_checker().checks_of(shipped_lesson(name))
    ]


def _plain(error: GemmvizError | None) -> GemmvizError | None:
    """An error that can be sent: those of other classes need more arguments than their message."""
    if error is None:
        return None
    return GemmvizError(error.message, error.place, file=error.file, remedy=error.remedy, id=error.id)
