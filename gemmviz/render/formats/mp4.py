"""MP4: H.264 video, which every program plays, encoded by FFmpeg's libx264 or else libopenh264."""

from pathlib import Path

from gemmviz.model.translation import marked
from gemmviz.render.film import MP4, save_film
from gemmviz.render.reel import Film, Reel, RenderOptions


def _save(reel: Reel, path: Path, options: RenderOptions) -> None:
    save_film(reel, path, options, MP4)


FORMAT = Film(marked("MP4 video"), _save, order=10, extra="film")
