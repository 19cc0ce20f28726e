"""Pictures as slides of a presentation, with python-pptx."""

import dataclasses
import io
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pptx
from msgspec import structs
from pptx.dml.color import RGBColor
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Emu

from gemmviz.model.arrays import Bytes
from gemmviz.render.encoding import encode_png, legible, xml_attribute, xml_text
from gemmviz.render.film import MP4, save_film
from gemmviz.render.qt.libraries import require_qt
from gemmviz.render.reel import Frame, Reel, RenderOptions, Slide
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.kit.primitives import (
    ANCHORED,
    Anchor,
    Cells,
    Face,
    Labels,
    Lines,
    Primitive,
    Rects,
    Scene,
    Squares,
    text_width,
)

# A scene as DrawingML, the shapes of office programs (ECMA-376, part 1, chapter 20).

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
_ALIGNMENTS: dict[Anchor, str] = {"start": "l", "middle": "ctr", "end": "r"}
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
        return "".join("".join(_SHAPE_WRITERS[type(each)](self, each)) for each in scene.all)

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
            f'<a:noAutofit/></a:bodyPr><a:p><a:pPr algn="{_ALIGNMENTS[anchor]}"/><a:r>'
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


_SHAPE_WRITERS: dict[type, Callable[[Shapes, Any], Iterable[str]]] = {
    Cells: Shapes.cells,
    Rects: Shapes.rects,
    Lines: Shapes.lines,
    Labels: Shapes.labels,
    Squares: Shapes.squares,
}


_INCH = 914_400
_SLIDE_HEIGHT = 7.5  # inches
_MOST_SHAPES = 900  # slides with more shapes are slow to open and hard to edit
_PICTURES_AHEAD = 2  # pictures that wait to be compressed
_LONGEST_TITLE = 255  # python-pptx refuses longer ones
_TITLE_ONLY = 5  # the layout with a placeholder for the title, which outlines and screen readers use
_HIDDEN_HIGH = 0.5  # inches: height of a title above the slide, where PowerPoint puts those that are not seen
_DATE = datetime(2000, 1, 1)
_ZIP_DATE = (2000, 1, 1, 0, 0, 0)
_SVG_EXTENSION = "{96DAC541-7B7A-43D3-8B79-37D633B846F1}"  # [MS-ODRAWXML], 2.3.2: svgBlip
_SVG_NAMESPACE = "http://schemas.microsoft.com/office/drawing/2016/SVG/main"
_SLIDE_NUMBER = (
    '<p:txBody><a:bodyPr wrap="none" lIns="0" tIns="0" rIns="0" bIns="0"/><a:p><a:pPr algn="r"/>'
    '<a:fld id="{{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}}" type="slidenum"><a:rPr lang="en-US" sz="800">'
    '<a:solidFill><a:srgbClr val="808890"/></a:solidFill><a:latin typeface="Arial"/></a:rPr>'
    "<a:t>{number}</a:t></a:fld></a:p></p:txBody>"
)


def write_slides(reel: Reel, path: Path, options: RenderOptions) -> None:
    """Write a slide for each picture, and one with the film if requested. The same reel gives the same bytes."""
    deck = _Deck(reel, options)
    with ThreadPoolExecutor(1, thread_name_prefix="gemmviz-png") as beside:
        waiting: deque[tuple[Slide, Labels | None, Future[bytes] | None]] = deque()
        for slide in reel.slides():
            slide, title = _without_title(slide)
            is_drawn = shape_count(slide.scene) <= _MOST_SHAPES
            waiting.append(
                (slide, title, None if is_drawn else beside.submit(encode_png, deck.painted(Frame(slide.scene)), quick=True))
            )
            if len(waiting) > _PICTURES_AHEAD:
                deck.add(*waiting.popleft())
        for each in waiting:
            deck.add(*each)
    if options.has_film:
        deck.add_film()
    deck.write(path)


class _Deck:
    """A presentation that is being written."""

    def __init__(self, reel: Reel, options: RenderOptions) -> None:
        self._reel, self._look = reel, options
        self._file = pptx.Presentation()
        self._file.slide_height, self._file.slide_width = Emu(round(_SLIDE_HEIGHT * _INCH)), Emu(_slide_width(options))
        about = self._file.core_properties
        about.title, about.author, about.last_modified_by = legible(reel.name)[:_LONGEST_TITLE], "gemmviz", "gemmviz"
        about.created = about.modified = _DATE
        self._raster: Any = None

    def add(self, content: Slide, title: Labels | None, pixels: "Future[bytes] | None") -> None:
        """Add a slide. ``title``: where its title is drawn; ``pixels``: the picture as PNG if it is not made of shapes."""
        slide, scene = self._page(), content.scene
        ground = slide.background.fill
        ground.solid()
        colour: Any = RGBColor
        ground.fore_color.rgb = colour.from_string(scene.background[1:])
        unit = _SLIDE_HEIGHT * _INCH / scene.height
        if pixels is None:
            _append(slide, Shapes(unit, 10).group(scene, legible(content.title), legible(_alternative(content))))
        else:
            self._add_picture(slide, content, pixels.result())
        if content.notes or content.caption:
            words = "\n\n".join(filter(None, (content.title, content.caption, content.notes, scene.description)))
            slide.notes_slide.notes_text_frame.text = legible(words)
        self._add_title(slide, legible(content.title), title, scene)
        self._add_number(slide)

    def _page(self) -> Any:
        slide = self._file.slides.add_slide(self._file.slide_layouts[_TITLE_ONLY])
        slide.shapes.turbo_add_enabled = True
        return slide

    def _add_title(self, slide: Any, text: str, drawn: Labels | None, scene: Scene | None) -> None:
        """Write the title of a slide where the picture has it, else above the slide, and in front of everything."""
        holder = slide.shapes.title._element
        slide.shapes._spTree.append(holder)  # moves it to the front
        if drawn is None or scene is None:
            slide.shapes.title.text = text
            holder.x, holder.y = 0, Emu(round(-_HIDDEN_HIGH * _INCH))
            holder.cx, holder.cy = self._file.slide_width, Emu(round(_HIDDEN_HIGH * _INCH))
            return
        (x, y), unit = drawn.at[0].tolist(), _SLIDE_HEIGHT * _INCH / scene.height
        holder.x, holder.y = Emu(round(x * unit)), Emu(round((y - _ASCENT * drawn.size) * unit))
        holder.cx = Emu(round((scene.width - 2 * x) * unit))
        holder.cy = Emu(round(_HEIGHT * drawn.size * len(drawn.texts) * unit))
        words = Shapes(unit, 2).text(text, drawn.size, drawn.colour, drawn.anchor, drawn.face).replace('"none"', '"square"', 1)
        spaces = " ".join(f'xmlns:{name}="{space}"' for name, space in NAMESPACES.items())
        holder.replace(holder.txBody, pptx.oxml.parse_xml(words.replace("<p:txBody>", f"<p:txBody {spaces}>", 1)))

    def _add_picture(self, slide: Any, content: Slide, pixels: bytes) -> None:
        """Add a picture as vectors, with pixels for programs that can't read them."""
        size = self._file.slide_width, self._file.slide_height
        picture = slide.shapes.add_picture(io.BytesIO(pixels), 0, 0, *size)
        picture.name = legible(content.title)
        picture._element.nvPicPr.cNvPr.attrib["descr"] = legible(_alternative(content))
        name = PackURI(f"/ppt/media/picture{len(self._file.slides)}.svg")
        vectors = Part(name, "image/svg+xml", slide.part.package, scene_svg(content.scene, "outlines").encode())
        number = slide.part.relate_to(vectors, RELATIONSHIP_TYPE.IMAGE)
        blip = picture._element.find(".//a:blip", NAMESPACES)
        blip.append(pptx.oxml.parse_xml(
            f'<a:extLst xmlns:a="{NAMESPACES["a"]}" xmlns:r="{NAMESPACES["r"]}"><a:ext uri="{_SVG_EXTENSION}">'
            f'<asvg:svgBlip xmlns:asvg="{_SVG_NAMESPACE}" r:embed="{number}"/></a:ext></a:extLst>'
        ))  # fmt: skip

    def painted(self, frame: Frame) -> "Bytes":
        """Return the pixels of a picture."""
        if self._raster is None:
            require_qt()
            from gemmviz.render.qt.raster import Raster

            self._raster = Raster(self._look)
        pixels: Bytes = self._raster.array(frame)
        return pixels

    def _add_number(self, slide: Any) -> None:
        number = _SLIDE_NUMBER.format(number=len(self._file.slides))
        width, height = self._file.slide_width / _INCH, _SLIDE_HEIGHT
        _append(slide, Shapes(_INCH, 5).box("Slide number", width - 0.31, height - 0.4, 0.27, 0.16, fill=None, text=number))

    def add_film(self) -> None:
        """Add the film, with its first picture as the poster."""
        slide = self._page()
        self._add_title(slide, legible(self._reel.name), None, None)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "film.mp4"
            save_film(self._reel, path, self._look, MP4)
            poster = io.BytesIO(encode_png(self.painted(next(self._reel.frames(self._look.fps)))))
            size = self._file.slide_width, self._file.slide_height
            slide.shapes.add_movie(str(path), 0, 0, *size, poster_frame_image=poster, mime_type="video/mp4")

    def write(self, path: Path) -> None:
        """Write the file, with constant dates."""
        written = io.BytesIO()
        self._file.save(written)
        with zipfile.ZipFile(written) as parts, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
            for part in parts.infolist():
                kind = zipfile.ZIP_STORED if part.filename.endswith((".png", ".mp4")) else zipfile.ZIP_DEFLATED
                target.writestr(zipfile.ZipInfo(part.filename, _ZIP_DATE), parts.read(part), kind)


def _without_title(slide: Slide) -> tuple[Slide, Labels | None]:
    """Return a slide whose picture lacks its title, and the title, which is written as that of the slide."""
    words = slide.scene.words
    drawn = (each for each in words if isinstance(each, Labels) and each.meaning == "title")
    title = next((each for each in drawn if "".join(each.texts).replace(" ", "") == slide.title.replace(" ", "")), None)
    if title is None:
        return slide, None
    kept = dataclasses.replace(slide.scene, words=tuple(each for each in words if each is not title))
    return structs.replace(slide, scene=kept), title


def _alternative(content: Slide) -> str:
    """Return what a screen reader says for the picture of a slide."""
    return content.scene.description or content.caption or content.title


def _slide_width(options: RenderOptions) -> int:
    return round(_SLIDE_HEIGHT * _INCH * options.width / options.height)


def _append(slide: Any, shapes: str) -> None:
    """Append shapes at the top of a slide."""
    spaces = " ".join(f'xmlns:{name}="{space}"' for name, space in NAMESPACES.items())
    tree = slide.shapes._spTree
    for each in pptx.oxml.parse_xml(f"<p:spTree {spaces}>{shapes}</p:spTree>"):
        tree.append(each)
