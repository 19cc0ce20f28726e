"""The type of a kind of subject: how its values are made from a shot and what is known of it."""

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeVar

from msgspec import Struct

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.model.messages import Place, UsageError, tr
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Hit, Lanes
from gemmviz.scenes.stage.hover import pointed_at
from gemmviz.shots.knowledge import Context, FactAnswer, Knowledge
from gemmviz.shots.shot import Shot

Known = Literal["moment", "facts", "whole", "compared", "before", "schedules", "measurements"]
TimeKind = Literal["none", "run", "launch"]
Page = Literal["stage", "benchmark"]


def _valid(shot: Shot) -> None:
    """Accept any shot."""


def _not_clickable(value: Any, shot: Shot, hit: Hit) -> None:
    return None


def _unchanged(value: Any, moment: Moment) -> Any:
    return value


def _unnamed(value: Any) -> str:
    return ""


class Subject(Struct, frozen=True):
    """A row of the table of subjects, defined in ``gemmviz.shots.kinds``: a module ends with ``SUBJECT = Subject(...)``, and
    its name is the subject's, or with SUBJECTS by name.

    ``kind``: the type of its values, which views name. ``make``: the value for a shot, or None while the context is incomplete;
    raises GemmvizError if there is nothing to show. It may be called on any thread and depends only on its arguments.
    ``needs``: required fields of the context; ``uses``: optional ones. ``is_slow``: takes longer than a frame. ``advance``: the
    value at another moment of the run. ``time``: the time axis, the steps of a run or the time of a launch. ``check`` raises
    UsageError for an impossible shot. ``click``: the shot after a click on a cell; None if the cell has no action. ``name``:
    shown in the window's title instead of the setup; ``texts``: title, caption and notes of a slide. ``page``: the page of the
    window that shows it. ``is_comparison``: whether it shows the compared launch beside the shot's own.
    """

    kind: type
    make: Callable[[Shot, Context], Any]
    needs: tuple[Known, ...] = ()
    uses: tuple[Known, ...] = ()
    time: TimeKind = "none"
    page: Page = "stage"
    is_slow: bool = False
    is_comparison: bool = False
    check: Callable[[Shot], None] = _valid
    advance: Callable[[Any, Moment], Any] = _unchanged
    click: Callable[[Any, Shot, Hit], Shot | None] = _not_clickable
    name: Callable[[Any], str] = _unnamed
    texts: Callable[[Any], tuple[str, str, str]] | None = None
    order: int = 99

    def answer(self, known: Knowledge, context: Context | None = None) -> FactAnswer[Any]:
        """The value for what is known of a shot, or why there is none. ``context``: as far as it is known at present; otherwise
        what is unknown is computed. A slow value is made once for what its shot shows, another one again if something else
        is known that it depends on.
        """
        name = value_name(self)
        if self.is_slow:
            return known.stores["subject"].get(  # type: ignore[no-any-return]
                name, lambda: FactAnswer.by(lambda: self.make(known.shot, context or known.context(self.needs)))
            )
        context, values = context or known.context(self.needs), known.stores["run"].values
        parts = (*known.parts("subject"), *(getattr(context, each) for each in (*self.needs, *self.uses)))
        before, answer = values.get(name, (None, None))
        if answer is None or before != parts:
            answer = FactAnswer.by(lambda: self.make(known.shot, context))
            values[name] = parts, answer
        return answer  # type: ignore[no-any-return]

    def value(self, known: Knowledge, context: Context | None = None) -> Any:
        """The same value, None if it needs more than ``context``. Raises GemmvizError if there is nothing to show."""
        answer = self.answer(known, context)
        if answer.error is not None:
            raise answer.error.kept()
        return answer.value

    def at(self, known: Knowledge, step: int) -> Any:
        """The value at a step of the run. Raises GemmvizError if there is nothing to show."""
        value = self.value(known, known.context(self.needs, step))
        if value is None:
            raise UsageError(tr("the view {view} has nothing to show", view=f"{known.shot.view!r}"))
        return value

    @property
    def is_of_run(self) -> bool:
        """Whether it can be shown from a recorded run alone."""
        return self.needs == ("moment",)

    @property
    def needs_run(self) -> bool:
        """Whether a kernel has to be run or counted for it."""
        return bool({"moment", "whole", "compared"} & set(self.needs))


# Finds the thread or step for a cell or a place in the source.


def focus_at(moment: Moment, hit: Hit) -> Focus | None:
    """The focus on the thread that computes an element of C, or that accesses another element at this moment; the whole block
    if that thread is already followed. None for other cells. Raises UsageError if there is no such thread.
    """
    trace, scope, meaning = moment.trace, moment.scope, hit.cells.meaning
    if isinstance(meaning, Lanes):
        lane = meaning.lanes[hit.row * hit.cells.fill.shape[1] + hit.column]
        thread = meaning.warp * trace.rules.warp_size + lane
        return None if lane < 0 else Focus(moment.focus.block, None, None if thread == moment.focus.thread else thread)
    target = pointed_at(trace, hit)
    if target is None:
        return None
    number, element = target
    is_result = number == trace.result
    thread = moment.replay.owners.thread_of(element) if is_result else _toucher(moment, number, element)
    if thread is None:
        result = tr("the result") if trace.result is None else trace.arrays[trace.result].name
        why = tr("no traced thread computes this element") if is_result else tr("no thread touches this now")
        raise UsageError(why, remedy=tr("click an element of {result} to follow its thread", result=result))
    block, _ = trace.space.indices(thread)
    if moment.focus.thread is not None and thread == scope.threads.start:
        return Focus(moment.focus.block)
    return Focus(block, None, thread % trace.space.threads_per_block)


def _toucher(moment: Moment, array: int, element: int) -> int | None:
    """Number of the first thread of the block that accesses an element; None if there is none."""
    for touched in moment.of_array(array):
        first = moment.trace.element[touched.row, moment.scope.of_block].astype(int)
        for offset in moment.trace.offsets(touched.operand, moment.scope.of_block):
            touching = (first >= 0) & (first + offset == element)
            if touching.any():
                return int(moment.scope.of_block.start + touching.argmax())
    return None


def step_at_text(moment: Moment, line: int, column: int) -> int:
    """The next step of the access at a place of the source (counted from 1), otherwise of any access on the line.

    Raises UsageError if no watched thread performs one.
    """
    places = [site.place for site in moment.trace.sites]
    here = [number for number, place in enumerate(places) if holds(place, line, column)]
    on_line = [number for number, place in enumerate(places) if place.line <= line <= place.end_line]
    return _next_step(moment, here or on_line, line)


def step_at_site(moment: Moment, place: Place) -> int:
    """The next step of the access at exactly this place. Raises UsageError as ``step_at_text``."""
    sites = [number for number, site in enumerate(moment.trace.sites) if site.place == place]
    return _next_step(moment, sites, place.line)


def _next_step(moment: Moment, sites: list[int], line: int) -> int:
    step = moment.replay.next_step(sites, moment.step, moment.scope)
    if step is None:
        raise UsageError(tr("no watched thread accesses memory on line {line}", line=line))
    return step


def holds(place: Place, line: int, column: int) -> bool:
    """Whether a place of the source is within another one."""
    return (place.line, place.column) <= (line, column) < (place.end_line, place.end_column)


_Value = TypeVar("_Value")


@cache
def subjects() -> Catalog[Subject]:
    """Kinds of subjects by name, such as "occupancy"."""
    return extensions_in("gemmviz.shots.kinds", "SUBJECT", Subject)


def subject_for(kind: type) -> Subject:
    """The subject with values of this type. Raises UsageError if there is none."""
    subject = subjects().find(lambda each: each.kind is kind, lambda name: name.replace("_", "") in kind.__name__.lower())
    if subject is not None:
        return subject
    raise UsageError(
        f"no subject has the type {kind.__name__}", remedy="add a file with SUBJECT = Subject(...) to gemmviz/shots/kinds"
    )


def value_name(subject: Subject) -> str:
    """The name under which a value of a subject is remembered."""
    return f"the {subject.kind.__name__}"


def value_of(kind: type[_Value], known: Knowledge) -> _Value:
    """The value of this type for what is known of a shot. Raises GemmvizError if there is none."""
    value = subject_for(kind).value(known)
    assert isinstance(value, kind)
    return value


@cache
def subject_of_view(name: str) -> Subject:
    """The subject that a view shows. Raises UsageError for an unknown view, or a view of an unknown subject."""
    view = view_named(name)
    try:
        return subject_for(view.subject)
    except UsageError as error:
        raise UsageError(f"the view {name!r} can't be drawn: {error.message}", remedy=error.remedy) from None
