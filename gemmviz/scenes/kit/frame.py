"""What every view has around it: the size of a frame, the options, and the words that say what happens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from gemmviz.analysis.replay.focus import focus_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.labels import PLAIN, LabelStyle
from gemmviz.model.setting import Control
from gemmviz.scenes.kit import sentence
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line, text_width, wrapped
from gemmviz.scenes.kit.theme import Theme, load_theme
from gemmviz.scenes.kit.timeline import place_of, score_primitives
from gemmviz.scenes.kit.window import Lens

WIDTH, HEIGHT = 1600.0, 900.0
MARGIN, TOP, BOTTOM = 40.0, 76.0, 132.0
COLUMN = 400.0  # how wide the words' column is, where they stand beside the picture
SCORE = 20.0  # how high the strip of time at the lower edge is
ARRIVAL = 0.85
Layer = Literal["matrix", "warp", "lane", "block", "reuse"]
LAYERS: tuple[Layer, ...] = ("matrix", "warp", "lane", "block", "reuse")
_LEADING = 1.28
_LOW, LOW_BAND = 600.0, 58.0
_MOMENT = "How much of the step has passed, 0 to 1 (default: 1)"
_INSTANT = "How much of a whole launch's time has passed, 0 to 1 (default: 0.5)"
_LENS = "The rows and columns that matter, or the whole (default: whatever can be read)"
_CODE, _CODE_MENU = "With source lines beside the matrices", "Source &code on the stage"
_LABELS = (
    "How elements and threads are written: row,column or column,row, with ,1 where they count from 1, and with ,yx for threads "
    "as (y, x) (default: row,column)"
)


def eased(share: Any) -> Any:
    """Slow, quick, slow."""
    return share**2 * (3 - 2 * share)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingOptions:
    """The options of views that a person sets: a Shot has them, and every view gets them. A new one is a field here, with its
    Control, and the view that uses it; flag, saved view, menu entry and the name of its change follow from the field.

    ``moment``: how much of the step has passed, 0 to 1; ``instant``: of a view of a whole launch, how much of its time has
    passed, 0 to 1; ``layer``: what colours show (the matrix; the warp, lane or block that touches or computes a cell; or loads
    so far); ``lens``: all of the matrices or what matters of them; ``code``: with the source lines; ``labels``: how elements
    and threads are written.
    """

    moment: Annotated[float, Control("Moment", _MOMENT, "--moment", most=1, digits=4, undo="")] = 1.0
    instant: Annotated[float, Control("Instant", _INSTANT, "--instant", most=1, digits=4, undo="")] = 0.5
    layer: Annotated[Layer, Control("Colours", "What colours show (default: matrix)", "--layer", undo="colours")] = "matrix"
    lens: Annotated[Lens, Control("Lens", _LENS, "--lens", undo="lens")] = "auto"
    code: Annotated[bool, Control("Source code", _CODE, "--code", undo="source code", menu=_CODE_MENU, keys=("C",))] = False
    labels: Annotated[LabelStyle, Control("Labels", _LABELS, "--labels", metavar="ORDER", undo="labels")] = PLAIN


@dataclass(frozen=True, slots=True)
class ViewOptions(DrawingOptions):
    """How to draw. ``zoom``: how much larger than the whole frame it is looked at; ``width`` and ``height``: of the frame, in
    units; ``scale``: pixels of a unit, which with the zoom decides where labels fit; ``words``: with title and captions, or the
    picture alone; ``clip``: the part (x, y, width, height) that can be seen, None for all; ``curves``: which of a chart's
    curves to show, by label; ``flies``: whether copies are seen on their way; ``score``: with the run along the lower edge;
    ``marked``: an element that is followed, as matrix, row and column; ``is_even``: of a chart, on axes divided evenly.
    """

    theme: Theme = field(default_factory=lambda: load_theme("dark"))
    zoom: float = 1.0
    width: float = WIDTH
    height: float = HEIGHT
    words: bool = True
    scale: float = 1.2
    clip: tuple[float, float, float, float] | None = None
    curves: Mapping[str, bool] = field(default_factory=dict)
    flies: bool = True
    score: bool = True
    marked: tuple[str, int, int] | None = None
    is_even: bool = False

    @property
    def strip(self) -> float:
        """How high the score at the lower edge is."""
        return SCORE if self.score and self.words else 0.0

    @property
    def pixels(self) -> float:
        """Of a unit, as closely as it is looked at."""
        return self.scale * self.zoom

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
    """A whole frame: a view's own primitives, and the words above and below them."""
    words = (*words_between(moment, options), *time_strip(moment, options)) if options.words else ()
    return Scene(options.width, options.height, options.theme.background, tuple(found), words=words)


def titled(found: list[Primitive], title: str, note: str, options: ViewOptions) -> Scene:
    """A whole frame of what is no run: a view's own primitives below a title and a line that says where they are from."""
    theme, sizes, room = options.theme, options.theme.type, options.width - 2 * MARGIN
    size = title_size(title, theme, room)
    words: tuple[Primitive, ...] = (
        text_line("title", (MARGIN, 50), title, size, room, theme.text, "semibold"),
        text_line("note", (MARGIN, 86), note, sizes.small, room, theme.faint),
    )
    return Scene(options.width, options.height, theme.background, tuple(found), words=words if options.words else ())


def title_size(text: str, theme: Theme, room: float) -> float:
    """The size of a title, smaller where it is long for its room."""
    return _first_size(text, (theme.type.title, theme.type.heading, theme.type.note), room)


def _first_size(text: str, sizes: tuple[float, ...], room: float) -> float:
    """The first size in which a text has room, else the last."""
    return next((size for size in sizes if text_width(text, size, "semibold") <= room), sizes[-1])


def _title(moment: Moment) -> str:
    setup = moment.trace.setup
    return setup.kernel.name + "".join(f", {name} = {value}" for name, value in setup.parameters.items())


def _action(moment: Moment, options: ViewOptions) -> str:
    return f"{focus_text(moment.focus, moment.trace)}: {sentence.action(moment, options.labels)}"


def words_between(moment: Moment, options: ViewOptions) -> list[Primitive]:
    """Title and progress above, what the watched threads do and what it costs below: around a view."""
    theme, height, sizes = options.theme, options.height, options.theme.type
    room = options.width - 2 * MARGIN
    progress, whole = sentence.step_title(moment), text_width(_title(moment), sizes.title, "semibold")
    if whole + text_width(progress, sizes.progress) + MARGIN > room:
        progress = progress.partition(", ")[0]
    beside = room - text_width(progress, sizes.progress) - MARGIN
    size = title_size(_title(moment), theme, beside)
    title = fitted(_title(moment), size, beside, "semibold")
    said = _first_size(_action(moment, options), (sizes.caption, sizes.small, sizes.note), room)
    action = fitted(_action(moment, options), said, room, "semibold")
    cost = fitted(sentence.cost(moment), sizes.small, room)
    ground = band_bottom(height) + options.strip
    behind = [boxes((0, 0, options.width, 70), (0, height - ground, options.width, ground))] if options.clip else []
    bottom = height - options.strip - 18
    found: list[Primitive] = [
        *(Rects("words-ground", each, theme.background) for each in behind),
        Labels("title", points((MARGIN, 50)), (title,), size, theme.text, "start", "semibold"),
        Labels("progress", points((options.width - MARGIN, 50)), (progress,), sizes.progress, theme.faint, "end"),
    ]
    if band_bottom(height) == LOW_BAND:
        return [*found, Labels("action", points((MARGIN, bottom)), (action,), said, theme.text, "start", "semibold")]
    return [
        *found,
        Labels("action", points((MARGIN, bottom - 32)), (action,), said, theme.text, "start", "semibold"),
        Labels("cost", points((MARGIN, bottom)), (cost,), sizes.small, theme.faint),
    ]


def band_bottom(height: float) -> float:
    """How much of a frame the words below its picture take: in a low one there is one line of them."""
    return LOW_BAND if height < _LOW else 96.0


def words_beside(moment: Moment, options: ViewOptions, room: float) -> list[Primitive]:
    """The same words in a column at the left that is ``room`` wide, beginning at its top and ending at its bottom."""
    theme, sizes = options.theme, options.theme.type
    title, parameters = _title_lines(moment, theme, room)
    progress = _progress_lines(moment, theme, room, 3 - len(parameters))
    action = wrapped(_action(moment, options), sizes.caption, room, 3, "semibold")
    cost = wrapped(sentence.cost(moment), sizes.small, room, 3)
    leading = [_LEADING * size for size in (sizes.title, sizes.small, sizes.caption, sizes.small)]
    head = 20 + leading[0] + (len(parameters) + len(progress)) * leading[1] + 10
    foot = 12 + len(action) * leading[2] + len(cost) * leading[3] + options.strip + 24
    wide = MARGIN + room + 10
    behind = [boxes((0, 0, wide, head + 10), (0, options.height - foot - 10, wide, foot + 10))] if options.clip else []
    y, found = 16.0, []
    for key, lines, size, colour, step in (
        ("title", title, sizes.title, theme.text, leading[0]),
        ("parameters", parameters, sizes.small, theme.text, leading[1]),
        ("progress", progress, sizes.small, theme.faint, leading[1]),
    ):  # fmt: skip
        found += [_paragraph(key, lines, y, size, colour, step)] if lines else []
        y += len(lines) * step + (4 if lines else 0)
    y = options.height - foot
    for key, lines, size, colour, step in (
        ("action", action, sizes.caption, theme.text, leading[2]), ("cost", cost, sizes.small, theme.faint, leading[3]),
    ):  # fmt: skip
        found.append(_paragraph(key, lines, y, size, colour, step))
        y += len(lines) * step + 6
    return [*(Rects("words-ground", each, theme.background) for each in behind), *found]


def _title_lines(moment: Moment, theme: Theme, room: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The title, and the parameters on lines of their own where one line has no room for both."""
    whole = _title(moment)
    if text_width(whole, theme.type.title, "semibold") <= room:
        return (whole,), ()
    name, _, parameters = whole.partition(", ")
    return (fitted(name, theme.type.title, room, "semibold"),), wrapped(parameters, theme.type.small, room, 2)


def _progress_lines(moment: Moment, theme: Theme, room: float, most: int) -> tuple[str, ...]:
    """Where in the run the step is; without what of it was traced, where there is no room for that."""
    whole, size = sentence.step_title(moment), theme.type.small
    is_much = len(wrapped(whole, size, room, most + 1)) > most
    return wrapped(whole.partition(" · ")[0] if is_much else whole, size, room, min(most, 2))


def _paragraph(key: str, lines: tuple[str, ...], y: float, size: float, colour: str, leading: float) -> Labels:
    at = points(*((MARGIN, y + (number + 0.82) * leading) for number in range(len(lines))))
    return Labels(key, at, lines, size, colour, "start", "semibold" if key in ("title", "action") else "regular")


def time_strip(moment: Moment, options: ViewOptions) -> list[Primitive]:
    """The whole run along the lower edge, and where in it the moment is."""
    if not options.strip:
        return []
    theme, steps = options.theme, moment.trace.steps
    room = Box(0.0, options.height - SCORE, options.width, SCORE)
    here = boxes((place_of(moment.step + options.moment, steps, room) - 2.0, room.y - 4.0, 4.0, SCORE + 4.0))
    return [*score_primitives(moment.replay, room, theme), Rects("here", here, theme.text)]


def apology(title: str, why: str, options: ViewOptions) -> Scene:
    """In place of a view that can't show anything: why."""
    size, width = options.theme.type.caption, options.width - 4 * MARGIN
    lines = wrapped(why, size, width, 6)
    y = (options.top + options.bottom) / 2 - 0.7 * size * len(lines)
    at = points(*((options.width / 2, y + 1.4 * size * (n + 1)) for n in range(len(lines))))
    return titled([Labels("message", at, tuple(lines), size, options.theme.text, "middle")], title, "", options)


def message(text: str, options: ViewOptions) -> Labels:
    """A sentence in the middle of a view that has nothing to show."""
    at = points((options.width / 2, (options.top + options.bottom) / 2 + 8))
    return Labels("message", at, (text,), 30.0 if options.words else 26.0, options.theme.faint, "middle")
