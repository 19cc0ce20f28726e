"""Source code on a slide: it can be read, it is whole, and the highlighted lines are in view."""

from contextlib import nullcontext
from itertools import cycle, pairwise

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.listing import compared, listing_of
from gemmviz.cuda.launch.catalog import all_kernel_names, kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.cases import CodeCase, Listing
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.kit.primitives import Labels, Rects, Scene
from gemmviz.scenes.kit.theme import TypeSizes
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.source_view import VIEWS
from gemmviz.shots.export import prepare
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot, default_shot
from gemmviz.shots.subject import value_of
from gemmviz.teaching.lesson import answers_of
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


def test_code_is_large_and_whole() -> None:
    for size, case in zip(cycle(_SIZES), cases(), strict=False):
        scene = VIEWS["code"].scene(case, ViewOptions(width=size[0], height=size[1]))
        assert wrong_with(scene) == [], case.main.name
        sizes = [each.size for each in scene.all if isinstance(each, Labels) and each.face == "mono"]
        assert min(sizes) >= TypeSizes().code
        assert not any("…" in line for line in lines_of(scene))


def test_highlighted_lines_are_in_view() -> None:
    for name in ("04_tiled", "08_register_tiled"):
        listing = listing_of(load_kernel(name))
        before = listing_of(load_kernel("03_coalesced"))
        case = compared(listing, before)
        scene = VIEWS["code"].scene(case, ViewOptions())
        lit = scene.find("right-lit")
        assert isinstance(lit, Rects)
        first = listing.lines[min(case.main.lit)]
        assert any(line.strip() and first.strip().startswith(line.strip()) for line in lines_of(scene))


def test_the_blank_that_was_filled_in_last_is_in_view() -> None:
    worksheet, answers = load_kernel("blanks"), answers_of("blanks")
    for count in range(len(answers) + 1):
        shot = Shot(setup_for(worksheet.filled(answers[:count])), view="code")
        case = value_of(CodeCase, Knowledge(shot, Interpreter()))
        if not count:
            assert case.main.lit == frozenset()
            continue
        (line,) = case.main.lit
        assert answers[count - 1] in case.main.lines[line]
        begin = case.main.lines[line].strip()[:12]
        assert any(begin in text for text in lines_of(VIEWS["code"].scene(case, ViewOptions()))), (
            f"blank {count} is out of view"
        )


def test_what_is_left_out_is_said() -> None:
    case = CodeCase(listing_of(load_kernel("09_vectorised")))
    scene = VIEWS["code"].scene(case, ViewOptions())
    below = scene.find("code-below")
    assert isinstance(below, Labels)
    assert below.texts[0].endswith("lines below")
    assert scene.find("code-above") is None


def test_renames_are_told_from_changes() -> None:
    """The kernel before and after: x and y change places, and the entry has another name."""
    case = compared(listing_of(load_kernel("03_coalesced")), listing_of(load_kernel("02_naive")))
    assert case.beside is not None
    changed = {case.main.lines[place].split("//")[0].strip() for place in case.main.lit - case.main.renamed}
    assert changed == {
        "const int col = blockIdx.x * blockDim.x + threadIdx.x;", "const int row = blockIdx.y * blockDim.y + threadIdx.y;"
    }  # fmt: skip
    assert [case.main.lines[place].split("(")[0] for place in case.main.renamed] == [
        'extern "C" __global__ void sgemm_coalesced'
    ]


@pytest.mark.parametrize(
    ("left", "right", "is_rename"),
    [
        (["a = b;", "c = b;"], ["x = b;", "c = b;"], True),
        (["a = b;", "b = c;"], ["x = b;", "b = x;"], False),  # x stands for a and for c
        (["p.x = 1;"], ["p.y = 1;"], False),  # a member
        (["int a = 1;"], ["unsigned a = 1;"], False),  # a type
        (["a = 1;"], ["b = 2;"], False),  # a value
    ],
)
def test_a_rename_is_consistent(left: list[str], right: list[str], is_rename: bool) -> None:
    case = compared(Listing("right", "", tuple(right)), Listing("left", "", tuple(left)))
    assert (case.main.lit == case.main.renamed and bool(case.main.lit)) == is_rename


def test_only_words_that_differ_light_up() -> None:
    case = compared(listing_of(load_kernel("hip_naive")), listing_of(load_kernel("one_element")))
    lit, others = (
        [text for each in VIEWS["code"].motion(case, ViewOptions()) if isinstance(each, Labels) and each.key.startswith("right-")
         and each.key.endswith(end) for text in each.texts] for end in ("-lines", "-others")
    )  # fmt: skip
    assert [text for text in lit if len(text) > 1] == ["hip_naive", "const", "const", "const", "unsigned", "unsigned"]
    assert {text for text in lit if len(text) == 1} == {"K", "N", "i"}
    assert any("row < M" in text for text in others)


def test_differences_light_up_one_after_another() -> None:
    case = compared(listing_of(load_kernel("03_coalesced")), listing_of(load_kernel("02_naive")))

    def length(moment: float) -> float:
        lit = VIEWS["code"].scene(case, ViewOptions(moment=moment)).find("right-lit")
        return float(lit.boxes[:, 2].sum()) if isinstance(lit, Rects) else 0.0

    lengths = [length(moment) for moment in (0.0, 0.3, 0.6, 1.0)]
    assert lengths[0] == 0.0
    assert all(one < other for one, other in pairwise(lengths))


def test_new_lines_are_written() -> None:
    case = compared(listing_of(load_kernel("piece_2")), listing_of(load_kernel("piece_1")))
    assert case.is_grown
    new = {case.main.lines[place] for place in case.main.lit if case.main.lines[place].strip()}
    before, after = (set(lines_of(VIEWS["code"].scene(case, ViewOptions(moment=moment)))) for moment in (0.0, 1.0))
    assert new
    assert not new & before
    assert new <= after


def test_no_count_of_the_launch_is_shown_beside_an_open_question() -> None:
    case = CodeCase(listing_of(load_kernel("03_coalesced")), facts=(("blocks", "1"), ("global reads", "4 096")))
    widths = []
    for counted, values in ((0.0, []), (1.0, ["1", "4 096"])):
        scene = VIEWS["code"].scene(case, ViewOptions(counted=counted))
        assert [text for each in scene.all if isinstance(each, Labels) and each.key.startswith("facts-1-")
                for text in each.texts] == values  # fmt: skip
        widths.append(max(float(each.boxes[:, 2].max()) for each in scene.all if isinstance(each, Rects)))
    assert widths[0] > 1.3 * widths[1]  # the source takes the room


def test_an_exercise_has_the_room_of_the_counts_for_its_lines() -> None:
    shot = structs.replace(default_shot(), setup=setup_for(load_kernel("missing_barriers")), view="code")
    case: CodeCase = prepare(shot, lambda kernel: nullcontext(Interpreter())).subject(0)
    assert case.facts == ()
    scene = VIEWS["code"].scene(case, ViewOptions(height=780.0))
    frames = scene.find("code-blanks")
    assert isinstance(frames, Rects)
    assert len(frames.boxes) == 3


def test_a_kernel_alone_is_written_line_by_line() -> None:
    case = CodeCase(listing_of(load_kernel("piece_1")), facts=_FACTS)
    open_ = []
    for moment in (0.0, 0.3, 0.6, 0.9):
        (covers,) = VIEWS["code"].motion(case, ViewOptions(moment=moment))
        assert isinstance(covers, Rects)
        open_.append(covers.boxes)
    written = sum(bool(row.strip()) for row in lines_of(VIEWS["code"].scene(case, ViewOptions())))
    assert [len(boxes) for boxes in open_] == [written - int(share * written) for share in (0.0, 0.3, 0.6, 0.9)]
    assert all((np.diff(boxes[:, 1]) > 0).all() for boxes in open_)
    assert all(boxes[0, 2] < boxes[-1, 2] for boxes in open_[1:3])  # the first of them is being written
    assert VIEWS["code"].motion(case, ViewOptions()) == ()
