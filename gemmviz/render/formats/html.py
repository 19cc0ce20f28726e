"""Web page: plays in every browser, without a network. Or a figure: an element for a page of your own."""

from pathlib import Path

from gemmviz.files.whole import write_text
from gemmviz.model.translation import marked
from gemmviz.render.export import page_html
from gemmviz.render.figure import figure_html, figure_script, script_name
from gemmviz.render.reel import Reel, RenderOptions, WebPage


def _save(reel: Reel, path: Path, options: RenderOptions) -> None:
    if options.figure is not None and options.figure.is_split:
        write_text(path.parent / script_name(), figure_script())
    text = page_html(reel, reel.theme) if options.figure is None else figure_html(reel, options.figure)
    path.write_text(text, encoding="utf-8", newline="\n")


FORMAT = WebPage(marked("Web page"), _save, order=5)
