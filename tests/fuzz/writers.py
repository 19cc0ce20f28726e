"""Files that can't be written to their end."""

import contextlib
import json
import resource
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.files.recordings import benchmark_text, recordings
from gemmviz.files.resources import write_text
from gemmviz.files.trace_file import write_trace
from gemmviz.model.messages import GemmvizError
from gemmviz.model.timing import Benchmark
from gemmviz.render.export import save_frame
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.shot import default_shot, save_view
from tests.fuzz.campaign import Campaign
from tests.fuzz.records import small_trace


def _starved_writers() -> st.SearchStrategy[bytes]:
    limits = st.integers(0, 12_000)
    return st.tuples(st.sampled_from((".gvt", ".svg", ".png", ".toml", ".json")), limits).map(
        lambda each: json.dumps(each).encode()
    )


def _write_starved(path: Path) -> None:
    """A file may grow no larger than so: the new one is there whole, or the old one is."""
    suffix, limit = json.loads(path.read_bytes())
    target, trace = path.with_name(f"target{suffix}"), small_trace()
    picture = view_named("stage").scene(Reader(Replay.of(trace)).at(0), ViewOptions())
    write: dict[str, Callable[[], None]] = {
        ".gvt": lambda: write_trace(trace, target), ".svg": lambda: save_frame(picture, target),
        ".png": lambda: save_frame(picture, target), ".toml": lambda: save_view(default_shot(), target),
        ".json": lambda: write_text(target, benchmark_text(recordings("benchmark", Benchmark)[0])),
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


CAMPAIGNS = {"writers": Campaign(".limit", _starved_writers, _write_starved)}
