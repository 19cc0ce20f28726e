"""Animated PNG: a lossless loop in full colour."""

from pathlib import Path

from gemmviz.model.translation import marked
from gemmviz.render.film import Coding, save_film
from gemmviz.render.reel import Film, Reel, RenderOptions

_CODING = Coding("apng", ("apng",), "rgb24", "rgba", container={"plays": "0"}, options={"pred": "up"})


def _save(reel: Reel, path: Path, options: RenderOptions) -> None:
    save_film(reel, path, options, _CODING)


FORMAT = Film(marked("Animated PNG"), _save, can_be_clear=True, order=13, extra="film")
