"""What is saved, read by programs that nobody here wrote: FFmpeg, poppler, librsvg, cairo, LibreOffice, Qt's own SVG."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pptx
import pytest
from msgspec import structs
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from gemmviz.analysis.replay.focus import Position
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import Cancelled, GemmvizError, UsageError
from gemmviz.render import film
from gemmviz.render.export import formats, page_policy, save_frame, save_numbered, save_reel
from gemmviz.render.qt.raster import Raster
from gemmviz.render.reel import Film, Frame, Reel, RenderOptions
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Engine
from gemmviz.scenes.kit.primitives import Cells, Rects, Scene, boxes
from gemmviz.scenes.kit.theme import channels, load_theme
from gemmviz.shots.export import ExportOptions, Prepared, prepare, run_reel, still_reel
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import lesson_text, parse_lesson
from gemmviz.teaching.reel import lesson_reel
from tests.conftest import sampled

Pixels = npt.NDArray[np.int64]


def interpreter(kernel: KernelSpec) -> AbstractContextManager[Engine]:
    return nullcontext(Interpreter())


FILMS = ("mp4", "webm", "gif", "apng", "webp")
SMALL = RenderOptions(640, 360, fps=10)


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {program}")


def stage_of(view: str = "stage", theme: str = "dark", at: int = 2) -> Prepared:
    return prepare(Shot(setup_for(load_kernel("04_tiled")), view=view, theme=theme, at=Position(at)), interpreter)


@pytest.fixture(scope="module")
def stage() -> Prepared:
    return stage_of()


def reel_of(stage: Prepared, look: RenderOptions, steps: int = 4) -> Reel:
    return run_reel(stage, ExportOptions(look, speed=2.0), list(range(steps)), range(steps))


def drawn_once(reel: Reel) -> Reel:
    """A reel that is saved several times, and whose pictures are drawn once."""
    slides, steps = cache(lambda: tuple(reel.slides())), cache(lambda: tuple(reel.steps()))
    frames = cache(lambda fps: tuple(reel.frames(fps)))
    return structs.replace(
        reel, slides=lambda: iter(slides()), steps=lambda: iter(steps()), frames=lambda fps: iter(frames(fps))
    )


@cache
def first_step(stage: Prepared) -> Reel:
    return drawn_once(reel_of(stage, SMALL, 1))


def saved(stage: Prepared, path: Path, look: RenderOptions = SMALL, steps: int = 4) -> Path:
    save_reel(reel_of(stage, look, steps), path, look)
    return path


@pytest.fixture(scope="module")
def film_of(stage: Prepared, tmp_path_factory: pytest.TempPathFactory, qapp: QApplication) -> Callable[[str], Path]:
    """The film of four steps in a format, each written once, and all from the same pictures."""
    reel, folder = drawn_once(reel_of(stage, SMALL)), tmp_path_factory.mktemp("films")

    @cache
    def written(suffix: str) -> Path:
        save_reel(reel, folder / f"f.{suffix}", SMALL)
        return folder / f"f.{suffix}"

    return written


@pytest.fixture(scope="module")
def scene(stage: Prepared) -> Scene:
    return still_reel(stage, ExportOptions()).first()


@pytest.fixture(scope="module")
def own_pixels(scene: Scene, tmp_path_factory: pytest.TempPathFactory, qapp: QApplication) -> Pixels:
    """The pixels of that scene as the window draws it."""
    path = tmp_path_factory.mktemp("own") / "own.png"
    save_frame(scene, path)
    return pixels(path)


def pixels(path: Path, size: tuple[int, int] = (960, 540)) -> Pixels:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB").resize(size, Image.Resampling.BOX)).astype(np.int64)


def difference(a: Pixels, b: Pixels) -> float:
    """Of 255, on average."""
    return float(np.abs(a - b).mean())


def frames_of(path: Path) -> tuple[int, str, dict[str, Any]]:
    """How many frames there are, at what rate, and what FFmpeg says else."""
    command = ["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-show_streams", "-of", "json", str(path)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["streams"][0]
    return int(found["nb_read_frames"]), found["r_frame_rate"], found


@needs("ffprobe")
@pytest.mark.parametrize("suffix", ["mp4", "gif", "apng", pytest.param("webm", marks=pytest.mark.nightly)])
def test_a_film_has_each_of_its_frames(film_of: Callable[[str], Path], suffix: str) -> None:
    count, rate, found = frames_of(film_of(suffix))
    assert count == 4 * 5
    assert rate == "10/1"
    assert (found["width"], found["height"]) == (640, 360)
    if suffix in ("mp4", "webm"):
        assert (found["color_space"], found["color_range"]) == ("bt709", "tv")


@pytest.mark.parametrize("suffix", ["gif", "apng", "webp"])
def test_an_animation_is_read_by_pillow(film_of: Callable[[str], Path], suffix: str) -> None:
    with Image.open(film_of(suffix)) as image:
        assert getattr(image, "n_frames", 1) > 4
        assert image.size == (640, 360)
        assert image.info["loop"] == 0


def test_pictures_of_a_longer_export_are_not_mixed_with_others(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    reel = reel_of(stage, SMALL)
    (tmp_path / f"{reel.slide_count:03}.svg").touch()
    assert len(save_numbered(reel, tmp_path, "svg", SMALL)) == reel.slide_count
    (tmp_path / f"{reel.slide_count + 1:03}.svg").touch()
    with pytest.raises(UsageError, match="contains other pictures"):
        save_numbered(reel, tmp_path, "svg", SMALL)


def test_what_no_longer_moves_is_gone_from_the_film(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    still, flash = reel_of(stage, SMALL).first(), Rects("flash", boxes((0.0, 0.0, 1600.0, 900.0)), "#FF0000")
    frames = [Frame(still, (flash,)), Frame(still), Frame(still, (flash,))]
    reel = structs.replace(reel_of(stage, SMALL), frames=lambda _: iter(frames), frame_count=lambda _: len(frames))
    save_reel(reel, tmp_path / "f.apng", SMALL)
    with Image.open(tmp_path / "f.apng") as image:
        reds = []
        for number in range(len(frames)):
            image.seek(number)
            reds.append(bool((np.asarray(image.convert("RGB"))[180, 320] == (255, 0, 0)).all()))
    assert reds == [True, False, True]


def test_an_animation_in_few_colours_keeps_red_for_waste(film_of: Callable[[str], Path]) -> None:
    """What a step alone shows, for less than a second, has its own colours in the palette of the whole film."""

    def red_pixels(suffix: str) -> int:
        with Image.open(film_of(suffix)) as image:
            image.seek(3)  # the first load, of which half is not requested
            red, green, blue = np.asarray(image.convert("RGB")).astype(np.int64).transpose(2, 0, 1)
        return int(((red > 1.5 * green) & (red > 1.5 * blue)).sum())

    assert red_pixels("gif") == pytest.approx(red_pixels("apng"), rel=0.1)
    assert red_pixels("apng") > 1000


@needs("ffmpeg")
@pytest.mark.parametrize("suffix", sampled(FILMS[:4], 4))
def test_frames_look_like_the_picture(stage: Prepared, tmp_path: Path, qapp: QApplication, suffix: str) -> None:
    """The last frame of the first step is the step's own picture."""
    look = RenderOptions(1280, 720, fps=10)
    path = saved(stage, tmp_path / f"f.{suffix}", look, 1)
    frame = tmp_path / "frame.png"
    subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-vf", "select=eq(n\\,4)", "-frames:v", "1", frame], check=True)
    save_frame(next(reel_of(stage, look).slides()).scene, tmp_path / "own.png", look)
    assert difference(pixels(frame), pixels(tmp_path / "own.png")) < 4.0


def test_colours_that_are_seldom_seen_are_those_of_the_theme_in_a_gif(tmp_path: Path, qapp: QApplication) -> None:
    """Waste stays red in a film of which few frames show any."""
    look = RenderOptions(640, 360, fps=1)
    reel = run_reel(stage_of(), ExportOptions(look, speed=0.5), [0], range(8))
    save_reel(reel, tmp_path / "f.gif", look)
    with Image.open(tmp_path / "f.gif") as image:
        image.seek(1)  # the end of the first step
        shown = np.asarray(image.convert("RGB")).astype(np.int64)
    own = Raster(look).array(Frame(reel.first())).astype(np.int64)
    theme = load_theme("dark")
    for colour in (theme.warning, theme.accent("A"), theme.text):
        red_green_blue = np.array(channels(colour))
        drawn = (own == red_green_blue).all(axis=-1)
        assert drawn.sum() > 20
        assert (shown[drawn] == red_green_blue).all()


@pytest.mark.parametrize(
    "suffix",
    ["png", "svg", "pdf", "pptx", "mp4", *(pytest.param(each, marks=pytest.mark.nightly) for each in FILMS if each != "mp4")],
)
def test_the_same_bytes_whenever_it_is_written(stage: Prepared, tmp_path: Path, qapp: QApplication, suffix: str) -> None:
    reel, files = first_step(stage), [tmp_path / f"{number}.{suffix}" for number in (1, 2)]
    for file in files:
        save_reel(reel, file, SMALL)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("suffix", ["html", pytest.param("pdf", marks=pytest.mark.nightly)])
def test_the_same_bytes_whichever_process_writes_it(suffix: str, tmp_path: Path) -> None:
    """The order of sets and hash tables differs from process to process."""
    words = ["export", "04_tiled", "-m", "4", "-n", "4", "-k", "4", "-D", "TILE_WIDTH=2", "--steps", "1:2", "-o"]
    files = [tmp_path / f"{number}.{suffix}" for number in (1, 2)]
    for file in files:
        if suffix == "html" and file is files[0]:
            assert main([*words, str(file)]) == 0
        else:  # Qt, which draws a PDF, knows other fonts in this process
            subprocess.run([sys.executable, "-m", "gemmviz", *words, str(file)], check=True, timeout=100)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("suffix", formats())
def test_what_is_stopped_leaves_the_old_file_as_it_was(
    stage: Prepared, tmp_path: Path, qapp: QApplication, suffix: str
) -> None:
    path = tmp_path / f"f.{suffix}"
    path.write_bytes(b"old")

    def stop(done: int, of: int) -> None:
        if done == 2:
            raise Cancelled

    reel = reel_of(stage, SMALL)
    if type(formats()[suffix]).__name__ == "Still":
        with pytest.raises(Cancelled):
            save_numbered(reel, tmp_path / "numbered", suffix, SMALL, stop)
        assert len(list((tmp_path / "numbered").iterdir())) == 2  # those that are complete, and no half ones
    else:
        with pytest.raises(Cancelled):
            save_reel(reel, path, SMALL, stop)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == [path.name]


@needs("pdftoppm")
@needs("pdftotext")
def test_pages_of_a_pdf_are_the_pictures(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    path = saved(stage, tmp_path / "f.pdf", steps=2)
    subprocess.run(["pdftoppm", "-r", "96", "-png", path, tmp_path / "page"], check=True)
    pages = sorted(tmp_path.glob("page-*.png"))
    assert len(pages) == 2
    for page, slide in zip(pages, reel_of(stage, SMALL, 2).slides(), strict=True):
        save_frame(slide.scene, tmp_path / "own.png")
        assert difference(pixels(page), pixels(tmp_path / "own.png")) < 4.0  # thin lines are smoothed differently
    text = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True).stdout
    assert "04_tiled, TILE_WIDTH" in text


@needs("pdftotext")
def test_a_search_finds_brackets_and_operators_in_a_pdf(tmp_path: Path) -> None:
    """Ligatures and alternates of the fonts stand for no character, so that a program without a window draws none."""
    path = tmp_path / "f.pdf"
    command = [sys.executable, "-m", "gemmviz", "export", "04_tiled", "--view", "listing", "-o", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    text = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True).stdout
    for words in ('extern "C" __global__ void', "++k", "row < M && col < N", "counted from 0; threads and blocks as (x, y)"):
        assert words in text, words


@pytest.fixture(scope="module")
def outlined(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That scene as vectors whose texts are outlines."""
    path = tmp_path_factory.mktemp("vectors") / "f.svg"
    save_frame(scene, path, RenderOptions(has_outlines=True))
    return path


def drawn_by_librsvg(vectors: Path, picture: Path) -> Pixels:
    subprocess.run(["rsvg-convert", "-w", "1920", vectors, "-o", picture], check=True)
    return pixels(picture)


@needs("rsvg-convert")
def test_librsvg_draws_the_vectors(outlined: Path, scene: Scene, own_pixels: Pixels, tmp_path: Path) -> None:
    assert difference(drawn_by_librsvg(outlined, tmp_path / "drawn.png"), own_pixels) < 3.0
    save_frame(scene, tmp_path / "f.svg")
    assert difference(drawn_by_librsvg(tmp_path / "f.svg", tmp_path / "drawn.png"), own_pixels) < 6.0  # in another font


@pytest.mark.nightly
def test_cairo_draws_the_vectors(outlined: Path, own_pixels: Pixels, tmp_path: Path) -> None:
    cairosvg = pytest.importorskip("cairosvg")
    cairosvg.svg2png(url=str(outlined), write_to=str(tmp_path / "drawn.png"), output_width=1920, output_height=1080)
    assert difference(pixels(tmp_path / "drawn.png"), own_pixels) < 3.0


def test_qt_draws_the_vectors(outlined: Path, own_pixels: Pixels, tmp_path: Path, qapp: QApplication) -> None:
    image = QImage(1920, 1080, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.magenta)  # none of it is to be seen: the background is in the file
    painter = QPainter(image)
    QSvgRenderer(str(outlined)).render(painter)
    painter.end()
    image.save(str(tmp_path / "drawn.png"))
    assert difference(pixels(tmp_path / "drawn.png"), own_pixels) < 3.0


def test_what_is_transparent_shows_what_is_behind(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    look = RenderOptions(640, 360, fps=10, is_transparent=True)
    for suffix in ("png", "apng", "webp"):
        with Image.open(saved(stage, tmp_path / f"f.{suffix}", look, 1)) as image:
            corner = image.convert("RGBA").getpixel((3, 180))
            assert isinstance(corner, tuple)
            assert corner[3] == 0, suffix
    assert (
        load_theme("dark").background
        not in saved(stage, tmp_path / "f.svg", look, 1).read_text(encoding="utf-8").partition("<g")[0]
    )
    with pytest.raises(UsageError, match="support a transparent background"):
        saved(stage, tmp_path / "f.mp4", look)


def test_slides_can_be_edited(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    path = saved(stage, tmp_path / "f.pptx", RenderOptions(), 2)
    slides = pptx.Presentation(str(path)).slides
    rounded = next(each for each in slides[0].shapes[0].shapes if each.name == "code-panel")  # with a radius of 8 units
    assert rounded.adjustments[0] * min(rounded.width, rounded.height) == pytest.approx(8 * 7.5 * 914_400 / 900, rel=0.01)
    assert len(slides) == 2
    for number, slide in enumerate(slides, 1):
        drawn, *beside = slide.shapes
        texts = [shape.text_frame.text for shape in (*drawn.shapes, *beside) if shape.has_text_frame and shape.text_frame.text]
        assert "04_tiled, TILE_WIDTH = 4" in texts
        assert texts.count("0,0") >= 3
        assert texts[-1] == str(number)
        assert f"step {number} of 29" in slide.notes_slide.notes_text_frame.text


def test_many_cells_are_a_picture_on_a_slide(tmp_path: Path, qapp: QApplication) -> None:
    stage = prepare(Shot(setup_for(load_kernel("04_tiled")).changed(M=32, N=32, K=32)), interpreter)
    save_reel(
        run_reel(stage, ExportOptions(), [0], range(1)), tmp_path / "f.pptx", RenderOptions(640, 360, has_film=True, fps=5)
    )
    first, film = pptx.Presentation(str(tmp_path / "f.pptx")).slides
    picture = next(shape for shape in first.shapes if shape.shape_type == 13)
    assert picture._element.xpath(".//*[local-name() = 'svgBlip']")
    assert any(shape.shape_type == 16 for shape in film.shapes)  # a movie


@needs("soffice")
@needs("pdftoppm")
@pytest.mark.nightly
def test_libreoffice_shows_the_slides(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    saved(stage, tmp_path / "f.pptx")
    home = f"-env:UserInstallation=file://{tmp_path / 'home'}"
    subprocess.run(
        ["soffice", home, "--headless", "--convert-to", "pdf", "--outdir", tmp_path, tmp_path / "f.pptx"],
        check=True,
        capture_output=True,
    )
    subprocess.run(["pdftoppm", "-r", "96", "-png", tmp_path / "f.pdf", tmp_path / "page"], check=True)
    pages = sorted(tmp_path.glob("page-*.png"))
    assert len(pages) == 4
    for page, slide in zip(pages, reel_of(stage, SMALL).slides(), strict=True):
        save_frame(slide.scene, tmp_path / "own.png")
        assert difference(pixels(page), pixels(tmp_path / "own.png")) < 7.0  # another font


def test_a_lesson_comes_back_and_is_saved(tmp_path: Path, qapp: QApplication) -> None:
    shots = [
        Shot(setup_for(load_kernel(name)), view=view, theme="print")
        for name, view in (("04_tiled", "stage"), ("02_naive", "banks"))
    ]
    lesson = Lesson(
        "Two ways",
        tuple(LessonStep(shot, f"View {number}", "what is said", build="phases") for number, shot in enumerate(shots)),
    )
    assert parse_lesson(lesson_text(lesson)) == lesson
    reel = lesson_reel(lesson, interpreter, ExportOptions(SMALL))
    save_reel(reel, tmp_path / "l.pptx", SMALL)
    assert [
        slide.notes_slide.notes_text_frame.text.splitlines()[0] for slide in pptx.Presentation(str(tmp_path / "l.pptx")).slides
    ] == ["View 0", "View 1"]
    save_reel(reel, tmp_path / "l.mp4", SMALL)


def test_a_launch_is_drawn_at_its_very_instant() -> None:
    for instant in (0.0, 0.04, 0.5, 0.733, 1.0):
        stage = prepare(Shot(setup_for(load_kernel("04_tiled")), view="grid", theme="dark", instant=instant), interpreter)
        line = still_reel(stage, ExportOptions()).first().find("instant")
        lanes = still_reel(stage, ExportOptions()).first().find("lanes")
        assert isinstance(line, Rects)
        assert isinstance(lanes, Cells)
        x, _, width, _ = lanes.box
        assert line.boxes[0, 0] + line.boxes[0, 2] / 2 == pytest.approx(x + instant * width, abs=0.01)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('format = "gemmviz lesson"\nversion = 9', "version 9"), ('format = "gemmviz view"\nversion = 9', "version 9"), ('format = "gemmviz lesson"\nversion = 4', "no [[step]]"),
        ('format = "gemmviz lesson"\nversion = 4\n[[step]]\ntitle = "x"', "step 1 has no [step.shot]"), ("", "neither a gemmviz lesson"),
        ('format = "gemmviz lesson"\nversion = 4\n[[step]]\nwho = "x"\n[step.shot]\nsetup.kernel = "04_tiled"', "step 1: the field 'who' is unknown"),
    ],
)  # fmt: skip
def test_what_is_no_lesson_is_refused(text: str, said: str) -> None:
    with pytest.raises(GemmvizError) as found:
        parse_lesson(text, "l.toml")
    assert said in str(found.value)
    assert "l.toml" in str(found.value)


def test_a_size_that_no_film_has(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    for look, said in ((RenderOptions(641, 360), "must be even"), (RenderOptions(640, 360, fps=60), "at most 50")):
        with pytest.raises(UsageError, match=said):
            saved(stage, tmp_path / ("f.mp4" if look.width == 641 else "f.gif"), look)
    assert list(tmp_path.iterdir()) == []


def test_a_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    rules = dict(rule.split(" ", 1) for rule in page_policy("script", "style").split("; "))
    assert rules.pop("script-src").startswith("'sha256-")
    assert rules.pop("style-src").startswith("'sha256-")
    assert rules.pop("require-trusted-types-for") == "'script'"
    assert rules == dict.fromkeys(("default-src", "base-uri", "form-action", "trusted-types"), "'none'")


def test_a_film_that_can_not_be_encoded_is_an_error(
    stage: Prepared, tmp_path: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_time(*_: object) -> None:
        raise ValueError("no such time")

    monkeypatch.setattr("gemmviz.render.film.Fraction", no_time)
    with pytest.raises(GemmvizError, match="no such time"):
        saved(stage, tmp_path / "f.mp4", steps=1)
    assert not (tmp_path / "f.mp4").exists()


def test_every_film_of_the_table_is_a_format() -> None:
    """Formats are listed without loading films."""
    assert {suffix for suffix, each in formats().items() if isinstance(each, Film)} == set(film.FILMS) == set(FILMS)
