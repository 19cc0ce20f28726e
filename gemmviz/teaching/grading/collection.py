"""Folders, files and archives to hand-ins: one for each file, each folder, or each student of a course system's export."""

import csv
import io
import json
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct, structs

from gemmviz import __version__
from gemmviz.files.codec import FormatError, from_json, read_text, to_json
from gemmviz.files.kernel_file import decoded
from gemmviz.files.resources import KERNEL_SUFFIXES, SKIPPED_FOLDERS, file_stem, is_file, write_text
from gemmviz.model.kernel import MOST_TEXT
from gemmviz.model.messages import GemmvizError, UsageError
from gemmviz.teaching.grading.pool import Graded
from gemmviz.teaching.grading.task import CheckResult, Grade, HandIn, Task

_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.DOTALL)
_SUFFIXES = KERNEL_SUFFIXES | {".cuh", ".hh", ".inc"}
_MOST_ENTRIES, _MOST_FILES, _MOST_BYTES = 100_000, 64, 4 * MOST_TEXT
_LARGEST_ARCHIVE = 256 << 20  # bytes
_LONGEST_NAME, _MOST_NAMED = 120, 4
_RESERVED_FILES = frozenset(
    ("CON", "PRN", "AUX", "NUL", "ALL", "TABLE", *(f"{name}{n}" for name in ("COM", "LPT") for n in range(1, 10)))
)  # devices of Windows, and the files of the results
_NO_KERNEL = "no file of CUDA C++ was handed in"


class _CollectedFile(Struct, frozen=True):
    """A file of a collection; ``read`` returns at most that many bytes of it. ``problem``: why it can't be read."""

    path: PurePosixPath
    read: Callable[[int], bytes]
    problem: str = ""


def collected(paths: list[Path], *, as_one: bool = False, on_other: Callable[[str], None] = lambda name: None) -> list[HandIn]:
    """The hand-ins in some folders, files and .zip archives, sorted by name. ``as_one``: each path is one hand-in; ``on_other``
    is called with the name of each file that belongs to no hand-in. Raises UsageError for a path that is none, or if there are
    no hand-ins.
    """
    groups: dict[tuple[str, str], list[_CollectedFile]] = {}
    for path in paths:
        entries = list(_collected_files(path))
        found = list(_by_student(path, entries, as_one or (is_file(path) and path.suffix.lower() != ".zip")))
        is_alone = len(paths) > 1 and is_file(path) and len({student for student, _ in found if student}) == 1
        for student, entry in [(path.stem, entry) for _, entry in found] if is_alone else found:
            if student:
                groups.setdefault((str(path), student), []).append(entry)
            else:
                on_other(_printable(entry.path.name))
    taken: set[str] = set()
    hand_ins = [_hand_in(student, entries, taken) for (_, student), entries in groups.items()]
    if not hand_ins:
        raise UsageError(
            "there are no hand-ins", file=str(paths[0]), remedy="name a folder with .cu files, or with one folder a student"
        )
    return sorted(hand_ins, key=lambda each: (each.name.casefold(), each.id))


# Files


def _collected_files(path: Path) -> Iterator[_CollectedFile]:
    """The files of a folder or an archive, those of archives in it included; a file alone."""
    if path.is_dir():
        found = _in_folder(path)
    elif is_file(path):
        found = iter([_CollectedFile(PurePosixPath(path.name), _file_reader(path))])
    else:
        raise UsageError("there is no such file or folder", file=str(path))
    for entry in found:
        is_archive = entry.path.suffix.lower() == ".zip" and not entry.problem
        is_one_of_many = path.is_dir() and len(entry.path.parts) == 1  # then its name is that of its student
        yield from _in_archive(entry, entry.path.stem if is_one_of_many else "") if is_archive else [entry]


def _in_folder(folder: Path) -> Iterator[_CollectedFile]:
    """Regular files below a folder. Links, and what isn't a regular file, are named but never opened."""
    for number, (place, folders, names) in enumerate(os.walk(folder)):
        if number > _MOST_ENTRIES:
            raise UsageError(f"there are more than {_MOST_ENTRIES:,} folders", file=str(folder))
        links = [each for each in folders if (Path(place) / each).is_symlink()]
        folders[:] = sorted(each for each in folders if not _is_skipped(each))
        for name in sorted((*names, *links)):
            path = Path(place) / name
            is_plain = is_file(path) and not path.is_symlink()
            problem = "" if is_plain else f"{_printable(name)} is a link, or not a regular file; it isn't opened"
            yield _CollectedFile(PurePosixPath(path.relative_to(folder).as_posix()), _file_reader(path), problem)


def _file_reader(path: Path) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        with path.open("rb") as file:
            return file.read(most)

    return read


def _in_archive(entry: _CollectedFile, folder: str) -> Iterator[_CollectedFile]:
    """The files of an archive, as if they lay in a folder beside it, in its own if that is "". Nothing is written to disk."""
    inside = entry.path.parent / folder
    try:
        content = entry.read(_LARGEST_ARCHIVE + 1)
        archive = zipfile.ZipFile(io.BytesIO(content))
        infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
        yield structs.replace(entry, problem=f"{_printable(entry.path.name)} is not a .zip archive that can be read")
        return
    for info in infos[:_MOST_ENTRIES]:
        parts = PurePosixPath(info.filename.replace("\\", "/")).parts
        if info.is_dir() or any(map(_is_skipped, parts)):
            continue
        is_link = stat.S_ISLNK(info.external_attr >> 16)
        leads_out = is_link or ".." in parts or parts[:1] == ("/",) or ":" in info.filename
        problem = f"{_printable(info.filename)} leads out of the archive; it isn't opened" if leads_out else ""
        safe = [each for each in parts if each not in ("..", "/")] or ["file"]
        yield _CollectedFile(inside.joinpath(*safe), _packed_reader(archive, info), problem)


def _packed_reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        try:
            with archive.open(info) as file:
                return file.read(most)
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
            raise GemmvizError(f"it can't be unpacked: {error}") from None

    return read


def _is_skipped(name: str) -> bool:
    return (name.startswith(".") and name not in (".", "..")) or name in SKIPPED_FOLDERS


# Students


def _by_student(path: Path, entries: list[_CollectedFile], as_one: bool) -> Iterator[tuple[str, _CollectedFile]]:
    """Each entry with the folder or file of its student, "" for none. Entries below that folder are named from there."""
    outer = _only_folder(entries)
    for entry in entries:
        parts = entry.path.parts
        if as_one:
            yield (path.stem if is_file(path) else path.resolve().name), entry
            continue
        if outer and len(parts) > 1:
            parts = parts[1:]
        if len(parts) > 1:
            yield parts[0], _CollectedFile(PurePosixPath(*parts[1:]), entry.read, entry.problem)
        elif _is_program(entry.path) or (entry.problem and entry.path.suffix.lower() in (*_SUFFIXES, ".zip")):
            match = _MOODLE.fullmatch(parts[0])
            yield (_student_of(match), entry) if match is not None else (entry.path.stem, entry)
        elif not _is_skipped(entry.path.name):
            yield "", entry


def _only_folder(entries: list[_CollectedFile]) -> bool:
    """Whether everything lies in one folder that isn't a student's: an archive of a folder of hand-ins."""
    tops = {each.path.parts[0] for each in entries}
    is_deep = entries and all(len(each.path.parts) > 1 for each in entries)
    holds_programs = any(len(each.path.parts) == 2 and _is_program(each.path) for each in entries)
    holds_folders = any(len(each.path.parts) > 2 for each in entries)
    return bool(is_deep and len(tops) == 1 and holds_folders and not holds_programs)


def _student_of(match: re.Match[str]) -> str:
    return f"{match['name']}_{match['number']}_assignsubmission_file_"


def _is_program(path: PurePosixPath) -> bool:
    return path.suffix.lower() in _SUFFIXES


def _hand_in(student: str, entries: list[_CollectedFile], taken: set[str]) -> HandIn:
    match = _MOODLE.fullmatch(student)
    name, number = (match["name"], match["number"]) if match is not None else (student, "")
    id = unique_id(f"{name}-{number}" if number else name, taken)
    programs = [each for each in entries if _is_program(each.path)]
    if len(programs) > _MOST_FILES:
        return HandIn(id, _printable(name), {}, number, f"{len(programs)} files were handed in; at most {_MOST_FILES} are read")
    texts, problems = {}, [each.problem for each in entries if each.problem]
    for each in programs:
        try:
            text, problem = _text_or_problem(each)
        except (GemmvizError, OSError) as error:
            text, problem = "", f"{_printable(each.path.name)} can't be read: {error}"
        if problem:
            problems.append(problem)
        else:
            texts[each.path.as_posix()] = text
    hand_in = HandIn(id, _printable(name), texts, number)
    if hand_in.main(""):
        return hand_in
    return HandIn(id, _printable(name), texts, number, "; ".join(dict.fromkeys(problems)) or _why_no_kernel(texts, entries))


def _why_no_kernel(texts: dict[str, str], entries: list[_CollectedFile]) -> str:
    if not texts:
        names = [_printable(each.path.name) for each in entries]
        return f"{_NO_KERNEL}, but {', '.join(names[:_MOST_NAMED])}{' …' if len(names) > _MOST_NAMED else ''}"
    if not any(text.strip() for text in texts.values()):
        return "the file is empty"
    return "the file has no kernel: a kernel is a function that begins with __global__ void"


def _text_or_problem(entry: _CollectedFile) -> tuple[str, str]:
    """The text of a file, and why it isn't one."""
    if entry.problem:
        return "", entry.problem
    content = entry.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        return "", f"{_printable(entry.path.name)} has more than {_MOST_BYTES:,} bytes; it isn't read"
    text = decoded(content)
    return ("", f"{_printable(entry.path.name)} isn't text") if "\0" in text else (text, "")


def unique_id(name: str, taken: set[str]) -> str:
    """A name of a file for a student, different from those that are ``taken``, which it is added to."""
    stem = file_stem(name)
    stem = f"{stem}-" if stem.split(".")[0].upper() in _RESERVED_FILES else stem
    number, id = 1, stem
    while id.casefold() in taken:
        number += 1
        id = f"{stem}-{number}"
    taken.add(id.casefold())
    return id


def _printable(name: str) -> str:
    """A name on one line, without control characters and marks that reorder text."""
    text = "".join(each if unicodedata.category(each) not in ("Cc", "Cf", "Cs", "Zl", "Zp") else "\ufffd" for each in name)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


# Results of a folder of hand-ins as files: a table, JSON of all and of each one, and a page for each student.

_FORMAT_VERSION = 1
ALL, TABLE, PAGE, AUTOGRADER = "all.json", "table.csv", "page.html", "results.json"
_BYTE_ORDER_MARK = "\ufeff"  # Excel takes a CSV file without it for one of the system's code page
_RISKY = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")  # a spreadsheet takes a cell that begins so for a formula
_RISKY_BEHIND = re.compile(r';(?=[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20])')  # where ; separates cells, another cell begins here


class GradedRecord(Struct, frozen=True):
    """A judged hand-in. ``digest``: of what was judged, by which program and task."""

    id: str
    name: str
    number: str
    digest: str
    grade: Grade


class _GradedFile(Struct, frozen=True):
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
        self._before = _graded_records(folder / ALL)

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
        write_text(
            own / AUTOGRADER,
            json.dumps(autograder_results(graded.grade.without(self.task.private_words)), indent=1, ensure_ascii=False) + "\n",
        )
        self.keep(record)
        return record

    def write(self) -> None:
        """Write the table and the JSON of all results up to now."""
        records = sorted(self.records.values(), key=lambda each: (each.name.casefold(), each.id))
        contents = _GradedFile(_FORMAT_VERSION, self.task.title, self.task.most_points, tuple(records))
        write_text(self.folder / TABLE, _BYTE_ORDER_MARK + csv_table(self.task, records))
        write_text(self.folder / ALL, to_json(contents).decode())

    def _digest(self, hand_in: HandIn) -> str:
        return f"{hand_in.digest}-{self.task.digest}-{__version__}"


def _graded_records(path: Path) -> dict[str, GradedRecord]:
    """The records in a file of all results; none if it can't be read."""
    try:
        contents = from_json(read_text(path), _GradedFile)
    except (FormatError, GemmvizError):
        return {}
    return {each.id: each for each in contents.hand_ins} if contents.version == _FORMAT_VERSION else {}


def autograder_results(grade: Grade) -> dict[str, Any]:
    """Results as Gradescope's autograder reads them, with a test for each check."""
    return {
        "score": grade.score,
        "visibility": "visible",
        "output": "\n".join((grade.words, *grade.good, *grade.notes)),
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
            _csv_cell,
            [
                "id",
                "name",
                "number",
                "file",
                "points",
                "of",
                "not judged",
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
            f"{grade.unjudged:g}", "yes" if grade.has_passed else "no", " ".join(dict.fromkeys(grade.findings)),
            " | ".join(messages), *(f"{scores.get(each.id, 0.0):g}" for each in task.checks),
        ]  # fmt: skip
        writer.writerow(map(_csv_cell, row))
    return text.getvalue()


def _csv_cell(text: str) -> str:
    """A cell on one line that no spreadsheet takes for a formula."""
    text = _RISKY_BEHIND.sub(",", " ".join(text.split()))
    return f"'{text}" if text.startswith(_RISKY) else text


def summary(record: GradedRecord) -> str:
    """A line for the terminal."""
    grade = record.grade
    worst = next((each.output for each in sorted(grade.checks, key=_urgency) if each.output), "")
    found = "passed" if grade.has_passed else ": ".join(filter(None, (", ".join(dict.fromkeys(grade.findings)), worst)))
    return f"{record.name}: {grade.words}, {found}"


def _urgency(check: CheckResult) -> int:
    return ("failed", "unjudged", "passed").index(check.status)
