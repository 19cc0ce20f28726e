"""A click on the mark of a hazard goes to its step, also where a step is narrower than the mark."""

from itertools import pairwise

import pytest
from msgspec import structs
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.gui.timeline import TimelineSlider
from gemmviz.scenes.kit.primitives import CAP_HEIGHT, Labels
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.timeline import timeline_names, x_of_step
from tests.conftest import trace_of


def test_a_click_near_a_mark_goes_to_its_step(qtbot: QtBot) -> None:
    trace = trace_of(load_kernel("no_second_barrier"), 4, 4, 200, values=True)
    replay = structs.replace(Replay.of(trace), ordering=ordering_of(trace))
    slider = TimelineSlider()
    qtbot.addWidget(slider)
    slider.resize(600, 60)
    slider.setRange(0, trace.steps - 1)
    slider.replay = replay
    marked = replay.conflicts.steps[len(replay.conflicts.steps) // 2]
    x = x_of_step(marked + 0.5, trace.steps, slider.tracks)
    assert slider.tracks.width / trace.steps < 1.5
    assert slider.step_at(x) == marked
    assert slider.step_at(x + 2.0) in replay.conflicts.steps
    slider.replay = None
    assert slider.step_at(x + 2.0) > marked


def test_the_timeline_has_the_colours_of_the_theme(qtbot: QtBot) -> None:
    replay = Replay.of(trace_of("04_tiled"))

    def pictured(slider: TimelineSlider, theme: str) -> QImage:
        slider.show_run(replay, load_theme(theme))
        return slider.grab().toImage()

    one, other = TimelineSlider(), TimelineSlider()
    for slider in (one, other):
        qtbot.addWidget(slider)
        slider.resize(600, 60)
        slider.show()
        qtbot.waitExposed(slider)
    assert pictured(one, "dark") != pictured(one, "light") == pictured(other, "light")


@pytest.mark.parametrize("scale", [1.0, 1.3, 1.7])
def test_all_tracks_of_a_tiled_kernel_are_named_and_the_names_stand_apart(qtbot: QtBot, scale: float) -> None:
    slider, replay = TimelineSlider(), Replay.of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    qtbot.addWidget(slider)
    slider.resize(1000, slider.height())
    slider.set_type_scale(scale)
    texts = [each for each in timeline_names(replay, slider._whole, slider.theme) if isinstance(each, Labels)]
    names = [each for each in texts if each.key.startswith("track-")]
    assert [each.texts[0] for each in names] == ["load A", "load B", "into tile", "multiply", "store C"]
    pitches = [below.at[0, 1] - above.at[0, 1] for above, below in pairwise(names)]
    assert min(pitches) > 1.1 * slider.theme.type.least
    (phases,) = [each for each in texts if each.key == "phase-names"]
    assert phases.at[:, 1].max() < names[0].at[0, 1] - slider.theme.type.least
    assert phases.at[:, 1].min() - CAP_HEIGHT * slider.theme.type.least >= slider._whole.y


def test_a_view_without_time_has_no_position(qtbot: QtBot) -> None:
    slider = TimelineSlider()
    qtbot.addWidget(slider)
    slider.resize(300, slider.height())
    slider.setRange(0, 0)
    image = slider.grab().toImage()
    assert len({image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}) == 1
    slider.show_run(Replay.of(trace_of("04_tiled")), slider.theme)
    assert slider.grab().toImage() != image
