"""Many actions in one window: what they raise, how its memory grows, and what keeps it waiting.

``python -m tests.fuzz.walk --actions 20000 --seed 1`` ends with 1 if anything was raised, the memory at rest is more than 1.3 times that
after the first 100 actions, or the window's thread was kept for more than 0.2 s of its own time.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from random import Random

from tests.fuzz.in_the_window import (
    FIRST,
    MOST_ACTIONS,
    MOST_GROWTH,
    STALL_S,
    Clock,
    begin_anew,
    do,
    memory_mib,
    objects,
    pass_,
    raised_so_far,
    settle,
    some_actions,
    window_made,
)


def main() -> None:
    """Does many actions in one window, and tells what was raised, how memory grew and what kept the window."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.walk", description=__doc__)
    parser.add_argument("--actions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    window, random, raised, clock, found = window_made(), Random(args.seed), raised_so_far(), Clock(), list[str]()
    start, memory, waits = time.monotonic(), list[int](), 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GEMMVIZ_HOME"] = folder
        for number in range(1, args.actions + 1):
            [(name, lives_s, *facts)] = some_actions(random, 1)
            what = f"action {number}, {name} {facts}"
            try:
                clock.timed(what, lambda name=name, facts=facts: do(window, name, facts, Path(folder)))  # type: ignore[misc]
            except Exception as error:
                raised.append(f"{type(error).__name__}: {error}")
            settle(window, lambda what=what: clock.timed(f"after {what}", lambda: pass_(0.0)), lives_s)  # type: ignore[misc]
            for each in (*(f"{each}, at {what}" for each in raised), *(f"{s:.2f} s: {late}" for late, s in clock.slow.items())):
                print(each, flush=True)
            found += raised
            waits += len(clock.slow)
            raised.clear()
            clock.slow.clear()
            if number % MOST_ACTIONS == 0:
                begin_anew(window)
                objects(window)
            if number == FIRST or number % 500 == 0:
                memory.append(memory_mib())
                print(f"{number} actions, {time.monotonic() - start:.0f} s: {memory[-1]} MiB, {len(found)} raised, "
                      f"{waits} waits over {STALL_S:g} s", flush=True)  # fmt: skip
    is_bounded = max(memory, default=0) <= MOST_GROWTH * memory[0] if memory else True
    os._exit(0 if is_bounded and not found and not waits else 1)


if __name__ == "__main__":
    main()
