"""Source code on a slide: it can be read, it is whole, and the highlighted lines are in view."""

from itertools import pairwise

import pytest

from gemmviz.analysis.listing import compared, listing_of
from gemmviz.launch.catalog import all_kernel_names, kernel_names, load_kernel
from gemmviz.model.code_case import CodeCase
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Rects, Scene
from gemmviz.scenes.kit.theme import TypeSizes
from gemmviz.scenes.views.code_view import code_scene
from tests.legible import wrong_with

_FACTS = tuple((f"a name of a count, {place}", "1 000") for place in range(7))
_SIZES = [(1600.0, 900.0), (1600.0, 780.0)]


def cases() -> list[CodeCase]:
    alone = [CodeCase(listing_of(load_kernel(name)), facts=_FACTS) for name in all_kernel_names()]
    ladder = [listing_of(load_kernel(name)) for name in kernel_names()]
    return alone + [compared(after, before) for before, after in pairwise(ladder)]


def lines_of(scene: Scene) -> list[str]:
    return [
        text for each in scene.all
        if isinstance(each, Labels) and each.key.endswith(("-lines", "-others")) for text in each.texts
    ]  # fmt: skip


@pytest.mark.parametrize("size", _SIZES)
def test_code_is_large_and_whole(size: tuple[float, float]) -> None:
    for case in cases():
        scene = code_scene(case, ViewOptions(width=size[0], height=size[1]))
        assert wrong_with(scene) == [], case.main.name
        sizes = [each.size for each in scene.all if isinstance(each, Labels) and each.face == "mono"]
        assert min(sizes) >= TypeSizes().code
        assert not any("…" in line for line in lines_of(scene))


def test_highlighted_lines_are_in_view() -> None:
    for name in ("04_tiled", "08_register_tiled"):
        listing = listing_of(load_kernel(name))
        before = listing_of(load_kernel("03_coalesced"))
        case = compared(listing, before)
        scene = code_scene(case, ViewOptions())
        lit = scene.find("right-lit")
        assert isinstance(lit, Rects)
        first = listing.lines[min(case.main.lit)]
        assert any(line.strip() and first.strip().startswith(line.strip()) for line in lines_of(scene))


def test_what_is_left_out_is_said() -> None:
    case = CodeCase(listing_of(load_kernel("09_vectorised")))
    scene = code_scene(case, ViewOptions())
    below = scene.find("code-below")
    assert isinstance(below, Labels)
    assert below.texts[0].endswith("lines below")
    assert scene.find("code-above") is None
