import json
from typing import Any

import numpy as np
import pytest

from gemmviz.analysis.costs import bank_words, lane_words, profiled_wavefronts, punchcard, wavefronts
from gemmviz.analysis.replay.focus import Focus
from gemmviz.model.device import MemoryRules
from tests.conftest import DATA, moment_of, trace_of

RULES = MemoryRules()
MEASURED = json.loads((DATA / "h200-shared-wavefronts.json").read_text())["accesses"]


def _kind(access: dict[str, Any]) -> tuple[int, str]:
    return access["bits"], access["op"]


def test_every_measured_access() -> None:
    assert len(MEASURED) > 900
    missed = []
    for kind in {_kind(access) for access in MEASURED}:
        alike, rows = [access for access in MEASURED if _kind(access) == kind], list[Any]()
        for access in alike:
            active = (access["active"] >> np.arange(32)) & 1 & (np.arange(32) < access.get("threads", 32))
            rows.append(np.where(active, access["words"], -1))
        request = np.array(rows, np.int64), kind[0] // 32, kind[1] == "ld", RULES
        own, (profiled, ideal) = wavefronts(*request)[0], profiled_wavefronts(*request)
        for access, *found, reckoned in zip(alike, own.tolist(), ideal.tolist(), profiled.tolist(), strict=True):
            assert found == [access["wavefronts"], access["ideal"]], access
            if reckoned != access["profiled"]:
                missed.append(access["pattern"])
    assert len(missed) == 13
    assert all(pattern.startswith("some lanes") for pattern in missed)  # picked at random


@pytest.mark.parametrize(("stride", "expected"), [(1, 1), (2, 2), (32, 32), (33, 1), (0, 1)])
def test_strides_of_float32(stride: int, expected: int) -> None:
    words, per_lane = lane_words(np.arange(32)[None] * stride, 4, RULES)
    actual, ideal = wavefronts(words, per_lane, True, RULES)
    assert actual.tolist() == [expected]
    assert ideal.tolist() == [1]


def test_banks_of_a_column_and_of_a_padded_column() -> None:
    column = np.arange(32)[None] * 32
    assert bank_words(column, 1, RULES)[0].tolist() == [32] + [0] * 31
    assert bank_words(np.arange(32)[None] * 33, 1, RULES)[0].tolist() == [1] * 32


def test_nobody_active_costs_nothing() -> None:
    assert [x.tolist() for x in wavefronts(np.full((2, 32), -1), 1, True, RULES)] == [[0, 0], [0, 0]]


@pytest.mark.parametrize(("pad", "expected"), [(0, 32), (1, 1), (2, 2), (4, 4)])
def test_padding_cures_the_transposed_tile(pad: int, expected: int) -> None:
    trace = trace_of("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=32, PAD=pad)
    store = next(s for s in range(trace.steps) if trace.site_of(s).text == "tileA[x][y]")
    cost = moment_of(trace, store, Focus(warp=0)).cost
    assert (cost.wavefronts, cost.ideal_wavefronts) == (expected, 1)


def test_sixteen_banks_for_half_warps() -> None:
    """As compute capability 1.x has it: a stride of 2 costs two, of 16 sixteen passes for each half of a warp."""
    half = MemoryRules(request_lanes=16, banks=16)
    for stride, expected in ((1, 1), (2, 2), (16, 16), (17, 1)):
        words, per_lane = lane_words(np.arange(32).reshape(2, 16) * stride, 4, half)
        assert wavefronts(words, per_lane, True, half)[0].tolist() == [expected] * 2


def test_a_card_has_the_groups_of_lanes_that_are_served_together() -> None:
    """Neighbouring groups of a load are served together if lanes agree in pairs, those of a store never are."""
    words = np.repeat(np.arange(16) * 2, 2)
    for is_load, starts in ((True, (0,)), (False, (0, 1))):
        card = punchcard(words, 2, is_load, RULES)
        assert card.starts == starts
        assert len(card.first) == int(wavefronts(words[None], 2, is_load, RULES)[0][0])
