"""A judged hand-in: its grade, and the page for its student."""

from collections.abc import Iterable, Sequence
from html import escape

from msgspec import Struct

from gemmviz.model.records import replace
from gemmviz.render.export import report_html
from gemmviz.render.pack import packed
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.export import ExportOptions, Prepared, prepare_run, run_reel
from gemmviz.shots.shot import Shot
from gemmviz.teaching.grading.grade import CheckResult, Grade, HandIn, JudgedRow, Limits
from gemmviz.teaching.grading.judge import judged_hand_in
from gemmviz.teaching.grading.task import Task
from gemmviz.teaching.remembered_answers import RememberedAnswers
from gemmviz.teaching.requirements import SizeRun

# The page for one student: what was judged with values and points, and replays at the steps where something failed.

_BEFORE, _AFTER = 6, 2  # steps that a replay shows around what failed
_MOST_REPLAYS, _LINES_AROUND = 3, 4
_MOST_REPLAYED = 1 << 20  # accesses of a run that is replayed
_LONGEST_LINE = 400
_MET, _UNMET = "<td class=passed>✓</td>", "<td class=failed>✗</td>"
_STATUS = {"passed": "✓ passed", "failed": "✗ failed", "unjudged": "– not judged"}


def student_page(task: Task, hand_in: HandIn, grade: Grade, replays: Sequence[tuple[Shot, SizeRun]]) -> str:
    """The page as HTML; everything that comes from the hand-in and the task is text in it."""
    grade = grade.without(task.private_words)
    used = {each.replay for each in grade.checks}
    shown = [_replay(*each) if number in used else None for number, each in enumerate(replays[:_MOST_REPLAYS])]
    parts = [_page_head(task, hand_in, grade), _good(grade), _checks_table(grade), *(_note_html(each) for each in grade.notes)]
    parts += [_failure(each, hand_in.texts.get(grade.file, ""), grade.file) for each in grade.checks if _has_line(each)]
    for number, pack in enumerate(shown):
        if pack is not None:
            size = replays[number][1].size.words
            parts.append(_player(number, pack, size, [check for check in grade.checks if check.replay == number]))
    return report_html(f"{task.title}: {hand_in.name}", f'<main class="report">{"".join(parts)}</main>')


def _page_head(task: Task, hand_in: HandIn, grade: Grade) -> str:
    number = f" ({hand_in.number})" if hand_in.number else ""
    file = " · ".join(filter(None, (grade.file, grade.kernel)))
    return (
        f"<h1>{escape(task.title)}</h1><p class=about>{escape(hand_in.name + number)}<br>{escape(file)}</p>"
        + (f"<p class=about>{escape(task.text)}</p>" if task.text else "")
        + f"<p class=score>{escape(grade.words)}</p>"
    )


def _good(grade: Grade) -> str:
    """What the kernel does well."""
    items = "".join(f"<li>{escape(each)}</li>" for each in grade.good[1:])
    return f"<h2>What is good</h2>{_note_html(grade.good[0])}<ul class=good>{items}</ul>" if items else ""


def points_text(points: float) -> str:
    return f"{points:g}"


def _checks_table(grade: Grade) -> str:
    rows = "".join(map(_check_row, grade.checks))
    head = "<thead><tr><th>What is judged</th><th>Result</th><th>Points</th></tr></thead>"
    return f"<div class=scroll><table>{head}<tbody>{rows}</tbody></table></div>"


def _check_row(check: CheckResult) -> str:
    where = f"At {check.size}: " if check.size and check.output else ""
    output = f"<p class=output>{escape(where + check.output)}</p>" if check.output else ""
    values = f"<details><summary>Values</summary>{_values_table(check.rows)}</details>" if check.rows else ""
    return (
        f"<tr><td>{escape(check.title)}{output}{values}</td>"
        f'<td class="status {check.status}">{_STATUS[check.status]}</td>'
        f"<td class=points>{points_text(check.score)} / {points_text(check.points)}</td></tr>"
    )


def _values_table(rows: Iterable[JudgedRow]) -> str:
    cells = "".join(
        f"<tr><td>{escape(each.size)}</td><td>{escape(each.title)}</td><td>{escape(each.value)}</td>"
        f"<td>{escape(each.required)}</td>{_MET if each.is_met else _UNMET}</tr>"
        for each in rows
    )
    return f"<table><tr><th>At</th><th>Quantity</th><th>Value</th><th>Required</th><th></th></tr>{cells}</table>"


def _note_html(text: str) -> str:
    return f"<p class=note>{escape(text)}</p>"


def _has_line(check: CheckResult) -> bool:
    return check.status == "failed" and check.line > 0


def _failure(check: CheckResult, text: str, file: str) -> str:
    """The lines of the file around one that failed; of a hazard, from one access to the other, with the place between them
    where a barrier is missing.
    """
    lines, gap = text.split("\n"), check.gap
    marked = {check.line} if gap is None else {gap.first, gap.second}
    around = marked if gap is None else {*marked, gap.line}
    first, last = max(1, min(around) - _LINES_AROUND), min(len(lines), max(around) + _LINES_AROUND)
    width, code = len(str(last)), ""
    for number in range(first, last + 1):
        mark = " class=here" if number in marked else ""
        code += f"<span{mark}>{number:>{width}}  {escape(lines[number - 1][:_LONGEST_LINE])}</span>"
        if gap is not None and number == gap.line:
            code += (
                f"<span class=gap>{'▸':>{width}}  a barrier is missing here{', in the loop' if gap.is_in_loop else ''}</span>"
            )
    return f"<h2>✗ {escape(check.title)}: {escape(file)}, line {check.line}</h2><pre>{code}</pre>" if last >= first else ""


# Replays


def _replay(shot: Shot, run: SizeRun) -> str | None:
    """The steps around that of a shot, packed for the player; None for a run that is too large."""
    trace = run.facts.replay.trace
    if trace.steps * trace.space.threads_per_block > _MOST_REPLAYED:
        return None
    prepared: Prepared = prepare_run(replace(shot, theme="light"), run.facts.outcome)
    start, stop = max(0, prepared.step - _BEFORE), min(prepared.steps, prepared.step + _AFTER + 1)
    reel = run_reel(prepared, ExportOptions(), [prepared.step], range(start, stop))
    return packed(reel, "light").text


def _player(number: int, pack: str, size: str, checks: Sequence[CheckResult]) -> str:
    what = "; ".join(each.title for each in checks)
    outputs = "".join(f"<p class=output>{escape(each.output)}</p>" for each in checks)
    return (
        f"<h2>✗ {escape(what)}: replay</h2><p class=note>{escape(size)}</p>{outputs}"
        f'<div data-replay="packed-{number}"></div>'
        f'<script type="application/octet-stream" id="packed-{number}">{pack}</script>'
    )


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
