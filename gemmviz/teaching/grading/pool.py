"""Hand-ins to results, on several processor cores: each core has a grader process, which is replaced when it is lost; and a
judged hand-in with the page for its student.
"""

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from html import escape
from multiprocessing.connection import Connection, Pipe
from typing import Any

import psutil
from msgspec import Struct, structs

from gemmviz.cuda.program import reader
from gemmviz.files.resources import NO_CONSOLE, child_environment, gemmviz_command, read_frame, write_frame
from gemmviz.model.messages import GemmvizError, checkpoint
from gemmviz.render.export import report_html
from gemmviz.render.pack import packed
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.export import ExportOptions, Prepared, prepare_run, run_reel
from gemmviz.shots.shot import Shot
from gemmviz.teaching.exercises import RememberedAnswers, SizeRun
from gemmviz.teaching.grading.judge import judged_hand_in
from gemmviz.teaching.grading.task import CheckResult, Grade, HandIn, JudgedRow, Limits, Task, limit_this_process

# A judged hand-in: its grade, and the page for its student.

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
    prepared: Prepared = prepare_run(structs.replace(shot, theme="light"), run.facts.outcome)
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


# The process that judges hand-ins: reads them from standard input and writes their results to standard output.

CAN_FORK = sys.platform == "linux"
_LOOK_EACH_S = 0.5
_WARM_UP = """__global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float t[16];
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j > N) return;
  float s = t[threadIdx.x] = 0;
  for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
  C[i * N + j] = s;
}"""  # a wrong kernel, so that pictures are drawn too


def serve_grader() -> int:
    """Serves until the input ends. Other output to stdout is redirected to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    task, limits = _next_from_parent()
    if CAN_FORK:
        reader().start()
        graded(HandIn("warm-up", "warm-up", {"f.cu": _WARM_UP}), Task("", task.checks, task.sizes[:1]), limits)
    while (hand_in := _next_from_parent()) is not None:
        result = _forked(hand_in, task, limits) if CAN_FORK else _here(hand_in, task, limits)
        write_frame(replies, pickle.dumps(result))
        if not CAN_FORK:
            break
    return 0


def _next_from_parent() -> Any:
    frame = read_frame(sys.stdin.buffer)
    return None if frame is None else pickle.loads(frame)


def _here(hand_in: HandIn, task: Task, limits: Limits) -> Graded:
    """The result, in this process."""
    reader().start()
    limit_this_process(limits)
    return graded(hand_in, task, limits)


# A child for each hand-in


def _forked(hand_in: HandIn, task: Task, limits: Limits) -> Graded:
    """The result, from a child process. The child has no way to the reader but this process."""
    own, its = Pipe()
    child = os.fork()
    if child == 0:
        own.close()
        _judge_as_child(its, hand_in, task, limits)
    its.close()
    try:
        result = _graded_by_child(own, time.monotonic() + limits.wall_s)
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        own.close()
    return result or _ended(status, hand_in, task, limits)


def _graded_by_child(child: Connection, until: float) -> Graded | None:
    """The result of a child whose requests to the reader are answered; None if it ends without one, or too late."""
    while time.monotonic() < until:
        if not child.poll(_LOOK_EACH_S):
            continue
        try:
            message = child.recv()
        except (EOFError, OSError):
            return None
        if isinstance(message, Graded):
            return message
        name, arguments = message
        try:
            reply: tuple[bool, Any] = False, reader().run(name, *arguments)
        except GemmvizError as error:
            reply = True, error
        child.send(reply)
    return None


def _ended(status: int, hand_in: HandIn, task: Task, limits: Limits) -> Graded:
    """The result of a child that was ended or crashed."""
    number = os.waitstatus_to_exitcode(status)
    if number in (-signal.SIGXCPU, -signal.SIGKILL):
        return stopped(hand_in, task, "time", limits.time_words)
    return stopped(hand_in, task, "error", f"judging this file crashed ({number}; please report it with the file)")


def _judge_as_child(parent: Connection, hand_in: HandIn, task: Task, limits: Limits) -> None:
    """Judges within limits, sends the result, and ends this process."""
    code = 1
    try:

        def relay(name: str, arguments: tuple[Any, ...]) -> Any:
            parent.send((name, arguments))
            is_error, value = parent.recv()
            if is_error:
                raise value
            return value

        reader().relay = relay
        limit_this_process(limits)
        parent.send(graded(hand_in, task, limits))
        code = 0
    finally:
        os._exit(code)


_POLL_S, _START_S, _EXIT_S = 0.1, 60.0, 5.0
_ONE_THREAD = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
_MIB, _PROGRAM_MIB = 1 << 20, 512
_Waiting = queue.SimpleQueue[HandIn | None]  # None ends a thread
_Results = queue.SimpleQueue[tuple[HandIn, Graded] | GemmvizError]


def core_count() -> int:
    """Number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def graded_in_parallel(hand_ins: Sequence[HandIn], task: Task, limits: Limits, jobs: int) -> Iterator[tuple[HandIn, Graded]]:
    """Each hand-in with its result, in the order in which they are finished. Raises Cancelled, and GemmvizError if no process
    can be started.
    """
    waiting, results = _Waiting(), _Results()
    jobs = max(1, min(jobs, len(hand_ins)))
    for each in (*hand_ins, *(None for _ in range(jobs))):
        waiting.put(each)
    is_over = threading.Event()
    graders = [_Grader(task, limits, is_over) for _ in range(jobs)]
    threads = [threading.Thread(target=_judge_all, args=(each, waiting, results), daemon=True) for each in graders]
    for thread in threads:
        thread.start()
    try:
        for _ in hand_ins:
            yield _next_result(results)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _judge_all(grader: "_Grader", waiting: _Waiting, results: _Results) -> None:
    """Judges hand-ins, in a thread of the grader's, until there are no more or an error ends it."""
    try:
        while not grader.is_over.is_set() and (hand_in := waiting.get()) is not None:
            results.put((hand_in, grader.graded(hand_in)))
    except GemmvizError as error:
        results.put(error)
    finally:
        grader.close()


def _next_result(results: _Results) -> tuple[HandIn, Graded]:
    while True:
        checkpoint()
        with contextlib.suppress(queue.Empty):
            result = results.get(timeout=_POLL_S)
            if isinstance(result, GemmvizError):
                raise result
            return result


class _Grader:
    """A grader process, used by one thread."""

    def __init__(self, task: Task, limits: Limits, is_over: threading.Event) -> None:
        self.task, self.limits, self.is_over = task, limits, is_over
        self.is_idle = True
        self._process: subprocess.Popen[bytes] | None = None
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def graded(self, hand_in: HandIn) -> Graded:
        """The result of a hand-in; of a process that was lost, that it was."""
        process = self._running()
        assert process.stdin is not None
        self.is_idle = False
        try:
            write_frame(process.stdin, pickle.dumps(hand_in))
        except OSError:
            self.close()
            raise GemmvizError("the process that judges hand-ins can't be started", remedy="install gemmviz again") from None
        frame, finding = self._reply(process)
        if frame is None:
            self.close()
            words = self.limits.memory_words if finding == "memory" else self.limits.time_words if finding == "time" else ""
            return stopped(hand_in, self.task, finding, words or "judging this file crashed (please report it with the file)")
        self.is_idle = True
        if not CAN_FORK:  # it judged within limits, and has ended
            self.close()
        result = pickle.loads(frame)
        assert isinstance(result, Graded)
        return result

    def close(self) -> None:
        """Ends the process: politely once all is judged, else at once with its children."""
        process, self._process = self._process, None
        if process is None:
            return
        if self.is_idle and not self.is_over.is_set():
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                process.stdin.close()  # type: ignore[union-attr]  # a pipe
                process.wait(_EXIT_S)
        _kill(process)

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            self._process = subprocess.Popen(
                gemmviz_command("grader"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=child_environment(_ONE_THREAD),
                creationflags=NO_CONSOLE,
            )  # fmt: skip
            self._frames = queue.SimpleQueue()
            threading.Thread(target=_listen, args=(self._process, self._frames), daemon=True).start()
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                write_frame(self._process.stdin, pickle.dumps((self.task, self.limits)))
        return self._process

    def _reply(self, process: "subprocess.Popen[bytes]") -> tuple[bytes | None, str]:
        """The reply of the process, or the limit that it exceeds: ended children are named in a reply."""
        until = time.monotonic() + self.limits.wall_s + _START_S
        most = (_PROGRAM_MIB + self.limits.memory_mib) * _MIB
        while time.monotonic() < until and not self.is_over.is_set():
            try:
                return self._frames.get(timeout=_POLL_S), "error"
            except queue.Empty:
                if not CAN_FORK and _memory_bytes(process.pid) > most:  # a child that was forked has a limit of its own
                    return None, "memory"
        return None, "time"


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Ends a process that may have ended, with its children."""
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            pipe.close()  # type: ignore[union-attr]  # a pipe


def _listen(process: "subprocess.Popen[bytes]", frames: "queue.SimpleQueue[bytes | None]") -> None:
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        while (frame := read_frame(process.stdout)) is not None:
            frames.put(frame)
    frames.put(None)


def _memory_bytes(process_id: int) -> int:
    """Bytes of memory of a process and its children."""
    total = 0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(process_id)
        for each in (process, *process.children()):
            total += each.memory_info().rss
    return total
