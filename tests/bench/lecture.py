"""A lesson in a lecture, walked by keys from a cold start: waits, memory, wrong pictures and lost keys."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from gemmviz.render.qt.libraries import missing_libraries
from tests.bench.processes import PROBES, ROOT, environment
from tests.bench.report import show

LESSONS = ("shared-memory", "coalescing")
PAUSE_MS = 300  # nobody reads faster
_LONGEST_S = 300
_SCREEN = ("xvfb-run", "-a", "-s", "-screen 0 1920x1080x24")


def run() -> None:
    """Print the figures of two lessons, in a real window if there is a virtual screen, else without one."""
    for name in LESSONS:
        figures = walked(name)
        what = f"{name}, {figures['steps']:.0f} steps"
        show(f"{what}: longest wait for a picture", figures["wait_ms"], "ms", 100)
        show("    most memory", figures["mib"], "MiB", 250)
        show("    frames of a wrong picture or caption", figures["wrong"], "", 0)
        show("    keys lost, or that did more than one step", figures["lost"], "", 0)


def walked(name: str, pause_ms: int = PAUSE_MS) -> dict[str, float]:
    """The figures of one walk by a fresh process whose caches are empty. Raises CalledProcessError if it fails."""
    has_screen = shutil.which(_SCREEN[0]) is not None and not missing_libraries("xcb")
    command = [*(_SCREEN if has_screen else ()), sys.executable, str(PROBES / "lecture.py"), name, str(pause_ms)]
    with TemporaryDirectory() as home:
        own = {**environment(ROOT), "GEMMVIZ_HOME": home, "XDG_CACHE_HOME": str(Path(home) / "caches")}
        own["QT_QPA_PLATFORM"] = "xcb" if has_screen else os.environ.get("QT_QPA_PLATFORM", "offscreen")
        done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=True, timeout=_LONGEST_S)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures
