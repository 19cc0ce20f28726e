"""Two replays at the same moment."""

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.pairing import LOCKS, Lock, Pair, _loads_of, clock, differences, moment_like, step_like
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.scenes.kit.primitives import Cells, Labels, Rects
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.stage.cost import meters_of
from gemmviz.scenes.views.pair_view import pair_motion, pair_scene
from gemmviz.shots.shot import Against, Shot, parse_shot, save_view, shot_text
from tests.analysis.test_reasons import counted
from tests.conftest import moment_of, piece, sure, trace_of


@pytest.fixture(scope="module")
def naive() -> Reader:
    return Reader(Replay.of(trace_of("02_naive", 16, 16, 16, BLOCK=8)))


@pytest.fixture(scope="module")
def tiled() -> Reader:
    return Reader(Replay.of(trace_of("04_tiled", 16, 16, 16, TILE_WIDTH=8)))


@pytest.mark.parametrize("lock", LOCKS)
def test_time_never_goes_back_and_a_run_is_like_itself(tiled: Reader, lock: Lock) -> None:
    own = clock(tiled.replay, tiled.scope, lock)
    assert (np.diff(own) >= 0).all()
    for step in range(tiled.replay.steps):
        like = step_like(own, own, step)
        assert own[like] == own[step]
        assert like >= step


def test_locks_find_the_same_moment(naive: Reader, tiled: Reader) -> None:
    def like(step: int, lock: Lock) -> int:
        return step_like(clock(naive.replay, naive.scope, lock), clock(tiled.replay, tiled.scope, lock), step)

    for step in range(0, tiled.replay.steps, 3):
        now = tiled.at(step)
        assert now.terms is not None
        other = naive.at(like(step, "k"))
        assert other.terms is not None
        assert other.terms.done(other.step).min() == now.terms.done(step).min()
        at = like(step, "bytes")
        assert at == 0 or naive.at(at).so_far("global").sectors <= now.so_far("global").sectors
    assert like(5, "step") == 5


def test_differences_are_those_of_whole_launches_the_greatest_first(naive: Reader, tiled: Reader) -> None:
    counts = tuple(counted(reader.replay.trace.setup) for reader in (naive, tiled))
    pair = Pair(naive.at(10), tiled.at(12), "phase", (counts[0], counts[1]), marked=("A", 3, 5))
    found = differences(pair)
    weights = [each.weight for each in found[1:]]
    assert weights == sorted(weights, reverse=True)
    by_name = {each.name: each for each in found}
    loads = [by_name[f"load {name}: sectors"].in_all for name in "AB"]
    for side in (0, 1):
        assert sum(each[side] or 0 for each in loads) == counts[side].total("global", "read").sectors
    so_far = by_name["load A: sectors"].so_far
    assert so_far is not None
    assert so_far[0] + sure(by_name["load B: sectors"].so_far)[0] == naive.at(10).so_far("global").sectors
    assert by_name["shared-memory values per multiply-add"].in_all == (0, 2)
    assert by_name["bytes requested per multiply-add"].in_all == (8, 1)
    assert found[0].name == "loads of A[3, 5]"
    assert found[0].so_far == (8, 1)  # once for each column of the block, or once for the tile


def test_runs_with_the_same_steps_go_through_the_same_accesses() -> None:
    """Between two terms a naive kernel takes two steps: the other run takes the same one."""
    left, right = (Reader(Replay.of(trace_of(name, 16, 16, 16, BLOCK=8))) for name in ("02_naive", "03_coalesced"))
    for step in range(right.replay.steps):
        like, lock, both_move = moment_like(left, right.at(step), "k")
        assert (like.step, lock, both_move) == (step, "k", True)


def test_the_left_run_moves_only_with_a_step_of_its_own(naive: Reader, tiled: Reader) -> None:
    moments = [moment_like(naive, tiled.at(step), "k") for step in range(tiled.replay.steps)]
    for (before, _, _), (now, _, moves) in pairwise(moments):
        assert moves == (before.step != now.step)
    assert len({moves for _, _, moves in moments}) == 2


def test_both_sides_have_the_same_frame_and_the_same_cells(naive: Reader, tiled: Reader) -> None:
    pair = Pair(naive.at(10), tiled.at(12), "k", times_ms=(2.0, 0.5), marked=("A", 3, 5))
    for options in (ViewOptions(), ViewOptions(lens="lens"), ViewOptions(width=1020, height=600)):
        scene = pair_scene(pair, options)
        for name in "ABC":
            left, right = (piece(scene, f"{side}-{name}", Cells) for side in ("left", "right"))
            assert (left.size, left.y, left.fill.shape, left.origin) == (right.size, right.y, right.fill.shape, right.origin)
            assert left.x + left.fill.shape[1] * left.size < options.width / 2 < right.x
        shift = {right.x - left.x for left, right in ((piece(scene, f"left-{n}", Cells), piece(scene, f"right-{n}", Cells))
                                                      for n in "ABC")}  # fmt: skip
        assert max(shift) - min(shift) < 1e-6
    scene = pair_scene(pair, ViewOptions())
    assert piece(scene, "left-C", Cells).fill.shape == (16, 16)  # the whole of it
    assert piece(scene, "left-title", Labels).texts[0].startswith("02_naive")
    assert len(piece(scene, "left-marked", Rects).boxes) == 1
    assert piece(scene, "lock-0", Labels).texts[0] == "Both at the same k"
    assert piece(scene, "values-2", Labels).texts == ("2000 µs | 500 µs",)
    assert piece(scene, "ratio-2", Labels).texts == ("4 × faster",)
    other = Pair(Reader(Replay.of(trace_of("02_naive", 8, 8, 8, BLOCK=8))).at(0), tiled.at(0), "k")
    scene = pair_scene(other, ViewOptions())
    assert piece(scene, "lock-0", Labels).texts[0].startswith("The problems differ")
    assert piece(scene, "left-C", Cells).size == piece(scene, "right-C", Cells).size


def test_the_meter_between_has_a_square_for_each_sector() -> None:
    left, right = (
        Reader(Replay.of(trace_of(name, 32, 32, 32, BLOCK=32)), Focus(warp=0)) for name in ("02_naive", "03_coalesced")
    )
    scene = pair_scene(Pair(left.at(0), right.at(0), "k"), ViewOptions())
    assert len(piece(scene, "left-meter-cost-needed", Rects).boxes) == 4
    assert len(piece(scene, "left-meter-cost-wasted", Rects).boxes) == 28
    assert len(piece(scene, "right-meter-cost-needed", Rects).boxes) == 1
    assert scene.find("right-meter-cost-wasted") is None
    lowest = [piece(scene, f"{side}-meter-cost-needed", Rects).boxes[0, 1] for side in ("left", "right")]
    assert lowest[0] == lowest[1]  # one base line, squares of one size
    assert piece(scene, "left-meter-moved", Labels).texts == ("32",)


def test_the_largest_factor_stands_first_and_large_and_what_one_side_lacks_last() -> None:
    readers = [
        Reader(Replay.of(trace_of("04_tiled", 64, 64, 64, TILE_WIDTH=32))),
        Reader(Replay.of(trace_of("02_naive", 64, 64, 64))),
    ]
    setups = [reader.replay.trace.setup for reader in readers]
    pair = Pair(readers[0].at(0), readers[1].at(0), "k", (counted(setups[0]), counted(setups[1])))
    found = differences(pair)
    assert (found[0].name, found[0].in_all, found[0].ratio) == ("load A: sectors", (1024, 262144), 256)
    last = [each.name for each in found[-3:]]
    assert last == ["store into a tile: wavefronts", "compute: wavefronts", "shared-memory values per multiply-add"]
    scene = pair_scene(pair, ViewOptions())
    assert piece(scene, "ratio-0", Labels).texts == ("256 × more",)
    assert piece(scene, "ratio-0", Labels).size > 1.2 * piece(scene, "ratio-1", Labels).size


def test_a_wavefront_never_stands_beside_a_sector(naive: Reader, tiled: Reader) -> None:
    seen = set()
    for step in range(tiled.replay.steps):
        scene = pair_scene(Pair(naive.at(1), tiled.at(step), "k"), ViewOptions())
        labels = {each.key: each.texts[0] for each in scene.all if isinstance(each, Labels) and each.texts}
        units = {text.rstrip("s") for key, text in labels.items() if key.endswith("-meter-unit")}
        assert len(units) <= 1
        seen |= units
        if len({meter.unit for meter in (*meters_of(naive.at(1)), *meters_of(tiled.at(step)))}) > 1:
            assert " ".join(text for key, text in labels.items() if "meter-none" in key) == "no access to global memory"
    assert seen == {"sector"}


def test_both_sides_move_in_their_own_half(naive: Reader, tiled: Reader) -> None:
    left, lock, both_move = moment_like(naive, tiled.at(12), "k")
    moving = pair_motion(Pair(left, tiled.at(12), lock, both_move=both_move), ViewOptions(moment=0.4))
    assert any(each.key.startswith("right-") for each in moving)
    assert both_move == any(each.key.startswith("left-") for each in moving)


def test_a_shot_of_two_shots_is_kept() -> None:
    shot = Shot(
        setup_for(load_kernel("04_tiled")), view="pair", against=Against(setup_for(load_kernel("02_naive")), "bytes", "A[1,2]")
    )
    assert parse_shot(shot_text(shot)) == shot
    assert 'kernel = "02_naive"' in shot_text(shot)


@pytest.mark.usefixtures("without_fonts")
def test_the_command_counts_both(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    size = ["-m", "32", "-n", "32", "-k", "32", "-D", "BLOCK=16"]
    picture = tmp_path / "pair.svg"
    assert main(["compare", "02_naive", "03_coalesced", *size, "--json", "-o", str(picture), "--mark", "A[3,5]"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["counts"]["global_load_sectors"] == {"a": 17408, "b": 4096, "ratio": 4096 / 17408}
    assert (facts["a"]["parameters"], facts["b"]["kernel"]) == ({"BLOCK": 16}, "03_coalesced")
    assert "left-A" in picture.read_text(encoding="utf-8")
    assert main(["compare", "04_tiled", "04_tiled", "--left", "TILE_WIDTH=2", "--right", "TILE_WIDTH=4"]) == 0
    assert "B / A" in capsys.readouterr().out
    assert main(["compare", "02_naive", "03_coalesced", "-D", "WIDTH=3"]) == 2
    assert main(["compare", "03_coalesced", "04_tiled"]) == 0  # both at the sizes of the first
    assert "not the same" not in capsys.readouterr().err
    assert main(["compare", "04_tiled", "04_tiled", "--mark", "A[99,2]"]) == 2
    assert "A has no element [99, 2]: it is 8 × 8" in capsys.readouterr().err
    assert main(["export", "04_tiled", "--view", "pair", "-o", str(picture)]) == 2
    assert "gemmviz compare" in capsys.readouterr().err
    assert main(["export", "04_tiled", "--view", "rounding", "-o", str(picture)]) == 2
    assert "gemmviz compare A B --view rounding" in capsys.readouterr().err
    assert main(["compare", "sequential", "sequential_double", "--view", "rounding", "-o", str(picture)]) == 0
    assert "B / A" in capsys.readouterr().out
    assert "sequential_double" in picture.read_text(encoding="utf-8")
    view = tmp_path / "two.toml"
    setup = setup_for(load_kernel("04_tiled"))
    save_view(Shot(setup, view="pair", against=Against(setup.changed(TILE_WIDTH=2), "k")), view)
    assert main(["export", str(view), "-o", str(picture)]) == 0
    assert "Both at the same k" in picture.read_text(encoding="utf-8")


def test_each_side_of_the_command_has_its_own_parameters_and_device(capsys: pytest.CaptureFixture[str]) -> None:
    sides = ["--left", "TILE_WIDTH=2", "--right", "TILE_WIDTH=4", "--left-device", "a100"]
    assert main(["compare", "04_tiled", "04_tiled", *sides, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [facts[side]["parameters"]["TILE_WIDTH"] for side in ("a", "b")] == [2, 4]
    assert ["A100" in facts[side]["time_source"] for side in ("a", "b")] == [True, False]


def test_an_element_outside_of_a_matrix_has_no_loads() -> None:
    moment = moment_of(trace_of("02_naive", 4, 6, 5, BLOCK=2), 3)
    assert not math.isnan(_loads_of(moment, ("A", 3, 4)))
    assert all(math.isnan(_loads_of(moment, marked)) for marked in (("A", 4, 0), ("A", 0, 5), ("A", 9, 9), ("X", 0, 0)))
