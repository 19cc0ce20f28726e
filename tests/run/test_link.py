"""The worker and its link: answers, errors, cancels; workers that die, hang or talk nonsense."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.codec import FormatError, from_plain
from gemmviz.files.resources import gemmviz_command
from gemmviz.model import messages
from gemmviz.model.messages import (
    Cancelled,
    DeviceError,
    GemmvizError,
    InstallationError,
    KernelFault,
    Place,
    SettingError,
    SourceError,
    TraceFileError,
    UsageError,
    cancellable,
    cancelled_after,
)
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Timing
from gemmviz.run.protocol import error_from_plain, error_to_plain, line_of
from gemmviz.run.worker.remote import RemoteGpu, WorkerLink
from tests.conftest import sure

try:
    import cupy
except ImportError:
    cupy = None


@pytest.fixture
def link() -> Iterator[WorkerLink]:
    made = WorkerLink()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def lasting() -> Iterator[WorkerLink]:
    """A worker that several tests ask one after the other."""
    made = WorkerLink()
    yield made
    made.stop()


def speaking(program: str) -> WorkerLink:
    """A link to a worker of another kind: a Python program."""
    return WorkerLink([sys.executable, "-c", "import json, os, sys, time\n" + program])


@pytest.mark.skipif(cupy is not None, reason="there is CuPy here")
def test_a_worker_without_cupy_says_what_to_install(lasting: WorkerLink) -> None:
    for _ in range(2):
        with pytest.raises(DeviceError, match="CuPy is not installed") as caught:
            RemoteGpu(lasting).gpu()
        assert "pip install" in str(caught.value)
    assert lasting.lost == 0  # the same worker answered twice


def test_the_cpu_is_timed_in_the_worker_on_one_thread(lasting: WorkerLink) -> None:
    facts = {"method": "NumPy, one thread", "problem": Problem(64, 32, 16)}
    found = from_plain(lasting.run("host", facts), Timing)
    assert 0 < sure(found.low_ms) <= found.median_ms <= sure(found.high_ms)
    assert found.repeats * found.launches > 1


def test_what_the_worker_does_not_know_is_an_answer(lasting: WorkerLink) -> None:
    with pytest.raises(UsageError, match="the worker has no method 'nothing'"):
        lasting.run("nothing")
    assert lasting.lost == 0


def test_a_bug_in_the_worker_is_an_answer_and_the_next_one_is_fresh(link: WorkerLink) -> None:
    with pytest.raises(GemmvizError, match="internal error: KeyError"):
        link.run("host", {"method": "none", "problem": Problem(8, 8, 8)})
    assert link.lost == 1
    with pytest.raises(UsageError):
        link.run("nothing")


def test_malformed_lines_are_passed_over_and_the_end_of_input_ends_it() -> None:
    said = b'garbage\n[1]\n{}\n{"id": "x", "do": 3}\n{"cancel": 9}\n{"id": 1, "do": "nothing"}\n'
    done = subprocess.run(gemmviz_command("worker"), input=said, capture_output=True, timeout=30, check=False)
    assert done.returncode == 0
    (answer,) = done.stdout.splitlines()
    assert json.loads(answer)["error"]["kind"] == "UsageError"


def test_a_worker_killed_from_outside_is_replaced() -> None:
    remote = RemoteGpu()
    remote.time_host("NumPy, one thread", Problem(8, 8, 8))
    first = remote.host_link.process_id
    assert first is not None
    threading.Timer(0.1, lambda: os.kill(first, signal.SIGKILL)).start()
    with pytest.raises(DeviceError, match="was terminated by signal 9"):
        remote.time_host("NumPy, one thread", Problem(3000, 3000, 3000))
    assert remote.time_host("NumPy, one thread", Problem(8, 8, 8)).median_ms > 0
    assert remote.host_link.process_id != first
    remote.close()
    with pytest.raises(Cancelled):
        remote.time_host("NumPy, one thread", Problem(8, 8, 8))  # nothing is started after the end


def test_who_waits_behind_a_lost_worker_is_served_by_the_next() -> None:
    link = speaking(
        "for line in sys.stdin:\n    facts = json.loads(line)\n    if facts['do'] == 'lose':\n        time.sleep(0.3)\n"
        "        print(json.dumps({'id': facts['id'], 'error': {'kind': 'DeviceError', 'message': 'lost', 'fatal': True}}), flush=True)\n"
        "        time.sleep(9)\n    else:\n        print(json.dumps({'id': facts['id'], 'result': {'pid': os.getpid()}}), flush=True)"
    )
    found: list[dict[str, int]] = []

    def lose() -> None:
        with pytest.raises(DeviceError, match="lost"):
            link.run("lose")

    first = threading.Thread(target=lose)
    second = threading.Thread(target=lambda: found.append(link.run("serve")))
    first.start()
    time.sleep(0.1)
    second.start()
    first.join()
    second.join()
    assert len(found) == 1
    assert link.lost == 1
    link.stop()


def test_a_worker_that_ends_tells_its_last_words() -> None:
    link = speaking("sys.stdin.readline(); print('no memory left', file=sys.stderr); sys.exit(5)")
    with pytest.raises(DeviceError, match="exited with code 5: no memory left"):
        link.run("hello")
    link.stop()


def test_nonsense_on_the_pipe_is_passed_over() -> None:
    answer = "sys.stdin.readline(); print('hello'); print(json.dumps({'id': 99, 'result': 1})); print(json.dumps([1]))\n"
    link = speaking(answer + "print(json.dumps({'id': 1, 'result': {'ok': 1}}), flush=True); time.sleep(9)")
    assert link.run("hello") == {"ok": 1}
    link.stop()


def test_nobody_waits_for_what_was_called_off() -> None:
    link = speaking("for line in sys.stdin:\n    print(line, file=sys.stderr, flush=True)")
    start = time.monotonic()
    with cancelled_after(0.1), pytest.raises(Cancelled):
        link.run("hello")
    assert time.monotonic() - start < 2
    link.stop()


def test_progress_arrives_before_the_result() -> None:
    link = speaking(
        "sys.stdin.readline()\nfor n in range(3): print(json.dumps({'id': 1, 'progress': [n, 3]}), flush=True)\n"
        "print(json.dumps({'id': 1, 'result': {}}), flush=True); time.sleep(9)"
    )
    heard: list[tuple[int, int]] = []
    link.run("count", progress=lambda done, total: heard.append((done, total)))
    assert heard == [(0, 3), (1, 3), (2, 3)]
    link.stop()


def test_a_command_that_can_not_be_started(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="can't be started"):
        WorkerLink([str(tmp_path / "nothing")]).run("hello")


def test_requests_from_many_threads_get_their_own_answers() -> None:
    link = speaking(
        "for line in sys.stdin:\n    facts = json.loads(line)\n    print(json.dumps({'id': facts['id'], 'result': {'of': facts['x']}}), flush=True)"
    )
    found: dict[int, int] = {}

    def ask(number: int) -> None:
        found[number] = link.run("echo", {"x": number})["of"]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: number for number in range(40)}
    link.stop()


def test_setups_survive_the_pipe() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(5, 6, 7), {"TILE_WIDTH": 8}, device="a100", phases="2")
    assert from_plain(json.loads(line_of({"setup": setup}))["setup"], Setup) == setup


def _every_error() -> list[GemmvizError]:
    fault = KernelFault("out of range", Place(1, 2, 3, 4), block=(1, 0, 0), thread=(2, 0, 0), id="out-of-range")
    fault.array, fault.elements = 2, (64,)
    return [
        fault,
        KernelFault("no access", None),
        SourceError("what is this", Place(9, 9, 9, 10), file="a.cu", remedy="try again", id="unknown-name"),
        SettingError("too many", names=("M",), nearest={"M": 8, "device": "a100"}, id="block-threads"),
        SettingError("no", remedy="other sizes"),
        DeviceError("no GPU", remedy="buy one"),
        UsageError("no such thing"),
        InstallationError("the file is missing", file="/opt/gemmviz"),
        TraceFileError("no trace", file="a.gvt"),
        FormatError("no JSON", Place(1, 1, 1, 2), file="x.json"),
        GemmvizError("hm", file="ä"),
    ]


@pytest.mark.parametrize("error", _every_error(), ids=lambda error: type(error).__name__)
def test_errors_survive_the_pipe(error: GemmvizError) -> None:
    back = error_from_plain(json.loads(line_of(error_to_plain(error))))
    assert isinstance(back, GemmvizError)
    assert isinstance(error, type(back))
    assert type(back) is (GemmvizError if isinstance(error, FormatError) else type(error))
    skipped = ("unmade", "path")  # a FormatError becomes a GemmvizError
    assert {name: value for name, value in vars(back).items() if name not in skipped} == {
        name: value for name, value in vars(error).items() if name not in skipped
    }
    assert str(back) == str(error)


def test_every_class_of_errors_crosses_the_pipe() -> None:
    """Also the ones that are added one day."""
    known = {type(each) for each in _every_error()}
    assert {each for each in vars(messages).values() if isinstance(each, type) and issubclass(each, GemmvizError)} <= known


def test_other_exceptions_cross_the_pipe() -> None:
    assert isinstance(error_from_plain(error_to_plain(Cancelled())), Cancelled)
    plain = error_to_plain(KeyError("x"), fatal=True)
    assert plain["fatal"]
    assert "internal error: KeyError: 'x'" in str(error_from_plain(plain))
    assert error_from_plain({"kind": "DeviceError", "message": "gone"}).id == "device"  # type: ignore[attr-defined]
    with pytest.raises(FormatError):
        error_from_plain({"kind": "SystemExit", "message": "x"})


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes can't be stopped here")
def test_a_worker_that_was_stopped_keeps_nobody_waiting() -> None:
    link = WorkerLink()
    with pytest.raises(UsageError):
        link.run("nothing")
    assert link.process_id is not None
    os.kill(link.process_id, signal.SIGSTOP)
    over = threading.Event()

    def until_over() -> None:
        with cancellable(over.is_set):
            link.run("nothing", large)

    large = {"text": "x" * 4_000_000}  # more than a pipe holds
    with ThreadPoolExecutor(2) as pool:
        called_off = pool.submit(until_over)
        waiting = pool.submit(link.run, "nothing", large)
        time.sleep(0.2)
        start = time.monotonic()
        over.set()
        with pytest.raises(Cancelled):
            called_off.result(1.0)
        link.close()
        with pytest.raises((DeviceError, Cancelled)):
            waiting.result(1.0)
        assert time.monotonic() - start < 1.0


def test_a_worker_that_is_stuck_in_what_was_called_off_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.run.worker.remote._STUCK_S", 0.5)
    link = speaking(
        """
for line in sys.stdin:
    facts = json.loads(line)
    if facts.get("do") == "hang":
        time.sleep(60)
    if "do" in facts:
        print(json.dumps({"id": facts["id"], "result": {"process": os.getpid()}}), flush=True)
"""
    )
    first = link.run("x")["process"]
    start = time.monotonic()
    with cancelled_after(0.2), pytest.raises(Cancelled):
        link.run("hang")
    second = link.run("x")["process"]
    assert second != first
    assert link.lost == 1
    assert time.monotonic() - start < 8
    link.close()


def test_a_worker_at_a_job_that_is_wanted_is_not_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.run.worker.remote._STUCK_S", 0.3)
    link = speaking(
        """
for line in sys.stdin:
    facts = json.loads(line)
    if "do" in facts:
        time.sleep(facts["seconds"])
        print(json.dumps({"id": facts["id"], "result": {"process": os.getpid()}}), flush=True)
"""
    )
    process = link.run("x", {"seconds": 0})["process"]
    with ThreadPoolExecutor(1) as pool:
        wanted = pool.submit(link.run, "x", {"seconds": 1.0})
        time.sleep(0.1)
        with cancelled_after(0.2), pytest.raises(Cancelled):
            link.run("x", {"seconds": 0})
        assert wanted.result()["process"] == process
    assert link.lost == 0
    link.close()
