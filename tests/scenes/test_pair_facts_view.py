"""The figures of two runs are those of their traces, and of what was recorded."""

from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.model.trace import Trace
from gemmviz.run.engine import CountRequest, Engine, EngineRequest, WatchRequest
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Labels, Scene
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Against, default_shot
from gemmviz.shots.subject import subject_of_view
from tests.conftest import ENGINE, piece
from tests.legible import too_small, wrong_with
from tests.run.test_pipelines import body_of, outcome_of

VIEW = view_named("pair_facts")


def pair_of(left: str, right: str) -> Pair:
    one, other = (Reader(Replay.of(outcome_of(*body_of(name)).whole)) for name in (left, right))
    return Pair(one.at(0), other.at(0), "step")


def rows_of(scene: Scene) -> dict[str, list[str]]:
    """The texts of the table, row by row, under the name of each."""
    names = [each for each in scene.primitives if isinstance(each, Labels) and each.key.startswith("facts-0-")]
    found = {}
    for name in names:
        row = int(name.key.rpartition("-")[2])
        cells = (scene.find(f"facts-{column}-{row}") for column in (1, 2, 3))
        found[name.texts[0]] = [each.texts[0] if isinstance(each, Labels) else "" for each in cells]
    return found


def executed(trace: Trace, kinds: set[str]) -> int:
    """Instructions of the warps of the first block, counted one by one."""
    count = 0
    for step in range(trace.steps):
        if trace.site_of(step).kind in kinds:
            active = trace.element[trace.row[step], : trace.space.threads_per_block] >= 0
            count += sum(bool(active[at : at + 32].any()) for at in range(0, len(active), 32))
    return count


def test_instructions_and_waits_are_those_of_the_traces() -> None:
    pair = pair_of("one buffer", "four stages, one barrier")
    rows = rows_of(VIEW.scene(pair, ViewOptions()))
    for name, kinds in (("asynchronous copies", {"copy"}), ("barriers", {"barrier"}), ("waits and arrivals", {"wait"})):
        assert [int(text) for text in rows[name][:2]] == [executed(side.trace, kinds) for side in pair.sides]
    ways = []
    for side in pair.sides:
        trace = side.trace
        copies = [
            step for step in range(trace.steps) if trace.site_of(step).kind == "copy" and trace.completes[step] < trace.steps
        ]
        ways.append(np.mean([int(trace.completes[step]) - step for step in copies]))
    assert rows["steps from copy to wait"][:2] == [f"{way:.1f}" for way in ways]
    assert rows["barriers"][2] == f"× {executed(pair.right.trace, {'barrier'}) / executed(pair.left.trace, {'barrier'}):.3g}"


class TracesAlone(Engine):
    """Times and registers of a launch are known without its counts."""

    name = ENGINE.name

    def answer(self, request: EngineRequest) -> Any:
        if isinstance(request, CountRequest | WatchRequest):
            raise self.cannot(request)
        return ENGINE.answer(request)


def test_times_and_registers_name_their_device() -> None:
    sizes = Problem(512, 512, 512)
    setups = [
        structs.replace(setup_for(load_kernel("11_double_buffered"), sizes, {"TILE_WIDTH": width, "PER_THREAD": 4, "DEPTH": 16},
                          blocks="0:1,0:1", phases="1-2"), device="h100") for width in (64, 32)
    ]  # fmt: skip
    shot = structs.replace(default_shot(), setup=setups[1], view="pair_facts", against=Against(setups[0], "step"))
    pair = subject_of_view("pair_facts").at(Knowledge(shot, TracesAlone()).at_fault().in_run(), 0)
    scene = VIEW.scene(pair, ViewOptions())
    rows = rows_of(scene)
    assert rows["registers of a thread"] == ["59", "71", "× 1.2"]
    assert rows["blocks on an SM"][:2] == ["4 (registers)", "14 (registers)"]
    texts = [text for each in scene.primitives if isinstance(each, Labels) for text in each.texts]
    assert any(text.startswith("Time: recorded on NVIDIA H100") for text in texts)
    assert "Registers: recorded on NVIDIA H100 80GB HBM3" in texts
    (note,) = piece(scene, "note", Labels).texts
    assert rows["time of a launch"] == ["21.9 µs", "16.2 µs", "× 0.74"]
    assert note == "The right one takes 74.0 % of the time"


@pytest.mark.parametrize("theme", theme_names())
@pytest.mark.parametrize("size", [(1600.0, 900.0), (1000.0, 700.0)])
def test_it_can_be_read(size: tuple[float, float], theme: str) -> None:
    pair = pair_of("two buffers", "producer warp, mbarriers")
    scene = VIEW.scene(pair, ViewOptions(theme=load_theme(theme), width=size[0], height=size[1]))
    assert wrong_with(scene) == []
    assert too_small(scene) == []
