"""A click on the mark of a hazard goes to its step, also where a step is narrower than the mark."""

from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.gui.stage.timeline import TimelineSlider
from gemmviz.model.records import replace
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.timeline import x_of_step
from tests.conftest import trace_of


def test_a_click_near_a_mark_goes_to_its_step(qtbot: QtBot) -> None:
    trace = trace_of(load_kernel("no_second_barrier"), 4, 4, 200, values=True)
    replay = replace(Replay.of(trace), ordering=ordering_of(trace))
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
