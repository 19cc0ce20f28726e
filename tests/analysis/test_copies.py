"""Wavefronts of asynchronous copies are those that Nsight Compute counted on an H200."""

import json
from typing import Any

import numpy as np
import pytest

from gemmviz.analysis.costs import profiled_wavefronts
from gemmviz.analysis.merging import around_l1, beyond_stores
from gemmviz.model.device import MemoryRules
from tests.conftest import DATA

RULES = MemoryRules()
COPIES = json.loads((DATA / "h200-copies.json").read_text())["copies"]
BOTH_AT_RANDOM = {8: 2, 16: 2}  # of copies with sources and targets at random, those that the rule counts 1 to 3 too high


def wavefronts(copy: dict[str, Any]) -> int:
    source, target = (np.array([copy[name]]) for name in ("source", "target"))
    if copy["cache"] == "cg":
        return around_l1(source, target, RULES)
    words = np.where(source >= 0, target // 4, -1)
    stored, _ = profiled_wavefronts(words, copy["bytes"] // 4, False, RULES)
    return int(stored.sum()) + beyond_stores(source, copy["bytes"], RULES)


@pytest.mark.parametrize(("size", "cache"), [(4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")])
def test_copies_count_as_measured(size: int, cache: str) -> None:
    chosen = [each for each in COPIES if (each["bytes"], each["cache"]) == (size, cache)]
    differences = [wavefronts(each) - each["wavefronts"] for each in chosen]
    assert len(chosen) > 20
    beyond = [each for each in differences if each]
    assert len(beyond) == (BOTH_AT_RANDOM.get(size, 0) if cache == "ca" else 0)
    assert all(0 < each <= 3 for each in beyond)
