"""Every writer on a disk that fills at each of its writes: the old file stays, the reason is said, nothing is left lying about."""

import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_MOST = 40  # writes that are tried one by one; of more than these, some of the later ones


def writers(folder: Path) -> dict[str, Callable[[Path], object]]:
    """What writes a file, by the file's name."""
    import gemmviz
    from gemmviz.analysis.replay.focus import Focus
    from gemmviz.cuda.launch.catalog import load_kernel
    from gemmviz.cuda.launch.legality import setup_for
    from gemmviz.files.recordings import recorded_schedules, recordings, write_schedules
    from gemmviz.files.resources import chart_csv, write_text
    from gemmviz.model.timing import Benchmark
    from gemmviz.model.trace import Outcome
    from gemmviz.render.export import formats, save_numbered, save_reel
    from gemmviz.render.reel import RenderOptions
    from gemmviz.run.cpu.interpreter import Interpreter
    from gemmviz.scenes.catalog import view_named
    from gemmviz.shots.export import ExportOptions, prepare_run, run_reel
    from gemmviz.shots.shot import Shot
    from gemmviz.teaching.pack import moodle_xml
    from gemmviz.teaching.quiz import quiz_of

    run = gemmviz.trace("04_tiled", M=4, N=4, K=4, TILE_WIDTH=2, on="cpu", values=True)
    stage = prepare_run(Shot(run.setup, Focus()), Outcome(run.trace, run.trace.by))
    reel, quiz = run_reel(stage, ExportOptions(), [0, 1, 2], range(3)), quiz_of(run.setup, Interpreter(), 3)
    measured = recordings("benchmark", Benchmark)[0]
    chart = view_named("rate").chart
    assert chart is not None
    table = chart_csv(chart(measured))
    look, film = RenderOptions(320, 180, fps=5), RenderOptions(320, 180, fps=5, has_film=True)
    found: dict[str, Callable[[Path], object]] = {
        f"reel.{suffix}": lambda path: save_reel(reel, path, look) for suffix in formats()
    }
    return {
        **found,
        "film.pptx": lambda path: save_reel(reel, path, film),
        "001.png": lambda path: save_numbered(reel, path.parent, "png", look),
        "run.gvt": lambda path: gemmviz.save(run, path),
        "kernel.cu": lambda path: gemmviz.save(gemmviz.Kernel(load_kernel("04_tiled")), path),
        "view.toml": lambda path: gemmviz.save(Shot(setup_for(load_kernel("04_tiled"))), path),
        "quiz.toml": lambda path: gemmviz.save(quiz, path),
        "quiz.xml": lambda path: write_text(path, moodle_xml(quiz)),
        "measured.json": lambda path: gemmviz.save(gemmviz.Measurements(measured), path),
        "chart.csv": lambda path: write_text(path, table),
        "schedules.npz": lambda path: write_schedules(recorded_schedules()[0], path),
    }  # fmt: skip


def try_all(folder: Path, library: Path) -> None:
    """Runs in a process of its own, into which the library is loaded; prints how many writes each writer makes."""
    from gemmviz.model.messages import GemmvizError

    disk = ctypes.CDLL(str(library))
    disk.full_disk_disarm.restype = ctypes.c_long
    counts = {}
    for name, write in writers(folder).items():
        target = folder / name
        disk.full_disk_arm(os.fsencode(folder), ctypes.c_long(1 << 40))
        write(target)
        counts[name] = writes = (1 << 40) - disk.full_disk_disarm()
        assert writes > 0, name
        whole = {path.name: path.read_bytes() for path in folder.iterdir()}
        for at in [*range(min(writes, _MOST)), *range(_MOST, writes, max(1, writes // _MOST))]:
            for path in folder.iterdir():
                path.write_bytes(b"old")
            disk.full_disk_arm(os.fsencode(folder), ctypes.c_long(at))
            try:
                write(target)
                raised = None
            except GemmvizError as error:
                raised = str(error)
            finally:
                disk.full_disk_disarm()
            assert raised is not None, f"{name}: nothing is said of write {at} of {writes}"
            assert os.strerror(errno.ENOSPC) in raised, f"{name}: {raised}"
            assert str(folder) in raised, raised
            held = {path.name: path.read_bytes() for path in folder.iterdir()}
            assert held.keys() == whole.keys(), f"{name}: something is left over at write {at} of {writes}"
            kept = [each for each in held if held[each] == b"old"]
            assert all(held[each] == whole[each] for each in held.keys() - kept), f"{name}: cut off at write {at} of {writes}"
            assert kept if len(whole) > 1 else kept == [name], f"{name}: the old file is gone at write {at} of {writes}"
        for path in folder.iterdir():
            path.unlink()
    print(json.dumps(counts))


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("gcc") is None or not sys.platform.startswith("linux"), reason="needs gcc on Linux")
def test_a_full_disk_costs_no_file(tmp_path: Path) -> None:
    library, folder = tmp_path / "full_disk.so", tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "full_disk.c"), "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "tests.test_full_disk", str(folder), str(library)], cwd=HERE.parent, capture_output=True,
        env={**os.environ, "LD_PRELOAD": str(library)}, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    assert len(counts) >= 20
    assert min(counts.values()) > 0


if __name__ == "__main__":
    try_all(Path(sys.argv[1]), Path(sys.argv[2]))
