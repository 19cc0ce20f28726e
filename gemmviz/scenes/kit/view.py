"""A view: its definition, the options of drawing it, its frame, and the words around its picture."""

import dataclasses
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Struct, field, structs

from gemmviz.analysis.replay.focus import focus_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.chart import Chart
from gemmviz.model.messages import asking, marked, told, tr
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import Control
from gemmviz.model.sites import PLAIN, LabelStyle, Space
from gemmviz.scenes.kit import sentence
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import (
    Button,
    Cells,
    Hit,
    Labels,
    Primitive,
    Rects,
    Scene,
    TextPart,
    boxes,
    fitted,
    points,
    text_line,
    text_width,
    wrap_text,
)
from gemmviz.scenes.kit.sentence import beat, next_access, no_access
from gemmviz.scenes.kit.theme import Theme, load_theme
from gemmviz.scenes.kit.timeline import height_with_names, timeline_names, timeline_primitives, track_room, x_of_step
from gemmviz.scenes.kit.window import Lens

WIDTH, HEIGHT = 1600.0, 900.0
MARGIN, TOP, BOTTOM = 40.0, 76.0, 132.0
LEAST_WIDTH, LEAST_HEIGHT = 400.0, 100.0  # of a frame; of the space for a view's own picture in it
STRIP = 20.0  # height of the timeline without names at the lower edge
_LOW_TIMELINE, BELOW_TIMELINE = 84.0, 3.0  # height in low frames, where only phases are named; gap below the tracks
SHEET_EDGE = 34.0  # margin of an exported picture: 40 pixels of 1080 lines
_TITLE, _NOTE, _EDGE = 50.0, 86.0, 14.0  # baselines of the title and of the line below it; above a picture without words
_TITLE_LEAVES, _FOOT_LEAVES = 28.0, 18.0  # what the words leave free themselves, above and below
_HEADING = 24.0  # between the margin and a picture without a title, for its own headings
_PROGRESS, HEADLINE_PITCH, _MOST_LINES = 0.26, 1.24, 9  # share of the width beside a headline; from line to line; lines
ARRIVAL = 0.85
TURN = 0.5  # share of the time that each of several things takes that start one after another
Layer = Literal["matrix", "warp", "lane", "block", "reuse"]
BarePart = Literal["", "matrices"]
LAYERS: tuple[Layer, ...] = ("matrix", "warp", "lane", "block", "reuse")
_LOW, LOW_BAND = 600.0, 58.0
_MOMENT = marked("How much of the step has passed, 0 to 1 (default: 1)")
_INSTANT = marked("How much of a whole launch's time has passed, 0 to 1 (default: 0.5)")
_SM = marked("In the grid view: the multiprocessor whose blocks are marked, -1 for none (default: none)")
_LENS = marked("The rows and columns that matter, or the whole (default: whatever can be read)")
_CODE, _CODE_MENU = marked("With source lines beside the matrices"), marked("Source &code on the stage")
_VALUES, _VALUES_MENU = marked("With the values of elements in the cells instead of their indices"), marked("&Values in cells")
_LABELS = marked(
    "How elements and threads are written: row,column or column,row, with ,1 where they count from 1, "
    "and with ,yx for threads as (y, x) (default: row,column)"
)


def eased(share: Any) -> Any:
    """Return the share with smooth acceleration and deceleration."""
    return share**2 * (3 - 2 * share)


def eased_from(moment: float, start: float = 0.0, length: float = 1.0) -> float:
    """Return the eased share of a way that begins at ``start`` and takes ``length``: 0 before it and 1 after it."""
    return float(eased(min(1.0, max(0.0, (moment - start) / length))))


def eased_in_turn(moment: float, place: Any, count: int, length: float = TURN) -> Any:
    """Return the eased share of the way of one of ``count`` things, or of several (n,), that start one after another, each
    taking ``length``, so that the last one arrives at the end.
    """
    start = (1 - length) * place / max(1, count - 1)
    return eased(np.clip((moment - start) / length, 0, 1)) if moment < 1 else start * 0 + 1


class DrawingOptions(Struct, frozen=True, kw_only=True):
    """The options of drawing that a user sets: part of each Shot, and passed to each view.

    A new option is a field here, with its Control, and the view that uses it; flag, saved view, menu entry and the name of
    its change follow from the field.

    ``moment``: the share of the step that has passed, 0 to 1; ``instant``: the share of the time of a launch that has passed;
    ``sm``: the multiprocessor whose blocks are marked in a grid, -1 for none; ``layer``: the meaning of colours (the matrix;
    the warp, lane or block that accesses or computes a cell; or loads so far); ``lens``: whether only the part of the matrices
    in use is shown; ``code``: with source lines; ``values``: values of elements in the cells instead of indices; ``labels``:
    how elements and threads are written.
    """

    moment: Annotated[float, Control("Moment", _MOMENT, "--moment", most=1, digits=4, undo="")] = 1.0
    instant: Annotated[float, Control("Instant", _INSTANT, "--instant", most=1, digits=4, undo="")] = 0.5
    sm: Annotated[int, Control("SM", _SM, "--sm", least=-1, undo="marked SM")] = -1
    layer: Annotated[Layer, Control("Colours", "What colours show (default: matrix)", "--layer", undo="colours")] = "matrix"
    lens: Annotated[Lens, Control("Lens", _LENS, "--lens", undo="lens")] = "auto"
    code: Annotated[bool, Control("Source code", _CODE, "--code", undo="source code", menu=_CODE_MENU, keys=("C",))] = False
    values: Annotated[bool, Control("Values", _VALUES, "--values", undo="values", menu=_VALUES_MENU, keys=("V",))] = False
    labels: Annotated[LabelStyle, Control("Labels", _LABELS, "--labels", metavar="ORDER", undo="labels")] = PLAIN


class ViewOptions(DrawingOptions, frozen=True):
    """The options of drawing a view.

    ``zoom``: magnification relative to the whole frame; ``width`` and ``height`` of the frame in units; ``scale``: pixels of
    a unit, which with the zoom decides where labels fit; ``words``: whether title and captions are drawn; ``clip``: the
    visible part (x, y, width, height), None for all; ``curves``: the curves of a chart to show, by label; ``shows_flights``:
    whether copies are drawn on their way; ``timeline``: with the run along the lower edge; ``marked``: an element to mark,
    as matrix, row and column; ``is_even``: whether the axes of a chart are linear; ``counted``: the share of each count that
    is shown, 0 while a question about them is open; ``facts``: nouns whose counts it doesn't hide; ``statement``: whether
    the stage shows the statement that runs, without which it has more room for the matrices; ``headline``: a title instead
    of the view's own; ``hidden``: texts that are left out, and leave no hole; ``edge``: the margin along the edges of the
    frame in which nothing is drawn; ``buttons``: whether there is somebody to click on them; ``only``: the part of the stage
    that is drawn alone, "" for all.
    """

    theme: Theme = field(default_factory=lambda: load_theme("dark"))
    zoom: float = 1.0
    width: float = WIDTH
    height: float = HEIGHT
    words: bool = True
    scale: float = 1.2
    clip: tuple[float, float, float, float] | None = None
    curves: Mapping[str, bool] = field(default_factory=dict)
    shows_flights: bool = True
    timeline: bool = True
    marked: tuple[str, int, int] | None = None
    is_even: bool = False
    counted: float = 1.0
    facts: frozenset[str] = frozenset()
    statement: bool = True
    headline: str = ""
    hidden: frozenset[TextPart] = frozenset()
    edge: float = 0.0
    buttons: bool = True
    only: BarePart = ""

    @property
    def strip(self) -> float:
        """Height of the timeline at the lower edge, with the margin below it."""
        return STRIP + self.edge if self.timeline and self.words else 0.0

    def timeline_height(self, replay: Replay) -> float:
        """Return the height of a run's timeline at the lower edge of the stage, with the names of its phases and, except in low
        frames, of its tracks.
        """
        if not (self.timeline and self.words):
            return 0.0
        return self.edge + (_LOW_TIMELINE if self.height < _LOW else height_with_names(replay, self.theme) + BELOW_TIMELINE)

    def lacking(self, own: float) -> float:
        """Return what is missing of the margin where a picture leaves ``own`` units free itself."""
        return max(0.0, self.edge - own)

    @property
    def title_y(self) -> float:
        """Baseline of the title, of the first line of a headline."""
        return _TITLE + self.lacking(_TITLE_LEAVES)

    @property
    def note_y(self) -> float:
        """Baseline of the line below the title."""
        return self.title_y + self._headline_height + _NOTE - _TITLE

    @property
    def _headline_height(self) -> float:
        """Height of the lines of a headline after the first."""
        size, lines = headline_lines(self)
        return HEADLINE_PITCH * size * max(0, len(lines) - 1)

    @property
    def pixels(self) -> float:
        """Pixels of a unit at the current zoom."""
        return self.scale * self.zoom

    @property
    def least(self) -> float:
        """The least size of text at the current zoom, in units."""
        return self.theme.type.least / self.zoom

    @property
    def arrived(self) -> bool:
        """Whether the copies of this step have reached their targets."""
        return self.moment >= ARRIVAL

    @property
    def passed(self) -> float:
        """The share of the time until ARRIVAL that has passed, 0 to 1."""
        return min(1.0, self.moment / ARRIVAL)

    @property
    def way(self) -> float:
        """The eased share of their way that the copies of this step have gone, 0 to 1."""
        return eased_from(self.moment, 0.0, ARRIVAL)

    @property
    def top(self) -> float:
        """Upper edge of the view's own picture."""
        if not self.words or (self.hidden >= {"title", "progress"} and not self.headline):
            return self.edge + _HEADING if self.edge else _EDGE
        return self.note_y + TOP + MARGIN - _NOTE

    @property
    def bottom(self) -> float:
        """Lower edge of the view's own picture."""
        if not self.words or self.hidden >= {"action", "cost"}:
            return self.height - max(self.strip + _EDGE if self.strip else 0.0, _EDGE, self.edge)
        return self.height - BOTTOM + STRIP - max(self.strip, STRIP + self.lacking(_FOOT_LEAVES))

    def room(self, top: float | None = None, foot: float | None = None) -> Box:
        """Return the space within the margins, by default between the words. ``top`` and ``foot``: what it leaves free in a
        frame with a title, and less in one without.
        """
        first = self.top if top is None else max(self.edge, top + self.top - TOP - MARGIN)
        last = self.bottom if foot is None else self.height - max(foot, self.edge)
        return Box(MARGIN, first, self.width - 2 * MARGIN, last - first)


def framed(primitives: list[Primitive], moment: Moment, options: ViewOptions) -> Scene:
    """Return a frame of a run: the primitives of a view, with the words above and below them."""
    words = (*words_between(moment, options), *time_strip(moment, options)) if options.words else ()
    return Scene(options.width, options.height, options.theme.background, tuple(primitives), words=words)


def titled(primitives: list[Primitive], title: str, note: str, options: ViewOptions) -> Scene:
    """Return a frame without a run: the primitives of a view, below a title and a line with their source."""
    theme, room = options.theme, options.width - 2 * MARGIN
    words: tuple[Primitive, ...] = (
        title_words(title, room, options),
        text_line("note", (MARGIN, options.note_y), note, theme.type.words, room, theme.faint, meaning="note"),
    )
    return Scene(options.width, options.height, theme.background, tuple(primitives), words=words if options.words else ())


def title_words(text: str, room: float, options: ViewOptions) -> Labels:
    """Return the title at the head of a frame, smaller if it is long; a headline in its place is never cut."""
    size, lines = headline_lines(options)
    if not lines:
        size = _first_size(text, _title_sizes(options.theme), room)
        lines = (fitted(text, size, room, "semibold"),)
    at = points(*((MARGIN, options.title_y + HEADLINE_PITCH * size * row) for row in range(len(lines))))
    return Labels("title", at, lines, size, options.theme.text, "start", "semibold", "title")


def headline_lines(options: ViewOptions) -> tuple[float, tuple[str, ...]]:
    """Return the size of a headline, and its lines; no lines without one."""
    if not options.headline:
        return 0.0, ()
    beside = 0.0 if "progress" in options.hidden else _PROGRESS
    return _headline(options.headline, _title_sizes(options.theme), (1 - beside) * (options.width - 2 * MARGIN))


@lru_cache(maxsize=64)
def _headline(text: str, sizes: tuple[float, ...], room: float) -> tuple[float, tuple[str, ...]]:
    size = _first_size(text, sizes, room)
    return size, wrap_text(text, size, room, _MOST_LINES, "semibold")


def _title_sizes(theme: Theme) -> tuple[float, ...]:
    return theme.type.title, theme.type.heading, theme.type.note


def _first_size(text: str, sizes: tuple[float, ...], room: float) -> float:
    """Return the first size in which a text fits, else the last."""
    return next((size for size in sizes if text_width(text, size, "semibold") <= room), sizes[-1])


def kernel_words(moment: Moment) -> str:
    """Return the kernel's name with its parameters."""
    setup = moment.trace.setup
    return setup.kernel.name + "".join(f", {name} = {value}" for name, value in setup.parameters.items())


def _moment_sentence(moment: Moment, options: ViewOptions) -> str:
    where = focus_text(structs.replace(moment.focus, thread=None), moment.trace)
    text = beat(moment, options.labels).text
    return tr(
        "{where}: {initial}{sentence}, line {line}",
        where=where,
        initial=text[:1].lower(),
        sentence=text[1:],
        line=moment.site.place.line,
    )


def words_between(moment: Moment, options: ViewOptions) -> list[Primitive]:
    """Draw title and progress above a view, and the action of the watched threads and its cost below."""
    theme, height, sizes = options.theme, options.height, options.theme.type
    room = options.width - 2 * MARGIN
    progress, text = sentence.step_title(moment, options.labels), kernel_words(moment)
    whole = (1 - _PROGRESS) * room if options.headline else text_width(text, sizes.title, "semibold") + MARGIN
    if whole + text_width(progress, sizes.progress) > room:
        progress = sentence.step_of_steps(moment)
    beside = room - text_width(progress, sizes.progress) - MARGIN
    action_size = _first_size(_moment_sentence(moment, options), (sizes.caption, sizes.words, sizes.note), room)
    action = fitted(_moment_sentence(moment, options), action_size, room, "semibold")
    cost = fitted(sentence.cost(moment), sizes.words, room)
    ground = band_bottom(height) + options.strip
    behind = [boxes((0, 0, options.width, 70), (0, height - ground, options.width, ground))] if options.clip else []
    bottom = height - max(options.strip + _FOOT_LEAVES, _FOOT_LEAVES + options.lacking(_FOOT_LEAVES - 6))
    right = options.width - MARGIN
    primitives: list[Primitive] = [
        *(Rects("words-ground", each, theme.background) for each in behind),
        title_words(text, beside, options),
        text_at("progress", (right, options.title_y), progress, sizes.progress, theme.faint, "end", meaning="progress"),
    ]
    is_low = band_bottom(height) == LOW_BAND
    at = (MARGIN, bottom if is_low else bottom - 32)
    primitives.append(text_at("action", at, action, action_size, theme.text, "start", "semibold", "action"))
    if not is_low:
        primitives.append(text_at("cost", (MARGIN, bottom), cost, sizes.words, theme.faint, meaning="cost"))
    return primitives


def band_bottom(height: float) -> float:
    """Return the height of the words below a picture; low frames have one line."""
    return LOW_BAND if height < _LOW else 96.0


def named_timeline(moment: Moment, options: ViewOptions) -> list[Primitive]:
    """Draw the timeline with the names of its tracks and its phases along the lower edge, with the current moment."""
    high = options.timeline_height(moment.replay)
    if not high:
        return []
    theme, steps = options.theme, moment.trace.steps
    whole = Box(MARGIN, options.height - high, options.width - 2 * MARGIN, high - options.edge - BELOW_TIMELINE)
    room = track_room(moment.replay, whole, theme)
    x = x_of_step(moment.step + options.moment, steps, room)
    here = Rects("here", boxes((x - 2.0, room.y - 4.0, 4.0, room.height + 4.0 + BELOW_TIMELINE)), theme.text, meaning="frame")
    below = boxes((0, whole.y, options.width, high))
    ground = [Rects("words-ground", below, theme.background)] if options.clip else []
    return [*ground, *timeline_names(moment.replay, whole, theme), *timeline_primitives(moment.replay, room, theme), here]


def time_strip(moment: Moment, options: ViewOptions) -> list[Primitive]:
    """Draw the timeline along the lower edge, with the current moment."""
    if not options.strip:
        return []
    theme, steps = options.theme, moment.trace.steps
    side = MARGIN if options.edge else 0.0
    room = Box(side, options.height - options.strip, options.width - 2 * side, STRIP)
    here = boxes((x_of_step(moment.step + options.moment, steps, room) - 2.0, room.y - 4.0, 4.0, STRIP + 4.0))
    return [*timeline_primitives(moment.replay, room, theme), Rects("here", here, theme.text, meaning="frame")]


def apology(title: str, why: str, options: ViewOptions) -> Scene:
    """Return a scene that says why a view can't be shown."""
    size, width = options.theme.type.caption, options.width - 4 * MARGIN
    lines = wrap_text(why, size, width, 6)
    y = (options.top + options.bottom) / 2 - 0.7 * size * len(lines)
    at = points(*((options.width / 2, y + 1.4 * size * (n + 1)) for n in range(len(lines))))
    said = Labels("message", at, tuple(lines), size, options.theme.text, "middle", meaning="message")
    return titled([said], title, "", options)


def message(text: str, options: ViewOptions) -> Labels:
    """Return a sentence in the middle of a view without content."""
    at = (options.width / 2, (options.top + options.bottom) / 2 + 8)
    return text_at("message", at, text, 30.0 if options.words else 26.0, options.theme.faint, "middle", meaning="message")


_COVERED = marked("This view shows what the question is about. It is shown with the answer.")
_ANSWERS = ("count", "lane numbers", "lanes", "banks", "action", "cost")  # meanings of what may be the answer to a question
_TOO_SMALL = marked("There is too little space for this picture: enlarge the window or choose smaller text.")


def counted_scene(scene: Scene, share: float) -> Scene:
    """Return a picture that was drawn within ``asking``, with its counts at ``share`` of their value. At 0, shapes that are
    counts and sentences that may name what the question is about are left out.
    """
    parts: dict[str, Any] = {part: _counted(getattr(scene, part), share) for part in ("primitives", "above", "words")}
    return dataclasses.replace(scene, **parts)


def _counted(primitives: tuple[Primitive, ...], share: float) -> tuple[Primitive, ...]:
    return tuple(_told(each, share) for each in primitives if share > 0.0 or each.meaning not in _ANSWERS)


def _told(each: Primitive, share: float) -> Primitive:
    if isinstance(each, Labels):
        return dataclasses.replace(each, texts=tuple(told(text, share) for text in each.texts))
    tables = {name: getattr(each, name, None) for name in ("labels", "tips")}
    texts = {name: np.vectorize(told, [np.str_])(table, share) for name, table in tables.items() if table is not None}
    return dataclasses.replace(each, **texts) if texts else each


def _always(subject: Any) -> bool:
    return True


def _nothing_moves(subject: Any, options: ViewOptions) -> tuple[Primitive, ...]:
    return ()


class View(Struct, frozen=True):
    """A view, defined in ``gemmviz.scenes.views``: a file ends with ``VIEW = View(...)``, and its name is the view's, or with
    VIEWS by name.

    ``draw`` draws a subject; ``draw_motion`` draws what moves in it at ``options.moment``; ``order``: the position among
    the views; those of one hundred stand in one menu. ``subject`` is the type of its subject: a Moment of a replay, a
    Benchmark, ... ``chart``: for a view that is a chart, the function that returns it. ``is_ready``: whether everything
    that the view needs has been computed, so that drawing is immediate. ``multiplies``: whether it shows nothing but
    multiplications of matrices; ``is_count``: whether the picture as a whole is a count, so that it is covered while a
    question is open; ``has_title``: whether a title stands at the head of its frame; ``parts``: what can be exported alone:
    views of its parts, or a BarePart; ``least``: the height of the space that its picture needs, ``least_width``: the width of
    the frame; ``back``: the view that Esc leads back to, "" for none.
    """

    title: str
    subject: type
    draw: Callable[[Any, ViewOptions], Scene]
    draw_motion: Callable[[Any, ViewOptions], tuple[Primitive, ...]] = _nothing_moves
    chart: Callable[[Any], Chart] | None = None
    is_ready: Callable[[Any], bool] = _always
    multiplies: bool = False
    is_count: bool = False
    has_title: bool = True
    parts: tuple[str, ...] = ()
    least: float = LEAST_HEIGHT
    least_width: float = LEAST_WIDTH
    back: str = ""
    order: int = 199

    @property
    def moves(self) -> bool:
        """Whether anything moves within a step."""
        return self.draw_motion is not _nothing_moves

    def scene(self, subject: Any, options: ViewOptions) -> Scene:
        """Return the whole picture at ``options.moment``."""
        still = self.still(subject, options)
        return dataclasses.replace(still, primitives=(*still.primitives, *self.motion(subject, options)))

    def still(self, subject: Any, options: ViewOptions) -> Scene:
        """Return the picture without what moves."""
        if why_not := self._why_not(subject, options):
            return apology(tr(self.title), why_not, options)
        with asking(options.counted < 1.0, options.facts):
            scene = self.draw(subject, _coloured(options, subject))
        scene = _without_parts(scene, options.hidden) if options.hidden else scene
        return scene if options.counted >= 1.0 else counted_scene(scene, options.counted)

    def motion(self, subject: Any, options: ViewOptions) -> tuple[Primitive, ...]:
        """Return what moves at ``options.moment``."""
        if self._why_not(subject, options):
            return ()
        with asking(options.counted < 1.0, options.facts):
            moving = self.draw_motion(subject, _coloured(options, subject))
        return moving if options.counted >= 1.0 else _counted(moving, options.counted)

    def _why_not(self, subject: Any, options: ViewOptions) -> str:
        """Return why there is nothing to draw, "" if there is. No view decides this itself."""
        problem = _problem_of(subject)
        if options.width < self.least_width or options.bottom - options.top < self.least:
            return tr(_TOO_SMALL)
        if self.is_count and options.counted <= 0.0:
            return tr(_COVERED)
        return _other_problem(problem) if self.multiplies and problem is not None and not problem.is_multiply else ""


def _without_parts(scene: Scene, hidden: frozenset[TextPart]) -> Scene:
    """Return a scene without the texts of hidden parts."""
    words, above = (tuple(each for each in part if each.meaning not in hidden) for part in (scene.words, scene.above))
    return dataclasses.replace(scene, words=words, above=above)


def _coloured(options: ViewOptions, subject: Any) -> ViewOptions:
    """Return the options with a colour for each array of the subject's problem, if it has one."""
    problem = _problem_of(subject)
    theme = options.theme if problem is None else options.theme.for_problem(problem)
    return options if theme is options.theme else structs.replace(options, theme=theme)


def _problem_of(subject: Any) -> Problem | None:
    """The problem that a subject is about; None for subjects without one, such as a device."""
    problem = getattr(subject, "problem", None)
    return problem if isinstance(problem, Problem) else None


def _other_problem(problem: Problem) -> str:
    formula = f", {problem.kind.formula}" if problem.kind.formula else ""
    other = f"{tr(problem.kind.title)}{formula}" if problem.kind.is_checked else tr("an unknown one")
    return tr(
        "This view shows a multiplication of matrices, C = A · B. This kernel solves another problem: {other}.", other=other
    )


# A link in a picture to another step of the run: a click on it goes there.

_PAD, _HIGH, _BELOW = 24.0, 54.0, 34.0  # units: beside the text, of the link, below a sentence


def nothing_accessed(moment: Moment, space: Space, options: ViewOptions) -> list[Primitive]:
    """Draw a sentence that the step does not access this memory, and a link to the next step that does."""
    return elsewhere(no_access(moment, space), next_access(moment, space), tr("Go to step {step}, which does"), options)


def elsewhere(text: str, step: int | None, link: str, options: ViewOptions) -> list[Primitive]:
    """Draw why there is nothing to see at a step, and a link to one at which there is. ``link`` names it as {step}."""
    said = message(text, options)
    return [said] if step is None or not options.buttons else [said, _link(step, link.format(step=step + 1), said, options)]


def _link(step: int, text: str, said: Labels, options: ViewOptions) -> Cells:
    """Return a link below a sentence, as a table of one cell."""
    theme, size = options.theme, options.theme.type.words
    wide = text_width(text, size) + 2 * _PAD
    x, y = float(said.at[0, 0]) - wide / 2, float(said.at[0, 1]) + _BELOW
    labels = np.array([[text]])
    fill = np.zeros((1, 1), np.uint8)
    return Cells(
        "step-link", x, y, wide, fill, (theme.slate,), (theme.text,), labels, size, height=_HIGH, meaning=Button("step", step)
    )


def says_nothing(scene: Scene) -> bool:
    """Whether a picture is a message that there is nothing to show, without a link to a step that has something."""
    return any(each.meaning == "message" for each in scene.all) and scene.find("step-link") is None


def linked_step(hit: Hit) -> int | None:
    """Return the step that a click goes to, None if it isn't on a link."""
    meaning = hit.cells.meaning
    return meaning.number if isinstance(meaning, Button) and meaning.action == "step" else None
