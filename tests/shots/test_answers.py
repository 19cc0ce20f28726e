"""Answers to clicks: their bytes are those of independent counts, for every shipped kernel."""

import re

import pytest

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.tiles import block_traffic, whole_traffic
from gemmviz.cuda.launch.catalog import all_kernel_names, load_kernel
from gemmviz.cuda.launch.legality import launch_for, setup_for
from gemmviz.model.problem import Problem
from gemmviz.run.choosing import run
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Cells, Hit
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.answers import AskedArray, answer_to, question_at
from gemmviz.shots.knowledge import Knowledge, replay_of
from gemmviz.shots.shot import Shot
from tests.conftest import sampled, sure, trace_of

_FAULTY = {"no_else", "no_guard", "piece_1", "piece_2", "piece_3", "wide_block"}  # on purpose


def reader_of(name: str, size: int | None = None, **parameters: int) -> Reader:
    kernel = load_kernel(name)
    problem = kernel.problem if size is None else Problem(size, size, size)
    setup = setup_for(kernel, problem, parameters)
    return Reader(replay_of(run(setup, (0, 0, 0), Interpreter(), values=False)))


_COUNTED = [name for name in all_kernel_names() if name not in _FAULTY and not load_kernel(name).blanks]


@pytest.mark.parametrize("name", sampled(_COUNTED, every=10))
def test_blocks_together_move_what_the_launch_moves(name: str) -> None:
    """The counter of whole launches streams accesses and never sees a trace."""
    trace = reader_of(name).replay.trace
    counts = Knowledge(Shot(trace.setup), Interpreter()).counts
    assert trace.is_whole
    threads = trace.space.threads_per_block
    for number, array in enumerate(trace.arrays):
        for access in ("read", "write"):
            launch = [
                each for (_, operand), each in counts.accesses.items()
                if (operand.array, operand.access) == (number, access)
            ]  # fmt: skip
            blocks = [
                block_traffic(trace, number, access, slice(first, first + threads))
                for first in range(0, trace.space.thread_count, threads)
            ]
            assert sum(each.elements for each in blocks) * array.itemsize == sum(each.bytes_asked for each in launch)
            assert sum(each.cost.sectors for each in blocks) == sum(each.sectors for each in launch)
            assert sum(each.cost.wavefronts for each in blocks) == sum(each.wavefronts for each in launch)
            assert whole_traffic(trace, number, access).elements == sum(each.elements for each in blocks)


def sentences(reader: Reader, name: str, block: tuple[int, int, int] = (0, 0, 0), counted: bool = True) -> tuple[str, ...]:
    trace = reader.replay.trace
    counts = Knowledge(Shot(trace.setup), Interpreter()).counts if counted else None
    return tuple(
        re.sub("\u202f", " ", each) for each in answer_to(AskedArray(sure(trace.number_of(name)), block), trace, counts)
    )


def test_a_tiled_kernel() -> None:
    reader = reader_of("04_tiled", 8, TILE_WIDTH=4)
    assert sentences(reader, "A") == (
        "Block (0, 0) fetches 128 B of A, 2 tiles of 64 B.",
        "Its requests move 8 sectors, 256 B, 4 of them needed.",
        "The launch fetches 512 B of A, every element twice, and moves 32 sectors, 1024 B, 16 of them needed.",
    )
    assert sentences(reader, "tileA", (1, 0, 0))[:3] == (
        "tileA of block (1, 0) has 64 B.",
        "The block stores 128 B there, with elements of A.",
        "It reads 512 B: each stored value 4 times.",
    )
    assert sentences(reader, "C")[:3] == (
        "Block (0, 0) stores 64 B of C: 16 elements, each once.",
        "Its requests move 4 sectors, 128 B, 2 of them needed.",
        "For that it fetches 128 B of A and 128 B of B.",
    )


def test_a_kernel_without_tiles() -> None:
    reader = reader_of("02_naive", 64, BLOCK=32)
    assert sentences(reader, "A")[0] == "Block (0, 0) fetches 262 144 B of A: 2048 elements, each 32 times."
    assert "every element 64 times" in sentences(reader, "A")[-1]


def test_nothing_is_said_of_a_launch_that_is_not_counted() -> None:
    said = sentences(reader_of("04_tiled", 8), "A", counted=False)
    assert said[-1] == "The launch is being counted."
    assert not any("The launch fetches" in each for each in said)


def test_what_is_counted_of_a_run_is_said_first() -> None:
    for phases, words in (("2", "Counted in phase 2."), ("2-3", "Counted in phases 2 to 3.")):
        trace = trace_of("04_tiled", 8, 8, 16, phases=phases)
        assert answer_to(AskedArray(sure(trace.number_of("A")), (0, 0, 0)), trace, None)[0] == words


def test_an_element_is_fetched_so_often_on_average() -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4, blocks="0:1,0:1")
    counts = Knowledge(Shot(trace.setup), Interpreter()).counts
    assert "an element 2 times on average" in answer_to(AskedArray(sure(trace.number_of("A")), (0, 0, 0)), trace, counts)[-1]


def test_a_cell_of_the_result_asks_about_its_block() -> None:
    reader = reader_of("04_tiled", 8, TILE_WIDTH=4)
    now = reader.at(5)
    scene = view_named("stage").still(now, ViewOptions())
    cells = sure(scene.find("C"))
    assert isinstance(cells, Cells)
    assert question_at(now, Hit(cells, 5, 0)) == AskedArray(sure(now.trace.number_of("C")), (0, 1, 0))
    tile = sure(scene.find("tile-tileA"))
    assert isinstance(tile, Cells)
    assert question_at(now, Hit(tile, 0, 0)) == AskedArray(sure(now.trace.number_of("tileA")), (0, 0, 0))
    assert launch_for(now.trace.setup).block_count == 4
