"""Stores what the program would compute of its own files: answers for the included lessons, programs of the included kernels,
widths of the bundled fonts, and checksums of recordings. Needs no GPU.
"""

import json
import pickle
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import add
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.cuda.launch.catalog import all_kernel_names, lesson_names, load_kernel
from gemmviz.cuda.launch.legality import device_for
from gemmviz.cuda.nodes import Program
from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.program import PROGRAMS, entry_of, reader, source_of, stored_name
from gemmviz.files.answer_file import FOLDER, Answers, Sums, answer_key, read_answers, write_answers
from gemmviz.files.recordings import checked_files, seal
from gemmviz.files.resources import ROOT
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError, SourceError
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import LaunchSink, SumKey
from gemmviz.model.threads import BlockRange
from gemmviz.model.trace import Outcome, Trace
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import CountRequest, Engine, EngineRequest, RaceRequest, Recording, TraceRequest, WatchRequest
from gemmviz.scenes.kit.primitives import ADVANCES, FONT_FILES, Advances, Face, bundled_font
from gemmviz.session.ready_steps import ReadyStep, ready_step
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.occupancy import declared_bytes
from gemmviz.shots.runs import run_so_far
from gemmviz.teaching.captions import number_key
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.quantities.catalog import quantity_value
from recording import MEASUREMENTS

MOST_STORED = 1_000_000  # accesses of a trace; larger ones are recorded while the step before is read


# Answers for lessons


class NotedAnswers(Engine):
    """The interpreter, with all its answers by setup in ``answers``."""

    name = "the interpreter"

    def __init__(self) -> None:
        self.answers: dict[str, tuple[Setup, Answers]] = {}
        self._interpreter = Interpreter()

    def answer(self, request: EngineRequest) -> Any:
        match request:
            case TraceRequest(setup, blocks):
                return self._trace(setup, blocks)
            case CountRequest(setup, counter):
                return self._count(setup, counter)
        answer, setup = self._interpreter.answer(request), request.setup
        match request:
            case WatchRequest(_, block, thread) if self._of(setup).trace is not None:
                self._note(
                    setup, lambda answers: structs.replace(answers, watched={**answers.watched, (block, thread): answer})
                )
            case RaceRequest(_, block):
                self._note(
                    setup,
                    lambda answers: structs.replace(answers, races={**answers.races, block: structs.replace(answer, what="")}),
                )
        return answer

    def _trace(self, setup: Setup, blocks: BlockRange | None) -> Outcome:
        known = self._of(setup)
        if known.trace is not None:
            return Outcome(known.trace, known.trace.by, known.fault)
        outcome = self._interpreter.trace(setup, blocks, Recording(values=True))
        trace = outcome.trace
        if trace is not None and _is_general(trace) and trace.element.size <= MOST_STORED:
            self._note(setup, lambda answers: structs.replace(answers, trace=trace, fault=outcome.fault))
        return outcome

    def _count(self, setup: Setup, counter: LaunchSink) -> None:
        sums = self._of(setup).sums
        if sums is None:
            own = LaunchCounter(device_for(setup).rules)
            self._interpreter.count(setup, own)
            sums = Sums(own.arrays, _of_all_phases(own.sums))
            self._note(setup, lambda answers: structs.replace(answers, sums=sums))
        counter.add_sums(sums.arrays, sums.sums)

    def declare(self, setup: Setup) -> None:
        """Note the shared memory that a kernel declares, if it can be read."""
        try:
            declared = declared_bytes(setup)
        except GemmvizError:
            return
        self._note(setup, lambda answers: structs.replace(answers, shared_bytes=declared))

    def number(self, stop: LessonStep, quantity: str, facts: Knowledge) -> None:
        """Note a number of a caption, if it can be computed."""
        try:
            value = quantity_value(quantity, facts)
        except GemmvizError:
            return
        key = number_key(stop.shot, quantity)
        self._note(stop.shot.setup, lambda answers: structs.replace(answers, numbers={**answers.numbers, key: value}))

    def sums(self, stop: LessonStep) -> None:
        """Note the counts of a draw of a question, and of what it is compared with."""
        known = Knowledge(stop.shot, self)
        for each in (known, *([known.compared] if stop.shot.against is not None else [])):
            _ = each.counted

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


def noted(names: Sequence[str]) -> NotedAnswers:
    """Everything that the steps of some shipped lessons ask."""
    engine = NotedAnswers()
    for stop in _stops(names):
        ready = ready_step(stop, engine)
        for setup in _setups(ready):
            engine.declare(setup)
        run = run_so_far(ready.shots[0])
        facts = Knowledge(stop.shot, Interpreter(), None if run is None else run.outcome)
        for each in stop.expect:
            if each.name in stop.needed:
                engine.number(stop, each.quantity, facts)
        for drawn in stop.variants[1:]:
            engine.sums(drawn)
    return engine


def _stops(names: Sequence[str]) -> Iterator[LessonStep]:
    for name in names:
        yield from shipped_lesson(name).steps


def _setups(ready: ReadyStep) -> Iterator[Setup]:
    """The setups that the parts of a step show."""
    for each in ready.shots:
        yield each.shot.setup
        if each.shot.against is not None:
            yield each.shot.against.setup


def _key(setup: Setup) -> str:
    return answer_key(setup, device_for(setup))


def store(engine: NotedAnswers, is_whole: bool) -> None:
    """Write all answers. ``is_whole``: they are those of all lessons, and files that nothing asks for are removed;
    otherwise answers are added to the files.
    """
    folder = ROOT / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.npz"):
        if is_whole and path.stem not in engine.answers:
            path.unlink()
    for key, (setup, answers) in engine.answers.items():
        known = None if is_whole else read_answers(setup, device_for(setup))
        if known is not None:
            parts = {name: {**getattr(known, name), **getattr(answers, name)} for name in ("watched", "races", "numbers")}
            run = ("trace", "fault") if answers.trace is None else ()
            lacking = (name for name in ("shared_bytes", "sums") if getattr(answers, name) is None)
            one = {name: getattr(known, name) for name in (*run, *lacking)}
            answers = structs.replace(answers, **parts, **one)
        write_answers(answers, folder / f"{key}.npz")
        print(f"{key} {setup.kernel.name} {setup.problem}: {(folder / f'{key}.npz').stat().st_size:,} bytes", flush=True)


def lessons(*names: str) -> None:
    """Store what the steps of lessons ask.

    Every step is prepared as the window prepares it, by an engine that notes what it is asked. Counts, small traces, variables,
    races and the numbers of captions are written, one file for each setup; those of some lessons are added to the others.
    """
    folder = ROOT / FOLDER
    store(noted(names or lesson_names()), is_whole=not names)
    total = sum(path.stat().st_size for path in folder.glob("*.npz"))
    print(f"{len(list(folder.glob('*.npz')))} files, {total / 1024:,.0f} KiB")


# Programs and fonts


def kernels() -> Iterator[tuple[KernelSpec, dict[str, int]]]:
    """The shipped kernels, each with its default values, with every other value that it offers, and as the lessons run it."""
    for kernel in map(load_kernel, all_kernel_names()):
        yield kernel, dict(kernel.defaults)
        for parameter in kernel.parameters:
            for value in parameter.choices or ():
                yield kernel, {**kernel.defaults, parameter.name: value}
    for name in lesson_names():
        for stop in shipped_lesson(name).steps:
            yield stop.shot.setup.kernel, dict(stop.shot.setup.definitions)


def programs_of_kernels() -> dict[str, Program]:
    """The programs by the names under which they are stored, without those of kernels that can't be read yet."""
    wanted: dict[str, tuple[SourceText, str]] = {}
    for kernel, parameters in kernels():
        source, entry = source_of(kernel, parameters), entry_of(kernel, parameters)
        wanted[stored_name(source, entry)] = source, entry
    found: dict[str, Program] = {}
    for name, (source, entry) in wanted.items():
        try:
            found[name] = reader().run("program", source, entry)
        except SourceError:
            continue  # a piece that students complete
    return found


def programs() -> None:
    """Store the programs of the shipped kernels, so that the program needs no parser for them."""
    path = ROOT / PROGRAMS
    path.parent.mkdir(exist_ok=True)
    pack({name: pickle.dumps(program, protocol=5) for name, program in programs_of_kernels().items()}, path)


def advances_of(face: Face) -> Advances:
    """The widths in the tables of a font."""
    font = bundled_font(face)
    widths = {glyph: width for glyph, (width, _) in font["hmtx"].metrics.items()}
    known = {code: widths[glyph] for code, glyph in sorted(font.getBestCmap().items())}
    return Advances(known, widths[".notdef"], font["head"].unitsPerEm)


def advances() -> None:
    """Store the widths of the characters of the bundled fonts, so that a picture needs no library for fonts."""
    pack({face: advances_of(face) for face in FONT_FILES}, ROOT / ADVANCES)


def pack(content: dict[Any, Any], path: Path) -> None:
    """Write a compressed file."""
    path.write_bytes(zlib.compress(msgspec.msgpack.encode(content), 9))
    print(f"{path.name}: {len(content)} entries, {path.stat().st_size:,} bytes")


# Checksums


def checksums(*files: str) -> None:
    """Note the checksums of device files, or of recordings, whose figures were compared with their source; without a file, of
    those that have none.
    """
    table = MEASUREMENTS / "checksums.json"
    known = json.loads(table.read_text("utf-8")) if table.is_file() else {}
    new = [path for path in checked_files() if path.relative_to(ROOT).as_posix() not in known]
    for path in map(Path, files) if files else new:
        seal(path)
