"""Speed of a real window of 1920 x 1080, software rendering."""

import gc
import os
import resource
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from msgspec import structs
from PySide6.QtWidgets import QApplication

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.problem import Problem
from gemmviz.shots.shot import Camera, default_shot, shot_text
from tests.bench.engine import setup_of
from tests.bench.report import show

SOAK_SECONDS = int(os.environ.get("SOAK_SECONDS", "60"))


def run() -> None:
    """Print all figures of the window."""
    app = QApplication.instance() or QApplication([])
    shown = MainWindow(InMemoryStore(shot=shot_text(default_shot())))
    gc.collect()
    gc.freeze()  # as the program does at its start
    shown.resize(1920, 1080)
    shown.start()
    shown.show()
    wait(app, lambda: shown.session.shown is not None)
    settings_to_picture(app, shown)
    clicks_on_the_gpu(app, shown)
    shown.docks.hide(True)
    steps_to_frames(app, shown, 8, 4)
    steps_to_frames(app, shown, 32, 16, zoom=4.0)
    steps_to_frames(app, shown, 64, 16)
    steps_to_frames(app, shown, 8192, 32)
    two_stages(app, shown)
    the_grid(app, shown)
    shown.docks.hide(False)
    shrunk(app, shown)
    presented(app, shown)
    soak(app, shown)
    shown.close()


def settings_to_picture(app: Any, shown: Any) -> None:
    session = shown.session
    ask(app, shown, 64, TILE_WIDTH=4)
    times = []
    for round_ in range(24):
        before = session.shown
        start = time.perf_counter()
        shown.model.commands.change("TILE_WIDTH", (8, 16)[round_ % 2])
        wait(app, partial(is_another, session, before))
        shown.replay.stage.repaint()
        times.append(time.perf_counter() - start)
        wait_ms(app, 400)
    show("setting changed, new picture painted, 64³", statistics.median(times[4:]) * 1e3, "ms", 60)


def clicks_on_the_gpu(app: Any, shown: Any) -> None:
    """Another setting of a kernel that the GPU runs, and the same settings again; nothing where there is no GPU."""
    session = shown.session
    session.engines.look()
    wait(app, lambda: session.engines.gpu is not None or session.engines.gpu_error is not None)
    if session.engines.gpu is None:
        return
    for name, tiles in (("04_tiled", (8, 16, 32)), ("08_register_tiled", (32, 64, 8))):
        session.show(
            structs.replace(session.shot, setup=setup_for(load_kernel(name), Problem(1024, 1024, 1024)), camera=Camera())
        )
        wait(app, lambda: not session.is_working)
        fresh: list[float] = []
        again: list[float] = []
        for number in range(10):
            tile = tiles[number % len(tiles)]
            before, start = session.shown, time.perf_counter()
            shown.model.commands.change("TILE_WIDTH", tile)
            wait(app, partial(is_another, session, before))
            shown.replay.stage.repaint()
            (fresh if number < len(tiles) else again).append((time.perf_counter() - start) * 1e3)
            assert "NVIDIA" in session.shown.trace.by, session.shown.trace.by
            wait(app, lambda: not session.is_working)
        print(f"    first: {', '.join(f'{ms:.0f}' for ms in fresh)} ms; again: {', '.join(f'{ms:.0f}' for ms in again)} ms")
        show(
            f"{name} 1024³ on the GPU, setting to picture",
            statistics.median(fresh + again),
            "ms",
            110 if name == "04_tiled" else 200,
        )
    session.engines.choose("cpu")


def is_another(session: Any, before: Any) -> bool:
    return bool(session.shown.trace is not before.trace)


def ask(app: Any, shown: Any, size: int, **parameters: int) -> None:
    """Shows another size, and waits for what follows the picture: the counts of the launch and the search for hazards, too."""
    session = shown.session
    setup = setup_of(load_kernel("04_tiled"), size, **parameters)
    session.show(structs.replace(session.shot, setup=setup, camera=Camera()))
    wait(app, lambda: session.shown.setup == setup and session.completion.watched is not None)
    wait(app, lambda: not session.is_working)


def steps_to_frames(app: Any, shown: Any, size: int, tile: int, zoom: float = 1.0) -> None:
    """The first frame of the next step after a rest, as after a key, and a frame of any other step: by warp, with copies,
    registers, timeline, and labels where they fit, which is everything that a frame can hold. Large sizes are seen through the
    lens.
    """
    session, stage = shown.session, shown.replay.stage
    ask(app, shown, size, TILE_WIDTH=tile)
    shown.model.commands.show_layer("warp")
    stage.zoom_by(zoom)
    wait_ms(app, 500)
    lens = ", lens" if session.display.lens == "lens" else ""
    at = session.navigation

    def rest(number: int) -> None:
        at.go_to_step(number % at.run_steps)
        wait_ms(app, 40)

    frames = timed_frames(shown, lambda number: at.go_to_step((number + 1) % at.run_steps, 0.0), rest)
    show(f"step to frame, {size}³{lens}{f', zoom {zoom:g}' if zoom > 1 else ''}", statistics.median(frames), "ms", 4)
    show("    99 of 100 within", sorted(frames)[297], "ms", 8)
    frames = timed_frames(shown, lambda number: at.go_to_step(7 * number % at.run_steps, 0.5))
    show("    jump to frame", statistics.median(frames), "ms", 12)
    shown.model.commands.show_layer("matrix")


def timed_frames(
    shown: Any, act: Callable[[int], object], before: Callable[[int], object] = lambda number: None
) -> list[float]:
    """Milliseconds of 300 frames, each painted after something was done. ``before``: what is not timed."""
    frames = []
    for number in range(320):
        before(number)
        start = time.perf_counter()
        act(number)
        shown.replay.stage.repaint()
        frames.append((time.perf_counter() - start) * 1e3)
    return frames[20:]


def two_stages(app: Any, shown: Any) -> None:
    """Both in mid-flight, with the table below them."""
    session = shown.session
    ask(app, shown, 64, TILE_WIDTH=16)
    shown.model.commands.toggle_comparison()
    ask(app, shown, 64, TILE_WIDTH=8)
    wait(app, lambda: session.display.subject is not None and not session.is_working)
    frames = timed_frames(shown, lambda number: session.navigation.go_to_step(number % session.navigation.run_steps, 0.5))
    show("two stages, step to frame, 64³", statistics.median(frames), "ms", 10)
    shown.model.commands.toggle_comparison()


def the_grid(app: Any, shown: Any) -> None:
    """16,384 blocks in the middle of their time."""
    session = shown.session
    ask(app, shown, 4096, TILE_WIDTH=32)
    shown.model.commands.show_view("grid")
    wait(app, lambda: session.display.subject is not None)
    frames = timed_frames(shown, lambda number: session.navigation.go_to_instant(number / 320))
    show(f"grid of {session.display.subject.schedule.blocks:,} blocks, instant to frame", statistics.median(frames), "ms", 6)
    shown.model.commands.show_view("stage")


def shrunk(app: Any, shown: Any) -> None:
    """What a large problem leaves behind once a small one is shown."""
    ask(app, shown, 8, TILE_WIDTH=4)
    wait(app, lambda: not shown.session.is_working)
    wait_ms(app, 1000)
    show("memory at 8³ after 8192³", resident_mib(), "MiB", 230)


def presented(app: Any, shown: Any) -> None:
    """Frames that reach the screen while the window plays with all its panels."""
    session = shown.session
    ask(app, shown, 32, TILE_WIDTH=16)
    wait(app, lambda: session.shown.counts is not None)
    for speed in (0.5, 1.0, 4.0, 60.0):
        count: list[int] = []
        shown.replay.stage.painted.connect(partial(count.append, 1))
        session.player.set_speed(speed)
        session.player.play(True)
        wait_ms(app, 1000)
        start, already = time.perf_counter(), len(count)
        wait_ms(app, 5000)
        rate = (len(count) - already) / (time.perf_counter() - start)
        session.player.play(False)
        show(f"presented frames at {speed:g} steps/s, all panels", rate, "/s", 60, more_is_better=True)


def soak(app: Any, shown: Any) -> None:
    """Plays on and fits a line through what the process holds."""
    shown.session.player.set_speed(60)
    shown.session.player.play(True)
    wait_ms(app, 15_000)
    seconds, held = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < SOAK_SECONDS:
        wait_ms(app, 1000)
        seconds.append(time.perf_counter() - start)
        held.append(resident_mib())
    shown.session.player.play(False)
    slope = float(np.polyfit(seconds, held, 1)[0]) * 3600
    show(f"memory while playing for {SOAK_SECONDS} s: {held[-1]:.0f} MiB, slope", slope, "MiB/h", 20)


def resident_mib() -> float:
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * resource.getpagesize() / 2**20


def wait(app: Any, ready: Callable[[], bool]) -> None:
    end = time.perf_counter() + 20
    while not ready() and time.perf_counter() < end:
        app.processEvents()
        time.sleep(0.0002)  # as the event loop waits: other threads need the interpreter


def wait_ms(app: Any, ms: int) -> None:
    end = time.perf_counter() + ms / 1000
    wait(app, lambda: time.perf_counter() > end)
