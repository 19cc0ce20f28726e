"""Figures of speed, as medians: make bench. Each is compared with what was promised."""

import gc
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np

from gemmviz.analysis.memory.counts import LaunchCounter
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.launch.catalog import kernel_names, load_kernel
from gemmviz.launch.legality import device_for, legal_choices, setup_for
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import stream_launch, trace_kernel
from gemmviz.run.recording import Recording
from gemmviz.state.shot import Camera, default_shot, shot_text
from tests.conftest import DATA

REPEATS = 7
SOAK_SECONDS = int(os.environ.get("SOAK_SECONDS", "60"))
_FIRST = """
import time
start = time.perf_counter()
from PySide6.QtWidgets import QApplication
from gemmviz.gui.window.main_window import MainWindow
app = QApplication([])
window = MainWindow()
window.resize(1920, 1080)
window.start()
window.show()
done = []
window.replay.stage.painted.connect(lambda: done.append(window.session.shown is not None))
while not any(done):
    app.processEvents()
print((time.perf_counter() - start) * 1e3)
window.close()
"""
_FRESH = """
import time, resource
from dataclasses import replace
from gemmviz.cli.main import main
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import setup_for
kernel = load_kernel("04_tiled")
start = time.perf_counter()
kernel = parse_kernel(kernel.text, kernel.file)
trace_kernel(setup_for(kernel, Problem({size}, {size}, {size}), dict(TILE_WIDTH={tile}), blocks="{blocks}")).whole
print((time.perf_counter() - start) * 1e3, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    first = [fresh(64, 16, "all")[0] for _ in range(REPEATS)]
    show("04_tiled 64³ T=16, text to trace, first time", statistics.median(first), "ms", 40)
    sizes = iter(range(65, 200))
    again = median(
        lambda: traced(load_kernel("04_tiled"), 64, TILE_WIDTH=16),
        before=lambda: traced(load_kernel("04_tiled"), next(sizes), TILE_WIDTH=16),
    )
    show("the same again, after another size", again * 1e3, "ms", 10)
    throughput("04_tiled", load_kernel("04_tiled"), 200, TILE_WIDTH=16)
    throughput("03_coalesced", load_kernel("03_coalesced"), 40, BLOCK=16)
    throughput("register-tiled (8 x 8 a thread)", load_kernel(str(DATA / "kernels" / "block_tile_2d.cu")), 20)
    large = [fresh(4096, 32, "3:4,5:6") for _ in range(3)]
    show("04_tiled 4096³ T=32, one block", statistics.median(ms for ms, _ in large), "ms", 1000)
    show("    peak memory of that process", statistics.median(mib for _, mib in large), "MiB", 300)
    counted()
    first_picture()  # warms the disk's cache
    show("first picture, from the start of the program", statistics.median(first_picture() for _ in range(3)), "ms", 1000)
    exported()
    window()


def counted() -> None:
    """All accesses of whole launches, each kernel with its own parameters' last choice that can run."""
    for name in kernel_names():
        setups = list(legal_choices(load_kernel(name), Problem(4096, 4096, 4096)))
        if setups:
            seconds = median(partial(count, setups[-1]), repeats=3)
            show(f"counts of {name} 4096³", seconds, "s", 2)


def count(setup: Setup) -> None:
    stream_launch(setup, LaunchCounter(device_for(setup).rules))


def median(action: Callable[[], object], before: Callable[[], object] = lambda: None, repeats: int = REPEATS) -> float:
    """Seconds, the median of several runs."""
    times = []
    for _ in range(repeats):
        before()
        gc.collect()
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def setup_of(kernel: KernelSpec, size: int, **parameters: int) -> Setup:
    return setup_for(kernel, Problem(size, size, size), parameters)


def traced(kernel: KernelSpec, size: int, **parameters: int) -> Trace:
    kernel = parse_kernel(kernel.text, kernel.file)
    return trace_kernel(setup_of(kernel, size, **parameters)).whole


def fresh(size: int, tile: int, blocks: str) -> tuple[float, float]:
    """Milliseconds and peak MiB of one trace in a new process that has only just imported gemmviz."""
    code = _FRESH.format(size=size, tile=tile, blocks=blocks)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ms, mib = done.stdout.split()
    return float(ms), float(mib)


def throughput(name: str, kernel: KernelSpec, promised: float, **parameters: int) -> None:
    setup, recording = setup_of(kernel, 256, **parameters), Recording(origins=False)
    accesses = trace_kernel(setup, recording=recording).whole.element.size
    seconds = median(lambda: trace_kernel(setup, recording=recording))
    show(f"{name} 256³, accesses of one thread", accesses / seconds / 1e6, "M/s", promised, more_is_better=True)


def window() -> None:
    """A real window of 1920 x 1080, software rendering."""
    from PySide6.QtWidgets import QApplication

    from gemmviz.gui.preferences import InMemoryStore
    from gemmviz.gui.window.main_window import MainWindow

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


def exported() -> None:
    """Files of a default replay and of 64³, each written by a program of its own."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        for what, words, suffix, promised in (
            ("10 s of 1080p60 MP4", ("04_tiled", "--fps", "60", "--steps", "1:20"), "mp4", 10.0),
            ("60 pictures as PPTX", (*_AT_64, "--steps", "1:60"), "pptx", 6.0),
        ):
            command = [sys.executable, "-m", "gemmviz", "export", *words, "-o", f"{folder}/f.{suffix}"]
            start = time.perf_counter()
            subprocess.run(command, check=True)
            show(f"{what}, from the start of the program", time.perf_counter() - start, "s", promised)
        show("a page of the default replay, run and written", median(partial(a_page, folder)), "s", 1.0)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        show("memory of an export, the most", used, "MiB", 500)


def a_page(folder: str) -> None:
    """As a program does that is running already."""
    from contextlib import nullcontext
    from pathlib import Path

    from gemmviz.export.prepare import ExportOptions, prepare, run_reel
    from gemmviz.render.export import save_reel
    from gemmviz.run.cpu.interpreter import Interpreter

    stage = prepare(default_shot(), lambda kernel: nullcontext(Interpreter()))
    save_reel(run_reel(stage, ExportOptions(), [0], range(stage.steps)), Path(folder) / "p.html")


_AT_64 = ("04_tiled", "-m", "64", "-n", "64", "-k", "64", "-D", "TILE_WIDTH=16")


def settings_to_picture(app: Any, shown: Any) -> None:
    session = shown.session
    ask(app, shown, 64, TILE_WIDTH=4)
    times = []
    for round_ in range(24):
        before = session.shown
        start = time.perf_counter()
        shown.desk.commands.change("TILE_WIDTH", (8, 16)[round_ % 2])
        wait(app, partial(is_another, session, before))
        shown.replay.stage.repaint()
        times.append(time.perf_counter() - start)
        wait_ms(app, 400)
    show("setting changed, new picture painted, 64³", statistics.median(times[4:]) * 1e3, "ms", 60)


def clicks_on_the_gpu(app: Any, shown: Any) -> None:
    """Another setting of a kernel that the GPU runs, and the same settings again; nothing where there is no GPU."""
    session = shown.session
    session.runners.look()
    wait(app, lambda: session.runners.gpu is not None or session.runners.gpu_error is not None)
    if session.runners.gpu is None:
        return
    for name, tiles in (("04_tiled", (8, 16, 32)), ("08_register_tiled", (32, 64, 8))):
        session.show(replace(session.shot, setup=setup_for(load_kernel(name), Problem(1024, 1024, 1024)), camera=Camera()))
        wait(app, lambda: not session.is_working)
        fresh: list[float] = []
        again: list[float] = []
        for number in range(10):
            tile = tiles[number % len(tiles)]
            before, start = session.shown, time.perf_counter()
            shown.desk.commands.change("TILE_WIDTH", tile)
            wait(app, partial(is_another, session, before))
            shown.replay.stage.repaint()
            (fresh if number < len(tiles) else again).append((time.perf_counter() - start) * 1e3)
            assert "NVIDIA" in session.shown.trace.by, session.shown.trace.by
            wait(app, lambda: not session.is_working)
        print(f"    first: {', '.join(f'{ms:.0f}' for ms in fresh)} ms; again: {', '.join(f'{ms:.0f}' for ms in again)} ms")
        show(f"{name} 1024³ on the GPU, setting to picture", statistics.median(fresh + again), "ms", 300)
    session.runners.choose("cpu")


def is_another(session: Any, before: Any) -> bool:
    return bool(session.shown.trace is not before.trace)


def ask(app: Any, shown: Any, size: int, **parameters: int) -> None:
    """Shows another size, and waits for what follows the picture: the counts of the launch and the search for hazards, too."""
    session = shown.session
    setup = setup_of(load_kernel("04_tiled"), size, **parameters)
    session.show(replace(session.shot, setup=setup, camera=Camera()))
    wait(app, lambda: session.shown.setup == setup and session.slot.watched is not None)
    wait(app, lambda: not session.is_working)


def steps_to_frames(app: Any, shown: Any, size: int, tile: int, zoom: float = 1.0) -> None:
    """By warp, copies in mid-flight, registers, score, labels where they fit: everything that a frame can hold. Large sizes
    are seen through the lens.
    """
    session, stage = shown.session, shown.replay.stage
    ask(app, shown, size, TILE_WIDTH=tile)
    shown.desk.commands.show_layer("warp")
    stage.zoom_by(zoom)
    wait_ms(app, 500)
    lens = ", lens" if session.display.lens == "lens" else ""
    frames = timed_frames(shown, lambda number: session.navigation.go_to_step(number % session.navigation.run_steps, 0.5))
    show(f"step to frame, {size}³{lens}{f', zoom {zoom:g}' if zoom > 1 else ''}", statistics.median(frames), "ms", 6)
    show("    99 of 100 within", sorted(frames)[297], "ms", 12)
    shown.desk.commands.show_layer("matrix")


def timed_frames(shown: Any, act: Callable[[int], object]) -> list[float]:
    """Milliseconds of 300 frames, each painted after something was done."""
    frames = []
    for number in range(320):
        start = time.perf_counter()
        act(number)
        shown.replay.stage.repaint()
        frames.append((time.perf_counter() - start) * 1e3)
    return frames[20:]


def two_stages(app: Any, shown: Any) -> None:
    """Both in mid-flight, with the table below them."""
    session = shown.session
    ask(app, shown, 64, TILE_WIDTH=16)
    shown.desk.commands.toggle_comparison()
    ask(app, shown, 64, TILE_WIDTH=8)
    wait(app, lambda: session.display.subject is not None and not session.is_working)
    frames = timed_frames(shown, lambda number: session.navigation.go_to_step(number % session.navigation.run_steps, 0.5))
    show("two stages, step to frame, 64³", statistics.median(frames), "ms", 10)
    shown.desk.commands.toggle_comparison()


def the_grid(app: Any, shown: Any) -> None:
    """16,384 blocks in the middle of their time."""
    session = shown.session
    ask(app, shown, 4096, TILE_WIDTH=32)
    shown.desk.commands.show_view("grid")
    wait(app, lambda: session.display.subject is not None)
    frames = timed_frames(shown, lambda number: session.navigation.go_to_instant(number / 320))
    show(f"grid of {session.display.subject.schedule.blocks:,} blocks, instant to frame", statistics.median(frames), "ms", 6)
    shown.desk.commands.show_view("stage")


def shrunk(app: Any, shown: Any) -> None:
    """What a large problem leaves behind once a small one is shown."""
    ask(app, shown, 8, TILE_WIDTH=4)
    wait(app, lambda: not shown.session.is_working)
    wait_ms(app, 1000)
    show("memory at 8³ after 8192³", resident_mib(), "MiB", 400)


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


def first_picture() -> float:
    """Milliseconds from the start of the program to its first painted replay."""
    done = subprocess.run([sys.executable, "-c", _FIRST], capture_output=True, text=True, check=True)
    return float(done.stdout)


def wait(app: Any, ready: Callable[[], bool]) -> None:
    end = time.perf_counter() + 20
    while not ready() and time.perf_counter() < end:
        app.processEvents()
        time.sleep(0.0002)  # as the event loop waits: other threads need the interpreter


def wait_ms(app: Any, ms: int) -> None:
    end = time.perf_counter() + ms / 1000
    wait(app, lambda: time.perf_counter() > end)


def show(what: str, value: float, unit: str, promised: float, more_is_better: bool = False) -> None:
    good = value >= promised if more_is_better else value <= promised
    print(
        f"{what:52} {value:9.1f} {unit:4} ({'at least' if more_is_better else 'at most'} {promised:g}){'' if good else '  MISSED'}",
        flush=True,
    )


if __name__ == "__main__":
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}; this process peaks at ", end="")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB; medians")
    main()
