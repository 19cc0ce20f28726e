"""The interface of all engines, and an engine that falls back from one engine to the next."""

from collections.abc import Callable
from typing import TypeVar

from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import Cancelled, GemmvizError, KernelFault, SettingError
from gemmviz.model.outcome import Outcome, Watched
from gemmviz.model.race import RaceCase
from gemmviz.model.schedule import Schedule
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import LaunchSink
from gemmviz.model.threads import BlockRange, Triple
from gemmviz.model.timing import Counters, KernelSpeed
from gemmviz.run.recording import Recording

Cancel = Callable[[], bool]
Progress = Callable[[int, int], None]
_Answer = TypeVar("_Answer")


class CannotAnswer(GemmvizError, NotImplementedError):
    """The engine doesn't support a request. This is not a failure; another engine may support it."""


class Engine:
    """The interface of an engine. An engine overrides the methods that it supports.

    Methods may be called from any thread. They raise CannotAnswer if the engine doesn't support the request, Cancelled once
    ``cancelled()`` is true, and SettingError, SourceError or DeviceError.
    """

    name = "no engine"

    def known_blocks(self, setup: Setup) -> BlockRange | None:
        """The blocks of which a trace is at hand; None if any blocks may be chosen."""
        return None

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        """The trace of ``blocks`` (default: the blocks of the setup)."""
        raise self._cannot("record a trace")

    def count(
        self,
        setup: Setup,
        counter: LaunchSink,
        *,
        progress: Progress = lambda done, total: None,
        cancelled: Cancel = is_cancelled,
    ) -> None:
        """Passes the accesses of the whole launch to ``counter``. Raises KernelFault if the kernel faults."""
        raise self._cannot("count a launch")

    def watch(self, setup: Setup, block: Triple, thread: Triple, *, cancelled: Cancel = is_cancelled) -> Watched:
        """The variables of one thread at each step. Raises KernelFault if the kernel faults."""
        raise self._cannot("watch variables")

    def race(self, setup: Setup, block: Triple, title: str, *, cancelled: Cancel = is_cancelled) -> RaceCase:
        """The order of a block's warps or threads that changes C with the shortest lead. Raises KernelFault too."""
        raise self._cannot("search for races")

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        """Times of the real kernel on the setup's device, of cuBLAS and of the copies to and from the device."""
        raise self._cannot("time a kernel")

    def schedule(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> Schedule:
        """The SM, start and stop of each block of the real kernel."""
        raise self._cannot("record a schedule")

    def verify(self, setups: list[Setup]) -> list[Counters]:
        """The hardware counters of each setup's launch."""
        raise self._cannot("read hardware counters")

    def close(self) -> None:
        """Releases all resources. The engine can't be used afterwards."""

    def _cannot(self, what: str) -> CannotAnswer:
        return CannotAnswer(f"{self.name} can't {what}")


class FallbackEngine(Engine):
    """Several engines as one: each request goes to the first engine that supports it and succeeds.

    SettingError and Cancelled are raised at once, since they hold for every engine. An Outcome carries the error of the first
    engine that failed.
    """

    def __init__(self, *engines: Engine) -> None:
        self.engines = engines
        self.name = engines[0].name

    def known_blocks(self, setup: Setup) -> BlockRange | None:
        known = (engine.known_blocks(setup) for engine in self.engines)
        return next((blocks for blocks in known if blocks is not None), None)

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        outcome, failure = self._first_result(lambda engine: engine.trace(setup, blocks, recording, cancelled=cancelled))
        fault = outcome.fault
        if fault is not None and isinstance(failure, KernelFault) and failure.message != fault.message:
            fault.message += f". On the GPU: {failure.message}"
        return Outcome(outcome.trace, outcome.by, fault, failure)

    def count(
        self,
        setup: Setup,
        counter: LaunchSink,
        *,
        progress: Progress = lambda done, total: None,
        cancelled: Cancel = is_cancelled,
    ) -> None:
        self._first_result(lambda engine: engine.count(setup, counter, progress=progress, cancelled=cancelled))

    def watch(self, setup: Setup, block: Triple, thread: Triple, *, cancelled: Cancel = is_cancelled) -> Watched:
        return self._first_result(lambda engine: engine.watch(setup, block, thread, cancelled=cancelled))[0]

    def race(self, setup: Setup, block: Triple, title: str, *, cancelled: Cancel = is_cancelled) -> RaceCase:
        return self._first_result(lambda engine: engine.race(setup, block, title, cancelled=cancelled))[0]

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        return self._first_result(lambda engine: engine.time(setup, cancelled=cancelled))[0]

    def schedule(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> Schedule:
        return self._first_result(lambda engine: engine.schedule(setup, cancelled=cancelled))[0]

    def verify(self, setups: list[Setup]) -> list[Counters]:
        return self._first_result(lambda engine: engine.verify(setups))[0]

    def close(self) -> None:
        for engine in self.engines:
            engine.close()

    def _first_result(self, request: Callable[[Engine], _Answer]) -> tuple[_Answer, GemmvizError | None]:
        """The first result, and the error of the first engine that failed before. Raises that error if no engine succeeds."""
        failure: GemmvizError | None = None
        unsupported: GemmvizError | None = None
        for engine in self.engines:
            try:
                return request(engine), failure
            except (SettingError, Cancelled):
                raise
            except CannotAnswer as error:
                unsupported = error
            except GemmvizError as error:
                failure = failure or error
        raise failure or unsupported or CannotAnswer("there is no engine")
