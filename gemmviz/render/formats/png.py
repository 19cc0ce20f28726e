"""PNG: pixels, painted by Qt."""

from pathlib import Path

from gemmviz.render.png import with_words
from gemmviz.render.qt.libraries import require_qt
from gemmviz.render.reel import Frame, RenderOptions, Still
from gemmviz.scenes.kit.primitives import Scene


def _save(scene: Scene, path: Path, options: RenderOptions) -> None:
    require_qt()
    from gemmviz.render.qt.raster import Raster, png_of

    png = png_of(Raster(options).image(Frame(scene)))
    path.write_bytes(with_words(png, scene.title, scene.description))


FORMAT = Still("PNG", _save, order=1)
