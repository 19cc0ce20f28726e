"""WebP: a lossless loop in full colour, smaller than other formats."""

from pathlib import Path

from gemmviz.model.translation import marked
from gemmviz.render.film import Coding, save_film
from gemmviz.render.reel import Film, Reel, RenderOptions

_CODING = Coding(
    "webp", ("libwebp_anim",), "bgra", "bgra", container={"loop": "0"}, options={"lossless": "1", "compression_level": "1"}
)


def _save(reel: Reel, path: Path, options: RenderOptions) -> None:
    save_film(reel, path, options, _CODING)


FORMAT = Film(marked("WebP animation"), _save, can_be_clear=True, order=14, extra="film")
