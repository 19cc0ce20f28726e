"""What a view shows, in words: the step, the picture as a whole, and each of its cells. Counts that an open question is about
stay hidden.
"""

from typing import Any

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.model.records import replace
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.counting import counted_text
from gemmviz.scenes.kit.primitives import Hit, Scene
from gemmviz.session.session import Session
from gemmviz.subjects.catalog import subject_of_view

_SIDES = {"": "", "left-": marked("left run: "), "right-": marked("right run: ")}


class Spoken:
    """The words of one view; without a name, of the view that the session shows."""

    def __init__(self, session: Session, view: str = "") -> None:
        self.session, self._view = session, view

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the arrays whose elements are cells of the picture."""
        moments = self._sides.values()
        return tuple(dict.fromkeys(array.name for now in moments for array in now.trace.arrays))

    def step(self) -> str:
        """What happens at the step, in a comparison at that of the session's own run; "" for a picture without steps."""
        from gemmviz.subjects.describing import step_sentence

        moments = list(self._sides.values())
        if not moments:
            return ""
        now = moments[-1]
        what = step_sentence(now, self.session.shot.labels)
        return self._counted(tr("Step {step} of {steps}: {what}", step=now.step + 1, steps=now.trace.steps, what=what))

    def picture(self, scene: Scene) -> str:
        """The picture as a whole; while a question is open, that there is one."""
        from gemmviz.subjects.describing import description_of

        subject, display = self._subject, self.session.display
        if subject is None:
            return ""
        if display.counted <= 0.0:
            return tr("A question is open: the picture is described with its answer")
        shot = replace(self.session.shot, view=self._view or self.session.shot.view)
        words = description_of(shot, subject, scene)
        return self._counted(f"{words.title}\n{words.text}")

    def table(self, hit: Hit) -> str:
        """The name of the table that a cell belongs to."""
        from gemmviz.scenes.stage.hover import table_title

        side, now, own = self._located(hit)
        return side + table_title(now, own)

    def cell(self, hit: Hit) -> str:
        """A cell: the element, its value, who touches it, and where it lies."""
        from gemmviz.scenes.stage.hover import cell_sentence

        side, now, own = self._located(hit)
        return self._counted(side + cell_sentence(now, own, self.session.shot.labels))

    @property
    def _subject(self) -> Any:
        display = self.session.display
        return display.subject_of(subject_of_view(self._view).kind) if self._view else display.subject

    @property
    def _sides(self) -> dict[str, Moment]:
        """The steps that the picture shows, by the prefix of their cells' keys."""
        match self._subject:
            case Moment() as now:
                return {"": now}
            case Pair() as pair:
                return {"left-": pair.left, "right-": pair.right}
        return {}

    def _located(self, hit: Hit) -> tuple[str, Moment | None, Hit]:
        """The side of a cell in words, the step that it shows, and the cell as on a picture of that step alone."""
        for prefix, now in self._sides.items():
            if hit.cells.key.startswith(prefix):
                own = Hit(replace(hit.cells, key=hit.cells.key.removeprefix(prefix)), hit.row, hit.column)
                return tr(_SIDES[prefix]), now, own if prefix else hit
        return "", None, hit

    def _counted(self, text: str) -> str:
        return counted_text(text, self.session.display.counted)
