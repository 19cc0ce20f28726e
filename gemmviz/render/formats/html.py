"""Web page: plays in every browser, without a network."""

from pathlib import Path

from gemmviz.model.translation import marked
from gemmviz.render.format import Page, RenderOptions
from gemmviz.render.page import page_html
from gemmviz.render.reel import Reel


def _save(reel: Reel, path: Path, options: RenderOptions) -> None:
    path.write_text(page_html(reel, reel.theme), encoding="utf-8", newline="\n")


FORMAT = Page(marked("Web page"), _save, order=5)
