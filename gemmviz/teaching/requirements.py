"""Requirements on a kernel, judged at one size: a kernel's run to the values of quantities, and whether each is as required."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace
from gemmviz.model.translation import tr
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.lesson import ExerciseSize, Expectation, shown_value
from gemmviz.teaching.quantities.catalog import quantity_title, quantity_value
from gemmviz.teaching.quantities.quantity import QuantityValue
from gemmviz.teaching.wrong_access import at_wrong_access

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
        self.facts = ShotFacts(self.shot, engine)

    def judged(self, requirements: Iterable[QuantityRequirement]) -> tuple[tuple[JudgedQuantity, ...], GemmvizError | None]:
        """The requirements in order, and the error of the first one whose value can't be computed, which ends them."""
        rows: list[JudgedQuantity] = []
        try:
            for each in requirements:
                rows.append(_row(each, quantity_value(each.quantity, self.facts)))
        except GemmvizError as error:
            return tuple(rows), error
        return tuple(rows), None

    def wrong_access(self) -> Shot | None:
        """The shot of what is wrong; None for a kernel that can't be run."""
        try:
            return at_wrong_access(self.facts)
        except GemmvizError:
            return None


def _row(requirement: QuantityRequirement, value: QuantityValue) -> JudgedQuantity:
    title = quantity_title(requirement.quantity)
    return JudgedQuantity(title, shown_value(value) or "none", requirement.words, requirement.is_met_by(value))
