"""The line at which a run stops: where its mark goes, and what is said there."""

from contextlib import nullcontext

from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.cases import CodeCase
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.kit.primitives import Labels, Rects, Scene
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.source_view import VIEWS
from gemmviz.shots.export import prepare
from gemmviz.shots.shot import default_shot
from tests.conftest import piece
from tests.legible import wrong_with


def scene_of(kernel: str, moment: float = 1.0) -> tuple[CodeCase, Scene]:
    shot = structs.replace(default_shot(), setup=setup_for(load_kernel(kernel)), view="code")
    case: CodeCase = prepare(shot, lambda kernel: nullcontext(Interpreter())).subject(0)
    return case, VIEWS["code"].scene(case, ViewOptions(moment=moment))


def test_the_failing_assertion_is_framed() -> None:
    case, scene = scene_of("wide_block")
    assert case.stop is not None
    assert case.main.lines[case.stop.line].strip() == "assert(TILE_WIDTH == blockDim.x);"
    frame = piece(scene, "stop-line", Rects)
    assert frame.stroke == load_theme("dark").warning
    assert "assertion fails" in piece(scene, "stop-why", Labels).texts[0]
    assert ("threads of a block", "4 × 2") in case.facts
    assert case.tiles == (("sh_A", 2, 2), ("sh_B", 2, 2))
    assert wrong_with(scene) == []


def test_the_mark_goes_down_to_the_line() -> None:
    heights = [float(piece(scene_of("wide_block", moment)[1], "stop-mark", Rects).boxes[0, 1]) for moment in (0.0, 0.5, 1.0)]
    assert heights == sorted(heights)
    assert len(set(heights)) == 3
    assert scene_of("wide_block", 0.5)[1].find("stop-why") is None


def test_a_run_that_ends_well_has_no_mark() -> None:
    case, scene = scene_of("piece_2")
    assert case.stop is None
    assert scene.find("stop-mark") is None
