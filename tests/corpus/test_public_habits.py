"""Kernels in the habits of many authors open right, and none is accused; faults that are planted in them are found."""

from collections import Counter

import pytest

from tests.corpus.public_habits.corpus import Entry, entries
from tests.corpus.public_habits.judged import ACCUSED, INTERNAL, OPENED, judged, judged_as
from tests.corpus.public_habits.planted import faults

_FEW, _SOME = 276, 192  # of the files and of the faults, every this many in the fast tests
_UNKNOWN = (
    "heat_step",
    "other_heat_loop",
    "stencil_1d",
    "pitched",
)  # kernels of problems that have no check, or no known launch
_NOT_SEEN = ("one_col_per_thread-course_student-wrong_start_of_a_sum",)  # C is zero before a run


def test_no_right_kernel_is_accused() -> None:
    verdicts = Counter(judged(each.name, each.files, each.main).verdict for each in entries()[::_FEW])
    assert verdicts[ACCUSED] + verdicts[INTERNAL] == 0, verdicts


@pytest.mark.nightly
def test_no_right_kernel_of_all_is_accused_and_nearly_all_open() -> None:
    every = entries()
    verdicts = Counter(judged(each.name, each.files, each.main).verdict for each in every)
    assert verdicts[ACCUSED] + verdicts[INTERNAL] == 0, verdicts
    assert verdicts[OPENED] >= 0.95 * len(every), verdicts


def test_planted_faults_are_found() -> None:
    assert not _missed(faults()[::_SOME])


@pytest.mark.nightly
def test_all_planted_faults_are_found() -> None:
    assert not _missed(faults())


def _missed(chosen: list[tuple[Entry, Entry]]) -> list[str]:
    said = [judged_as(right, faulty) for right, faulty in chosen]
    return [
        f"{each.name}: {each.verdict}" for each in said if each.verdict != ACCUSED and not _is_expected(each.name, each.verdict)
    ]


def _is_expected(name: str, verdict: str) -> bool:
    return name in _NOT_SEEN or (name.startswith(_UNKNOWN) and verdict != OPENED)
