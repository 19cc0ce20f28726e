"""Pictures as PNG files: small enough for a page, and in the colours in which they are drawn."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication

from gemmviz.analysis.replay.focus import Position
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.render.encoding import encode_picture, encode_png, most_different
from gemmviz.render.export import save_frame
from gemmviz.render.film import colours_of
from gemmviz.render.qt.raster import Raster
from gemmviz.render.reel import Frame, RenderOptions
from gemmviz.scenes.kit.theme import channels
from gemmviz.shots.export import ExportOptions, prepare, slide_at
from gemmviz.shots.shot import Shot
from tests.conftest import once, sampled


def read(png: bytes) -> npt.NDArray[np.int16]:
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB")).astype(np.int16)


def codes(pixels: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The colour of each pixel as one number."""
    found: npt.NDArray[np.int32] = pixels.astype(np.int32) @ np.array((1 << 16, 1 << 8, 1), np.int32)
    return found


@pytest.mark.parametrize(
    ("view", "step", "theme"),
    sampled(
        [
            ("fragment", 20, "dark"), ("banks", 24, "dark"), ("fragment", 20, "print"), ("banks", 24, "light"),
            ("fragment", 20, "light"), ("banks", 24, "print"),
        ],
        every=3,
    ),
)  # fmt: skip
def test_a_figure_of_a_matrix_instruction_fits_into_a_page(
    view: str, step: int, theme: str, tmp_path: Path, qapp: QApplication
) -> None:
    """At most 150 kB; the colours of the theme stay, and those of the edges of letters can't be told from their own."""
    shot = Shot(setup_for(load_kernel("14_mma")), view=view, theme=theme, at=Position(step - 1))
    scene = slide_at(prepare(shot, once), step - 1, ExportOptions()).scene
    save_frame(scene, tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size <= 150_000
    drawn, shown = Raster(RenderOptions()).array(Frame(scene)).astype(np.int16), read((tmp_path / "f.png").read_bytes())
    assert np.abs(shown - drawn).max() <= 20
    drawn_codes, shown_codes = codes(drawn), codes(shown)
    seen = 0
    for colour in colours_of(scene):
        (code,) = codes(np.array([channels(colour)]))
        own = drawn_codes == code
        if own.sum() > 2000:
            seen += 1
            assert (shown_codes[own] == code).all(), colour
    assert seen >= 5


def test_a_picture_of_more_colours_than_a_palette_keeps_them() -> None:
    red, green = np.meshgrid(np.arange(256), np.arange(256))
    many = np.stack([red, green, (red + green) // 2], axis=2).astype(np.uint8)
    packed = (many.astype(np.uint32) * np.array((1 << 16, 1 << 8, 1), np.uint32)).sum(axis=2, dtype=np.uint32)
    assert (read(encode_picture(packed)) == many).all()
    assert (read(encode_png(many)) == many).all()
    assert len(encode_png(many, quick=True)) >= len(encode_png(many))


def test_the_colours_that_differ_most_are_kept() -> None:
    greys = np.repeat(np.arange(100, 140, dtype=np.uint8)[:, None], 3, axis=1)
    kept = most_different(np.vstack([greys, np.array([[240, 60, 60]], np.uint8)]), 3)
    assert kept.tolist() == [[100, 100, 100], [240, 60, 60], [139, 139, 139]]
