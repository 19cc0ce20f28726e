"""Tile sizes to try: what suits, what the others break, and what is read."""

import pytest
from msgspec import structs

from gemmviz.analysis.counts import loads_per_element
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.runs import KnownRun, TileSizes, finished_run, run_so_far, tile_facts, tile_sizes
from gemmviz.shots.shot import Shot
from tests.conftest import sure


def ran(setup: Setup) -> KnownRun:
    return finished_run(Knowledge(Shot(setup), Interpreter(), with_values=False))


def suiting(tiles: TileSizes | None) -> list[int]:
    return [size.value for size in sure(tiles).sizes if size.suits]


def test_sizes_with_two_phases_are_offered_and_the_others_say_what_they_break() -> None:
    known = ran(setup_for(load_kernel("04_tiled")))
    tiles = sure(tile_sizes(known.setup, known))
    assert suiting(tiles) == [2, 4]
    reasons = {size.value: size.why_not for size in tiles.sizes}
    assert "single phase" in reasons[8]
    assert "larger than C" in reasons[16]
    assert "4096 threads" in reasons[64]
    larger = sure(tile_sizes(sure(tiles.larger), known))
    assert suiting(larger) == [2, 4, 8, 16, 32]
    assert larger.larger is None


def test_a_block_without_phases_only_has_to_fit() -> None:
    setup = setup_for(load_kernel("03_coalesced")).changed(M=64, N=64, K=64, BLOCK=16)
    assert suiting(tile_sizes(setup, ran(setup))) == [2, 4, 8, 16, 32]
    assert suiting(tile_sizes(setup.changed(M=8, N=8, K=8), ran(setup))) == [2, 4, 8]


def test_phases_that_do_not_follow_the_tile_are_no_reason() -> None:
    setup = setup_for(load_kernel("08_register_tiled"))  # its phases are those of DEPTH
    known = ran(setup)
    assert known.replay.phases != -(-setup.problem.sizes["K"] // setup.parameters["TILE_WIDTH"])
    assert setup.parameters["TILE_WIDTH"] in suiting(tile_sizes(setup, known))


def test_a_kernel_without_tiles_has_none() -> None:
    assert tile_sizes(setup_for(load_kernel("sequential"))) is None


@pytest.mark.parametrize(("name", "size"), [("04_tiled", 4), ("04_tiled", 2), ("02_naive", 8), ("08_register_tiled", 8)])
def test_reads_from_the_trace_are_those_of_the_launch(name: str, size: int) -> None:
    setup = setup_for(load_kernel(name))
    parameter = sure(tile_sizes(setup)).name
    known = ran(setup.changed(**{parameter: size}))
    assert known.counts is None
    before = tile_facts(known)
    loads = loads_per_element(sure(known.known.counted.value))
    assert before == tile_facts(sure(run_so_far(known.known)))
    assert (f"{loads['A']:.4g} times" if loads["A"] > 1 else "once") in before


def test_a_kernel_without_barriers_has_no_phases() -> None:
    facts = tile_facts(ran(setup_for(load_kernel("02_naive")).changed(M=8, N=8, K=8, BLOCK=4)))
    assert facts == "4 blocks, A and B are read 8 times each"


def test_the_reads_of_a_tile_are_a_share_of_the_matrix() -> None:
    assert tile_facts(ran(setup_for(load_kernel("04_tiled")))) == "4 blocks, 2 phases, A and B are read 2 times each"


def test_large_numbers_of_reads_are_written_out() -> None:
    facts = tile_facts(ran(setup_for(load_kernel("04_tiled")).changed(M=2048, N=2, K=2, TILE_WIDTH=2)))
    assert facts == "1024 blocks, 1 phase, A is read once, B is read 1024 times"


def test_a_trace_of_some_blocks_does_not_tell_the_reads_of_the_launch() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(16, 16, 16))
    assert "read" in tile_facts(ran(setup))
    assert "read" not in tile_facts(ran(structs.replace(setup, blocks="0:1,0:1")))
