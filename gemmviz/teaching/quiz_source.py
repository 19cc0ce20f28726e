"""What questions are drawn from: a run, and what a warp asks of memory in one of its steps."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader, TouchedOperand
from gemmviz.analysis.replay.position import position_of
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.labels import PLAIN
from gemmviz.model.setup import Setup
from gemmviz.model.sites import MemoryArray, Site, Space
from gemmviz.model.threads import Triple
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot


@dataclass(frozen=True)
class QuizSource:
    """What questions are made from."""

    setup: Setup
    replay: Replay
    engine: Engine
    random: Random

    def step(self, wanted: Callable[[Site], bool]) -> int | None:
        """Any step of such a site."""
        sites = [number for number, site in enumerate(self.replay.trace.sites) if wanted(site)]
        steps = np.flatnonzero(np.isin(self.replay.trace.site, sites))
        return int(self.random.choice(steps.tolist())) if len(steps) else None

    def any_block(self) -> Triple:
        """Of those that were traced."""
        (x0, x1), (y0, y1), (z0, _) = self.replay.trace.blocks.ranges
        return self.random.randrange(x0, x1), self.random.randrange(y0, y1), z0

    def request(self, space: Space) -> "WarpRequest | None":
        """Any warp's request to a kind of memory; None where what was drawn asks for nothing."""
        trace = self.replay.trace
        step = self.step(lambda site: {trace.arrays[each.array].space for each in site.operands} == {space})
        if step is None:
            return None
        focus = Focus(self.any_block(), self.random.randrange(trace.space.warps_per_block))
        moment = self.moment(step, focus)
        return None if moment.main is None else WarpRequest(step, focus, moment, moment.main)

    def moment(self, step: int, focus: Focus | None = None) -> Moment:
        return Reader(self.replay, focus or Focus()).at(step)

    def shot(self, step: int, view: str, focus: Focus | None = None) -> Shot:
        return Shot(self.setup, focus or Focus(), view, position_of(self.replay.trace, step))


@dataclass(frozen=True)
class WarpRequest:
    """What a warp asks for in a step: ``main`` is the array, and what of it."""

    step: int
    focus: Focus
    moment: Moment
    main: TouchedOperand

    @property
    def who(self) -> str:
        """The warp, and its block where there are several."""
        where = f" of block {self.focus.block[:2]}" if self.moment.trace.launch.block_count > 1 else ""
        return f"warp {self.focus.warp}{where}"

    @property
    def verb(self) -> str:
        return "reads" if self.main.operand.access == "read" else "writes"

    @property
    def line(self) -> int:
        return self.moment.site.place.line


@dataclass(frozen=True, slots=True)
class GeneratedQuestion:
    """A question, its right answer and why it is right, the shot that shows it, and wrong choices, the likeliest first: each
    with the misconception that gives it.
    """

    text: str
    right: str
    why: str
    shot: Shot
    wrong: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class QuizKind:
    """A kind of question: a file in ``gemmviz.teaching.quiz_kinds`` that ends with ``QUIZ_KIND = QuizKind(...)``. ``question``
    draws one at random, None where the run has no such question.
    """

    title: str
    question: Callable[[QuizSource], GeneratedQuestion | None]
    order: int = 99


def element_at(matrix: MemoryArray, row: int, column: int) -> str | None:
    """An element by its indices; None outside of the matrix."""
    is_inside = 0 <= row < matrix.shape[0] and 0 <= column < matrix.shape[-1]
    return PLAIN.element(matrix.name, row, column) if is_inside else None
