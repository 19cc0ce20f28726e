"""Pixels, for slides. Painted by Qt."""

from pathlib import Path

from gemmviz.render.qt.libraries import require_qt
from gemmviz.render.still import Still
from gemmviz.scenes.primitives import Scene

PIXELS_PER_UNIT = 1.2  # 1600 x 900 units are 1920 x 1080 pixels


def _save(scene: Scene, path: Path, scale: int) -> None:
    require_qt()
    from gemmviz.render.qt.offscreen import start_qt
    from gemmviz.render.qt.painter import scene_image

    start_qt()
    if not scene_image(scene, PIXELS_PER_UNIT * scale).save(str(path), "PNG"):  # type: ignore[call-overload]
        raise OSError(None, "the image can't be written here")


STILL = Still("PNG", _save, scales=(1, 2, 4), order=1)
