"""Writes the notes of the documentation from their data: pages from templates, CSV files, and pictures: make notes."""

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gallery import compressed, reduced
from notes_facts import ACCESSES, RACES, Race, Request, by_kind, differing, differing_by_kind, head, races, requests

from gemmviz.cli.main import main as gemmviz

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notes"
TEMPLATES = Path(__file__).resolve().parent / "note_templates"
PICTURES = {
    "wide-load.png": "export 09_vectorised -m 32 -n 32 -k 8 -D TILE_WIDTH=32 --view banks --warp 0 --step 9 --theme dark",
    "two_stores.png": "export docs/notes/races/two_stores.cu --view race --theme dark",
}
SIZE = 960, 540
_MOST_ROWS = 4


def pages() -> dict[str, str]:
    """The text of each page by the name of its file."""
    facts = {**_of_all(), **_of_accesses(), **_of_races()}
    return {path.name: path.read_text(encoding="utf-8").format(**facts[path.stem]) for path in sorted(TEMPLATES.glob("*.md"))}


def tables() -> dict[str, str]:
    """The text of each CSV file by its name."""
    fields = ("op", "bits", "pattern", "active", "threads", "words", "counter", "column", "rule", "column_rule")
    rows = [_plain(each) for each in requests()]
    apart = [_plain(each) for each in differing()]
    raced = [[r.program, r.width, "; ".join(r.hazards), r.optimised, r.debug, r.shared] for r in races()]
    names = (
        "program",
        "tile_width",
        "hazards_in_source",
        "reports_optimised",
        "reports_debug",
        "shared_instructions_optimised",
    )
    return {
        "shared-memory.csv": csv_text(fields, rows),
        "profiler-column.csv": csv_text(fields, apart),
        "hidden-races.csv": csv_text(names, raced),
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
    rule = "|".join("---:" if number else "---" for number in numbers)
    return "\n".join([f"| {' | '.join(names)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in listed)])


# Facts


def _of_all() -> dict[str, dict[str, Any]]:
    hidden = sum(each.is_hidden for each in races())
    numbers = {"accesses": len(requests()), "differing": len(differing()), "hidden": hidden, "programs": len(races())}
    return {"index": numbers}


def _of_accesses() -> dict[str, dict[str, Any]]:
    every, apart, about = requests(), differing(), head(ACCESSES)
    shared = {"accesses": len(every), "device": about["device"], "tool": about["tool"]}
    names = ("instruction", "bits", "lanes", "accesses", "rule", "never merged", "all at once")
    same = {each.op: each for each in every if each.bits == 128 and each.is_whole and len({*each.words}) == 1}
    return {
        "shared-memory": shared | {
            "agree": sum(each.rule == each.counter for each in every), "table": table(names, by_kind()),
            "whole": sum(each.is_whole for each in every), "partial": sum(not each.is_whole for each in every),
            "examples": _merged(every), "broadcast": same["ld"].counter, "unmerged_broadcast": same["ld"].unmerged,
            "stored": same["st"].counter,
            "picture_command": f"gemmviz {PICTURES['wide-load.png']} -o wide-load.png",
        },
        "profiler-column": shared | {
            "differing": len(apart), "same": len(every) - len(apart), "not_128": sum(each.bits != 128 for each in apart),
            "table": table(("instruction", "bits", "lanes", "wavefronts in the column", "accesses"), differing_by_kind()),
            "largest": _largest(apart), "column_agree": sum(each.column_rule == each.column for each in every),
            "column_missed": sum(each.column_rule != each.column for each in every),
        },
    }  # fmt: skip


def _merged(every: Iterable[Request]) -> str:
    """The whole warps with named patterns in which merging saves most."""
    saving = [each for each in every if each.is_whole and each.rule < each.unmerged and "#" not in each.pattern]
    ranked = sorted(saving, key=lambda each: (each.rule / each.unmerged, -each.bits, each.pattern))[:_MOST_ROWS]
    rows = [(f"`{each.pattern}`", each.bits, each.counter, each.unmerged) for each in ranked]
    return table(("first word of each lane", "bits", "wavefronts", "never merged"), rows)


def _largest(apart: list[Request]) -> str:
    ranked = sorted(apart, key=lambda each: (-abs(each.column - each.counter), each.pattern, each.active))[:_MOST_ROWS]
    rows = [(f"`{each.pattern}`", each.bits, f"`{each.active:08x}`", each.counter, each.column) for each in ranked]
    return table(("first word of each lane", "bits", "lanes (mask)", "counter", "column"), rows)


def _of_races() -> dict[str, dict[str, Any]]:
    every, about = races(), head(RACES)
    other = [each for each in every if not each.is_in_shared_memory]
    names = ("program", "reports, `-O3`", "reports, `-G`", "instructions")
    one = next(each for each in every if each.program == "two_stores")
    return {
        "hidden-races": {name: about[name] for name in ("device", "driver", "compiler", "tool", "date")} | {
            "programs": len(every), "hidden": sum(each.is_hidden for each in every), "table": table(names, map(_row, every)),
            "two_stores_shared": one.shared or "no", "global_count": len(other),
            "global_names": ", ".join(f"`{each.program}`" for each in other),
            "picture_command": f"gemmviz {PICTURES['two_stores.png']} -o two_stores.png",
        }
    }  # fmt: skip


def _row(race: Race) -> tuple[str, ...]:
    name = f"`{race.program}`" + (f", {race.width} × {race.width}" if race.width else "")
    counts = (str(each) for each in (race.optimised, race.debug, race.shared))
    return (f"**{name}**" if race.is_hidden else name, *counts)


# Pictures


def picture_of(name: str, folder: Path) -> Path:
    """The full picture of this name, as its command makes it."""
    gemmviz([*shlex.split(PICTURES[name]), "-o", str(folder / name)])
    return folder / name


def main() -> None:
    (FOLDER / "data").mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        for name in PICTURES:
            (FOLDER / name).write_bytes(compressed(reduced(picture_of(name, Path(folder)), SIZE)))
    for name, text in tables().items():
        (FOLDER / "data" / name).write_text(text, encoding="utf-8")
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
