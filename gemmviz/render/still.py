"""A scene as an image inside a web page: small vectors, with the fonts of the reader."""

import re
from html import escape

import numpy as np

from gemmviz.model.records import replace
from gemmviz.render.svg import scene_groups
from gemmviz.scenes.kit.primitives import Cells, Face, Lines, Primitive, Scene

_TAG, _HUNDREDTHS, _SHORT = (
    re.compile("<[^>]+>"),
    re.compile(r"\d+\.\d\d"),
    re.compile(r' textLength="\d{1,2}(\.\d+)?" lengthAdjust="\w+"'),
)
_QUOTED = str.maketrans({'"': "%22", "#": "%23", "<": "%3C", ">": "%3E", "&": "%26"})  # brackets confuse HTML Purifier
_LEAST_LABEL = 12.0  # units; smaller texts in cells can't be read where 1600 units are a column of 800 pixels
_SANS = "Inter, Helvetica, Arial, sans-serif"
_FAMILIES: dict[Face, str] = {
    "regular": _SANS,
    "semibold": _SANS,
    "mono": "JetBrains Mono, Menlo, Consolas, monospace",
}


def still_image(scene: Scene, description: str) -> str:
    """Return the ``img`` element of a scene, which fills its column. ``description``: what a screen reader says."""
    plain = replace(scene, primitives=_plain(scene.primitives), above=_plain(scene.above), words=_plain(scene.words))
    wide, high = f"{scene.width:g}", f"{scene.height:g}"
    ground = f'<rect width="{wide}" height="{high}" fill="{scene.background}"/>'
    groups = _TAG.sub(_shorter, scene_groups(plain, "inherited", _FAMILIES, has_ids=False))
    return svg_image(f'viewBox="0 0 {wide} {high}" font-family="{_SANS}"', ground + groups, description, width="100%")


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


def _plain(primitives: tuple[Primitive, ...]) -> tuple[Primitive, ...]:
    return tuple(part for each in primitives for part in (_parts(each) if isinstance(each, Cells) else (each,)))


def _parts(cells: Cells) -> tuple[Primitive, ...]:
    """Return a table whose neighbours of one colour can be joined, and the lines between its cells."""
    labels = cells.labels if cells.label_size >= _LEAST_LABEL else None
    table = replace(cells, line=None, labels=labels)
    if cells.line is None or not cells.gap:
        return (table,)
    return table, Lines(f"{cells.key}-lines", _grid(cells), cells.line, cells.gap)


def _grid(cells: Cells) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Return the lines between rows and between columns, (n, 4)."""
    x, y, width, height = cells.box
    rows, columns = cells.fill.shape
    across = [(x, y + at * cells.pitch, x + width, y + at * cells.pitch) for at in range(1, rows)]
    down = [(x + at * cells.size, y, x + at * cells.size, y + height) for at in range(1, columns)]
    return np.array([*across, *down], np.float64).reshape(-1, 4)
