"""SVG: vectors, for papers and the web."""

from pathlib import Path

from gemmviz.render.reel import RenderOptions, Still
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.kit.primitives import Scene


def _save(scene: Scene, path: Path, options: RenderOptions) -> None:
    text = scene_svg(scene, "outlines" if options.has_outlines else "fonts", is_transparent=options.is_transparent)
    path.write_text(text, encoding="utf-8")


FORMAT = Still("SVG", _save, order=2)
