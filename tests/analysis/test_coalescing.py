from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.analysis.costs import moved_sectors, request_rows, requests, warp_rows
from gemmviz.model.arrays import Layout, vector
from gemmviz.model.device import MemoryRules
from tests.conftest import kernel_from, moment_of, trace_of

LANES = np.arange(32)[None]
RULES = MemoryRules()


@pytest.mark.parametrize(
    ("elements", "width", "sectors", "lines", "ideal"),
    [
        (LANES * 0, 1, 1, 1, 1),  # broadcast
        (LANES, 1, 4, 1, 4),  # consecutive float32
        (LANES + 1, 1, 5, 2, 4),  # the same, misaligned
        (LANES * 4, 4, 16, 4, 16),  # consecutive float4
        (LANES * 32, 1, 32, 32, 4),  # a column of a 32-wide matrix
        (LANES[:, ::-1], 1, 4, 1, 4),  # order within the warp doesn't matter
        (np.where(LANES < 3, LANES, -1), 1, 1, 1, 1),  # three active lanes
        (np.full((1, 32), -1), 1, 0, 0, 0),
    ],
)
def test_sectors_of_a_request(elements: Any, width: int, sectors: int, lines: int, ideal: int) -> None:
    found = requests(elements.astype(np.int64), 4, RULES, vector(width))
    assert found.sectors.tolist() == [sectors]
    assert found.lines.tolist() == [lines]
    assert found.ideal_sectors.tolist() == [ideal]
    assert found.requests.tolist() == [int((elements >= 0).any())]


@given(st.lists(st.integers(-1, 500), min_size=32, max_size=32))
@settings(max_examples=30)
def test_sectors_are_the_distinct_ones(elements: list[int]) -> None:
    row = np.array([elements])
    found = requests(row, 4, RULES)
    assert found.sectors[0] == len({e * 4 // 32 for e in elements if e >= 0})
    assert found.lines[0] == len({e * 4 // 128 for e in elements if e >= 0})
    assert found.bytes_asked[0] == 4 * sum(e >= 0 for e in elements)


def test_the_last_warp_is_padded() -> None:
    rows = warp_rows(np.arange(48)[None], 32)
    assert rows.shape == (2, 32)
    assert (rows[1, 16:] == -1).all()
    assert rows[1, 0] == 32


def test_offsets_need_not_be_neighbours() -> None:
    """Each lane touches its own element and one a line further: twice the sectors; three neighbours may reach into the next."""
    assert requests(LANES, 4, RULES, Layout((0, 32))).sectors.tolist() == [8]
    assert requests(LANES * 3, 4, RULES, vector(3)).sectors.tolist() == [12]
    assert requests(LANES[:, :1] + 7, 4, RULES, vector(3)).sectors.tolist() == [2]


def test_a_device_may_serve_half_warps() -> None:
    """The lanes of a request, sectors and lines are the device's."""
    half = MemoryRules(request_lanes=16, sector_bytes=64)
    rows = request_rows(np.arange(40)[None], half)
    assert rows.shape == (4, 16)
    assert (rows[2, 8:] == -1).all()
    assert requests(rows, 4, half).sectors.tolist() == [1, 1, 1, 0]


def test_an_element_that_lanes_share_names_the_first_of_them() -> None:
    trace = trace_of(kernel_from("C[threadIdx.x] = A[threadIdx.x / 2];"))
    (touched, *_) = moment_of(trace).touched
    moved = moved_sectors(np.array([[-1, 5, 5, 6, 6]]), touched.operand, touched.array, trace.rules)
    assert (moved.first[0, 5], moved.first[0, 6]) == (1, 3)
    assert moved.asking[0, 5:7].tolist() == [2, 2]
