"""Random right kernels, of which nothing may be said, and the same with a fault, which must be found.

``python -m tests.fuzz.faults 1000`` tries so many of both; ``python -m tests.fuzz.faults --show 7 "not ready"`` writes one.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.messages import GemmvizError
from gemmviz.run.choosing import run as traced
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.knowledge import Knowledge, searched_blocks
from gemmviz.shots.shot import Shot
from tests.fuzz.campaign import Campaign
from tests.fuzz.kernel_writer import DIVERGENT, GLOBAL, MISSING, RANGE, SHARED, UNSET, WRONG, Kernel, Writer
from tests.fuzz.plain_kernels import Direct, Lanes
from tests.fuzz.tiled_kernels import Tiled

_WRITERS: tuple[type[Writer], ...] = (Direct, Lanes, Tiled, Tiled, Tiled)
_MESSAGES = {"is out of range": RANGE, "is read before it is written": UNSET, "in divergent flow": DIVERGENT}


@dataclass(frozen=True)
class Accusation:
    """What is said of a kernel, and the lines that are named."""

    kind: str
    lines: frozenset[int]
    sentence: str

    def __str__(self) -> str:
        return f"{self.kind} ({self.sentence})"


def kernel(seed: int) -> Kernel:
    """A kernel that is right; the same for the same seed."""
    writer = random.Random(seed).choice(_WRITERS)(seed)
    return writer.kernel()


def accusations(text: str) -> list[Accusation]:
    """What the program says of a kernel once it is shown. Raises as ``run`` of ``gemmviz.shots.runs`` does."""
    setup, engine = setup_for(parse_kernel(text, "kernel.cu")), Interpreter()
    outcome = traced(setup, (0, 0, 0), engine)
    if outcome.fault is not None:
        fault = outcome.fault
        kind = next((kind for words, kind in _MESSAGES.items() if words in fault.message), fault.message)
        return [Accusation(kind, frozenset() if fault.place is None else frozenset({fault.place.line}), str(fault))]
    replay = Knowledge(Shot(setup), engine, outcome, with_values=False).replay
    trace, blocks = replay.trace, searched_blocks(replay.trace)
    assert trace.is_whole, "not all of it was traced"
    assert blocks == trace.blocks.count, "not all of it was searched"
    arrays = {array.name: array for array in trace.arrays}
    found = [
        Accusation(
            SHARED if arrays[hazard.array].space == "shared" else GLOBAL,
            frozenset({hazard.earlier.place.line, hazard.later.place.line}), f"{hazard.kind}: {hazard}",
        )
        for hazard in replay.ordering.hazards
    ]  # fmt: skip
    if trace.check.wrong:
        found.append(Accusation(WRONG, frozenset(), str(trace.check)))
    if trace.check.unwritten:
        found.append(Accusation(MISSING, frozenset(), str(trace.check)))
    return found


def complaint(kernel: Kernel, fault: str | None, found: list[Accusation]) -> str:
    """What is wrong with the accusations of a kernel with this fault, or with none; "" where they are as they should be."""
    if fault is None:
        return f"a right kernel is accused: {found[0]}" if found else ""
    of = kernel.faults[fault]
    if not any(each.kind in of.must for each in found):
        said = "; ".join(map(str, found)) or "nothing"
        return f"the fault '{fault}' is missed: it is {' or '.join(sorted(of.must))}, and what is said is {said}"
    for each in found:
        if each.kind not in of.may:
            return f"the fault '{fault}' is said to be {each}"
        if of.at and not each.lines <= of.at:
            return f"the fault '{fault}' is about lines {sorted(of.at)}, not {sorted(each.lines)}: {each}"
    return ""


def cases() -> st.SearchStrategy[bytes]:
    """A seed, and the fault that its kernel has: ``{"seed": 7, "fault": null}``."""

    def case(seed: int, choice: int | None) -> bytes:
        names = sorted(kernel(seed).faults) if choice is not None else []
        return json.dumps(
            {"seed": seed, "fault": names[choice % len(names)] if choice is not None and names else None}
        ).encode()

    return st.builds(case, st.integers(0, 2**31 - 1), st.none() | st.integers(0, 1000))


def run(path: Path) -> None:
    """Raises AssertionError where a right kernel is accused, or a fault isn't found."""
    facts = json.loads(path.read_bytes())
    said = judged(facts["seed"], facts["fault"])
    assert not said, f"seed {facts['seed']}: {said}"


def judged(seed: int, fault: str | None) -> str:
    """What is wrong with what the program says of the kernel of this seed, with a fault or without; "" where nothing is."""
    made = kernel(seed)
    text = made.text if fault is None else made.with_fault(fault)
    try:
        return complaint(made, fault, accusations(text))
    except GemmvizError as error:
        return f"it is refused: {error}"


def _tries(seeds: range, most: int) -> Iterator[tuple[int, str | None]]:
    """Each seed without a fault, and with some of those that it may have."""
    for seed in seeds:
        names = sorted(kernel(seed).faults)
        yield seed, None
        yield from ((seed, name) for name in random.Random(seed).sample(names, min(most, len(names))))


CAMPAIGNS = {"faults": Campaign(".json", cases, run)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.faults", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=100, help="how many kernels")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--faults", type=int, default=1, help="how many faults of each kernel")
    parser.add_argument("--show", nargs="+", metavar=("SEED", "FAULT"), help="write this kernel instead")
    args = parser.parse_args()
    if args.show:
        made = kernel(int(args.show[0]))
        print(made.text if len(args.show) == 1 else made.with_fault(args.show[1]), end="")
        return 0
    tried, missed = Counter[str](), Counter[str]()
    for seed, fault in _tries(range(args.start, args.start + args.count), args.faults):
        tried[fault or ""] += 1
        if said := judged(seed, fault):
            missed[fault or ""] += 1
            print(f"seed {seed}: {said}", flush=True)
    for name in sorted(tried):
        print(f"{name or 'no fault':30} {tried[name]:6} tried {missed[name]:4} wrongly judged")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
