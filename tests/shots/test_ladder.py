"""The ladder shows what the recordings hold, and counts that agree with the profiler's; a profile shows recorded counters."""

import json
from functools import cache
from pathlib import Path

import pytest

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.files.recordings import recorded_counters
from gemmviz.files.resources import ROOT
from gemmviz.model.cases import Ladder, Profile
from gemmviz.model.messages import UsageError
from gemmviz.model.problem import Problem
from gemmviz.run.choosing import engine_for
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Rects
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import ChartChoice, Shot
from gemmviz.shots.subject import value_of
from tests.conftest import piece, sure
from tests.pseudo import texts_of

ASSETS = ROOT / "assets" / "measurements"
H200, H100 = ASSETS / "benchmark-nvidia-h200.json", ASSETS / "tensor-speeds-nvidia-h100-80gb-hbm3.json"
N = 4096


@cache
def ladder() -> Ladder:
    shot = Shot(setup_for(load_kernel("15_swizzled")), chart=ChartChoice(width=32), view="ladder")
    return value_of(Ladder, Knowledge(shot, engine_for("cpu")))


def milliseconds(path: Path, kernel: str, **parameters: int) -> float:
    rows = json.loads(path.read_text())["rows"]
    return min(
        float(row["timing"]["median_ms"])
        for row in rows
        if row["kernel"] == kernel and row["problem"]["M"] == N and parameters.items() <= row.get("parameters", {}).items()
    )


def test_shares_are_those_of_the_recordings() -> None:
    case = ladder()
    found = {each.kernel: (each.percent, each.base) for each in case.rungs}
    assert len(found) == 14
    naive, swizzled = found["02_naive"], found["15_swizzled"]
    assert (naive[1], swizzled[1]) == ("H200, float", "H100, half")
    assert naive[0] == pytest.approx(100 * milliseconds(H200, "cuBLAS") / milliseconds(H200, "02_naive", BLOCK=32))
    assert found["09_vectorised"][0] == pytest.approx(100 * milliseconds(H200, "cuBLAS") / milliseconds(H200, "09_vectorised"))
    assert swizzled[0] == pytest.approx(100 * milliseconds(H100, "cuBLAS, half") / milliseconds(H100, "15_swizzled"))


def test_counts_for_each_multiply_add() -> None:
    """A warp's multiply-add in the naive kernel reads 32 sectors of A and one of B, in the tiled one two rows of tiles."""
    found = {each.kernel: each for each in ladder().rungs}
    assert found["02_naive"].sectors == pytest.approx(33 + 32 / 256)
    assert found["02_naive"].wavefronts == 0
    assert found["04_tiled"].wavefronts == pytest.approx(2 + 2 / 32)


def test_the_picture_has_a_bar_and_the_numbers_of_each_rung() -> None:
    case, view = ladder(), view_named("ladder")
    scene = view.scene(case, ViewOptions())
    texts = [text for _, text in texts_of(scene)]
    heights = [float(piece(scene, f"ladder-bar-{place}", Rects).boxes[0, 3]) for place in range(len(case.rungs))]
    for place, rung in enumerate(case.rungs):
        assert heights[place] / heights[0] == pytest.approx(rung.percent / case.rungs[0].percent)
        assert f"{rung.sectors:.3g}" in texts


def test_a_profile_shows_the_recorded_counters_beside_the_counts() -> None:
    for kernel, parameters in (("02_naive", {"BLOCK": 32}), ("07_tiled_transposed", {"TILE_WIDTH": 32, "PAD": 0})):
        setup = setup_for(load_kernel(kernel), Problem(512, 512, 512), parameters, device="h200")
        profile = value_of(Profile, Knowledge(Shot(setup, view="profile"), engine_for("cpu")))
        _, row = sure(recorded_counters(setup, device_for(setup), "counters"))
        assert {each.name: (each.hardware, each.ours) for each in profile.rows} == {
            name: (row.counters[name], row.ours[name]) for name in row.ours
        }


def test_a_launch_without_counters_says_so() -> None:
    setup = setup_for(load_kernel("02_naive"), Problem(20, 20, 20))
    with pytest.raises(UsageError, match="no counters of this launch were recorded"):
        value_of(Profile, Knowledge(Shot(setup, view="profile"), engine_for("cpu")))
