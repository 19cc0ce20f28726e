"""Shared fixtures: kernels from text, quick traces, golden files."""

import gc
import itertools
import os
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import pytest
import tomli_w

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["GEMMVIZ_LANGUAGE"] = "en"  # whatever the language of the system

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.trace import Outcome, Trace
from gemmviz.run.choosing import engine_for, with_stored_answers
from gemmviz.run.cpu.executor import bound, inputs, trace_kernel, traced_space
from gemmviz.run.cpu.recorder import StepCounter
from gemmviz.run.cpu.simt.interpret import interpret
from gemmviz.run.engine import Engine, Recording
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.teaching.exercises import RememberedAnswers
from tests.app_model import TestModel

DATA = Path(__file__).parent / "data"
GOLDEN = Path(__file__).parent / "golden"
DURATIONS = Path(__file__).parent / "durations.toml"
_LONGEST = 700
ENGINE = RememberedAnswers(engine_for("cpu"))

Kind = TypeVar("Kind")


_asked_for = {"nightly": True}


def pytest_configure(config: pytest.Config) -> None:
    _asked_for["nightly"] = "not nightly" not in config.getoption("markexpr")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")
    parser.addoption("--record-durations", action="store_true", help="write the longest tests into tests/durations.toml")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    try:
        import cupy

        has_gpu = cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:
        has_gpu = False
    longest = tomllib.loads(DURATIONS.read_text("utf-8")) if DURATIONS.exists() else {}
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "browser" in fixtures:
            item.add_marker(pytest.mark.nightly)
        if "qtbot" in fixtures or item.nodeid.partition("[")[0] in longest:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("gpu") is not None and not has_gpu:
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU and CuPy"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--record-durations"):
        spent = defaultdict[str, float](float)
        for report in itertools.chain.from_iterable(terminalreporter.stats.values()):
            if isinstance(report, pytest.TestReport) and "nightly" not in report.keywords:
                spent[report.nodeid.partition("[")[0]] += report.duration
        longest = sorted(spent.items(), key=lambda each: -each[1])[:_LONGEST]
        DURATIONS.write_text(
            "# Seconds of the longest tests, written by make pytest ARGS=--record-durations.\n"
            + tomli_w.dumps({name: round(s, 1) for name, s in longest}),
            "utf-8",
        )


def pytest_collection_finish() -> None:
    """What is imported and collected stays: nothing goes through it again in search of garbage. From here on garbage is
    collected between tests alone, as the program does it between frames: another thread must not delete a widget.
    """
    gc.collect()
    gc.freeze()
    gc.disable()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Deletes closed windows and collects garbage, in this thread."""
    yield
    if "PySide6.QtWidgets" in sys.modules:
        from PySide6.QtCore import QCoreApplication, QEvent

        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    for generation in (2, 1, 0):
        if gc.get_count()[generation] > gc.get_threshold()[generation]:
            gc.collect(generation)
            break


@pytest.fixture(autouse=True)
def _turn_on_the_gpu(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests on the GPU run beside each other, but for those that measure the machine, in whichever process they are."""
    if request.node.get_closest_marker("gpu") is None:
        yield
        return
    import fcntl  # of systems on which the GPU is tested

    with (Path(tempfile.gettempdir()) / "gemmviz-gpu-tests").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX if request.node.get_closest_marker("alone") else fcntl.LOCK_SH)
        yield


def sampled(cases: Iterable[Any], every: int = 2) -> list[Any]:
    """Parameters of a test: each ``every``-th case, and the others for the nightly tests. Each kind of thing that may go wrong
    must be in a case that is taken, or in another test.
    """
    taken = [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=() if number % every == 0 else (pytest.mark.nightly,)
        )
        for number, case in enumerate(cases)
    ]
    return taken if _asked_for["nightly"] else taken[::every]


def kernel_from(
    body: str, *, block: str = '["4"]', grid: str = '["1"]', before: str = "", parameters: str = "", pointer: str = "float*"
) -> KernelSpec:
    """A kernel of this body; its first line is line 9 of the file (plus the lines of ``before``)."""
    text = (
        f'// gemmviz = 1\n// entry = "kernel"\n// args = ["A", "B", "C", "M", "N", "K"]\n// block = {block}\n// grid = {grid}\n'
        f"{parameters}\n{before}\n"
        f'extern "C" __global__ void kernel(const {pointer} A, const {pointer} B, {pointer} C, int M, int N, int K)\n{{\n{body}\n}}\n'
    )
    return parse_kernel(text, "kernel.cu")


def once(kernel: KernelSpec) -> AbstractContextManager[Engine]:
    """The interpreter, which runs each launch once."""
    return nullcontext(ENGINE)


stored_first = with_stored_answers(once)  # for tests of what is drawn: what is stored with the lessons isn't counted again


def trace_of(spec: KernelSpec | str, m: int = 4, n: int = 4, k: int = 4, **options: Any) -> Trace:
    """A whole trace of a kernel (or a shipped one by name); names in capitals are parameters."""
    return outcome_of(spec, m, n, k, **options).whole


def outcome_of(spec: KernelSpec | str, m: int = 4, n: int = 4, k: int = 4, **options: Any) -> Outcome:
    """How the run of a kernel ends. ``values``, ``origins``, ``limit_bytes``: what is recorded; ``blocks``, ``phases`` and other
    fields of a setup: what is traced; ``budget``.
    """
    if isinstance(spec, str):
        spec = load_kernel(spec)
    parameters = {name: options.pop(name) for name in list(options) if name.isupper()}
    recording = Recording(**{name: options.pop(name) for name in ("values", "origins", "limit_bytes") if name in options})
    budget = options.pop("budget", None)
    return trace_kernel(setup_for(spec, Problem(m, n, k), parameters, **options), None, recording, budget=budget)


def left_in_c(spec: KernelSpec) -> Any:
    """C as a kernel leaves it, flat and exact."""
    binding = bound(setup_for(spec))
    return interpret(binding, traced_space(binding, None), StepCounter(), inputs(binding))["C"].data


def moment_of(trace: Trace, step: int = 0, focus: Focus | None = None) -> Moment:
    """A step of a trace, as somebody with this focus reads it."""
    return Reader(Replay.of(trace), focus).at(step)


def piece(scene: Scene, key: str, kind: type[Kind]) -> Kind:
    """The primitive of this key, which must be there and of this kind."""
    found = scene.find(key)
    assert isinstance(found, kind), key
    return found


def sure(value: Kind | None) -> Kind:
    """What is there."""
    assert value is not None
    return value


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares text with a file under ``tests/golden``, or writes it with --update-golden."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text, (
            f"{name} changed: look at it, then make pytest ARGS='tests/render --update-golden'"
        )

    return compare


@pytest.fixture
def without_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files hold the characters that are used in place of a font with their glyphs, which takes longer than the picture."""
    monkeypatch.setattr("gemmviz.render.svg._subset", lambda face, characters: f"{face} {characters}".encode())


@pytest.fixture(autouse=True, scope="session")
def _one_application(request: pytest.FixtureRequest) -> None:
    """A QApplication serves windows and images alike; the reverse would not. The engine is tested where there is no Qt, too."""
    if request.config.pluginmanager.hasplugin("pytest-qt"):
        request.getfixturevalue("qapp")


@pytest.fixture
def model() -> Iterator[TestModel]:
    made = TestModel()
    made.session.start()
    made.settle()
    yield made
    made.opening.close()
    made.session.close()
