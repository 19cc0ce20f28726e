"""H.264 video, which every program plays. Encoded by FFmpeg's libx264, or by libopenh264 where that is what there is."""

from pathlib import Path

from gemmviz.render.film import MP4, save_film
from gemmviz.render.format import Film, RenderOptions
from gemmviz.render.reel import Reel


def _save(reel: Reel, path: Path, look: RenderOptions) -> None:
    save_film(reel, path, look, MP4)


FORMAT = Film("MP4 video", _save, order=10)
