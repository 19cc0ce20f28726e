"""From a shot to a picture: the replay that it is about, and the scene."""

import contextlib
from dataclasses import replace

from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.analysis.replay.focus import scope_of, thread_place
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.analysis.replay.position import step_at
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.code_case import CodeCase
from gemmviz.model.errors import GemmvizError
from gemmviz.model.host_run import TransferCase
from gemmviz.model.launch_case import LaunchCase
from gemmviz.model.occupancy import OccupancyCase
from gemmviz.model.outcome import Outcome
from gemmviz.model.race import RaceCase
from gemmviz.model.schedule import GridCase
from gemmviz.model.setup import Setup
from gemmviz.model.speed_case import SpeedCase
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Trace
from gemmviz.model.traffic import TrafficCase
from gemmviz.model.watched import Watched
from gemmviz.run.cpu.executor import blocks_to_trace
from gemmviz.run.engine import Cancel, Engine
from gemmviz.run.recording import Recording
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.frame import HEIGHT, WIDTH, ViewOptions
from gemmviz.scenes.kit.magnify import magnified
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.theme import Theme, load_theme
from gemmviz.state.shot import Camera, Shot

QUICK_BYTES = 96 << 20  # what a trace may take where a person leaves the blocks open
MOST_BYTES = 4 * QUICK_BYTES
MOST_SEARCHED = 4_000_000  # accesses of a block, times blocks
Subject = (
    Moment
    | Benchmark
    | OccupancyCase
    | GridCase
    | SpeedCase
    | Pair
    | LaunchCase
    | CodeCase
    | TrafficCase
    | RaceCase
    | TransferCase
)
Rectangle = tuple[float, float, float, float]
Size = tuple[float, float]
_SLIDE_PIXELS, _LEAST_SCALE = 1920, 0.01


def run(
    setup: Setup,
    around: Triple,
    engine: Engine,
    *,
    values: bool = False,
    most_bytes: int = MOST_BYTES,
    cancelled: Cancel = is_cancelled,
) -> Outcome:
    """Has an engine trace the blocks that a setup names, or as many around one as are quick. ``most_bytes``: what the trace of
    named blocks may take. Raises as ``Engine.trace``.
    """
    blocks = blocks_to_trace(setup, around, limit_bytes=QUICK_BYTES, most_bytes=most_bytes, cancelled=cancelled)
    return engine.trace(setup, blocks, Recording(values=values, limit_bytes=most_bytes), cancelled=cancelled)


def searched_blocks(trace: Trace) -> int:
    """In how many of the traced blocks hazards can be searched for in little time."""
    return min(trace.blocks.count, max(1, MOST_SEARCHED // (trace.steps * trace.space.threads_per_block)))


def with_hazards(replay: Replay, blocks: int, cancelled: Cancel = is_cancelled) -> Replay:
    """The replay that knows what the order of its threads may change: in shared memory, of its first ``blocks`` blocks. Raises
    Cancelled.
    """
    return replace(replay, ordering=ordering_of(replay.trace, blocks, replay.value, cancelled))


def moment_of(shot: Shot, replay: Replay, watched: Watched | None = None) -> Moment:
    """Where in a replay a shot is, through its focus; all that its picture needs is worked out. ``watched``: the variables of
    the first of the watched threads.
    """
    reader = Reader(replay, shot.focus)
    reader.watched = watched
    replay.terms(reader.scope)
    return reader.at(step_at(replay.trace, shot.at))


def watched_in(shot: Shot, trace: Trace, engine: Engine) -> Watched | None:
    """The variables of the first of the threads that a shot watches; None where nobody knows them."""
    if trace.stop is not None:
        return None
    scope = scope_of(shot.focus, trace)
    with contextlib.suppress(GemmvizError, MemoryError):
        return engine.watch(shot.setup, scope.focus.block, thread_place(scope.first_thread, trace.launch))
    return None


def theme_of(shot: Shot, system_is_dark: bool = True) -> Theme:
    """The theme of a shot; the system's where it leaves that open."""
    return load_theme(shot.theme if shot.theme != "system" else "dark" if system_is_dark else "light")


def options_for(
    shot: Shot, theme: Theme, size: Size | None = None, seen: Rectangle | None = None, scale: float = 0.0
) -> ViewOptions:
    """How to draw a shot. ``size``: of the frame, in units, a slide's by default: the fewer, the larger are words. ``seen``:
    the part of the frame that can be seen, by default what the camera sees; ``scale``: pixels of a unit, by default those of a
    slide of 1920.
    """
    camera, (width, height) = shot.camera, size or slide_size(shot)
    label_zoom = float(1 << (int(camera.zoom).bit_length() - 1))
    clip = None if camera.zoom == 1.0 else seen or camera_box(camera, width, height)
    return ViewOptions(
        theme, label_zoom, width, height, shot.layer, shot.moment, clip=clip, curves=shot.chart.shown,
        lens=shot.lens, code=shot.code, scale=scale or _SLIDE_PIXELS / width,
        instant=shot.instant, is_even=shot.chart.is_even, labels=shot.labels,
    )  # fmt: skip


def slide_size(shot: Shot) -> Size:
    """Width and height in units of a frame in the shape of a slide."""
    return float(round(WIDTH / shot.type_scale)), float(round(HEIGHT / shot.type_scale))


def frame_for(shot: Shot, width: float, height: float) -> tuple[Size, float]:
    """The size in units of a frame that fills so many pixels, as a slide of that shape, and the pixels of a unit."""
    scale = max(_LEAST_SCALE, min(width / WIDTH, height / HEIGHT)) * shot.type_scale
    return (max(1.0, round(width / scale)), max(1.0, round(height / scale))), scale


def camera_box(camera: Camera, width: float, height: float) -> Rectangle:
    """What a camera sees of a frame: x, y, width, height in units."""
    wide, high = width / camera.zoom, height / camera.zoom
    return camera.x * width - wide / 2, camera.y * height - high / 2, wide, high


def picture(shot: Shot, subject: Subject, theme: Theme | None = None) -> Scene:
    """A shot of its subject in the shape of a slide, as it is seen: a part of it where somebody has zoomed in."""
    options = options_for(shot, theme or theme_of(shot))
    scene = view_named(shot.view).scene(subject, options)
    return magnified(scene, shot.camera.zoom, shot.camera.x, shot.camera.y)
