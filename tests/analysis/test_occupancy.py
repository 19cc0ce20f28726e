"""Blocks on an SM: the course's figures, other calculators' vectors, and what Nsight Compute said of an H200."""

import json
from typing import Any

import pytest
from msgspec import structs

from gemmviz.analysis.models import REGISTERS, SHARED, SLOTS, WARPS, occupancy_limits, tried, what_ifs
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.devices import device_names, load_device
from gemmviz.files.recordings import MEASUREMENTS, recorded_registers, recordings
from gemmviz.files.resources import resource
from gemmviz.model.device import Needs
from gemmviz.model.problem import Problem
from gemmviz.model.timing import RecordedCounters
from gemmviz.shots.occupancy import needs_of
from tests.conftest import DATA

RECORDED = json.loads((DATA / "h200-counters.json").read_text(encoding="utf-8"))["launches"]
CARVEOUTS = [size << 10 for size in (8, 16, 32, 64, 100, 132, 164, 196, 228)]
"""What an SM of compute capability 9.0 can give to shared memory: CUDA C++ Programming Guide, Compute Capability 9.0."""


@pytest.mark.parametrize(
    ("threads", "blocks", "of_threads", "of_warps"),
    [(1024, 2, 100, 100), (512, 4, 100, 100), (256, 8, 100, 100), (64, 32, 100, 100), (700, 2, 68.359375, 68.75)],
)
def test_an_a100(threads: int, blocks: int, of_threads: float, of_warps: float) -> None:
    found = occupancy_limits(load_device("a100"), Needs(threads, 32, 0))
    assert (found.blocks_per_sm, found.threads_percent, found.warps_percent) == (blocks, of_threads, of_warps)


def test_the_g80_of_the_lecture() -> None:
    device = load_device("8800gtx")
    for registers in range(1, 11):
        found = occupancy_limits(device, Needs(256, registers, 2048))
        assert (found.limits[SHARED], found.limits[WARPS]) == (6, 3)
        assert (found.limits[REGISTERS] or 0) >= 3
    assert occupancy_limits(device, Needs(256, 10, 2048)).limits[REGISTERS] == 3
    assert occupancy_limits(device, Needs(256, 11, 2048)).limits[REGISTERS] == 2
    assert occupancy_limits(device, Needs(1024, 10, 8192)).blocks_per_sm == 0  # a block holds 512 threads at most


def test_arguments_lie_in_shared_memory_on_a_g80() -> None:
    """2048 bytes of tiles, 16 of the launch's sizes and the arguments, in units of 512: 6 blocks; 8 KiB of tiles: 1."""
    device = load_device("8800gtx")
    for width, blocks in ((16, 6), (32, 1)):
        setup = setup_for(load_kernel("column_first"), Problem(64, 64, 64), {"TILE_WIDTH": width}, device="8800gtx")
        needs, _ = needs_of(setup)
        assert needs.argument_bytes == 3 * 8 + 4
        assert occupancy_limits(device, needs).limits[SHARED] == blocks
    least = Needs(64, 10, 480)
    assert [occupancy_limits(device, structs.replace(least, argument_bytes=n)).uses[SHARED] for n in (16, 17)] == [
        (512, 16384),
        (1024, 16384),
    ]
    newer = load_device("a100")
    assert occupancy_limits(newer, structs.replace(least, argument_bytes=256)).uses == occupancy_limits(newer, least).uses


def test_registers_where_a_block_may_have_half_of_them() -> None:
    """Compute capability 5.2: four blocks, where 5.0, whose blocks may have all of the file, holds five."""
    newer = load_device("h200")
    assert occupancy_limits(structs.replace(newer, registers_per_block=32768), Needs(128, 85, 0)).limits[REGISTERS] == 4
    assert occupancy_limits(newer, Needs(128, 85, 0)).limits[REGISTERS] == 5


def _shared_of(launch: dict[str, Any]) -> int:
    d: dict[str, int] = launch["defines"]
    kernel = launch["kernel"]
    if kernel == "tiled":
        return 8 * d["TILE_WIDTH"] ** 2
    if kernel == "tiled_transposed_a":
        return 4 * d["TILE_WIDTH"] * (2 * d["TILE_WIDTH"] + d["PAD"])
    return 4 * d["BK"] * (d["BM"] + d["BN"]) if kernel == "block_tile_2d" else 0


@pytest.mark.parametrize("launch", RECORDED, ids=lambda launch: f"{launch['kernel']}-{launch['grid'][0]}-{launch['block'][0]}")
def test_what_the_profiler_said_of_an_h200(launch: dict[str, Any]) -> None:
    """The driver gives shared memory a part of its choice; of the parts there are, one and only one explains what is said."""
    counters, (x, y, z) = launch["counters"], launch["block"]
    device, needs = load_device("h200"), Needs(x * y * z, counters["registers_per_thread"], _shared_of(launch))
    found = occupancy_limits(device, needs)
    assert found.limits[SLOTS] == counters["occupancy_limit_blocks"]
    assert found.limits[WARPS] == counters["occupancy_limit_warps"]
    assert found.limits[REGISTERS] == counters["occupancy_limit_registers"]
    assert found.warps_percent == pytest.approx(counters["theoretical_occupancy_pct"])
    said = counters["occupancy_limit_shared_mem"]
    assert sum(occupancy_limits(device, needs, part).limits[SHARED] == said for part in CARVEOUTS) == 1
    assert found.blocks_per_sm == min(found.limits[SLOTS] or 0, found.limits[WARPS] or 0, found.limits[REGISTERS] or 0, said)


def test_nobody_guesses_registers() -> None:
    found = occupancy_limits(load_device("h200"), Needs(256, None, 0))
    assert found.limits[REGISTERS] is None
    assert not found.is_certain
    assert found.blocks_per_sm == 8


@pytest.mark.parametrize("name", device_names())
def test_curves_are_the_limits_at_each_value(name: str) -> None:
    device = load_device(name)
    needs = Needs(64, 20, 1024)
    for each in what_ifs(device, needs):
        for value, warps in list(zip(each.values.tolist(), each.warps.tolist(), strict=True))[::17]:
            assert warps == occupancy_limits(device, tried(needs, each.name, value)).warps
        assert each.warps.max() <= device.max_warps_per_sm


@pytest.mark.parametrize("kernel", kernel_names())
def test_every_shipped_kernel_says_what_it_needs(kernel: str) -> None:
    needs, source = needs_of(setup_for(load_kernel(kernel), Problem(512, 512, 512)))
    assert needs.registers is not None
    assert source.startswith("recorded: nvcc")
    if "tiled" in kernel:
        assert needs.shared_bytes > 0


def test_settings_that_differ_in_one_parameter_have_registers_of_their_own() -> None:
    """As they stand in the file of what was compiled, for a kernel of several parameters."""
    kernel, device = load_kernel("08_register_tiled"), load_device("h200")
    rows = json.loads(resource(f"{MEASUREMENTS}/registers.json").read_text(encoding="utf-8"))["rows"]
    own = [each for each in rows if each["source_hash"] == kernel.text_hash]
    counts = [each["registers"][device.compute_capability] for each in own]
    assert len(set(counts)) > 1
    found = [recorded_registers(setup_for(kernel, parameters=each["parameters"]), device) for each in own]
    assert [each and each.per_thread for each in found] == counts


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.nightly)])
def test_what_the_profiler_said_of_every_shipped_kernel(every: int) -> None:
    """With the part of shared memory that it says the driver configured, every limit of every launch."""
    for levels in recordings("levels", RecordedCounters):
        device = next(load_device(name) for name in device_names() if load_device(name).is_of(levels.gpu))
        for row in levels.rows[::every]:
            needs, _ = needs_of(setup_for(load_kernel(row.kernel), row.problem, row.parameters))
            counters = row.counters
            compiled = structs.replace(needs, registers=counters["registers_per_thread"])
            found = occupancy_limits(device, compiled, counters["shared_config_bytes"])
            said = ("blocks", "warps", "registers", "shared_mem")
            assert list(found.limits.values()) == [counters[f"occupancy_limit_{name}"] for name in said]
            assert occupancy_limits(device, compiled).blocks_per_sm == found.blocks_per_sm  # the part never limits
