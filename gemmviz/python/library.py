"""Runs and counts of kernels from Python. Nothing that draws is imported before it is used."""

from __future__ import annotations

import atexit
from functools import cache, cached_property
from html import escape
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from gemmviz.cuda.launch.catalog import kernel_names, lesson_names
from gemmviz.cuda.launch.legality import launch_for, setup_for, tied
from gemmviz.model.messages import GemmvizError, KernelFault, UsageError, all_blocks, many
from gemmviz.model.trace import Outcome
from gemmviz.run.choosing import CHOICES, EngineChoice, choice_for, engine_for, run
from gemmviz.run.engine import record_limit
from gemmviz.run.loader import open_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import SupportsIndex, TypeAlias

    from gemmviz.analysis.counts import LaunchCounts
    from gemmviz.analysis.replay.replay import Replay
    from gemmviz.model.kernel import KernelSpec
    from gemmviz.model.setup import Setup
    from gemmviz.model.threads import Triple
    from gemmviz.model.trace import Trace
    from gemmviz.run.engine import Engine
    from gemmviz.scenes.kit.primitives import Scene
    from gemmviz.scenes.kit.view import Layer
    from gemmviz.shots.export import Prepared
    from gemmviz.shots.knowledge import Knowledge
    from gemmviz.shots.shot import Shot
    from gemmviz.shots.subject import Subject

    Named: TypeAlias = "str | PathLike[str] | Kernel"

__all__ = ["Count", "GemmvizError", "Kernel", "Picture", "Run", "count", "kernels", "lessons", "trace"]


class Kernel(Struct, frozen=True):
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


class Picture(Struct, frozen=True, eq=False):
    """One frame. ``shown``: the primitives that it is made of, 1600 units wide."""

    shown: Scene

    def __repr__(self) -> str:
        return f"<Picture {self.shown.width:g} x {self.shown.height:g}>"

    @property
    def svg(self) -> str:
        """The frame as an SVG document, its fonts inside."""
        from gemmviz.render.svg import scene_svg

        return scene_svg(self.shown)

    def _repr_svg_(self) -> str:
        return self.svg


class Run(Struct, frozen=True, eq=False, dict=True):
    """The record of a run: every memory access of the threads of some blocks.

    ``trace`` holds the record itself; ``fault`` is the error that ended the run early, None if it completed.
    """

    trace: Trace
    fault: KernelFault | None = None

    @property
    def setup(self) -> Setup:
        """The kernel with its sizes, parameters and device."""
        return self.trace.setup

    @property
    def steps(self) -> int:
        """Number of steps: accesses and barriers of a thread."""
        return self.trace.steps

    @cached_property
    def known(self) -> Knowledge:
        """What is known of the run, computed when it is first needed."""
        from gemmviz.run.stored import RecordedTimes
        from gemmviz.shots.knowledge import Knowledge
        from gemmviz.shots.shot import Shot

        return Knowledge(Shot(self.setup, theme="light"), RecordedTimes(), self.outcome)

    @property
    def replay(self) -> Replay:
        """The record with its phases, the costs of its steps and its hazards."""
        return self.known.replay

    @property
    def hazards(self) -> list[str]:
        """Conflicting accesses that no barrier separates, as sentences; searched in as many blocks as is quick."""
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
        theme: str = "system",
    ) -> Picture:
        """A picture of the run at a ``step`` or at the beginning of a ``phase``, both counted from 1 as in the window.

        The default is the first step, or the last one of a run that ended early. Raises UsageError for a view, step, phase,
        block, warp or thread that the run doesn't have.
        """
        from gemmviz.analysis.replay.focus import Focus, Position
        from gemmviz.shots.export import phase_numbered, prepared, step_numbered
        from gemmviz.shots.shot import Shot

        check_view(view, lambda subject: subject.is_of_run)
        if step is not None and phase is not None:
            raise UsageError("a picture shows a step or the beginning of a phase, not both", remedy="leave one of them out")
        x, y, z = (*(block or (start for start, _ in self.trace.blocks.ranges)), 0)[:3]
        at = Position(0 if self.trace.stop is None else self.steps - 1)
        if phase is not None:
            at = phase_numbered(whole_number("phase", phase), self.replay)
        elif step is not None:
            at = step_numbered(whole_number("step", step), self.replay)
        shot = Shot(self.setup, Focus((x, y, z), warp, thread, everyone), view, at, layer=layer, theme=theme)
        return drawn_picture(prepared(self.known.about(shot), goes_to_fault=False))

    @property
    def outcome(self) -> Outcome:
        """The record and the fault, as engines return them."""
        return Outcome(self.trace, self.trace.by, self.fault)

    def __repr__(self) -> str:
        trace = self.trace
        shown = f"{trace.setup.kernel.name}, {trace.setup.problem}, {many(self.steps, 'step')}"
        return f"<Run {shown}, {trace.blocks.count} of {many(trace.launch.block_count, 'block')}; {self.fault or trace.check}>"

    def _repr_html_(self) -> str:
        return f"<div>{self.scene().svg}<p>{escape(repr(self)[1:-1])}. {escape(self.trace.by)}</p></div>"


class Count(Struct, frozen=True, eq=False):
    """The memory traffic of a whole launch. ``counts`` holds the sums by access and phase."""

    setup: Setup
    counts: LaunchCounts

    @property
    def totals(self) -> dict[str, int]:
        """Sums by kind of access, named like the hardware's counters: requests, sectors of 32 bytes, bytes, wavefronts."""
        from gemmviz.analysis.counts import totals

        return totals(self.counts)

    @property
    def accesses(self) -> list[dict[str, Any]]:
        """One dict for each access in the source: its place, its array and its costs."""
        rows = []
        for (site, operand), cost in self.counts.accesses.items():
            array = self.counts.arrays[operand.array]
            where = {"line": site.place.line, "column": site.place.column, "text": site.text}
            rows.append({**where, "access": operand.access, "array": array.name, "space": array.space, **structs.asdict(cost)})
        return rows

    def __repr__(self) -> str:
        share = all_blocks(launch_for(self.setup).block_count)
        return f"<Count {self.setup.kernel.name}, {self.setup.problem}, {share}>"

    def _repr_html_(self) -> str:
        cells = (f"<tr><td>{name.replace('_', ' ')}</td><td>{value:,}</td></tr>" for name, value in self.totals.items())
        about = f"<p>{escape(repr(self)[1:-1])}, counted from the source as written</p>"
        return f"<div>{about}<table>{''.join(cells)}</table></div>"


def kernels() -> list[str]:
    """The names of the kernels that ship with gemmviz, in teaching order."""
    return kernel_names()


def lessons() -> list[str]:
    """The names of the lessons that ship with gemmviz; ``load`` reads one."""
    return lesson_names()


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

    ``on``: "cpu", "gpu", or "auto": the GPU if there is one, else the CPU. With "auto", kernels that don't ship with gemmviz
    run on the CPU. Both give the same record. ``values``: also record the values that are read and written. ``blocks``
    ("0:2,0:2", half-open) and ``phases`` ("2-3", counted from 1) select what is recorded; the default is as many blocks around
    the first as are quick. ``numbers``: M, N, K and the kernel's parameters, which ``parameters`` takes too.

    Raises SourceError for a kernel that gemmviz can't read, SettingError for a launch that the device can't run, and
    DeviceError if there is no GPU. A kernel that faults gives the run up to the fault; on "gpu" it raises KernelFault.
    """
    setup = setup_with(kernel, {**(parameters or {}), **numbers})
    setup = structs.replace(setup, blocks=blocks or setup.blocks, phases=phases or setup.phases)
    around = (0, 0, 0) if isinstance(kernel, str | PathLike | Kernel) else kernel.focus.block
    outcome = run(setup, around, engine_named(on, setup.kernel), values=values, most_bytes=record_limit())
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
    """Counts the accesses of a whole launch: requests, sectors and wavefronts, as the hardware's counters do.

    Arguments and errors are those of ``trace``; a kernel that faults raises KernelFault.
    """
    from gemmviz.shots.knowledge import Knowledge
    from gemmviz.shots.shot import Shot

    setup = setup_with(kernel, {**(parameters or {}), **numbers})
    launch_for(setup)
    return Count(setup, Knowledge(Shot(setup), engine_named(on, setup.kernel)).counts)


def setup_with(kernel: Named | Shot, numbers: Mapping[str, SupportsIndex]) -> Setup:
    """The setup of a kernel or a shot with these sizes and parameters. Raises UsageError for another name."""
    if isinstance(kernel, str | PathLike | Kernel):
        setup = setup_for(kernel.spec if isinstance(kernel, Kernel) else open_kernel(str(kernel)))
    else:
        setup = kernel.setup
    known = setup.sizes_and_parameters
    for name in numbers:
        if name not in known:
            raise UsageError(f"{setup.kernel.name} has no {name}", remedy=f"it has {', '.join(known)}")
    return tied(setup.changed(**{name: whole_number(name, value) for name, value in numbers.items()}))


def engine_named(on: EngineChoice, kernel: KernelSpec) -> Engine:
    """The engine for a kernel. Raises UsageError for an unknown choice."""
    if on not in CHOICES:
        raise UsageError(f"there is no engine {on!r}", remedy=f"choose {', '.join(CHOICES)}")
    return _shared_engine(choice_for(on, kernel))


@cache
def _shared_engine(on: EngineChoice) -> Engine:
    """The engine for all calls, closed when the process ends: the GPU's takes long to start."""
    engine = engine_for(on)
    atexit.register(engine.close)
    return engine


def drawn_picture(prepared: Prepared) -> Picture:
    """The picture of a prepared shot at its step."""
    from gemmviz.shots.picture import picture

    return Picture(picture(prepared.shot, prepared.subject(prepared.step)))


def check_view(name: str, fits: Callable[[Subject], bool]) -> None:
    """Checks that a view fits. Raises UsageError with the views that do."""
    from gemmviz.scenes.catalog import views
    from gemmviz.shots.subject import subject_of_view

    if not fits(subject_of_view(name)):
        fitting = [view for view in views() if fits(subject_of_view(view))]
        raise UsageError(f"the view {name!r} shows something else", remedy=f"choose {', '.join(fitting)}")


def whole_number(name: str, value: Any) -> int:
    """The value as an int. Raises UsageError with the argument's name if it is not a whole number."""
    try:
        return index(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r}, not a whole number") from None
