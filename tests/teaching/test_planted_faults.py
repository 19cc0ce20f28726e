"""``lesson check`` fails for nearly every fault that is planted: in texts, questions, kernels, keys and files of figures."""

from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import lesson_names, load_kernel, plan_names
from gemmviz.files.recordings import checksum_errors
from gemmviz.files.resources import ROOT
from gemmviz.model.messages import GemmvizError
from gemmviz.teaching import checking as faults_of_exercises
from gemmviz.teaching.checking import LessonCheck, LessonChecker
from gemmviz.teaching.lesson import Lesson, LessonStep, answers_of
from gemmviz.teaching.lesson_file import original_lesson, parse_lesson
from tests.conftest import stored_first, sure
from tests.teaching import fresh_faults, planted_faults

MOST_MISSED = 5
MOST_MISSED_FRESH = 30  # words for small numbers, orders in prose, and what a picture shows that nothing states
_EVERY = 7  # of the faults, one is planted in the fast tests


def failing(step: LessonStep, before: tuple[LessonStep, ...] = ()) -> bool:
    """Whether the check of a lesson's step fails. ``before``: the steps before it, which are not checked again."""
    checker = LessonChecker(stored_first)
    checker.adopt([[LessonCheck(each, "known", each.place)] for each in before])
    checks = checker.checks_of(Lesson(steps=(*before, step), name="planted"))
    return any(not each.is_true and not each.is_remark for each in checks)


def text_is_caught(where: str, old: str, new: str) -> bool:
    name, id = where.split("/")
    text = (ROOT / "assets" / "lessons" / f"{name}.toml").read_text("utf-8")
    first = text.index(f'id = "{id}"')
    last = text.find("[[step]]", first) % (len(text) + 1)
    assert old in text[first:last], (where, old)
    try:
        lesson = parse_lesson(text[:first] + text[first:last].replace(old, new, 1) + text[last:], f"{name}.toml")
    except GemmvizError:
        return True
    place = sure(lesson.find(id))
    return failing(lesson.steps[place], tuple(structs.replace(stop, needs=()) for stop in lesson.steps[:place]))


@cache
def steps_with(kernel: str) -> list[LessonStep]:
    """Steps of a kernel, the smallest problems first."""
    lessons = [original_lesson(name) for name in lesson_names() if name not in plan_names()]
    found = [stop for lesson in lessons for stop in lesson.steps if stop.shot.setup.kernel.name == kernel]
    return sorted(found, key=lambda stop: max(stop.shot.setup.problem.sizes.values()))


def kernel_is_caught(name: str, old: str, new: str) -> bool:
    kernel = load_kernel(name)
    assert old in kernel.text, (name, old)
    other = structs.replace(kernel, text=kernel.text.replace(old, new, 1))
    steps = steps_with(name)
    return any(
        failing(
            structs.replace(
                step, needs=(), shot=structs.replace(step.shot, setup=structs.replace(step.shot.setup, kernel=other))
            )
        )
        for step in steps
    )


def key_is_caught(where: str, number: int, answer: str, *, monkeypatch: pytest.MonkeyPatch) -> bool:
    name, id = where.split("/")
    lesson = original_lesson(name)
    step = lesson.steps[sure(lesson.find(id))]
    key = answers_of(sure(step.exercise).key)
    wrong = (*key[: number - 1], answer, *key[number:])
    with monkeypatch.context() as patched:
        patched.setattr(faults_of_exercises, "answers_of", lambda name: wrong)
        return failing(structs.replace(step, needs=()))


def file_is_caught(name: str, old: str, new: str) -> bool:
    def read(path: Path) -> bytes:
        data = path.read_bytes()
        if path != ROOT / name:
            return data
        assert old.encode() in data, (name, old)
        return data.replace(old.encode(), new.encode(), 1)

    return len(list(checksum_errors(read))) == 1


def missed(faults: ModuleType, every: int, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The planted faults that no check finds, of each kind every so many."""
    return [
        *(each for each in faults.TEXTS[::every] if not text_is_caught(*each)),
        *(each for each in faults.KERNELS[::every] if not kernel_is_caught(*each)),
        *(each for each in faults.KEYS[::every] if not key_is_caught(*each, monkeypatch=monkeypatch)),
        *(each for each in faults.FILES[::every] if not file_is_caught(*each)),
    ]


def count(faults: ModuleType) -> int:
    return len(faults.TEXTS) + len(faults.KERNELS) + len(faults.KEYS) + len(faults.FILES)


def test_some_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(missed(planted_faults, _EVERY, monkeypatch)) <= 1


@pytest.mark.nightly
def test_nearly_all_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count(planted_faults) >= 110
    found = missed(planted_faults, 1, monkeypatch)
    assert len(found) <= MOST_MISSED, found


@pytest.mark.nightly
def test_faults_that_somebody_else_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count(fresh_faults) == 60
    found = missed(fresh_faults, 1, monkeypatch)
    assert len(found) <= MOST_MISSED_FRESH, found


def test_the_files_are_as_they_were_recorded() -> None:
    assert list(checksum_errors()) == []
