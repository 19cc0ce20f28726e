"""Who answers what may be asked of a setup: one protocol for all of them, and one rule for who answers instead."""

from collections.abc import Callable
from typing import TypeVar

from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import Cancelled, GemmvizError, KernelFault, SettingError
from gemmviz.model.outcome import Outcome
from gemmviz.model.schedule import Schedule
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import LaunchSink
from gemmviz.model.threads import BlockRange, Triple
from gemmviz.model.timing import Counters, KernelSpeed
from gemmviz.model.watched import Watched
from gemmviz.run.recording import Recording

Cancel = Callable[[], bool]
Progress = Callable[[int, int], None]
_Answer = TypeVar("_Answer")


class CannotAnswer(GemmvizError, NotImplementedError):
    """Not a failure: this engine is not the one to ask."""


class Engine:
    """What may be asked. An engine inherits from this and answers what it can. Everything raises Cancelled, SettingError,
    SourceError or DeviceError, and may be called from any thread.
    """

    name = "no engine"

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        """The trace of these blocks (default: those of the setup)."""
        raise self._cannot("record a trace")

    def count(
        self,
        setup: Setup,
        counter: LaunchSink,
        *,
        progress: Progress = lambda done, total: None,
        cancelled: Cancel = is_cancelled,
    ) -> None:
        """Gives the accesses of the whole launch to ``counter``. Raises KernelFault too."""
        raise self._cannot("count a launch")

    def watch(self, setup: Setup, block: Triple, thread: Triple, *, cancelled: Cancel = is_cancelled) -> Watched:
        """The variables of one thread. Raises KernelFault too."""
        raise self._cannot("watch variables")

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        """How fast the real kernel is on the setup's device, beside cuBLAS and with the copies around it."""
        raise self._cannot("time a kernel")

    def schedule(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> Schedule:
        """Where and when each block of the real kernel ran."""
        raise self._cannot("record a schedule")

    def verify(self, setups: list[Setup]) -> list[Counters]:
        """What the hardware's counters say of each."""
        raise self._cannot("read hardware counters")

    def close(self) -> None:
        """Gives back what it holds, for good."""

    def _cannot(self, what: str) -> CannotAnswer:
        return CannotAnswer(f"{self.name} can't {what}")


class FallbackEngine(Engine):
    """Several engines as one. The rule: what one can't answer or fails at, the next one is asked; but a setting that can't run
    can't run anywhere, and what was cancelled stays so. An outcome says what kept the first who tried from giving it.
    """

    def __init__(self, *engines: Engine) -> None:
        self.engines = engines
        self.name = engines[0].name

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        outcome, failed = self._ask(lambda engine: engine.trace(setup, blocks, recording, cancelled=cancelled))
        fault = outcome.fault
        if fault is not None and isinstance(failed, KernelFault) and failed.message != fault.message:
            fault.message += f". On the GPU: {failed.message}"
        return Outcome(outcome.trace, outcome.by, fault, failed)

    def count(
        self,
        setup: Setup,
        counter: LaunchSink,
        *,
        progress: Progress = lambda done, total: None,
        cancelled: Cancel = is_cancelled,
    ) -> None:
        self._ask(lambda engine: engine.count(setup, counter, progress=progress, cancelled=cancelled))

    def watch(self, setup: Setup, block: Triple, thread: Triple, *, cancelled: Cancel = is_cancelled) -> Watched:
        return self._ask(lambda engine: engine.watch(setup, block, thread, cancelled=cancelled))[0]

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        return self._ask(lambda engine: engine.time(setup, cancelled=cancelled))[0]

    def schedule(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> Schedule:
        return self._ask(lambda engine: engine.schedule(setup, cancelled=cancelled))[0]

    def verify(self, setups: list[Setup]) -> list[Counters]:
        return self._ask(lambda engine: engine.verify(setups))[0]

    def close(self) -> None:
        for engine in self.engines:
            engine.close()

    def _ask(self, question: Callable[[Engine], _Answer]) -> tuple[_Answer, GemmvizError | None]:
        """The first answer, and what the first engine that failed said. Raises that, or the last word, where nobody answers."""
        failed: GemmvizError | None = None
        word: GemmvizError | None = None
        for engine in self.engines:
            try:
                return question(engine), failed
            except (SettingError, Cancelled):
                raise
            except CannotAnswer as error:
                word = error
            except GemmvizError as error:
                failed = failed or error
        raise failed or word or CannotAnswer("there is nobody to ask")
