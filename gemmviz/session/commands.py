"""User commands that change what is displayed: view, colours, lens, labels, theme, chart, comparison; and what can be done with
what is pointed at.
"""

from collections.abc import Callable

from msgspec import Struct, structs

from gemmviz.analysis.replay.focus import Focus, Position, block_label, thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.model.chart import Opens
from gemmviz.model.messages import Place, SettingError, UsageError, marked, tr
from gemmviz.model.problem import Problem
from gemmviz.model.sites import LabelStyle, MemoryArray
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.sentence import element_text
from gemmviz.scenes.kit.view import Layer, linked_step
from gemmviz.scenes.kit.window import Lens
from gemmviz.session.session import Session
from gemmviz.session.state import Edit, Fail, Show
from gemmviz.shots.runs import RequestedSizes
from gemmviz.shots.shot import LEAST_TYPE, MOST_TYPE, Against, Camera, ChartChoice, FieldValue, put
from gemmviz.shots.subject import focus_at, step_at_site, subject_of_view

_COMPARE_NEXT = marked("Choose another kernel, size, parameter or device: it is shown on the right")


class Commands:
    """Commands on a session."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def change(self, name: str, value: FieldValue) -> None:
        """Set one field of the setup."""
        session = self.session
        session.apply(Edit(name))
        try:
            setup = put(session.shot.setup, name, value)
        except SettingError as error:
            session.apply(Fail(error))
            return
        session.notices.drop("sizes")
        numbers = setup.sizes_and_parameters
        requested = session.state.requested.with_numbers(**{name: numbers[name]} if name in numbers else {})
        session.alter(requested, setup=setup)

    def apply_remedy(self) -> None:
        """Set each field that the current error names to the nearest legal value."""
        error = self.session.error
        if isinstance(error, SettingError):
            for name, value in error.nearest.items():
                self.change(name, value)

    def watch(self, focus: Focus) -> None:
        """Watch other threads."""
        session = self.session
        if session.state.launch is not None:
            focus = focus.within_launch(session.state.launch, device_for(session.shot.setup).warp_size)
        session.alter(focus=focus)

    def click(self, hit: Hit) -> None:
        """Perform the subject's action for a click on a cell, or go to the step of a link. Raises UsageError if the action is
        impossible.
        """
        session, step = self.session, linked_step(hit)
        if step is not None:
            session.player.jump(step)
            return
        shot = session.display.clicked(hit)
        if shot is not None and shot.setup != session.shot.setup:
            run = session.shown
            session.apply(Show(shot, RequestedSizes.of(shot.setup), cured=None if run is None else run.whole))
        elif shot is not None:
            session.show(shot)

    def show_view(self, name: str) -> None:
        """Switch to another view, of the same subject or of another one, which is shown at the end of its motion. A view of a
        comparison begins one.
        """
        session, moment = self.session, self.session.shot.moment
        if "compared" in subject_of_view(name).needs and session.shot.against is None:
            self.toggle_comparison()
        if subject_of_view(name).kind is not session.display.kind.kind:
            session.player.play(False)
            moment = 1.0
        session.alter(view=name, moment=moment)

    def toggle_benchmark(self) -> None:
        """Switch between the replay and the benchmark, each in its most recent view."""
        display = self.session.display
        self.show_view(display.latest_replay if display.is_benchmark else display.latest_chart)

    def show_layer(self, layer: Layer) -> None:
        self.session.alter(layer=layer)

    def show_lens(self, lens: Lens) -> None:
        """Show the relevant part of the matrices or all of them, and reset the zoom."""
        self.session.alter(lens=lens, camera=Camera())

    def toggle_lens(self) -> None:
        self.show_lens("whole" if self.session.display.lens == "lens" else "lens")

    def set_labels(self, labels: LabelStyle) -> None:
        """Set how elements and threads are labelled in all views."""
        self.session.alter(labels=labels)

    def scale_type(self, factor: float) -> None:
        """Scale the text size."""
        scale = max(LEAST_TYPE, min(MOST_TYPE, round(self.session.shot.type_scale * factor, 3)))
        self.session.alter(type_scale=scale)

    def choose_theme(self, name: str) -> None:
        self.session.alter(theme=name)

    def choose_curves(self, chart: ChartChoice) -> None:
        self.session.alter(chart=chart)

    def open_measured(self, opens: Opens) -> None:
        """Open the shipped kernel behind a point of a chart, at its size. Raises UsageError if there is none."""
        name, size, parameters = opens
        session = self.session
        device = session.shot.setup.device
        setup = setup_for(load_kernel(name), Problem(size, size, size), dict(parameters), device=device)
        shot = structs.replace(session.shot, setup=setup, view=session.display.latest_replay, at=Position())
        session.show(shot, RequestedSizes.of(setup))

    # Comparison

    def compare_with(self, against: Against | None) -> None:
        """Compare with another run; None ends the comparison."""
        session = self.session
        view = _view_of_two(session.shot.view)
        if against is None and view == "pair":
            view = session.display.latest_replay
        session.alter(against=against, view=view)

    def toggle_comparison(self) -> None:
        """Pin the current run on the left and show later choices on the right, or end the comparison.

        If no threads are selected, warp 0 is watched: kernels differ in what the lanes of a warp do.
        """
        session, shot = self.session, self.session.shot
        if shot.against is not None:
            self.compare_with(None)
        elif session.shown is not None and not session.is_stale:
            run = session.shown
            session.comparison.pin(run)
            focus = structs.replace(shot.focus, warp=0) if shot.focus == Focus(shot.focus.block) else shot.focus
            session.alter(against=Against(run.setup), view=_view_of_two(shot.view), focus=focus)
            session.say(tr(_COMPARE_NEXT))


def _view_of_two(view: str) -> str:
    """This view if it can show a comparison, otherwise the view that compares two runs."""
    return view if subject_of_view(view).is_comparison else "pair"


# A cursor on the elements of the result, moved by keys: it follows the thread that computes the element.


class CellCursor:
    """The element of the result, C of a multiplication, whose thread is followed."""

    def __init__(self, session: Session, commands: Commands) -> None:
        self.session, self.commands = session, commands
        self._element: int | None = None

    def move(self, down: int, right: int) -> str:
        """Move by so many rows and columns, and return a sentence about the element there; "" if there is no result."""
        now = self.session.now
        array = None if now is None else now.replay.owners.array
        if now is None or array is None:
            return ""
        element = self._moved(now, array, down, right)
        self._element = element
        name = element_text(array, element, self.session.shot.labels)
        number = now.replay.owners.thread_of(element)
        if number is None:
            return self._say(tr("{name}: no traced thread computes it", name=name))
        block, _ = now.trace.space.indices(number)
        thread = number % now.trace.space.threads_per_block
        self.commands.watch(Focus(block, None, thread))
        who = tr(
            "{block}, thread {thread}", block=block_label(block, now.trace.launch), thread=thread_text(thread, now.trace.launch)
        )
        return self._say(tr("{name}: computed by {who}", name=name, who=who))

    def _say(self, sentence: str) -> str:
        self.session.say(sentence)
        return sentence

    def _moved(self, now: Moment, array: MemoryArray, down: int, right: int) -> int:
        """The element after a move; the first move shows where the cursor is."""
        start = self._start(now)
        if start is None:
            return self._first(now)
        row, column = array.place(start)
        rows, columns = array.extents
        element = array.element_at(min(max(row + down, 0), rows - 1), min(max(column + right, 0), columns - 1))
        return min(element, array.size - 1)

    def _start(self, now: Moment) -> int | None:
        """The element of the last move, if its thread is still followed."""
        if self._element is None:
            return None
        owner = now.replay.owners.thread_of(self._element)
        followed = now.scope.threads.start if now.focus.thread is not None else None
        return self._element if owner is None or owner == followed else None

    def _first(self, now: Moment) -> int:
        """The first element of the followed thread, else of the watched block."""
        owners, scope = now.replay.owners, now.scope
        mine = scope.threads if now.focus.thread is not None else scope.of_block
        inside = (owners.threads >= mine.start) & (owners.threads < mine.stop)
        return int(owners.elements[inside][0]) if inside.any() else 0


# What can be done with what is pointed at: a cell, a lane, a bar, a row. It follows from the meaning of what is drawn, so that
# all views, tables and the timeline offer the same.

_NO_THREAD = marked("There is no thread here")
_NO_RUN = marked("There is no run yet")
_LONGEST_VALUE = 24  # characters of a value in a menu


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
    short = value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"
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
