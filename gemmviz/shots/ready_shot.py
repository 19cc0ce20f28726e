"""Turns a shot into everything that its first picture needs, on any thread, so that it can be shown within a frame."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from gemmviz.analysis.replay.focus import Focus
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import Launch
from gemmviz.model.records import replace
from gemmviz.run.cpu.executor import requested_blocks
from gemmviz.run.engine import Engine
from gemmviz.scenes.catalog import view_named
from gemmviz.shots.catalog import subject_of_view
from gemmviz.shots.knowledge import Knowledge, LaunchFacts, WatchResult
from gemmviz.shots.picture import frame_for, options_for, theme_of
from gemmviz.shots.runs import KnownRun, run_known
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

_PIXELS = (1920.0, 1080.0)


class ReadyShot(Struct, frozen=True, eq=False):
    """What is known of a shot, completed for its picture. ``run``: its run with all that is analysed of it, None for a view
    that shows no step of a run; ``facts``: counts and speed of its whole launch, None if they aren't shown; ``watched``:
    variables of the first watched thread; ``compared``: the run that it is compared with. ``value``: of a subject that depends
    on the shot alone. ``error``: why the shot can't run or be drawn.
    """

    known: Knowledge
    run: KnownRun | None = None
    facts: LaunchFacts | None = None
    watched: WatchResult | None = None
    compared: KnownRun | None = None
    value: Any = None
    error: GemmvizError | None = None

    @property
    def shot(self) -> Shot:
        return self.known.shot

    @property
    def launch(self) -> Launch:
        return self.known.launch if self.run is None else self.run.trace.launch

    def is_for(self, shot: Shot) -> bool:
        """Whether another shot's picture needs nothing else: it may differ in position, appearance and, within the watched
        block, in the watched threads.
        """
        return _needed_for(self.shot) == _needed_for(shot)


def _needed_for(shot: Shot) -> tuple[object, ...]:
    return shot.setup, shot.view, shot.against, shot.focus.block, shot.trial, shot.chart


def depends_on_shot_alone(subject: Subject) -> bool:
    """Whether values of a subject are the same whatever else is known in a session."""
    return not subject.needs or subject.needs == ("facts",)


def ready_shot(shot: Shot, engine: Engine, like: Iterable[Knowledge] = ()) -> ReadyShot:
    """Run, count and compute what a shot's picture needs, and draw it once, which fills caches. ``like``: what is known of
    other shots. Raises Cancelled only.
    """
    known = Knowledge(shot, engine, like=like)
    ready, needs = ReadyShot(known), subject_of_view(shot.view).needs
    try:
        requested_blocks(shot.setup, known.launch)
        if {"moment", "compared"} & set(needs):
            ready = _with_run(ready)
        elif "facts" in needs:
            ready = replace(ready, facts=known.facts)
        if shot.against is not None and "compared" in needs:
            ready = replace(ready, compared=_compared_run(known))
    except GemmvizError as error:
        ready = replace(ready, error=error.kept())
    return _with_picture(ready, subject_of_view(shot.view))


def _with_run(ready: ReadyShot) -> ReadyShot:
    """The shot with its run, which is analysed as far as a session analyses it in the background."""
    known, fault = ready.known, ready.known.outcome.fault
    if fault is not None and fault.block is not None:
        known = known.about(replace(known.shot, focus=Focus(fault.block)))
    run = run_known(known)
    return replace(ready, run=run, facts=run.facts, watched=known.watch_result)


def _compared_run(known: Knowledge) -> KnownRun | None:
    """The run that a shot is compared with, analysed; None if it can't be run, which is said once the shot is shown."""
    try:
        return run_known(known.compared)
    except GemmvizError:
        return None


def _with_picture(ready: ReadyShot, subject: Subject) -> ReadyShot:
    """The shot with its value if that depends on nothing else, after its picture was drawn once."""
    shot = ready.shot
    try:
        value = _value(ready, subject)
        if value is not None:
            (width, height), scale = frame_for(shot, *_PIXELS)
            view_named(shot.view).scene(value, options_for(shot, theme_of(shot), (width, height), scale=scale))
    except GemmvizError as error:
        return replace(ready, error=ready.error or error.kept())
    return replace(ready, value=value) if depends_on_shot_alone(subject) else ready


def _value(ready: ReadyShot, subject: Subject) -> Any:
    """What the view draws; None if a run is missing."""
    if ("compared" in subject.needs and ready.compared is None) or ("moment" in subject.needs and ready.run is None):
        return None
    return subject.make(ready.shot, ready.known.context(subject.needs))
