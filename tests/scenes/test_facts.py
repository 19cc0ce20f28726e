"""The stage tells each fact once: no two of its texts tell the same."""

from collections import Counter

import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.trace import Trace
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Labels, Scene
from gemmviz.scenes.kit.view import ViewOptions
from tests.conftest import trace_of
from tests.problem_kernels import problem_kernel, run_of

MULTIPLIES = [
    ("02_naive", 8, {"BLOCK": 4}), ("03_coalesced", 8, {"BLOCK": 4}), ("04_tiled", 8, {"TILE_WIDTH": 4}),
    ("08_register_tiled", 32, {}), ("14_mma", 32, {}),
]  # fmt: skip
PROBLEMS = ["vector_add", "transpose_naive", "transpose_tiled", "reduction_tree"]
ALONG_EDGES = ("scale", "lane numbers")  # numbers along an edge, and of lanes
NAMES = ("-name", "-names", "code-lit")  # of things that are drawn; a part of a statement over the same part of it
STEPS = [12, pytest.param(160, marks=pytest.mark.nightly)]
FOCUSES = [Focus(), Focus(warp=0), Focus(thread=0), Focus(everyone=True)]


def untold(scene: Scene) -> list[str]:
    """Return the keys of texts that neither tell a fact nor name a thing that is drawn."""
    return [
        each.key for each in scene.all
        if isinstance(each, Labels) and not each.tells and each.meaning not in ALONG_EDGES
        and not each.key.endswith(NAMES) and not each.key.startswith("track-")
    ]  # fmt: skip


def moments_of(replay: Replay, focus: Focus, most: int) -> list[Moment]:
    """About ``most`` of the first 160 steps."""
    reader, steps = Reader(replay, focus), min(replay.steps, 160)
    return [reader.at(step) for step in range(0, steps, -(-steps // most))]


def check(trace: Trace, most: int) -> None:
    replay = Replay.of(trace)
    for focus in FOCUSES:
        for number, moment in enumerate(moments_of(replay, focus, most)):
            for timeline in (number % 2 == 0,) if most == STEPS[0] else (True, False):
                scene = view_named("stage").scene(moment, ViewOptions(timeline=timeline))
                told = Counter(fact for each in scene.all if isinstance(each, Labels) for fact in each.tells)
                assert max(told.values()) == 1, (moment.step, focus, told)
                assert untold(scene) == [], (moment.step, focus)


@pytest.mark.parametrize("most", STEPS)
@pytest.mark.parametrize(("name", "size", "parameters"), MULTIPLIES, ids=[each[0] for each in MULTIPLIES])
def test_a_multiplication_tells_each_fact_once(name: str, size: int, parameters: dict[str, int], most: int) -> None:
    check(trace_of(name, size, size, size, **parameters), most)


@pytest.mark.parametrize("most", STEPS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_other_problems_tell_each_fact_once(name: str, most: int) -> None:
    check(run_of(problem_kernel(name)).whole, most)
