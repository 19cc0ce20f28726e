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

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from gemmviz.analysis.counts import LaunchCounter, LaunchCounts, totals
from gemmviz.analysis.focus import Focus
from gemmviz.analysis.position import Position
from gemmviz.analysis.replay import Replay
from gemmviz.files.benchmark_file import benchmark_text, read_benchmark
from gemmviz.files.kinds import kind_of
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.files.whole import write_text
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import GemmvizError, KernelFault, UsageError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.setup import Setup
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Trace
from gemmviz.model.words import many
from gemmviz.render.export import save_frame
from gemmviz.render.svg import scene_svg
from gemmviz.run.choosing import On, engine_for
from gemmviz.scenes.frame import Layer
from gemmviz.scenes.primitives import Scene
from gemmviz.show.picture import moment_of, picture, run, searched_blocks, with_hazards
from gemmviz.show.shot import SYSTEM_THEME, Shot, read_view, save_view
from gemmviz.spec.catalog import kernel_names, load_kernel
from gemmviz.spec.legality import device_for, launch_for, setup_for

__all__ = [
    "Count", "GemmvizError", "Kernel", "Loaded", "Measurements", "Picture", "Run", "Shot", "count", "kernels", "load", "save",
    "scene", "trace",
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


@dataclass(frozen=True)
class Picture:
    """One frame. ``shown``: the primitives that it is made of, 1600 units wide."""

    shown: Scene

    @property
    def svg(self) -> str:
        """The frame as an SVG document, its fonts inside."""
        return scene_svg(self.shown)

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
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
        return with_hazards(Replay.of(self.trace), searched_blocks(self.trace))

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
        x, y, *z = block or tuple(start for start, _ in self.trace.blocks.ranges)
        focus = Focus((x, y, z[0] if z else 0), warp, thread, everyone)
        if focus.within(self.trace).block != focus.block:
            raise UsageError(f"block {x},{y} is not in the trace (blocks {self.trace.blocks})")
        return self._pictured(Shot(self.setup, focus, view, self._position(step, phase), layer=layer, theme=theme))

    def _position(self, step: int | None, phase: int | None) -> Position:
        if phase is not None:
            starts = [int(at) for at in self.replay.phase_starts if int(self.trace.phase[at]) == phase - 1]
            if not starts:
                raise UsageError(f"there is no phase {phase}", remedy="phases are counted from 1")
            return Position(starts[0])
        if step is None:
            return Position(0 if self.trace.stop is None else self.steps - 1)
        if not 1 <= step <= self.steps:
            raise UsageError(f"there is no step {step}", remedy=f"the run has {many(self.steps, 'step')}, counted from 1")
        return Position(step - 1)

    def _pictured(self, shot: Shot) -> Picture:
        return Picture(picture(replace(shot, focus=shot.focus.within(self.trace)), moment_of(shot, self.replay)))

    def __repr__(self) -> str:
        trace = self.trace
        shown = f"{trace.setup.kernel.name}, {trace.setup.problem}, {many(self.steps, 'step')}"
        return f"<Run {shown}, {trace.blocks.count} of {many(trace.launch.block_count, 'block')}; {self.fault or trace.check}>"

    def _repr_html_(self) -> str:
        return f"<div>{self.scene().svg}<p>{escape(repr(self)[1:-1])}. {escape(self.trace.by)}</p></div>"


@dataclass(frozen=True)
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
        blocks = many(launch_for(self.setup).block_count, "block")
        return f"<Count {self.setup.kernel.name}, {self.setup.problem}, all {blocks}>"

    def _repr_html_(self) -> str:
        cells = (f"<tr><td>{name.replace('_', ' ')}</td><td>{value:,}</td></tr>" for name, value in self.totals.items())
        about = f"<p>{escape(repr(self)[1:-1])}, counted from the source as written</p>"
        return f"<div>{about}<table>{''.join(cells)}</table></div>"


@dataclass(frozen=True)
class Measurements:
    """How fast kernels were on one GPU. ``benchmark`` holds the rows."""

    benchmark: Benchmark

    def scene(self, *, view: str = "rate", theme: str = SYSTEM_THEME) -> Picture:
        """A chart of them."""
        return Picture(picture(Shot(setup_for(load_kernel(kernel_names()[0])), view=view, theme=theme), self.benchmark))

    def __repr__(self) -> str:
        return f"<Measurements {self.benchmark.source}, {many(len(self.benchmark.rows), 'row')}>"

    def _repr_html_(self) -> str:
        return f"<div>{self.scene().svg}<p>{escape(self.benchmark.source)}</p></div>"


Loaded = Kernel | Run | Shot | Measurements
Named = str | PathLike[str] | Kernel


def kernels() -> list[str]:
    """The names of the kernels that ship with gemmviz, in teaching order."""
    return kernel_names()


def load(source: str | PathLike[str]) -> Loaded:
    """A kernel by its name or ``.cu`` file; else what a file holds: a recorded run (``.gvt``), a saved view (``.toml``), or
    measurements (``.json``).
    """
    path = Path(source)
    match kind_of(path):
        case "trace":
            return Run(read_trace(path))
        case "view":
            return read_view(path)
        case "benchmark":
            return Measurements(read_benchmark(path, recorded=True))
    return Kernel(load_kernel(str(source)))


def trace(
    kernel: Named | Shot, *, on: On = "auto", values: bool = False, blocks: str = "", phases: str = "", **numbers: int
) -> Run:
    """Runs a kernel and records every access.

    ``on``: "gpu", "cpu", or "auto" for the GPU where there is one; the record is the same. ``values``: also record what is read
    and written. ``blocks`` ("0:2,0:2", half-open) and ``phases`` ("2-3", from 1) say what to record; by default as many blocks
    around the first as are quick. ``numbers``: M, N, K and the kernel's parameters.

    Raises SourceError for a kernel that gemmviz can't read, SettingError for a launch that no GPU accepts. A kernel that faults
    gives the run up to there.
    """
    setup = _setup(kernel, numbers)
    setup = replace(setup, blocks=blocks or setup.blocks, phases=phases or setup.phases)
    around = kernel.focus.block if isinstance(kernel, Shot) else (0, 0, 0)
    with closing(engine_for(on)) as engine:
        outcome = run(setup, around, engine, values=values)
    if outcome.trace is None:
        raise outcome.fault or GemmvizError("the kernel gives no trace")
    return Run(outcome.trace, outcome.fault)


def count(kernel: Named | Shot, *, on: On = "cpu", **numbers: int) -> Count:
    """Counts all accesses of a whole launch: requests, sectors and wavefronts as the hardware's counters have them.

    Raises as ``trace`` does, and KernelFault.
    """
    setup = _setup(kernel, numbers)
    launch_for(setup)
    with closing(engine_for(on)) as engine:
        counter = LaunchCounter(device_for(setup).rules)
        engine.count(setup, counter)
    return Count(setup, counter.counts)


def scene(what: Named | Run | Shot | Measurements, **options: Any) -> Picture:
    """A picture: of a run, of a kernel that is run for it, of a saved view as it was saved, of measurements. ``options``: those
    of ``Run.scene`` or ``Measurements.scene``, and for a kernel its sizes and parameters, in capitals.
    """
    found = load(what) if isinstance(what, str | PathLike) else what
    if isinstance(found, Shot):
        return trace(found)._pictured(found)
    if isinstance(found, Run | Measurements):
        return found.scene(**options)
    numbers = {name: options.pop(name) for name in list(options) if name.isupper()}
    return trace(found, **numbers).scene(**options)


def save(what: Kernel | Run | Shot | Picture | Measurements, path: str | PathLike[str]) -> None:
    """Writes a file, whole or not at all: a kernel as ``.cu``, a run as ``.gvt``, a view as ``.toml``, a picture as ``.svg`` or
    ``.png`` (which needs Qt), measurements as ``.json``. Raises GemmvizError where it can't be written.
    """
    target = Path(path)
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


def _setup(kernel: Named | Shot, numbers: Mapping[str, int]) -> Setup:
    if isinstance(kernel, Shot):
        setup = kernel.setup
    else:
        setup = setup_for(kernel.spec if isinstance(kernel, Kernel) else load_kernel(str(kernel)))
    known = setup.sizes_and_parameters
    for name in numbers:
        if name not in known:
            raise UsageError(f"{setup.kernel.name} has no {name}", remedy=f"it has {', '.join(known)}")
    return setup.changed(**numbers)
