"""Works out what the shipped lessons need and stores it with them: make lessons.

Every step is prepared as the window prepares it, by an engine that notes what it is asked. Counts, small traces, variables,
races and the numbers of captions are written to assets/lessons/stored, one file for each setup. Needs no GPU.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from operator import add
from pathlib import Path

from gemmviz.analysis.memory.counts import LaunchCounter
from gemmviz.files.answer_file import FOLDER, Answers, Sums, answer_key, write_answers
from gemmviz.launch.catalog import lesson_names
from gemmviz.launch.legality import device_for
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import GemmvizError
from gemmviz.model.outcome import Outcome
from gemmviz.model.race import RaceCase
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import LaunchSink, SumKey
from gemmviz.model.threads import BlockRange, Triple
from gemmviz.model.trace import Trace
from gemmviz.model.watched import Watched
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Cancel, Engine, Progress
from gemmviz.run.needs import declared_bytes
from gemmviz.run.recording import Recording
from gemmviz.session.ready_steps import ReadyStep, ready_step
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.quantities.catalog import quantity_value
from gemmviz.teaching.stored_numbers import number_key

ROOT = Path(__file__).resolve().parent.parent
MOST_STORED = 1_000_000  # accesses of a trace; larger ones are recorded while the step before is read


class NotedAnswers(Engine):
    """The interpreter, with all its answers by setup in ``answers``."""

    name = "the interpreter"

    def __init__(self) -> None:
        self.answers: dict[str, tuple[Setup, Answers]] = {}
        self._interpreter = Interpreter()

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        known = self._of(setup)
        if known.trace is not None:
            return Outcome(known.trace, known.trace.by, known.fault)
        outcome = self._interpreter.trace(setup, blocks, Recording(values=True), cancelled=cancelled)
        trace = outcome.trace
        if trace is not None and _is_general(trace) and trace.element.size <= MOST_STORED:
            self._note(setup, lambda answers: replace(answers, trace=trace, fault=outcome.fault))
        return outcome

    def count(
        self,
        setup: Setup,
        counter: LaunchSink,
        *,
        progress: Progress = lambda done, total: None,
        cancelled: Cancel = is_cancelled,
    ) -> None:
        sums = self._of(setup).sums
        if sums is None:
            own = LaunchCounter(device_for(setup).rules, cancelled)
            self._interpreter.count(setup, own, cancelled=cancelled)
            sums = Sums(own.arrays, _of_all_phases(own.sums))
            self._note(setup, lambda answers: replace(answers, sums=sums))
        counter.add_sums(sums.arrays, sums.sums)

    def watch(self, setup: Setup, block: Triple, thread: Triple, *, cancelled: Cancel = is_cancelled) -> Watched:
        watched = self._interpreter.watch(setup, block, thread, cancelled=cancelled)
        self._note(setup, lambda answers: replace(answers, watched={**answers.watched, (block, thread): watched}))
        return watched

    def race(self, setup: Setup, block: Triple, title: str, *, cancelled: Cancel = is_cancelled) -> RaceCase:
        case = self._interpreter.race(setup, block, title, cancelled=cancelled)
        self._note(setup, lambda answers: replace(answers, races={**answers.races, block: replace(case, what="")}))
        return case

    def declare(self, setup: Setup) -> None:
        """Note the shared memory that a kernel declares, if it can be read."""
        try:
            declared = declared_bytes(setup)
        except GemmvizError:
            return
        self._note(setup, lambda answers: replace(answers, shared_bytes=declared))

    def number(self, stop: LessonStep, quantity: str, facts: ShotFacts) -> None:
        """Note a number of a caption, if it can be computed."""
        try:
            value = quantity_value(quantity, facts)
        except GemmvizError:
            return
        key = number_key(stop.shot, quantity)
        self._note(stop.shot.setup, lambda answers: replace(answers, numbers={**answers.numbers, key: value}))

    def _of(self, setup: Setup) -> Answers:
        return self.answers.get(_key(setup), (setup, Answers()))[1]

    def _note(self, setup: Setup, change: Callable[[Answers], Answers]) -> None:
        self.answers[_key(setup)] = setup, change(self._of(setup))


def _is_general(trace: Trace) -> bool:
    """Whether a trace is the same whichever block is in focus."""
    return bool(trace.setup.blocks) or trace.blocks.count == trace.launch.block_count


def _of_all_phases(sums: Mapping[SumKey, tuple[int, ...]]) -> dict[SumKey, tuple[int, ...]]:
    """The sums over phases: no lesson shows them by phase, and a kernel without tiles has one for each k."""
    total: dict[SumKey, tuple[int, ...]] = {}
    for (site, place, _), row in sums.items():
        key = site, place, -1
        total[key] = tuple(map(add, total[key], row)) if key in total else row
    return total


def noted(names: list[str]) -> NotedAnswers:
    """Everything that the steps of some shipped lessons ask."""
    engine = NotedAnswers()
    for stop in _stops(names):
        ready = ready_step(stop, lambda kernel: engine, is_cancelled)
        for setup in _setups(ready):
            engine.declare(setup)
        outcome = None if ready.shots[0].run is None else ready.shots[0].run.outcome
        facts = ShotFacts(stop.shot, Interpreter(), outcome)
        for each in stop.expect:
            if each.name in stop.needed:
                engine.number(stop, each.quantity, facts)
    return engine


def _stops(names: list[str]) -> Iterator[LessonStep]:
    for name in names:
        yield from shipped_lesson(name).stops


def _setups(ready: ReadyStep) -> Iterator[Setup]:
    """The setups that the parts of a step show."""
    for each in ready.shots:
        yield each.shot.setup
        if each.shot.against is not None:
            yield each.shot.against.setup


def _key(setup: Setup) -> str:
    return answer_key(setup, device_for(setup))


def store(engine: NotedAnswers, folder: Path) -> None:
    """Write all answers to a folder, and remove files that nothing asks for."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.npz"):
        if path.stem not in engine.answers:
            path.unlink()
    for key, (setup, answers) in engine.answers.items():
        write_answers(answers, folder / f"{key}.npz")
        print(f"{key} {setup.kernel.name} {setup.problem}: {(folder / f'{key}.npz').stat().st_size:,} bytes", flush=True)


def main() -> None:
    folder = ROOT / FOLDER
    store(noted(sys.argv[1:] or lesson_names()), folder)
    total = sum(path.stat().st_size for path in folder.glob("*.npz"))
    print(f"{len(list(folder.glob('*.npz')))} files, {total / 1024:,.0f} KiB")


if __name__ == "__main__":
    main()
