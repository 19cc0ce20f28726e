"""A race on the stage: the threads and elements are those of the trace, and nothing turns red before they have met."""

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import many
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Labels, Rects, Scene
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.stage.layout import places, plan_of
from gemmviz.scenes.stage.tile_cells import _so_far, clashes, guilty_sites
from tests.conftest import kernel_from, piece, trace_of

THEME = load_theme("dark")


def read(spec: KernelSpec, *size: int, **parameters: int) -> Reader:
    trace = trace_of(spec, *size, values=True, **parameters)
    return Reader(structs.replace(Replay.of(trace), ordering=ordering_of(trace)))


def whole(moment: Moment, at: float = 1.0) -> Scene:
    return view_named("stage").scene(moment, ViewOptions(moment=at))


@pytest.mark.parametrize("name", ["missing_barriers", "no_first_barrier", "no_second_barrier", "piece_6"])
def test_every_collision_is_between_two_threads_that_touch_the_element(name: str) -> None:
    reader = read(load_kernel(name), 4, 4, 4)
    trace, conflicts = reader.replay.trace, reader.replay.conflicts
    assert conflicts.steps
    for step in conflicts.steps:
        now = reader.at(step)
        for clash in clashes(now):
            for element, earlier, later in zip(clash.elements, clash.earlier, clash.later, strict=True):
                assert earlier != later
                row = trace.element[int(trace.row[step]), now.scope.of_block]
                assert row[later] == element
                touched = [trace.element[r, now.scope.of_block][earlier] for t in trace.touches_of(clash.array) for r in t.rows]
                assert element in touched
            accesses = {o.access for site in clash.sites for o in site.operands if o.array == clash.array}
            assert "write" in accesses
    every = sum(hazard.count for hazard in reader.replay.hazards)
    assert conflicts.count(trace.steps) == every


def test_threads_meet_in_the_cell_which_then_turns_red() -> None:
    reader = read(load_kernel("piece_6"), 4, 4, 4)
    step = reader.replay.conflicts.steps[0]
    now = reader.at(step)
    (clash,) = clashes(now)
    key = f"clash-{clash.array}"
    assert whole(now, 0.3).find(key) is None
    early, late = (piece(whole(now, at), f"{key}-thread-1", Rects).boxes for at in (0.05, 0.62))
    middle = places(now, plan_of(now, ViewOptions()), clash.array, clash.elements)
    centres = late[:, :2] + late[:, 2:] / 2
    assert (np.hypot(*(centres - middle).T) < np.hypot(*(early[:, :2] + early[:, 2:] / 2 - middle).T)).all()
    for at in (0.62, 0.8, 1.0):
        cells = piece(whole(now, at), key, Rects)
        assert cells.fill == THEME.warning
        assert len(cells.boxes) == 4
    still = piece(whole(now), key, Rects).boxes
    assert still[:, :2] + still[:, 2:] / 2 == pytest.approx(middle)


def test_words_count_the_collisions_that_have_happened() -> None:
    reader = read(load_kernel("piece_6"), 4, 4, 4)
    first, second = reader.replay.conflicts.steps
    assert piece(whole(reader.at(first)), "clash-count", Labels).texts == ("4 collisions",)
    assert piece(whole(reader.at(first)), "clash-so-far", Labels).texts == ("so far 16 of 32 in all 4 blocks",)
    assert piece(whole(reader.at(second)), "clash-so-far", Labels).texts == ("so far 32 of 32 in all 4 blocks",)
    said = " ".join(piece(whole(reader.at(first)), "clash-words", Labels).texts)
    assert said == "Thread (0, 0) writes sh_A[0][0], line 39; thread (1, 0) reads it, line 49, with no barrier between"
    assert whole(reader.at(first), 0.5).find("clash-count") is None
    assert whole(reader.at(0)).find("clash-count") is None


def test_both_lines_are_lit() -> None:
    reader = read(load_kernel("piece_6"), 4, 4, 4)
    now = reader.at(reader.replay.conflicts.steps[0])
    assert [site.place.line for site in guilty_sites(now)] == [39, 49]
    scene = whole(now)
    assert piece(scene, "code-guilty", Rects).fill == THEME.warning
    lit = [text for each in scene.all if isinstance(each, Labels) and each.key == "code-lit" for text in each.texts]
    assert lit == ["sh_A[ty][tx]", "sh_A[ty][k]"]


def test_writes_of_two_threads_to_one_element_of_a_matrix_are_seen() -> None:
    reader = read(kernel_from("C[threadIdx.x / 2] = A[threadIdx.x];"))
    hazard = reader.replay.hazards[0]
    (clash,) = clashes(reader.at(hazard.step))
    assert clash.elements.tolist() == [hazard.element]
    assert (int(clash.earlier[0]), int(clash.later[0])) == hazard.threads
    scene = whole(reader.at(hazard.step))
    assert piece(scene, f"clash-{clash.array}", Rects).fill == THEME.warning
    assert piece(scene, "clash-count", Labels).texts == (many(hazard.count, "collision"),)
    assert scene.find("clash-so-far") is None


def test_a_correct_kernel_collides_nowhere() -> None:
    reader = read(load_kernel("04_tiled"), 8, 8, 8, TILE_WIDTH=4)
    assert not any(clashes(reader.at(step)) for step in range(reader.replay.steps))


def test_a_collision_is_counted_once_its_threads_have_met() -> None:
    reader = read(load_kernel("piece_6"), 4, 4, 4)
    now = reader.at(reader.replay.conflicts.steps[1])
    before, after = (_so_far(now, ViewOptions(moment=moment)) for moment in (0.0, 1.0))
    assert before.startswith(f"so far {reader.replay.conflicts.count(now.step - 1)} of")
    assert after.startswith(f"so far {reader.replay.conflicts.count(now.step)} of")
    assert before != after
