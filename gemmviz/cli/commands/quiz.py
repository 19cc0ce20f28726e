"""The command ``quiz``: generates questions from a kernel's trace."""

import argparse
from contextlib import closing, suppress
from pathlib import Path

from gemmviz.analysis.listing import printed_source
from gemmviz.cli.command import Command, add_json, add_output, print_error, print_json
from gemmviz.files.whole import write_text
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.translation import letter
from gemmviz.run.choosing import engine_for
from gemmviz.shots.arguments import add_labels, add_setup, labelled, setup_from
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Question
from gemmviz.teaching.lesson_file import read_lesson, save_lesson
from gemmviz.teaching.pack import moodle_xml
from gemmviz.teaching.quiz import quiz_kinds, quiz_of


def _add(parser: argparse.ArgumentParser) -> None:
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


def _run(args: argparse.Namespace) -> int:
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


COMMAND = Command("generate questions with answers from a kernel's trace", _add, _run, order=9)
