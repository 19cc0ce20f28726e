"""What can be done with what is pointed at: a cell, a lane, a bar, a row. It follows from the meaning of what is drawn, so that
all views, tables and the timeline offer the same.
"""

from collections.abc import Callable

from msgspec import Struct

from gemmviz.analysis.replay.focus import Focus
from gemmviz.model.errors import Place, UsageError
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.session.commands import Commands
from gemmviz.shots.subject import focus_at, step_at_site

_NO_THREAD = marked("There is no thread here")
_NO_RUN = marked("There is no run yet")
_LONGEST = 24  # characters of a value in a menu


class Pointed(Struct, frozen=True):
    """What is pointed at. ``hit``: a cell of a picture; ``text``: its value; ``place``: of an access in the source; ``step``:
    of the run.
    """

    hit: Hit | None = None
    text: str = ""
    place: Place | None = None
    step: int | None = None

    @property
    def value(self) -> str:
        """The text, else what the cell says."""
        hit = self.hit
        if self.text or hit is None:
            return self.text
        cells = (table for table in (hit.cells.labels, hit.cells.tips) if table is not None)
        return next((text for table in cells if (text := str(table[hit.row, hit.column]).strip())), "")


class Deed(Struct, frozen=True):
    """An entry of the menu. ``why_not``: why it can't be chosen, "" if it can."""

    id: str
    title: str
    run: Callable[[], object]
    why_not: str = ""


def deeds(pointed: Pointed, commands: Commands, show_source: Callable[[], object], copy: Callable[[str], object]) -> list[Deed]:
    """Return what is offered: to follow the thread, to show the source, to explain the speed, and to copy the value."""
    session, value = commands.session, pointed.value
    focus, why_not = _focus_of(pointed, commands)
    is_asked, is_why = session.display.counted < 1.0, session.shot.view == "why"
    short = value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
    follows = tr("Follow this thread") if focus is None or focus.thread is not None else tr("Follow the whole block")
    no_value = tr("A question is open") if is_asked else "" if value else tr("There is no value here")
    return [
        Deed("follow", follows, lambda: None if focus is None else commands.watch(focus), why_not),
        Deed("source", tr("Show its source"), lambda: _go_to_source(pointed, commands, show_source)),
        Deed(
            "why", tr("Why this speed"), lambda: commands.show_view("why"),
            tr("This picture says it") if is_why else "" if session.shown is not None else tr(_NO_RUN),
        ),
        Deed("copy", tr("Copy") if no_value else tr("Copy {value}", value=short), lambda: copy(value), no_value),
    ]  # fmt: skip


def _focus_of(pointed: Pointed, commands: Commands) -> tuple[Focus | None, str]:
    """Return the threads to follow, or None and why there are none."""
    session, hit = commands.session, pointed.hit
    now = session.now
    if hit is None or now is None or not session.display.kind.is_of_run:
        return None, tr(_NO_THREAD)
    try:
        focus = focus_at(now, hit)
    except UsageError as error:
        return None, error.message
    return focus, "" if focus is not None else tr(_NO_THREAD)


def _go_to_source(pointed: Pointed, commands: Commands, show_source: Callable[[], object]) -> None:
    """Go to the step that is pointed at, if there is one, and show the line that it executes."""
    session = commands.session
    try:
        if pointed.step is not None:
            session.player.jump(pointed.step)
        elif pointed.place is not None and session.now is not None:
            session.player.jump(step_at_site(session.now, pointed.place))
    except UsageError as error:
        session.say(str(error))
    show_source()
