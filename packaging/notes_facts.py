"""The measurements behind the notes of the documentation, as rows of tables: single accesses to shared memory, and races."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from recording.races import COURSE, PROGRAMS

from gemmviz.analysis.memory.banks import bank_words, profiled_wavefronts, wavefronts
from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.loading.loader import open_kernel
from gemmviz.model.device import MemoryRules
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.run.choosing import engine_for, run
from gemmviz.subjects.runs import replay_of

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
ACCESSES, RACES = DATA / "h200-shared-wavefronts.json", DATA / "h200-races.json"
_RULES = MemoryRules()
_ALL = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Request:
    """One measured access: its instruction, its lanes, what was counted, and what the rules give.

    ``counter``: wavefronts by the hardware's counter; ``column``: by Nsight Compute's column; ``rule`` and ``column_rule``: the
    same two as gemmviz computes them; ``unmerged``: if no groups were merged; ``at_once``: if all lanes were served together.
    """

    op: str
    bits: int
    pattern: str
    active: int
    threads: int
    words: tuple[int, ...]
    counter: int
    column: int
    rule: int
    column_rule: int
    unmerged: int
    at_once: int

    @property
    def is_whole(self) -> bool:
        """Whether all lanes of the warp take part."""
        return self.active == _ALL and self.threads == 32

    @property
    def kind(self) -> tuple[str, int, str]:
        return "load" if self.op == "ld" else "store", self.bits, "all" if self.is_whole else "some"


@cache
def head(path: Path) -> dict[str, Any]:
    """What a recording says about itself."""
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {key: value for key, value in read.items() if not isinstance(value, list)}


@cache
def requests() -> tuple[Request, ...]:
    """The measured accesses."""
    return tuple(map(_request, json.loads(ACCESSES.read_text(encoding="utf-8"))["accesses"]))


def _request(access: dict[str, Any]) -> Request:
    threads, width, is_load = access.get("threads", 32), access["bits"] // 32, access["op"] == "ld"
    active = (access["active"] >> np.arange(32)) & 1 & (np.arange(32) < threads)
    words = np.where(active, access["words"], -1)[None].astype(np.int64)
    rule, _ = wavefronts(words, width, is_load, _RULES)
    column, _ = profiled_wavefronts(words, width, is_load, _RULES)
    parts = [words[:, start : start + 32 // width] for start in range(0, 32, 32 // width)]
    unmerged, at_once = (sum(int(bank_words(each, width, _RULES).max()) for each in of) for of in (parts, [words]))
    return Request(
        access["op"], access["bits"], access["pattern"], access["active"], threads, tuple(access["words"]),
        access["wavefronts"], access["profiled"], int(rule[0]), int(column[0]), unmerged, at_once,
    )  # fmt: skip


def by_kind() -> Iterator[tuple[str, int, str, int, int, int, int]]:
    """For each kind of request: instruction, bits, lanes, the number of accesses, and in how many of them the rule, the rule
    without merging, and all lanes at once give the counter's value.
    """
    for kind in sorted({each.kind for each in requests()}):
        alike = [each for each in requests() if each.kind == kind]
        agree = (sum(getattr(each, name) == each.counter for each in alike) for name in ("rule", "unmerged", "at_once"))
        yield (*kind, len(alike), *agree)  # type: ignore[misc]


def differing() -> list[Request]:
    """The accesses in which Nsight Compute's column isn't the counter's value."""
    return [each for each in requests() if each.column != each.counter]


def differing_by_kind() -> Iterator[tuple[str, int, str, str, int]]:
    """Instruction, bits, lanes, "more" or "fewer" than the counter, and the number of such accesses."""
    counted = Counter((*each.kind, "more" if each.column > each.counter else "fewer") for each in differing())
    for kind, number in sorted(counted.items()):
        yield (*kind, number)


# Races


@dataclass(frozen=True, slots=True)
class Race:
    """A program with a race: its name, the width of its tiles (0 for none), the kinds of hazards that gemmviz finds, by memory,
    and racecheck's reports and the machine code's accesses to shared memory, optimised and for debugging.
    """

    program: str
    width: int
    hazards: tuple[str, ...]
    optimised: int
    debug: int
    shared: int

    @property
    def is_in_shared_memory(self) -> bool:
        return any("shared" in each for each in self.hazards)

    @property
    def is_hidden(self) -> bool:
        """Whether racecheck reports it in the debug build alone."""
        return self.debug > 0 and self.optimised == 0


@cache
def races() -> tuple[Race, ...]:
    """The recorded programs with what gemmviz finds in each."""
    return tuple(map(_race, json.loads(RACES.read_text(encoding="utf-8"))["programs"]))


def _race(row: dict[str, Any]) -> Race:
    optimised, debug = (row[build]["errors"] + row[build]["warnings"] for build in ("optimised", "debug"))
    instructions = row["optimised"]["instructions"]
    hazards = _hazards(_setup(row["program"], row["width"]))
    shared = instructions.get("LDS", 0) + instructions.get("STS", 0)
    return Race(row["program"], row["width"], hazards, optimised, debug, shared)


def _setup(program: str, width: int) -> Setup:
    if program in COURSE:
        return setup_for(load_kernel(program), Problem(2 * width, 2 * width, 2 * width), {"TILE_WIDTH": width})
    return setup_for(open_kernel(str(PROGRAMS / f"{program}.cu")))


def _hazards(setup: Setup) -> tuple[str, ...]:
    """The kinds of hazards of a run, each with the memory that it is in."""
    replay = replay_of(run(setup, (0, 0, 0), engine_for("cpu"), values=True))
    spaces = {array.name: array.space for array in replay.trace.arrays}
    return tuple(sorted({f"{each.kind} ({spaces[each.array]})" for each in replay.hazards}))
