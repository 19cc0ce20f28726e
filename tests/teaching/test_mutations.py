"""A lesson whose kernel is damaged fails its check, whatever is damaged: a sum, an index, a barrier, a guard."""

import re
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import lesson_names, plan_names
from gemmviz.model.kernel import KernelSpec
from gemmviz.run.choosing import engine_for
from gemmviz.teaching.checking import LessonChecker
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson

ENGINE = engine_for("cpu")
_POINTER = r"float\s*\*\s*(?:__restrict__ )?(\w+)"
_CONDITION = r"[^;{}?]*[<>][^;{}?]*"


@cache
def steps_by_kernel() -> dict[str, list[LessonStep]]:
    """The steps of all lessons by their kernel, without those whose blanks a student fills in, or whose run ends early: what
    comes after its end can be anything.
    """
    steps: dict[str, list[LessonStep]] = {}
    for name in lesson_names():
        for step in shipped_lesson(name).steps if name not in plan_names() else ():
            if not step.shot.setup.kernel.blanks and not any(each.quantity == "fault" for each in step.expect):
                steps.setdefault(step.shot.setup.kernel.name, []).append(step)
    return steps


def mutations(kernel: KernelSpec) -> Iterator[tuple[str, str]]:
    """Damaged texts of a kernel: what is damaged, and the text. Comments stay as they are."""
    for what, pattern, by in (
        ("a sum is halved", r"(?<=\+= )(?=\w+\[)", "0.5f * "),
        *((f"an index of {name} is shifted", rf"(?<=\b{name}\[)(?!\])", "1 + ") for name in re.findall(_POINTER, kernel.text)),
        ("a barrier is removed", r"__syncthreads\(\);", ";"),
        ("a guard is dropped", rf"(?<=\bif \(){_CONDITION}(?=\)(?: \{{|\n| return| \w))", "true"),
        ("a guard is dropped", rf"(?<=[=(] )(?:\({_CONDITION}\)|[^;?={{}}]*<[^;?{{}}]*)(?= \?)", "true"),
    ):
        for found in re.finditer(pattern, kernel.text):
            line = kernel.text[kernel.text.rfind("\n", 0, found.start()) + 1 : kernel.text.find("\n", found.end())]
            if not line.strip().startswith(("//", "for", "*", "/*")):
                place = kernel.text.count("\n", 0, found.start()) + 1
                yield f"{what} in line {place}", kernel.text[: found.start()] + by + kernel.text[found.end() :]


def test_kinds_of_damage() -> None:
    """Each kind of damage is found in some kernel, and in most kernels several."""
    kinds = {
        name: {what.partition(" in ")[0] for what, _ in mutations(steps[0].shot.setup.kernel)}
        for name, steps in steps_by_kernel().items()
    }
    assert kinds["04_tiled"] >= {"a sum is halved", "an index of A is shifted", "a barrier is removed", "a guard is dropped"}
    assert sum(len(each) >= 2 for each in kinds.values()) >= 0.8 * len(kinds)


@pytest.mark.nightly
@pytest.mark.parametrize("name", steps_by_kernel())
def test_a_damaged_kernel_fails_the_check_of_its_lessons(name: str) -> None:
    """As it is, the kernel passes: that is checked with the lessons."""
    steps = steps_by_kernel()[name]
    kernel = steps[0].shot.setup.kernel
    damaged = [(what, text) for what, text in mutations(kernel) if shows(what, kernel)]
    assert [what for what, text in damaged if not fails(steps, structs.replace(kernel, text=text))] == []


def shows(what: str, kernel: KernelSpec) -> bool:
    """Whether a run of the kernel can show the damage: one that stores nothing shows no sum."""
    return not (kernel.unfinished and "sum" in what)


def fails(steps: list[LessonStep], kernel: KernelSpec) -> bool:
    """Whether a check of the steps fails with another kernel."""
    stops = tuple(
        structs.replace(step, needs=(), shot=structs.replace(step.shot, setup=structs.replace(step.shot.setup, kernel=kernel)))
        for step in steps
    )
    checks = LessonChecker(lambda kernel: nullcontext(ENGINE)).checks_of(Lesson(steps=stops))
    return any(not each.is_true and not each.is_remark for each in checks)
