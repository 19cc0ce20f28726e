"""Text as shapes, from the bundled fonts."""

from functools import lru_cache

from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen

from gemmviz.render.system_font import system_font
from gemmviz.scenes.kit.primitives import Face
from gemmviz.scenes.kit.text import bundled_font
from gemmviz.scenes.kit.wide_text import is_wide


@lru_cache(maxsize=8192)
def text_outline(text: str, face: Face) -> tuple[str, int]:
    """Return the outline of a text as an SVG path with its baseline at 0 and y upwards, and the font's units per em."""
    font = bundled_font(face)
    glyphs, names, units = font.getGlyphSet(), font.getBestCmap(), font["head"].unitsPerEm
    pen, x = SVGPathPen(glyphs, ntos=lambda value: f"{value:g}"), 0
    for char in text:
        if is_wide(char):
            _draw_wide(char, pen, x, units)
            x += units
            continue
        glyph = glyphs[names.get(ord(char), ".notdef")]
        glyph.draw(TransformPen(pen, (1, 0, 0, 1, x, 0)))
        x += glyph.width
    return pen.getCommands(), units


def _draw_wide(char: str, pen: SVGPathPen, x: float, units: int) -> None:
    """Draw a character of the system's font, which may have other units."""
    font = system_font()
    glyphs, scale = font.getGlyphSet(), units / font["head"].unitsPerEm
    drawn = DecomposingRecordingPen(glyphs)
    glyphs[font.getBestCmap().get(ord(char), ".notdef")].draw(drawn)
    drawn.replay(TransformPen(pen, (scale, 0, 0, scale, x, 0)))
