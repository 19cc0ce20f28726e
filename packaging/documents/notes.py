"""Writes the notes of the documentation from their data: pages from templates, CSV files, and pictures.

The data are recordings of single accesses to shared memory, and of races.
"""

import csv
import io
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from recording import DATA
from recording.races import COURSE, PROGRAMS, RACES

from documents import DOCS, markdown_table
from documents.gallery import compressed, reduced
from gemmviz.analysis.costs import bank_words, profiled_wavefronts, wavefronts
from gemmviz.cli.main import main as gemmviz
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.device import MemoryRules
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.run.choosing import engine_for, run
from gemmviz.run.loader import open_kernel
from gemmviz.shots.knowledge import replay_of

FOLDER, TEMPLATES = DOCS / "notes", Path(__file__).with_name("notes.md")
PICTURES = {
    "wide-load.png": "export 09_vectorised -m 32 -n 32 -k 8 -D TILE_WIDTH=32 --view banks --warp 0 --step 9 --theme dark",
    "two_stores.png": "export docs/notes/races/two_stores.cu --view race --theme dark",
}
SIZE = 960, 540
ACCESSES = DATA / "h200-shared-wavefronts.json"
_RULES = MemoryRules()
_ALL = 0xFFFFFFFF


# Accesses


@dataclass(frozen=True, slots=True)
class Request:
    """One measured access: its instruction, its lanes, what was counted, and what the rules give.

    ``counter``: wavefronts by the hardware's counter; ``column``: by Nsight Compute's column; ``rule`` and ``column_rule``: the
    same two as gemmviz computes them; ``unmerged``: if no groups were merged.
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
    unmerged = sum(int(bank_words(each, width, _RULES).max()) for each in parts)
    return Request(
        access["op"], access["bits"], access["pattern"], access["active"], threads, tuple(access["words"]),
        access["wavefronts"], access["profiled"], int(rule[0]), int(column[0]), unmerged,
    )  # fmt: skip


def by_kind() -> Iterator[tuple[str, int, str, int, int, int]]:
    """For each kind of request: instruction, bits, lanes, the number of accesses, and in how many of them the rule, and
    the rule without merging, give the counter's value.
    """
    for kind in sorted({each.kind for each in requests()}):
        alike = [each for each in requests() if each.kind == kind]
        agree = (sum(getattr(each, name) == each.counter for each in alike) for name in ("rule", "unmerged"))
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
def recorded_races() -> tuple[Race, ...]:
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


# Pages and tables


def templates() -> dict[str, str]:
    """The template of each page by the name of its file, which is a comment before it."""
    _, *parts = re.split(r"^<!-- (\S+) -->\n", TEMPLATES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def files_of_accesses() -> dict[str, str]:
    """The text of each page and CSV file about accesses by its name, relative to the folder."""
    fields = ("op", "bits", "pattern", "active", "threads", "words", "counter", "column", "rule", "column_rule")
    tables = {"shared-memory": requests(), "profiler-column": differing()}
    return {
        **{f"{name}.md": templates()[f"{name}.md"].format(**facts) for name, facts in _of_accesses().items()},
        **{f"data/{name}.csv": csv_text(fields, map(_plain, rows)) for name, rows in tables.items()},
    }


def files_of_races() -> dict[str, str]:
    """The text of each page and CSV file that says something about races by its name, relative to the folder."""
    names = (
        "program",
        "tile_width",
        "hazards_in_source",
        "reports_optimised",
        "reports_debug",
        "shared_instructions_optimised",
    )
    raced = [[r.program, r.width, "; ".join(r.hazards), r.optimised, r.debug, r.shared] for r in recorded_races()]
    return {
        **{f"{name}.md": templates()[f"{name}.md"].format(**facts) for name, facts in _of_races().items()},
        "data/hidden-races.csv": csv_text(names, raced),
    }


def csv_text(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()


def _plain(each: Request) -> list[Any]:
    words = " ".join(map(str, each.words))
    return [
        each.op, each.bits, each.pattern, f"{each.active:08x}", each.threads, words, each.counter, each.column, each.rule,
        each.column_rule,
    ]  # fmt: skip


def table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; columns of numbers are aligned at the right."""
    listed = [list(map(str, row)) for row in rows]
    numbers = [all(row[place].replace(",", "").isdigit() for row in listed) for place in range(len(names))]
    return markdown_table(names, listed, [place for place, is_number in enumerate(numbers) if is_number])


# Facts


def _of_accesses() -> dict[str, dict[str, Any]]:
    every, apart, about = requests(), differing(), head(ACCESSES)
    shared = {"accesses": len(every), "device": about["device"], "tool": about["tool"]}
    names = ("instruction", "bits", "lanes", "accesses", "rule", "never merged")
    same = {each.op: each for each in every if each.bits == 128 and each.is_whole and len({*each.words}) == 1}
    return {
        "shared-memory": shared | {
            "agree": sum(each.rule == each.counter for each in every), "table": table(names, by_kind()),
            "whole": sum(each.is_whole for each in every), "partial": sum(not each.is_whole for each in every),
            "broadcast": same["ld"].counter, "unmerged_broadcast": same["ld"].unmerged,
            "stored": same["st"].counter,
            "picture_command": f"gemmviz {PICTURES['wide-load.png']} -o wide-load.png",
        },
        "profiler-column": shared | {
            "differing": len(apart), "same": len(every) - len(apart), "not_128": sum(each.bits != 128 for each in apart),
            "table": table(("instruction", "bits", "lanes", "wavefronts in the column", "accesses"), differing_by_kind()),
            "column_agree": sum(each.column_rule == each.column for each in every),
            "column_missed": sum(each.column_rule != each.column for each in every),
        },
    }  # fmt: skip


def _of_races() -> dict[str, dict[str, Any]]:
    every, about = recorded_races(), head(RACES)
    other = [each for each in every if not each.is_in_shared_memory]
    names = ("program", "reports, `-O3`", "reports, `-G`", "instructions")
    one = next(each for each in every if each.program == "two_stores")
    hidden = sum(each.is_hidden for each in every)
    return {
        "index": {"accesses": len(requests()), "differing": len(differing()), "hidden": hidden, "programs": len(every)},
        "hidden-races": {name: about[name] for name in ("device", "driver", "compiler", "tool", "date")} | {
            "programs": len(every), "hidden": hidden,
            "table": table(names, [_row(each) for each in every if each.is_hidden]),
            "two_stores_shared": one.shared or "no", "global_count": len(other),
            "global_names": ", ".join(f"`{each.program}`" for each in other),
            "picture_command": f"gemmviz {PICTURES['two_stores.png']} -o two_stores.png",
        }
    }  # fmt: skip


def _row(race: Race) -> tuple[str, ...]:
    name = f"`{race.program}`" + (f", {race.width} × {race.width}" if race.width else "")
    counts = (str(each) for each in (race.optimised, race.debug, race.shared))
    return (name, *counts)


# Pictures


def picture_of(name: str, folder: Path) -> Path:
    """The full picture of this name, as its command makes it."""
    gemmviz([*shlex.split(PICTURES[name]), "-o", str(folder / name)])
    return folder / name


def notes() -> None:
    """Write the pictures, the data and the pages."""
    (FOLDER / "data").mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        for name in PICTURES:
            (FOLDER / name).write_bytes(compressed(reduced(picture_of(name, Path(folder)), SIZE)))
    for name, text in {**files_of_accesses(), **files_of_races()}.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
