"""Where and when the blocks of a launch ran: measured here where a GPU may run the kernel, else as it is known."""

from collections.abc import Callable
from typing import Any

from gemmviz.files.devices import device_of
from gemmviz.jobs.engines import Engines
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.model.errors import GemmvizError
from gemmviz.model.schedule import GridCase, Schedule
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.engine import Cancel
from gemmviz.state.shot import Shot
from gemmviz.subjects.subjects import MeasuredCase, grid_case


class Launches:
    """Keeps the latest two launches that were measured. ``done`` is called when more is known of it."""

    def __init__(self, post: Post, runners: Engines, done: Callable[[], Any]) -> None:
        self.runners, self._done = runners, done
        self.lane: LatestTask[tuple[Setup, Schedule]] = LatestTask(post, self._on_measured, self._on_failed)
        self._measured: tuple[MeasuredCase, ...] = ()
        self._kept: tuple[Any, GridCase | None] | None = None

    def case(self, shot: Shot, speed: KernelSpeed | None = None) -> GridCase | None:
        """What is known now of a shot's launch; what can be measured is, beside."""
        key = shot.setup, shot.against, speed, self._may_measure(shot.setup), self._measured
        if self._kept is None or self._kept[0] != key:
            self._kept = key, grid_case(shot, self._measured, speed)
            is_known = any(each.setup == shot.setup for each in self._measured)
            self._measure(shot.setup, known=is_known or self._kept[1] is None)
        return self._kept[1]

    def _may_measure(self, setup: Setup) -> bool:
        """Whether the GPU that is here is the setup's device, and may run its kernel."""
        runners = self.runners
        mine = runners.gpu is not None and device_of(runners.gpu) == setup.device
        return mine and runners.chosen == "gpu" and runners.trust.includes(setup.kernel)

    def _measure(self, setup: Setup, known: bool) -> None:
        if known or not self._may_measure(setup):
            self.lane.cancel()
            return
        remote = self.runners.remote

        def work(cancelled: Cancel) -> tuple[Setup, Schedule]:
            return setup, remote.schedule(setup, cancelled=cancelled)

        self.lane.start(work)

    def _on_measured(self, found: tuple[Setup, Schedule]) -> None:
        gpu = self.runners.gpu
        if gpu is not None:
            latest = MeasuredCase(*found, f"measured here on {gpu.label}")
            self._measured = (*self._measured[-1:], latest)  # what this one may be held against stays
            self._done()

    def _on_failed(self, error: GemmvizError) -> None:
        """What is known without measuring stays."""
