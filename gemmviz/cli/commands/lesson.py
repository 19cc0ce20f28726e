"""List lessons, check that what they say is true, list the quantities that they can use."""

import argparse
from contextlib import closing

from gemmviz.cli.command import Command, add_json, complain, print_json
from gemmviz.launch.catalog import lesson_names
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.words import many
from gemmviz.run.choosing import engine_for
from gemmviz.teaching.captions import shown_value
from gemmviz.teaching.checking import LessonCheck, checks_of
from gemmviz.teaching.lesson import Lesson
from gemmviz.teaching.lesson_file import named_lesson
from gemmviz.teaching.quantities.catalog import quantities


def _add(parser: argparse.ArgumentParser) -> None:
    doings = parser.add_subparsers(dest="doing", required=True, metavar="DOING")
    listing = doings.add_parser("list", help="list the lessons")
    checking = doings.add_parser("check", help="check every number of a lesson against the run")
    naming = doings.add_parser("quantities", help="list the quantities that a lesson can use: id, arguments, title")
    for each in (listing, checking):
        each.add_argument("lessons", nargs="*", metavar="LESSON|FILE.toml", help="which (default: all that ship with gemmviz)")
    for each in (listing, checking, naming):
        add_json(each)
    checking.add_argument("--all", action="store_true", help="also list what is true")


def _lesson(name: str) -> tuple[Lesson, str]:
    """The lesson of this name or in this file, and the file's name. Raises UsageError or FormatError."""
    lesson = named_lesson(name)
    if lesson is None:
        raise UsageError(f"there is no lesson {name!r}", remedy=f"choose {', '.join(lesson_names())}, or name a .toml file")
    return lesson, f"{name}.toml" if name in lesson_names() else name


def _run(args: argparse.Namespace) -> int:
    if args.doing == "quantities":
        return _list_quantities(args.json)
    names = args.lessons or lesson_names()
    return _list(names, args.json) if args.doing == "list" else _check(names, args.all, args.json)


def _list_quantities(as_json: bool) -> int:
    rows = [(each.signature, each.title) for each in quantities().values()]
    if as_json:
        print_json([{"quantity": signature, "title": title} for signature, title in rows])
        return 0
    for signature, title in rows:
        print(f"{signature}\n    {title}")
    return 0


def _list(names: list[str], as_json: bool) -> int:
    lessons = [_lesson(name)[0] for name in names]
    if as_json:
        print_json([
            {"name": each.name, "title": each.title, "minutes": each.minutes, "steps": [stop.title for stop in each.stops]}
            for each in lessons
        ])  # fmt: skip
        return 0
    for each in lessons:
        print(f"{each.name:16} {each.title}: {many(len(each.stops), 'step')}, {each.minutes:g} minutes")
    return 0


def _check(names: list[str], tells_all: bool, as_json: bool) -> int:
    engine = engine_for("cpu")
    wrong, rows = 0, []
    for name in names:
        lesson, file = _lesson(name)
        true = 0
        for each in checks_of(lesson, lambda kernel: closing(engine)):
            rows.append(_row(lesson, each))
            if each.is_true:
                true += 1
                if tells_all and not as_json:
                    line = f"{each.place.line}:" if each.place is not None else ""
                    print(f"{file}:{line} {each.subject} is {shown_value(each.actual)}")
            else:
                wrong += 1
                complain(each.as_error(file), 0)
        if not any(stop.expect for stop in lesson.stops):
            wrong += 1
            remedy = "write [[step.expect]] with quantity and is"
            complain(GemmvizError("no step expects anything, so nothing was checked", file=file, remedy=remedy), 0)
        elif not as_json:
            print(f"{file}: {many(len(lesson.stops), 'step')}, {many(true, 'expectation')} true")
    if as_json:
        print_json(rows)
    if wrong:
        return complain(GemmvizError(f"{many(wrong, 'check')} failed"), 1)
    return 0


def _row(lesson: Lesson, check: LessonCheck) -> dict[str, object]:
    """A check as JSON."""
    expected = check.expectation
    return {
        "lesson": lesson.name, "step": check.step, "quantity": None if expected is None else expected.quantity,
        "title": check.subject, "is": check.actual, "expected": None if expected is None else expected.value,
        "is_true": check.is_true,
    }  # fmt: skip


COMMAND = Command("list lessons, and check that every number in them is true", _add, _run, order=9)
