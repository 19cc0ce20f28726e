"""The reader process: it starts fast, survives crashes and endless texts, and ends with its parent."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import psutil
import pytest

from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.program import ReaderLink
from gemmviz.files.resources import child_environment
from gemmviz.model.messages import Cancelled, GemmvizError, SourceError, cancellable

RIGHT = SourceText("a.cu", {"a.cu": "__global__ void k(float* a) { a[threadIdx.x] = 1.0f; }\n"})
WRONG = SourceText("a.cu", {"a.cu": "__global__ void k(float* a) { a[0] = b; }\n"})
DOUBLINGS = "".join(f"#define M{n} M{n - 1} M{n - 1}\n" for n in range(1, 40))
ENDLESS = SourceText("a.cu", {"a.cu": f"#define M0 x,\n{DOUBLINGS}int M39 y;\n"})


@pytest.fixture(scope="module")
def link() -> Iterator[ReaderLink]:
    made = ReaderLink()
    yield made
    made.close()


def test_a_right_text_and_a_wrong_one(link: ReaderLink) -> None:
    assert link.run("refusal", RIGHT) is None
    error = link.run("refusal", WRONG)
    assert error.message == "'b' is not declared"
    assert (error.place.line, error.place.column, error.place.end_column) == (1, 38, 39)


def test_the_process_loads_neither_numpy_nor_qt_nor_what_only_outlines_need() -> None:
    heavy = ("numpy", "PySide6", "psutil", "gemmviz.cuda.launch.host_code.launches")
    code = f"import sys, gemmviz.cuda.reader_process; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], env=child_environment(), capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("words", "starts"),
    [
        (["counts", "x.cu"], 1),
        (["info", "x.cu"], 0),
        *(
            pytest.param(*each, marks=pytest.mark.nightly)
            for each in (
                (["kernels"], 0),
                (["x.cuh:k<8>"], 1),
                (["counts", "-h"], 0),
                (["counts", "x"], 0),
                (["--version"], 0),
            )
        ),
    ],
)
def test_the_program_starts_it_first_if_it_reads_a_kernel(words: list[str], starts: int) -> None:
    code = (
        "import sys\nfrom gemmviz.__main__ import main\nfrom gemmviz.cuda.program import ReaderLink\n"
        "ReaderLink.start = lambda self: print('starts before', 'gemmviz.cli.main' not in sys.modules)\n"
        f"sys.argv[1:] = {words}\nmain()"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=child_environment(), capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.count("starts before True") == starts


def test_an_unknown_request_is_an_error_and_the_process_goes_on(link: ReaderLink) -> None:
    with pytest.raises(GemmvizError, match="internal error: KeyError"):
        link.run("nothing")
    before = link.process_id
    assert link.run("refusal", RIGHT) is None
    assert link.process_id == before


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGSTOP")
def test_a_crash_is_an_error_and_the_next_request_works(link: ReaderLink) -> None:
    link.run("refusal", RIGHT)
    lost, process = link.lost, link.process_id
    assert process is not None
    os.kill(process, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        reply = pool.submit(link.run, "refusal", RIGHT)
        while link._turn.acquire(blocking=False):  # until the request is being sent
            link._turn.release()
        time.sleep(0.05)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(SourceError, match="the parser crashed on this file"):
            reply.result(10)
    assert link.run("refusal", RIGHT) is None
    assert link.lost == lost + 1
    assert not psutil.pid_exists(process)  # no zombie


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_process_that_died_while_idle_is_replaced(link: ReaderLink) -> None:
    link.run("refusal", RIGHT)
    assert link.process_id is not None
    os.kill(link.process_id, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(link.process_id)], 5)
    assert link.run("refusal", RIGHT) is None


@pytest.mark.parametrize("most", [0.3, pytest.param(2.0, marks=pytest.mark.nightly)])  # the latter in earnest
def test_an_endless_text_is_an_error_within_the_limit(link: ReaderLink, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    if most < 2.0:
        monkeypatch.setattr("gemmviz.cuda.program._MOST_SECONDS", most)
    link.run("refusal", RIGHT)
    start = time.monotonic()
    with pytest.raises(SourceError, match=rf"reading this file takes (longer than {most:g} s|more than 1024 MiB)"):
        link.run("refusal", ENDLESS)
    assert time.monotonic() - start < 12.0  # 2 s on an idle computer
    assert link.run("refusal", RIGHT) is None


def test_a_cancelled_request_delays_no_other(link: ReaderLink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.cuda.program._MOST_SECONDS", 0.3)
    link.run("refusal", RIGHT)
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    with cancellable(stop.is_set), pytest.raises(Cancelled):
        link.run("refusal", ENDLESS)
    assert link.run("refusal", RIGHT) is None


def test_a_request_that_waits_for_its_turn_can_be_cancelled(link: ReaderLink) -> None:
    link.run("refusal", RIGHT)
    with ThreadPoolExecutor(1) as pool, link._turn, cancellable(lambda: True):
        waiting = pool.submit(copy_context().run, link.run, "refusal", RIGHT)
        with pytest.raises(Cancelled):
            waiting.result(5)


def test_threads_take_turns(link: ReaderLink) -> None:
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda text: link.run("refusal", text), [RIGHT, WRONG] * 8))
    assert [each is None for each in replies] == [True, False] * 8


def test_a_process_that_cannot_start_says_why() -> None:
    link = ReaderLink([sys.executable, "-c", "raise SystemExit('no libclang here')"])
    with pytest.raises(GemmvizError, match="the reader of kernels can't be started: no libclang here"):
        link.run("refusal", RIGHT)


def test_the_process_ends_with_its_parent_amid_a_request() -> None:
    code = (
        "import os, threading, time\n"
        "from gemmviz.cuda.parser.source_text import SourceText\n"
        "from gemmviz.cuda.program import ReaderLink\n"
        f"RIGHT, ENDLESS = {RIGHT}, {ENDLESS}\n"
        "link = ReaderLink(); link.run('refusal', RIGHT)\n"
        "threading.Thread(target=link.run, args=('refusal', ENDLESS), daemon=True).start()\n"
        "time.sleep(0.2); print(link.process_id, flush=True); os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=child_environment(), capture_output=True, text=True, check=True)
    process = int(done.stdout)
    deadline = time.monotonic() + 5
    while psutil.pid_exists(process) and psutil.Process(process).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the reader process outlives its parent"
        time.sleep(0.02)
