"""Right kernels aren't accused, and each kind of fault is found: always the same ones."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.fuzz.faults import accusations, cases, complaint, judged, kernel, run
from tests.fuzz.kernel_writer import MISSING, SHARED, Fault, Kernel

_SEEDS, _MOST_SEEDS = 40, 400


@cache
def _first_with() -> dict[str, int]:
    """For each fault the first kernel that can have it."""
    found: dict[str, int] = {}
    for seed in range(_MOST_SEEDS):
        for name in kernel(seed).faults:
            found.setdefault(name, seed)
    return found


_SOME = pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.nightly)])


@_SOME
def test_right_kernels_are_not_accused(every: int) -> None:
    assert [said for seed in range(0, _SEEDS, every) if (said := judged(seed, None))] == []


@_SOME
def test_each_fault_is_found(every: int) -> None:
    assert len(_first_with()) > 50
    assert [(seed, said) for name, seed in [*_first_with().items()][::every] if (said := judged(seed, name))] == []


def test_a_kernel_and_its_faults_are_the_same_for_the_same_seed() -> None:
    assert kernel(7) == kernel(7)
    assert kernel(7) != kernel(8)
    seed = _first_with()["not ready"]
    changed = kernel(seed).with_fault("not ready")
    assert changed.count("__sync") < kernel(seed).text.count("__sync")
    assert len(changed.splitlines()) == len(kernel(seed).text.splitlines())


def test_wrong_expectations_are_reported(tmp_path: Path) -> None:
    seed = _first_with()["not ready"]
    right = kernel(seed)
    fault = right.faults["not ready"]
    found = accusations(right.with_fault("not ready"))
    assert complaint(right, "not ready", found) == ""
    assert "a right kernel is accused: hazard in shared memory (read after write" in complaint(right, None, found)
    assert "is missed: it is hazard in shared memory, and what is said is nothing" in complaint(right, "not ready", [])
    elsewhere = _with(right, Fault(fault.edits, fault.must, frozenset({1}), fault.may))
    assert "is about lines [1], not" in complaint(elsewhere, "not ready", found)
    other = _with(right, Fault(fault.edits, frozenset({MISSING}), fault.at, frozenset({MISSING, SHARED})))
    assert "is missed: it is unwritten" in complaint(other, "not ready", found)
    path = tmp_path / "case.json"
    path.write_text(json.dumps({"seed": seed, "fault": "not ready"}), encoding="utf-8")
    run(path)


def test_an_accused_kernel_fails_its_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = _first_with()["not ready"]
    broken = Kernel(kernel(seed).with_fault("not ready"))
    monkeypatch.setattr("tests.fuzz.faults.kernel", lambda seed: broken)
    path = tmp_path / "case.json"
    path.write_text(json.dumps({"seed": seed, "fault": None}), encoding="utf-8")
    with pytest.raises(AssertionError, match=f"seed {seed}: a right kernel is accused"):
        run(path)


@pytest.mark.nightly
@settings(max_examples=10, database=None, derandomize=True, deadline=None)
@given(cases())
def test_cases_name_a_seed_and_a_fault_that_its_kernel_can_have(case: bytes) -> None:
    facts = json.loads(case)
    assert facts["fault"] is None or facts["fault"] in kernel(facts["seed"]).faults


def _with(right: Kernel, fault: Fault) -> Kernel:
    return Kernel(right.text, {"not ready": fault})
