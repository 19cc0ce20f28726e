"""What the window would show, where there is none: frames and an animation in the folder ``out``."""

from pathlib import Path

from gemmviz.analysis.replay import Replay
from gemmviz.model.trace import Trace
from gemmviz.render.export import save_animation, save_frame
from gemmviz.render.qt.offscreen import start_qt
from gemmviz.scene.frame import ViewOptions
from gemmviz.scene.views import VIEWS

_MOST_FRAMES = 60
_STEP_MS = 600


def render_without_display(trace: Trace) -> int:
    """Renders one PNG for each of up to 60 steps, evenly spread, and a GIF of them; the exit code."""
    start_qt()
    replay = Replay(trace)
    stage, options = VIEWS["stage"], ViewOptions()
    folder = Path("out")
    folder.mkdir(exist_ok=True)
    every = max(1, -(-trace.steps // _MOST_FRAMES))
    steps = range(0, trace.steps, every)
    print(f"There is no display to open a window on, so the replay of {trace.kernel} is rendered to {folder}/ instead.")
    for step in steps:
        save_frame(stage.scene(replay, step, options), folder / f"{trace.kernel}-step{step + 1:04}.png")
    film = (frame for step in steps for frame in stage.film(replay, step, options, _STEP_MS))
    save_animation(film, folder / f"{trace.kernel}.gif")
    print(f"{folder}/{trace.kernel}.gif: {len(steps)} steps; {trace.check}")
    return 0 if trace.check.passed else 1
