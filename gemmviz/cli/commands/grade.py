"""The command ``grade``: judges hand-ins of students and writes points, tables and a page for each student."""

import argparse
import sys
import time
from pathlib import Path

from gemmviz.cli.command import Command, add_json
from gemmviz.cli.running import interruptible, seconds
from gemmviz.model.messages import UsageError
from gemmviz.shots.arguments import integer_from
from gemmviz.teaching.grading.collection import ALL, TABLE, Results, collected, summary
from gemmviz.teaching.grading.pool import core_count, graded_in_parallel
from gemmviz.teaching.grading.task import Limits, Task
from gemmviz.teaching.grading.task_file import named_task

_WRITE_EVERY_S = 1.0
_MOST_MIB, _MOST_NAMED = 1 << 20, 10


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "hand_ins", nargs="+", type=Path, metavar="FOLDER|FILE|ARCHIVE.zip",
        help="a file or a folder for each student, in a folder or an archive; Moodle's export is one",
    )  # fmt: skip
    parser.add_argument("--task", required=True, metavar="TASK.toml|LESSON/STEP", help="what is judged")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("results"),
        metavar="FOLDER/",
        help="folder of the results (default: results/)",
    )
    parser.add_argument("--one", action="store_true", help="each name is one hand-in, also a folder")
    parser.add_argument("--again", action="store_true", help="also judge hand-ins that haven't changed since they were judged")
    parser.add_argument(
        "--jobs", type=integer_from(1), default=core_count(), metavar="N",
        help="processes that judge at the same time (default: the processor cores, here %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=seconds, default=Limits().cpu_s, metavar="S",
        help="limit of processor time for each hand-in (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--memory", type=integer_from(64), default=Limits().memory_mib, metavar="MIB",
        help="limit of memory for each hand-in (default: %(default)s)",
    )  # fmt: skip
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    task = named_task(args.task)
    if args.output.exists() and not args.output.is_dir():
        raise UsageError(f"{args.output} is not a folder", remedy="choose another name")
    with interruptible():
        return _grade(args, task)


def _grade(args: argparse.Namespace, task: Task) -> int:
    """Judge what isn't judged yet, and return the exit code."""
    others: list[str] = []
    hand_ins = collected(args.hand_ins, as_one=args.one, on_other=others.append)
    results = Results(args.output, task)
    progress = _GradeProgress(len(hand_ins), args.json)
    waiting = []
    for each in hand_ins:
        record = None if args.again else results.known(each)
        if record is None:
            waiting.append(each)
        else:
            results.keep(record)
            progress.done(f"{summary(record)} (judged before)")
    limits = Limits(args.seconds, min(args.memory, _MOST_MIB))
    written = time.monotonic()
    try:
        for hand_in, graded in graded_in_parallel(waiting, task, limits, args.jobs) if waiting else ():
            progress.done(summary(results.add(hand_in, graded)))
            if time.monotonic() - written > _WRITE_EVERY_S:
                results.write()
                written = time.monotonic()
    finally:
        results.write()
    if others:
        print(_others_text(others), file=sys.stderr)
    passed = sum(each.grade.has_passed for each in results.records.values())
    if args.json:
        print((args.output / ALL).read_text(encoding="utf-8"))
    else:
        print(f"{passed} of {len(hand_ins)} passed; the points are in {args.output / TABLE}")
    return 0 if passed == len(hand_ins) else 1


def _others_text(names: list[str]) -> str:
    """A line about files that belong to no hand-in: one of them may be a student's."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"gemmviz: not judged, as no file of CUDA C++: {', '.join(names[:_MOST_NAMED])}{more}"


class _GradeProgress:
    """A line for each judged hand-in; to stderr if JSON is printed."""

    def __init__(self, total: int, is_json: bool) -> None:
        self.total, self.number = total, 0
        self.stream = sys.stderr if is_json else sys.stdout

    def done(self, line: str) -> None:
        self.number += 1
        print(f"{self.number:>{len(str(self.total))}}/{self.total} {' '.join(line.split())}", file=self.stream, flush=True)


COMMAND = Command("judge hand-ins of students, with points and a page for each", _add, _run, order=10)
