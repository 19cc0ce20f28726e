"""What a view shows, in words: the step, the picture as a whole, and each of its cells. Counts that an open question is about
stay hidden.
"""

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.model.messages import asking, marked, told, tr
from gemmviz.scenes.kit.primitives import Hit, RunSide, Scene
from gemmviz.session.session import Session

_SIDE_WORDS: dict[RunSide, str] = {"": "", "left": marked("left run: "), "right": marked("right run: ")}


class Spoken:
    """The words of the view that the session shows."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the arrays whose elements are cells of the picture."""
        moments = self._sides.values()
        return tuple(dict.fromkeys(array.name for now in moments for array in now.trace.arrays))

    def step(self) -> str:
        """What happens at the step, in a comparison at that of the session's own run; "" for a picture without steps."""
        from gemmviz.shots.picture import step_sentence

        moments = list(self._sides.values())
        if not moments:
            return ""
        now = moments[-1]
        with asking(self.session.display.counted < 1.0):
            what = told(step_sentence(now, self.session.shot.labels), self.session.display.counted)
        return tr("Step {step} of {steps}: {what}", step=now.step + 1, steps=now.trace.steps, what=what)

    def picture(self, scene: Scene) -> str:
        """The picture as a whole; while a question is open, that there is one."""
        from gemmviz.shots.picture import description_of

        display = self.session.display
        subject = display.subject
        if subject is None:
            return ""
        if display.counted <= 0.0:
            return tr("A question is open: the picture is described with its answer")
        with asking(display.counted < 1.0):
            words = description_of(self.session.shot, subject, scene)
        return told(f"{words.title}\n{words.text}", display.counted)

    def table(self, hit: Hit) -> str:
        """The name of the table that a cell belongs to."""
        from gemmviz.scenes.stage.hover import table_title

        side, now = self._located(hit)
        return side + table_title(now, hit)

    def cell(self, hit: Hit) -> str:
        """A cell: the element, its value, who touches it, and where it lies."""
        from gemmviz.scenes.stage.hover import cell_sentence

        side, now = self._located(hit)
        with asking(self.session.display.counted < 1.0):
            return told(side + cell_sentence(now, hit, self.session.shot.labels), self.session.display.counted)

    @property
    def _sides(self) -> dict[RunSide, Moment]:
        """The steps that the picture shows, by the side of their cells."""
        match self.session.display.subject:
            case Moment() as now:
                return {"": now}
            case Pair() as pair:
                return {"left": pair.left, "right": pair.right}
        return {}

    def _located(self, hit: Hit) -> tuple[str, Moment | None]:
        """The side of a cell in words, and the step that it shows."""
        side = hit.cells.side
        return tr(_SIDE_WORDS[side]), self._sides.get(side)
