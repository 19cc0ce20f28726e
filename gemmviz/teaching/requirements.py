"""Requirements on a kernel, judged at one size: a kernel's run to the values of quantities, and whether each is as required."""

from collections.abc import Iterable
from typing import Literal

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.focus import Position
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.launch_form import not_confirmed
from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace
from gemmviz.model.threads import Triple
from gemmviz.model.translation import tr
from gemmviz.run.engine import Engine
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import ExerciseSize, Expectation, shown_value
from gemmviz.teaching.quantities.catalog import quantity_title, quantity_value
from gemmviz.teaching.quantities.quantity import QuantityValue, parse_reference

# The first wrong access of a run that fails an exercise, as the shot that shows it: a fault, a hazard, the store of a wrong
# element of C, or the end if elements are never written.


def at_wrong_access(facts: Knowledge) -> Shot:
    """The shot, moved to the wrong access of its run and to the block in which it happens; unchanged if none is known."""
    shot, trace = facts.shot, facts.outcome.trace
    if trace is None:
        return shot
    if (fault := facts.outcome.fault) is not None:
        place: tuple[int, Triple] | None = trace.steps - 1, fault.block or shot.focus.block
    else:
        place = _hazard(facts.replay) or _wrong_store(facts.replay) or _end_without(facts)
    if place is None:
        return shot
    step, block = place
    return replace(shot, at=Position(step=step), focus=replace(shot.focus, block=block, warp=None, thread=None))


def _hazard(replay: Replay) -> tuple[int, Triple] | None:
    first = next(iter(replay.hazards), None)
    return None if first is None else (first.step, first.block)


def _wrong_store(replay: Replay) -> tuple[int, Triple] | None:
    """The step that stores the first wrong element, and its block."""
    wrong, owners = replay.trace.check.wrong_elements[:1], replay.owners
    at = np.flatnonzero(owners.elements == wrong[0]) if wrong else np.zeros(0, np.int64)
    return None if not len(at) else (int(owners.steps[at[0]]), replay.trace.space.indices(int(owners.threads[at[0]]))[0])


def _end_without(facts: Knowledge) -> tuple[int, Triple] | None:
    """The last step of a run that leaves elements unwritten, and the block in focus."""
    trace = facts.replay.trace
    return (trace.steps - 1, facts.shot.focus.block) if trace.check.unwritten else None


Relation = Literal["is", "at_most", "at_least"]


class QuantityRequirement(Struct, frozen=True):
    """What a quantity must be. ``relation``: how its value must compare with ``value``; ``about``: tolerance of "is", as a
    fraction of ``value``.
    """

    quantity: str
    value: QuantityValue
    relation: Relation = "is"
    about: float = 0.0

    def is_met_by(self, actual: QuantityValue) -> bool:
        """Whether a computed value is as required. A limit is never met by a text."""
        if self.relation == "is":
            return Expectation(self.quantity, self.value, about=self.about).is_met_by(actual)
        if isinstance(actual, str) or isinstance(self.value, str):
            return False
        return actual <= self.value if self.relation == "at_most" else actual >= self.value

    @property
    def words(self) -> str:
        """The required value, as in ``at most 4``."""
        value = shown_value(self.value) or "none"
        match self.relation:
            case "at_most":
                return tr("at most {shown_value}", shown_value=value)
            case "at_least":
                return tr("at least {shown_value}", shown_value=value)
        return f"{value} ± {100 * self.about:g} %" if self.about else value


class JudgedQuantity(Struct, frozen=True):
    """A requirement: the displayed name of a quantity, its value, the ``required`` one, and whether it is met."""

    title: str
    value: str
    required: str
    is_met: bool


class SizeRun:
    """The run of a kernel at one size, whose requirements are judged. Raises GemmvizError for a size that the kernel can't
    have.
    """

    def __init__(self, size: ExerciseSize, shot: Shot, engine: Engine) -> None:
        self.size = size
        self.shot = replace(shot, setup=shot.setup.changed(**size.problem, **size.parameters))
        self.facts = Knowledge(self.shot, engine)

    def judged(self, requirements: Iterable[QuantityRequirement]) -> tuple[tuple[JudgedQuantity, ...], GemmvizError | None]:
        """The requirements in order, and the error of the first one whose value can't be computed, which ends them. One that
        isn't met is no finding if the launch isn't confirmed: the error says so.
        """
        rows: list[JudgedQuantity] = []
        try:
            for each in requirements:
                rows.append(_judged_row(each, quantity_value(each.quantity, self.facts)))
        except GemmvizError as error:
            return tuple(rows), error
        return tuple(rows), None if all(each.is_met for each in rows) else not_confirmed(self.shot.setup.kernel)

    def wrong_access(self) -> Shot | None:
        """The shot of what is wrong; None for a kernel that can't be run."""
        try:
            return at_wrong_access(self.facts)
        except GemmvizError:
            return None


def _judged_row(requirement: QuantityRequirement, value: QuantityValue) -> JudgedQuantity:
    title = quantity_title(requirement.quantity)
    return JudgedQuantity(title, shown_value(value) or "none", requirement.words, requirement.is_met_by(value))


# The costliest access of a run whose counts are beyond a limit, as the shot that shows it.

_SHARED_WORDS = ("wavefronts", "bank", "shared")


def at_costly_access(facts: Knowledge, requirements: Iterable[QuantityRequirement]) -> Shot:
    """The shot, moved to the first access that moves most sectors per request, or takes most wavefronts where the requirements
    are about shared memory; of the array that they name, if they name one; of equal ones the most frequent one.
    """
    references = [parse_reference(each.quantity) for each in requirements]
    is_shared = any(
        word in text for each in references for text in (each.id, *each.arguments.values()) for word in _SHARED_WORDS
    )
    array = next((each.arguments["array"] for each in references if "array" in each.arguments), None)
    trace, reader = facts.replay.trace, Reader(facts.replay, facts.shot.focus)
    best, at = (-1, 0), 0
    for step, times in _first_steps(facts).items():
        names = {trace.arrays[each.array].name for each in trace.site_of(step).operands}
        if array is not None and array not in names:
            continue
        cost = reader.at(step).cost
        excess = cost.excessive_wavefronts if is_shared else cost.excessive_sectors
        if (excess, times) > best:
            best, at = (excess, times), step
    return replace(facts.shot, at=Position(step=at))


def _first_steps(facts: Knowledge) -> dict[int, int]:
    """The first step of each site, and the number of its steps."""
    sites, first, times = np.unique(facts.replay.trace.site, return_index=True, return_counts=True)
    return {int(first[number]): int(times[number]) for number in range(len(sites))}
