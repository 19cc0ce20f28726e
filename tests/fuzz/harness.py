"""Tries cases, and keeps those that end otherwise than they may: as files that do it again."""

import hashlib
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed

from gemmviz.model.messages import Cancelled, GemmvizError, cancellable
from tests.fuzz.campaign import Campaign
from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.guard import guarded
from tests.fuzz.limits import Endless, memory, processor_time

_LONGEST_ERROR = 2500  # characters, with the file's name
_MAKE_SMALLER_S = 15.0


class Finding(AssertionError):
    """A case that ended as none may."""


class _TimeIsUp(KeyboardInterrupt):
    """Ends Hypothesis at once: it keeps any other exception."""


def try_case(campaign: Campaign, case: bytes, ends_process: bool = False) -> None:
    """Raises Finding for anything but a result, an error in a sentence, or a timely answer to being called off."""
    try:
        with (
            guarded(case, campaign) as path,
            memory(),
            processor_time(campaign.own_time, ends_process) as is_over,
            nullcontext() if campaign.own_time else cancellable(is_over),
        ):
            _run(campaign, path)
    except Finding:
        raise
    except (Exception, Endless) as error:
        raise Finding(f"{type(error).__name__}: {error}"[:600]) from error


def _run(campaign: Campaign, path: Path) -> None:
    try:
        campaign.run(path)
    except Cancelled:
        pass
    except GemmvizError as error:
        if not error.message.strip() or len(str(error)) > _LONGEST_ERROR:
            raise Finding(f"an error without a sentence: {str(error)[:200]!r}") from error


class Attempt:
    """Runs a campaign. ``tried``: cases so far, ``stepped``: those of them that were next in the list of every case. A file in
    ``keep`` holds the case that is being tried. ``smaller_s``: how long a finding may be made smaller;
    ``ends_process``: as for ``processor_time``.
    """

    def __init__(self, name: str, keep: Path, smaller_s: float = _MAKE_SMALLER_S, ends_process: bool = False) -> None:
        self.name, self.campaign, self.keep = name, CAMPAIGNS[name], keep
        self.current = keep / f"current-{name}{self.campaign.suffix}"
        self.tried = self.stepped = 0
        self.failed: tuple[bytes, str] | None = None
        self._smaller_s, self._ends_process = smaller_s, ends_process
        self._until: float | None = None  # when to leave a finding as it is

    def run(self, cases: int, seed: int, until: float, first: int = 0) -> Path | None:
        """Tries up to so many cases from ``first`` on of every case, then as many made-up ones; both end at a time of
        ``time.monotonic``, the former halfway. Returns the file of a finding, the smallest that could be made.
        """
        self.keep.mkdir(parents=True, exist_ok=True)
        self.campaign.ready()
        now = time.monotonic()
        try:
            if self.campaign.every is not None:
                self._step(self.campaign.every(), first, cases, now + (until - now) / 2)
            self._make_up(cases, seed, until)
        except Finding:
            assert self.failed is not None
            return self._kept(*self.failed)
        return None

    def _step(self, every: Sequence[bytes], first: int, cases: int, until: float) -> None:
        for number in range(first, first + min(cases, len(every))):
            if time.monotonic() > until:
                return
            self._try(every[number % len(every)])
            self.stepped += 1

    def _make_up(self, cases: int, seed: int, until: float) -> None:
        def one(case: bytes) -> None:
            if time.monotonic() > (until if self._until is None else self._until):
                raise _TimeIsUp
            self._try(case)

        quiet = settings(
            max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False,
        )  # fmt: skip
        try:
            with_seed(seed)(quiet(given(self.campaign.cases())(one)))()
        except _TimeIsUp:
            if self.failed is not None:
                raise Finding(self.failed[1]) from None
        except Exception as error:
            if self.failed is None:
                raise Finding(f"the campaign itself fails: {type(error).__name__}: {error}") from error
            raise Finding(self.failed[1]) from error

    def _try(self, case: bytes) -> None:
        self.tried += 1
        self.current.write_bytes(case)
        try:
            try_case(self.campaign, case, self._ends_process)
        except Finding as finding:
            self.failed = case, str(finding)
            if self._until is None:
                self._until = time.monotonic() + self._smaller_s
            raise

    def _kept(self, case: bytes, why: str) -> Path:
        path = self.keep / f"{self.name}-{hashlib.sha256(case).hexdigest()[:10]}{self.campaign.suffix}"
        path.write_bytes(case)
        path.with_suffix(".why").write_text(why + "\n", encoding="utf-8")
        return path
