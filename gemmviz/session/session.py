"""What is shown, and how it changes: a shot, an engine's run of it, and all that is known of that run. No window needed."""

import time
from dataclasses import replace
from typing import Any

from psygnal import Signal

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.analysis.replay.position import Position, position_of, step_at
from gemmviz.export.time import Time
from gemmviz.jobs.engines import Engines
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import device_for, launch_for, setup_for
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.cancelling import cancellable
from gemmviz.model.chart import Opens
from gemmviz.model.errors import Cancelled, GemmvizError, KernelFault, SettingError
from gemmviz.model.kernel import Launch
from gemmviz.model.labels import LabelStyle
from gemmviz.model.problem import Problem
from gemmviz.model.schedule import GridCase
from gemmviz.model.setup import Setup
from gemmviz.model.speed_case import SpeedCase
from gemmviz.model.watched import Watched
from gemmviz.run.cpu.executor import asked_blocks
from gemmviz.run.engine import Cancel
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.frame import Layer
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.window import Lens, lens_of
from gemmviz.scenes.stage.layout import plan_of
from gemmviz.session.player import Player
from gemmviz.session.pointing import focus_at
from gemmviz.state.fields import FieldValue, put
from gemmviz.state.naming import change_name
from gemmviz.state.notices import Notices, Topic
from gemmviz.state.offers import as_recorded, kept_from_gpu
from gemmviz.state.requested_sizes import RequestedSizes
from gemmviz.state.shot import LEAST_TYPE, MOST_TYPE, Against, Camera, ChartChoice, Shot, default_shot
from gemmviz.state.undo import Undo
from gemmviz.subjects.background_analysis import BackgroundAnalysis, Shown, WatchResult, ran
from gemmviz.subjects.benchmarks import Benchmarks
from gemmviz.subjects.cache import WAITING
from gemmviz.subjects.cards import CARDS, Subjects, WorkedOut, view_of_two
from gemmviz.subjects.picture import Subject, options_for, run, theme_of
from gemmviz.subjects.reading import MAPPED, Reading

_REPLAY, _BENCHMARK = "stage", "rate"
_SOON_S = 0.03
_TIMED = (Moment, GridCase, SpeedCase, Pair)
_OF_A_RUN = (Moment, SpeedCase, Pair)
_DRAGGED = "what is tried out"  # a change that goes on as long as the same is dragged
_OF_THE_RUN: tuple[Topic, ...] = ("kernel", "result", "hazard", "gpu", "elsewhere")


class Session:
    """``shot`` is what a person asked for; ``shown`` is the run that the picture is of, None before there is one; ``error`` is
    why the one is not the other's. ``post`` runs a function on the thread that owns the session; it alone calls what is here.

    Signals: ``shot_changed`` for another shot; ``position_changed`` for another step, moment or camera; ``run_changed`` for
    another run; ``analysis_changed`` when more is known of the run; ``notices_changed`` for errors and notices;
    ``busy_changed`` when work begins and ends; ``message`` with a sentence for the status line.
    """

    shot_changed = Signal()
    position_changed = Signal()
    run_changed = Signal()
    analysis_changed = Signal()
    notices_changed = Signal()
    busy_changed = Signal()
    message = Signal(object)

    def __init__(self, post: Post, runners: Engines | None = None, shot: Shot | None = None) -> None:
        self.shot = shot or default_shot()
        self.shown: Shown | None = None
        self.watched: Watched | None = None
        self.unwatched = ""  # why there are no variables to watch
        self.launch: Launch | None = None
        self.error: GemmvizError | None = None
        self.edited = ""  # the field that was set last
        self.unread = ""  # the text of a file that can't be read as a kernel
        self.step = 0
        self.system_is_dark = True
        self.notices = Notices()
        self.wishes = RequestedSizes.of(self.shot.setup)
        self.history = Undo((self.shot, self.wishes))
        self.player = Player(Time(self))
        self.runners = runners or Engines(post)
        self.benchmarks = Benchmarks(post)
        self.runners.changed.connect(self._on_engine)
        self.runners.gpu_known.connect(self._on_gpu_known)
        self.benchmarks.failed.connect(lambda error: self.complain("benchmark", error))
        self._views: dict[type, str] = {Moment: _REPLAY, Benchmark: _BENCHMARK}
        self._plays = False
        self.cards = Subjects(post, self.runners, self._on_more_known, lambda error: self.complain("elsewhere", error))
        self.reading = Reading(post, self._on_loads_counted, self.analysis_changed.emit)
        self._tracer: LatestTask[Shown | KernelFault] = LatestTask(post, self._on_traced, self._on_failed)
        self._findings = BackgroundAnalysis(post, self._on_found, self._on_looked, self._on_finding_failed)

    # What is shown

    @property
    def steps(self) -> int:
        return self.shown.replay.steps if self.shown is not None else 0

    @property
    def moment(self) -> float:
        """How much of the step has passed."""
        return self.shot.moment

    @property
    def reader(self) -> Reader | None:
        """Of the run that is shown, through the focus of the shot."""
        return self.reading.reader

    @property
    def now(self) -> Moment | None:
        """The step that is shown, of the run that is shown."""
        return self.reading.at(self.step)

    @property
    def subject(self) -> Subject | None:
        """What the view is of."""
        return self.subject_of(view_named(self.shot.view).subject)

    def subject_of(self, kind: type) -> Subject | None:
        """What views of this kind of subject show now."""
        if kind is Moment:
            return self.now
        if kind in CARDS:
            card: Subject | None = self.cards.subject(kind, self.shot, self.shown, self.now)
            return card
        chart = self.shot.chart
        return self.benchmarks.narrowed(chart.source, chart.width, chart.with_host)

    @property
    def missing(self) -> str:
        """Why the view has nothing to show, or that it is being worked out; "" where it has, or its run is still to come."""
        kind = view_named(self.shot.view).subject
        return self.cards.missing(kind, self.shot) if self.subject is None else ""

    @property
    def pending(self) -> str:
        """What is still being done for the picture that is asked for; "" once it can be drawn, or can't be had."""
        kind, shown = view_named(self.shot.view).subject, self.shown
        if self.error is not None:
            return ""
        if kind in _OF_A_RUN and self._tracer.is_busy and (shown is None or shown.setup != self.shot.setup):
            return "Running the kernel …"
        if kind is SpeedCase and shown is not None and shown.counts is None and self._findings.will_count:
            return "Counting the launch …"
        is_waiting = self.missing == WAITING or (kind is Moment and self.reading.is_drawing)
        return WAITING if is_waiting else ""

    @property
    def is_replay(self) -> bool:
        """Whether the view is one of the run alone."""
        return view_named(self.shot.view).subject is Moment

    @property
    def has_time(self) -> bool:
        """Whether what is shown goes on by itself: a run, or a launch."""
        return view_named(self.shot.view).subject in _TIMED

    @property
    def is_benchmark(self) -> bool:
        """Whether the view is one of measurements."""
        return view_named(self.shot.view).subject is Benchmark

    @property
    def drawn(self) -> Shot:
        """What is drawn: the shot, without its reuse map as long as loads are still being counted."""
        return replace(self.shot, layer="matrix") if self.reading.is_counting else self.shot

    @property
    def theme(self) -> Theme:
        return theme_of(self.shot, self.system_is_dark)

    @property
    def is_stale(self) -> bool:
        """Whether the picture is not that of what is asked for."""
        return self.error is not None and self.shown is not None

    @property
    def is_busy(self) -> bool:
        return self._tracer.is_busy

    @property
    def is_working(self) -> bool:
        """Whether anything of the picture is being worked out."""
        lanes = (self._tracer, *self._findings.lanes, *self.cards.lanes, *self.reading.lanes)
        return any(lane.is_busy for lane in lanes)

    # Asking for something else

    def start(self, shot: Shot | None = None, plays: bool = False) -> None:
        """The first picture; ``plays`` as soon as there is one."""
        self.shot = shot or self.shot
        self._views[view_named(self.shot.view).subject] = self.shot.view
        self.cards.follow(self.shot)
        self.wishes = RequestedSizes.of(self.shot.setup)
        self.history = Undo((self.shot, self.wishes))
        self._plays = plays
        self._run()
        self.shot_changed.emit()

    def ask(self, shot: Shot, wishes: RequestedSizes | None = None) -> None:
        """Shows another shot; what was changed on purpose can be undone."""
        before, name = self.shot, change_name(self.shot, shot)
        if name and not name == _DRAGGED == self.history.undo_name:
            self.history.settle((before, self.wishes))
        self.wishes = wishes or self.wishes
        self._become(shot)
        if name == _DRAGGED == self.history.undo_name:
            self.history.settle((self.shot, self.wishes))
        elif name:
            self.history.note((self.shot, self.wishes), name)
        self.shot_changed.emit()

    def change(self, name: str, value: FieldValue) -> None:
        """A person sets one field of the setup."""
        self.edited = name
        try:
            setup = put(self.shot.setup, name, value)
        except SettingError as error:
            self._fail(error)
            return
        self.notices.drop("sizes")
        numbers = setup.sizes_and_parameters
        self.ask(replace(self.shot, setup=setup), self.wishes.with_numbers(**{name: numbers[name]} if name in numbers else {}))

    def take_remedy(self) -> None:
        """Sets what an error says would work."""
        error = self.error
        if isinstance(error, SettingError):
            for name, value in error.nearest.items():
                self.change(name, value)

    def watch(self, focus: Focus) -> None:
        """Whom to watch."""
        if self.launch is not None:
            focus = focus.within_launch(self.launch, device_for(self.shot.setup).warp_size)
        self.ask(replace(self.shot, focus=focus))

    def show_view(self, name: str) -> None:
        """Looks at the same thing in another way, or at another thing."""
        if view_named(name).subject is not view_named(self.shot.view).subject:
            self.player.play(False)
        self.ask(replace(self.shot, view=name))

    def toggle_benchmark(self) -> None:
        """From the replay to the benchmark and back, each in the view that it was left in."""
        self.show_view(self.latest_view(Moment if self.is_benchmark else Benchmark))

    def latest_view(self, subject: type) -> str:
        """The view of this kind of subject that was looked at last."""
        return self._views[subject]

    def show_layer(self, layer: Layer) -> None:
        self.ask(replace(self.shot, layer=layer))

    def show_lens(self, lens: Lens) -> None:
        """All of the matrices or what matters of them, as a whole."""
        self.ask(replace(self.shot, lens=lens, camera=Camera()))

    def toggle_lens(self) -> None:
        """From the lens to the whole and back, whichever is seen now."""
        self.show_lens("whole" if self.lens == "lens" else "lens")

    @property
    def lens(self) -> Lens:
        """Whether the stage shows the lens or the whole; "auto" where there is nothing to choose from."""
        now = self.now
        if now is None or not lens_of(now).is_lens:
            return "auto"
        return "lens" if plan_of(now, options_for(self.shot, self.theme, self.reading.size)).window.is_lens else "whole"

    def show_code(self, on: bool) -> None:
        self.ask(replace(self.shot, code=on))

    def write_labels(self, labels: LabelStyle) -> None:
        """How elements and threads are written, in every view."""
        self.ask(replace(self.shot, labels=labels))

    def scale_type(self, factor: float) -> None:
        """Words larger or smaller."""
        self.ask(replace(self.shot, type_scale=max(LEAST_TYPE, min(MOST_TYPE, round(self.shot.type_scale * factor, 3)))))

    def choose_curves(self, chart: ChartChoice) -> None:
        self.ask(replace(self.shot, chart=chart))

    def open_measured(self, opens: Opens) -> None:
        """The kernel that a point of a chart is of, at that size: as it ships now. Raises UsageError where it doesn't."""
        name, size, parameters = opens
        kernel = load_kernel(name)
        setup = setup_for(kernel, Problem(size, size, size), dict(parameters), device=self.shot.setup.device)
        self.ask(replace(self.shot, setup=setup, view=self.latest_view(Moment), at=Position()), RequestedSizes.of(setup))

    def choose_theme(self, name: str) -> None:
        self.ask(replace(self.shot, theme=name))

    def go(self, step: int, moment: float = 1.0) -> None:
        """Shows a step, all of it by default."""
        if self.shown is None:
            return
        step = max(0, min(step, self.steps - 1))
        at = self.shot.at if step == self.step else position_of(self.shown.trace, step)
        distance = abs(step - self.step)
        self.step, self.shot = step, replace(self.shot, at=at, moment=moment)
        self._count_loads()
        self._draw_beside(distance)
        self.position_changed.emit()

    def go_to_instant(self, instant: float) -> None:
        """Shows a whole launch when so much of its time has passed."""
        self.shot = replace(self.shot, instant=max(0.0, min(1.0, instant)))
        self.position_changed.emit()

    def phase_start(self, direction: int) -> int:
        """The first step of the next phase, or that of this one, or of the one before where this one has just begun."""
        time = self.player.played
        if time.is_launch:
            return max(0, min(time.steps - 1, time.step + direction * time.steps // 10))
        starts = [] if self.shown is None else self.shown.replay.phase_starts.tolist()
        if direction > 0:
            return next((start for start in starts if start > self.step), self.steps - 1)
        return max((start for start in starts if start < self.step), default=0)

    def point_at(self, hit: Hit) -> None:
        """Follows the thread that a cell is about. Raises UsageError where there is none."""
        subject = self.subject
        if isinstance(subject, WorkedOut):
            shot = self.cards.pointed(subject, self.shot, self.shown, hit)
            if shot is not None:
                self.ask(shot, RequestedSizes.of(shot.setup) if shot.setup != self.shot.setup else None)
            return
        focus = None if self.now is None else focus_at(self.now, hit)
        if focus is not None:
            self.watch(focus)

    def hold_against(self, against: Against | None) -> None:
        """Beside another run; None for this one alone again."""
        view = view_of_two(self.shot.view)
        if against is None and view == "pair":
            view = self.latest_view(Moment)
        self.ask(replace(self.shot, against=against, view=view))

    def hold_against_this(self) -> None:
        """What is shown now stays at the left; what is chosen from now on stands at the right."""
        if self.shot.against is not None:
            self.hold_against(None)
        elif self.shown is not None and not self.is_stale:
            self.ask(self.cards.hold(self.shot, self.shown))
            self.say("Choose another kernel, size, parameter or device: it comes beside this one")

    def _on_more_known(self) -> None:
        """Of what is shown besides the replay."""
        self.analysis_changed.emit()
        self.position_changed.emit()

    def look(self, camera: Camera) -> None:
        """Zooms and pans."""
        if camera.zoom != self.shot.camera.zoom:
            self.reading.forget()
        self.shot = replace(self.shot, camera=camera)
        self._count_loads()
        self.position_changed.emit()

    def frame(self, size: tuple[float, float]) -> None:
        """How wide and high the frames are that are drawn, in units."""
        if size != self.reading.size:
            self.reading.size = size
            self.reading.forget()
            self._count_loads()

    def undo(self) -> None:
        if self.history.undo_name is not None:
            self.history.settle((self.shot, self.wishes))
            self._restore(*self.history.undo())

    def redo(self) -> None:
        if self.history.redo_name is not None:
            self.history.settle((self.shot, self.wishes))
            self._restore(*self.history.redo())

    def _restore(self, shot: Shot, wishes: RequestedSizes) -> None:
        self.player.play(False)
        self.wishes = wishes
        self._become(shot)
        self.shot_changed.emit()

    def show_recorded(self, shown: Shown, name: str) -> None:
        """Shows a run from elsewhere as it is, and runs nothing."""
        setup = shown.setup
        self.stop_running()
        self._findings.cancel()
        self.unread = ""
        self.notices.drop("file", "sizes", *_OF_THE_RUN)
        self.history.settle((self.shot, self.wishes))
        self.launch, self.wishes = shown.trace.launch, RequestedSizes.of(setup)
        self.shot = replace(self.shot, setup=setup, view=self.latest_view(Moment), at=Position(), moment=1.0)
        self._show(shown)
        self.notices.put(as_recorded(lambda: self._run(again=True)))
        self.history.note((self.shot, self.wishes), f"trace {name}")
        self.shot_changed.emit()
        self.notices_changed.emit()

    def stop_running(self) -> None:
        """What is asked for is not run after all."""
        self.player.play(False)
        self._tracer.cancel()
        self.busy_changed.emit()

    # What is to be said

    def complain(self, topic: Topic, error: GemmvizError) -> None:
        """Something is wrong that doesn't keep the picture from being right."""
        self.notices.say(topic, error)
        self.notices_changed.emit()

    def close_notice(self, topic: Topic) -> None:
        self.notices.drop(topic)
        self.notices_changed.emit()

    def offer_gpu(self) -> None:
        """Says so where a kernel from elsewhere is kept from the GPU."""
        kernel, shown = self.shot.setup.kernel, self.shown
        if shown is not None and shown.from_file and shown.setup == self.shot.setup:
            return  # nothing has run
        if self.runners.needs_permission(kernel):
            self.notices.put(kept_from_gpu(lambda: self.runners.allow_on_gpu(kernel)))
            self.notices_changed.emit()

    def close(self) -> None:
        """Cancels all work, for good."""
        self.player.play(False)
        for lane in (self._tracer, *self.reading.lanes):
            lane.close()
        for each in (self.cards, self._findings, self.benchmarks, self.runners):
            each.close()

    @property
    def lanes(self) -> tuple[LatestTask[Any], ...]:
        """Whatever works for it beside it."""
        found: list[LatestTask[Any]] = [self._tracer, *self.reading.lanes, *self.cards.lanes]
        return (*found, *self._findings.lanes, self.benchmarks.lane, self.runners.worker)

    # Running

    def _become(self, shot: Shot) -> None:
        before, self.shot = self.shot, shot
        self.cards.follow(shot)
        self._views[view_named(shot.view).subject] = shot.view
        if shot.setup != before.setup or self.shown is None or self.is_stale:
            self._run()
        elif shot.focus != before.focus:
            self._refocus()
        elif shot.view != before.view:
            self._draw_beside()
        self._count_loads()
        if self.shown is not None and self.shown.setup == shot.setup and shot.at != before.at:
            self.go(step_at(self.shown.trace, shot.at), shot.moment)

    def _run(self, again: bool = False) -> None:
        """Has the kernel run, unless its run is shown already; or says which limit is broken."""
        setup = self.shot.setup
        try:
            self.launch = _launch_soon(setup)
            asked_blocks(setup, self.launch)
            focus = self.shot.focus.within_launch(self.launch, device_for(setup).warp_size)
        except GemmvizError as error:
            self._tracer.cancel()
            self.busy_changed.emit()
            self._fail(error)
            self._look_for_nearest(setup, error)
            return
        self.shot = replace(self.shot, focus=focus)
        if self.shown is not None and self.shown.setup == setup and not again:
            self._tracer.cancel()
            self.busy_changed.emit()
            self._set_error(None)
            self._refocus()
            return
        self._findings.cancel()
        engine = self.runners.engine_for(setup.kernel)

        def work(cancelled: Cancel) -> Shown | KernelFault:
            return ran(setup, run(setup, focus.block, engine, cancelled=cancelled))

        self._tracer.start(work)
        self.busy_changed.emit()

    def _look_for_nearest(self, setup: Setup, error: GemmvizError) -> None:
        """What would work instead of a setting that can't, once it is found."""

        def work(cancelled: Cancel) -> Shown | KernelFault:
            launch_for(setup)  # fails, and says what would work
            raise error

        if isinstance(error, SettingError) and not error.remedy:
            self._tracer.start(work)
            self.busy_changed.emit()

    def _on_traced(self, shown: Shown | KernelFault) -> None:
        self.busy_changed.emit()
        if isinstance(shown, KernelFault):
            self._on_failed(shown)
            return
        setup, outcome = shown.setup, shown.outcome
        self.notices.drop(*_OF_THE_RUN)
        self._set_error(None)
        trace, fault = shown.trace, outcome.fault
        if outcome.instead_of is not None:
            self.notices.say("gpu", _instead(outcome.instead_of))
        if fault is not None:
            self.notices.say("result", fault)
        elif not trace.check.passed:
            self.notices.say("result", GemmvizError(str(trace.check), file=setup.kernel.file))
        if fault is not None:
            self.player.play(False)
            focus = self.shot.focus if fault.block is None else Focus(fault.block)
            self.shot = replace(self.shot, focus=focus, at=position_of(trace, trace.steps - 1), moment=1.0)
        self._show(shown)
        self.offer_gpu()
        self.notices_changed.emit()

    def _show(self, shown: Shown) -> None:
        self.shown, self.watched, self.unwatched = shown, None, ""
        self._set_error(None)
        self.step = step_at(shown.trace, self.shot.at)
        self.shot = replace(self.shot, at=position_of(shown.trace, self.step))
        self.reading.begin(shown.replay, self.shot.focus)
        self._refocus()
        self.run_changed.emit()
        if self._plays:
            self._plays = False
            self.player.play(True)

    def _refocus(self) -> None:
        """The picture through the focus of the shot; a block that was not traced is traced, unless others were asked for."""
        shown = self.shown
        if shown is None:
            return
        focus = self.shot.focus
        inside = focus.within(shown.trace)
        if inside.block != focus.block:
            if not shown.from_file and not shown.setup.blocks:
                self._run(again=True)
                return
            only = f"only blocks {shown.trace.blocks} are traced (see Blocks)"
            self.say(f"Block {focus.block[:2]} can't be watched: {only}")
        self.shot = replace(self.shot, focus=inside)
        self.watched, self.unwatched = None, ""
        self.reading.begin(shown.replay, inside)
        self._count_loads()
        self._draw_beside(self.steps)
        self._find(shown)
        self.analysis_changed.emit()

    def _find(self, shown: Shown) -> None:
        """What a file recorded is not run, only looked at."""
        assert self.reader is not None
        engine = self.runners.recorded if shown.from_file else self.runners.engine_for(shown.setup.kernel)
        self._findings.begin(shown, self.reader.scope, engine)

    def _count_loads(self) -> None:
        """What the reuse map needs."""
        if (self.shot.layer, self.shot.view) == ("reuse", MAPPED):
            self.reading.count(self.step, options_for(self.shot, self.theme, self.reading.size))

    def _draw_beside(self, distance: int = 0) -> None:
        """What a view of a large run needs; ``distance`` in steps from what was drawn before."""
        if self.is_replay and self.reader is not None:
            options = options_for(self.shot, self.theme, self.reading.size)
            self.reading.draw_beside(self.shot.view, self.step, distance, options)

    def _on_loads_counted(self) -> None:
        self._count_loads()  # as far as the next steps have gone meanwhile
        self.position_changed.emit()

    def say(self, sentence: str) -> None:
        """Something that passes."""
        self.message.emit(sentence)

    def _on_failed(self, error: GemmvizError) -> None:
        self.busy_changed.emit()
        self._fail(error)

    def _fail(self, error: GemmvizError) -> None:
        """What is asked for can't be had; the picture that stays gets its findings after all."""
        self.notices.drop("kernel")
        if not isinstance(error, SettingError):
            self.player.play(False)
            if not self.shot.setup.kernel.is_in_the_making:
                self.notices.say("kernel", error)
        self._set_error(error)
        if self.shown is not None:
            self._find(self.shown)

    def _set_error(self, error: GemmvizError | None) -> None:
        if error is None:
            self.notices.drop("kernel")
        self.error = error
        self.notices_changed.emit()

    def _on_engine(self) -> None:
        self.cards.follow(self.shot)
        if self.shown is None or not self.shown.from_file:
            self._run(again=True)

    def _on_gpu_known(self) -> None:
        why = self.runners.gpu_error
        if why is not None and self.runners.has_cupy and why.remedy:
            self.complain("gpu", why)

    # What is found later

    def _on_looked(self, look: WatchResult) -> None:
        if self.reader is not None and look.scope == self.reader.scope:
            self.watched, self.unwatched = look.watched, look.why_none
            self.reading.know(look.watched)
            self.analysis_changed.emit()

    def _on_found(self, shown: Shown) -> None:
        if self.shown is None or shown.trace is not self.shown.trace or self.reader is None:
            return
        if shown.replay is not self.shown.replay:
            self.reading.begin(shown.replay, self.reader.scope.focus)
            self.reading.know(self.watched)
            self._count_loads()
            self._draw_beside(self.step)
        new_hazards = shown.searched is not None and self.shown.searched is None
        self.shown = shown
        if new_hazards and shown.replay.hazards:
            self.complain("hazard", shown.replay.hazards[0].fault(shown.setup.kernel.file))
            self._go_to_hazard(shown)
        self.analysis_changed.emit()

    def _go_to_hazard(self, shown: Shown) -> None:
        """To the first step in which threads collide, where nobody has gone anywhere yet."""
        steps = shown.replay.conflicts.steps
        if steps and self.step == 0 and not self.player.is_moving:
            self.go(min(steps))

    def _on_finding_failed(self, error: GemmvizError) -> None:
        self.complain("result", error)


def _launch_soon(setup: Setup) -> Launch:
    """As ``launch_for``; the nearest setting that works is looked for no longer than a frame may take."""
    end = time.monotonic() + _SOON_S
    try:
        with cancellable(lambda: time.monotonic() > end):
            return launch_for(setup)
    except Cancelled:
        return launch_for(setup, with_nearest=False)


def _instead(error: GemmvizError) -> GemmvizError:
    """What the GPU could not do, and who did it instead."""
    return GemmvizError(f"{error.message}. Shown is the interpreter's run", error.place, file=error.file, remedy=error.remedy)
