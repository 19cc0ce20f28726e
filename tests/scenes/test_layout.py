"""The layout kit: its examples are what it returns, and parts fill their box."""

import doctest
from itertools import pairwise

import numpy as np
import pytest

from gemmviz.scenes.kit import layout
from gemmviz.scenes.kit.layout import (
    REST,
    Box,
    Edge,
    Line,
    Share,
    all_beside,
    along,
    arrow,
    cells_in,
    lines_down,
    lines_in,
    round_boxes,
    square,
    tag,
    term,
    text_in,
    wrapped,
)  # fmt: skip
from gemmviz.scenes.kit.primitives import Labels, Lines, text_width
from gemmviz.scenes.kit.shapes import CHIP, chips_into, moving_chips
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions, eased_in_turn

ROOM = Box(40.0, 60.0, 300.0, 200.0)


def test_the_examples_are_right() -> None:
    assert doctest.testmod(layout).failed == 0


@pytest.mark.parametrize("sizes", [(REST,), (50.0, REST), (REST, 30.0, Share(2)), (20.0, REST, REST, 40.0)])
def test_parts_fill_their_box(sizes: tuple[float | Share, ...]) -> None:
    rows, columns = ROOM.rows(*sizes, gap=10.0), ROOM.columns(*sizes, gap=10.0)
    assert (rows[0].y, columns[0].x) == (ROOM.y, ROOM.x)
    assert (rows[-1].bottom, columns[-1].right) == pytest.approx((ROOM.bottom, ROOM.right))
    assert all(below.y - above.bottom == pytest.approx(10.0) for above, below in pairwise(rows))


def test_a_strip_and_the_rest_are_the_whole() -> None:
    for side in ("top", "bottom", "left", "right"):
        strip, rest = ROOM.strip(side, 25.0, gap=5.0)  # type: ignore[arg-type]
        assert min(strip.width, strip.height) == 25.0
        assert strip.width * strip.height + rest.width * rest.height < ROOM.width * ROOM.height


def test_a_text_as_wide_as_its_box_is_not_cut() -> None:
    width = text_width("shared memory", 20.0)
    assert text_in("name", square((0.0, 0.0), width, 30.0), "shared memory", 20.0, "#FFFFFF").texts == ("shared memory",)
    assert text_in("name", square((0.0, 0.0), width - 1, 30.0), "shared memory", 20.0, "#FFFFFF").texts[0].endswith("…")


def test_lines_without_space_are_left_out_but_the_first() -> None:
    lines = [Line(str(place), "text", 20.0, "#FFFFFF") for place in range(3)]
    assert [len(lines_in(Box(0.0, 0.0, 100.0, height), lines)) for height in (10.0, 60.0, 80.0)] == [1, 2, 3]


def test_a_way_and_an_arrow_end_at_their_ends() -> None:
    way = [(0.0, 0.0), (30.0, 40.0), (30.0, 0.0)]
    assert (along(way, 0.0), along(way, 1.0)) == (way[0], way[-1])
    assert np.all(arrow("way", way[0], way[1], "#FFFFFF").segments[:, 2:] == way[1])


def test_a_text_beside_a_box_is_outside_of_it() -> None:
    style = load_theme("dark").plain
    at = {side: all_beside("name", [ROOM], side, ["text"], style).at[0] for side in ("top", "bottom", "left", "right")}
    assert at["top"][1] < ROOM.y
    assert at["bottom"][1] - style.size > ROOM.bottom - style.size / 2
    assert (at["left"][0], at["right"][0]) == (ROOM.x - layout.NEAR, ROOM.right + layout.NEAR)
    side: Edge = "top"
    assert all_beside("name", [ROOM._replace(width=20.0)], side, ["a long text"], style).texts[0].endswith("…")


def test_lines_go_down_as_far_as_their_box() -> None:
    style = load_theme("dark").plain
    lines = wrapped("said", "one two three four five six seven eight", style, 100.0, space=10.0)
    assert [line.key for line in lines][:2] == ["said-0", "said-1"]
    assert [line.space for line in lines][:2] == [10.0, 0.0]
    high = 10.0 + layout.LINE_PITCH * style.size
    assert [len(lines_down(Box(0.0, 0.0, 100.0, room), lines)) for room in (high - 1, high, 2 * high)] == [0, 1, 2]


def test_a_tag_without_space_has_no_text() -> None:
    theme = load_theme("light")
    assert [len(tag("tag", ROOM._replace(width=wide), "a name", theme.load, theme)) for wide in (300.0, 20.0)] == [2, 1]


def test_a_meaning_stands_after_its_term() -> None:
    theme = load_theme("dark")
    name, meaning = term("grid", ROOM, "grid", theme.strong, "all blocks", theme.aside)
    assert meaning.at[0, 0] >= name.at[0, 0] + theme.strong.width("grid")
    assert meaning.at[0, 1] == pytest.approx(name.at[0, 1])


def test_corners_are_rounder_on_larger_boxes() -> None:
    radii = [round_boxes("box", square((0.0, 0.0), side), "#FFFFFF").radius for side in (10.0, 50.0, 500.0)]
    assert radii == sorted(radii)
    assert radii[0] <= 2.0
    assert radii[-1] == 10.0


def test_texts_are_in_cells_if_all_fit() -> None:
    fill, texts = np.zeros((2, 2), np.uint8), np.array([["a", "b"], ["c", "a longer one"]])
    drawn = [cells_in("cells", Box(0, 0, wide, 80), fill, ("#fff",), None, texts=texts, size=20.0) for wide in (100, 400)]
    assert [each.labels is None for each in drawn] == [True, False]


def test_things_go_one_after_another() -> None:
    shares = [[eased_in_turn(moment, place, 3, 0.4) for place in range(3)] for moment in (0.0, 0.3, 0.7, 1.0)]
    assert shares[0] == [0.0] * 3
    assert shares[3] == [1.0] * 3
    assert all(a >= b >= c for a, b, c in shares)


def test_chips_arrive_with_their_names() -> None:
    row = Box(0.0, 0.0, 200.0, CHIP * 20.0)
    names = ("x", "row", "a much longer name")
    chips = chips_into(
        row, [(place, name, row.shifted(y=500.0), "#FFFFFF") for place, name in enumerate(names)], load_theme("dark")
    )
    assert [chip.name for chip in chips] == ["x", "row"]
    assert [len(moving_chips(chips, ViewOptions(moment=moment))) for moment in (0.0, 0.05, 1.0)] == [0, 1, 4]


def test_a_ruler_has_a_tick_for_each_text() -> None:
    ticks, numbers = layout.ticks_along("ticks", ROOM, [0.0, 0.5, 1.0], ["0", "5", "10"], load_theme("dark").aside)
    assert isinstance(ticks, Lines)
    assert isinstance(numbers, Labels)
    assert ticks.segments[:, 0].tolist() == [ROOM.x, ROOM.middle_x, ROOM.right]
    assert numbers.at[:, 0].tolist() == pytest.approx([ROOM.x, ROOM.middle_x, ROOM.right])


def test_cells_of_a_table_by_their_numbers() -> None:
    squares = layout.cell_squares(Box(10.0, 20.0, 40.0, 20.0), 4, np.array([0, 5]))
    assert squares.tolist() == [[10.0, 20.0, 10.0], [20.0, 30.0, 10.0]]
