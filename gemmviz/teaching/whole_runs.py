"""Whole runs of launches, by which lessons check C: of the launch itself if it is small, else of a smaller problem."""

from math import prod

from msgspec import Struct

from gemmviz.files.answer_file import answer_key
from gemmviz.launch.legality import can_run, device_for
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.translation import tr
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts

QUICK_SIZE = 1 << 18  # product of a problem's sizes up to which it is run as a whole: 64³


class WholeRun(Struct, frozen=True):
    """Facts about the run of all blocks of a launch. ``is_other``: of another problem than the step's, with the same kernel,
    parameters and device.
    """

    facts: ShotFacts
    is_other: bool

    @property
    def where(self) -> str:
        """The size in words, if it is not that of the step."""
        return tr(" at {problem}", problem=self.facts.setup.problem) if self.is_other else ""


class WholeRuns:
    """Runs that several steps of lessons share: each launch runs once."""

    def __init__(self) -> None:
        self._known: dict[str, ShotFacts] = {}

    def of(self, setup: Setup, engine: Engine) -> WholeRun:
        """The run of a setup. Its facts raise GemmvizError for a launch that can't be run."""
        return WholeRun(self._facts(quick := quick_setup(setup), engine), quick.problem != setup.problem)

    def other(self, setup: Setup, engine: Engine) -> WholeRun | None:
        """The run of ``other_setup``; None if the kernel can't run it."""
        other = other_setup(quick_setup(setup))
        return None if other is None else WholeRun(self._facts(other, engine), True)

    def _facts(self, setup: Setup, engine: Engine) -> ShotFacts:
        key = answer_key(setup, device_for(setup))
        if key not in self._known:
            self._known[key] = ShotFacts(Shot(setup), engine)
        return self._known[key]


def quick_setup(setup: Setup) -> Setup:
    """All blocks and phases of a setup, with its sizes halved until it runs quickly, as far as its kernel can run them."""
    setup = replace(setup, blocks="", phases="")
    while prod(setup.problem.sizes.values()) > QUICK_SIZE:
        smaller = setup.changed(**{name: -(-size // 2) for name, size in setup.problem.sizes.items()})
        if not can_run(smaller):
            break
        setup = smaller
    return setup


def other_setup(setup: Setup) -> Setup | None:
    """The setup with sizes that no block or tile divides, a little larger and odd; for a kernel that can't run these, with
    twice its sizes, so that it has several blocks and phases. None if it can't run them either, or not quickly.
    """
    sizes = setup.problem.sizes
    ragged = setup.changed(**{name: size + 1 + size % 2 + 2 * number for number, (name, size) in enumerate(sizes.items())})
    if can_run(ragged):
        return ragged
    doubled = setup.changed(**{name: 2 * size for name, size in sizes.items()})
    return doubled if prod(doubled.problem.sizes.values()) <= QUICK_SIZE and can_run(doubled) else None
