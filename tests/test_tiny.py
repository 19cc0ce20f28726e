"""The whole way in one test: from a kernel's text to a picture of it."""

from xml.etree import ElementTree

from gemmviz.render.svg import scene_svg
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.stage_view import stage_scene
from tests.conftest import moment_of, trace_of


def test_from_source_to_svg() -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)
    assert trace.check.passed
    document = ElementTree.fromstring(scene_svg(stage_scene(moment_of(trace), ViewOptions())))
    groups = {group.get("id") for group in document.iter("{http://www.w3.org/2000/svg}g")}
    assert {"A", "B", "C", "tile-tileA", "tile-tileB", "title", "action"} <= groups
