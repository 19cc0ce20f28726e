"""Commands of lessons and quizzes."""

import argparse
from contextlib import closing, suppress
from pathlib import Path

from gemmviz.analysis.listing import printed_source
from gemmviz.cli.command import Command, add_json, add_output, print_error, print_json
from gemmviz.cli.running import ProgressBar, interruptible
from gemmviz.cuda.launch.catalog import lesson_names, plan_names
from gemmviz.files.resources import write_text
from gemmviz.model.messages import GemmvizError, UsageError, letter, many, spoken
from gemmviz.run.choosing import engine_for
from gemmviz.shots.arguments import add_labels, add_setup, labelled, setup_from
from gemmviz.shots.shot import Shot
from gemmviz.teaching.checking import LessonCheck, checks_by_step, new_checker
from gemmviz.teaching.lesson import Lesson, Question, shown_value
from gemmviz.teaching.lesson_file import named_lesson, read_lesson, save_lesson
from gemmviz.teaching.pack import moodle_xml, save_pack
from gemmviz.teaching.quantities.catalog import quantities
from gemmviz.teaching.quiz import quiz_kinds, quiz_of

# The command ``lesson``: lists lessons, checks their numbers, packs one for a course, and lists the quantities that lessons
# can use.


def _add_lesson(parser: argparse.ArgumentParser) -> None:
    subcommands = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
    listing = subcommands.add_parser("list", help="list the lessons")
    checking = subcommands.add_parser("check", help="recompute every number of a lesson from its runs")
    naming = subcommands.add_parser("quantities", help="list the quantities that lessons can use: id, arguments, title, origin")
    packing = subcommands.add_parser("pack", help="save a lesson for a course: slides, a page, a worksheet, notes and a quiz")
    packing.add_argument("lesson", metavar="LESSON|FILE.toml", help="the lesson")
    packing.add_argument("--progress", action="store_true", help=argparse.SUPPRESS)
    add_output(packing, (".zip",), "output file", required=True)
    for each in (listing, checking):
        each.add_argument("lessons", nargs="*", metavar="LESSON|FILE.toml", help="lessons (default: all included lessons)")
    for each in (listing, checking, naming):
        add_json(each)
    checking.add_argument("--all", action="store_true", help="also print the checks that pass")


def _lesson_and_file(name: str) -> tuple[Lesson, str]:
    """Return the lesson with this name or in this file, and the name of the file. Raises UsageError or FormatError."""
    lesson = named_lesson(name)
    if lesson is None:
        raise UsageError(f"there is no lesson {name!r}", remedy=f"choose {', '.join(lesson_names())}, or name a .toml file")
    return lesson, f"{name}.toml" if name in lesson_names() else name


def _run_lesson(args: argparse.Namespace) -> int:
    if args.subcommand == "pack":
        return _pack(args)
    with spoken("en", None):
        if args.subcommand == "quantities":
            return _list_quantities(args.json)
        names = args.lessons or lesson_names()
        return _print_lessons(names, args.json) if args.subcommand == "list" else _check_lessons(names, args.all, args.json)


def _pack(args: argparse.Namespace) -> int:
    lesson, _ = _lesson_and_file(args.lesson)
    progress = ProgressBar(str(args.output), args.progress)
    with interruptible(), closing(engine_for("cpu")) as engine:
        save_pack(lesson, args.output, engine, lambda name, done, of: progress.update(done, of))
    progress.saved()
    return 0


def _list_quantities(as_json: bool) -> int:
    rows = [(each.signature, each.title, each.origin) for each in quantities().values()]
    if as_json:
        print_json([{"quantity": signature, "title": title, "origin": origin} for signature, title, origin in rows])
        return 0
    for signature, title, origin in rows:
        print(f"{signature}\n    {title} ({origin})")
    return 0


def _print_lessons(names: list[str], as_json: bool) -> int:
    lessons = [_lesson_and_file(name)[0] for name in names]
    if as_json:
        print_json([
            {"name": each.name, "title": each.title, "minutes": each.minutes, "steps": [step.title for step in each.steps]}
            for each in lessons
        ])  # fmt: skip
        return 0
    for each in lessons:
        print(f"{each.name:16} {each.title}: {many(len(each.steps), 'step')}, {each.minutes:g} minutes")
    return 0


def _check_lessons(names: list[str], print_all: bool, as_json: bool) -> int:
    checker, included = new_checker(), [name for name in names if name in lesson_names() and name not in plan_names()]
    if len(included) > 1:
        checker.adopt(checks_by_step(included))
    failed, rows, reported = 0, [], set()
    for name in names:
        lesson, file = _lesson_and_file(name)
        passed = 0
        for each in checker.checks_of(lesson):
            rows.append(_check_json(lesson, each))
            if each.is_true:
                passed += 1
                if print_all and not as_json:
                    print(_passed_line(each, file))
            elif each.key not in reported:  # a step of another lesson is reported there
                reported.add(each.key)
                failed += not each.is_remark
                print_error(each.as_error(), 0)
        if not any(step.expect or step.question for step in lesson.steps):
            failed += 1
            remedy = "add [[step.expect]] with quantity and is"
            print_error(GemmvizError("no step has an expectation, so nothing was checked", file=file, remedy=remedy), 0)
        elif not as_json:
            print(f"{file}: {many(len(lesson.steps), 'step')}, {many(passed, 'check')} passed")
    if as_json:
        print_json(rows)
    if failed:
        return print_error(GemmvizError(f"{many(failed, 'check')} failed"), 1)
    return 0


def _passed_line(check: LessonCheck, file: str) -> str:
    """Return a check that passed as a line with file and line number."""
    line = f"{check.place.line}:" if check.place is not None else ""
    return f"{check.step.file or file}:{line} {check.subject} is {shown_value(check.actual)}"


def _check_json(lesson: Lesson, check: LessonCheck) -> dict[str, object]:
    """Return a check as JSON."""
    expected = check.expectation
    return {
        "lesson": lesson.name, "step": check.number, "quantity": None if expected is None else expected.quantity,
        "title": check.subject, "is": check.actual, "expected": None if expected is None else expected.value,
        "is_true": check.is_true,
    }  # fmt: skip


_ABOUT = "list lessons, and check every number in them; gemmviz export LESSON --guide prints the page for the lecturer"


# The command ``quiz``: generates questions from a kernel's trace.


def _add_quiz(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE.cu")
    parser.add_argument("--count", type=int, default=10, metavar="N", help="number of questions (default: %(default)s)")
    parser.add_argument(
        "--variant", type=int, default=0, metavar="N", help="seed; each number gives other questions (default: %(default)s)"
    )
    add_labels(parser)
    parser.add_argument("--answers", action="store_true", help="print the answers with their reasons")
    add_output(parser, (".xml",), "also write a file for Moodle's question import", flags=("--moodle",))
    add_output(parser, (".toml",), "also save a lesson with replays")
    add_json(parser)


def _run_quiz(args: argparse.Namespace) -> int:
    if args.output is not None:
        _check_target(args.output)
    for error in quiz_kinds().broken:
        print_error(error, 0)
    with closing(engine_for("cpu")) as engine:
        shot = labelled(args, Shot(setup_from(args)))
        quiz = quiz_of(shot.setup, engine, args.count, args.variant, shot.labels)
    if args.moodle is not None:
        write_text(args.moodle, moodle_xml(quiz))
    if args.output is not None:
        save_lesson(quiz, args.output)
    questions = [step.question for step in quiz.steps if step.question is not None]
    if args.json:
        print_json([_question_json(question) for question in questions])
        return 0
    print(f"{quiz.title}\n\n{quiz.about}\n")
    print("\n".join(printed_source(shot.setup.kernel).numbered))
    for number, question in enumerate(questions, 1):
        print(f"\n{number}. {question.text}")
        for place, choice in enumerate(question.choices):
            mark = "" if not args.answers else f"   {'right' if choice.right else 'wrong'}: {choice.why}"
            print(f"   {letter(place)}. {choice.text}{mark}")
    return 0


def _check_target(path: Path) -> None:
    """Check that the file may be overwritten. Raises UsageError if it exists and is not a quiz."""
    if not path.exists():
        return
    with suppress(GemmvizError):
        if all(step.question is not None for step in read_lesson(path).steps):
            return
    raise UsageError("this file is not a quiz and is not overwritten", file=str(path), remedy="choose another name")


def _question_json(question: Question) -> dict[str, object]:
    choices = [{"text": each.text, "right": each.right, "why": each.why} for each in question.choices]
    return {"text": question.text, "choices": choices}


COMMANDS = {
    "lesson": Command(_ABOUT, _add_lesson, _run_lesson, order=9),
    "quiz": Command("generate questions with answers from a kernel's trace", _add_quiz, _run_quiz, order=9),
}
