"""Each campaign for a moment, always with the same cases; and what it once found."""

import time
from pathlib import Path

import pytest

from tests.fuzz.campaigns import CAMPAIGNS, Campaign
from tests.fuzz.harness import Attempt, Finding, try_case

_CASES = {"window": 6, "settings": 6, "sources": 40, "headers": 40, "traces": 60, "views": 40}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CAMPAIGNS if name not in ("window", "settings")])
def test_nothing_made_up_does_harm(name: str, tmp_path: Path) -> None:
    attempt = Attempt(name, tmp_path)
    found = attempt.run(_CASES.get(name, 100), 1, time.monotonic() + 60)
    assert attempt.tried > 0
    assert found is None, found.with_suffix(".why").read_text() + found.read_bytes()[:2000].decode("utf-8", "replace")


def test_a_finding_is_kept_as_a_file_that_does_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, cancelled: object) -> None:
        if len(path.read_bytes()) > 3:
            raise ValueError("too long")

    before = CAMPAIGNS["worker"]
    monkeypatch.setitem(CAMPAIGNS, "worker", Campaign(before.suffix, before.cases, fail))
    attempt = Attempt("worker", tmp_path)
    found = attempt.run(200, 1, time.monotonic() + 60)
    assert found is not None
    assert "too long" in found.with_suffix(".why").read_text()
    assert len(found.read_bytes()) < 30  # as small as it can be made
    with pytest.raises(Finding, match="too long"):
        try_case(attempt.campaign, found)
