"""Values that the Python library returns: kernels, runs, counts, measurements, pictures and players."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from importlib.util import find_spec
from operator import index
from typing import Any

from gemmviz.analysis.memory.counts import LaunchCounts, totals
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.position import Position
from gemmviz.analysis.replay.replay import Replay
from gemmviz.export.prepare import Prepared, no_engine, prepare, prepare_benchmark
from gemmviz.export.stills import phase_numbered, step_numbered
from gemmviz.launch.catalog import kernel_names, load_kernel
from gemmviz.launch.legality import launch_for, setup_for
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import KernelFault, UsageError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.outcome import Outcome
from gemmviz.model.setup import Setup
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Trace
from gemmviz.model.words import all_blocks, many
from gemmviz.render.credit import FigureOptions
from gemmviz.render.figure import figure_html
from gemmviz.render.page import page_html
from gemmviz.render.reel import Reel
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.frame import Layer
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.state.shot import SYSTEM_THEME, Shot
from gemmviz.subjects.catalog import subject_of_view
from gemmviz.subjects.gathering import Given
from gemmviz.subjects.picture import picture
from gemmviz.subjects.runs import replay_of
from gemmviz.subjects.subject import Subject


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
    def replay(self) -> Replay:
        """The record with its phases, the costs of its steps and its hazards."""
        return replay_of(self.outcome)

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
        theme: str = SYSTEM_THEME,
    ) -> Picture:
        """A picture of the run at a ``step`` or at the beginning of a ``phase``, both counted from 1 as in the window.

        The default is the first step, or the last one of a run that ended early. Raises UsageError for a view, step, phase,
        block, warp or thread that the run doesn't have.
        """
        _check_view(view, lambda subject: subject.is_of_run)
        if step is not None and phase is not None:
            raise UsageError("a picture shows a step or the beginning of a phase, not both", remedy="leave one of them out")
        x, y, z = (*(block or (start for start, _ in self.trace.blocks.ranges)), 0)[:3]
        at = Position(0 if self.trace.stop is None else self.steps - 1)
        if phase is not None:
            at = phase_numbered(whole_number("phase", phase), self.replay)
        elif step is not None:
            at = step_numbered(whole_number("step", step), self.replay)
        shot = Shot(self.setup, Focus((x, y, z), warp, thread, everyone), view, at, layer=layer, theme=theme)
        return drawn_picture(prepare(shot, no_engine, Given(self.outcome, self.replay, goes_to_fault=False)))

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


@dataclass(frozen=True, eq=False)
class Count:
    """The memory traffic of a whole launch. ``counts`` holds the sums by access and phase."""

    setup: Setup
    counts: LaunchCounts

    @property
    def totals(self) -> dict[str, int]:
        """Sums by kind of access, named like the hardware's counters: requests, sectors of 32 bytes, bytes, wavefronts."""
        return totals(self.counts)

    @property
    def accesses(self) -> list[dict[str, Any]]:
        """One dict for each access in the source: its place, its array and its costs."""
        rows = []
        for (site, operand), cost in self.counts.accesses.items():
            array = self.counts.arrays[operand.array]
            where = {"line": site.place.line, "column": site.place.column, "text": site.text}
            rows.append({**where, "access": operand.access, "array": array.name, "space": array.space, **asdict(cost)})
        return rows

    def __repr__(self) -> str:
        share = all_blocks(launch_for(self.setup).block_count)
        return f"<Count {self.setup.kernel.name}, {self.setup.problem}, {share}>"

    def _repr_html_(self) -> str:
        cells = (f"<tr><td>{name.replace('_', ' ')}</td><td>{value:,}</td></tr>" for name, value in self.totals.items())
        about = f"<p>{escape(repr(self)[1:-1])}, counted from the source as written</p>"
        return f"<div>{about}<table>{''.join(cells)}</table></div>"


@dataclass(frozen=True)
class Measurements:
    """Measured speeds of kernels on one GPU. ``benchmark`` holds the rows."""

    benchmark: Benchmark

    def scene(self, *, view: str = "rate", theme: str = SYSTEM_THEME) -> Picture:
        """A chart of the measurements. Raises UsageError for a view that isn't a chart of measurements."""
        _check_view(view, lambda subject: subject.page == "benchmark")
        shot = Shot(setup_for(load_kernel(kernel_names()[0])), view=view, theme=theme)
        return drawn_picture(prepare_benchmark(shot, self.benchmark))

    def __repr__(self) -> str:
        return f"<Measurements {self.benchmark.source}, {many(len(self.benchmark.rows), 'row')}>"

    def _repr_html_(self) -> str:
        return f"<div>{self.scene().svg}<p>{escape(self.benchmark.source)}</p></div>"


def drawn_picture(prepared: Prepared) -> Picture:
    return Picture(picture(prepared.shot, prepared.subject(prepared.step)))


def _check_view(name: str, fits: Callable[[Subject], bool]) -> None:
    """Checks that a view fits. Raises UsageError with the views that do."""
    if not fits(subject_of_view(name)):
        fitting = [view for view in views() if fits(subject_of_view(view))]
        raise UsageError(f"the view {name!r} shows something else", remedy=f"choose {', '.join(fitting)}")


@dataclass(frozen=True, eq=False)
class Player:
    """A run that plays in a notebook: as a widget if anywidget is installed, else as a page in a frame."""

    reel: Reel
    theme: str = "light"

    @property
    def html(self) -> str:
        """The self-contained page."""
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


@dataclass(frozen=True, eq=False)
class Figure:
    """A run that plays in any web page, and in a notebook that is saved, exported or printed: one element with a still inside.

    ``options``: its name, theme, author, licence and link.
    """

    reel: Reel
    options: FigureOptions

    @cached_property
    def html(self) -> str:
        """The element, with nothing outside of it."""
        return figure_html(self.reel, self.options)

    def __repr__(self) -> str:
        return f"<Figure {self.options.name}, {many(self.reel.step_count, 'step')}>"

    def _repr_html_(self) -> str:
        return self.html


def whole_number(name: str, value: Any) -> int:
    """The value as an int. Raises UsageError with the argument's name if it is not a whole number."""
    try:
        return index(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r}, not a whole number") from None
