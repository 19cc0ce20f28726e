"""The rules of compute capability 1.0: half-warps, segments, sixteen banks and one broadcast word."""

import numpy as np
import pytest

from gemmviz.analysis.costs import passes_by_one_word, requests, wavefronts
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.devices import load_device
from gemmviz.model.arrays import vector
from gemmviz.model.device import MemoryRules
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.teaching.quantities.catalog import quantity_value

G80 = load_device("8800gtx").rules
LANES = np.arange(16)


def sectors(elements: list[int] | np.ndarray, width: int = 1) -> int:
    rows = np.asarray(elements, np.int64)[None]
    return int(requests(rows, 4, G80, vector(width)).sectors[0])


def test_what_the_file_says() -> None:
    assert (G80.request_lanes, G80.banks, G80.coalescing, G80.broadcast) == (16, 16, "segments", "one word")
    assert MemoryRules() == load_device("h200").rules


@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        (LANES, 2),  # word k by lane k: one segment of 64 bytes
        (LANES + 16, 2), (LANES + 64, 2),
        (np.where(LANES < 5, -1, LANES), 2),  # who asks for nothing changes nothing
        (LANES + 1, 16),  # not aligned to a segment: 16 transactions of 32 bytes
        (LANES[::-1], 16),  # another order
        (LANES * 0, 16),  # all lanes want one word: each gets it by itself
        (LANES * 16, 16), (LANES * 2, 16),
        (np.where(LANES == 3, 3, -1), 2),
        (np.where(LANES == 3, 4, -1), 1),
    ],
)  # fmt: skip
def test_a_half_warp_moves_a_segment_or_goes_lane_by_lane(elements: np.ndarray, expected: int) -> None:
    assert sectors(elements) == expected


def test_an_element_that_several_lanes_read_is_needed_once() -> None:
    broadcast, row = (requests(each[None].astype(np.int64), 4, G80) for each in (0 * LANES, LANES))
    assert (int(broadcast.sectors[0]), int(broadcast.ideal_sectors[0])) == (16, 1)
    assert (int(row.sectors[0]), int(row.ideal_sectors[0])) == (2, 2)


def test_wider_words_take_larger_segments() -> None:
    assert sectors(LANES * 2, 2) == 4  # 8 bytes each: 128 bytes
    assert sectors(LANES * 4, 4) == 8  # 16 bytes each: two of 128
    assert sectors(LANES * 4 + 4, 4) == 16


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (LANES, 1), (LANES * 0, 1), (LANES * 3, 1), (LANES * 2, 2), (LANES * 16, 16), (np.full(16, -1), 0),
        (np.where(LANES < 8, 0, 8), 2),  # one word goes to all its lanes, of the other a single lane is served; then the rest
        (np.where(LANES < 15, 0, 1), 1),
        (np.where(LANES < 8, 0, 16 + LANES), 1),  # a word for eight lanes, and eight other banks
        (np.where(LANES < 8, 0, 16 * LANES), 9),  # a word for eight lanes, and eight others of the same bank
    ],
)  # fmt: skip
def test_a_pass_broadcasts_one_word(words: np.ndarray, expected: int) -> None:
    assert int(wavefronts(words[None].astype(np.int64), 1, True, G80)[0][0]) == expected
    served = [lane for each in passes_by_one_word(words, G80) for lanes in each.values() for lane in lanes]
    assert sorted(served) == [lane for lane, word in enumerate(words.tolist()) if word >= 0]


def test_recent_rules_are_as_they_were() -> None:
    rows = np.arange(32)[None].astype(np.int64)
    assert int(requests(rows, 4, MemoryRules()).sectors[0]) == 4
    assert int(wavefronts(np.where(rows < 16, 0, 8), 1, True, MemoryRules())[0][0]) == 1


def test_a_launch_on_a_g80() -> None:
    """The lecture's tiled kernel, tiles 16 wide: rows of a tile are segments, and every shared access is one pass a half-warp."""
    setup = setup_for(load_kernel("column_first"), Problem(64, 64, 64), {"TILE_WIDTH": 16}, device="8800gtx")
    facts = Knowledge(Shot(setup), Interpreter())
    elements = 2 * 64**3 // 16
    assert quantity_value("elements(space=global, access=read)", facts) == elements
    assert facts.counts.total("global", "read").sectors == elements // 16 * 2
    shared = facts.counts.total("shared")
    assert shared.wavefronts == shared.requests
    naive = setup_for(load_kernel("many_blocks"), Problem(64, 64, 64), {"TILE_WIDTH": 16}, device="8800gtx")
    total = Knowledge(Shot(naive), Interpreter()).counts.total("global", "read")
    assert total.sectors == total.lanes // 2 * 1 + total.lanes // 2 // 16 * 2  # A lane by lane, B by segments


def test_an_rx_6800_xt_has_lines_of_its_own() -> None:
    rules = load_device("rx6800xt").rules
    assert (rules.sector_bytes, rules.line_bytes, rules.banks, rules.warp_size) == (64, 128, 32, 32)
    assert load_device("rx6800xt").words["shared memory"] == "LDS"
    assert load_device("h200").words["warp"] == "warp"
