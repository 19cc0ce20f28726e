"""Writes a scene as SVG: shapes are vectors, text is text in the bundled font, which travels inside the file."""

import base64
import io
from collections.abc import Callable, Iterable
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from gemmviz.render.png import encode_png
from gemmviz.scenes.primitives import Cells, Face, Labels, Lines, Primitive, Rects, Scene, Squares
from gemmviz.scenes.text import CAP_HEIGHT, font_path, text_width
from gemmviz.scenes.theme import channels

_MOST_VECTOR_CELLS = 256 * 256
_FAMILY: dict[Face, str] = {"regular": "gemmviz", "semibold": "gemmviz-semibold", "mono": "gemmviz-mono"}


def _family(face: Face) -> str:
    """The embedded font, and for programs that can't read it the nearest of their own."""
    fallback = "monospace" if face == "mono" else "sans-serif"
    return f"{_FAMILY[face]}, {fallback}" + ('" font-weight="600' if face == "semibold" else "")


def scene_svg(scene: Scene) -> str:
    """The SVG document of a scene; each primitive is a group whose id is its key."""
    size = f"{_n(scene.width)} {_n(scene.height)}"
    groups = "".join(f"<g id={quoteattr(p.key)}>{_WRITERS[type(p)](p)}</g>\n" for p in scene.all)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
        f'width="{_n(scene.width)}" height="{_n(scene.height)}">\n'
        f"<style>{_font_faces(scene.all)}</style>\n"
        f'<rect width="100%" height="100%" fill="{scene.background}"/>\n{groups}</svg>\n'
    )


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _cells(cells: Cells) -> str:
    """One path a colour: its cells as squares, those that no line parts as one; an image where there are very many."""
    if cells.fill.size > _MOST_VECTOR_CELLS:
        return _image(cells)
    parts = []
    gap = min(1.0, cells.size * 0.05) if cells.line else 0.0
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
    return "".join(parts) + _cell_labels(cells)


def _cell_labels(cells: Cells) -> str:
    if cells.labels is None:
        return ""
    parts = []
    for entry in np.unique(cells.fill).tolist():
        rows, columns = np.nonzero((cells.fill == entry) & (cells.labels != ""))
        texts = "".join(
            f'<text x="{_n(cells.x + (column + 0.5) * cells.size)}" '
            f'y="{_n(cells.y + (row + 0.5) * cells.pitch + CAP_HEIGHT * cells.label_size / 2)}">'
            f"{escape(str(cells.labels[row, column]))}</text>"
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        )
        style = f'fill="{cells.inks[entry]}" font-size="{_n(cells.label_size)}" text-anchor="middle"'
        parts.append(f'<g font-family="{_family("regular")}" {style}>{texts}</g>' if texts else "")
    return "".join(parts)


def _rects(rects: Rects) -> str:
    fill, radius = rects.fill or "none", f' rx="{_n(rects.radius)}"' if rects.radius else ""
    stroke = f' stroke="{rects.stroke}" stroke-width="{_n(rects.stroke_width)}"' if rects.stroke else ""
    return "".join(
        f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}"{radius} fill="{fill}"{stroke}/>'
        for x, y, w, h in rects.boxes.tolist()
    )


def _lines(lines: Lines) -> str:
    dash = f' stroke-dasharray="{_n(lines.width * 3)} {_n(lines.width * 4)}"' if lines.dashed else ""
    path = "".join(f"M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}" for x1, y1, x2, y2 in lines.segments.tolist())
    return f'<path d="{path}" stroke="{lines.stroke}" stroke-width="{_n(lines.width)}"{dash} fill="none"/>'


def _labels(labels: Labels) -> str:
    style = (
        f'font-family="{_family(labels.face)}" font-size="{_n(labels.size)}" fill="{labels.colour}" '
        f'text-anchor="{labels.anchor}" xml:space="preserve"'
    )
    return "".join(
        f'<text x="{_n(x)}" y="{_n(y)}" textLength="{_n(text_width(text, labels.size, labels.face))}" '
        f'lengthAdjust="spacingAndGlyphs" {style}>{escape(text)}</text>'
        for (x, y), text in zip(labels.at.tolist(), labels.texts, strict=True)
        if text
    )


def _image(cells: Cells) -> str:
    colours = np.array([channels(colour) for colour in cells.palette], np.uint8)
    data = base64.b64encode(encode_png(colours[cells.fill])).decode()
    x, y, width, height = (_n(part) for part in cells.box)
    return (
        f'<image x="{x}" y="{y}" width="{width}" height="{height}" '
        f'preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


def _squares(squares: Squares) -> str:
    stroke = f' stroke="{squares.line}"' if squares.line else ""
    parts = [
        f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(side)}" height="{_n(side)}" fill="{squares.palette[entry]}"{stroke}/>'
        for (x, y, side), entry in zip(squares.boxes.tolist(), squares.fill.tolist(), strict=True)
    ]
    if squares.labels is not None:
        style = f'font-family="{_family("regular")}" font-size="{_n(squares.label_size)}" text-anchor="middle"'
        parts += [
            f'<text x="{_n(x + side / 2)}" y="{_n(y + side / 2 + CAP_HEIGHT * squares.label_size / 2)}" '
            f'fill="{squares.inks[entry]}" {style}>{escape(text)}</text>'
            for (x, y, side), entry, text in zip(
                squares.boxes.tolist(), squares.fill.tolist(), squares.labels.tolist(), strict=True
            )
        ]
    return "".join(parts)


_WRITERS: dict[type, Callable[[Any], str]] = {
    Cells: _cells,
    Rects: _rects,
    Lines: _lines,
    Labels: _labels,
    Squares: _squares,
}


def _font_faces(primitives: Iterable[Primitive]) -> str:
    """@font-face rules with just the glyphs that the scene uses."""
    used: dict[Face, set[str]] = {}
    for primitive in primitives:
        if isinstance(primitive, Labels):
            used.setdefault(primitive.face, set()).update("".join(primitive.texts))
        elif isinstance(primitive, Cells | Squares) and primitive.labels is not None:
            used.setdefault("regular", set()).update("".join(np.unique(primitive.labels).tolist()))
    return "".join(_font_face(face, "".join(sorted(used[face]))) for face in sorted(used))


def _font_face(face: Face, characters: str) -> str:
    from fontTools import subset  # takes longer to load than a picture to draw

    options = subset.Options(layout_features=[], hinting=False, notdef_outline=True)
    font = subset.load_font(str(font_path(face)), options)
    chosen = subset.Subsetter(options)
    chosen.populate(text=characters)
    chosen.subset(font)
    font["head"].modified = font["head"].created
    font.recalcTimestamp = False
    buffer = io.BytesIO()
    font.save(buffer)
    data = base64.b64encode(buffer.getvalue()).decode()
    weight = 600 if face == "semibold" else 400
    source = f"url(data:font/otf;base64,{data})"
    return f'@font-face{{font-family:"{_FAMILY[face]}";font-weight:{weight};src:{source}}}'
