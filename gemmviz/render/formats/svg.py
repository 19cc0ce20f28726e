"""Vectors, for papers and the web."""

from pathlib import Path

from gemmviz.render.still import Still
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.primitives import Scene


def _save(scene: Scene, path: Path, scale: int) -> None:
    path.write_text(scene_svg(scene), encoding="utf-8")


STILL = Still("SVG", _save, order=2)
