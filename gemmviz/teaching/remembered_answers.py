"""An engine that asks another one, and remembers its counts, its latest runs and what was watched in them: steps of a lesson
often share a launch.
"""

from typing import Any

from gemmviz.analysis.memory.counts import LaunchCounter
from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.answer_file import answer_key
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import SumKey
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Outcome, Watched
from gemmviz.run.engine import CountRequest, Engine, EngineRequest, TraceRequest, WatchRequest

_MOST_BYTES = 256 << 20  # of remembered traces and values
_VALUE_BYTES = 64  # about, of a watched variable at a step
_Sums = tuple[tuple[MemoryArray, ...], dict[SumKey, tuple[int, ...]]]


class RememberedAnswers(Engine):
    """The answers of ``engine``, each computed once. Its faults and errors are raised each time."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.name = engine, engine.name
        self._sums: dict[str, _Sums] = {}
        self._runs: dict[tuple[object, ...], Outcome | Watched] = {}

    def answer(self, request: EngineRequest) -> Any:
        match request:
            case TraceRequest(setup, blocks, recording):
                return self._run((_setup_key(setup), blocks, recording.values, recording.origins), request)
            case WatchRequest(setup, block, thread):
                return self._run((_setup_key(setup), block, thread), request)
            case CountRequest(setup, counter):
                return counter.add_sums(*self._sums_of(setup))
        return self.engine.answer(request)

    def _run(self, key: tuple[object, ...], request: EngineRequest) -> Outcome | Watched:
        answer = self._runs.pop(key, None)
        if answer is None:
            answer = self.engine.answer(request)
        self._runs[key] = answer  # at the end: the latest
        while len(self._runs) > 1 and sum(map(_size_bytes, self._runs.values())) > _MOST_BYTES:
            self._runs.pop(next(iter(self._runs)))
        return answer

    def _sums_of(self, setup: Setup) -> _Sums:
        key = _setup_key(setup)
        if key not in self._sums:
            own = LaunchCounter(device_for(setup).rules)
            self.engine.count(setup, own)
            self._sums[key] = own.arrays, own.sums
        return self._sums[key]


def _setup_key(setup: Setup) -> str:
    return answer_key(setup, device_for(setup))


def _size_bytes(answer: Outcome | Watched) -> int:
    if isinstance(answer, Watched):
        return len(answer.rows) * len(answer.variables) * _VALUE_BYTES
    return 0 if answer.trace is None else answer.trace.element.nbytes
