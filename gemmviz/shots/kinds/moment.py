"""One step of a shot's run."""

from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.legality import device_for
from gemmviz.model.records import replace
from gemmviz.model.translation import marked
from gemmviz.scenes.kit import sentence
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.sentence import beat
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject, focus_at

_COUNTED_WORDS = marked("Every number is counted from the trace of the run.")


def _make_moment(shot: Shot, context: Context) -> Moment | None:
    return context.moment


def _at_moment(moment: Moment, now: Moment) -> Moment:
    return now


def _click_moment(moment: Moment, shot: Shot, hit: Hit) -> Shot | None:
    """Follow the thread of a cell. Raises UsageError if there is none."""
    focus = focus_at(moment, hit)
    warp_size = device_for(shot.setup).warp_size
    return None if focus is None else replace(shot, focus=focus.within_launch(moment.trace.launch, warp_size))


def _texts_at(moment: Moment) -> tuple[str, str, str]:
    title = f"{moment.trace.setup.kernel.name}: {sentence.step_title(moment)}"
    return title, f"{beat(moment).text}; {sentence.cost(moment)}", f"{_COUNTED_WORDS} {moment.trace.check}"


SUBJECT = Subject(
    Moment, _make_moment, needs=("moment",), time="run", advance=_at_moment, click=_click_moment, texts=_texts_at, order=1
)  # fmt: skip
