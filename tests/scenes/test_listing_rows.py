"""Rows of a listing: each letter of a line, apart from blanks between rows, is in exactly one row, however long its words are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemmviz.model.cases import Listing
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.table import Sheet


def rows_of(line: str, width: float) -> list[str]:
    sheet = Sheet.of("code", Listing("", "", (line,)), Box(0.0, 0.0, width, 1e6), 20.0)
    return [row.text for row in sheet.rows]


@pytest.mark.parametrize("width", [0.0, 40.0, 100.0, 160.0, 400.0])
@pytest.mark.parametrize("line", ["x" * 200, " " * 8 + "y" * 200, "a bc " + "x" * 90 + " y", "f(" + "A[i], " * 40 + ");"])
def test_long_words_are_split(line: str, width: float) -> None:
    rows = rows_of(line, width)
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")


@given(line=st.text(alphabet="ab \t(", max_size=120), width=st.floats(0.0, 600.0))
def test_every_letter_is_in_one_row(line: str, width: float) -> None:
    assert "".join("".join(rows_of(line, width)).split()) == "".join(line.split())
