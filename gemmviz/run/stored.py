"""The engine that looks up answers which are stored with the shipped lessons."""

from functools import lru_cache

from gemmviz.files.answer_file import Answers, read_answers
from gemmviz.files.benchmark_file import recorded_benchmarks, recorded_pattern_benchmarks
from gemmviz.launch.legality import device_for
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.outcome import Outcome, Watched
from gemmviz.model.race import RaceCase
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import LaunchSink
from gemmviz.model.threads import BlockRange, Triple
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.translation import tr
from gemmviz.run.engine import Cancel, CannotAnswer, Engine, Progress
from gemmviz.run.recording import Recording

_MOST_KEPT = 4  # setups whose answers stay in memory


def stored_answers(setup: Setup) -> Answers | None:
    """The stored answers about a setup; None if there are none."""
    return _kept(_Asked(setup))


class _Asked:
    """A setup as a key: setups hold dictionaries, which have no hash."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._hash = hash((setup.kernel.text, setup.problem, tuple(setup.parameters.items()), setup.device))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self.setup == other.setup


@lru_cache(maxsize=_MOST_KEPT)
def _kept(asked: _Asked) -> Answers | None:
    return read_answers(asked.setup, device_for(asked.setup))


class StoredAnswers(Engine):
    """Stored answers. They were counted and traced by the interpreter, whose name a stored trace carries."""

    name = "the stored lessons"

    def known_blocks(self, setup: Setup) -> BlockRange | None:
        answers = stored_answers(setup)
        return None if answers is None or answers.trace is None else answers.trace.blocks

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        answers, recording = self._of(setup, "record a trace"), recording or Recording()
        trace = answers.trace
        if trace is None or blocks not in (None, trace.blocks) or trace.element.nbytes > recording.limit_bytes:
            raise self._cannot("record this trace")
        return Outcome(trace, trace.by, answers.fault)

    def count(
        self,
        setup: Setup,
        counter: LaunchSink,
        *,
        progress: Progress = lambda done, total: None,
        cancelled: Cancel = is_cancelled,
    ) -> None:
        sums = self._of(setup, "count a launch").sums
        if sums is None:
            raise self._cannot("count this launch")
        counter.add_sums(sums.arrays, sums.sums)

    def watch(self, setup: Setup, block: Triple, thread: Triple, *, cancelled: Cancel = is_cancelled) -> Watched:
        watched = self._of(setup, "watch variables").watched.get((block, thread))
        if watched is None:
            raise self._cannot("watch this thread")
        return watched

    def race(self, setup: Setup, block: Triple, title: str, *, cancelled: Cancel = is_cancelled) -> RaceCase:
        case = self._of(setup, "search for races").races.get(block)
        if case is None:
            raise self._cannot("search this block for races")
        return replace(case, what=title)

    def _of(self, setup: Setup, what: str) -> Answers:
        answers = stored_answers(setup)
        if answers is None:
            raise self._cannot(what)
        return answers


class RecordedTimes(Engine):
    """Recorded times of the shipped kernels on the devices where they were measured."""

    name = "the record"

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        """The recorded time of a setup. Raises CannotAnswer with the recorded sizes or devices if there is none."""
        device, kernel = device_for(setup), setup.kernel
        recorded = recorded_benchmarks() if setup.problem.is_multiply else recorded_pattern_benchmarks()
        of_device = [each for each in recorded if each.gpu.name == device.name]
        for benchmark in of_device:
            row = benchmark.find(kernel.text_hash, setup.parameters, setup.problem)
            if row is not None and row.timing is not None:
                return KernelSpeed(row, benchmark.share_of_cublas(row), benchmark.source)
        problems = {row.problem for each in of_device for row in each.rows if row.source_hash == kernel.text_hash}
        if problems and setup.problem.is_multiply:
            sizes = sorted(problem.N for problem in problems if problem.is_multiply)
            where = tr(
                "{device} has records for N = {first} to {last}, see Benchmark",
                device=device.name, first=sizes[0], last=sizes[-1],
            )  # fmt: skip
        elif problems:
            where = tr("{device} has records for {sizes}", device=device.name, sizes="; ".join(sorted(map(str, problems))))
        else:
            others = [each.gpu.name for each in recorded if kernel.text_hash in {r.source_hash for r in each.rows}]
            where = tr("it has no record on {device}", device=device.name)
            if others:
                where = tr("it has no record on {device}, only on {others}", device=device.name, others=", ".join(others))
        raise CannotAnswer(tr("no time is recorded for this kernel at {sizes}: {where}", sizes=setup.problem, where=where))
