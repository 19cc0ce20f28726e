"""GIF: a loop in 255 colours that every program shows."""

from pathlib import Path

from gemmviz.model.translation import marked
from gemmviz.render.film import Coding, save_film
from gemmviz.render.reel import Film, Reel, RenderOptions

_CODING = Coding("gif", ("gif",), "pal8", container={"loop": "0"}, most_fps=50)


def _save(reel: Reel, path: Path, options: RenderOptions) -> None:
    save_film(reel, path, options, _CODING)


FORMAT = Film(marked("GIF animation"), _save, order=12, extra="film")
