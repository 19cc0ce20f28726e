import json

import numpy as np
import pytest

from gemmviz.analysis.banks import bank_words, wavefronts, words_of
from gemmviz.analysis.focus import Focus
from gemmviz.analysis.replay import Replay
from tests.conftest import DATA, trace_of

MEASURED = json.loads((DATA / "h200-shared-wavefronts.json").read_text())["accesses"]


def test_every_measured_access() -> None:
    assert len(MEASURED) == 348
    for access in MEASURED:
        active = (access["active"] >> np.arange(32)) & 1
        words = np.where(active, access["words"], -1)[None].astype(np.int64)
        actual, ideal = wavefronts(words, access["bits"] // 32, access["op"] == "ld")
        assert (int(actual[0]), int(ideal[0])) == (access["wavefronts"], access["ideal"]), access["pattern"]


@pytest.mark.parametrize(("stride", "expected"), [(1, 1), (2, 2), (32, 32), (33, 1), (0, 1)])
def test_strides_of_float32(stride: int, expected: int) -> None:
    words, per_lane = words_of(np.arange(32)[None] * stride, 4)
    actual, ideal = wavefronts(words, per_lane, True)
    assert actual.tolist() == [expected]
    assert ideal.tolist() == [1]


def test_banks_of_a_column_and_of_a_padded_column() -> None:
    column = np.arange(32)[None] * 32
    assert bank_words(column, 1)[0].tolist() == [32] + [0] * 31
    assert bank_words(np.arange(32)[None] * 33, 1)[0].tolist() == [1] * 32


def test_nobody_active_costs_nothing() -> None:
    assert [x.tolist() for x in wavefronts(np.full((2, 32), -1), 1, True)] == [[0, 0], [0, 0]]


@pytest.mark.parametrize(("pad", "expected"), [(0, 32), (1, 1), (2, 2), (4, 4)])
def test_padding_cures_the_transposed_tile(pad: int, expected: int) -> None:
    replay = Replay(trace_of("07_tiled_transposed", 32, 32, 32, TILE_WIDTH=32, PAD=pad), Focus(warp=0))
    store = next(s for s in range(replay.steps) if replay.trace.site_of(s).text == "tileA[x][y]")
    assert replay.cost(store).wavefronts == expected
    assert replay.cost(store).ideal_wavefronts == 1
