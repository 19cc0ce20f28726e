"""A judged hand-in: its grade, and the page for its student."""

from msgspec import Struct

from gemmviz.grading.grade import CheckResult, Grade
from gemmviz.grading.hand_in import HandIn
from gemmviz.grading.judge import judged_hand_in
from gemmviz.grading.limits import Limits
from gemmviz.grading.student_page import student_page
from gemmviz.grading.task import Task
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.teaching.remembered_answers import RememberedAnswers


class Graded(Struct, frozen=True):
    """The grade on a hand-in, and its page as HTML."""

    grade: Grade
    page: str


def graded(hand_in: HandIn, task: Task, limits: Limits) -> Graded:
    """Judge a hand-in in this process. Bugs of the judge fail no student silently: they are named in the grade."""
    try:
        judged = judged_hand_in(hand_in, task, RememberedAnswers(Interpreter()))
        grade, replays = judged.grade, judged.replays
    except MemoryError:
        return stopped(hand_in, task, "memory", limits.memory_words)
    except RecursionError:
        return stopped(hand_in, task, "unsupported", "the file is nested too deeply to be judged")
    except Exception as error:
        return stopped(
            hand_in, task, "error", f"internal error: {type(error).__name__}: {error} (please report it with the file)"
        )
    try:
        return Graded(grade, student_page(task, hand_in, grade, replays))
    except Exception:  # the points stand without the picture
        return Graded(grade, student_page(task, hand_in, grade, ()))


def stopped(hand_in: HandIn, task: Task, finding: str, sentence: str) -> Graded:
    """The result of a hand-in whose process was ended: the check of its result fails, the others aren't judged."""
    checks = []
    fails = "result" if any(each.id == "result" for each in task.checks) else "parses"
    for each in task.checks:
        if each.id == fails:
            checks.append(CheckResult(each.id, each.title, "failed", 0.0, each.points, finding, sentence))
        else:
            checks.append(
                CheckResult(each.id, each.title, "unjudged", 0.0, each.points, output="Not judged: the run was ended.")
            )
    grade = Grade(tuple(checks), hand_in.main(task.launch.entry))
    return Graded(grade, student_page(task, hand_in, grade, ()))
