"""What is known of a shot is computed once, whoever asks, and shared by shots of the same launch and run."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.replay.focus import Focus
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import Cancelled, DeviceError, cancellable, checkpoint
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import CountRequest, EngineRequest
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Against, Shot
from tests.conftest import trace_of

SHOT = Shot(setup_for(load_kernel("04_tiled"), Problem(8, 8, 8), {"TILE_WIDTH": 4}))


class _Noting(Interpreter):
    """An interpreter that notes what it is asked; ``gate`` holds counts back until it is set."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate, self.has_begun = threading.Event(), threading.Event()
        self.gate.set()

    def answer(self, request: EngineRequest) -> Any:
        self.asked.append(request.to)
        if isinstance(request, CountRequest):
            self.has_begun.set()
            while not self.gate.wait(0.01):
                checkpoint()
        return super().answer(request)


def test_a_fact_is_computed_once_for_all_threads() -> None:
    engine = _Noting()
    known = Knowledge(SHOT, engine)
    engine.gate.clear()
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(lambda: known.counts) for _ in range(4)]
        assert engine.has_begun.wait(10)
        engine.gate.set()
        first, *others = [each.result() for each in asked]
    assert all(each is first for each in others)
    assert engine.asked == ["count a launch"]


def test_cancelled_work_leaves_a_fact_to_the_next_that_asks() -> None:
    engine, cancel = _Noting(), threading.Event()
    known = Knowledge(SHOT, engine)
    engine.gate.clear()

    def ask() -> None:
        with cancellable(cancel.is_set):
            _ = known.counts

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask) for _ in range(2)]  # one computes, the other waits for it
        assert engine.has_begun.wait(10)
        cancel.set()
        for each in asked:
            with pytest.raises(Cancelled):
                each.result(10)
    engine.gate.set()
    assert known.counts.total().requests > 0


def test_shots_of_one_launch_share_its_run_and_its_counts() -> None:
    engine = _Noting()
    known = Knowledge(SHOT, engine)
    _ = known.replay, known.counts
    other = known.about(structs.replace(SHOT, view="warp", focus=Focus((1, 1, 0), thread=3)))
    assert other.replay is known.replay
    assert other.counts is known.counts
    assert other.moment.focus.thread == 3
    assert engine.asked == ["record a trace", "count a launch"]
    assert known.about(structs.replace(SHOT, setup=SHOT.setup.changed(M=12))).counts is not known.counts


def test_the_compared_launch_runs_once() -> None:
    engine = _Noting()
    against = Against(setup_for(load_kernel("02_naive"), SHOT.setup.problem))
    known = Knowledge(structs.replace(SHOT, view="pair", against=against), engine)
    assert known.compared.replay is known.compared_reader.replay
    assert engine.asked.count("record a trace") == 2
    with pytest.raises(Exception, match="no second launch"):
        _ = Knowledge(SHOT, engine).compared


def test_a_finished_run_is_the_only_one_and_is_not_run_again() -> None:
    trace = trace_of("04_tiled", 8, 8, 8, blocks="0:1,0:1", TILE_WIDTH=4)
    run = Interpreter().trace(trace.setup)
    engine = _Noting()
    known = Knowledge(Shot(trace.setup), engine, run)
    assert known.about(Shot(trace.setup, Focus((1, 1, 0)))).outcome is run
    assert engine.asked == []


def test_a_launch_without_a_speed_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(setup: Any, **options: Any) -> Any:
        raise DeviceError("the GPU is lost")

    monkeypatch.setattr("gemmviz.shots.knowledge.FallbackEngine.time", lambda engine, setup: fail(setup))
    facts = Knowledge(SHOT, Interpreter()).facts
    assert facts.counts is not None
    assert (facts.speed, facts.no_speed) == (None, "the GPU is lost")


def test_a_quick_run_gets_its_values_when_a_fact_needs_them() -> None:
    engine = _Noting()
    quick, full = Knowledge(SHOT, engine, with_values=False), Knowledge(SHOT, Interpreter())
    assert quick.first_replay.value is None
    assert quick.watch_result.watched is not None
    first = ["record a trace", "watch variables"]
    assert engine.asked == first
    assert Knowledge.replay.at_hand(quick) is None
    np.testing.assert_array_equal(quick.replay.value, full.replay.value)
    assert engine.asked == [*first, "record a trace"]
    assert full.first_replay.value is not None
    assert quick.replay.hazards == full.replay.hazards


def test_a_step_further_and_a_resolved_focus_are_the_same_run() -> None:
    known = Knowledge(structs.replace(SHOT, focus=Focus((0, 0, 0), thread=3)), Interpreter())
    watched = known.watch_result
    inside = known.about(structs.replace(known.shot, focus=known.shot.focus.within(known.first_replay.trace)))
    assert inside.shot != known.shot
    assert Knowledge.watch_result.at_hand(inside) is watched
    later = known.about(structs.replace(SHOT, moment=0.5))
    assert Knowledge.first_replay.at_hand(later) is known.first_replay
    assert Knowledge.watch_result.at_hand(later) is None
