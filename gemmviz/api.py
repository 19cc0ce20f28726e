"""gemmviz from Python, in scripts and notebooks: ``import gemmviz``.

    import gemmviz

    run = gemmviz.trace("04_tiled", M=8, N=8, K=8, TILE_WIDTH=4)   # every access of every thread
    run.scene(step=12, warp=0)                                    # a picture: shown as SVG in a notebook
    gemmviz.count("04_tiled", M=4096, N=4096, K=4096).totals      # a whole launch, counted
    gemmviz.save(run, "run.gvt")                                  # for the program, or for later

A kernel is named ("04_tiled", or "tiled"), a path of a ``.cu`` file, or what ``load`` gave. Sizes and the kernel's parameters
are keywords; what isn't given is the kernel's own. Everything raises GemmvizError, which says what is wrong, where, and what
to do.
"""

import atexit
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from html import escape
from importlib.util import find_spec
from inspect import signature
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, SupportsIndex

from gemmviz.analysis.memory.counts import LaunchCounts, totals
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.position import Position
from gemmviz.analysis.replay.replay import Replay
from gemmviz.export.prepare import ExportOptions, Prepared, no_engine, prepare, prepare_benchmark, run_reel
from gemmviz.export.stills import phase_numbered, step_numbered
from gemmviz.files.benchmark_file import benchmark_text, read_benchmark
from gemmviz.files.kinds import KINDS, kind_of
from gemmviz.files.outputs import check_output
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.files.whole import write_text
from gemmviz.launch.catalog import kernel_names, lesson_names, load_kernel
from gemmviz.launch.legality import launch_for, setup_for
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import GemmvizError, KernelFault, UsageError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.outcome import Outcome
from gemmviz.model.setup import Setup
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Trace
from gemmviz.model.words import all_blocks, many
from gemmviz.render.export import formats, save_frame, save_reel
from gemmviz.render.format import Deck, Film, Page
from gemmviz.render.page import THEMES, page_html
from gemmviz.render.reel import Reel
from gemmviz.render.svg import scene_svg
from gemmviz.run.choosing import CHOICES, EngineChoice, choice_for, engine_for
from gemmviz.run.engine import Engine
from gemmviz.run.recording import record_limit
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.frame import Layer
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.state.shot import SYSTEM_THEME, Shot, save_view
from gemmviz.subjects.catalog import subject_of_view
from gemmviz.subjects.counting import launch_counts
from gemmviz.subjects.gathering import Given
from gemmviz.subjects.picture import picture
from gemmviz.subjects.runs import replay_of, run
from gemmviz.subjects.subject import Subject
from gemmviz.teaching.lesson import Lesson
from gemmviz.teaching.lesson_file import named_lesson, save_lesson
from gemmviz.teaching.reel import lesson_reel

__all__ = [
    "Count", "GemmvizError", "Kernel", "Lesson", "Loaded", "Measurements", "Picture", "Player", "Run", "Shot",
    "count", "kernels", "lessons", "load", "save", "scene", "show", "trace",
]  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """A kernel as its file says it. ``spec``: its header and text, as gemmviz reads them."""

    spec: KernelSpec

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def text(self) -> str:
        """The whole file."""
        return self.spec.text

    @property
    def parameters(self) -> Mapping[str, int]:
        """The parameters that may be set, with their defaults."""
        return self.spec.defaults

    def __repr__(self) -> str:
        return f"<Kernel {' '.join([self.name, *(f'{name}={value}' for name, value in self.parameters.items())])}>"

    def _repr_html_(self) -> str:
        about = f"<b>{escape(self.spec.title)}</b><p>{escape(self.spec.description)}</p>"
        return f"<div>{about}<pre>{escape(self.text)}</pre></div>"


@dataclass(frozen=True, eq=False)
class Picture:
    """One frame. ``shown``: the primitives that it is made of, 1600 units wide."""

    shown: Scene

    def __repr__(self) -> str:
        return f"<Picture {self.shown.width:g} x {self.shown.height:g}>"

    @property
    def svg(self) -> str:
        """The frame as an SVG document, its fonts inside."""
        return scene_svg(self.shown)

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True, eq=False)
class Run:
    """What a run of a kernel recorded: every access of the threads of some blocks. ``trace`` holds the record itself.

    ``fault``: why a run ended early, None for one that came to its end.
    """

    trace: Trace
    fault: KernelFault | None = None

    @property
    def setup(self) -> Setup:
        """What was run."""
        return self.trace.setup

    @property
    def steps(self) -> int:
        """How many accesses a thread makes, and barriers."""
        return self.trace.steps

    @cached_property
    def replay(self) -> Replay:
        """The record with what follows from it: phases, costs of steps, hazards."""
        return replay_of(self._outcome)

    @property
    def hazards(self) -> list[str]:
        """Accesses to shared memory that no barrier keeps apart, as sentences; found in as many blocks as is quick."""
        return [str(hazard) for hazard in self.replay.hazards]

    def scene(
        self,
        *,
        view: str = "stage",
        step: int | None = None,
        phase: int | None = None,
        block: tuple[int, int] | Triple | None = None,
        warp: int | None = None,
        thread: int | None = None,
        everyone: bool = False,
        layer: Layer = "matrix",
        theme: str = SYSTEM_THEME,
    ) -> Picture:
        """A frame of the run at a ``step`` or at the beginning of a ``phase``, both counted from 1 as in the window; by default
        at the first step, or where the run was stopped. Raises UsageError for what there is none of.
        """
        _check_view(view, lambda subject: subject.is_of_run)
        if step is not None and phase is not None:
            raise UsageError("a frame is at a step or at the beginning of a phase", remedy="leave one of them out")
        x, y, z = (*(block or (start for start, _ in self.trace.blocks.ranges)), 0)[:3]
        at = Position(0 if self.trace.stop is None else self.steps - 1)
        if phase is not None:
            at = phase_numbered(_whole("phase", phase), self.replay)
        elif step is not None:
            at = step_numbered(_whole("step", step), self.replay)
        shot = Shot(self.setup, Focus((x, y, z), warp, thread, everyone), view, at, layer=layer, theme=theme)
        return _picture(prepare(shot, no_engine, Given(self._outcome, self.replay, goes_to_fault=False)))

    @property
    def _outcome(self) -> Outcome:
        return Outcome(self.trace, self.trace.by, self.fault)

    def __repr__(self) -> str:
        trace = self.trace
        shown = f"{trace.setup.kernel.name}, {trace.setup.problem}, {many(self.steps, 'step')}"
        return f"<Run {shown}, {trace.blocks.count} of {many(trace.launch.block_count, 'block')}; {self.fault or trace.check}>"

    def _repr_html_(self) -> str:
        return f"<div>{self.scene().svg}<p>{escape(repr(self)[1:-1])}. {escape(self.trace.by)}</p></div>"


@dataclass(frozen=True, eq=False)
class Count:
    """What a whole launch costs. ``counts`` holds the sums by access and phase."""

    setup: Setup
    counts: LaunchCounts

    @property
    def totals(self) -> dict[str, int]:
        """Sums by kind of access, as the hardware's counters are named: requests, sectors of 32 bytes, bytes, wavefronts."""
        return totals(self.counts)

    @property
    def accesses(self) -> list[dict[str, Any]]:
        """One dict for each access in the source: where it stands, what it touches, what it costs."""
        found = []
        for (site, operand), cost in self.counts.accesses.items():
            array = self.counts.arrays[operand.array]
            where = {"line": site.place.line, "column": site.place.column, "text": site.text}
            found.append({**where, "access": operand.access, "array": array.name, "space": array.space, **asdict(cost)})
        return found

    def __repr__(self) -> str:
        share = all_blocks(launch_for(self.setup).block_count)
        return f"<Count {self.setup.kernel.name}, {self.setup.problem}, {share}>"

    def _repr_html_(self) -> str:
        cells = (f"<tr><td>{name.replace('_', ' ')}</td><td>{value:,}</td></tr>" for name, value in self.totals.items())
        about = f"<p>{escape(repr(self)[1:-1])}, counted from the source as written</p>"
        return f"<div>{about}<table>{''.join(cells)}</table></div>"


@dataclass(frozen=True)
class Measurements:
    """How fast kernels were on one GPU. ``benchmark`` holds the rows."""

    benchmark: Benchmark

    def scene(self, *, view: str = "rate", theme: str = SYSTEM_THEME) -> Picture:
        """A chart of them. Raises UsageError for a view that is none."""
        _check_view(view, lambda subject: subject.page == "benchmark")
        shot = Shot(setup_for(load_kernel(kernel_names()[0])), view=view, theme=theme)
        return _picture(prepare_benchmark(shot, self.benchmark))

    def __repr__(self) -> str:
        return f"<Measurements {self.benchmark.source}, {many(len(self.benchmark.rows), 'row')}>"

    def _repr_html_(self) -> str:
        return f"<div>{self.scene().svg}<p>{escape(self.benchmark.source)}</p></div>"


Loaded = Kernel | Run | Shot | Lesson | Measurements
Named = str | PathLike[str] | Kernel


def kernels() -> list[str]:
    """The names of the kernels that ship with gemmviz, in teaching order."""
    return kernel_names()


def lessons() -> list[str]:
    """The names of the lessons that ship with gemmviz; ``load`` reads one."""
    return lesson_names()


def load(source: str | PathLike[str]) -> Loaded:
    """A kernel by its name or ``.cu`` file, a lesson by its name, or what another file holds: a recorded run (``.gvt``), a
    saved view or a lesson (``.toml``), measurements (``.json``).
    """
    path = Path(source)
    lesson = named_lesson(str(source))
    if lesson is not None:
        return lesson.stops[0].shot if lesson.is_view else lesson
    match kind_of(path):
        case "trace":
            return Run(read_trace(path))
        case "benchmark":
            return Measurements(read_benchmark(path, recorded=True))
    return Kernel(load_kernel(str(source)))


def trace(
    kernel: Named | Shot,
    *,
    on: EngineChoice = "auto",
    values: bool = False,
    blocks: str = "",
    phases: str = "",
    parameters: Mapping[str, SupportsIndex] | None = None,
    **numbers: SupportsIndex,
) -> Run:
    """Runs a kernel and records every access.

    ``on``: "cpu", "gpu", or "auto" for the GPU where there is one and the CPU where it can't, but the CPU for a kernel that
    doesn't ship with gemmviz; the record is the same.
    ``values``: also record what is read and written. ``blocks`` ("0:2,0:2", half-open) and ``phases`` ("2-3", from 1) say what
    to record; by default as many blocks around the first as are quick. ``numbers``: M, N, K and the kernel's parameters, which
    ``parameters`` takes too.

    Raises SourceError for a kernel that gemmviz can't read, SettingError for a launch that no GPU accepts, DeviceError where
    there is no GPU to be had. A kernel that faults gives the run up to there; on "gpu" alone it raises KernelFault.
    """
    setup = _setup(kernel, {**(parameters or {}), **numbers})
    setup = replace(setup, blocks=blocks or setup.blocks, phases=phases or setup.phases)
    around = kernel.focus.block if isinstance(kernel, Shot) else (0, 0, 0)
    outcome = run(setup, around, _engine(on, setup.kernel), values=values, most_bytes=record_limit())
    if outcome.trace is None:
        raise outcome.fault or GemmvizError("the kernel gives no trace")
    return Run(outcome.trace, outcome.fault)


def count(
    kernel: Named | Shot,
    *,
    on: EngineChoice = "cpu",
    parameters: Mapping[str, SupportsIndex] | None = None,
    **numbers: SupportsIndex,
) -> Count:
    """Counts all accesses of a whole launch: requests, sectors and wavefronts as the hardware's counters have them.

    Arguments and errors are those of ``trace``; a kernel that faults raises KernelFault.
    """
    setup = _setup(kernel, {**(parameters or {}), **numbers})
    launch_for(setup)
    return Count(setup, launch_counts(setup, _engine(on, setup.kernel)))


def scene(what: Named | Run | Shot | Measurements, **options: Any) -> Picture:
    """A picture: of a run, of a kernel that is run for it, of measurements, or of a saved view, as it was saved.

    ``options`` are those of ``Run.scene`` or ``Measurements.scene``; of a kernel also its sizes and parameters, ``on`` and
    ``values``. A saved view takes none.
    """
    found = load(what) if isinstance(what, str | PathLike) else what
    if isinstance(found, Shot):
        if options:
            raise UsageError("a saved view is drawn as it was saved", remedy="leave the options out, or change the view")
        return _picture(prepare(found, _cpu_engine))
    if isinstance(found, Lesson):
        raise UsageError("a lesson has many pictures", remedy="show it or save it, or take the shot of one of its stops")
    if isinstance(found, Kernel):
        own = (*_setup(found, {}).sizes_and_parameters, "on", "values", "blocks", "phases", "parameters")
        given = {name: options.pop(name) for name in list(options) if name in own}
        found = trace(found, **given)
    known = [name for name in signature(found.scene).parameters]
    for name in options:
        if name not in known:
            raise UsageError(f"there is no option {name}", remedy=f"choose {', '.join(known)}")
    return found.scene(**options)


def _picture(prepared: Prepared) -> Picture:
    return Picture(picture(prepared.shot, prepared.subject(prepared.step)))


def _check_view(name: str, fits: Callable[[Subject], bool]) -> None:
    """Raises UsageError for a view that shows something else."""
    if not fits(subject_of_view(name)):
        fitting = [view for view in views() if fits(subject_of_view(view))]
        raise UsageError(f"the view {name!r} shows something else", remedy=f"choose {', '.join(fitting)}")


@dataclass(frozen=True, eq=False)
class Player:
    """A run that plays in a notebook: through anywidget, where that is installed, else as a page in a frame."""

    reel: Reel
    theme: str = "light"

    @property
    def html(self) -> str:
        """The whole page, which needs nothing else."""
        return page_html(self.reel, self.theme)

    def _repr_html_(self) -> str:
        style = "width: 100%; aspect-ratio: 16 / 11; border: 0"
        about = f'title="{escape(self.reel.name)}" style="{style}"'
        return f'<iframe sandbox="allow-scripts" {about} srcdoc="{escape(self.html)}"></iframe>'

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if find_spec("anywidget") is None:
            return {"text/plain": repr(self), "text/html": self._repr_html_()}
        from gemmviz.notebook import widget

        return widget(self.reel, self.theme)._repr_mimebundle_(**options)


def show(what: Named | Run | Shot | Lesson, *, theme: str = "light", **options: Any) -> Player:
    """A run that plays in a notebook, with its buttons: of a kernel, which is run for it, of a run, a saved view or a lesson.

    ``theme``: "dark" or "light", as it begins. ``options``: of a kernel its sizes and parameters, and what ``trace`` takes.
    """
    if theme not in THEMES:
        raise UsageError(f"a page has no theme {theme!r}", remedy=f"choose {' or '.join(THEMES)}")
    found = load(what) if isinstance(what, str | PathLike) else what
    if isinstance(found, Kernel):
        found = trace(found, **options)
    if not isinstance(found, Run | Shot | Lesson):
        raise UsageError(f"{type(found).__name__} doesn't play", remedy="show a kernel, a run, a saved view or a lesson")
    return Player(_reel(found), theme)


def _reel(what: Run | Shot | Lesson) -> Reel:
    """All steps of a run or of a lesson, as pictures, a film or a page."""
    if isinstance(what, Lesson):
        return lesson_reel(what, _cpu_engine, ExportOptions())
    given = Given(what._outcome, what.replay) if isinstance(what, Run) else None
    stage = prepare(Shot(what.setup, theme="light") if isinstance(what, Run) else what, _cpu_engine, given)
    return run_reel(stage, ExportOptions(), list(range(stage.steps)), range(stage.steps))


def save(what: Kernel | Run | Shot | Lesson | Picture | Measurements, path: str | PathLike[str]) -> None:
    """Writes a file, or leaves the old one as it is if that fails.

    A kernel is written as ``.cu``, a run as ``.gvt``, a view or a lesson as ``.toml``, measurements as ``.json``, a picture as
    ``.svg`` or ``.png`` (which needs Qt). A run, a view or a lesson is also written as slides (``.pptx``, ``.pdf``), a film
    (``.mp4``, ``.gif``, …) or a page that plays (``.html``). Raises GemmvizError if the file can't be written, and for a run
    that was stopped, which can't be a ``.gvt``.
    """
    target = Path(path)
    check_output(target)
    if isinstance(what, Run | Shot | Lesson) and isinstance(formats().get(target.suffix.lower()[1:]), Film | Deck | Page):
        save_reel(_reel(what), target)
        return
    for kind, own in ((Kernel, "kernel"), (Run, "trace"), (Shot, "view"), (Lesson, "view"), (Measurements, "benchmark")):
        suffix = next(each.suffix for each in KINDS if each.name == own)
        if isinstance(what, kind) and target.suffix.lower() != suffix:
            raise UsageError(f"this is saved as {suffix}, not as {target.suffix or 'a file without suffix'}")
    match what:
        case Kernel():
            write_text(target, what.text)
        case Run():
            write_trace(what.trace, target)
        case Picture():
            save_frame(what.shown, target)
        case Measurements():
            write_text(target, benchmark_text(what.benchmark))
        case Shot():
            save_view(what, target)
        case Lesson():
            save_lesson(what, target)
        case _:
            raise UsageError(
                f"{type(what).__name__} can't be saved",
                remedy="save a kernel, a run, a view, a lesson, a picture or measurements",
            )


def _cpu_engine(kernel: KernelSpec) -> AbstractContextManager[Engine]:
    return nullcontext(_engine("cpu", kernel))


def _engine(on: EngineChoice, kernel: KernelSpec) -> Engine:
    if on not in CHOICES:
        raise UsageError(f"there is nobody called {on!r}", remedy=f"choose {', '.join(CHOICES)}")
    return _kept(choice_for(on, kernel))


@cache
def _kept(on: EngineChoice) -> Engine:
    """One for each answer, until the end: a GPU's takes long to start."""
    engine = engine_for(on)
    atexit.register(engine.close)
    return engine


def _whole(name: str, value: Any) -> int:
    try:
        return index(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r}, no whole number") from None


def _setup(kernel: Named | Shot, numbers: Mapping[str, SupportsIndex]) -> Setup:
    if isinstance(kernel, Shot):
        setup = kernel.setup
    else:
        setup = setup_for(kernel.spec if isinstance(kernel, Kernel) else load_kernel(str(kernel)))
    known = setup.sizes_and_parameters
    for name in numbers:
        if name not in known:
            raise UsageError(f"{setup.kernel.name} has no {name}", remedy=f"it has {', '.join(known)}")
    return setup.changed(**{name: _whole(name, value) for name, value in numbers.items()})
