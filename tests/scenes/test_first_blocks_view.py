"""What the first blocks need: as many elements as a simulation of their tiles says, in the order of rows and in groups."""

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.model.messages import grouped
from gemmviz.scenes.kit.primitives import Cells
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.views.tiles_view import first_blocks_motion, first_blocks_scene
from tests.conftest import moment_of, trace_of
from tests.pseudo import texts_of

WIDTH, N, K = 4, 32, 8


def needed(group: int, blocks: int) -> dict[str, np.ndarray]:
    """The cells of each matrix that some blocks read or compute."""
    cells = {"A": np.zeros((N, K), bool), "B": np.zeros((K, N), bool), "C": np.zeros((N, N), bool)}
    across = N // WIDTH
    for block in range(blocks):
        first, place = block // (group * across) * group, block % (group * across)
        rows = slice((first + place % group) * WIDTH, (first + place % group + 1) * WIDTH)
        columns = slice(place // group * WIDTH, (place // group + 1) * WIDTH)
        cells["A"][rows], cells["B"][:, columns], cells["C"][rows, columns] = True, True, True
    return cells


@pytest.mark.parametrize(("group", "blocks"), [(1, 8), (1, 11), (4, 8), (4, 40)])
def test_elements_of_the_first_blocks(group: int, blocks: int) -> None:
    moment = moment_of(trace_of("grouped_blocks", N, N, K, GROUP=group), 0, Focus((blocks - 1, 0, 0)))
    expected = needed(group, blocks)
    drawn = {each.key[-1]: each for each in first_blocks_motion(moment, ViewOptions()) if isinstance(each, Cells)}
    assert {name: each.fill.astype(bool).tolist() for name, each in drawn.items()} == {
        k: v.tolist() for k, v in expected.items()
    }
    texts = [text for _, text in texts_of(first_blocks_scene(moment, ViewOptions()))]
    for name in "AB":
        assert f"read {grouped(int(expected[name].sum()))} elements of {name}" in texts
    assert f"{blocks} blocks" in texts


def test_the_picture_is_of_blocks_and_of_no_step() -> None:
    moment = moment_of(trace_of("grouped_blocks", N, N, K, GROUP=1), 0, Focus((7, 0, 0)))
    scene = first_blocks_scene(moment, ViewOptions())
    assert "up to block (7, 0), in the order of their numbers" in [text for _, text in texts_of(scene)]
    assert not any(each.key.startswith(("score", "progress", "action", "cost")) for each in scene.all)


def test_blocks_come_one_after_another() -> None:
    moment = moment_of(trace_of("grouped_blocks", N, N, K, GROUP=1), 0, Focus((7, 0, 0)))
    shown = [first_blocks_motion(moment, ViewOptions(moment=share))[2] for share in (0.0, 0.5, 1.0)]
    assert [int(each.fill.sum()) // WIDTH**2 for each in shown if isinstance(each, Cells)] == [1, 4, 8]
