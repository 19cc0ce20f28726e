"""Block schedules of launches, measured on this machine's GPU if it is the launch's device and may run the kernel."""

from collections.abc import Callable
from typing import Any

from gemmviz.files.devices import device_of
from gemmviz.jobs.engines import Engines
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.model.errors import GemmvizError
from gemmviz.model.schedule import Schedule
from gemmviz.model.setup import Setup
from gemmviz.model.translation import tr
from gemmviz.run.engine import Cancel
from gemmviz.subjects.subject import MeasuredCase


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

        def work(cancelled: Cancel) -> tuple[Setup, Schedule]:
            return setup, remote.schedule(setup, cancelled=cancelled)

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
