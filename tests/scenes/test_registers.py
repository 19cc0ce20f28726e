"""The registers of single threads: what they hold follows from the values of the run."""

from functools import cache

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.private import private_values
from gemmviz.analysis.replay.replay import Replay
from gemmviz.scenes.kit.primitives import Labels, Squares
from gemmviz.scenes.kit.view import ARRIVAL, ViewOptions
from gemmviz.scenes.views.on_chip_view import registers_motion, registers_scene
from tests.conftest import piece, sure, trace_of
from tests.legible import too_small, wrong_with

KERNELS = [("03_coalesced", {"BLOCK": 8}), ("04_tiled", {"TILE_WIDTH": 4})]


@cache
def reader_of(kernel: str, **parameters: int) -> Reader:
    reader = Reader(Replay.of(trace_of(kernel, 8, 8, 8, values=True, **parameters)), Focus())
    reader.replay.terms(reader.scope)
    return reader


def moment_at(step: int, kernel: str = "04_tiled", **parameters: int) -> Moment:
    return reader_of(kernel, **parameters).at(step)


@pytest.mark.parametrize(("kernel", "parameters"), KERNELS)
def test_a_sum_is_that_of_the_products_so_far(kernel: str, parameters: dict[str, int]) -> None:
    last = moment_at(0, kernel, **parameters).replay.steps - 1
    moment = moment_at(last, kernel, **parameters)
    trace = moment.trace
    number = sure(trace.number_of("C"))
    (touches,) = trace.touches_of(number, "write")
    stored = sure(moment.replay.value)[touches.rows[0]]
    elements = trace.element[touches.rows[0]]
    for thread in range(4):
        held = sure(private_values(moment, thread, last))
        assert held.terms == 8
        assert trace.arrays[number].element_at(held.row, held.column) == elements[thread]
        assert sure(held.sum) == pytest.approx(float(stored[thread]), rel=1e-6)


def test_a_thread_holds_what_it_read_last() -> None:
    steps = moment_at(0, TILE_WIDTH=4).replay.steps
    for step in range(steps):
        moment = moment_at(step, TILE_WIDTH=4)
        held = sure(private_values(moment, 5, step))
        for factor in (held.a, held.b):
            if factor is not None:
                assert factor.step <= step
        if held.a is not None and held.b is not None:
            assert held.terms == min(held.a.k, held.b.k) + 1 == max(held.a.k, held.b.k) + (held.a.k == held.b.k)


def test_threads_hold_values_of_their_own() -> None:
    scene = registers_scene(moment_at(8, TILE_WIDTH=4), ViewOptions())
    sums = [piece(scene, f"slot-{number}-2-name", Labels).texts[0] for number in range(4)]
    assert len(set(sums)) == 4


@pytest.mark.parametrize(("kernel", "parameters"), KERNELS)
def test_chips_fly_to_every_thread_that_reads(kernel: str, parameters: dict[str, int]) -> None:
    step = next(step for step in range(100) if sure(moment_at(step, kernel, **parameters).thread_terms).k == 2)
    moment = moment_at(step, kernel, **parameters)
    moving = registers_motion(moment, ViewOptions(moment=0.3))
    assert len([each for each in moving if isinstance(each, Squares)]) == 4
    chips = [each for each in registers_motion(moment, ViewOptions(moment=0.0)) if isinstance(each, Squares)]
    starts = {tuple(np.round(each.boxes[0, :2], 3)) for each in chips}
    assert len(starts) < 4  # an element that several threads read sets out as one
    assert registers_motion(moment, ViewOptions(moment=ARRIVAL)) == ()


def test_the_picture_can_be_read() -> None:
    for width, height in ((1600.0, 900.0), (1600.0, 780.0)):
        scene = registers_scene(moment_at(8, TILE_WIDTH=4), structs.replace(ViewOptions(), width=width, height=height))
        assert wrong_with(scene) == []
        assert not too_small(scene)
