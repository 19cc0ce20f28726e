"""The printed source beside a question: it can be read, its numbers are those of the file, and the asked line is in view."""

import pytest

from gemmviz.analysis.listing import printed_source
from gemmviz.cuda.launch.catalog import all_kernel_names, kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.sites import PLAIN
from gemmviz.scenes.kit.primitives import Labels, Rects, Scene
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.source_view import VIEWS
from gemmviz.shots.picture import LaunchWords
from tests.legible import wrong_with

_SIZES = [(1600.0, 900.0), (1600.0, 600.0)]  # alone, and above the largest question
_LEGEND = "a kernel, TILE_WIDTH = 4, on a device: a grid of 2 × 2, blocks of 4 × 4. A is 8 × 8 (rows × columns). " * 3


def texts(scene: Scene, key: str) -> list[str]:
    return [text for each in scene.all if isinstance(each, Labels) and each.key.endswith(key) for text in each.texts]


@pytest.mark.parametrize("name", all_kernel_names())
def test_a_listing_can_be_read(name: str) -> None:
    kernel = load_kernel(name)
    source = printed_source(kernel, legend=_LEGEND)
    lines = dict(source.lines)
    for size, lit in zip(_SIZES, (source.lines[0][0], source.lines[-1][0]), strict=True):
        scene = VIEWS["listing"].scene(printed_source(kernel, lit, _LEGEND), ViewOptions(width=size[0], height=size[1]))
        assert wrong_with(scene) == []
        assert min(each.size for each in scene.all if isinstance(each, Labels)) >= load_theme("dark").type.least
        numbers = list(map(int, texts(scene, "-numbers")))
        assert numbers == sorted(set(numbers))
        shown = texts(scene, "-lines")
        assert all(any(lines[number].startswith(text) for text in shown) for number in numbers)
        marked = [each for each in scene.all if isinstance(each, Rects) and each.key.endswith("-lit")]
        assert len(marked) >= (lit in lines and bool(lines[lit].strip()))


def test_a_whole_kernel_is_in_two_columns() -> None:
    source = printed_source(load_kernel("07_tiled_transposed"), 42, _LEGEND)
    scene = VIEWS["listing"].scene(source, ViewOptions(width=1600.0, height=640.0))
    assert [len(texts(scene, f"{side}-lines")) > 0 for side in ("left", "right")] == [True, True]
    first = int(texts(scene, "right-numbers")[0])
    assert dict(source.lines)[first].startswith(texts(scene, "right-lines")[0])  # no line begins left and ends right
    assert [number for number, line in source.lines if line] == list(map(int, texts(scene, "-numbers")))


LONG = (*(name for name in kernel_names() if name >= "10"), "ldmatrix")  # longer than a page


@pytest.mark.parametrize("name", sorted({*all_kernel_names()} - {*LONG}))
def test_every_kernel_is_whole_on_a_page_of_its_own(name: str) -> None:
    kernel = load_kernel(name)
    source = printed_source(kernel, legend=_LEGEND)
    scene = VIEWS["listing"].scene(source, ViewOptions())
    assert wrong_with(scene) == []
    assert [number for number, line in source.lines if line] == list(map(int, texts(scene, "-numbers")))
    whole, shown = "".join(line for _, line in source.lines), "".join(texts(scene, "-lines"))
    assert "".join(whole.split()) == "".join(shown.split())


@pytest.mark.parametrize("name", LONG)
def test_of_a_long_kernel_the_part_around_the_lit_line_is_shown(name: str) -> None:
    kernel = load_kernel(name)
    numbers = [number for number, line in printed_source(kernel).lines if line]
    for lit in (numbers[0], numbers[len(numbers) // 2], numbers[-1]):
        shown = list(map(int, texts(VIEWS["listing"].scene(printed_source(kernel, lit, _LEGEND), ViewOptions()), "-numbers")))
        assert lit in shown
        assert len(shown) > len(numbers) / 3
        assert shown == [each for each in numbers if shown[0] <= each <= shown[-1]]


def test_a_legend_names_what_the_source_names() -> None:
    legend = LaunchWords(setup_for(load_kernel("hip_form")), PLAIN).legend
    assert "M = 8, N = 8, K = 8" in legend
    other = LaunchWords(setup_for(load_kernel("column_first")), PLAIN).legend
    assert "Width = 4" in other
    assert "Md, Nd and Pd are 4 × 4 (rows × columns)." in other
    assert "In pictures, Md, Nd and Pd are called A, B and C." in other
