"""Whether an exercise is done: what it asks for, asked of what a student shows."""

from dataclasses import dataclass

from gemmviz.model.errors import GemmvizError, SourceError
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.captions import shown_value
from gemmviz.teaching.lesson import Answer, Exercise, Expectation
from gemmviz.teaching.quantities import quantity


@dataclass(frozen=True, slots=True)
class Verdict:
    """``rows``: of each thing that must hold, what it is, and whether that is right; ``error``: why nothing could be told."""

    rows: tuple[tuple[Expectation, Answer | None, bool], ...]
    error: GemmvizError | None = None

    @property
    def passed(self) -> bool:
        return self.error is None and all(right for _, _, right in self.rows)

    @property
    def lines(self) -> list[str]:
        """What to tell the student: what is wrong, in the words of the run."""
        if self.error is not None:
            return [str(self.error)]
        if self.passed:
            return ["Done: " + ", ".join(f"{each.what}: {shown_value(found)}" for each, found, _ in self.rows)]
        return [
            f"{each.what}: {shown_value(found) or 'none'}, wanted: {shown_value(each.value) or 'none'}"
            for each, found, right in self.rows
            if not right
        ]


def judged(exercise: Exercise, shot: Shot, engine: Engine, empty: tuple[int, ...] = ()) -> Verdict:
    """What an exercise asks for, of a shot: its kernel is run, with whatever a student wrote. ``empty``: the blanks, from 1,
    with nothing in them: they are named where the kernel can't be read.
    """
    left = shot.setup.kernel.blanks
    facts = ShotFacts(shot, engine)
    rows: list[tuple[Expectation, Answer | None, bool]] = []
    for each in exercise.until:
        try:
            found = quantity(each.what, facts)
        except GemmvizError as error:
            if left and not rows:
                return Verdict((), GemmvizError(f"{left} of the blanks are empty", remedy="write something for each /*?*/"))
            if empty and isinstance(error, SourceError):
                error.remedy = f"nothing is written for blank {', '.join(map(str, empty))}"
            return Verdict(tuple(rows), error)
        rows.append((each, found, each.is_met_by(found)))
    return Verdict(tuple(rows))
