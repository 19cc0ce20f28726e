"""What is tried: for each kind of input how it is made up, and what is done with it. A case is a file, so that it can be kept."""

import contextlib
import io
import json
import resource
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.analysis.focus import Focus
from gemmviz.analysis.moment import Moment, Reader
from gemmviz.analysis.replay import Replay
from gemmviz.cli.main import main
from gemmviz.files.benchmark_file import benchmark_text, read_benchmark, recorded_benchmarks
from gemmviz.files.codec import toml_text
from gemmviz.files.trace_file import describe, read_trace, write_trace
from gemmviz.files.whole import write_text
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import Cancelled, GemmvizError
from gemmviz.model.trace import Trace
from gemmviz.render.export import save_frame
from gemmviz.run.choosing import has_cupy
from gemmviz.run.engine import Cancel
from gemmviz.run.interpreter import Interpreter
from gemmviz.run.worker import Server
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.frame import LAYERS, ViewOptions
from gemmviz.scenes.theme import load_theme
from gemmviz.show.findings import look, recorded_run, search
from gemmviz.show.picture import run
from gemmviz.show.shot import Shot, default_shot, read_view, save_view, shot_text
from gemmviz.spec.catalog import kernel_names, load_kernel
from gemmviz.spec.legality import device_for, launch_for, setup_for
from tests.conftest import trace_of
from tests.fuzz.in_the_window import act, kept_settings, start_with, window_actions
from tests.fuzz.mutators import HEADER, NUMBERS, WORDS, spoiled_bytes, spoiled_facts, spoiled_text

_ANSWERS = (GemmvizError, Cancelled)


@dataclass(frozen=True)
class Campaign:
    """``cases``: files' contents; ``run``: what is done with such a file. A GemmvizError or Cancelled is an answer."""

    suffix: str
    cases: Callable[[], st.SearchStrategy[bytes]]
    run: Callable[[Path, Cancel], None]


# Kernels


def _sources() -> st.SearchStrategy[bytes]:
    return spoiled_text(_kernels()).map(_encoded)


def _headers() -> st.SearchStrategy[bytes]:
    return spoiled_text(_kernels(), (*HEADER, *NUMBERS)).map(_encoded)


@cache
def _kernels() -> list[str]:
    theirs = Path(__file__).parent.parent / "data" / "kernels"
    return [load_kernel(name).text for name in kernel_names()] + [path.read_text() for path in sorted(theirs.glob("*.cu"))]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _run_kernel(path: Path, cancelled: Cancel) -> None:
    setup = setup_for(load_kernel(str(path)))
    launch_for(setup)
    engine = Interpreter()
    outcome = run(setup, (0, 0, 0), engine, cancelled=cancelled)
    if outcome.trace is not None:
        _draw(outcome.trace)
        replay = Replay.of(outcome.trace)
        look(setup, replay, Reader(replay).scope, engine, cancelled)
        search(setup, replay, engine, cancelled)
        engine.count(setup, LaunchCounter(device_for(setup).rules, cancelled), cancelled=cancelled)


def _draw(trace: Trace) -> None:
    """Some frames of each view, in all colours."""
    replay = Replay.of(trace)
    block = tuple(start for start, _ in trace.blocks.ranges)
    for focus in (Focus(block), Focus(block, everyone=True), Focus(block, thread=0)):  # type: ignore[arg-type]
        for step in {0, trace.steps // 2, trace.steps - 1}:
            moment = Reader(replay, focus).at(step)
            for name in views_of(Moment):
                for layer in LAYERS if name == "stage" else LAYERS[:1]:
                    view_named(name).scene(moment, ViewOptions(load_theme("dark"), layer=layer))


# Files


def _traces() -> st.SearchStrategy[bytes]:
    spoiled = st.tuples(spoiled_facts(_manifest()), st.dictionaries(st.sampled_from(_ARRAYS), _VALUES, max_size=2))
    return spoiled_bytes([_whole_trace()]) | spoiled.map(lambda each: _packed(*each))


_ARRAYS = ("site", "visits", "epoch", "element", "origin_step", "origin_array", "origin")
_VALUES = st.tuples(st.integers(0, 10_000), st.sampled_from((-(2**31), -2, -1, 0, 1, 5, 63, 64, 1000, 2**31 - 1)))


@cache
def _whole_trace() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "whole.gvt"
        write_trace(_small_trace(), path)
        return path.read_bytes()


@cache
def _members() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(_whole_trace())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _manifest() -> object:
    return json.loads(_members()["manifest.json"])


def _packed(facts: object, changes: dict[str, tuple[int, int]]) -> bytes:
    """A trace with other facts, and one number in some arrays another one."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in _members().items():
            stem = name.removesuffix(".npy")
            if name == "manifest.json":
                data = json.dumps(facts).encode()
            elif stem in changes:
                data = _with_number(data, *changes[stem])
            archive.writestr(zipfile.ZipInfo(name), data)
    return held.getvalue()


def _with_number(data: bytes, at: int, number: int) -> bytes:
    array = np.load(io.BytesIO(data))
    if array.size:
        array.reshape(-1)[at % array.size] = np.clip(number, np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def _read_trace(path: Path, cancelled: Cancel) -> None:
    with contextlib.suppress(*_ANSWERS):
        json.dumps(describe(path), allow_nan=False)
    shown = recorded_run(read_trace(path))
    _draw(shown.trace)
    write_trace(shown.trace, path.with_name("again.gvt"))


def _benchmarks() -> st.SearchStrategy[bytes]:
    text = benchmark_text(recorded_benchmarks()[0])
    facts = json.loads(text)
    facts["rows"] = facts["rows"][:40]
    return spoiled_facts(facts).map(lambda each: json.dumps(each).encode()) | spoiled_bytes([json.dumps(facts).encode()])


def _read_benchmark(path: Path, cancelled: Cancel) -> None:
    found = read_benchmark(path)
    for name in views_of(Benchmark):
        view_named(name).scene(found, ViewOptions(load_theme("light")))


def _views() -> st.SearchStrategy[bytes]:
    texts = [shot_text(default_shot()), shot_text(_own_shot())]
    facts = st.sampled_from([tomllib.loads(text) for text in texts]).flatmap(spoiled_facts)
    return spoiled_text(texts, (*HEADER, *WORDS)).map(_encoded) | facts.map(_toml)


def _own_shot() -> Shot:
    shot = default_shot()
    return replace(shot, setup=replace(shot.setup, kernel=replace(shot.setup.kernel, is_shipped=False)))


def _toml(facts: object) -> bytes:
    try:
        return toml_text(facts).encode("utf-8", "surrogatepass")  # type: ignore[arg-type]
    except (TypeError, ValueError, AttributeError):
        return b""


def _read_view(path: Path, cancelled: Cancel) -> None:
    shot = read_view(path)
    if view_named(shot.view).subject is Moment:
        launch_for(shot.setup)
        outcome = run(shot.setup, shot.focus.block, Interpreter(), cancelled=cancelled)
        if outcome.trace is not None:
            _draw(outcome.trace)


# Lines


_COMMANDS = ("export", "trace", "counts", "info", "kernels", "launches", "instrument", "verify", "bench", "schedule", "nothing")
_MEASURING = ("bench", "verify")
_ARGUMENTS = (
    "04_tiled", "tiled", "02", "nothing.cu", "", "-", "--", "-m", "-n", "-k", "4", "0", "-1", "7", "99999999999999999999", "nan",
    "-D", "TILE_WIDTH=2", "TILE_WIDTH=", "=", "X=1", "--blocks", "0:1,0:1", "all", "::", "5:1,9", "--phases", "1", "2-1", "a",
    "--device", "h200", "8800gtx", "x", "--step", "--phase", "--warp", "--thread", "0,0", "--view", "stage", "banks", "rate",
    "--layer", "reuse", "--theme", "light", "--on", "cpu", "gpu", "--values", "--json", "--seed", "--pattern", "ones", "-o",
    "out.svg", "out.png", "out.gvt", "out.xyz", "/dev/null/x", "--help", "--sizes", "1:4", "--recorded", "\udcff", "--timeout",
)  # fmt: skip


def _command_lines() -> st.SearchStrategy[bytes]:
    words = st.lists(st.sampled_from(_ARGUMENTS), max_size=9)
    return st.tuples(st.sampled_from(_COMMANDS), words).map(lambda each: json.dumps([each[0], *each[1]]).encode())


def _run_command(path: Path, cancelled: Cancel) -> None:
    words = json.loads(path.read_bytes())
    if words[0] in _MEASURING and has_cupy():
        return  # it has work for hours
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(path.parent), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:
            code = int(end.code or 0)
    said = err.getvalue()
    assert "Traceback" not in said
    assert "failed here" not in said, said
    assert code in (0, 1, 2)
    assert code == 0 or said, "it fails without a word"


def _worker_lines() -> st.SearchStrategy[bytes]:
    jobs = [
        {"id": 1, "do": do} for do in ("hello", "trace", "time", "cublas", "copy", "count", "schedule", "host", "warm", "x")
    ]
    facts = st.sampled_from([*jobs, {"cancel": 1}, {"id": 2, "do": "host", "method": "x", "problem": {"M": 1, "N": 1, "K": 1}}])
    line = facts.flatmap(spoiled_facts).map(lambda each: json.dumps(each).encode()) | st.binary(max_size=40)
    return st.lists(line, max_size=6).map(b"\n".join)


def _serve(path: Path, cancelled: Cancel) -> None:
    answers = io.BytesIO()
    Server(io.BytesIO(path.read_bytes()), answers).run()
    for answer in answers.getvalue().splitlines():
        json.loads(answer)


# Writing


def _starved_writers() -> st.SearchStrategy[bytes]:
    limits = st.integers(0, 12_000)
    return st.tuples(st.sampled_from((".gvt", ".svg", ".png", ".toml", ".json")), limits).map(
        lambda each: json.dumps(each).encode()
    )


def _write_starved(path: Path, cancelled: Cancel) -> None:
    """A file may grow no larger than so: the new one is there whole, or the old one is."""
    suffix, limit = json.loads(path.read_bytes())
    target, trace = path.with_name(f"target{suffix}"), _small_trace()
    picture = view_named("stage").scene(Reader(Replay.of(trace)).at(0), ViewOptions())
    write: dict[str, Callable[[], None]] = {
        ".gvt": lambda: write_trace(trace, target), ".svg": lambda: save_frame(picture, target),
        ".png": lambda: save_frame(picture, target), ".toml": lambda: save_view(default_shot(), target),
        ".json": lambda: write_text(target, benchmark_text(recorded_benchmarks()[0])),
    }  # fmt: skip
    write[suffix]()
    whole = target.read_bytes()
    target.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with contextlib.suppress(GemmvizError):
            write[suffix]()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert target.read_bytes() in (b"old", whole)
    assert {each.name for each in path.parent.iterdir()} <= {path.name, target.name}, "something is left lying about"


@cache
def _small_trace() -> Trace:
    return trace_of("04_tiled", 4, 4, 4, TILE_WIDTH=2)


CAMPAIGNS = {
    "sources": Campaign(".cu", _sources, _run_kernel),
    "headers": Campaign(".cu", _headers, _run_kernel),
    "traces": Campaign(".gvt", _traces, _read_trace),
    "benchmarks": Campaign(".json", _benchmarks, _read_benchmark),
    "views": Campaign(".toml", _views, _read_view),
    "commands": Campaign(".words", _command_lines, _run_command),
    "worker": Campaign(".lines", _worker_lines, _serve),
    "writers": Campaign(".limit", _starved_writers, _write_starved),
    "window": Campaign(".actions", window_actions, act),
    "settings": Campaign(".kept", kept_settings, start_with),
}
