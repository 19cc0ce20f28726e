"""WebM: VP9 video, royalty-free, for the web."""

from pathlib import Path

from gemmviz.model.translation import marked
from gemmviz.render.film import Coding, save_film
from gemmviz.render.reel import Film, Reel, RenderOptions

_CODING = Coding(
    "webm", ("libvpx-vp9",), "yuv420p", "yuva420p", step=2,
    options={"deadline": "realtime", "cpu-used": "8", "row-mt": "1", "threads": "2", "crf": "24", "b": "0"},
)  # fmt: skip


def _save(reel: Reel, path: Path, options: RenderOptions) -> None:
    save_film(reel, path, options, _CODING)


FORMAT = Film(marked("WebM video"), _save, can_be_clear=True, order=11, extra="film")
