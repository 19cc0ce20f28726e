"""Speed of the program's commands, each as a whole process: what somebody at a terminal waits for."""

import resource
import statistics
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory

from gemmviz.cuda.launch.catalog import kernel_names
from gemmviz.render.export import save_reel
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.export import ExportOptions, prepare, run_reel
from gemmviz.shots.shot import default_shot
from tests.bench.against import PROCESSOR
from tests.bench.processes import command_seconds, probe, processor_seconds
from tests.bench.report import median, show

_AT_64 = ("04_tiled", "-m", "64", "-n", "64", "-k", "64", "-D", "TILE_WIDTH=16")


def run() -> None:
    """Print all figures of commands."""
    for (what, words), promised in zip(PROCESSOR.items(), (0.12, 0.35), strict=True):
        seconds = statistics.median(processor_seconds(*words) for _ in range(5))
        show(f"{what}, processor time", 1000 * seconds, "ms", 1000 * promised)
    counted()
    first_picture()  # warms the disk's cache
    show("first picture, from the start of the program", statistics.median(first_picture() for _ in range(3)), "ms", 700)
    exported()


def counted() -> None:
    """All accesses of whole launches, hazards included, each kernel with its default parameters."""
    sizes = ("-m", "4096", "-n", "4096", "-k", "4096")
    for name in kernel_names():
        try:
            seconds = statistics.median(command_seconds("counts", name, *sizes) for _ in range(3))
        except CalledProcessError:
            continue  # one block can't be that large
        show(f"gemmviz counts {name} at 4096³", seconds, "s", 0.9)


def first_picture() -> float:
    """Milliseconds from the start of the program to its first painted replay."""
    return probe("first_picture", str(time.time()))["ms"]


def exported() -> None:
    """Files of a default replay and of 64³, each written by a process of its own."""
    with TemporaryDirectory() as folder:
        for what, words, suffix, promised in (
            ("10 s of 1080p60 MP4", ("04_tiled", "--fps", "60", "--steps", "1:20"), "mp4", 10.0),
            ("60 pictures as PPTX", (*_AT_64, "--steps", "1:60"), "pptx", 6.0),
        ):
            seconds = command_seconds("export", *words, "-o", f"{folder}/f.{suffix}")
            show(f"{what}, from the start of the program", seconds, "s", promised)
        show("a page of the default replay, run and written", median(partial(write_page, folder)), "s", 1.0)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        show("memory of an export, the most", used, "MiB", 500)


def write_page(folder: str) -> None:
    """An interactive page, as a program that is running already writes it."""
    stage = prepare(default_shot(), lambda kernel: nullcontext(Interpreter()))
    save_reel(run_reel(stage, ExportOptions(), [0], range(stage.steps)), Path(folder) / "p.html")
