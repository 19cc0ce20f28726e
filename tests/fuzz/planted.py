"""Defects to plant in the program, each like one that somebody might make, so that it can be seen whether fuzzing finds them."""

import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.global_hazards import GlobalHazards
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.messages import GemmvizError
from gemmviz.scenes.catalog import view_named, views

Patch = pytest.MonkeyPatch
_LAST_LINE = 500  # of all kernels that are traced
_kept: list[bytes] = []  # by a window that forgets nothing
Wrapped = Callable[..., Any]


@dataclass(frozen=True)
class Defect:
    """``campaign``: the one that must find it within ``cases`` cases; ``said``: words of what it says then; ``kills``: whether
    the process that tries the case doesn't survive it.
    """

    campaign: str
    said: str
    plant: Callable[[Patch], None]
    cases: int = 300
    kills: bool = False


def _around(target: str, wrapper: Callable[..., Any]) -> Callable[[Patch], None]:
    """Replaces a function of a module or class by ``wrapper(function, *args, **kwargs)``."""

    def plant(patch: Patch) -> None:
        owner, name = _found(target)
        original = getattr(owner, name)
        patch.setattr(owner, name, lambda *args, **kwargs: wrapper(original, *args, **kwargs))

    return plant


def _found(target: str) -> tuple[Any, str]:
    """The module or class, and the name in it, of "module:Class.name"."""
    module, _, inner = target.partition(":")
    owner: Any = __import__(module, fromlist=["x"])
    *path, name = inner.split(".")
    for each in path:
        owner = getattr(owner, each)
    return owner, name


def _without(target: str, result: Any = None) -> Callable[[Patch], None]:
    """A check that is gone."""
    return _around(target, lambda function, *args, **kwargs: result)


def _raising(error: type[Exception], when: Callable[..., bool]) -> Wrapped:
    def wrapper(function: Wrapped, *args: Any, **kwargs: Any) -> Any:
        if when(*args):
            raise error("planted")
        return function(*args, **kwargs)

    return wrapper


def _also(act: Callable[..., object], when: Callable[..., bool] = lambda *args: True) -> Wrapped:
    def wrapper(function: Wrapped, *args: Any, **kwargs: Any) -> Any:
        if when(*args):
            act(*args)
        return function(*args, **kwargs)

    return wrapper


def _forever(*args: object) -> None:
    while True:
        pass


def _burn(*args: object) -> None:
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        pass


def _endless_view(patch: Patch) -> None:
    """A loop over something that a trace says."""
    view = view_named("block_tiles")

    def still(moment: Moment, options: Any) -> Any:
        if moment.trace.visits.max() > 500:
            _forever()
        return view.still(moment, options)

    patch.setitem(views()._loaded, "block_tiles", structs.replace(view, draw=still))


def _on_error(act: Callable[[], object]) -> Wrapped:
    def wrapper(function: Wrapped, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except GemmvizError:
            act()
            raise

    return wrapper


def _report() -> None:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", 9), 0.1)


def _leave_parts(patch: Patch) -> None:
    unlink = Path.unlink
    patch.setattr(Path, "unlink", lambda path, missing_ok=False: None if ".part-" in path.name else unlink(path, missing_ok))


def _as_markup(patch: Patch) -> None:
    """A page that writes a name as markup, and has no policy to stop it."""
    from gemmviz.files.resources import resource as read
    from gemmviz.render import export

    class Spoiled:
        def __init__(self, name: str) -> None:
            self.name = name

        def read_text(self, encoding: str) -> str:
            text: str = read(self.name).read_text(encoding=encoding)
            return text.replace(
                'find(".caption").textContent = caption',
                'find(".caption").innerHTML = caption; find(".hover").innerHTML = data.name',
            )

    patch.setattr(export, "resource", Spoiled)
    patch.setattr(export, "page_policy", lambda script, style: "default-src 'unsafe-inline' data:")


def _is_changed(trace: Any, file: str) -> bool:
    """Whether a trace says what no run of the kernels says."""
    far = any(site.place.line > _LAST_LINE or site.place.end_line > _LAST_LINE for site in trace.sites)
    return far or bool(trace.check.wrong or trace.check.unwritten or trace.notes)


def _rounded_down(function: Wrapped, op: str, x: Any, y: Any, within: Any) -> Any:
    """An integer division or remainder that rounds as in Python."""
    divisor = np.where(np.asarray(y) == 0, 1, y)
    result = np.floor_divide(x, divisor) if op == "/" else np.mod(x, divisor)
    return np.asarray(result).astype(within.dtype)


def _leaking_float(function: Wrapped, preferences: Any, key: str, default: float) -> float:
    return float(preferences.store.value(key, default))


def _leaking(error: type[Exception]) -> Wrapped:
    """An error that nobody turns into a sentence."""

    def wrapper(function: Wrapped, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except GemmvizError:
            raise error("planted") from None

    return wrapper


def _also_beside(function: Wrapped, scene: Any, path: Path, *rest: Any) -> None:
    with suppress(OSError):
        (path.absolute().parent.parent / "preview.svg").write_text("planted")
    function(scene, path, *rest)


def _doubled(function: Wrapped, *args: Any, **kwargs: Any) -> Any:
    """A question with a choice that stands there twice."""
    stop = function(*args, **kwargs)
    choices = stop.question.choices
    wrong = next(choice for choice in choices if not choice.right)
    return structs.replace(stop, question=structs.replace(stop.question, choices=(*choices, wrong)))


PLANTED: dict[str, Defect] = {
    "a character raises": Defect(
        "sources",
        "IndexError",
        _around("gemmviz.cuda.program:source_of", _raising(IndexError, lambda spec, *_: "`" in spec.text)),
        1500,
    ),
    "a long number takes 2 GB": Defect(
        "sources",
        "MiB of memory",
        _around(
            "gemmviz.cuda.program:source_of",
            _also(lambda *_: len(b"x" * (2 << 30)), lambda spec, *_: "9" * 300 in spec.text),
        ),
        1500,
    ),
    "an error of the reader process leaks": Defect(
        "reading", "KeyError", _around("gemmviz.cuda.program:ReaderLink.run", _leaking(KeyError))
    ),
    "a formula's error leaks": Defect(
        "headers", "ZeroDivisionError", _around("gemmviz.cuda.launch.legality:evaluate", _leaking(ZeroDivisionError))
    ),
    "a formula never ends in C": Defect(
        "headers",
        "not Python",
        _around(
            "gemmviz.cuda.launch.legality:evaluate",
            _also(lambda *_: np.linalg.svd(np.ones((6000, 6000))), lambda formula, *_: "2147483647" in formula),
        ),
        1500,
        kills=True,
    ),
    "a trace's numbers are not checked": Defect("traces", "Error", _without("gemmviz.files.trace_file:check_arrays")),
    "a trace's reader raises": Defect(
        "traces",
        "KeyError",
        _around(
            "gemmviz.files.trace_file:check_facts",
            _raising(KeyError, _is_changed),
        ),
        1000,
    ),
    "a view never ends": Defect("traces", "Endless", _endless_view, 1500),
    "a benchmark's times are not checked": Defect(
        "benchmarks", "Error", _without("gemmviz.files.recordings:_has_sound_numbers", True)
    ),
    "a view's kernel raises": Defect("views", "KeyError", _around("gemmviz.shots.shot:load_kernel", _leaking(KeyError))),
    "a wrong view is reported over the network": Defect(
        "views", "opens a connection", _around("gemmviz.shots.shot:toml_to_plain", _on_error(_report))
    ),
    "a saved lesson loses its minutes": Defect(
        "lessons",
        "is another one",
        _around(
            "gemmviz.teaching.lesson_file:_named_kernels",
            lambda function, step, fields: function(step, fields) | {"minutes": min(step.minutes, 100.0)},
        ),
    ),
    "a device's figures are not checked": Defect("devices", "Error", _without("gemmviz.model.device:_check_figures")),
    "a question's choice is doubled": Defect(
        "quizzes", "stands there twice", _around("gemmviz.teaching.quiz:_quiz_step", _doubled)
    ),
    "a kernel becomes markup in a quiz": Defect(
        "quizzes", "markup|ParseError", _around("gemmviz.teaching.pack:escape", lambda function, text: text)
    ),
    "an empty answer raises": Defect(
        "answers",
        "IndexError",
        _around("gemmviz.model.kernel:KernelSpec.filled", _raising(IndexError, lambda kernel, answers: "" in answers)),
    ),
    "a right answer fails": Defect(
        "answers",
        "don't pass",
        _around("gemmviz.teaching.lesson:Expectation.is_met_by", lambda function, each, found: found is True),
    ),
    "a picture is also written elsewhere": Defect(
        "writers", "outside of its folder", _around("tests.fuzz.writers:save_frame", _also_beside)
    ),
    "a file that can't be written leaves a part": Defect("writers", "left lying about", _leave_parts),
    "a command writes over what it reads": Defect(
        "commands", "changed|wrote over", _without("gemmviz.cli.main:check_outputs"), 3000
    ),
    "a command starts a program": Defect(
        "commands",
        "starts 'true'",
        _around("gemmviz.cli.main:check_outputs", _also(lambda args: subprocess.run(["true"], check=False))),
    ),
    "the worker waits for ever": Defect(
        "worker",
        "did nothing",
        _around("gemmviz.run.worker.worker:Server.run", _also(lambda server: threading.Event().wait())),
        kills=True,
    ),
    "a name becomes markup in a page": Defect("pages", "markup|script", _as_markup),
    "an integer division rounds down": Defect(
        "programs", "another result", _around("gemmviz.run.cpu.simt.values:_truncating", _rounded_down), 40
    ),
    "a barrier orders nothing": Defect(
        "faults", "a right kernel is accused", _without("gemmviz.analysis.shared_hazards:HazardFinder.barrier")
    ),
    "hazards between blocks are not looked for": Defect(
        "faults",
        "is missed",
        _around("gemmviz.analysis.launch_hazards:global_hazards", lambda function, *args: GlobalHazards()),
        1500,
    ),
    "a view keeps the window": Defect(
        "window", "kept the window", _around("gemmviz.session.commands:Commands.show_layer", _also(_burn)), 60
    ),
    "a jump backwards raises": Defect(
        "window",
        "ValueError",
        _around("gemmviz.session.playing:Playback.jump", _raising(ValueError, lambda player, step, *_: step < 0)),
        100,
    ),
    "a window keeps what it has run": Defect(
        "window",
        "memory grows",
        _around("gemmviz.shots.completion:Completion.show", _also(lambda *_: _kept.append(b"x" * (10 << 20)))),
        60,
    ),
    "a picture of an opened file raises": Defect(
        "window",
        "ZeroDivisionError",
        _around(
            "gemmviz.scenes.views.stage_view:planned_scene",
            _raising(ZeroDivisionError, lambda moment, *_: not moment.trace.setup.kernel.is_shipped),
        ),
        100,
    ),
    "a picture of the lecture raises": Defect(
        "window", "ValueError", _around("gemmviz.gui.lecture.wall:Wall._draw", _raising(ValueError, lambda *_: True)), 100
    ),
    "a setting that was kept raises": Defect(
        "settings", "ValueError", _around("gemmviz.gui.preferences:Preferences.number", _leaking_float), 100
    ),
}


@contextmanager
def planted(name: str | None) -> Iterator[None]:
    """Has a defect in the program, or none."""
    with pytest.MonkeyPatch.context() as patch:
        if name is not None:
            PLANTED[name].plant(patch)
        try:
            yield
        finally:
            _kept.clear()
