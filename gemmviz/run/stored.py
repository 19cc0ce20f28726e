"""The engine that looks up answers which are stored with the shipped lessons."""

from functools import lru_cache
from typing import Any

from msgspec import structs

from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.answer_file import Answers, Asked, read_answers
from gemmviz.files.recordings import recordings
from gemmviz.model.messages import tr
from gemmviz.model.recording import recording_of, row_of
from gemmviz.model.setup import Setup
from gemmviz.model.threads import BlockRange
from gemmviz.model.timing import Benchmark, KernelSpeed
from gemmviz.model.trace import Outcome
from gemmviz.run.engine import (
    CannotAnswer,
    CountRequest,
    Engine,
    EngineRequest,
    RaceRequest,
    TimeRequest,
    TraceRequest,
    WatchRequest,
)

_MOST_KEPT = 32  # setups whose answers stay in memory


def stored_answers(setup: Setup) -> Answers | None:
    """The stored answers about a setup; None if there are none."""
    return _kept_answers(Asked(setup, device_for(setup)))


@lru_cache(maxsize=_MOST_KEPT)
def _kept_answers(asked: Asked) -> Answers | None:
    return read_answers(asked.setup, asked.device)


class StoredAnswers(Engine):
    """Stored answers. They were counted and traced by the interpreter, whose name a stored trace carries."""

    name = "the stored lessons"

    def known_blocks(self, setup: Setup) -> BlockRange | None:
        answers = stored_answers(setup)
        return None if answers is None or answers.trace is None else answers.trace.blocks

    def answer(self, request: EngineRequest) -> Any:
        answers = stored_answers(request.setup)
        found = None if answers is None else _stored_answer(answers, request)
        if found is None:
            raise self.cannot(request)
        return found


def _stored_answer(answers: Answers, request: EngineRequest) -> Any:
    """The answer to a request among those about its setup; None if it isn't there."""
    match request:
        case TraceRequest(_, blocks, recording):
            trace = answers.trace
            if trace is None or blocks not in (None, trace.blocks) or trace.element.nbytes > recording.limit_bytes:
                return None
            return Outcome(trace, trace.by, answers.fault)
        case CountRequest(_, counter) if answers.sums is not None:
            counter.add_sums(answers.sums.arrays, answers.sums.sums)
            return True
        case WatchRequest(_, block, thread):
            return answers.watched.get((block, thread))
        case RaceRequest(_, block, title) if block in answers.races:
            return structs.replace(answers.races[block], what=title)
    return None


# The engine that looks up recorded times of the setup's device.


class RecordedTimes(Engine):
    """Recorded times of the shipped kernels on the devices where they were measured."""

    name = "the record"

    def answer(self, request: EngineRequest) -> Any:
        if not isinstance(request, TimeRequest):
            raise self.cannot(request)
        return recorded_speed(request.setup)


_OF_MULTIPLICATIONS, _OF_OTHERS = ("benchmark", "tensor-speeds"), ("pattern-speeds",)


def recorded_speed(setup: Setup) -> KernelSpeed:
    """The recorded time of a setup. Raises CannotAnswer with the recorded sizes or devices if there is none."""
    device, kernel = device_for(setup), setup.kernel
    names = _OF_MULTIPLICATIONS if setup.problem.is_multiply else _OF_OTHERS
    recorded = [each for name in names for each in recordings(name, Benchmark)]
    benchmark = recording_of(device, recorded)
    rows = () if benchmark is None else benchmark.rows
    row = row_of(setup, rows)
    if benchmark is not None and row is not None and row.timing is not None:
        return KernelSpeed(row, benchmark.share_of_cublas(row), benchmark.source, benchmark.short_source)
    problems = {row.problem for row in rows if row.source_hash == kernel.text_hash}
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
    raise CannotAnswer(tr("no time is recorded for this kernel at {sizes}: {where}", sizes=setup.problem.text(), where=where))
