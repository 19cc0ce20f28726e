"""The process that judges hand-ins: reads them from standard input and writes their results to standard output.

It loads the program once. On Linux it forks a child for each hand-in, which has limits and asks this process to read texts;
elsewhere it judges one hand-in within its own limits and ends. Messages are pickles: a task and limits, then hand-ins.
"""

import os
import pickle
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any

from gemmviz.files.child_process import read_frame, write_frame
from gemmviz.grading.graded import Graded, graded, stopped
from gemmviz.grading.hand_in import HandIn
from gemmviz.grading.limits import Limits, limit_this_process
from gemmviz.grading.task import Task
from gemmviz.model.errors import GemmvizError
from gemmviz.source.reader_link import reader

CAN_FORK = sys.platform == "linux"
_POLL_S = 0.5
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
    task, limits = _next()
    if CAN_FORK:
        reader().start()
        graded(HandIn("warm-up", "warm-up", {"f.cu": _WARM_UP}), Task("", task.checks, task.sizes[:1]), limits)
    while (hand_in := _next()) is not None:
        result = _forked(hand_in, task, limits) if CAN_FORK else _here(hand_in, task, limits)
        write_frame(replies, pickle.dumps(result))
        if not CAN_FORK:
            break
    return 0


def _next() -> Any:
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
        result = _served(own, time.monotonic() + limits.wall_s)
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        own.close()
    return result or _ended(status, hand_in, task, limits)


def _served(child: Connection, until: float) -> Graded | None:
    """The result of a child whose requests to the reader are answered; None if it ends without one, or too late."""
    while time.monotonic() < until:
        if not child.poll(_POLL_S):
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
