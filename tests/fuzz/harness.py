"""Tries cases, and keeps those that end otherwise than they may: as files that do it again."""

import hashlib
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed

from gemmviz.model.cancelling import cancellable
from gemmviz.model.errors import Cancelled, GemmvizError
from tests.fuzz.campaigns import CAMPAIGNS, Campaign

MOST_MIB = 1536
_PATIENCE_S, _LONGEST_WAIT_S = 3.0, 5.0  # when a case is called off; how long it may take until it answers then
_LONGEST_ERROR = 2500  # characters, with the file's name
_KIB = 1024 if sys.platform == "darwin" else 1


class Finding(AssertionError):
    """A case that ended as none may."""


def try_case(campaign: Campaign, path: Path) -> None:
    """Raises Finding for anything but a result, an error in a sentence, or a timely answer to being called off."""
    start = time.monotonic()

    def cancelled() -> bool:
        return time.monotonic() - start > _PATIENCE_S

    try:
        with cancellable(cancelled):
            campaign.run(path, cancelled)
    except Cancelled:
        pass
    except GemmvizError as error:
        if not error.message.strip() or len(str(error)) > _LONGEST_ERROR:
            raise Finding(f"an error without a sentence: {str(error)[:200]!r}") from error
    except Exception as error:
        raise Finding(f"{type(error).__name__}: {error}"[:300]) from error
    waited = time.monotonic() - start - _PATIENCE_S
    if waited > _LONGEST_WAIT_S:
        raise Finding(f"called off, it went on for {waited:.1f} s")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 * _KIB)
    if used > MOST_MIB:
        raise Finding(f"{used} MiB of memory")


class Attempt:
    """Runs a campaign on cases that Hypothesis makes up. ``current`` is where the case stands that is being tried."""

    def __init__(self, name: str, keep: Path) -> None:
        self.name, self.campaign, self.keep = name, CAMPAIGNS[name], keep
        self.tried = 0
        self.failed: tuple[bytes, str] | None = None

    def run(self, cases: int, seed: int, until: float) -> Path | None:
        """Tries so many cases, or as many as there is time for; the file of the smallest finding."""
        test = given(self.campaign.cases())(lambda case: self._try(case, until))
        quiet = settings(
            max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False,
        )  # fmt: skip
        try:
            with_seed(seed)(quiet(test))()
        except Exception as error:
            if self.failed is None:
                raise Finding(f"the campaign itself fails: {error}") from error
            return self._kept(*self.failed)
        return None

    def _try(self, case: bytes, until: float) -> None:
        if time.monotonic() > until:
            return
        self.tried += 1
        folder = Path(tempfile.mkdtemp(prefix="gemmviz-fuzz-"))
        path = folder / f"case{self.campaign.suffix}"
        path.write_bytes(case)
        self.keep.mkdir(parents=True, exist_ok=True)
        (self.keep / f"current-{self.name}{self.campaign.suffix}").write_bytes(case)
        try:
            try_case(self.campaign, path)
        except Finding as finding:
            self.failed = case, str(finding)
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _kept(self, case: bytes, why: str) -> Path:
        path = self.keep / f"{self.name}-{hashlib.sha256(case).hexdigest()[:10]}{self.campaign.suffix}"
        path.write_bytes(case)
        path.with_suffix(".why").write_text(why + "\n", encoding="utf-8")
        return path
