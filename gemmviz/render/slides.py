"""Pictures as slides of a presentation, with python-pptx."""

import io
import zipfile
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pptx
from pptx.dml.color import RGBColor
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Emu

from gemmviz.render.film import MP4, save_film
from gemmviz.render.format import RenderOptions
from gemmviz.render.png import encode_png
from gemmviz.render.qt.libraries import require_qt
from gemmviz.render.reel import Frame, Reel, Slide
from gemmviz.render.shapes import NAMESPACES, Shapes, shape_count
from gemmviz.render.svg import scene_svg
from gemmviz.render.xml import legible

_INCH = 914_400
_HIGH = 7.5  # inches
_MOST_SHAPES = 900  # slides with more shapes are slow to open and hard to edit
_AHEAD = 2  # pictures that wait to be compressed
_LONGEST_TITLE = 255  # python-pptx refuses longer ones
_BLANK = 6  # the layout without placeholders
_DATE = datetime(2000, 1, 1)
_ZIP_DATE = (2000, 1, 1, 0, 0, 0)
_SVG_EXTENSION = "{96DAC541-7B7A-43D3-8B79-37D633B846F1}"  # [MS-ODRAWXML], 2.3.2: svgBlip
_SVG_NAMESPACE = "http://schemas.microsoft.com/office/drawing/2016/SVG/main"
_NUMBER = (
    '<p:txBody><a:bodyPr wrap="none" lIns="0" tIns="0" rIns="0" bIns="0"/><a:p><a:pPr algn="r"/>'
    '<a:fld id="{{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}}" type="slidenum"><a:rPr lang="en-US" sz="800">'
    '<a:solidFill><a:srgbClr val="808890"/></a:solidFill><a:latin typeface="Arial"/></a:rPr>'
    "<a:t>{number}</a:t></a:fld></a:p></p:txBody>"
)


def write_slides(reel: Reel, path: Path, options: RenderOptions) -> None:
    """Write a slide for each picture, and one with the film if requested. The same reel gives the same bytes."""
    deck = _Deck(reel, options)
    with ThreadPoolExecutor(1, thread_name_prefix="gemmviz-png") as beside:
        waiting: deque[tuple[Slide, Future[bytes] | None]] = deque()
        for slide in reel.slides():
            is_drawn = shape_count(slide.scene) <= _MOST_SHAPES
            waiting.append(
                (slide, None if is_drawn else beside.submit(encode_png, deck.painted(Frame(slide.scene)), quick=True))
            )
            if len(waiting) > _AHEAD:
                deck.add(*waiting.popleft())
        for content, pixels in waiting:
            deck.add(content, pixels)
    if options.has_film:
        deck.add_film()
    deck.write(path)


class _Deck:
    """A presentation that is being written."""

    def __init__(self, reel: Reel, options: RenderOptions) -> None:
        self._reel, self._look = reel, options
        self._file = pptx.Presentation()
        self._file.slide_height, self._file.slide_width = Emu(round(_HIGH * _INCH)), Emu(_width(options))
        about = self._file.core_properties
        about.title, about.author, about.last_modified_by = legible(reel.name)[:_LONGEST_TITLE], "gemmviz", "gemmviz"
        about.created = about.modified = _DATE
        self._raster: Any = None

    def add(self, content: Slide, pixels: "Future[bytes] | None") -> None:
        """Add a slide. ``pixels``: the picture as PNG if the slide is not made of shapes."""
        slide, scene = self._page(), content.scene
        ground = slide.background.fill
        ground.solid()
        colour: Any = RGBColor
        ground.fore_color.rgb = colour.from_string(scene.background[1:])
        unit = _HIGH * _INCH / scene.height
        if pixels is None:
            title, words = legible(content.title), legible(_alternative(content))
            _append(slide, Shapes(unit, 10).group(scene, title, words))
        else:
            self._add_picture(slide, content, pixels.result())
        if content.notes or content.caption:
            words = "\n\n".join(filter(None, (content.title, content.caption, content.notes, scene.description)))
            slide.notes_slide.notes_text_frame.text = legible(words)
        self._add_number(slide)

    def _page(self) -> Any:
        slide = self._file.slides.add_slide(self._file.slide_layouts[_BLANK])
        slide.shapes.turbo_add_enabled = True
        return slide

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

    def painted(self, frame: Frame) -> "npt.NDArray[np.uint8]":
        """Return the pixels of a picture."""
        if self._raster is None:
            require_qt()
            from gemmviz.render.qt.raster import Raster

            self._raster = Raster(self._look)
        pixels: npt.NDArray[np.uint8] = self._raster.array(frame)
        return pixels

    def _add_number(self, slide: Any) -> None:
        number = _NUMBER.format(number=len(self._file.slides))
        wide, high = self._file.slide_width / _INCH, _HIGH
        _append(slide, Shapes(_INCH, 5).box("Slide number", wide - 0.31, high - 0.4, 0.27, 0.16, fill=None, text=number))

    def add_film(self) -> None:
        """Add the film, with its first picture as the poster."""
        slide = self._page()
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


def _alternative(content: Slide) -> str:
    """Return what a screen reader says for the picture of a slide."""
    return content.scene.description or content.caption or content.title


def _width(options: RenderOptions) -> int:
    return round(_HIGH * _INCH * options.width / options.height)


def _append(slide: Any, shapes: str) -> None:
    """Append shapes at the top of a slide."""
    spaces = " ".join(f'xmlns:{name}="{space}"' for name, space in NAMESPACES.items())
    tree = slide.shapes._spTree
    for each in pptx.oxml.parse_xml(f"<p:spTree {spaces}>{shapes}</p:spTree>"):
        tree.append(each)
