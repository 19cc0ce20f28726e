"""Traces and measurements, spoiled: every view is drawn of what can still be read."""

import contextlib
import io
import json
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gemmviz.files.recordings import benchmark_text, read_benchmark, recordings
from gemmviz.files.trace_file import describe, read_trace, write_trace
from gemmviz.model.messages import Cancelled, GemmvizError
from gemmviz.model.timing import Benchmark
from gemmviz.model.trace import Trace
from gemmviz.scenes.catalog import views_of
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.runs import recorded_run
from tests.conftest import trace_of
from tests.fuzz.campaign import Campaign
from tests.fuzz.drawing import INTERPRETER, draw_launch, draw_run, random_of
from tests.fuzz.mutators import EachPlace, spoiled_bytes, spoiled_facts

_TILED, _VECTORS = "04_tiled", "09_vectorised"
_NUMBERS = (-(2**31), -2, -1, 0, 1, 2, 3, 5, 20, 63, 64, 1000, 10**6, 2**31 - 2, 2**31 - 1)
_ROWS, _SAMPLES = 40, 24


def _traces() -> st.SearchStrategy[bytes]:
    arrays = st.dictionaries(
        st.sampled_from(_arrays(_TILED)), st.tuples(st.integers(0, 10_000), st.sampled_from(_NUMBERS)), max_size=2
    )
    spoiled = st.tuples(spoiled_facts(trace_facts()), arrays).map(lambda each: trace_bytes(*each))
    return spoiled_bytes([_whole(_TILED)]) | spoiled


def _each_trace() -> Sequence[bytes]:
    return _Traces()


class _Traces(Sequence[bytes]):
    """Traces with one fact or one number changed, of two kernels."""

    def __init__(self) -> None:
        self._facts = EachPlace(trace_facts(), trace_bytes)
        self._numbers = [
            (trace, name, at * max(1, _array(trace, name).size // _SAMPLES), number)
            for number in _NUMBERS
            for trace in (_TILED, _VECTORS)
            for name in _arrays(trace)
            for at in range(min(_SAMPLES, _array(trace, name).size))
        ]
        Random(0).shuffle(self._numbers)

    def __len__(self) -> int:
        return 2 * max(len(self._facts), len(self._numbers))

    def __getitem__(self, number):  # type: ignore[no-untyped-def]
        turn, is_fact = number // 2, number % 2
        if is_fact:
            return self._facts[turn % len(self._facts)]
        trace, name, at, value = self._numbers[turn % len(self._numbers)]
        return trace_bytes(trace_facts(trace), {name: (at, value)}, trace)


@cache
def small_trace(kernel: str = _TILED) -> Trace:
    return trace_of(kernel, 4, 4, 4, TILE_WIDTH=2) if kernel == _TILED else trace_of(kernel, 16, 16, 16)


@cache
def _whole(kernel: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "whole.gvt"
        write_trace(small_trace(kernel), path)
        return path.read_bytes()


@cache
def _members(kernel: str) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(_whole(kernel))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def trace_facts(kernel: str = _TILED) -> Any:
    """What the manifest of a small trace holds."""
    return json.loads(_members(kernel)["manifest.json"])


@cache
def _array(kernel: str, name: str) -> "np.ndarray[Any, np.dtype[Any]]":
    array: np.ndarray[Any, np.dtype[Any]] = np.load(io.BytesIO(_members(kernel)[f"{name}.npy"]))
    return array


def _arrays(kernel: str) -> list[str]:
    """Names of the arrays of whole numbers that hold any."""
    names = [name.removesuffix(".npy") for name in _members(kernel) if name.endswith(".npy")]
    return [name for name in names if _array(kernel, name).dtype.kind in "iu" and _array(kernel, name).size]


def trace_bytes(facts: object, changes: dict[str, tuple[int, int]] | None = None, kernel: str = _TILED) -> bytes:
    """A trace with other facts, and one number in some arrays another one: which of them, and what it is then."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in _members(kernel).items():
            stem = name.removesuffix(".npy")
            if name == "manifest.json":
                data = json.dumps(facts).encode("utf-8", "replace")
            elif changes and stem in changes:
                data = _with_number(_array(kernel, stem).copy(), *changes[stem])
            archive.writestr(zipfile.ZipInfo(name), data)
    return held.getvalue()


def _with_number(array: "np.ndarray[Any, np.dtype[Any]]", at: int, number: int) -> bytes:
    array.reshape(-1)[at % array.size] = np.clip(number, np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def _read_trace(path: Path) -> None:
    with contextlib.suppress(GemmvizError, Cancelled):
        json.dumps(describe(path), allow_nan=False)
    shown = recorded_run(read_trace(path))
    draw_run(shown.replay, random_of(path))
    replay = shown.known.about(shown.known.shot, INTERPRETER).replay
    draw_run(replay, random_of(path))
    draw_launch(shown.setup, random_of(path))
    write_trace(shown.trace, path.with_name("again.gvt"))


@cache
def _benchmark() -> Any:
    facts = json.loads(benchmark_text(recordings("benchmark", Benchmark)[0]))
    facts["rows"] = facts["rows"][:_ROWS]
    return facts


def _benchmarks() -> st.SearchStrategy[bytes]:
    return spoiled_facts(_benchmark()).map(_json) | spoiled_bytes([_json(_benchmark())])


def _each_benchmark() -> Sequence[bytes]:
    return EachPlace({**_benchmark(), "rows": _benchmark()["rows"][:2]}, _json)


def _json(facts: object) -> bytes:
    return json.dumps(facts).encode("utf-8", "replace")


def _read_benchmark(path: Path) -> None:
    found = read_benchmark(path)
    for view in views_of(Benchmark).values():
        view.scene(found, ViewOptions(load_theme("light")))


CAMPAIGNS = {
    "traces": Campaign(".gvt", _traces, _read_trace, _each_trace),
    "benchmarks": Campaign(".json", _benchmarks, _read_benchmark, _each_benchmark),
}
