"""Results of a folder of hand-ins as files: a table, JSON of all and of each one, and a page for each student."""

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from gemmviz import __version__
from gemmviz.files.codec import FormatError, from_json, read_text, to_json
from gemmviz.files.whole import write_text
from gemmviz.grading.grade import CheckResult, Grade
from gemmviz.grading.graded import Graded
from gemmviz.grading.hand_in import HandIn
from gemmviz.grading.task import Task
from gemmviz.model.errors import GemmvizError

_FORMAT_VERSION = 1
ALL, TABLE, PAGE, AUTOGRADER = "all.json", "table.csv", "page.html", "results.json"
_MARK = "\ufeff"  # Excel takes a CSV file without it for one of the system's code page
_RISKY = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")  # a spreadsheet takes a cell that begins so for a formula
_RISKY_BEHIND = re.compile(r';(?=[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20])')  # where ; separates cells, another cell begins here


class GradedRecord(Struct, frozen=True):
    """A judged hand-in. ``digest``: of what was judged, by which program and task."""

    id: str
    name: str
    number: str
    digest: str
    grade: Grade


class _Contents(Struct, frozen=True):
    """The file of all results."""

    version: int
    title: str
    points: float
    hand_ins: tuple[GradedRecord, ...]


class Results:
    """The folder of results, with those of an earlier run. Files are written as hand-ins are judged. Raises GemmvizError if the
    folder can't be written.
    """

    def __init__(self, folder: Path, task: Task) -> None:
        self.folder, self.task = folder, task
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GemmvizError(f"can't write: {error.strerror or error}", file=str(folder)) from None
        self.records: dict[str, GradedRecord] = {}
        self._before = _read(folder / ALL)

    def known(self, hand_in: HandIn) -> GradedRecord | None:
        """The record of a hand-in that was judged before and hasn't changed since; None if it is to be judged."""
        record = self._before.get(hand_in.id)
        is_same = record is not None and record.digest == self._digest(hand_in) and record.name == hand_in.name
        return record if is_same and (self.folder / hand_in.id / PAGE).is_file() else None

    def keep(self, record: GradedRecord) -> None:
        self.records[record.id] = record

    def add(self, hand_in: HandIn, graded: Graded) -> GradedRecord:
        """Write the files of one hand-in."""
        record = GradedRecord(hand_in.id, hand_in.name, hand_in.number, self._digest(hand_in), graded.grade)
        own = self.folder / hand_in.id
        try:
            own.mkdir(exist_ok=True)
        except OSError as error:
            raise GemmvizError(f"can't write: {error.strerror or error}", file=str(own)) from None
        write_text(own / PAGE, graded.page)
        write_text(own / AUTOGRADER, json.dumps(autograder_results(graded.grade), indent=1, ensure_ascii=False) + "\n")
        self.keep(record)
        return record

    def write(self) -> None:
        """Write the table and the JSON of all results up to now."""
        records = sorted(self.records.values(), key=lambda each: (each.name.casefold(), each.id))
        contents = _Contents(_FORMAT_VERSION, self.task.title, self.task.most_points, tuple(records))
        write_text(self.folder / TABLE, _MARK + csv_table(self.task, records))
        write_text(self.folder / ALL, to_json(contents).decode())

    def _digest(self, hand_in: HandIn) -> str:
        return f"{hand_in.digest}-{self.task.digest}-{__version__}"


def _read(path: Path) -> dict[str, GradedRecord]:
    """The records in a file of all results; none if it can't be read."""
    try:
        contents = from_json(read_text(path), _Contents)
    except (FormatError, GemmvizError):
        return {}
    return {each.id: each for each in contents.hand_ins} if contents.version == _FORMAT_VERSION else {}


def autograder_results(grade: Grade) -> dict[str, Any]:
    """Results as Gradescope's autograder reads them, with a test for each check."""
    return {
        "score": grade.score,
        "visibility": "visible",
        "output": "\n".join(grade.notes),
        "output_format": "text",
        "tests": [_test(each) for each in grade.checks],
    }


def _test(check: CheckResult) -> dict[str, Any]:
    where = f"At {check.size}: " if check.size and check.output else ""
    return {
        "name": check.title, "score": check.score, "max_score": check.points, "output": where + check.output,
        "output_format": "text", "visibility": "visible", "status": "passed" if check.status == "passed" else "failed",
        "extra_data": {"id": check.id, "finding": check.finding, "line": check.line},
    }  # fmt: skip


def csv_table(task: Task, records: Sequence[GradedRecord]) -> str:
    """A row for each hand-in as CSV, safe to open in a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        map(
            _cell,
            [
                "id",
                "name",
                "number",
                "file",
                "points",
                "of",
                "passed",
                "findings",
                "message",
                *(each.title for each in task.checks),
            ],
        )
    )
    for record in records:
        grade = record.grade
        messages = dict.fromkeys(each.output for each in sorted(grade.checks, key=_urgency) if each.output)
        scores = {each.id: each.score for each in grade.checks}
        row = [
            record.id, record.name, record.number, grade.file, f"{grade.score:g}", f"{grade.points:g}",
            "yes" if grade.has_passed else "no", " ".join(dict.fromkeys(grade.findings)), " | ".join(messages),
            *(f"{scores.get(each.id, 0.0):g}" for each in task.checks),
        ]  # fmt: skip
        writer.writerow(map(_cell, row))
    return text.getvalue()


def _cell(text: str) -> str:
    """A cell on one line that no spreadsheet takes for a formula."""
    text = _RISKY_BEHIND.sub(",", " ".join(text.split()))
    return f"'{text}" if text.startswith(_RISKY) else text


def summary(record: GradedRecord) -> str:
    """A line for the terminal."""
    grade = record.grade
    worst = next((each.output for each in sorted(grade.checks, key=_urgency) if each.output), "")
    found = "passed" if grade.has_passed else ": ".join(filter(None, (", ".join(dict.fromkeys(grade.findings)), worst)))
    return f"{record.name}: {grade.score:g} of {grade.points:g}, {found}"


def _urgency(check: CheckResult) -> int:
    return ("failed", "unjudged", "passed").index(check.status)
