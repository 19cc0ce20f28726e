"""Opening is not running: what comes from elsewhere runs on the GPU only where a person says so."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.cuda.launch.catalog import is_shipped_kernel, load_kernel
from gemmviz.files.trace_file import write_trace
from gemmviz.model.device import Gpu
from gemmviz.model.messages import DeviceError
from gemmviz.run.choosing import choice_for
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import EngineRequest
from gemmviz.session.notices import Notice
from tests.app_model import TestModel
from tests.conftest import trace_of

KERNEL = load_kernel("02_naive")
H200 = Gpu("NVIDIA H200", "9.0", "580.1", "NVRTC 13.0", 132, 62914560, 1 << 37)


def beside_a_gpu(model: TestModel) -> list[str]:
    """The titles of the kernels that the GPU is asked to run from now on; it fails at all of them."""
    asked: list[str] = []

    def refuse(request: EngineRequest) -> Any:
        asked.append(request.setup.kernel.name)
        raise DeviceError("the GPU is not here")

    setattr(model.session.engines.remote, "answer", refuse)  # noqa: B010 - a method of one object
    model.session.engines.on_gpu_found(H200)
    model.know()
    return asked


def noted(ran: list[str], answer: Callable[..., Any]) -> Callable[..., Any]:
    """The same, and what is asked goes into a list."""

    def both(engine: Interpreter, request: EngineRequest) -> Any:
        ran.append(request.to)
        return answer(engine, request)

    return both


def offered(model: TestModel) -> Notice | None:
    return next((each for each in model.session.notices.all if each.topic == "elsewhere"), None)


def own_file(folder: Path, change: Callable[[str], str] = lambda text: text + "// mine\n") -> Path:
    path = folder / "mine.cu"
    path.write_text(change(KERNEL.text))
    return path


def test_a_kernel_from_elsewhere_runs_on_the_gpu_once_a_person_says_so(model: TestModel, tmp_path: Path) -> None:
    asked = beside_a_gpu(model)
    assert set(asked) == {"04_tiled"}  # what ships with gemmviz needs no word
    asked.clear()
    model.open(own_file(tmp_path))
    model.know()
    notice = offered(model)
    assert asked == []
    assert notice is not None
    assert notice.offer is not None
    notice.offer.take()
    model.know()
    assert set(asked) == {"mine"}
    assert offered(model) is None
    asked.clear()
    model.open(own_file(tmp_path, lambda text: text + "// changed\n"))
    model.know()
    assert asked == []  # another text is another kernel
    model.open(own_file(tmp_path))
    model.know()
    assert set(asked) == {"mine"}  # the word holds for the text


def test_a_trace_is_shown_as_it_is_recorded(model: TestModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = beside_a_gpu(model)
    asked.clear()
    ran: list[str] = []
    monkeypatch.setattr(Interpreter, "answer", noted(ran, Interpreter.answer))
    trace = trace_of("04_tiled", 4, 4, 4, TILE_WIDTH=2)
    kernel = structs.replace(trace.setup.kernel, text=trace.setup.kernel.text + "// mine\n", is_shipped=False)
    write_trace(dataclasses.replace(trace, setup=structs.replace(trace.setup, kernel=kernel)), tmp_path / "t.gvt")
    model.open(tmp_path / "t.gvt")
    model.know()
    shown = model.session.shown
    assert shown is not None
    assert shown.from_file
    assert (asked, ran) == ([], [])
    counter = LaunchCounter(trace.rules)
    Interpreter().count(trace.setup, counter)
    assert shown.counts is not None
    assert shown.counts.total() == counter.counts.total()  # the whole launch is in the file
    ran.clear()
    notice = offered(model)
    assert notice is not None
    assert notice.offer is not None
    notice.offer.take()
    model.know()
    assert asked == []
    assert set(ran) == {"record a trace", "watch variables", "count a launch", "time a kernel"}
    now = offered(model)
    assert now is not None
    assert "it runs in the interpreter" in now.text


def test_a_part_of_a_launch_is_not_counted_from_its_file(model: TestModel, tmp_path: Path) -> None:
    write_trace(trace_of("02_naive", 8, 8, 8, BLOCK=2, blocks="1:2,0:2"), tmp_path / "t.gvt")
    model.open(tmp_path / "t.gvt")
    model.know()
    shown = model.session.shown
    assert shown is not None
    assert shown.counts is None
    assert shown.no_counts == "the file contains only a part of the launch"


def test_a_kernel_is_ours_by_its_text_and_launch_and_not_by_what_it_says(tmp_path: Path) -> None:
    assert is_shipped_kernel(KERNEL)
    assert is_shipped_kernel(structs.replace(KERNEL, name="other", file="elsewhere.cu", is_shipped=False))
    assert not is_shipped_kernel(structs.replace(KERNEL, text=KERNEL.text + "// mine\n"))
    assert not is_shipped_kernel(structs.replace(KERNEL, grid=("1000000",)))
    assert choice_for("auto", KERNEL) == "auto"
    assert choice_for("auto", structs.replace(KERNEL, text="")) == "cpu"
    assert choice_for("gpu", structs.replace(KERNEL, text="")) == "gpu"


def test_over_a_trace_that_was_not_run_nothing_is_said_to_have_run(model: TestModel, tmp_path: Path) -> None:
    beside_a_gpu(model)
    trace = trace_of("04_tiled", 4, 4, 4, TILE_WIDTH=2)
    kernel = structs.replace(trace.setup.kernel, text=trace.setup.kernel.text + "// mine\n", is_shipped=False)
    write_trace(dataclasses.replace(trace, setup=structs.replace(trace.setup, kernel=kernel)), tmp_path / "t.gvt")
    model.open(tmp_path / "t.gvt")
    before = offered(model)
    model.session.reports.offer_gpu(model.session.shot.setup, model.session.shown)
    assert offered(model) == before
    assert before is not None
    assert "nothing was run" in before.text
