"""``python -m tests.fuzz [--minutes 60] [--only NAME …]`` tries cases until the time is over; ``python -m tests.fuzz FILE`` does
one again that was kept.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.harness import Attempt, try_case

_KEPT = Path("out/fuzz")
_ROUND_S, _GRACE_S, _CASES = 60.0, 60.0, 2000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="a case that was kept, to be tried again")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", nargs="*", choices=tuple(CAMPAIGNS), default=list(CAMPAIGNS))
    parser.add_argument("--round", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=None, help="of the first round; by default another one each time")
    args = parser.parse_args()
    if args.file is not None:
        return _again(args.file)
    if args.round is not None:
        return _round(args.round, args.seed, args.minutes * 60)
    return _campaign(args.only, args.minutes * 60, args.seed if args.seed is not None else random.randrange(1 << 30))


def _again(path: Path) -> int:
    name = path.stem.removeprefix("current-").partition("-")[0]
    try_case(CAMPAIGNS[name], path)
    print(f"{path}: as it should be")
    return 0


def _round(name: str, seed: int, seconds: float) -> int:
    """One campaign for a while, in a process of its own: a signal or a lack of memory is a finding of the caller's."""
    attempt = Attempt(name, _KEPT)
    found = attempt.run(_CASES, seed, time.monotonic() + seconds)
    print(json.dumps({"tried": attempt.tried, "found": None if found is None else str(found)}), flush=True)
    os._exit(0)  # what was called off may still be at it


def _campaign(names: list[str], seconds: float, seed: int) -> int:
    end, tried, findings = time.monotonic() + seconds, dict.fromkeys(names, 0), []
    print(f"seed {seed}, {seconds / 60:g} minutes", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        number = 0
        while time.monotonic() < end:
            left = min(_ROUND_S, max(1.0, end - time.monotonic()))
            rounds = [(name, seed + number + n) for n, name in enumerate(names)]
            number += len(names)
            for name, done in zip(names, pool.map(partial(_child, left), rounds), strict=True):
                tried[name] += done.tried
                if done.found:
                    findings.append(done.found)
                    print(f"FOUND {done.found}: {done.why}\n  python -m tests.fuzz {done.found}", flush=True)
            print(", ".join(f"{name} {count:,}" for name, count in tried.items()), flush=True)
    print(f"{sum(tried.values()):,} cases, {len(findings)} findings")
    return 1 if findings else 0


@dataclass(frozen=True)
class Done:
    """How a round ended: ``found`` names the file of a case, "" where all went well."""

    tried: int
    found: str = ""
    why: str = ""


def _child(seconds: float, of: tuple[str, int]) -> Done:
    name, seed = of
    command = [sys.executable, "-m", "tests.fuzz", "--round", name, "--seed", str(seed), "--minutes", str(seconds / 60)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds + _GRACE_S, check=False)
        lines = done.stdout.splitlines()
        found = json.loads(lines[-1]) if done.returncode == 0 and lines else None
        why = done.stderr.decode("utf-8", "replace").strip()[-600:] if found is None else ""
        why = why or f"it ended with code {done.returncode}"
    except subprocess.TimeoutExpired:
        found, why = None, f"nothing came of it for {_GRACE_S:g} s"
    if found is None:  # it was lost with its case, which still stands where it was tried
        current = _KEPT / f"current-{name}{CAMPAIGNS[name].suffix}"
        kept = current.with_name(f"{name}-lost-{seed}{current.suffix}")
        kept.write_bytes(current.read_bytes() if current.exists() else b"")
        return Done(0, str(kept), why)
    if found["found"] is None:
        return Done(found["tried"])
    return Done(found["tried"], found["found"], Path(found["found"]).with_suffix(".why").read_text(encoding="utf-8").strip())


if __name__ == "__main__":
    sys.exit(main())
