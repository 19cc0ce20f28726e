"""Fuzzing finds each of the defects that are planted for it."""

import re
import time
from pathlib import Path

import pytest

from tests.fuzz import limits
from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.harness import Attempt
from tests.fuzz.planted import PLANTED, planted
from tests.fuzz.rounds import Round, ended

_S = 120.0  # far more than it takes
_SHORT = 0.4  # of the time that a case may take otherwise


@pytest.mark.nightly
@pytest.mark.qt_no_exception_capture  # the fuzzer listens itself
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_defect_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What never ends is found with a short limit as with a long one."""
    defect = PLANTED[name]
    if CAMPAIGNS[defect.campaign].missing():
        pytest.skip(f"needs {CAMPAIGNS[defect.campaign].missing()}")
    if defect.kills:
        monkeypatch.setenv(limits.SCALE, str(_SHORT))
        done = ended(Round(defect.campaign, 1, 0, _S, name), tmp_path, still_s=3.0)
        assert re.search(defect.said, done.why)
        assert done.found
        return
    if defect.said == "Endless":
        for limit in ("PATIENCE_S", "ANSWER_S", "_AGAIN_S"):
            monkeypatch.setattr(limits, limit, getattr(limits, limit) * _SHORT)
    attempt = Attempt(defect.campaign, tmp_path, smaller_s=0.0)
    with planted(name):
        found = attempt.run(defect.cases, 1, time.monotonic() + _S)
    assert found is not None, f"{attempt.tried} cases found nothing"
    assert re.search(defect.said, found.with_suffix(".why").read_text(encoding="utf-8"))


def test_enough_are_planted() -> None:
    assert len(PLANTED) >= 20
    assert {defect.campaign for defect in PLANTED.values()} == set(CAMPAIGNS)
