"""A scene as SVG: vectors, with text in embedded fonts or as shapes."""

import base64
import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

from gemmviz.model.messages import GemmvizError, tr
from gemmviz.render.encoding import encode_png, legible, xml_attribute, xml_text
from gemmviz.scenes.kit.primitives import (
    ANCHORED,
    CAP_HEIGHT,
    Anchor,
    Cells,
    Face,
    Labels,
    Lines,
    Primitive,
    Rects,
    Scene,
    Squares,
    bundled_font,
    font_path,
    is_wide,
    text_width,
    wide_characters,
)
from gemmviz.scenes.kit.theme import channels

# The font of the system for characters that the bundled fonts don't have, and the glyphs of it that a file embeds.

_PACKAGES = "fonts-noto-cjk or fonts-wqy-microhei (Debian, Ubuntu), google-noto-sans-cjk-fonts (Fedora), noto-fonts-cjk (Arch)"
_FONT_FOLDERS = {
    "win32": (Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts",),
    "darwin": (Path("/System/Library/Fonts"), Path("/Library/Fonts")),
}
_UNIX = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".local/share/fonts")
_FONT_NAMES = (
    "NotoSansCJK-Regular*", "NotoSansCJKsc-Regular*", "NotoSansSC*", "SourceHanSansSC-Regular*", "wqy-microhei*", "wqy-zenhei*",
    "DroidSansFallback*", "msyh.*", "simhei*", "simsun*", "PingFang*", "Hiragino Sans GB*", "STHeiti Light*",
)  # fmt: skip


@cache
def system_font() -> TTFont:
    """The font with Chinese characters. Raises GemmvizError, which names what to install, if the system has none."""
    return open_system_font()


def open_system_font() -> TTFont:
    """The same font, opened anew, for callers that change it."""
    return TTFont(_font_path(), fontNumber=0)


@cache
def _font_path() -> Path:
    for path in (*_from_fontconfig(), *_in_folders()):
        try:
            if ord("线") in TTFont(path, fontNumber=0).getBestCmap():
                return path
        except Exception:  # fontTools raises many kinds of errors for damaged tables
            continue
    missing = tr("this system has no font with Chinese characters")
    raise GemmvizError(missing, remedy=tr("install {fonts}", fonts=_PACKAGES))


def _from_fontconfig() -> list[Path]:
    """What fontconfig chooses, if it is installed."""
    command = ["fc-match", "--format=%{file}", "sans-serif:lang=zh-cn"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [Path(done.stdout)] if done.stdout and Path(done.stdout).is_file() else []


def _in_folders() -> list[Path]:
    """Known fonts in the system's folders, the best first."""
    folders = [folder for folder in _FONT_FOLDERS.get(sys.platform, _UNIX) if folder.is_dir()]
    return [path for name in _FONT_NAMES for folder in folders for path in sorted(folder.rglob(name))]


Letters = Literal["fonts", "named", "inherited", "outlines"]
_MOST_VECTOR_CELLS = 256 * 256
WideFace = Literal["wide"]
_WIDE_FAMILY = "gemmviz-wide"
_FAMILY: dict[Face, str] = {"regular": "gemmviz", "semibold": "gemmviz-semibold", "mono": "gemmviz-mono"}


class _Writer:
    """The text of a document: in embedded fonts, in fonts of the reader, or as shapes."""

    def __init__(self, letters: Letters, families: Mapping[Face, str], has_wide: bool) -> None:
        self.letters, self.families, self.has_wide = letters, families, has_wide

    def family(self, face: Face) -> str:
        """The font family, with the nearest fallback for programs that can't read embedded fonts."""
        if self.letters == "named":
            return self.families[face] + ('" font-weight="600' if face == "semibold" else "")
        fallback = "monospace" if face == "mono" else "sans-serif"
        more = f", {_WIDE_FAMILY}" if self.has_wide else ""
        return f"{self.families[face]}{more}, {fallback}" + ('" font-weight="600' if face == "semibold" else "")

    def texts(self, at: Iterable[tuple[float, float]], texts: Iterable[str], size: float, anchor: Anchor, face: Face) -> str:
        """Return texts of one kind in the colour of their group."""
        placed = zip(at, map(legible, texts), strict=True)
        if self.letters == "outlines":
            return "".join(_outlined(x, y, text, size, anchor, face) for (x, y), text in placed if text)
        return "".join(
            f'<text x="{_n(x)}" y="{_n(y)}"{_length_attribute(text, size, face)}>{xml_text(text)}</text>'
            for (x, y), text in placed
            if text
        )

    def group(self, content: str, colour: str, size: float, anchor: Anchor, face: Face) -> str:
        if not content:
            return ""
        if self.letters == "outlines":
            return f'<g fill="{colour}">{content}</g>'
        if self.letters == "inherited":
            return f'<g fill="{colour}"{self._changed(size, anchor, face)}>{content}</g>'
        style = f'font-family="{self.family(face)}" font-size="{_n(size)}" text-anchor="{anchor}" xml:space="preserve"'
        return f'<g fill="{colour}" {style}>{content}</g>'

    def _changed(self, size: float, anchor: Anchor, face: Face) -> str:
        """The attributes of a group that differ from those of the document: regular, from its start."""
        weight = ' font-weight="600"' if face == "semibold" else ""
        family = f' font-family="{self.families[face]}"' if face == "mono" else ""
        anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
        return f' font-size="{_n(size)}"{family}{weight}{anchored}'


def _length_attribute(text: str, size: float, face: Face) -> str:
    """Return the length attribute of a text, with which a reader fits another font."""
    if len(text) < 2:
        return ""
    return f' textLength="{_n(text_width(text, size, face))}" lengthAdjust="spacingAndGlyphs"'


def _outlined(x: float, y: float, text: str, size: float, anchor: Anchor, face: Face) -> str:

    path, units = text_outline(text, face)
    left, scale = x - ANCHORED[anchor] * text_width(text, size, face), f"{size / units:.6g}"
    return f'<path transform="translate({_n(left)} {_n(y)}) scale({scale} -{scale})" d="{path}"/>' if path else ""


def scene_svg(
    scene: Scene, letters: Letters = "fonts", *, is_transparent: bool = False, families: Mapping[Face, str] | None = None
) -> str:
    """Return the SVG document of a scene. Each primitive is a group whose id is its key. Its title and description are read by
    screen readers instead of its texts.

    ``letters``: text in "fonts" that are embedded, in "named" fonts of these ``families``, or as "outlines".
    """
    scene = scene.clear if is_transparent else scene
    width, height = _n(scene.width), _n(scene.height)
    groups = scene_groups(scene, letters, families or _FAMILY)
    fonts = f"<style>{font_faces(scene.all)}</style>\n" if letters == "fonts" else ""
    ground = "" if is_transparent else f'<rect width="{width}" height="{height}" fill="{scene.background}"/>\n'
    role, words = _title_elements(scene)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"{role}>\n'
        f"{words}{fonts}{ground}{groups}</svg>\n"
    )


def scene_groups(scene: Scene, letters: Letters, families: Mapping[Face, str], *, has_ids: bool = True) -> str:
    """Return the primitives of a scene as SVG, each a group whose id is its key if ``has_ids``."""
    writer = _Writer(letters, families, letters == "fonts" and bool(_wide_in(_characters(scene.all))))
    groups = ((each.key, _SVG_WRITERS[type(each)](each, writer)) for each in scene.all)
    return "".join(f"<g id={xml_attribute(key)}>{content}</g>\n" if has_ids else content for key, content in groups)


def _title_elements(scene: Scene) -> tuple[str, str]:
    """Return the attributes that refer to the title and the description of a scene, and their elements; nothing without them.
    Their ids follow from the words, so that several pictures on a page don't share one.
    """
    if not scene.title:
        return "", ""
    number = hashlib.sha256(f"{scene.title}\n{scene.description}".encode()).hexdigest()[:12]
    parts = [("title", scene.title), *([("desc", scene.description)] if scene.description else [])]
    ids = " ".join(f"{name}-{number}" for name, _ in parts)
    elements = "".join(f'<{name} id="{name}-{number}">{xml_text(text)}</{name}>\n' for name, text in parts)
    return f' role="img" aria-labelledby="{ids}"', elements


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _cells_svg(cells: Cells, writer: _Writer) -> str:
    """Return one path per colour: cells as squares, joined if no line separates them. Very many cells become an image."""
    if cells.fill.size > _MOST_VECTOR_CELLS:
        return _image(cells)
    parts = []
    gap = cells.gap
    high = _n(cells.pitch - gap)
    starts = np.ones(cells.fill.shape, bool)
    if not gap:
        starts[:, 1:] = cells.fill[:, 1:] != cells.fill[:, :-1]
    rows, columns = np.nonzero(starts)
    lengths = np.diff(np.append(np.flatnonzero(starts), cells.fill.size))
    entries = cells.fill[rows, columns]
    for entry in np.unique(entries).tolist():
        chosen = entries == entry
        x, y = cells.x + columns[chosen] * cells.size + gap / 2, cells.y + rows[chosen] * cells.pitch + gap / 2
        sides = lengths[chosen] * cells.size - gap
        boxes = zip(x.tolist(), y.tolist(), sides.tolist(), strict=True)
        path = "".join(f"M{_n(x)} {_n(y)}h{_n(side)}v{high}h-{_n(side)}z" for x, y, side in boxes)
        parts.append(f'<path fill="{cells.palette[entry]}" d="{path}"/>')
    return "".join(parts) + _cell_labels(cells, writer)


def _cell_labels(cells: Cells, writer: _Writer) -> str:
    if cells.labels is None:
        return ""
    parts = []
    for entry in np.unique(cells.fill).tolist():
        rows, columns = np.nonzero((cells.fill == entry) & (cells.labels != ""))
        x = cells.x + (columns + 0.5) * cells.size
        y = cells.y + (rows + 0.5) * cells.pitch + CAP_HEIGHT * cells.label_size / 2
        at, texts = zip(x.tolist(), y.tolist(), strict=True), cells.labels[rows, columns].tolist()
        content = writer.texts(at, texts, cells.label_size, "middle", "regular")
        parts.append(writer.group(content, cells.inks[entry], cells.label_size, "middle", "regular"))
    return "".join(parts)


def _rects_svg(rects: Rects, writer: _Writer) -> str:
    fill, radius = rects.fill or "none", f' rx="{_n(rects.radius)}"' if rects.radius else ""
    stroke = f' stroke="{rects.stroke}" stroke-width="{_n(rects.stroke_width)}"' if rects.stroke else ""
    return "".join(
        f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}"{radius} fill="{fill}"{stroke}/>'
        for x, y, w, h in rects.boxes.tolist()
    )


def _lines_svg(lines: Lines, writer: _Writer) -> str:
    dash = f' stroke-dasharray="{_n(lines.width * 3)} {_n(lines.width * 4)}"' if lines.dashed else ""
    path = "".join(f"M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}" for x1, y1, x2, y2 in lines.segments.tolist())
    return f'<path d="{path}" stroke="{lines.stroke}" stroke-width="{_n(lines.width)}"{dash} fill="none"/>'


def _labels_svg(labels: Labels, writer: _Writer) -> str:
    content = writer.texts(map(tuple, labels.at.tolist()), labels.texts, labels.size, labels.anchor, labels.face)
    return writer.group(content, labels.colour, labels.size, labels.anchor, labels.face)


def _image(cells: Cells) -> str:
    colours = np.array([channels(colour) for colour in cells.palette], np.uint8)
    data = base64.b64encode(encode_png(colours[cells.fill])).decode()
    x, y, width, height = (_n(part) for part in cells.box)
    return (
        f'<image x="{x}" y="{y}" width="{width}" height="{height}" '
        f'preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


def _squares_svg(squares: Squares, writer: _Writer) -> str:
    stroke = f' stroke="{squares.line}"' if squares.line else ""
    parts = [
        f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(side)}" height="{_n(side)}" fill="{squares.palette[entry]}"{stroke}/>'
        for (x, y, side), entry in zip(squares.boxes.tolist(), squares.fill.tolist(), strict=True)
    ]
    if squares.labels is not None:
        for (x, y, side), entry, text in zip(
            squares.boxes.tolist(), squares.fill.tolist(), squares.labels.tolist(), strict=True
        ):
            at = x + side / 2, y + side / 2 + CAP_HEIGHT * squares.label_size / 2
            content = writer.texts([at], [text], squares.label_size, "middle", "regular")
            parts.append(writer.group(content, squares.inks[entry], squares.label_size, "middle", "regular"))
    return "".join(parts)


_SVG_WRITERS: dict[type, Callable[[Any, _Writer], str]] = {
    Cells: _cells_svg,
    Rects: _rects_svg,
    Lines: _lines_svg,
    Labels: _labels_svg,
    Squares: _squares_svg,
}


def font_faces(primitives: Iterable[Primitive]) -> str:
    """Return @font-face rules with only the glyphs that the primitives use."""
    return "".join(_font_face(face, data) for face, data in subset_fonts(primitives).items())


def _font_face(face: Face | WideFace, data: bytes) -> str:
    family, weight = _WIDE_FAMILY if face == "wide" else _FAMILY[face], 600 if face == "semibold" else 400
    source = f"url(data:font/otf;base64,{base64.b64encode(data).decode()})"
    return f'@font-face{{font-family:"{family}";font-weight:{weight};src:{source}}}'


def subset_fonts(primitives: Iterable[Primitive]) -> dict[Face | WideFace, bytes]:
    """Return the fonts of some primitives as OpenType data, with only the glyphs that they use: those of the faces, and "wide"
    from a font of the system if there are wide characters. Raises GemmvizError if the system has no such font.
    """
    used = _characters(primitives)
    fonts: dict[Face | WideFace, bytes] = {face: _subset(face, "".join(sorted(used[face]))) for face in sorted(used)}
    wide = _wide_in(used)
    return {**fonts, "wide": _wide_subset(wide)} if wide else fonts


def _wide_in(used: Mapping[Face, set[str]]) -> str:
    return wide_characters("".join(sorted(set[str]().union(*used.values()))))


def _characters(primitives: Iterable[Primitive]) -> dict[Face, set[str]]:
    """Return the characters of each face."""
    used: dict[Face, set[str]] = {}
    for primitive in primitives:
        if isinstance(primitive, Labels):
            used.setdefault(primitive.face, set()).update(legible("".join(primitive.texts)))
        elif isinstance(primitive, Cells | Squares) and primitive.labels is not None:
            used.setdefault("regular", set()).update(legible("".join(np.unique(primitive.labels).tolist())))
    return used


_DROPPED = {"FFTM", "GDEF", "GPOS", "GSUB"}  # tables of which nothing is left without features


@lru_cache(maxsize=64)
def _subset(face: Face, characters: str) -> bytes:
    from fontTools.subset import load_font  # imported here because loading takes longer than drawing a picture

    try:
        font = load_font(str(font_path(face)), _subset_options())
    except Exception:  # fontTools raises many kinds of errors for damaged tables
        bundled_font(face)  # says which file is damaged
        raise
    return _cut_down(font, characters)


@lru_cache(maxsize=16)
def _wide_subset(characters: str) -> bytes:
    return _cut_down(open_system_font(), characters)


def _subset_options() -> Any:
    from fontTools.subset import Options

    return Options(layout_features=[], hinting=False, notdef_outline=True)


def _cut_down(font: Any, characters: str) -> bytes:
    """Return a font with only these characters."""
    from fontTools import subset

    for tag in _DROPPED & set(font.keys()):
        del font[tag]  # fontTools would read them first, which takes longer than all else
    chosen = subset.Subsetter(_subset_options())
    chosen.populate(text=characters)
    chosen.subset(font)
    font["head"].modified = font["head"].created
    font.recalcTimestamp = False
    buffer = io.BytesIO()
    font.save(buffer)
    return buffer.getvalue()


# Text as shapes, from the bundled fonts.


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
