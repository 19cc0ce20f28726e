"""The interface of all engines: requests, their options and answers; and an engine that falls back from one to the next."""

from collections.abc import Callable
from typing import Any, ClassVar

import psutil
from msgspec import Struct, field

from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import Cancelled, GemmvizError, KernelFault, SettingError
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import LaunchSink
from gemmviz.model.threads import BlockRange, Triple
from gemmviz.model.timing import Counters, KernelSpeed, Schedule
from gemmviz.model.trace import Outcome, RaceCase, Watched

_LEAST_RECORD = 256 << 20


def record_limit() -> int:
    """Bytes that a record may take: half of the memory available now, but at least 256 MiB."""
    return max(_LEAST_RECORD, _available() // 2)


def _available() -> int:
    """Bytes of memory that this process can still allocate: the free memory, or less under a resource limit."""
    free = int(psutil.virtual_memory().available)
    process = psutil.Process()
    if not hasattr(process, "rlimit"):
        return free
    address_space, data = (process.rlimit(kind)[0] for kind in (psutil.RLIMIT_AS, psutil.RLIMIT_DATA))
    if address_space == data == psutil.RLIM_INFINITY:
        return free
    taken = process.memory_info()
    limits = ((address_space, taken.vms), (data, taken.data))
    return int(min([free, *(most - now for most, now in limits if most != psutil.RLIM_INFINITY)]))


class Recording(Struct, frozen=True):
    """Options of a record besides accesses: the ``values`` read and written, and the ``origins``, the elements that the
    cells of shared arrays are copies of. ``limit_bytes`` is the largest size of the record, by default ``record_limit()``.
    """

    values: bool = False
    origins: bool = True
    limit_bytes: int = field(default_factory=record_limit)


EngineFor = Callable[[KernelSpec], "Engine"]


class CannotAnswer(GemmvizError, NotImplementedError):
    """The engine doesn't support a request. This is not a failure; another engine may support it."""


class EngineRequest(Struct, frozen=True, eq=False):
    """What is asked about a launch. ``to``: the request in words, after "the engine can't"."""

    setup: Setup
    to: ClassVar[str] = "answer this"


class TraceRequest(EngineRequest, frozen=True, eq=False):
    """The Outcome of a run of ``blocks`` (default: the blocks of the setup)."""

    blocks: BlockRange | None = None
    recording: Recording = field(default_factory=Recording)
    to: ClassVar[str] = "record a trace"


class CountRequest(EngineRequest, frozen=True, eq=False):
    """Passes the accesses of the whole launch to ``counter``; the answer says nothing more."""

    counter: LaunchSink
    to: ClassVar[str] = "count a launch"


class WatchRequest(EngineRequest, frozen=True, eq=False):
    """The variables of one thread at each step, as Watched."""

    block: Triple
    thread: Triple
    to: ClassVar[str] = "watch variables"


class RaceRequest(EngineRequest, frozen=True, eq=False):
    """The RaceCase of a block: the order of its warps or threads that changes C with the shortest lead."""

    block: Triple
    title: str
    to: ClassVar[str] = "search for races"


class TimeRequest(EngineRequest, frozen=True, eq=False):
    """The KernelSpeed: times of the real kernel on the setup's device, of cuBLAS and of the copies to and from the device."""

    to: ClassVar[str] = "time a kernel"


class ScheduleRequest(EngineRequest, frozen=True, eq=False):
    """The Schedule: SM, start and stop of each block of the real kernel."""

    to: ClassVar[str] = "record a schedule"


class Engine:
    """The interface of an engine. An engine overrides ``answer``; the other methods ask it.

    Methods may be called from any thread. They raise CannotAnswer if the engine doesn't support the request, Cancelled if the
    work of the thread is cancelled, KernelFault if the kernel faults before there is a trace, SettingError, SourceError or
    DeviceError.
    """

    name = "no engine"

    def answer(self, request: EngineRequest) -> Any:
        """The answer to a request, of the type that its class names."""
        raise self.cannot(request)

    def known_blocks(self, setup: Setup) -> BlockRange | None:
        """The blocks of which a trace is at hand; None if any blocks may be chosen."""
        return None

    def verify(self, setups: list[Setup]) -> list[Counters]:
        """The hardware counters of each setup's launch."""
        raise CannotAnswer(f"{self.name} can't read hardware counters")

    def close(self) -> None:
        """Releases all resources. The engine can't be used afterwards."""

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
    ) -> Outcome:
        """The answer to a TraceRequest."""
        outcome: Outcome = self.answer(TraceRequest(setup, blocks, recording or Recording()))
        return outcome

    def count(self, setup: Setup, counter: LaunchSink) -> None:
        """The answer to a CountRequest."""
        self.answer(CountRequest(setup, counter))

    def watch(self, setup: Setup, block: Triple, thread: Triple) -> Watched:
        """The answer to a WatchRequest."""
        watched: Watched = self.answer(WatchRequest(setup, block, thread))
        return watched

    def race(self, setup: Setup, block: Triple, title: str) -> RaceCase:
        """The answer to a RaceRequest."""
        case: RaceCase = self.answer(RaceRequest(setup, block, title))
        return case

    def time(self, setup: Setup) -> KernelSpeed:
        """The answer to a TimeRequest."""
        speed: KernelSpeed = self.answer(TimeRequest(setup))
        return speed

    def schedule(self, setup: Setup) -> Schedule:
        """The answer to a ScheduleRequest."""
        schedule: Schedule = self.answer(ScheduleRequest(setup))
        return schedule

    def cannot(self, request: EngineRequest) -> CannotAnswer:
        """The error for a request that the engine doesn't support."""
        return CannotAnswer(f"{self.name} can't {request.to}")


class KernelEngines(Engine):
    """The engines of several kernels as one: each request goes to the engine of its kernel, which ``engine_for`` returns."""

    def __init__(self, engine_for: EngineFor) -> None:
        self.engine_for = engine_for

    def answer(self, request: EngineRequest) -> Any:
        return self.engine_for(request.setup.kernel).answer(request)

    def known_blocks(self, setup: Setup) -> BlockRange | None:
        return self.engine_for(setup.kernel).known_blocks(setup)


class FallbackEngine(Engine):
    """Several engines as one: each request goes to the first engine that supports it and succeeds.

    SettingError and Cancelled are raised at once, since they hold for every engine. An Outcome carries the error of the first
    engine that failed.
    """

    def __init__(self, *engines: Engine) -> None:
        self.engines = engines
        self.name = engines[0].name

    def answer(self, request: EngineRequest) -> Any:
        answer, failure = self._first_answer(lambda engine: engine.answer(request))
        return _with_failure(answer, failure) if isinstance(answer, Outcome) else answer

    def known_blocks(self, setup: Setup) -> BlockRange | None:
        known = (engine.known_blocks(setup) for engine in self.engines)
        return next((blocks for blocks in known if blocks is not None), None)

    def verify(self, setups: list[Setup]) -> list[Counters]:
        counters: list[Counters] = self._first_answer(lambda engine: engine.verify(setups))[0]
        return counters

    def close(self) -> None:
        for engine in self.engines:
            engine.close()

    def _first_answer(self, ask: Callable[[Engine], Any]) -> tuple[Any, GemmvizError | None]:
        """The first answer, and the error of the first engine that failed before. Raises that error if no engine succeeds."""
        failure: GemmvizError | None = None
        unsupported: GemmvizError | None = None
        for engine in self.engines:
            try:
                return ask(engine), failure
            except (SettingError, Cancelled):
                raise
            except CannotAnswer as error:
                unsupported = error
            except GemmvizError as error:
                failure = failure or error
        raise failure or unsupported or CannotAnswer("there is no engine")


def _with_failure(outcome: Outcome, failure: GemmvizError | None) -> Outcome:
    """The outcome with the error of an engine that failed before."""
    fault = outcome.fault
    if fault is not None and isinstance(failure, KernelFault) and failure.message != fault.message:
        fault.message += f". On the GPU: {failure.message}"
    return Outcome(outcome.trace, outcome.by, fault, failure)
