"""PNG: pixels, painted by Qt."""

from pathlib import Path

from gemmviz.render.png import encode_picture, encode_png, with_words
from gemmviz.render.qt.libraries import require_qt
from gemmviz.render.reel import Frame, RenderOptions, Still
from gemmviz.scenes.kit.primitives import Scene


def _save(scene: Scene, path: Path, options: RenderOptions) -> None:
    require_qt()
    from gemmviz.render.qt.raster import Raster

    raster, frame = Raster(options), Frame(scene)
    png = encode_png(raster.array(frame)) if options.is_transparent else encode_picture(raster.packed(frame))
    path.write_bytes(with_words(png, scene.title, scene.description))


FORMAT = Still("PNG", _save, order=1)
