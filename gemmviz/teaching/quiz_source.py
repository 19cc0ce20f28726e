"""Sources of generated questions: a run, and requests of its warps to memory."""

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
    """The run that questions are generated from, with a random generator."""

    setup: Setup
    replay: Replay
    engine: Engine
    random: Random

    def step(self, accepts: Callable[[Site], bool]) -> int | None:
        """A random step at a site for which ``accepts`` is true; None if there is none."""
        sites = [number for number, site in enumerate(self.replay.trace.sites) if accepts(site)]
        steps = np.flatnonzero(np.isin(self.replay.trace.site, sites))
        return int(self.random.choice(steps.tolist())) if len(steps) else None

    def any_block(self) -> Triple:
        """A random traced block."""
        (x0, x1), (y0, y1), (z0, _) = self.replay.trace.blocks.ranges
        return self.random.randrange(x0, x1), self.random.randrange(y0, y1), z0

    def request(self, space: Space) -> "WarpRequest | None":
        """A random warp's request to this memory space; None if the chosen warp makes none."""
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
    """A warp's access in one step. ``main``: the accessed array and elements."""

    step: int
    focus: Focus
    moment: Moment
    main: TouchedOperand

    @property
    def who(self) -> str:
        """The warp, and its block if there are several."""
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
    """A generated question. ``why``: the reason for the right answer; ``shot``: shows it; ``wrong``: wrong choices with the
    misconception behind each, likeliest first.
    """

    text: str
    right: str
    why: str
    shot: Shot
    wrong: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class QuizKind:
    """A kind of question: a module in ``gemmviz.teaching.quiz_kinds`` that ends with ``QUIZ_KIND = QuizKind(...)``.
    ``question`` generates a random one, or None if the run offers none.
    """

    title: str
    question: Callable[[QuizSource], GeneratedQuestion | None]
    order: int = 99


def element_at(matrix: MemoryArray, row: int, column: int) -> str | None:
    """An element by its indices; None if outside of the matrix, and for a vector, which has no rows."""
    is_inside = len(matrix.shape) > 1 and 0 <= row < matrix.extents[0] and 0 <= column < matrix.extents[1]
    return PLAIN.named(matrix, matrix.element_at(row, column)) if is_inside else None


def neighbours(matrix: MemoryArray, element: int) -> list[tuple[str | None, str]]:
    """Wrong choices around an element of a vector; none for a matrix."""
    near = (
        (element + 1, "the next element"), (element - 1, "the previous element"), (element // 2, "half of the index"),
        (element + 32, "the element of the next warp"), (element - 32, "the element of the previous warp"),
    )  # fmt: skip
    is_vector = len(matrix.shape) == 1
    return [(PLAIN.named(matrix, at), why) for at, why in near if is_vector and 0 <= at < matrix.size and at != element]
