"""Notices about the displayed run: errors of runs, of their analysis and of the GPU, and offers."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct, structs
from psygnal import Signal

from gemmviz.cuda.launch.launch_form import compared_at, launch_origin, not_confirmed, with_basis, wrong_result
from gemmviz.files.devices import device_of
from gemmviz.model.messages import GemmvizError, KernelFault, Place, many, tr
from gemmviz.model.setup import Setup, changes
from gemmviz.model.timing import Schedule
from gemmviz.model.trace import Check
from gemmviz.run.engine import CannotAnswer
from gemmviz.shots.completion import Completion
from gemmviz.shots.jobs import Benchmarks, Engines, LatestTask, Post
from gemmviz.shots.knowledge import Knowledge, MeasuredCase
from gemmviz.shots.runs import KnownRun

Topic = Literal["kernel", "result", "hazard", "mended", "gpu", "file", "sizes", "benchmark", "elsewhere", "extension"]


class Offer(Struct, frozen=True):
    """An action that a notice offers. ``tip``: its consequences."""

    title: str
    tip: str
    take: Callable[[], object]


class Notice(Struct, frozen=True):
    """One notice. ``place``: position in the kernel's text. ``warns``: a warning, otherwise information. ``tip``: what it rests
    on.
    """

    topic: Topic
    text: str
    place: Place | None = None
    warns: bool = True
    offer: Offer | None = None
    tip: str = ""


class Notices:
    """The current notices, at most one per topic, oldest first. ``changed`` is emitted when they change."""

    changed = Signal()

    def __init__(self) -> None:
        self._by_topic: dict[Topic, Notice] = {}

    @property
    def all(self) -> list[Notice]:
        return list(self._by_topic.values())

    @property
    def place(self) -> Place | None:
        """The position in the kernel's text of the latest notice that has one."""
        return next((each.place for each in reversed(self.all) if each.place is not None), None)

    def complain(self, topic: Topic, error: GemmvizError, offer: Offer | None = None) -> None:
        self.put(Notice(topic, str(error), error.place, offer=offer))

    def put(self, notice: Notice) -> None:
        self._by_topic.pop(notice.topic, None)
        self._by_topic[notice.topic] = notice
        self.changed.emit()

    def drop(self, *topics: Topic) -> None:
        """Remove notices that no longer apply or were dismissed."""
        removed = [self._by_topic.pop(topic) for topic in topics if topic in self._by_topic]
        if removed:
            self.changed.emit()


# Notices that offer to run a kernel from an untrusted source.


def gpu_offer(allow: Callable[[], object]) -> Notice:
    """Notice that an untrusted kernel runs in the interpreter, with an offer to run it on the GPU."""
    what = tr("Compiles this source and runs it unmodified on the GPU, repeatedly to time it")
    risk = tr("a faulty kernel can hang the GPU for a while, for other programs too")
    offer = Offer(
        tr("Run on the GPU"),
        tr("{what}. Caution: {risk}. This permission is remembered for exactly this source.", what=what, risk=risk),
        allow,
    )
    text = tr("This kernel doesn't ship with gemmviz: it runs in the interpreter, which accesses neither files nor the network")
    return Notice("elsewhere", text, warns=False, offer=offer)


def run_offer(run: Callable[[], object]) -> Notice:
    """Notice that a recorded run is displayed, with an offer to run its kernel."""
    tip = tr("Runs the kernel in this file, which adds thread variables and counts of the whole launch")
    return Notice(
        "elsewhere", tr("Shown as it was recorded: nothing was run"), warns=False, offer=Offer(tr("Run it here"), tip, run)
    )


# What is said about runs, and when.

_RUN_TOPICS: tuple[Topic, ...] = ("kernel", "result", "hazard", "mended", "gpu", "elsewhere")


class Reports:
    """Puts errors into ``notices`` by topic. ``show`` shows a view, at a step unless it is None; ``run`` runs a setup."""

    def __init__(
        self, notices: Notices, engines: Engines, show: Callable[[str, int | None], object], run: Callable[[Setup], object]
    ) -> None:
        self.notices, self.engines, self._show, self._run = notices, engines, show, run
        self._hazard: KnownRun | None = None  # the latest run with one
        self._wrong: Setup | None = None  # of the latest verdict that a kernel is wrong
        self._launched: Setup | None = None  # whose fault was reported beside the displayed run
        engines.gpu_known.connect(self._on_gpu_known)

    def follow(self, completion: Completion, other: Completion, benchmarks: Benchmarks) -> None:
        """Report errors in the analysis of the displayed run, in the compared run, and in benchmarks."""
        completion.fact_failed.connect(lambda error: self._complain_of_fact(error, completion.run))
        completion.analysis_changed.connect(lambda: self._report_known(completion.run))
        other.failed.connect(lambda error: self.notices.complain("elsewhere", error))
        other.fact_failed.connect(lambda error: self.notices.complain("elsewhere", error))
        benchmarks.failed.connect(lambda error: self.notices.complain("benchmark", error))

    def report_run(self, run: KnownRun) -> None:
        """Report what is wrong with a run, replacing the notices about the previous one."""
        outcome, fault, self._launched = run.outcome, run.outcome.fault, None
        self.notices.drop(*_RUN_TOPICS)
        if outcome.instead_of is not None:
            self.notices.complain("gpu", _with_substitute(outcome.instead_of))
        doubt = not_confirmed(run.setup.kernel)
        if doubt is not None:
            self.notices.put(Notice("result", doubt.message, warns=False))
        elif fault is not None:
            last = run.trace.steps - 1
            tip = tr("What the threads did last, on the stage")
            stage = Offer(tr("Show the last step"), tip, lambda: self._show("stage", last))
            self._accuse(run.setup, "result", fault, stage if last >= 0 else None)
        elif not run.trace.check.passed:
            self._accuse(run.setup, "result", wrong_result(run.trace.check, run.setup))

    def _complain_of_fact(self, error: GemmvizError, run: KnownRun | None) -> None:
        if run is not None and isinstance(error, KernelFault):
            self._accuse(run.setup, "result", error)
        else:
            self.notices.complain("result", error)

    def _report_known(self, run: KnownRun | None) -> None:
        """Report a fault of the launch at the sizes of main() that doesn't show at those of the displayed run; or that the
        result is right now, once all that can be told of it is known.
        """
        judged = None if run is None else Knowledge.judged_as_launched.at_hand(run.known)
        if run is None or judged is None:
            return
        setup, error = run.known.whole.setup, judged.error
        if error is None:
            self._report_mended(run, judged.value)
        elif setup != self._launched:
            self._launched = setup  # a notice that was closed doesn't come back
            self._wrong = run.setup
            text = tr("As main() launches it: {fault}", fault=error.message)
            offer = Offer(tr("Show it"), tr("Run the kernel at the sizes of main()"), lambda: self._run(setup))
            self.notices.put(Notice("result", text, error.place, offer=offer))

    def _report_mended(self, run: KnownRun, as_launched: Check | None) -> None:
        """Report that the result is right with the settings with which it was wrong before the kernel's text changed."""
        wrong, setup, check = self._wrong, run.setup, run.trace.check
        kernel, counted = setup.kernel, run.counted
        if wrong is None or kernel.text == wrong.kernel.text or setup.parameters != wrong.parameters:
            return
        keeps_sizes = wrong.problem == wrong.kernel.problem and setup.problem == kernel.problem  # those that the files choose
        if structs.replace(wrong, kernel=kernel, problem=setup.problem if keeps_sizes else wrong.problem) != setup:
            return
        is_same = (kernel.file, kernel.function) == (wrong.kernel.file, wrong.kernel.function)
        is_whole = run.outcome.fault is None and run.trace.stop is None and not kernel.unfinished and not run.from_file
        is_counted = counted is not None and (counted.error is None or isinstance(counted.error, CannotAnswer))
        is_right = check.is_checked and check.passed and check.compared > 0 and not run.replay.hazards
        if not (is_same and is_whole and is_counted and is_right) or not_confirmed(kernel) is not None:
            return
        self._wrong, sizes, tips = None, compared_at(check, setup), [str(check), launch_origin(kernel)]
        if as_launched is not None and as_launched.is_checked and as_launched.compared:
            own = compared_at(as_launched, run.known.whole.setup)
            sizes = tr("{sizes} and, as main() launches it, at {own}", sizes=sizes, own=own)
            tips.insert(1, f"{own}: {as_launched}")
        text = tr("{array} is now right at {sizes}", array=check.array, sizes=sizes)
        tips.append(tr("no hazard in {blocks}", blocks=many(run.searched or 0, "block")))
        self.notices.put(Notice("mended", text, warns=False, tip="\n".join(tips)))

    def report_hazard(self, run: KnownRun) -> None:
        tip = tr("Search for an order of the threads that makes the result wrong")
        race = Offer(tr("Show the race"), tip, lambda: self._show("race", None))
        fault = run.replay.hazards[0].fault(run.setup.kernel.file)
        with_basis(fault, run.setup)
        self._accuse(run.setup, "hazard", fault, race)
        self._hazard = run

    def report_no_hazard(self, run: KnownRun | None) -> None:
        """Report that a hazard of the same kernel doesn't show with other settings: the kernel is as wrong as before."""
        before = self._hazard
        if before is None or run is None or before.setup.kernel.text != run.setup.kernel.text or before.setup == run.setup:
            return
        settings = ", ".join(changes(before.setup, run.setup))
        fault = before.replay.hazards[0].fault(run.setup.kernel.file)
        text = (
            tr("With {settings} the fault doesn't show, but it is still there: {fault}", settings=settings, fault=fault.message)
            if run.replay.has_phases and run.replay.phases > 1
            else tr(
                "With {settings} there is a single phase, in which the fault doesn't show, but it is still there: {fault}",
                settings=settings, fault=fault.message,
            )
        )  # fmt: skip
        self.notices.put(Notice("hazard", text, fault.place))

    def _accuse(self, setup: Setup, topic: Topic, error: GemmvizError, offer: Offer | None = None) -> None:
        """Report that the kernel is wrong with these settings."""
        self._wrong = setup
        self.notices.complain(topic, error, offer)

    def drop_run(self) -> None:
        """Remove the notices about runs."""
        self.notices.drop(*_RUN_TOPICS)

    def drop_all(self) -> None:
        """Remove the notices about files, sizes and runs."""
        self.notices.drop("file", "sizes", *_RUN_TOPICS)

    def offer_run(self, start: Callable[[], object]) -> None:
        """Offer to run a kernel whose recorded run is displayed."""
        self.notices.put(run_offer(start))

    def offer_gpu(self, setup: Setup, run: KnownRun | None) -> None:
        """Offer to run an untrusted kernel on the GPU, unless its recorded run is displayed."""
        is_recorded = run is not None and run.from_file and run.setup == setup
        if self.engines.needs_permission(setup.kernel) and not is_recorded:
            self.notices.put(gpu_offer(lambda: self.engines.allow_on_gpu(setup.kernel)))

    def _on_gpu_known(self) -> None:
        error = self.engines.gpu_error
        if error is not None and self.engines.has_cupy and error.remedy:
            self.notices.complain("gpu", error)


def _with_substitute(error: GemmvizError) -> GemmvizError:
    """The GPU's error, with a note that the interpreter ran the kernel instead."""
    message = tr("{message}. The interpreter ran the kernel instead", message=error.message)
    return GemmvizError(message, error.place, file=error.file, remedy=error.remedy)


# Block schedules of launches, measured on this machine's GPU if it is the launch's device and may run the kernel.


class Schedules:
    """``measured`` holds the latest two launches; ``on_change`` is called when there is another."""

    def __init__(self, post: Post, engines: Engines, on_change: Callable[[], Any]) -> None:
        self.engines, self._on_change = engines, on_change
        self.worker: LatestTask[tuple[Setup, Schedule]] = LatestTask(post, self._on_measured, self._on_failed)
        self.measured: tuple[MeasuredCase, ...] = ()
        self._requested: Setup | None = None

    def measure(self, setup: Setup) -> None:
        """Measure a launch unless it is known or being measured, or the GPU may not run it."""
        is_possible = self._may_measure(setup)
        if setup == self._requested and is_possible:
            return
        self.worker.cancel()
        self._requested = setup if is_possible else None
        if not is_possible or any(each.setup == setup for each in self.measured):
            return
        remote = self.engines.remote

        def work() -> tuple[Setup, Schedule]:
            return setup, remote.schedule(setup)

        self.worker.start(work)

    def _may_measure(self, setup: Setup) -> bool:
        """Whether this machine's GPU is the setup's device and may run its kernel."""
        engines = self.engines
        mine = engines.gpu is not None and device_of(engines.gpu) == setup.device
        return mine and engines.chosen == "gpu" and engines.trust.includes(setup.kernel)

    def _on_measured(self, result: tuple[Setup, Schedule]) -> None:
        gpu = self.engines.gpu
        if gpu is not None:
            latest = MeasuredCase(*result, tr("measured here on {label}", label=gpu.label))
            self.measured = (*self.measured[-1:], latest)  # the other one may be compared with it
            self._on_change()

    def _on_failed(self, error: GemmvizError) -> None:
        """Keep the recorded or modelled schedule."""
