"""PDF: vectors, one page per picture, written by Qt. The text can be searched."""

from pathlib import Path

from gemmviz.render.qt.libraries import require_qt
from gemmviz.render.reel import Deck, Reel, RenderOptions


def _save(reel: Reel, path: Path, options: RenderOptions) -> None:
    require_qt()
    from gemmviz.render.qt.pdf import write_pdf

    write_pdf(reel, path)


FORMAT = Deck("PDF", _save, order=3)
