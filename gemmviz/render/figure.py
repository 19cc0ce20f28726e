"""A replay as one element for any web page: a still that needs no script, and the player that takes its place.

The element is a ``figure`` without identifiers, style attributes or blank lines, so that it can stand in HTML, Markdown and
notebooks, more than once.
"""

import dataclasses
import json
import re
from html import escape

import numpy as np

from gemmviz.model.messages import tr
from gemmviz.render.encoding import legible
from gemmviz.render.export import page_asset, page_script
from gemmviz.render.pack import packed
from gemmviz.render.reel import FigureOptions, Reel, Slide, citation, known_licence
from gemmviz.render.svg import scene_groups
from gemmviz.scenes.kit.band import qr_modules
from gemmviz.scenes.kit.primitives import Cells, Face, Lines, Primitive, Scene

# A scene as an image inside a web page: small vectors, with the fonts of the reader.

_TAG, _HUNDREDTHS, _SHORT = (
    re.compile("<[^>]+>"),
    re.compile(r"\d+\.\d\d"),
    re.compile(r' textLength="\d{1,2}(\.\d+)?" lengthAdjust="\w+"'),
)
_QUOTED = str.maketrans({'"': "%22", "#": "%23", "<": "%3C", ">": "%3E", "&": "%26"})  # brackets confuse HTML Purifier
_LEAST_LABEL = 12.0  # units; smaller texts in cells can't be read where 1600 units are a column of 800 pixels
_SANS = "Inter, Helvetica, Arial, sans-serif"
_CSS_FAMILIES: dict[Face, str] = {
    "regular": _SANS,
    "semibold": _SANS,
    "mono": "JetBrains Mono, Menlo, Consolas, monospace",
}


def still_image(scene: Scene, description: str) -> str:
    """Return the ``img`` element of a scene, which fills its column. ``description``: what a screen reader says."""
    plain = dataclasses.replace(
        scene, primitives=_drawable(scene.primitives), above=_drawable(scene.above), words=_drawable(scene.words)
    )
    width, height = f"{scene.width:g}", f"{scene.height:g}"
    ground = f'<rect width="{width}" height="{height}" fill="{scene.background}"/>'
    groups = _TAG.sub(_shorter, scene_groups(plain, "inherited", _CSS_FAMILIES, has_ids=False))
    return svg_image(f'viewBox="0 0 {width} {height}" font-family="{_SANS}"', ground + groups, description, width="100%")


def svg_image(attributes: str, content: str, description: str, **size: str) -> str:
    """Return an ``img`` element with an SVG document inside of its address: nothing around it can change how it looks, and what
    removes it from a page leaves none of its words behind.
    """
    document = f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{content}</svg>'.replace("\n", "").replace("%", "%25")
    quoted = _TAG.sub(lambda tag: tag[0].replace('"', "'"), document)
    address = quoted.translate(_QUOTED)
    sides = "".join(f' {name}="{value}"' for name, value in size.items())
    return f'<img{sides} alt="{escape(description)}" src="data:image/svg+xml,{address}">'


def _shorter(tag: "re.Match[str]") -> str:
    """Return a tag with its numbers in tenths, and without the lengths of texts of few letters."""
    return _HUNDREDTHS.sub(lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), _SHORT.sub("", tag[0]))


def _drawable(primitives: tuple[Primitive, ...]) -> tuple[Primitive, ...]:
    return tuple(part for each in primitives for part in (_cells_and_grid(each) if isinstance(each, Cells) else (each,)))


def _cells_and_grid(cells: Cells) -> tuple[Primitive, ...]:
    """Return a table whose neighbours of one colour can be joined, and the lines between its cells."""
    labels = cells.labels if cells.label_size >= _LEAST_LABEL else None
    table = dataclasses.replace(cells, line=None, labels=labels)
    if cells.line is None or not cells.gap:
        return (table,)
    return table, Lines(f"{cells.key}-lines", _grid_lines(cells), cells.line, cells.gap)


def _grid_lines(cells: Cells) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Return the lines between rows and between columns, (n, 4)."""
    x, y, width, height = cells.box
    rows, columns = cells.fill.shape
    across = [(x, y + at * cells.pitch, x + width, y + at * cells.pitch) for at in range(1, rows)]
    down = [(x + at * cells.size, y, x + at * cells.size, y + height) for at in range(1, columns)]
    return np.array([*across, *down], np.float64).reshape(-1, 4)


_QR_PX = "96"


def figure_script() -> str:
    """Return the script of all figures of this version of gemmviz: nothing in it is of one figure, and one hash allows all."""
    constants = f"const VERSION = {json.dumps(citation().version)}, STYLE = {json.dumps(_style())};\n"
    return page_script(constants + page_asset("figure.js"))


def _style() -> str:
    return re.sub(r"\s*([{};,])\s*", r"\1", page_asset("style.css"))


def script_name() -> str:
    """Return the file name of the script where it is not inside the figure."""
    return f"gemmviz-figure-{citation().version}.js"


def figure_html(reel: Reel, options: FigureOptions) -> str:
    """Return the element. The still is the first slide of the reel."""
    slide = next(reel.slides())
    script = f'<script type="module">{figure_script()}</script>'
    if options.is_split:
        script = f'<script src="{script_name()}" defer></script>'  # browsers refuse modules that are files
    follow = f' data-follow="{escape(options.follow)}"' if options.follow else ""
    about = f'data-gemmviz="{citation().version}" data-name="{escape(options.name)}" data-theme="{options.theme}"{follow}'
    still = still_image(slide.scene, _one_line(f"{slide.title}. {slide.scene.description or slide.caption}"))
    theme = "light" if options.theme == "auto" else options.theme
    lines = (
        f"<figure {about}>",
        f'<div data-part="stage">{still}</div>',
        f"<figcaption>{_caption(slide, reel, options)}</figcaption>",
        f'<script type="application/octet-stream" data-part="data">{packed(reel, theme).text}</script>',
        script,
        "</figure>\n",
    )
    return re.sub(r"\n\s*\n", "\n", "\n".join(lines))


def _caption(slide: Slide, reel: Reel, options: FigureOptions) -> str:
    """Return the caption: the words of the still, which give way to those of the player, the link, and the credits."""
    words = f'<p data-part="words"><strong>{_html_line(slide.title)}</strong>. {_html_line(slide.caption)}</p>'
    return f"{words}{_linked_code(options.link)}<p><small>{_credits(reel, options)}</small></p>"


def _linked_code(url: str) -> str:
    """Return a QR code and the URL to which it leads."""
    if not url:
        return ""
    return f"<p>{_qr_image(url)}<br>{_anchor(url, url)}</p>"


def _qr_image(url: str) -> str:
    modules = qr_modules(url)
    size = len(modules)
    edges = np.diff(modules.astype(np.int8), axis=1, prepend=0, append=0)
    starts, ends = np.argwhere(edges == 1).tolist(), np.argwhere(edges == -1)[:, 1].tolist()
    path = "".join(f"M{column} {row}h{end - column}v1H{column}z" for (row, column), end in zip(starts, ends, strict=True))
    content = f'<path fill="#fff" d="M0 0h{size}v{size}H0z"/><path d="{path}"/>'
    attributes = f'viewBox="0 0 {size} {size}" shape-rendering="crispEdges"'
    return svg_image(attributes, content, f"QR code of {url}", width=_QR_PX, height=_QR_PX)


def _credits(reel: Reel, options: FigureOptions) -> str:
    """Return author, licence and how to cite."""
    name, address = known_licence(options.licence)
    licence = _anchor(address, name, ' rel="license"') if address else _html_line(name)
    own, author = citation(), f"{options.author}: " if options.author else ""
    made = f"Made with {_html_line(own.words)}, {_anchor(own.address, own.address)}"
    cite = f"{_html_line(tr('Cite as:'))} {_html_line(author + reel.name)}. {made}"
    return " · ".join(filter(None, (_html_line(options.author), licence, cite)))


def _anchor(url: str, text: str, attributes: str = "") -> str:
    return f'<a href="{escape(url)}"{attributes}>{_html_line(text)}</a>'


def _html_line(text: str) -> str:
    """Return a text as HTML in one line."""
    return escape(_one_line(text))


def _one_line(text: str) -> str:
    return " ".join(legible(text).split())
