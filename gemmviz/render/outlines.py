"""Text as shapes, from the bundled fonts."""

from functools import lru_cache

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen

from gemmviz.scenes.kit.primitives import Face
from gemmviz.scenes.kit.text import bundled_font


@lru_cache(maxsize=8192)
def text_outline(text: str, face: Face) -> tuple[str, int]:
    """Return the outline of a text as an SVG path with its baseline at 0 and y upwards, and the font's units per em."""
    font = bundled_font(face)
    glyphs, names, units = font.getGlyphSet(), font.getBestCmap(), font["head"].unitsPerEm
    pen, x = SVGPathPen(glyphs, ntos=lambda value: f"{value:g}"), 0
    for char in text:
        glyph = glyphs[names.get(ord(char), ".notdef")]
        glyph.draw(TransformPen(pen, (1, 0, 0, 1, x, 0)))
        x += glyph.width
    return pen.getCommands(), units
