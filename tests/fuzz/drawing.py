"""Draws whatever there is to draw of a run or of a shot."""

from contextlib import nullcontext
from pathlib import Path
from random import Random
from zlib import crc32

from msgspec import structs

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.pairing import LOCKS, Pair
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named, views, views_of
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import LAYERS, ViewOptions
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view

INTERPRETER = Interpreter()


def interpreter(kernel: object) -> "nullcontext[Interpreter]":
    """The interpreter for any kernel."""
    return nullcontext(INTERPRETER)


def random_of(path: Path) -> Random:
    """Random numbers that depend on what is in a file, so that a case always does the same."""
    return Random(crc32(path.read_bytes()))


def draw_run(replay: Replay, random: Random) -> None:
    """A frame of each view and of each layer, of one thread, one warp or all, in some step; and two frames side by side."""
    first = _first_block(replay.trace)
    focus = random.choice((Focus(first), Focus(first, everyone=True), Focus(first, thread=0), Focus(first, warp=0)))
    reader = Reader(replay, focus)
    moment = reader.at(random.choice((0, replay.steps // 2, replay.steps - 1)))
    options = ViewOptions(load_theme(random.choice(("dark", "light"))), code=random.random() < 0.5)
    for name, view in views_of(Moment).items():
        for layer in LAYERS if name == "stage" else LAYERS[:1]:
            view.scene(moment, structs.replace(options, layer=layer))
    pair = Pair(moment, Reader(replay, Focus(first)).at(0), random.choice(LOCKS))
    for view in views_of(Pair).values():
        view.scene(pair, options)


def draw_launch(setup: Setup, random: Random) -> None:
    """One of the views that need no run."""
    name = random.choice([name for name in views() if not subject_of_view(name).needs])
    case = subject_of_view(name).at(Knowledge(Shot(setup, view=name), INTERPRETER), 0)
    view_named(name).scene(case, ViewOptions(load_theme("dark")))


def _first_block(trace: Trace) -> tuple[int, int, int]:
    x, y, z = (start for start, _ in trace.blocks.ranges)
    return x, y, z
