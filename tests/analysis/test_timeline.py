"""The timeline of a run: the track of each step."""

import numpy as np
import pytest

from gemmviz.analysis.replay.replay import BARRIER, COMPUTE, LOAD_A, LOAD_B, STORE_C, STORE_TILE, Replay
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Cells, Rects
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.timeline import segment_text, step_under, timeline_primitives, x_of_step
from tests.conftest import trace_of


@pytest.fixture(scope="module")
def replay() -> Replay:
    return Replay.of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))


def test_every_step_has_its_track(replay: Replay) -> None:
    phase = [LOAD_A, STORE_TILE, LOAD_B, STORE_TILE, BARRIER, *[COMPUTE] * 8, BARRIER]
    assert replay.timeline.track.tolist() == [*phase, *phase, STORE_C]
    assert replay.timeline.segment(7) == (5, 13)
    assert replay.timeline.segment(replay.steps - 1) == (28, 29)


def test_segments_say_what_they_are(replay: Replay) -> None:
    assert segment_text(replay, 7) == "steps 6 to 13, phase 1: compute"
    assert segment_text(replay, 4) == "step 5, phase 1: barrier"
    assert segment_text(replay, 28) == "step 29: store C"


def test_stretches_hold_all_of_their_steps(replay: Replay) -> None:
    for columns in (1, 3, 7, 29):
        shares = replay.timeline.shares_over(columns)
        assert shares.shape == (BARRIER + 1, columns)
        assert shares.sum(axis=0) == pytest.approx(np.ones(columns))
    assert (replay.timeline.shares_over(29).argmax(axis=0) == replay.timeline.track).all()


def test_the_picture_shows_the_tracks(replay: Replay) -> None:
    room = Box(10, 5, 290, 25)
    cells, barriers = timeline_primitives(replay, room, load_theme("dark"))
    assert isinstance(cells, Cells)
    assert isinstance(barriers, Rects)
    assert ((cells.fill > 0).sum(axis=0) == (replay.timeline.track != BARRIER)).all()
    assert len(barriers.boxes) == (replay.timeline.track == BARRIER).sum()
    for step in range(replay.steps):
        assert step_under(x_of_step(step + 0.5, replay.steps, room), replay.steps, room) == step
