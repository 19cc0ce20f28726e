"""What a view shows, in words: the step, the picture as a whole, and each of its cells. Counts that an open question is about
stay hidden.
"""

from dataclasses import replace
from typing import Any

from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.kit.counting import counted_text
from gemmviz.scenes.kit.primitives import Hit, Scene
from gemmviz.scenes.stage.cell_sentence import cell_sentence, table_title
from gemmviz.session.session import Session
from gemmviz.subjects.catalog import subject_of_view
from gemmviz.subjects.describing import description_of, step_sentence


class Spoken:
    """The words of one view; without a name, of the view that the session shows."""

    def __init__(self, session: Session, view: str = "") -> None:
        self.session, self._view = session, view

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the arrays whose elements are cells of the picture."""
        now = self._moment
        return () if now is None else tuple(array.name for array in now.trace.arrays)

    def step(self) -> str:
        """What happens at the step; "" for a picture without steps."""
        now = self._moment
        if now is None:
            return ""
        place = f"Step {now.step + 1} of {now.trace.steps}"
        return self._counted(f"{place}: {step_sentence(now, self.session.shot.labels)}")

    def picture(self, scene: Scene) -> str:
        """The picture as a whole; while a question is open, that there is one."""
        subject, display = self._subject, self.session.display
        if subject is None:
            return ""
        if display.counted <= 0.0:
            return "A question is open: the picture is described with its answer"
        shot = replace(self.session.shot, view=self._view or self.session.shot.view)
        words = description_of(shot, subject, scene)
        return self._counted(f"{words.title}\n{words.text}")

    def table(self, hit: Hit) -> str:
        """The name of the table that a cell belongs to."""
        return table_title(self._moment, hit)

    def cell(self, hit: Hit) -> str:
        """A cell: the element, its value, who touches it, and where it lies."""
        return self._counted(cell_sentence(self._moment, hit, self.session.shot.labels))

    @property
    def _subject(self) -> Any:
        display = self.session.display
        return display.subject_of(subject_of_view(self._view).kind) if self._view else display.subject

    @property
    def _moment(self) -> Moment | None:
        """The step that the picture shows; None for a picture without one."""
        subject = self._subject
        return subject if isinstance(subject, Moment) else None

    def _counted(self, text: str) -> str:
        return counted_text(text, self.session.display.counted)
