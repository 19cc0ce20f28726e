"""Time until a command's window shows its first picture: ``python packaging/record.py first-picture gemmviz 04_tiled``.

The command runs on an X server of its own, Xvfb, whose screen is a file: the picture is there as soon as the screen has the
colours of all three matrices. Works for any installation. The first run is printed apart, because nothing is cached then;
seconds of processor time tell more than the time on the clock where the computer does something else, too.
"""

import itertools
import mmap
import os
import signal
import statistics
import subprocess
import time
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil

from recording import ROOT

RUNS, LONGEST_S, POLL_S, LEAST_PIXELS = 4, 60.0, 0.02, 40
SCREEN = "1920x1080x24"


@cache
def accents() -> list[list[int]]:
    """Return the colours of A, B and C in each theme for screens, as 0xRRGGBB."""
    themes = [
        tomllib.loads((ROOT / "assets" / "themes" / f"{name}.toml").read_text(encoding="utf-8")) for name in ("dark", "light")
    ]
    return [[int(theme["accents"][name].removeprefix("#"), 16) for name in "ABC"] for theme in themes]


def measured(command: Sequence[str]) -> tuple[float, float]:
    """Return the seconds from the start of the process to the picture, and those of processor time that it and its children
    took until then. Raises TimeoutError without a picture.
    """
    with TemporaryDirectory() as folder:
        number = next(each for each in itertools.count(90) if not Path(f"/tmp/.X11-unix/X{each}").exists())
        server = subprocess.Popen(["Xvfb", f":{number}", "-screen", "0", SCREEN, "-fbdir", folder], stderr=subprocess.DEVNULL)
        frame = Path(folder) / "Xvfb_screen0"
        _wait(lambda: frame.exists() and Path(f"/tmp/.X11-unix/X{number}").exists())
        hidden = ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "PYTHONPATH")
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        start = time.perf_counter()
        program = subprocess.Popen(command, env={**environment, "DISPLAY": f":{number}"}, start_new_session=True)
        try:
            with frame.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as screen:
                _wait(lambda: _has_picture(screen))
            return time.perf_counter() - start, _processor_s(psutil.Process(program.pid))
        finally:
            os.killpg(program.pid, signal.SIGTERM)
            program.wait()
            server.terminate()
            server.wait()


def _processor_s(process: psutil.Process) -> float:
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


def _has_picture(screen: mmap.mmap) -> bool:
    pixels = np.frombuffer(screen[-1920 * 1080 * 4 :], np.uint32) & 0xFFFFFF
    return any(all(np.count_nonzero(pixels == colour) >= LEAST_PIXELS for colour in theme) for theme in accents())


def _wait(ready: Callable[[], bool]) -> None:
    end = time.perf_counter() + LONGEST_S
    while not ready():
        if time.perf_counter() > end:
            raise TimeoutError("there is no picture")
        time.sleep(POLL_S)


def first_picture(program: str, *words: str) -> None:
    """Print the time of the first run, which is colder, and the median of others."""
    first, *others = (measured([program, *words]) for _ in range(RUNS))
    wall_s, processor_s = (statistics.median(each) for each in zip(*others, strict=True))
    print(f"first run {first[0]:.2f} s (processor {first[1]:.2f} s)")
    print(f"then {wall_s:.2f} s (processor {processor_s:.2f} s), median of {len(others)}")
