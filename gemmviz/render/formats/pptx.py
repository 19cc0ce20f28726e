"""PowerPoint: slides of editable shapes and text, or pictures if there are too many shapes."""

from pathlib import Path

from gemmviz.model.translation import marked
from gemmviz.render.reel import Deck, Reel, RenderOptions


def _save(reel: Reel, path: Path, options: RenderOptions) -> None:
    from gemmviz.render.slides import write_slides  # imported here because loading takes longer than drawing a picture

    write_slides(reel, path, options)


FORMAT = Deck(marked("PowerPoint slides"), _save, order=4, extra="slides")
