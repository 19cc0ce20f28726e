"""Draws the README's pictures, the examples of formats, a film of the window, and a contact sheet of the course's steps."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np
from msgspec import structs
from PIL import Image
from pyqtgraph import PlotWidget
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from documents import ROOT
from documents.gallery import compressed, format_entries
from gemmviz.analysis.replay.focus import Focus, Position
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cli.main import main as gemmviz
from gemmviz.cuda.launch.catalog import COURSE, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.render.export import save_frame, save_numbered, save_reel
from gemmviz.render.reel import RenderOptions
from gemmviz.run.choosing import engine_for
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.export import ExportOptions, Prepared, prepare, run_reel
from gemmviz.shots.picture import picture
from gemmviz.shots.shot import Against, Shot, default_shot, shot_text
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.reel import lesson_reel

GALLERY, FOLDER = ROOT / "assets" / "gallery", ROOT / "assets" / "pictures"
WIDTH, HEIGHT, COLUMNS, GAP = 400, 225, 6, 6  # of the contact sheet
_SETTLED_S = 0.5


def pictures() -> None:
    """Draw the pictures of the README and the examples of formats."""
    app = QApplication([])
    window = MainWindow(InMemoryStore(shot=shot_text(default_shot())))
    session = window.session
    window.resize(1600, 960)
    window.show()
    window.start()
    _until(app, lambda: session.shown is not None and session.shown.counts is not None)
    session.navigation.go_to_step(1, 0.55)
    _run(app, _SETTLED_S)
    window.grab().save(str(FOLDER / "window.png"))
    window.model.commands.toggle_benchmark()
    _until(app, lambda: bool(window.findChildren(PlotWidget)))  # its library is loaded on first use
    _run(app, 2 * _SETTLED_S)
    window.grab().save(str(FOLDER / "benchmark.png"))
    window.model.commands.toggle_benchmark()
    conflict = setup_for(load_kernel("07_tiled_transposed"), Problem(64, 64, 64), {"TILE_WIDTH": 32, "PAD": 0})
    session.show(structs.replace(session.shot, setup=conflict, theme="light", layer="warp"))
    _until(app, lambda: session.shown is not None and session.shown.setup == conflict and session.shown.counts is not None)
    session.navigation.go_to_step(1)
    _run(app, _SETTLED_S)
    window.grab().save(str(FOLDER / "conflict.png"))
    window.close()
    light, stage = ViewOptions(load_theme("light")), view_named("stage")
    naive = _replay("02_naive", Problem(32, 32, 32), BLOCK=32)
    save_frame(stage.scene(Reader(naive).at(2), light), FOLDER / "naive.png")
    save_frame(view_named("memory").scene(Reader(naive, Focus(warp=0)).at(2), light), FOLDER / "memory.png")
    launch = Shot(_setup("04_tiled", 1024, TILE_WIDTH=32), view="grid", instant=0.35, theme="dark")
    _save(launch, "grid.png")
    slow = Shot(_setup("02_naive", 4096, BLOCK=32), view="why", theme="dark")
    _save(slow, "why.png")
    setups = [_setup(name, 16, BLOCK=16) for name in ("02_naive", "03_coalesced")]
    one = Focus(warp=0)
    both = Shot(setups[1], one, "pair", Position(6), theme="light", lens="whole", against=Against(setups[0]))
    _save(both, "pair.png")
    _save(_padding(), "transpose.png")
    tiled = _prepared(Shot(_setup("04_tiled", 8, TILE_WIDTH=4), theme="dark"))
    manner = ExportOptions(RenderOptions(960, 540, fps=10), speed=1.6)
    save_reel(run_reel(tiled, manner, [0], range(tiled.steps)), FOLDER / "tiled.gif", manner.look)
    _gallery()


def _gallery() -> None:
    """Saves the example of each format with the command that the gallery prints."""
    GALLERY.mkdir(exist_ok=True)
    for entry in format_entries():
        gemmviz([*entry.words, "-o", str(GALLERY / entry.file)])


def _setup(name: str, size: int, **parameters: int) -> Setup:
    return setup_for(load_kernel(name), Problem(size, size, size), parameters)


def _padding() -> Shot:
    """A transposition through a tile without padding, and with it, where a warp reads a column of the tile."""
    kernel, problem = load_kernel("transpose_tiled"), Problem(kind="transpose", rows=32, columns=32)
    without, padded = (setup_for(kernel, problem, {"TILE": 32, "PAD": pad}) for pad in (0, 1))
    return Shot(padded, Focus(warp=0), "pair", Position(3), theme="light", lens="whole", against=Against(without))


def _prepared(shot: Shot) -> Prepared:
    return prepare(shot, lambda kernel: nullcontext(Interpreter()))


def _save(shot: Shot, name: str) -> None:
    prepared = _prepared(shot)
    save_frame(picture(prepared.shot, prepared.subject(prepared.step)), FOLDER / name)


def _replay(name: str, problem: Problem, **parameters: int) -> Replay:
    return Replay.of(trace_kernel(setup_for(load_kernel(name), problem, parameters)).whole)


def _run(app: QApplication, seconds: float) -> None:
    end = time.monotonic() + seconds
    _until(app, lambda: time.monotonic() >= end)


def _until(app: QApplication, ready: Callable[[], bool]) -> None:
    while not ready():
        app.processEvents()
        time.sleep(0.005)


# The film

_FILM_SIZE, _FILM_FPS, _CARDS_SEEN = (1366, 768), 10, 5


def film() -> None:
    """Film a first minute in the window: the start, other tile sizes, the reasons for the speed, and a lesson."""
    app = QApplication([])
    window = MainWindow(InMemoryStore(tour="seen"))
    window.resize(*_FILM_SIZE)
    window.start()
    window.show()
    session, model, slider, start = window.session, window.model, window.replay.tiles.slider, window.start_mode.panel
    assert start is not None
    _until(app, lambda: session.shown is not None and len(model.thumbnails.all) > _CARDS_SEEN)
    with av.open(str(FOLDER / "first_minute.mp4"), "w") as file:
        stream = file.add_stream("libx264", rate=_FILM_FPS, options={"crf": "26", "preset": "slow"})
        stream.width, stream.height, stream.pix_fmt = *_FILM_SIZE, "yuv420p"

        def shoot(seconds: float) -> None:
            for _ in range(round(seconds * _FILM_FPS)):
                _run(app, 1 / _FILM_FPS)
                image = window.grab().toImage().convertToFormat(QImage.Format.Format_RGBA8888)
                pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
                file.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgba")))

        shoot(8)
        start.explore.click()
        shoot(8)
        for place in (0, 1, 2):
            slider.setValue(place)
            shoot(4)
        window.why.click()
        _until(app, lambda: session.display.subject is not None)
        shoot(10)
        model.opening.open_lesson("shared-memory")
        _until(app, lambda: model.course.is_on)
        for _ in range(7):
            shoot(3)
            model.course.advance()
        file.mux(stream.encode(None))
    window.close()


# The contact sheet


def contact_sheet() -> None:
    """Draw all steps of the course as one picture."""
    look, engine = RenderOptions(4 * WIDTH, 4 * HEIGHT), engine_for("cpu")
    reel = lesson_reel(shipped_lesson(COURSE), lambda kernel: nullcontext(engine), ExportOptions(look))
    with TemporaryDirectory() as folder:
        paths = save_numbered(reel, Path(folder) / "step", "png", look)
        rows = -(-len(paths) // COLUMNS)
        sheet = Image.new("RGB", (COLUMNS * (WIDTH + GAP) - GAP, rows * (HEIGHT + GAP) - GAP), "#10141A")
        for place, path in enumerate(paths):
            with Image.open(path) as picture:
                small = picture.convert("RGB").resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
            sheet.paste(small, (place % COLUMNS * (WIDTH + GAP), place // COLUMNS * (HEIGHT + GAP)))
    data = compressed(sheet, 256, 3)
    (FOLDER / "course.png").write_bytes(data)
    print(f"{len(paths)} steps, {len(data) // 1024} KiB")
