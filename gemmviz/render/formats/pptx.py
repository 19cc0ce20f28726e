"""Slides for PowerPoint, Keynote, Impress: shapes and text that can be edited while they are few, else pictures."""

from pathlib import Path

from gemmviz.render.format import Deck, RenderOptions
from gemmviz.render.reel import Reel


def _save(reel: Reel, path: Path, look: RenderOptions) -> None:
    from gemmviz.render.slides import write_slides  # python-pptx takes longer to load than a picture to draw

    write_slides(reel, path, look)


FORMAT = Deck("PowerPoint slides", _save, order=4)
