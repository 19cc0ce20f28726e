"""The definition of a view: a title, the type of its subject, and the functions that make scenes of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.chart import Chart
from gemmviz.model.problem import Problem
from gemmviz.model.records import replace
from gemmviz.model.sites import Space
from gemmviz.model.translation import asking, marked, told, tr
from gemmviz.scenes.kit.frame import LEAST_HEIGHT, LEAST_WIDTH, ViewOptions, apology, message
from gemmviz.scenes.kit.meaning import Button
from gemmviz.scenes.kit.primitives import Cells, Hit, Labels, Primitive, Scene
from gemmviz.scenes.kit.sentence import next_access, no_access
from gemmviz.scenes.kit.text import text_width

_COVERED = marked("This view shows what the question is about. It is shown with the answer.")
_ANSWERS = ("count", "lane numbers", "lanes", "banks", "action", "cost")  # meanings of what may be the answer to a question
_TOO_SMALL = marked("There is too little space for this picture: enlarge the window or choose smaller text.")


def counted_scene(scene: Scene, share: float) -> Scene:
    """Return a picture that was drawn within ``asking``, with its counts at ``share`` of their value. At 0, shapes that are
    counts and sentences that may name what the question is about are left out.
    """
    return replace(scene, **{part: _counted(getattr(scene, part), share) for part in ("primitives", "above", "words")})


def _counted(primitives: tuple[Primitive, ...], share: float) -> tuple[Primitive, ...]:
    return tuple(_told(each, share) for each in primitives if share > 0.0 or each.meaning not in _ANSWERS)


def _told(each: Primitive, share: float) -> Primitive:
    if isinstance(each, Labels):
        return replace(each, texts=tuple(told(text, share) for text in each.texts))
    tables = {name: getattr(each, name, None) for name in ("labels", "tips")}
    texts = {name: np.vectorize(told, [np.str_])(table, share) for name, table in tables.items() if table is not None}
    return replace(each, **texts) if texts else each


def _always(subject: Any) -> bool:
    return True


def _nothing_moves(subject: Any, options: ViewOptions) -> tuple[Primitive, ...]:
    return ()


class View(Struct, frozen=True):
    """A view, defined by a file in ``gemmviz.scenes.views`` that ends with ``VIEW = View(...)``. Its name is the file's
    name.

    ``draw`` draws a subject; ``draw_motion`` draws what moves in it at ``options.moment``; ``order``: the position among the
    views. ``subject`` is the type of its subject: a Moment of a replay, a Benchmark, ... ``chart``: for a view that is a
    chart, the function that returns it. ``is_ready``: whether everything that the view needs has been computed, so that
    drawing is immediate. ``multiplies``: whether it shows nothing but multiplications of matrices; ``is_count``: whether the
    picture as a whole is a count, so that it is covered while a question is open; ``least``: the height of the space that its
    picture needs, ``least_width``: the width of the frame.
    """

    title: str
    subject: type
    draw: Callable[[Any, ViewOptions], Scene]
    draw_motion: Callable[[Any, ViewOptions], tuple[Primitive, ...]] = _nothing_moves
    chart: Callable[[Any], Chart] | None = None
    is_ready: Callable[[Any], bool] = _always
    multiplies: bool = False
    is_count: bool = False
    least: float = LEAST_HEIGHT
    least_width: float = LEAST_WIDTH
    order: int = 99

    @property
    def moves(self) -> bool:
        """Whether anything moves within a step."""
        return self.draw_motion is not _nothing_moves

    def scene(self, subject: Any, options: ViewOptions) -> Scene:
        """Return the whole picture at ``options.moment``."""
        still = self.still(subject, options)
        return replace(still, primitives=(*still.primitives, *self.motion(subject, options)))

    def still(self, subject: Any, options: ViewOptions) -> Scene:
        """Return the picture without what moves."""
        if why_not := self._why_not(subject, options):
            return apology(tr(self.title), why_not, options)
        with asking(options.counted < 1.0):
            scene = self.draw(subject, _coloured(options, subject))
        return scene if options.counted >= 1.0 else counted_scene(scene, options.counted)

    def motion(self, subject: Any, options: ViewOptions) -> tuple[Primitive, ...]:
        """Return what moves at ``options.moment``."""
        if self._why_not(subject, options):
            return ()
        with asking(options.counted < 1.0):
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


def _coloured(options: ViewOptions, subject: Any) -> ViewOptions:
    """Return the options with a colour for each array of the subject's problem, if it has one."""
    problem = _problem_of(subject)
    theme = options.theme if problem is None else options.theme.for_problem(problem)
    return options if theme is options.theme else replace(options, theme=theme)


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
    return [said] if step is None else [said, _link(step, link.format(step=step + 1), said, options)]


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


def linked_step(hit: Hit) -> int | None:
    """Return the step that a click goes to, None if it isn't on a link."""
    meaning = hit.cells.meaning
    return meaning.number if isinstance(meaning, Button) and meaning.action == "step" else None
