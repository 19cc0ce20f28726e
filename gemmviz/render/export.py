"""Saves scenes to files: the suffix says how. PNG and animations are painted; SVG is written from the primitives."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.render.svg import scene_svg
from gemmviz.scene.primitives import Scene

if TYPE_CHECKING:
    from gemmviz.render.qt.painter import ScenePainter

_PALETTE_FRAMES = 12
PIXELS_PER_UNIT = 1.2  # 1600 x 900 units are 1920 x 1080 pixels


def save_frame(scene: Scene, path: Path, scale: int = 1) -> None:
    """Writes one frame. ``scale`` 1 is 1920 x 1080 pixels; vectors don't need it. Raises GemmvizError."""
    save = _FORMATS.get(path.suffix.lower())
    if save is None:
        raise UsageError(f"a frame can't be saved as {path.suffix or 'a file without suffix'}", remedy="use .png or .svg")
    if not path.parent.is_dir():
        raise GemmvizError(f"there is no folder {path.parent}", file=str(path))
    part = path.with_name(f".{path.name}.part{path.suffix}")
    try:
        save(scene, part, scale)
        part.replace(path)
    except OSError as error:
        raise GemmvizError(f"the frame can't be written: {error.strerror or error}", file=str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def _save_svg(scene: Scene, path: Path, scale: int) -> None:
    path.write_text(scene_svg(scene), encoding="utf-8")


def _save_png(scene: Scene, path: Path, scale: int) -> None:
    from gemmviz.render.qt.painter import scene_image

    if not scene_image(scene, PIXELS_PER_UNIT * scale).save(str(path), "PNG"):  # type: ignore[call-overload]
        raise OSError("the image can't be written here")


_FORMATS: dict[str, Callable[[Scene, Path, int], None]] = {".png": _save_png, ".svg": _save_svg}


def save_animation(frames: Iterable[tuple[Scene, int]], path: Path, pixels_per_unit: float = 0.6) -> None:
    """Writes an endlessly repeated GIF of scenes, each shown for so many milliseconds; one palette serves all."""
    from PIL import Image

    from gemmviz.render.qt.painter import ScenePainter

    painter = ScenePainter()
    scenes, durations = zip(*frames, strict=True)
    sampled = scenes[:: max(1, len(scenes) // _PALETTE_FRAMES)]
    palette = Image.fromarray(np.vstack([_pixels(each, pixels_per_unit, painter) for each in sampled])).quantize(255)
    images = [
        Image.fromarray(_pixels(each, pixels_per_unit, painter)).quantize(palette=palette, dither=Image.Dither.NONE)
        for each in scenes
    ]
    images[0].save(path, save_all=True, append_images=images[1:], duration=list(durations), loop=0)


def _pixels(scene: Scene, pixels_per_unit: float, painter: "ScenePainter") -> npt.NDArray[np.uint8]:
    """The painted scene: uint8 (rows, columns, 3)."""
    from gemmviz.render.qt.painter import scene_image

    image = scene_image(scene, pixels_per_unit, painter)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return np.ascontiguousarray(rows[:, : image.width(), 2::-1])
