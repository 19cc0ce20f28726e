from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.messages import GemmvizError
from gemmviz.render.export import save_frame
from gemmviz.render.qt.painter import scene_image
from gemmviz.render.reel import RenderOptions
from gemmviz.render.svg import scene_svg
from gemmviz.run.stored import RecordedTimes
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Cells, Labels, Scene, Squares
from gemmviz.scenes.kit.theme import channels, load_theme
from gemmviz.scenes.kit.view import Layer, ViewOptions
from gemmviz.scenes.views.stage_view import stage_scene
from gemmviz.shots.kinds.counted import speed_case_of
from gemmviz.shots.kinds.launches import grid_case
from gemmviz.shots.occupancy import occupancy_case
from gemmviz.shots.shot import Shot
from tests.analysis.test_reasons import counted, setup_of
from tests.conftest import moment_of, piece, sure, trace_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def scene(qapp: QApplication) -> Scene:
    return stage_scene(moment_of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4), 7, Focus((1, 1, 0))), ViewOptions())


def without_style(document: str) -> str:
    head, _, rest = document.partition("<style>")
    return head + "<style>" + rest[rest.index("</style>") :]


GOLDEN = {
    "04_tiled-7": ("stage", 7, ViewOptions()),
    "02_naive-2": ("stage", 2, ViewOptions(load_theme("light"))),
    "04_tiled-1-moving": ("stage", 1, ViewOptions(moment=0.4)),
    "04_tiled-20-reuse": ("stage", 20, ViewOptions(load_theme("light"), layer="reuse")),
    "04_tiled-2-warp": ("stage", 2, ViewOptions(layer="warp")),
    "02_naive-0-memory": ("memory", 0, ViewOptions()),
    "04_tiled-6-banks": ("banks", 6, ViewOptions(load_theme("light"))),
    "04_tiled-1-lanes": ("warp", 1, ViewOptions()),
}


@pytest.mark.parametrize("name", list(GOLDEN))
@pytest.mark.usefixtures("without_fonts")
def test_golden_svg(name: str, golden: Callable[[str, str], None]) -> None:
    view, step, options = GOLDEN[name]
    moment = moment_of(trace_of(name.rpartition("-")[0].split("-")[0], 8, 8, 8), step)
    golden(f"{name}.svg", without_style(scene_svg(view_named(view).scene(moment, options))))


@cache
def cards() -> dict[str, Any]:
    """What else can be shown, of the naive kernel at 256: from what ships, the counts of the whole launch among it."""
    setup = setup_of("02_naive", 256, BLOCK=32)
    shot = Shot(setup, instant=0.4)
    narrow, wide = (Reader(Replay.of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=width))) for width in (2, 4))
    lens = Reader(Replay.of(trace_of("08_register_tiled", 64, 64, 64)))
    lens.replay.terms(lens.scope)  # so many are worked out before a picture asks for them
    return {
        "stage": lens.at(lens.replay.steps // 3),
        "occupancy": sure(occupancy_case(shot)),
        "grid": sure(grid_case(shot)),
        "why": speed_case_of(shot, counted(setup), RecordedTimes().time(setup)),
        "pair": Pair(narrow.at(4), wide.at(4), "phase"),
    }


@pytest.mark.parametrize("view", ["stage", "occupancy", "grid", "why", "pair"])
@pytest.mark.usefixtures("without_fonts")
def test_golden_cards(view: str, golden: Callable[[str, str], None]) -> None:
    golden(f"card-{view}.svg", without_style(scene_svg(view_named(view).scene(cards()[view], ViewOptions()))))


@pytest.mark.parametrize("layer", ["matrix", "warp"])
def test_moving_squares_are_painted_where_the_scene_has_them(qapp: QApplication, tmp_path: Path, layer: Layer) -> None:
    moment = moment_of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4), 1)
    scene = view_named("stage").scene(moment, ViewOptions(moment=0.4, layer=layer))
    save_frame(scene, tmp_path / "frame.png")
    image = np.asarray(Image.open(tmp_path / "frame.png").convert("RGB")).astype(int)
    squares = next(each for each in scene.primitives if isinstance(each, Squares))
    for (x, y, side), entry in zip(squares.boxes.tolist(), squares.fill.tolist(), strict=True):
        at = image[int((y + 0.85 * side) * 1.2), int((x + 0.15 * side) * 1.2)]
        assert at.tolist() == list(channels(squares.palette[entry]))


def test_very_many_cells_are_an_image_in_svg() -> None:
    moment = moment_of(trace_of("03_coalesced", 600, 600, 1, BLOCK=8))
    root = ElementTree.fromstring(scene_svg(stage_scene(moment, ViewOptions(zoom=4, lens="whole"))))
    assert len(list(root.iter(f"{SVG}image"))) == 1  # C, at this zoom, has more than 65,536 cells


def test_svg_has_real_text_and_carries_its_font(scene: Scene) -> None:
    document = scene_svg(scene)
    root = ElementTree.fromstring(document)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert "04_tiled, TILE_WIDTH = 4" in texts
    assert texts.count("4,1") >= 2  # in A, and the copy in tileA
    assert "@font-face" in document
    assert not list(root.iter(f"{SVG}image"))


def test_no_squares_with_labels_are_painted(qapp: QApplication) -> None:
    none = Squares("none", np.zeros((0, 3)), np.zeros(0, np.uint8), ("#ffffff",), ("#000000",), np.zeros(0, "<U1"), 20.0)
    image = scene_image(Scene(60, 60, "#000000", (none,)), 1.0)
    assert not (np.frombuffer(image.constBits(), np.uint32) & 0xFFFFFF).any()


def test_texts_in_a_row_leave_their_spaces_empty(qapp: QApplication) -> None:
    at = np.array([[10.0, 50.0 * row] for row in range(1, 5)])
    image = scene_image(Scene(300, 250, "#000000", (Labels("row", at, ("i          i",) * 4, 20.0, "#ffffff"),)), 1.0)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(250, 300) & 0xFFFFFF
    assert pixels[:, :20].any()
    assert not pixels[:, 20:60].any()


@pytest.mark.parametrize("scale", [1, *(pytest.param(scale, marks=pytest.mark.nightly) for scale in (2, 4))])
def test_png_has_the_promised_size_and_colours(scene: Scene, tmp_path: Path, scale: int) -> None:
    path = tmp_path / "frame.png"
    save_frame(scene, path, RenderOptions(1920 * scale, 1080 * scale))
    image = np.asarray(Image.open(path).convert("RGB"))
    assert image.shape == (1080 * scale, 1920 * scale, 3)
    for key in ("A", "B", "C", "tile-tileA"):
        cells = piece(scene, key, Cells)
        assert isinstance(cells, Cells)
        for row in range(cells.fill.shape[0]):
            for column in range(cells.fill.shape[1]):
                x, y = (
                    (cells.x + (column + 0.12) * cells.size) * 1.2 * scale,
                    (cells.y + (row + 0.15) * cells.pitch) * 1.2 * scale,
                )
                assert tuple(image[int(y), int(x)]) == channels(cells.palette[cells.fill[row, column]]), (key, row, column)


def test_labels_reach_the_pixels(scene: Scene, tmp_path: Path) -> None:
    """A cell with a label holds pixels of its ink near its middle."""
    path = tmp_path / "frame.png"
    save_frame(scene, path, RenderOptions())
    image = np.asarray(Image.open(path).convert("RGB")).astype(int)
    cells = piece(scene, "tile-tileA", Cells)
    assert isinstance(cells, Cells)
    ink = np.array(channels(cells.inks[cells.fill[0, 0]]))
    x, y, side = (round(v * 1.2) for v in (cells.x, cells.y, cells.size))
    middle = image[y + side // 3 : y + 2 * side // 3, x + side // 4 : x + 3 * side // 4]
    assert (np.abs(middle - ink).sum(axis=2) < 60).sum() > 7


@pytest.mark.parametrize("text", ["→", "ä", "步"])
def test_characters_beyond_ascii_reach_the_pixels_of_cells_and_squares(text: str, tmp_path: Path, qapp: QApplication) -> None:
    fill, look = np.zeros((1, 1), np.uint8), (("#000000",), ("#FFFFFF",))
    cells = Cells("cells", 0, 0, 100, fill, *look, np.array([[text]]), 30.0)
    squares = Squares("squares", np.array([[100.0, 0.0, 100.0]]), fill[0], *look, np.array([text]), 30.0)
    save_frame(Scene(200, 100, "#000000", (cells, squares)), tmp_path / "f.png", RenderOptions(200, 100))
    with Image.open(tmp_path / "f.png") as image:
        grey = np.asarray(image.convert("L"))
    assert grey[:, :100].max() > 128
    assert grey[:, 100:].max() > 128


@pytest.mark.parametrize("name", ["frame.bmp", "frame"])
def test_unknown_formats_are_refused(scene: Scene, tmp_path: Path, name: str) -> None:
    with pytest.raises(GemmvizError, match=r"use \.png or \.svg"):
        save_frame(scene, tmp_path / name)


def test_a_folder_that_is_not_there(scene: Scene, tmp_path: Path) -> None:
    for suffix in ("svg", "png"):
        with pytest.raises(GemmvizError, match="no folder"):
            save_frame(scene, tmp_path / "nowhere" / f"frame.{suffix}")
