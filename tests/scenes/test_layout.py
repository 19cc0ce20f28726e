"""The layout kit: its examples are what it returns, and parts fill their box."""

import doctest
from itertools import pairwise

import numpy as np
import pytest

from gemmviz.scenes.kit import layout
from gemmviz.scenes.kit.layout import REST, Box, Line, Share, along, arrow, lines_in, square, text_in
from gemmviz.scenes.kit.text import text_width

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
    assert text_in("name", square((0.0, 0.0), width, 30.0), "shared memory", 20.0, "#fff").texts == ("shared memory",)
    assert text_in("name", square((0.0, 0.0), width - 1, 30.0), "shared memory", 20.0, "#fff").texts[0].endswith("…")


def test_lines_without_space_are_left_out_but_the_first() -> None:
    lines = [Line(str(place), "text", 20.0, "#fff") for place in range(3)]
    assert [len(lines_in(Box(0.0, 0.0, 100.0, height), lines)) for height in (10.0, 60.0, 80.0)] == [1, 2, 3]


def test_a_way_and_an_arrow_end_at_their_ends() -> None:
    way = [(0.0, 0.0), (30.0, 40.0), (30.0, 0.0)]
    assert (along(way, 0.0), along(way, 1.0)) == (way[0], way[-1])
    assert np.all(arrow("way", way[0], way[1], "#fff").segments[:, 2:] == way[1])
