"""The engine that needs no GPU: the lockstep interpreter on the CPU."""

from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.outcome import Outcome
from gemmviz.model.race import RaceCase
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import LaunchSink
from gemmviz.model.threads import BlockRange, Triple
from gemmviz.model.watched import Watched
from gemmviz.run.cpu.executor import stream_launch, trace_kernel
from gemmviz.run.engine import Cancel, Engine, Progress
from gemmviz.run.recording import Recording


class Interpreter(Engine):
    """An engine that traces, counts, watches and searches for races. Times and schedules need a GPU."""

    name = "the interpreter"

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        return trace_kernel(setup, blocks, recording, cancelled=cancelled)

    def count(
        self,
        setup: Setup,
        counter: LaunchSink,
        *,
        progress: Progress = lambda done, total: None,
        cancelled: Cancel = is_cancelled,
    ) -> None:
        stream_launch(setup, counter, cancelled=cancelled)

    def watch(self, setup: Setup, block: Triple, thread: Triple, *, cancelled: Cancel = is_cancelled) -> Watched:
        from gemmviz.run.cpu.watch import watch_thread

        return watch_thread(setup, block, thread, cancelled)

    def race(self, setup: Setup, block: Triple, title: str, *, cancelled: Cancel = is_cancelled) -> RaceCase:
        from gemmviz.run.cpu.race import race_of  # imported here: a run needs none of it

        return race_of(setup, block, title, cancelled)
