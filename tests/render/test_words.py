"""Exported pictures say in words what they show, as other programs read them."""

import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pptx
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication

from gemmviz.analysis.replay.focus import Position
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.render.export import save_reel
from gemmviz.render.reel import Reel, RenderOptions
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.kit.band import Caption
from gemmviz.shots.export import ExportOptions, Prepared, page_step, prepare, run_reel, slide_at, still_reel
from gemmviz.shots.shot import Shot, default_shot
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.reel import lesson_reel
from tests.conftest import once
from tests.render.test_formats import interpreter

_SVG = "{http://www.w3.org/2000/svg}"
_TITLE = "04_tiled: step 3 of 29, phase 1 of 2"
_SENTENCE = "16 threads each fetch one element of B, line 37; 1 request moves 4 sectors of 32 bytes: 2 needed, 2 lost."
_LOOK = RenderOptions(640, 360)


@pytest.fixture(scope="module")
def stage() -> Prepared:
    return prepare(Shot(setup_for(load_kernel("04_tiled")), at=Position(2)), interpreter)


def saved(reel: Reel, path: Path) -> Path:
    save_reel(reel, path, _LOOK)
    return path


def test_a_png_carries_its_description(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    with Image.open(saved(still_reel(stage, ExportOptions(_LOOK)), tmp_path / "f.png")) as image:
        image.load()
        assert image.text["Title"] == _TITLE  # type: ignore[attr-defined]
        assert image.text["Description"].startswith(_SENTENCE)  # type: ignore[attr-defined]
        packet = ElementTree.fromstring(image.text["XML:com.adobe.xmp"])  # type: ignore[attr-defined]
    (text,) = packet.iter("{http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/}AltTextAccessibility")
    assert "".join(text.itertext()).startswith(_SENTENCE)


def test_an_svg_is_an_image_with_title_and_description(stage: Prepared) -> None:
    scene = slide_at(stage, 2, ExportOptions(_LOOK)).scene
    root = ElementTree.fromstring(scene_svg(scene, "named", families={"regular": "a", "semibold": "a", "mono": "a"}))
    assert root.get("role") == "img"
    title, description = (root.find(f"{_SVG}{name}") for name in ("title", "desc"))
    assert title is not None
    assert description is not None
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert title.text == _TITLE
    assert (description.text or "").startswith(_SENTENCE)
    other = slide_at(stage, 3, ExportOptions(_LOOK)).scene
    assert str(title.get("id")) not in scene_svg(other, "outlines")  # two pictures on a page have ids of their own


@pytest.mark.skipif(shutil.which("pdfinfo") is None, reason="needs pdfinfo")
def test_a_pdf_carries_the_description_of_each_page(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    path = saved(run_reel(stage, ExportOptions(_LOOK), [2, 9], range(1)), tmp_path / "f.pdf")
    told = subprocess.run(["pdfinfo", "-meta", str(path)], capture_output=True, text=True, check=True).stdout
    words = "".join(ElementTree.fromstring(told).itertext())
    assert f"Page 1 of 2: {_TITLE}\n{_SENTENCE}" in words
    assert "Page 2 of 2: 04_tiled: step 10 of 29" in words


def test_a_slide_has_alternative_text(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    path = saved(run_reel(stage, ExportOptions(_LOOK), [2], range(1)), tmp_path / "f.pptx")
    (slide,) = pptx.Presentation(str(path)).slides
    drawn = slide.shapes[0]
    assert drawn.name == _TITLE
    assert drawn._element.nvGrpSpPr.cNvPr.get("descr").startswith(_SENTENCE)
    assert _SENTENCE in slide.notes_slide.notes_text_frame.text


def test_an_open_question_is_described_without_its_answer(stage: Prepared) -> None:
    asked = Caption("Sectors", "How many sectors move?", ("2", "4"))
    slide = slide_at(stage, 2, ExportOptions(_LOOK), asked)
    assert (slide.scene.title, slide.scene.description) == ("Sectors", "How many sectors move?\nA: 2\nB: 4")
    step = page_step(stage, 2, ExportOptions(_LOOK), asked)
    assert all("sectors of 32 bytes" not in scene.description for scene in step.after.values())
    told = slide_at(stage, 2, ExportOptions(_LOOK), Caption("Sectors", "Four.", ("2", "4"), right=1))
    assert told.scene.description.startswith(f"Four.\nA: 2\nB: 4\n{_SENTENCE}")


def test_a_slide_holds_the_notes_of_its_step(tmp_path: Path, qapp: QApplication) -> None:
    step = LessonStep(default_shot(), "One", "A caption", notes="Say this slowly")
    save_reel(lesson_reel(Lesson("L", (step,)), once, ExportOptions()), tmp_path / "l.pptx")
    (slide,) = pptx.Presentation(str(tmp_path / "l.pptx")).slides
    assert "Say this slowly" in slide.notes_slide.notes_text_frame.text


def test_the_slides_have_titles_in_the_outline(stage: Prepared, tmp_path: Path, qapp: QApplication) -> None:
    """PowerPoint lists them and screen readers jump to them: a drawn title is the slide's own, another one stands above it."""
    width, high = (13 + 1 / 3) * 914_400, 7.5 * 914_400
    for name, manner, title, is_seen in (
        ("step", ExportOptions(_LOOK), _TITLE, False),
        ("own", ExportOptions(_LOOK, title="Each thread reads a row & a column"), "Each thread reads a row & a column", True),
    ):
        (slide,) = pptx.Presentation(str(saved(still_reel(stage, manner), tmp_path / f"{name}.pptx"))).slides
        holder = slide.shapes.title
        assert holder is not None
        assert holder.is_placeholder
        assert holder.text_frame.text == title
        assert ((holder.top >= 0) and (holder.top + holder.height < high / 5)) == is_seen
        assert (holder.top + holder.height <= 0) == (not is_seen)
        assert holder.left >= 0
        assert holder.left + holder.width <= width + 1
        drawn = [run.text for shape in slide.shapes if shape.shape_type == 6 for run in _runs(shape)]
        assert title not in drawn, "it would be there twice"


def _runs(shape: Any) -> list[Any]:
    return [run for each in shape.shapes if each.has_text_frame for part in each.text_frame.paragraphs for run in part.runs]
