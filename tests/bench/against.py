"""Runs the figures of two commits by turns, each in new processes, and prints their medians and ratios.

Machines are noisy: what counts is the ratio of two figures that were taken in one run.
"""

import io
import statistics
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.processes import ROOT, command_seconds, probe, processor_seconds

Figures = dict[str, float]
PROCESSOR = {
    "gemmviz --version": ("-m", "gemmviz", "--version"),
    "import gemmviz, and a trace of 8³": ("-c", "import gemmviz; gemmviz.trace('04_tiled', M=8, N=8, K=8)"),
}
_LARGE = ("-m", "4096", "-n", "4096", "-k", "4096")


@dataclass(frozen=True)
class Measurement:
    """One thing to run. ``figures`` gives numbers by name for the gemmviz of a folder; it raises CalledProcessError for a commit
    that can't do it.
    """

    name: str
    unit: str
    figures: Callable[[Path], Figures]


def compare(commit: str, pairs: int, only: list[str]) -> None:
    """Print every figure of the commit and of the working tree. Raises CalledProcessError for a commit that doesn't exist."""
    print(f"{'':52} {commit[:9]:>9} {'this':>9}      ratio, {pairs} pairs")
    with checked_out(commit) as other:
        for each in measurements():
            if not only or any(word in each.name for word in only):
                _print(each, *_by_turns(each, other, pairs))


def measurements() -> Iterator[Measurement]:
    """All that is compared: what a user waits for."""
    for what, words in PROCESSOR.items():
        yield Measurement(f"{what}, processor time", "s", partial(_processor, words))
    yield Measurement("04_tiled 64³, text to trace", "ms", _traced)
    yield Measurement("first picture, from the start of the program", "ms", _first_picture)
    for size in ("1920x1080", "3840x2160"):
        yield Measurement(f"frame at {size}", "ms", partial(_frames, size))
    for kernel in sorted(path.stem for path in (ROOT / "kernels").glob("*.cu")):
        yield Measurement(f"counts {kernel} 4096³", "s", partial(_command, ("counts", kernel, *_LARGE)))
    yield Measurement("trace 04_tiled 128³ to a file", "s", _saved)
    yield Measurement("export 04_tiled, one picture", "s", _exported)


def _traced(tree: Path) -> Figures:
    return {name: ms for name, ms in probe("trace", tree=tree).items() if name != "peak_mib"}


def _first_picture(tree: Path) -> Figures:
    return probe("first_picture", str(time.time()), tree=tree)


def _processor(words: tuple[str, ...], tree: Path) -> Figures:
    return {"": processor_seconds(*words, tree=tree)}


def _frames(size: str, tree: Path) -> Figures:
    return probe("frames", size, tree=tree)


def _command(words: tuple[str, ...], tree: Path) -> Figures:
    return {"": command_seconds(*words, tree=tree)}


def _saved(tree: Path) -> Figures:
    with TemporaryDirectory() as folder:
        sizes = ("-m", "128", "-n", "128", "-k", "128", "-D", "TILE_WIDTH=16", "--on", "cpu")
        return _command(("trace", "04_tiled", *sizes, "-o", f"{folder}/f.gvt"), tree)


def _exported(tree: Path) -> Figures:
    with TemporaryDirectory() as folder:
        try:
            return _command(("export", "04_tiled", "-o", f"{folder}/f.svg"), tree)
        except subprocess.CalledProcessError:  # older commits call it so
            return _command(("render", "04_tiled", "-o", f"{folder}/f.svg"), tree)


def _by_turns(each: Measurement, other: Path, pairs: int) -> tuple[Figures, Figures]:
    """The medians of the other tree and of this one, after one run of each that is not counted."""
    runs: dict[Path, list[Figures]] = {other: [], ROOT: []}
    for _ in range(pairs + 1):
        for tree, taken in runs.items():
            try:
                taken.append(each.figures(tree))
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                taken.append({})
    return _medians(runs[other][1:]), _medians(runs[ROOT][1:])


def _medians(runs: list[Figures]) -> Figures:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0] if all(name in run for run in runs)}


def _print(each: Measurement, other: Figures, this: Figures) -> None:
    digits = 2 if each.unit == "s" else 1
    for name in dict.fromkeys([*other, *this]) or [""]:
        label = f"{each.name}{', ' if name else ''}{name}"
        values = " ".join(f"{run[name]:9.{digits}f}" if name in run else f"{'–':>9}" for run in (other, this))
        ratio = f"{this[name] / other[name]:6.2f}" if name in other and name in this else ""
        print(f"{label:52} {values} {each.unit:4} {ratio}", flush=True)


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A folder with the files of a commit, removed in the end."""
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with TemporaryDirectory(prefix="gemmviz-bench-") as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)
