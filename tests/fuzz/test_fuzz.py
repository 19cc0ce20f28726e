"""Each campaign for a moment, always with the same cases; and what keeps cases within their limits."""

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gemmviz.model.messages import checkpoint
from tests.fuzz import limits
from tests.fuzz.campaign import Campaign
from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.harness import Attempt, Finding, try_case

_CASES = {"window": 3, "settings": 6, "sources": 40, "headers": 40, "programs": 1, "pages": 15, "faults": 20, "lessons": 40}


@pytest.mark.nightly
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_nothing_made_up_does_harm(name: str, tmp_path: Path) -> None:
    if CAMPAIGNS[name].missing():
        pytest.skip(f"needs {CAMPAIGNS[name].missing()}")
    attempt = Attempt(name, tmp_path)
    found = attempt.run(_CASES.get(name, 60), 1, time.monotonic() + 120)
    assert attempt.tried > 0
    assert found is None, found.with_suffix(".why").read_text() + found.read_bytes()[:2000].decode("utf-8", "replace")


def campaign(run: Callable[[Path], object]) -> Campaign:
    """The lines of the worker, with which something else is done."""
    return Campaign(".lines", CAMPAIGNS["worker"].cases, run)


def test_a_finding_is_kept_as_a_file_that_does_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> None:
        if len(path.read_bytes()) > 3:
            raise ValueError("too long")

    monkeypatch.setitem(CAMPAIGNS, "worker", campaign(fail))
    attempt = Attempt("worker", tmp_path)
    found = attempt.run(200, 1, time.monotonic() + 60)
    assert found is not None
    assert "too long" in found.with_suffix(".why").read_text()
    assert len(found.read_bytes()) < 30  # as small as it can be made
    with pytest.raises(Finding, match="too long"):
        try_case(attempt.campaign, found.read_bytes())


TRESPASSES: dict[str, Callable[[Path], object]] = {
    "writes outside": lambda path: (path.parent.parent / "x").write_text("x"),
    "outside of its folder": lambda path: (path.parent.parent / "kept.cu").unlink(),
    "os.rename outside": lambda path: path.rename(path.parent.parent / "x"),
    "starts 'true'": lambda path: subprocess.run(["true"], check=False),
    "changed the file": lambda path: path.write_text("other"),
    "left .x.part-1 behind": lambda path: (path.parent / ".x.part-1").touch(),
    "MiB of memory": lambda path: len(b"x" * (limits.MOST_MIB + 128 << 20)),
}


@pytest.mark.parametrize("said", TRESPASSES)
def test_a_case_that_oversteps_is_a_finding(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_MIB", 64)  # so that little has to be taken
    with pytest.raises(Finding, match=re.escape(said)):
        try_case(campaign(lambda path: TRESPASSES[said](path)), b"")


def test_what_a_case_may_do_is_none() -> None:
    def harmless(path: Path) -> None:
        (path.parent / "out.svg").write_text("x")
        (path.parent / "inner").mkdir()
        (Path(os.environ["HOME"]) / "remembered").touch()
        checkpoint()

    try_case(campaign(harmless), b"x")
