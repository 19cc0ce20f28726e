"""What every view has around it: the size of a frame, the options, and the words that say what happens."""

from dataclasses import dataclass

from gemmviz.analysis.replay import Replay
from gemmviz.scene import sentence
from gemmviz.scene.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scene.text import fitted
from gemmviz.scene.theme import DARK, Theme

WIDTH, HEIGHT = 1600.0, 900.0
MARGIN, TOP, BOTTOM = 40.0, 76.0, 132.0
TITLE_SIZE, CAPTION_SIZE = 30.0, 25.0


@dataclass(frozen=True, slots=True)
class StageOptions:
    """How to draw. ``zoom``: how much larger than the whole frame it is looked at, which decides where labels fit;
    ``height``: of the frame, in units.
    """

    theme: Theme = DARK
    zoom: float = 1.0
    height: float = HEIGHT


def framed(found: list[Primitive], replay: Replay, step: int, options: StageOptions) -> Scene:
    """A whole frame: a view's own primitives, and the words around them."""
    words = frame_words(replay, step, options.theme, options.height)
    return Scene(WIDTH, options.height, options.theme.background, (*found, *words))


def frame_words(replay: Replay, step: int, theme: Theme, height: float) -> list[Primitive]:
    """Title, progress, what the watched threads do and what it costs: around every view."""
    trace = replay.trace
    room = WIDTH - 2 * MARGIN
    parameters = "".join(f", {name} = {value}" for name, value in trace.parameters.items())
    who = f"block ({replay.block[0]}, {replay.block[1]})" + ("" if replay.warp is None else f", warp {replay.warp}")
    title = fitted(f"{trace.kernel}{parameters}", TITLE_SIZE, room * 0.6, "semibold")
    action = sentence.action(replay, step)
    lines = (f"{who}: {action}", sentence.cost(replay, step))
    action_line = fitted(lines[0], CAPTION_SIZE, room, "semibold")
    found: list[Primitive] = [
        Labels("title", points((MARGIN, 50)), (title,), TITLE_SIZE, theme.text, "start", "semibold"),
        Labels("progress", points((WIDTH - MARGIN, 50)), (sentence.step_title(replay, step),), 24.0, theme.faint, "end"),
        Labels("action", points((MARGIN, height - 58)), (action_line,), CAPTION_SIZE, theme.text, "start", "semibold"),
        Labels("cost", points((MARGIN, height - 24)), (fitted(lines[1], 22.0, room),), 22.0, theme.faint),
    ]  # fmt: skip
    share = (step + 1) / trace.steps
    found.append(Rects("progress-track", boxes((0, height - 6, WIDTH, 6)), theme.empty))
    found.append(Rects("progress-bar", boxes((0, height - 6, WIDTH * share, 6)), theme.faint))
    return found
