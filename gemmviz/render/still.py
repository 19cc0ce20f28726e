"""A scene as SVG inside a web page: small, with the fonts of the reader, and without identifiers that another could have."""

import re
from dataclasses import replace

import numpy as np

from gemmviz.render.svg import scene_groups
from gemmviz.render.xml import xml_attribute
from gemmviz.scenes.kit.primitives import Cells, Face, Lines, Primitive, Scene

_TAG, _HUNDREDTHS, _SHORT = (
    re.compile("<[^>]+>"),
    re.compile(r"\d+\.\d\d"),
    re.compile(r' textLength="\d{1,2}(\.\d+)?" lengthAdjust="\w+"'),
)
_LEAST_LABEL = 12.0  # units; smaller texts in cells can't be read where 1600 units are a column of 800 pixels
_SANS = "Inter, Helvetica, Arial, sans-serif"
_FAMILIES: dict[Face, str] = {
    "regular": _SANS,
    "semibold": _SANS,
    "mono": "JetBrains Mono, Menlo, Consolas, monospace",
}


def still_svg(scene: Scene, description: str) -> str:
    """Return the SVG element of a scene, which fills its column. ``description``: what a screen reader says."""
    plain = replace(scene, primitives=_plain(scene.primitives), above=_plain(scene.above), words=_plain(scene.words))
    label = f'role="img" aria-label={xml_attribute(description)}'
    view = f'viewBox="0 0 {scene.width:g} {scene.height:g}" width="100%" font-family="{_SANS}" {label}'
    ground = f'<rect width="{scene.width:g}" height="{scene.height:g}" fill="{scene.background}"/>'
    groups = scene_groups(plain, "inherited", _FAMILIES, has_ids=False)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view}>\n{ground}\n{_TAG.sub(_shorter, groups)}</svg>'


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
