"""Blocks over time: what was recorded obeys occupancy, and so does the model."""

from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.models import DONE, RUNNING, WAITING, modelled, occupancy_limits, residents, states, waves
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import launch_for, setup_for
from gemmviz.files.devices import load_device
from gemmviz.files.recordings import read_schedules, recorded_schedules, recordings, write_schedules
from gemmviz.model.problem import Problem
from gemmviz.model.recording import LaunchRow, row_of
from gemmviz.model.timing import Benchmark
from gemmviz.scenes.kit.primitives import Cells, Labels
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.grid_view import grid_scene
from gemmviz.shots.kinds.launches import grid_case
from gemmviz.shots.occupancy import needs_of
from gemmviz.shots.shot import Shot
from tests.conftest import piece, sure


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.nightly)])
def test_no_sm_ever_held_more_blocks_than_occupancy_allows(every: int) -> None:
    for each in recorded_schedules():
        for launched, schedule in list(zip(each.rows, each.schedules, strict=True))[::every]:
            setup = setup_for(load_kernel(launched.kernel), launched.problem, launched.parameters)
            assert row_of(setup, [launched]), "another version of the kernel was recorded: make record WHAT=schedules"
            needs, _ = needs_of(setup)
            if (registers := _registers_timed(each.gpu.name, launched)) is not None:  # NVRTC's, which are not always nvcc's
                needs = structs.replace(needs, registers=registers)
            limits = occupancy_limits(load_device("h200"), needs)
            assert schedule.blocks == launch_for(setup).block_count
            assert schedule.resident().max() <= limits.blocks_per_sm
            assert (schedule.stop_ns > schedule.start_ns).all()
            assert int(schedule.sm.max()) < each.gpu.sms


def _registers_timed(gpu: str, launched: LaunchRow) -> int | None:
    """Registers of a kernel as it was compiled for the times recorded on a device; None if it wasn't timed there."""
    benchmarks = [each for name in ("benchmark", "tensor-speeds") for each in recordings(name, Benchmark)]
    rows = (row for each in benchmarks if each.gpu.name == gpu for row in each.rows)
    same = (row for row in rows if (row.source_hash, row.parameters) == (launched.source_hash, launched.parameters))
    return next((row.resources.registers for row in same if row.resources is not None), None)


def test_every_default_launch_is_recorded() -> None:
    known = {launched.kernel for each in recorded_schedules() for launched in each.rows}
    assert known == set(kernel_names())
    for name in kernel_names():
        assert any(each.find(setup_for(load_kernel(name))) is not None for each in recorded_schedules()), name


@pytest.mark.parametrize(("sms", "blocks", "rounds"), [(2, 8, 4), (4, 8, 2), (3, 8, 3), (132, 1, 1)])
def test_the_model_fills_all_sms_again_and_again(sms: int, blocks: int, rounds: int) -> None:
    found = modelled(blocks, sms, 1)
    assert waves(blocks, sms, 1) == rounds
    assert found.duration_ns == rounds * 1000
    assert found.resident().max() == 1
    assert len(set(zip(found.sm.tolist(), found.start_ns.tolist(), strict=True))) == blocks


def test_states_and_lanes_are_the_schedules() -> None:
    found = modelled(10, 2, 2)
    assert states(found, 1500).tolist() == [DONE] * 4 + [RUNNING] * 4 + [WAITING] * 2
    assert residents(found, 2, 3, found.duration_ns).tolist() == [[2, 2, 1], [2, 2, 1]]
    recorded = recorded_schedules()[0].schedules[5]
    held = residents(recorded, 132, 50, recorded.duration_ns)
    middle = (np.arange(50) + 0.5) * recorded.duration_ns / 50
    for column in (0, 20, 49):
        running = states(recorded, middle[column]) == RUNNING
        assert np.bincount(recorded.sm[running], minlength=132).tolist() == held[:, column].tolist()


def test_schedules_come_back_as_they_were(tmp_path: Path) -> None:
    before = recorded_schedules()[0]
    few = structs.replace(before, rows=before.rows[:3], schedules=before.schedules[:3])
    write_schedules(few, tmp_path / "s.npz")
    after = read_schedules(tmp_path / "s.npz")
    assert (after.gpu, after.date, after.rows) == (few.gpu, few.date, few.rows)
    for a, b in zip(after.schedules, few.schedules, strict=True):
        assert (a.sm == b.sm).all()
        assert (a.stop_ns == b.stop_ns).all()


def test_the_picture_says_what_is_recorded_and_what_is_a_model() -> None:
    tiled = load_kernel("04_tiled")
    recorded = sure(grid_case(Shot(setup_for(tiled, Problem(1024, 1024, 1024), {"TILE_WIDTH": 32}))))
    model = sure(grid_case(Shot(setup_for(tiled, Problem(1000, 1000, 1000), {"TILE_WIDTH": 32}))))
    assert not recorded.is_model
    assert model.is_model
    scene = grid_scene(recorded, ViewOptions(instant=0.5))
    assert "recorded on NVIDIA H200" in piece(scene, "note-0", Labels).texts[0]
    assert "a model" in piece(grid_scene(model, ViewOptions()), "note-0", Labels).texts[0]
    fill = piece(scene, "grid", Cells).fill
    state = states(recorded.schedule, 0.5 * recorded.schedule.duration_ns)
    assert (fill.ravel() == state).all()
    assert 0 < (state == RUNNING).sum() < len(state)
    assert piece(scene, "action", Labels).texts[0].startswith(f"{(state == WAITING).sum()} waiting, ")
