"""A replay as one element for any web page: a still that needs no script, and the player that takes its place.

The element is a ``figure`` without identifiers, style attributes or blank lines, so that it can stand in HTML, Markdown and
notebooks, more than once.
"""

import json
import re
from html import escape

import numpy as np

from gemmviz.model.translation import tr
from gemmviz.render.credit import FigureOptions, citation, known_licence
from gemmviz.render.pack import packed
from gemmviz.render.page_script import page_asset, page_script
from gemmviz.render.reel import Reel, Slide
from gemmviz.render.still import still_image, svg_image
from gemmviz.render.xml import legible
from gemmviz.scenes.kit.qr import qr_modules

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
    still = still_image(slide.scene, _line(f"{slide.title}. {slide.scene.description or slide.caption}"))
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
    words = f'<p data-part="words"><strong>{_text(slide.title)}</strong>. {_text(slide.caption)}</p>'
    return f"{words}{_link(options.link)}<p><small>{_credits(reel, options)}</small></p>"


def _link(url: str) -> str:
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
    licence = _anchor(address, name, ' rel="license"') if address else _text(name)
    own, author = citation(), f"{options.author}: " if options.author else ""
    made = f"Made with {_text(own.words)}, {_anchor(own.address, own.address)}"
    cite = f"{_text(tr('Cite as:'))} {_text(author + reel.name)}. {made}"
    return " · ".join(filter(None, (_text(options.author), licence, cite)))


def _anchor(url: str, text: str, attributes: str = "") -> str:
    return f'<a href="{escape(url)}"{attributes}>{_text(text)}</a>'


def _text(text: str) -> str:
    """Return a text as HTML in one line."""
    return escape(_line(text))


def _line(text: str) -> str:
    return " ".join(legible(text).split())
