"""Tries made-up input until the time is over, campaign after campaign, and keeps what ends wrongly as a file.

``python -m tests.fuzz [--minutes 60] [--only NAME ...]``; ``python -m tests.fuzz FILE`` tries a file again that was kept.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count, cycle
from pathlib import Path
from threading import Lock

from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.harness import Attempt, try_case
from tests.fuzz.planted import PLANTED, planted
from tests.fuzz.rounds import Done, Round, ended

_LONGEST_S, _SHORTEST_S = 60.0, 12.0  # a round of one campaign
_CASES = 100_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="a case that was kept, to be tried again")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", nargs="*", choices=tuple(CAMPAIGNS), default=list(CAMPAIGNS))
    parser.add_argument("--seed", type=int, default=None, help="of the first round; by default another one each time")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="rounds at a time (default: one for each core)"
    )
    parser.add_argument("--plant", choices=tuple(PLANTED), help="plant this defect first, to see whether it is found")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="folder for findings (default: %(default)s)")
    parser.add_argument("--round", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    with planted(args.plant):
        if args.file is not None:
            return _again(args.file)
        seed = args.seed if args.seed is not None else random.randrange(1 << 30)
        if args.round is not None:
            return _one_round(args, seed)
    names = [name for name in args.only if not _is_missing(name)]
    return _campaign(names, args, seed)


def _is_missing(name: str) -> bool:
    if missing := CAMPAIGNS[name].missing():
        print(f"{name}: left out, as there is no {missing} here", flush=True)
    return bool(missing)


def _again(path: Path) -> int:
    name = path.stem.removeprefix("current-").partition("-")[0]
    CAMPAIGNS[name].ready()
    try_case(CAMPAIGNS[name], path.read_bytes())
    print(f"{path}: as it should be")
    return 0


def _one_round(args: argparse.Namespace, seed: int) -> int:
    """One campaign for a while, in a process of its own: a signal or a lack of memory is a finding of the caller's."""
    attempt = Attempt(args.round, args.keep, ends_process=True)
    found = attempt.run(_CASES, seed, time.monotonic() + args.minutes * 60, args.first)
    print(
        json.dumps({"tried": attempt.tried, "stepped": attempt.stepped, "found": "" if found is None else str(found)}),
        flush=True,
    )
    os._exit(0)  # what was called off may still be at it


def _campaign(names: list[str], args: argparse.Namespace, seed: int) -> int:
    """Rounds of all campaigns in turn; says what they find as it comes."""
    seconds, workers = args.minutes * 60, args.workers
    print(f"seed {seed}, {seconds / 60:g} minutes, {workers} at a time", flush=True)
    end = time.monotonic() + seconds
    length = min(_LONGEST_S, max(_SHORTEST_S, seconds * workers / len(names)))
    tried, stepped, reasons = dict.fromkeys(names, 0), dict.fromkeys(names, 0), set[str]()
    turn, lock, start = cycle(names), Lock(), random.Random(seed).randrange(1 << 20)  # in the lists of every case
    seeds: Iterator[int] = count(seed)

    def work() -> None:
        while (left := end - time.monotonic()) > 1.0:
            with lock:
                name = next(turn)
                one = Round(name, next(seeds), start + stepped[name], min(length, left), args.plant)
            done = ended(one, args.keep)
            with lock:
                tried[name] += done.tried
                stepped[name] += done.stepped
                _tell(name, done, reasons)
                print(f"{max(0.0, end - time.monotonic()):.0f} s left: {name} {tried[name]:,} cases", flush=True)

    with ThreadPoolExecutor(workers) as pool:
        for each in [pool.submit(work) for _ in range(workers)]:
            each.result()
    for name in names:
        every = CAMPAIGNS[name].every
        steps = f", {min(stepped[name], len(every())):,} of {len(every()):,} single changes" if every is not None else ""
        print(f"{name}: {tried[name]:,} cases{steps}")
    print(f"{sum(tried.values()):,} cases, {len(reasons)} findings")
    return 1 if reasons else 0


def _tell(name: str, done: Done, reasons: set[str]) -> None:
    """Prints a finding, unless it was found before."""
    if done.found and f"{name}: {done.why}" not in reasons:
        reasons.add(f"{name}: {done.why}")
        print(f"FOUND {done.found}: {done.why}\n  python -m tests.fuzz {done.found}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
