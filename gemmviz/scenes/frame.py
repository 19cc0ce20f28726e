"""What every view has around it: the size of a frame, the options, and the words that say what happens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gemmviz.analysis.focus import focus_text
from gemmviz.analysis.moment import Moment
from gemmviz.scenes import sentence
from gemmviz.scenes.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.text import fitted, text_width
from gemmviz.scenes.theme import Theme, load_theme

WIDTH, HEIGHT = 1600.0, 900.0
MARGIN, TOP, BOTTOM = 40.0, 76.0, 132.0
TITLE_SIZE, CAPTION_SIZE = 30.0, 25.0
ARRIVAL = 0.85
Layer = Literal["matrix", "warp", "reuse"]
LAYERS: tuple[Layer, ...] = ("matrix", "warp", "reuse")


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """How to draw. ``zoom``: how much larger than the whole frame it is looked at, which decides where labels fit;
    ``height``: of the frame, in units; ``layer``: what colours tell (the matrix, the warp that touches, or loads so far);
    ``moment``: how much of the step has passed, 0 to 1; ``words``: with title and captions, or the picture alone; ``clip``: the
    part (x, y, width, height) that can be seen, None for all; ``curves``: which of a chart's curves to show, by label.
    """

    theme: Theme = field(default_factory=lambda: load_theme("dark"))
    zoom: float = 1.0
    height: float = HEIGHT
    layer: Layer = "matrix"
    moment: float = 1.0
    words: bool = True
    clip: tuple[float, float, float, float] | None = None
    curves: Mapping[str, bool] = field(default_factory=dict)

    @property
    def arrived(self) -> bool:
        """Whether what moves in this step is where it goes to."""
        return self.moment >= ARRIVAL

    @property
    def top(self) -> float:
        """Where a view's own picture may begin."""
        return TOP + MARGIN if self.words else 14.0

    @property
    def bottom(self) -> float:
        """Where it must end."""
        return self.height - (BOTTOM if self.words else 14.0)


def framed(found: list[Primitive], moment: Moment, options: ViewOptions) -> Scene:
    """A whole frame: a view's own primitives, and the words around them."""
    words = frame_words(moment, options.theme, options.height) if options.words else []
    return Scene(WIDTH, options.height, options.theme.background, (*found, *words))


def frame_words(moment: Moment, theme: Theme, height: float) -> list[Primitive]:
    """Title, progress, what the watched threads do and what it costs: around every view."""
    trace, setup = moment.trace, moment.trace.setup
    room = WIDTH - 2 * MARGIN
    parameters = "".join(f", {name} = {value}" for name, value in setup.parameters.items())
    progress = sentence.step_title(moment)
    title = fitted(f"{setup.kernel.name}{parameters}", TITLE_SIZE, room - text_width(progress, 24.0) - 2 * MARGIN, "semibold")
    lines = (f"{focus_text(moment.focus, trace)}: {sentence.action(moment)}", sentence.cost(moment))
    action_line = fitted(lines[0], CAPTION_SIZE, room, "semibold")
    found: list[Primitive] = [
        Labels("title", points((MARGIN, 50)), (title,), TITLE_SIZE, theme.text, "start", "semibold"),
        Labels("progress", points((WIDTH - MARGIN, 50)), (progress,), 24.0, theme.faint, "end"),
        Labels("action", points((MARGIN, height - 58)), (action_line,), CAPTION_SIZE, theme.text, "start", "semibold"),
        Labels("cost", points((MARGIN, height - 24)), (fitted(lines[1], 22.0, room),), 22.0, theme.faint),
    ]  # fmt: skip
    share = (moment.step + 1) / trace.steps
    found.append(Rects("progress-track", boxes((0, height - 6, WIDTH, 6)), theme.empty))
    found.append(Rects("progress-bar", boxes((0, height - 6, WIDTH * share, 6)), theme.faint))
    return found


def message(text: str, options: ViewOptions) -> Labels:
    """A sentence in the middle of a view that has nothing to show."""
    at = points((WIDTH / 2, (options.top + options.bottom) / 2 + 8))
    return Labels("message", at, (text,), 30.0 if options.words else 26.0, options.theme.faint, "middle")
