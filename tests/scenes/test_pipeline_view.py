"""The picture of a pipeline shows what the trace says: what is under way, when it has come, who reads it, and who meets whom."""

from functools import cache

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.trace import Trace
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Labels, Lines, Rects, Scene
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.pipeline_view import pipeline_of
from tests.conftest import moment_of, piece, trace_of
from tests.legible import texts_of, too_small, wrong_with
from tests.run.test_pipelines import body_of, outcome_of

VIEW = view_named("pipeline")
STAGES = {"one buffer": 2, "two buffers": 2, "four stages, one barrier": 4, "bulk copies": 2, "producer warp, mbarriers": 2}


@cache
def traced(name: str) -> Trace:
    return outcome_of(*body_of(name)).whole


def scene_of(trace: Trace, step: int, **options: float) -> Scene:
    return VIEW.scene(moment_of(trace, step), ViewOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", STAGES)
def test_fills_are_those_of_the_trace(name: str) -> None:
    trace = traced(name)
    found = pipeline_of(moment_of(trace, 0))
    assert found.stages == STAGES[name]
    copies = [step for step in range(trace.steps) if trace.site_of(step).kind == "copy"]
    for fill in (fill for fill in found.fills if trace.site_of(fill.first).kind == "copy"):
        mine = [step for step in copies if fill.first <= step <= fill.last]
        assert {int(trace.completes[step]) for step in mine} == {fill.arrives}
        assert trace.site_of(fill.arrives).kind == "wait"
        copies = [step for step in copies if step not in mine]
        elements = np.concatenate([trace.element[trace.row[step] + 1] for step in mine])
        assert set((elements[elements >= 0] // 64).tolist()) == {fill.stage}
        for step in fill.reads:
            assert fill.arrives < step
            read = trace.element[trace.row[step]]
            assert fill.stage in (read[read >= 0] // 64).tolist()
    assert copies == []


def test_the_sentence_counts_what_is_under_way() -> None:
    trace = traced("four stages, one barrier")
    reader = Reader(Replay.of(trace))
    for step in range(trace.steps):
        copies = [at for at in range(step + 1) if trace.site_of(at).kind == "copy" and int(trace.completes[at]) > step]
        stages = {int(trace.element[trace.row[at] + 1].max() // 64) for at in copies}
        (text,) = piece(VIEW.scene(reader.at(step), ViewOptions()), "said", Labels).texts
        assert text.startswith(f"{len(stages)} of 4 stages under way") or trace.site_of(step).kind == "store"
    waits = [at for at in range(trace.steps) if len(trace.completed_at(at))]
    begun = min(trace.completed_at(waits[-1]).tolist())
    (text,) = piece(scene_of(trace, waits[-1]), "said", Labels).texts
    assert f"issued {waits[-1] - begun} steps ago" in text


def test_warps_with_roles_are_tracks_that_meet() -> None:
    trace = traced("producer warp, mbarriers")
    found = pipeline_of(moment_of(trace, 0))
    assert [track.name for track in found.tracks] == ["warps 0 to 1: compute", "warp 2: fill"]
    for (track, step), (other, later) in found.meetings:
        assert track != other
        one, two = trace.site_of(step), trace.site_of(later)
        assert {one.kind, two.kind} == {"arrive", "wait"}
        assert trace.element[trace.row[step]].max() == trace.element[trace.row[later]].max()
    assert len(piece(scene_of(trace, trace.steps - 1, width=4000), "meetings", Lines).segments) > 4
    assert [track.warps for track in pipeline_of(moment_of(traced("two buffers"), 0)).tracks] == [(0, 1)]


def test_the_present_moves_with_the_step() -> None:
    trace = traced("two buffers")
    places = [float(piece(scene_of(trace, 20, moment=share), "now", Rects).boxes[0, 0]) for share in (0.0, 0.3, 1.0)]
    assert places == sorted(places)
    assert places[0] < places[1] < places[2]


def test_a_kernel_without_shared_memory_says_so() -> None:
    (text,) = piece(scene_of(trace_of("02_naive"), 0), "message", Labels).texts
    assert text == "This kernel fills no shared memory: nothing is under way into it"


@pytest.mark.parametrize("size", [(1600.0, 900.0), (800.0, 500.0)])
@pytest.mark.parametrize("name", ["four stages, one barrier", "producer warp, mbarriers"])
def test_it_can_be_read(name: str, size: tuple[float, float]) -> None:
    reader = Reader(Replay.of(traced(name)))
    for step in range(3, reader.replay.steps, 11):
        for moment in (0.4, 1.0):
            options = ViewOptions(width=size[0], height=size[1], moment=moment)
            scene = VIEW.scene(reader.at(step), options)
            assert wrong_with(scene) == []
            assert too_small(scene) == []
    for theme in theme_names():
        assert texts_of(VIEW.scene(reader.at(step), structs.replace(options, theme=load_theme(theme)))) == texts_of(scene), (
            theme
        )


def test_a_copy_is_under_way_on_the_stage_until_its_wait() -> None:
    trace, stage = traced("two buffers"), view_named("stage")
    copies = [step for step in range(trace.steps) if trace.site_of(step).kind == "copy"]
    issued = next(step for step in copies if trace.completes[step] > step + 3)
    number, arrives = trace.site_of(issued).operands[1].array, int(trace.completes[issued])
    cells = trace.element[trace.row[issued] + 1][:64]
    ways = {}
    for step in range(issued, arrives + 1):
        moment = moment_of(trace, step)
        (own,) = (each for each in moment.flights if each.issued == (issued if step > issued else -1))
        ways[step] = own.way
        assert set(own.end.tolist()) == set(cells.tolist())
        assert own.stays == (step < arrives)
        is_there = moment.tiles[number].element[cells].tolist() == trace.element[trace.row[issued]][:64].tolist()
        assert is_there == (step == arrives)
        still = [each for each in stage.scene(moment, ViewOptions(moment=1.0)).primitives if each.meaning == "moving"]
        assert bool(still) == any(each.stays for each in moment.flights)
    assert ways[issued] == (0.0, 0.5)
    assert ways[arrives] == (0.5, 1.0)
    assert set(list(ways.values())[1:-1]) == {(0.5, 0.5)}
