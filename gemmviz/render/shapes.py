"""A scene as DrawingML, the shapes of office programs (ECMA-376, part 1, chapter 20)."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

from gemmviz.render.xml import xml_attribute, xml_text
from gemmviz.scenes.kit.primitives import ANCHORED, Anchor, Cells, Face, Labels, Lines, Primitive, Rects, Scene, Squares
from gemmviz.scenes.kit.text import text_width

NAMESPACES = {
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
}
# Fonts of office programs. They are narrower than the bundled ones, so that text that fits here fits there.
_FONTS: dict[Face, tuple[str, str, float]] = {
    "regular": ("Arial", "", 1.0),
    "semibold": ("Arial", ' b="1"', 0.96),
    "mono": ("Courier New", "", 0.98),
}
_ASCENT, _HEIGHT = 0.905, 1.15  # of the font size: height above the baseline, and total height
_ALIGNED: dict[Anchor, str] = {"start": "l", "middle": "ctr", "end": "r"}
_WIDER = 1.15  # times the width of the text, so that text in another font fits


def shape_count(scene: Scene) -> int:
    """Return the number of shapes of a scene."""
    return sum(_count(each) for each in scene.all)


def _count(each: Primitive) -> int:
    match each:
        case Cells():
            return int(each.fill.size)
        case Labels():
            return len(each.texts)
        case Lines():
            return 1
    return len(each.boxes)


class Shapes:
    """A writer of shapes, named after the keys of their primitives. ``unit``: EMU of a scene unit; an inch has 914400 EMU."""

    def __init__(self, unit: float, first: int) -> None:
        self._unit = unit
        self._numbers = count(first)

    def of(self, scene: Scene) -> str:
        """Return the shapes of a scene, from the bottom up."""
        return "".join("".join(_WRITERS[type(each)](self, each)) for each in scene.all)

    def group(self, scene: Scene, name: str, description: str) -> str:
        """Return the shapes of a scene as one group, which office programs read aloud as its description."""
        number, size = next(self._numbers), f'cx="{self._emu(scene.width)}" cy="{self._emu(scene.height)}"'
        about = f"name={xml_attribute(name)} descr={xml_attribute(description)}"
        return (
            f'<p:grpSp><p:nvGrpSpPr><p:cNvPr id="{number}" {about}/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm>'
            f'<a:off x="0" y="0"/><a:ext {size}/><a:chOff x="0" y="0"/><a:chExt {size}/></a:xfrm></p:grpSpPr>'
            f"{self.of(scene)}</p:grpSp>"
        )

    def box(
        self, name: str, x: float, y: float, width: float, height: float, *, fill: str | None, stroke: str | None = None,
        line: float = 1.0, geometry: str = "rect", radius: float = 0.0, text: str = "",
    ) -> str:  # fmt: skip
        inner = text or '<p:txBody><a:bodyPr/><a:p><a:endParaRPr lang="en-US"/></a:p></p:txBody>'
        kind = ' txBox="1"' if text and fill is None and stroke is None else ""
        outline = f'<a:ln w="{self._emu(line)}">{_solid(stroke)}</a:ln>' if stroke else "<a:ln><a:noFill/></a:ln>"
        share = round(100_000 * min(0.5, radius / min(width, height))) if min(width, height) else 0
        guides = f'<a:avLst><a:gd name="adj" fmla="val {share}"/></a:avLst>' if geometry == "roundRect" else "<a:avLst/>"
        return (
            f'<p:sp><p:nvSpPr><p:cNvPr id="{next(self._numbers)}" name={xml_attribute(name)}/><p:cNvSpPr{kind}/>'
            "<p:nvPr/></p:nvSpPr>"
            f"<p:spPr>{self._placed(x, y, width, height)}"
            f'<a:prstGeom prst="{geometry}">{guides}</a:prstGeom>{_solid(fill)}{outline}</p:spPr>{inner}</p:sp>'
        )

    def text(self, words: str, size: float, colour: str, anchor: Anchor, face: Face, middle: bool = False) -> str:
        name, strong, scale = _FONTS[face]
        points = round(100 * size * scale * self._unit / 12700)
        return (
            f'<p:txBody><a:bodyPr wrap="none" lIns="0" tIns="0" rIns="0" bIns="0" anchor="{"ctr" if middle else "t"}">'
            f'<a:noAutofit/></a:bodyPr><a:p><a:pPr algn="{_ALIGNED[anchor]}"/><a:r>'
            f'<a:rPr lang="en-US" sz="{max(100, points)}"{strong}>{_solid(colour)}<a:latin typeface="{name}"/></a:rPr>'
            f"<a:t>{xml_text(words)}</a:t></a:r></a:p></p:txBody>"
        )

    def cells(self, cells: Cells) -> Iterator[str]:
        rows, columns = cells.fill.shape
        gap = cells.gap
        for row in range(rows):
            for column in range(columns):
                entry = int(cells.fill[row, column])
                words = "" if cells.labels is None else str(cells.labels[row, column])
                x, y = cells.x + column * cells.size + gap / 2, cells.y + row * cells.pitch + gap / 2
                text = self.text(words, cells.label_size, cells.inks[entry], "middle", "regular", True) if words else ""
                fill = cells.palette[entry]
                yield self.box(cells.key, x, y, cells.size - gap, cells.pitch - gap, fill=fill, text=text)

    def squares(self, squares: Squares) -> Iterator[str]:
        for number, (x, y, side) in enumerate(squares.boxes.tolist()):
            entry, words = int(squares.fill[number]), "" if squares.labels is None else str(squares.labels[number])
            text = self.text(words, squares.label_size, squares.inks[entry], "middle", "regular", True) if words else ""
            yield self.box(squares.key, x, y, side, side, fill=squares.palette[entry], stroke=squares.line, text=text)

    def rects(self, rects: Rects) -> Iterator[str]:
        for x, y, width, height in rects.boxes.tolist():
            is_round = rects.radius and rects.radius >= min(width, height) / 2
            geometry = "ellipse" if is_round and width == height else "roundRect" if rects.radius else "rect"
            yield self.box(
                rects.key, x, y, width, height, fill=rects.fill, stroke=rects.stroke or None, line=rects.stroke_width,
                geometry=geometry, radius=rects.radius,
            )  # fmt: skip

    def labels(self, labels: Labels) -> Iterator[str]:
        for (x, y), words in zip(labels.at.tolist(), labels.texts, strict=True):
            if words:
                width = _WIDER * text_width(words, labels.size, labels.face)
                left, top = x - ANCHORED[labels.anchor] * width, y - _ASCENT * labels.size * _FONTS[labels.face][2]
                text = self.text(words, labels.size, labels.colour, labels.anchor, labels.face)
                yield self.box(labels.key, left, top, width, _HEIGHT * labels.size, fill=None, text=text)

    def lines(self, lines: Lines) -> Iterator[str]:
        """Return one shape for all lines."""
        if not len(lines.segments):
            return
        x0, y0 = float(lines.segments[:, ::2].min()), float(lines.segments[:, 1::2].min())
        width, height = float(lines.segments[:, ::2].max()) - x0, float(lines.segments[:, 1::2].max()) - y0
        path = "".join(
            f"<a:moveTo>{self._point(x1 - x0, y1 - y0)}</a:moveTo><a:lnTo>{self._point(x2 - x0, y2 - y0)}</a:lnTo>"
            for x1, y1, x2, y2 in lines.segments.tolist()
        )
        size = f'w="{max(1, self._emu(width))}" h="{max(1, self._emu(height))}"'
        dash = '<a:prstDash val="dash"/>' if lines.dashed else ""
        yield (
            f'<p:sp><p:nvSpPr><p:cNvPr id="{next(self._numbers)}" name={xml_attribute(lines.key)}/>'
            "<p:cNvSpPr/><p:nvPr/></p:nvSpPr>"
            f"<p:spPr>{self._placed(x0, y0, width, height)}<a:custGeom><a:avLst/><a:gdLst/><a:ahLst/><a:cxnLst/>"
            f'<a:rect l="0" t="0" r="r" b="b"/><a:pathLst><a:path {size} fill="none">{path}</a:path></a:pathLst></a:custGeom>'
            f'<a:noFill/><a:ln w="{self._emu(lines.width)}">{_solid(lines.stroke)}{dash}</a:ln></p:spPr></p:sp>'
        )

    def _emu(self, value: float) -> int:
        return round(value * self._unit)

    def _point(self, x: float, y: float) -> str:
        return f'<a:pt x="{self._emu(x)}" y="{self._emu(y)}"/>'

    def _placed(self, x: float, y: float, width: float, height: float) -> str:
        extent = f'cx="{max(0, self._emu(width))}" cy="{max(0, self._emu(height))}"'
        return f'<a:xfrm><a:off x="{self._emu(x)}" y="{self._emu(y)}"/><a:ext {extent}/></a:xfrm>'


def _solid(colour: str | None) -> str:
    return "<a:noFill/>" if colour is None else f'<a:solidFill><a:srgbClr val="{colour[1:7]}"/></a:solidFill>'


_WRITERS: dict[type, Callable[[Shapes, Any], Iterable[str]]] = {
    Cells: Shapes.cells,
    Rects: Shapes.rects,
    Lines: Shapes.lines,
    Labels: Shapes.labels,
    Squares: Shapes.squares,
}
