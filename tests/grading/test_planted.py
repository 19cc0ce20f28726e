"""Each planted mistake is found and named, and nothing is said against right kernels in other words."""

import pytest

from tests.conftest import sampled
from tests.grading.judging import failed, judged_text, task_for
from tests.grading.planted import FAULTS, KERNELS, base_text, changed
from tests.grading.variants import VARIANTS

_LEAST = 60


@pytest.mark.parametrize("kernel", sampled(KERNELS, 3))
def test_the_base_passes(kernel: str) -> None:
    grade = judged_text(base_text(kernel), task_for(kernel)).grade
    assert grade.has_passed, failed(judged_text(base_text(kernel), task_for(kernel)))
    assert grade.score == grade.points == task_for(kernel).most_points


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", KERNELS)
def test_planted_mistakes_are_named(kernel: str) -> None:
    for fault in FAULTS[kernel]:
        checks = failed(judged_text(changed(kernel, fault.changes), task_for(kernel)))
        assert set(checks) == {fault.check, *fault.others}, fault.name
        check = checks[fault.check]
        assert check.finding == fault.finding, fault.name
        assert fault.said in f"{check.title} {check.size} {check.output}", fault.name
        assert check.score == 0


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", KERNELS)
def test_right_kernels_pass_in_other_words(kernel: str) -> None:
    for name, changes in VARIANTS[kernel].items():
        judged = judged_text(changed(kernel, changes), task_for(kernel))
        assert judged.grade.has_passed, (name, [each.output for each in judged.grade.checks])


def test_enough_are_planted() -> None:
    assert sum(map(len, FAULTS.values())) >= _LEAST
    assert sum(map(len, VARIANTS.values())) >= _LEAST
    assert all(FAULTS[kernel] and VARIANTS[kernel] for kernel in KERNELS)
