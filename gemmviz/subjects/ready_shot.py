"""Turns a shot into everything that its first picture needs, on any thread, so that it can be shown within a frame."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from gemmviz.analysis.replay.focus import Focus, scope_of, step_at
from gemmviz.analysis.replay.moment import Reader
from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.errors import Cancelled, GemmvizError
from gemmviz.model.kernel import Launch
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.run.choosing import run
from gemmviz.run.cpu.executor import requested_blocks
from gemmviz.run.engine import Cancel, CannotAnswer, Engine, FallbackEngine
from gemmviz.run.stored import RecordedTimes
from gemmviz.scenes.catalog import view_named
from gemmviz.state.shot import Shot
from gemmviz.subjects.background_analysis import WatchResult, count_launch, search, watch
from gemmviz.subjects.catalog import subject_of_view
from gemmviz.subjects.picture import frame_for, options_for, theme_of
from gemmviz.subjects.recordings import recorded
from gemmviz.subjects.runs import KnownRun, finished_run
from gemmviz.subjects.subject import Compared, Context, EngineFor, LaunchFacts, Subject, launch_facts

_PIXELS = (1920.0, 1080.0)


class ReadyShot(Struct, frozen=True, eq=False):
    """A shot with what its picture needs. ``run``: its run with all that is analysed of it, None for a view that shows no step
    of a run; ``facts``: counts and speed of its whole launch, None if they aren't shown; ``watched``: variables of the first
    watched thread; ``compared``: the run that it is compared with. ``value``: of a subject that depends on the shot alone.
    ``error``: why the shot can't run or be drawn.
    """

    shot: Shot
    launch: Launch | None = None
    run: KnownRun | None = None
    facts: LaunchFacts | None = None
    watched: WatchResult | None = None
    compared: KnownRun | None = None
    value: Any = None
    error: GemmvizError | None = None

    def is_for(self, shot: Shot) -> bool:
        """Whether another shot's picture needs nothing else: it may differ in position, appearance and, within the watched
        block, in the watched threads.
        """
        return _needed_for(self.shot) == _needed_for(shot)


def _needed_for(shot: Shot) -> tuple[object, ...]:
    return shot.setup, shot.view, shot.against, shot.focus.block, shot.trial, shot.chart


def _run_of(shot: Shot) -> tuple[object, ...]:
    return shot.setup, shot.focus.block


def depends_on_shot_alone(subject: Subject) -> bool:
    """Whether values of a subject are the same whatever else is known in a session."""
    return not subject.needs or subject.needs == ("facts",)


def ready_shot(shot: Shot, engine_for: EngineFor, cancelled: Cancel, known: Sequence[ReadyShot] = ()) -> ReadyShot:
    """Run, count and compute what a shot's picture needs, and draw it once, which fills caches. ``known``: shots whose runs can
    be used. Raises Cancelled only.
    """
    ready = ReadyShot(shot)
    try:
        ready = replace(ready, launch=launch_for(shot.setup, with_nearest=False))
        assert ready.launch is not None
        requested_blocks(shot.setup, ready.launch)
        ready = _with_results(ready, engine_for(shot.setup.kernel), cancelled, known)
        if shot.against is not None and "compared" in subject_of_view(shot.view).needs:
            ready = replace(ready, compared=_other_run(shot, shot.against.setup, engine_for, cancelled))
    except Cancelled:
        raise
    except GemmvizError as error:
        ready = replace(ready, error=error.kept())
    return _with_picture(ready, engine_for, cancelled)


def _with_results(ready: ReadyShot, engine: Engine, cancelled: Cancel, known: Sequence[ReadyShot]) -> ReadyShot:
    """The shot with its run if its view shows steps, or else with the facts that it shows."""
    shot, subject = ready.shot, subject_of_view(ready.shot.view)
    if {"moment", "compared"} & set(subject.needs):
        same = next((each for each in known if each.run is not None and _run_of(each.shot) == _run_of(shot)), None)
        return _with_run(ready, engine, cancelled) if same is None else _with_same_run(ready, same, engine, cancelled)
    if "facts" in subject.needs:
        return replace(ready, facts=launch_facts(shot.setup, engine, cancelled))
    return ready


def _with_run(ready: ReadyShot, engine: Engine, cancelled: Cancel) -> ReadyShot:
    """The shot with its run, which is analysed as far as a session analyses it in the background."""
    setup, focus = ready.shot.setup, ready.shot.focus
    assert ready.launch is not None
    focus = focus.within_launch(ready.launch, device_for(setup).warp_size)
    known = finished_run(setup, run(setup, focus.block, engine, cancelled=cancelled))
    if known.outcome.fault is not None:
        focus = focus if known.outcome.fault.block is None else Focus(known.outcome.fault.block)
    reader = Reader(known.replay, focus.within(known.trace))
    known.replay.sums(reader.scope)
    known.replay.terms(reader.scope)
    watched = watch(setup, known.replay, reader.scope, engine, cancelled)
    if known.trace.stop is None:
        replay, blocks = search(setup, known.replay, engine, cancelled)
        known = _timed(_counted(replace(known, replay=replay, searched=blocks), engine, cancelled), engine, cancelled)
    return replace(ready, run=known, facts=known.facts, watched=watched)


def _other_run(shot: Shot, setup: Setup, engine_for: EngineFor, cancelled: Cancel) -> KnownRun | None:
    """The run that a shot is compared with, analysed; None if it can't be run, which is said once the shot is shown."""
    try:
        other = ReadyShot(replace(shot, setup=setup, against=None), launch_for(setup, with_nearest=False))
        return _with_run(other, engine_for(setup.kernel), cancelled).run
    except Cancelled:
        raise
    except GemmvizError:
        return None


def _with_same_run(ready: ReadyShot, same: ReadyShot, engine: Engine, cancelled: Cancel) -> ReadyShot:
    """The shot with the run of another one, read through its own focus."""
    known, watched = same.run, same.watched
    assert known is not None
    scope = scope_of(ready.shot.focus, known.trace)
    known.replay.sums(scope)
    known.replay.terms(scope)
    if watched is None or watched.scope != scope:
        watched = watch(known.setup, known.replay, scope, engine, cancelled)
    return replace(ready, run=known, facts=same.facts, watched=watched)


def _counted(known: KnownRun, engine: Engine, cancelled: Cancel) -> KnownRun:
    try:
        return replace(known, counts=count_launch(known, engine, cancelled))
    except CannotAnswer as error:
        return replace(known, no_counts=str(error))


def _timed(known: KnownRun, engine: Engine, cancelled: Cancel) -> KnownRun:
    try:
        return replace(known, speed=FallbackEngine(engine, RecordedTimes()).time(known.setup, cancelled=cancelled))
    except Cancelled:
        raise
    except GemmvizError as error:
        return replace(known, no_speed=str(error))


def _with_picture(ready: ReadyShot, engine_for: EngineFor, cancelled: Cancel) -> ReadyShot:
    """The shot with its value if that depends on nothing else, after its picture was drawn once."""
    shot, subject = ready.shot, subject_of_view(ready.shot.view)
    try:
        value = _value(ready, subject, engine_for, cancelled)
        if value is not None:
            (width, height), scale = frame_for(shot, *_PIXELS)
            view_named(shot.view).scene(value, options_for(shot, theme_of(shot), (width, height), scale=scale))
    except Cancelled:
        raise
    except GemmvizError as error:
        return replace(ready, error=ready.error or error)
    return replace(ready, value=value) if depends_on_shot_alone(subject) else ready


def _value(ready: ReadyShot, subject: Subject, engine_for: EngineFor, cancelled: Cancel) -> Any:
    """What the view draws; None if a run is missing."""
    shot, moment, compared = ready.shot, None, None
    if ("compared" in subject.needs and ready.compared is None) or ("moment" in subject.needs and ready.run is None):
        return None
    if ready.compared is not None:
        reader = Reader(ready.compared.replay, shot.focus.within(ready.compared.trace))
        compared = Compared(reader, ready.compared.facts)
    if ready.run is not None:
        reader = Reader(ready.run.replay, shot.focus.within(ready.run.trace))
        reader.watched = None if ready.watched is None else ready.watched.watched
        moment = reader.at(step_at(ready.run.trace, shot.at))
    measurements = recorded() if "measurements" in subject.needs else {}
    context = Context(engine_for, cancelled, moment=moment, facts=ready.facts, compared=compared, measurements=measurements)
    return subject.make(shot, context)
