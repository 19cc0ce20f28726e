"""Where and when the blocks of a launch ran: measured here where a GPU may run the kernel, else as it is known."""

from collections.abc import Callable

from gemmviz.files.devices import device_of
from gemmviz.model.errors import GemmvizError
from gemmviz.model.schedule import GridCase, Schedule
from gemmviz.model.setup import Setup
from gemmviz.run.engine import Cancel
from gemmviz.show.events import Post
from gemmviz.show.runners import Runners
from gemmviz.show.shot import Shot
from gemmviz.show.subjects import grid_case
from gemmviz.show.tasks import Latest


class Launches:
    """Keeps the latest launch that was looked at. ``done`` is called when more is known of it."""

    def __init__(self, post: Post, runners: Runners, done: Callable[[], None]) -> None:
        self.runners, self._done = runners, done
        self.lane: Latest[Schedule] = Latest(post, self._on_measured, self._on_failed)
        self._kept: tuple[Setup, GridCase | None] | None = None
        self._shot: Shot | None = None

    def case(self, shot: Shot) -> GridCase | None:
        """What is known now of a shot's launch; what can be measured is, beside."""
        if self._kept is None or self._kept[0] != shot.setup:
            self._kept = shot.setup, grid_case(shot)
            self._shot = shot
            self._measure(shot.setup)
        return self._kept[1]

    def _measure(self, setup: Setup) -> None:
        runners = self.runners
        mine = runners.gpu is not None and device_of(runners.gpu) == setup.device
        if not mine or runners.chosen != "gpu" or not runners.trust.includes(setup.kernel) or self._kept is None:
            self.lane.cancel()
            return

        def work(cancelled: Cancel) -> Schedule:
            return runners.remote.schedule(setup, cancelled=cancelled)

        if self._kept[1] is not None:
            self.lane.start(work)

    def _on_measured(self, schedule: Schedule) -> None:
        gpu, shot = self.runners.gpu, self._shot
        if gpu is not None and shot is not None and self._kept is not None and self._kept[0] == shot.setup:
            self._kept = shot.setup, grid_case(shot, schedule, f"measured here on {gpu.label}")
            self._done()

    def _on_failed(self, error: GemmvizError) -> None:
        """What is known without measuring stays."""
