"""Saves scenes to files: the suffix says how."""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import gemmviz.render.formats as folder
from gemmviz.files.whole import written_whole
from gemmviz.model.errors import UsageError
from gemmviz.render.qt.libraries import require_qt
from gemmviz.render.still import Still
from gemmviz.scenes.primitives import Scene

if TYPE_CHECKING:
    from gemmviz.render.qt.painter import ScenePainter

_PALETTE_FRAMES = 12


@cache
def stills() -> dict[str, Still]:
    """The formats of single frames, by suffix without its dot: every module of ``gemmviz.render.formats``."""
    names = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    found = {name: importlib.import_module(f"{folder.__name__}.{name}").STILL for name in names}
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))


def save_frame(scene: Scene, path: Path, scale: int = 1) -> None:
    """Writes one frame. ``scale`` 1 is 1920 x 1080 pixels; vectors don't need it. Raises GemmvizError."""
    still = stills().get(path.suffix.lower().removeprefix("."))
    if still is None:
        known = " or ".join(f".{suffix}" for suffix in stills())
        raise UsageError(f"a frame can't be saved as {path.suffix or 'a file without suffix'}", remedy=f"use {known}")
    with written_whole(path) as part:
        still.save(scene, part, scale)


def save_animation(frames: Iterable[tuple[Scene, int]], path: Path, pixels_per_unit: float = 0.6) -> None:
    """Writes an endlessly repeated GIF of scenes, each shown for so many milliseconds; one palette serves all."""
    require_qt()
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
    with written_whole(path) as part:
        images[0].save(part, save_all=True, append_images=images[1:], duration=list(durations), loop=0)


def _pixels(scene: Scene, pixels_per_unit: float, painter: "ScenePainter") -> npt.NDArray[np.uint8]:
    """The painted scene: uint8 (rows, columns, 3)."""
    from gemmviz.render.qt.painter import scene_image

    image = scene_image(scene, pixels_per_unit, painter)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return np.ascontiguousarray(rows[:, : image.width(), 2::-1])
