"""What holds a kernel back, and what may help: from counts of whole launches."""

import itertools
import re

import pytest
from msgspec import structs

from gemmviz.analysis.counts import LaunchCounter, LaunchCounts
from gemmviz.analysis.models import OccupancyLimits, occupancy_limits
from gemmviz.analysis.reasons import Launched, busy_share, causes_of, holds_for
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import device_for, launch_for, setup_for
from gemmviz.files.recordings import recordings
from gemmviz.model.cases import DRAM, Cause, CauseKind
from gemmviz.model.problem import Problem
from gemmviz.model.recording import nearest_recording, row_of
from gemmviz.model.setup import Setup
from gemmviz.model.timing import RecordedCounters
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.stored import RecordedTimes
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Labels, Rects
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.why_view import why_scene
from gemmviz.shots.kinds.counted import speed_case_of, traffic_of
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.occupancy import needs_of
from gemmviz.shots.rearranging import next_choice, opposed_cures, suggestions_for, with_cures
from gemmviz.shots.shot import Shot
from tests.conftest import ENGINE, piece, sampled, sure


def setup_of(kernel: str, size: int, **parameters: int) -> Setup:
    return setup_for(load_kernel(kernel), Problem(size, size, size), parameters)


def counted(setup: Setup) -> LaunchCounts:
    counter = LaunchCounter(device_for(setup).rules)
    ENGINE.count(setup, counter)
    return counter.counts


def limits_of(setup: Setup) -> OccupancyLimits:
    return occupancy_limits(device_for(setup), needs_of(setup)[0])


def launched(setup: Setup) -> Launched:
    return Launched(counted(setup), limits_of(setup), setup.problem, launch_for(setup).block_count)


def causes(setup: Setup) -> dict[CauseKind, Cause]:
    return {cause.kind: cause for cause in causes_of(launched(setup))}


@pytest.mark.parametrize(
    ("setup", "kind", "sentence"),
    [
        (setup_of("02_naive", 1024, BLOCK=32), "coalescing",
         "Every request of A[row * K + k] moves 32 sectors, 4 needed: 8 times as many"),
        (setup_of("03_coalesced", 1024, BLOCK=32), "reuse", "Each multiply-add requests 8 bytes from global memory"),
        (setup_of("04_tiled", 1024, TILE_WIDTH=32), "shared", "Each multiply-add reads 2 values from shared memory"),
        (setup_of("04_tiled", 64, TILE_WIDTH=32), "idle", "4 blocks leave 128 of 132 SMs without work"),
    ],
)  # fmt: skip
def test_each_kernel_is_held_back_by_what_it_teaches(setup: Setup, kind: CauseKind, sentence: str) -> None:
    first = next(iter(causes(setup).values()))
    assert (first.kind, first.sentence) == (kind, sentence)


def test_a_small_launch_does_not_hide_wasted_accesses() -> None:
    naive = causes(setup_of("02_naive", 64, BLOCK=32))
    assert list(naive)[:2] == ["idle", "coalescing"]
    assert naive["coalescing"].proof == "232\u202f960 of 274\u202f432 sectors lost"
    transposed = causes(setup_of("07_tiled_transposed", 64, TILE_WIDTH=32, PAD=0))
    assert transposed["banks"].sentence == ("Every access to tileA[x][y] takes 32 wavefronts, 1 needed: bank conflicts")
    assert transposed["banks"].proof.startswith("7936 of ")


@pytest.mark.parametrize(
    ("size", "kernel"),
    sampled(itertools.product((64, 512), ("02_naive", "03_coalesced", "04_tiled", "07_tiled_transposed")), every=3),
)
def test_a_cause_costs_the_time_without_it(size: int, kernel: str) -> None:
    found = launched(setup_for(load_kernel(kernel), Problem(size, size, size)))
    work, device, total = found.work, found.limits.device, sure(found.model_ms)
    for cause in causes_of(found):
        assert cause.cost_ms is None or 0.0 <= cause.cost_ms <= total
        if cause.kind == "idle":
            assert cause.cost_ms == pytest.approx(total - structs.replace(work, busy=1.0).time_ms(device))
        if cause.kind == "banks":
            shared = found.counts.total("shared")
            less = structs.replace(work, wavefronts=work.wavefronts - shared.excessive_wavefronts)
            assert cause.cost_ms == pytest.approx(total - less.time_ms(device))


@pytest.mark.parametrize(
    ("size", "value"), [(2048, 16), *(pytest.param(4096, value, marks=pytest.mark.nightly) for value in (8, 16, 32))]
)
@pytest.mark.parametrize(
    "name",
    sampled(
        ("04_tiled", "02_naive", "03_coalesced", "07_tiled_transposed", "05_tiled_unguarded", "06_tiled_unrolled"), every=6
    ),
)
def test_the_model_is_near_recorded_times(name: str, size: int, value: int) -> None:
    """Of kernels whose accesses the compiler leaves as they are, at a size that fills the device."""
    setup = setup_of(name, size, **{"BLOCK" if name < "04" else "TILE_WIDTH": value})
    recorded = sure(RecordedTimes().time(setup).median_ms)
    assert sure(launched(setup).model_ms) == pytest.approx(recorded, rel=0.25)


def test_where_the_model_does_not_hold_counts_rank() -> None:
    setup = structs.replace(setup_of("02_naive", 64, BLOCK=8), device="8800gtx")
    found = launched(setup)
    assert not holds_for(found.limits.device)
    assert found.model_ms is None
    ranked = causes_of(found)
    assert all(cause.cost_ms is None for cause in ranked)
    assert [cause.excess for cause in ranked] == sorted((cause.excess for cause in ranked), reverse=True)
    assert (
        piece(why_scene(speed_case_of(Shot(setup), found.counts, None), ViewOptions()), "model-0", Labels)
        .texts[0]
        .startswith("The model of time doesn't hold")
    )


def test_the_share_of_busy_sms() -> None:
    assert (busy_share(4, 132), busy_share(132, 132), busy_share(133, 132)) == (4 / 132, 1.0, 133 / 264)


@pytest.mark.parametrize(
    ("setup", "kind", "cured"),
    [
        (setup_of("02_naive", 1024, BLOCK=32), "coalescing", ("03_coalesced", {"BLOCK": 32})),
        (setup_of("03_coalesced", 1024, BLOCK=32), "reuse", ("04_tiled", {"TILE_WIDTH": 32})),
        (setup_of("07_tiled_transposed", 1024, TILE_WIDTH=32, PAD=0), "banks",
         ("07_tiled_transposed", {"TILE_WIDTH": 32, "PAD": 1})),
    ],
)  # fmt: skip
def test_a_cure_cures_what_it_is_for(setup: Setup, kind: CauseKind, cured: tuple[str, dict[str, int]]) -> None:
    """Run, as everything that is claimed: the counts are better, and so is the recorded time."""
    cures = [cure for cure in suggestions_for(setup, kind) if (cure.setup.kernel.name, dict(cure.setup.parameters)) == cured]
    assert len(cures) == 1
    before, after = counted(setup), counted(cures[0].setup)
    if kind == "banks":
        assert after.total("shared").wavefronts < before.total("shared").wavefronts
    else:
        assert after.total("global").sectors < before.total("global").sectors
    was, now = RecordedTimes().time(setup).measured.timing, RecordedTimes().time(cures[0].setup).measured.timing
    assert was is not None
    assert now is not None
    assert now.median_ms < was.median_ms


@pytest.mark.parametrize(("n", "offered"), [(8, set()), (16, set()), (32, set()), (64, {8})])
def test_no_cure_is_the_opposite_of_another(n: int, offered: set[int]) -> None:
    """Small grids ask for smaller blocks, partial warps for larger ones: where both do, neither is faster."""
    setup = setup_of("04_tiled", n, TILE_WIDTH=4)
    cures = [cause.cure.setup for cause in speed_case_of(Shot(setup), counted(setup), None).causes if cause.cure]
    assert {each.parameters["TILE_WIDTH"] for each in cures if each.kernel.name == "04_tiled"} == offered
    times = {width: sure(launched(setup.changed(TILE_WIDTH=width)).model_ms) for width in (2, 4, 8)}
    assert {width for width, time_ms in times.items() if time_ms < times[4]} == offered


def test_every_cure_can_run() -> None:
    for name in ("02_naive", "03_coalesced", "04_tiled", "08_register_tiled"):
        setup = setup_for(load_kernel(name), Problem(512, 512, 512))
        for kind in ("coalescing", "banks", "idle", "lanes", "reuse", "shared", "arithmetic", "occupancy", "nothing"):
            for cure in suggestions_for(setup, kind):  # type: ignore[arg-type]
                assert launch_for(cure.setup).block_count


def test_levels_of_memory_are_counted_or_recorded() -> None:
    setup = setup_of("04_tiled", 1024, TILE_WIDTH=32)
    counts = counted(setup)
    asked, moved, dram = traffic_of(setup, counts)
    total = counts.total("global")
    assert asked.size_bytes == total.bytes_asked == 4 * 1024 * (2 * 1024 * 1024 // 32 + 1024)
    assert moved.size_bytes == 32 * total.sectors
    row = row_of(setup, nearest_recording(device_for(setup), recordings("levels", RecordedCounters)).rows)
    assert row is not None
    assert dram.size_bytes == row.counters["dram_bytes_read"] + row.counters["dram_bytes_written"]
    assert row.counters["global_load_sectors"] == counts.total("global", "read").sectors  # what we count is what it counted
    assert [each.level for each in traffic_of(setup_of("04_tiled", 1000, TILE_WIDTH=8), counts)][-1] != DRAM


def test_the_picture_says_what_was_found() -> None:
    setup = setup_of("02_naive", 1024, BLOCK=32)
    case = speed_case_of(Shot(setup), counted(setup), RecordedTimes().time(setup))
    scene = view_named("why").scene(case, ViewOptions())
    assert piece(scene, "reason-0-0", Labels).texts[0].startswith("Every request of A[row * K + k] moves 32 sectors")
    note = piece(scene, "note", Labels).texts[0]
    assert "% of cuBLAS" in note
    assert "recorded on NVIDIA H200" in note
    filled, hollow = piece(scene, "level-requested", Rects).boxes, piece(scene, "level-requested-roof", Rects).boxes
    assert filled[0, 0] == hollow[0, 0]
    assert filled[0, 1] > hollow[0, 1]  # slower than its roof: lower


def test_the_busiest_sm_has_a_block_more_than_most() -> None:
    sentence = causes(setup_of("04_tiled", 192, TILE_WIDTH=16))["idle"].sentence
    assert sentence == "The busiest SM runs 2 blocks, an average one 1.09"  # 144 blocks on 132 SMs


def test_the_next_size_is_the_nearest_one_that_runs() -> None:
    setup = setup_of("04_tiled", 64, TILE_WIDTH=8)
    assert (next_choice(setup, "TILE_WIDTH", up=True), next_choice(setup, "TILE_WIDTH", up=False)) == (16, 4)


@pytest.mark.parametrize(
    ("setup", "faster"),
    [
        pytest.param(setup_of("02_naive", 512, BLOCK=16), {"BLOCK": 8}, marks=pytest.mark.nightly),
        (setup_of("02_naive", 128, BLOCK=16), {"BLOCK": 8}),  # a larger block would move more sectors
        (setup_of("04_tiled", 32, TILE_WIDTH=4), None),
    ],
)
def test_of_opposed_suggestions_the_faster_one_is_kept(setup: Setup, faster: dict[str, int] | None) -> None:
    known = Knowledge(Shot(setup), ENGINE)
    assert len(opposed_cures(with_cures(causes_of(launched(setup)), setup, ()), setup)) >= 2
    assert [each.parameters for each in known.faster] == ([] if faster is None else [faster])
    case = speed_case_of(Shot(setup), known.counts, None, faster=known.faster)
    own = [each.cure.setup.parameters for each in case.causes if each.cure and each.cure.setup.kernel == setup.kernel]
    assert own == ([] if faster is None else [faster])
    if faster is not None:  # as the GPU found, too
        assert sure(RecordedTimes().time(known.faster[0]).median_ms) < sure(RecordedTimes().time(setup).median_ms)


def test_a_suggestion_with_a_wrong_result_is_not_faster() -> None:
    setup = setup_of("02_naive", 64, BLOCK=16)
    text = setup.kernel.text.replace("C[row * N + col] = sum;", "C[row * N + col] = BLOCK == 8 ? 0.0f : sum;")
    assert text != setup.kernel.text
    setup = structs.replace(setup, kernel=structs.replace(setup.kernel, text=text))
    assert Knowledge(Shot(setup), Interpreter()).faster == ()


@pytest.mark.parametrize("frame", [(1240.0, 953.0), (1435.0, 800.0), (1600.0, 900.0)])  # the first: 1024 × 768 pixels
@pytest.mark.parametrize(
    ("setup", "is_timed"),
    [
        (setup_of("04_tiled", 8, TILE_WIDTH=4), False),
        (setup_of("02_naive", 64, BLOCK=16), False),
        (setup_of("04_tiled", 1024, TILE_WIDTH=16), True),
    ],
)
def test_without_a_known_time_nothing_is_said_to_save_time(setup: Setup, is_timed: bool, frame: tuple[float, float]) -> None:
    case = speed_case_of(Shot(setup), counted(setup), RecordedTimes().time(setup) if is_timed else None)
    scene = view_named("why").still(case, ViewOptions(width=frame[0], height=frame[1]))
    said = [text for each in scene.all if isinstance(each, Labels) for text in each.texts]
    assert any(re.search(r"\d (ns|µs|ms)\b", text) for text in said) is is_timed
    assert any(re.match(r"saves ", text) for text in said) is is_timed
    assert any(" fewer of " in text for text in said) is not is_timed
    assert [text for text in said if text.endswith("…")] == []


def test_levels_of_memory_with_the_same_traffic_are_named_once() -> None:
    for width, lines in ((16, 1), (4, 2)):
        setup = setup_of("04_tiled", 64, TILE_WIDTH=width)
        scene = view_named("why").still(speed_case_of(Shot(setup), counted(setup), None), ViewOptions())
        said = [text for each in scene.all if isinstance(each, Labels) for text in each.texts if "flop per byte;" in text]
        assert len(said) == lines
        assert ("requested and moved in sectors" in said[0]) is (lines == 1)
