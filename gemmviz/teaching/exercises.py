"""Verdicts on exercises: whether a student's shot meets the expectations."""

from dataclasses import dataclass

from gemmviz.model.errors import GemmvizError, SourceError
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.captions import shown_value
from gemmviz.teaching.lesson import Exercise, Expectation
from gemmviz.teaching.quantities.catalog import quantity_title, quantity_value
from gemmviz.teaching.quantities.quantity import QuantityValue


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of an exercise. ``rows``: each expectation, the actual value, and whether it is met. ``error``: why there is
    no result.
    """

    rows: tuple[tuple[Expectation, QuantityValue | None, bool], ...]
    error: GemmvizError | None = None

    @property
    def passed(self) -> bool:
        return self.error is None and all(right for _, _, right in self.rows)

    @property
    def lines(self) -> list[str]:
        """Lines for the student: the unmet expectations with the actual values."""
        if self.error is not None:
            return [str(self.error)]
        rows = [
            (quantity_title(each.quantity), shown_value(value) or "none", shown_value(each.value) or "none", is_met)
            for each, value, is_met in self.rows
        ]
        if self.passed:
            return ["Done: " + ", ".join(f"{title}: {value}" for title, value, _, _ in rows)]
        return [f"{title}: {value}, required: {required}" for title, value, required, is_met in rows if not is_met]


def judged(exercise: Exercise, shot: Shot, engine: Engine, empty: tuple[int, ...] = ()) -> Verdict:
    """The verdict on a shot; its kernel is run as the student wrote it. ``empty``: numbers, from 1, of blanks that are left
    empty; they are named if the kernel can't be read.
    """
    left = shot.setup.kernel.blanks
    facts = ShotFacts(shot, engine)
    rows: list[tuple[Expectation, QuantityValue | None, bool]] = []
    for each in exercise.until:
        try:
            value = quantity_value(each.quantity, facts)
        except GemmvizError as error:
            if left and not rows:
                return Verdict((), GemmvizError(f"{left} of the blanks are empty", remedy="write something for each /*?*/"))
            if empty and isinstance(error, SourceError):
                error.remedy = f"nothing is written for blank {', '.join(map(str, empty))}"
            return Verdict(tuple(rows), error)
        rows.append((each, value, each.is_met_by(value)))
    return Verdict(tuple(rows))
