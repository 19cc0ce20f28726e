"""One round of a campaign, in a process that is watched from outside."""

import json
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.fuzz.campaigns import CAMPAIGNS

_LOOK_S, _STILL_S, _AT_LEAST_S = 1.0, 30.0, 0.05
_LONGEST_WHY = 800


@dataclass(frozen=True)
class Round:
    """``first``: where to go on in the list of every case; ``plant``: a defect to plant."""

    name: str
    seed: int
    first: int
    seconds: float
    plant: str | None = None


@dataclass(frozen=True)
class Done:
    """How a round ended. ``found``: the file of a case, "" where all went well; ``why``: what is wrong with it."""

    tried: int = 0
    stepped: int = 0
    found: str = ""
    why: str = ""


def ended(one: Round, keep: Path, still_s: float = _STILL_S) -> Done:
    """The end of a round. One that uses no processor for ``still_s`` waits for something that doesn't come, and is stopped."""
    command = [sys.executable, "-m", "tests.fuzz", "--round", one.name, "--seed", str(one.seed), "--first", str(one.first),
               "--minutes", str(one.seconds / 60), "--keep", str(keep), *(("--plant", one.plant) if one.plant else ())]  # fmt: skip
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        waits = _watched(process, still_s)
        out.seek(0)
        err.seek(0)
        lines = out.read().splitlines()
        said = err.read().decode("utf-8", "replace").strip()[-_LONGEST_WHY:]
    if not waits and process.returncode == 0 and lines:
        facts = json.loads(lines[-1])
        found = facts["found"]
        why = Path(found).with_suffix(".why").read_text(encoding="utf-8").strip() if found else ""
        return Done(facts["tried"], facts["stepped"], found, why)
    return Done(0, 0, str(_kept(one, keep)), waits or _ending(process.returncode, said))


def _watched(process: "subprocess.Popen[bytes]", still_s: float) -> str:
    """Waits for its end; "", or why it was stopped."""
    used, since = -1.0, time.monotonic()
    while True:
        try:
            process.wait(_LOOK_S)
            return ""
        except subprocess.TimeoutExpired:
            now = _processor_s(process.pid)
        if now > used + _AT_LEAST_S:
            used, since = now, time.monotonic()
        elif time.monotonic() - since > still_s:
            _stop(process)
            return f"it did nothing for {still_s:g} s"


def _processor_s(pid: int) -> float:
    """Processor time of a process and all that it started."""
    try:
        parent = psutil.Process(pid)
        times = [each.cpu_times() for each in (parent, *parent.children(recursive=True))]
    except psutil.Error:
        return 0.0
    return float(sum(each.user + each.system for each in times))


def _stop(process: "subprocess.Popen[bytes]") -> None:
    try:
        for each in psutil.Process(process.pid).children(recursive=True):
            each.kill()
    except psutil.Error:
        pass
    process.kill()
    process.wait()


def _ending(code: int, said: str) -> str:
    if code == -signal.SIGXCPU:
        return "it went on and on in code that is not Python"
    what = f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with code {code}"
    return f"{what}: {said}" if said else what


def _kept(one: Round, keep: Path) -> Path:
    """A copy of the case that was being tried."""
    suffix = CAMPAIGNS[one.name].suffix
    current = keep / f"current-{one.name}{suffix}"
    kept = keep / f"{one.name}-lost-{one.seed}{suffix}"
    keep.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(current.read_bytes() if current.exists() else b"")
    return kept
