"""An engine that asks another one, and remembers its counts and its latest runs: steps of a lesson often share a launch."""

from gemmviz.analysis.memory.counts import LaunchCounter
from gemmviz.files.answer_file import answer_key
from gemmviz.launch.legality import device_for
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.outcome import Outcome, Watched
from gemmviz.model.race import RaceCase
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import LaunchSink, SumKey
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import BlockRange, Triple
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.engine import Cancel, Engine, Progress
from gemmviz.run.recording import Recording

_MOST_BYTES = 256 << 20  # of remembered traces
_Sums = tuple[tuple[MemoryArray, ...], dict[SumKey, tuple[int, ...]]]
_RunKey = tuple[str, BlockRange | None, bool]


class RememberedAnswers(Engine):
    """The answers of ``engine``, each computed once. Its faults and errors are raised each time."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.name = engine, engine.name
        self._sums: dict[str, _Sums] = {}
        self._runs: dict[_RunKey, Outcome] = {}

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        recording = recording or Recording()
        key = _key(setup), blocks, recording.values
        outcome = self._runs.pop(key, None) or self.engine.trace(setup, blocks, recording, cancelled=cancelled)
        self._runs[key] = outcome  # at the end: the latest
        while len(self._runs) > 1 and sum(map(_size_bytes, self._runs.values())) > _MOST_BYTES:
            self._runs.pop(next(iter(self._runs)))
        return outcome

    def count(
        self,
        setup: Setup,
        counter: LaunchSink,
        *,
        progress: Progress = lambda done, total: None,
        cancelled: Cancel = is_cancelled,
    ) -> None:
        key = _key(setup)
        if key not in self._sums:
            own = LaunchCounter(device_for(setup).rules, cancelled)
            self.engine.count(setup, own, progress=progress, cancelled=cancelled)
            self._sums[key] = own.arrays, own.sums
        counter.add_sums(*self._sums[key])

    def watch(self, setup: Setup, block: Triple, thread: Triple, *, cancelled: Cancel = is_cancelled) -> Watched:
        return self.engine.watch(setup, block, thread, cancelled=cancelled)

    def race(self, setup: Setup, block: Triple, title: str, *, cancelled: Cancel = is_cancelled) -> RaceCase:
        return self.engine.race(setup, block, title, cancelled=cancelled)

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        return self.engine.time(setup, cancelled=cancelled)


def _key(setup: Setup) -> str:
    return answer_key(setup, device_for(setup))


def _size_bytes(outcome: Outcome) -> int:
    return 0 if outcome.trace is None else outcome.trace.element.nbytes
