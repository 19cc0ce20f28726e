"""The formats of pictures, slides and pages; films are rows of a table in ``gemmviz.render.film``."""

from pathlib import Path

from gemmviz.files.resources import write_text
from gemmviz.model.messages import marked
from gemmviz.render.encoding import encode_picture, encode_png, with_words
from gemmviz.render.export import page_html
from gemmviz.render.figure import figure_html, figure_script, script_name
from gemmviz.render.qt.libraries import require_qt
from gemmviz.render.reel import Deck, Frame, Reel, RenderOptions, Still, WebPage
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.kit.primitives import Scene

# PNG: pixels, painted by Qt.


def _save_png(scene: Scene, path: Path, options: RenderOptions) -> None:
    require_qt()
    from gemmviz.render.qt.raster import Raster

    raster, frame = Raster(options), Frame(scene)
    png = encode_png(raster.array(frame)) if options.is_transparent else encode_picture(raster.packed(frame))
    path.write_bytes(with_words(png, scene.title, scene.description))


# SVG: vectors, for papers and the web.


def _save_svg(scene: Scene, path: Path, options: RenderOptions) -> None:
    text = scene_svg(scene, "outlines" if options.has_outlines else "fonts", is_transparent=options.is_transparent)
    path.write_text(text, encoding="utf-8")


# PDF: vectors, one page per picture, written by Qt. The text can be searched.


def _save_pdf(reel: Reel, path: Path, options: RenderOptions) -> None:
    require_qt()
    from gemmviz.render.qt.raster import write_pdf

    write_pdf(reel, path)


# PowerPoint: slides of editable shapes and text, or pictures if there are too many shapes.


def _save_pptx(reel: Reel, path: Path, options: RenderOptions) -> None:
    from gemmviz.render.slides import write_slides  # imported here because loading takes longer than drawing a picture

    write_slides(reel, path, options)


# Web page: plays in every browser, without a network. Or a figure: an element for a page of your own.


def _save_html(reel: Reel, path: Path, options: RenderOptions) -> None:
    if options.figure is not None and options.figure.is_split:
        write_text(path.parent / script_name(), figure_script())
    text = page_html(reel, reel.theme) if options.figure is None else figure_html(reel, options.figure)
    path.write_text(text, encoding="utf-8", newline="\n")


FORMATS = {
    "html": WebPage(marked("Web page"), _save_html, order=5),
    "pdf": Deck("PDF", _save_pdf, order=3),
    "png": Still("PNG", _save_png, order=1),
    "pptx": Deck(marked("PowerPoint slides"), _save_pptx, order=4, extra="slides"),
    "svg": Still("SVG", _save_svg, order=2),
}
