"""gemmviz from Python, in scripts and notebooks: ``import gemmviz``.

    import gemmviz

    run = gemmviz.trace("04_tiled", M=8, N=8, K=8, TILE_WIDTH=4)   # every access of every thread
    run.scene(step=12, warp=0)                                    # a picture: shown as SVG in a notebook
    gemmviz.count("04_tiled", M=4096, N=4096, K=4096).totals      # counts of a whole launch
    gemmviz.save(run, "run.gvt")                                  # a file that the program opens

A kernel is a name ("04_tiled", or "tiled"), the path of a ``.cu`` file, or a result of ``load``. Sizes and the kernel's
parameters are keywords; the kernel's header gives the defaults. All functions raise GemmvizError, which says what is wrong,
where, and what to do.
"""

import atexit
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any, SupportsIndex

from gemmviz.export.prepare import ExportOptions, prepare, run_reel
from gemmviz.export.stills import step_numbered
from gemmviz.files.benchmark_file import benchmark_text, read_benchmark
from gemmviz.files.kinds import FILE_KINDS, kind_of
from gemmviz.files.outputs import check_output
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.files.whole import write_text
from gemmviz.launch.catalog import kernel_names, lesson_names
from gemmviz.launch.legality import launch_for, setup_for, tied
from gemmviz.library import Count, Figure, Kernel, Measurements, Picture, Player, Run, drawn_picture, whole_number
from gemmviz.loading.loader import open_kernel
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.setup import Setup
from gemmviz.render.credit import DEFAULT_LICENCE, FigureOptions, FigureTheme, figure_name
from gemmviz.render.export import formats, save_frame, save_reel
from gemmviz.render.format import Deck, Film, Page
from gemmviz.render.pack import THEMES
from gemmviz.render.reel import Reel
from gemmviz.run.choosing import CHOICES, EngineChoice, choice_for, engine_for
from gemmviz.run.engine import Engine
from gemmviz.run.recording import record_limit
from gemmviz.state.shot import Shot, save_view
from gemmviz.subjects.counting import launch_counts
from gemmviz.subjects.gathering import Given
from gemmviz.subjects.runs import run
from gemmviz.teaching.lesson import Lesson
from gemmviz.teaching.lesson_file import named_lesson, save_lesson
from gemmviz.teaching.reel import lesson_reel

__all__ = [
    "Count", "Figure", "GemmvizError", "Kernel", "Lesson", "Loaded", "Measurements", "Picture", "Player", "Run", "Shot",
    "count", "figure", "kernels", "lessons", "load", "save", "scene", "show", "trace",
]  # fmt: skip


Loaded = Kernel | Run | Shot | Lesson | Measurements
Named = str | PathLike[str] | Kernel


def kernels() -> list[str]:
    """The names of the kernels that ship with gemmviz, in teaching order."""
    return kernel_names()


def lessons() -> list[str]:
    """The names of the lessons that ship with gemmviz; ``load`` reads one."""
    return lesson_names()


def load(source: str | PathLike[str]) -> Loaded:
    """A kernel by its name or ``.cu`` file, a lesson by its name, or the contents of another file.

    Other files are recorded runs (``.gvt``), saved views and lessons (``.toml``), and measurements (``.json``).
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
    return Kernel(open_kernel(str(source)))


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
    """Counts the accesses of a whole launch: requests, sectors and wavefronts, as the hardware's counters do.

    Arguments and errors are those of ``trace``; a kernel that faults raises KernelFault.
    """
    setup = _setup(kernel, {**(parameters or {}), **numbers})
    launch_for(setup)
    return Count(setup, launch_counts(setup, _engine(on, setup.kernel)))


def scene(what: Named | Run | Shot | Measurements, **options: Any) -> Picture:
    """A picture of a run, of a kernel (which is run first), of measurements, or of a saved view.

    ``options`` are those of ``Run.scene`` or ``Measurements.scene``; for a kernel also those of ``trace``. A saved view takes
    none.
    """
    found = load(what) if isinstance(what, str | PathLike) else what
    if isinstance(found, Shot):
        if options:
            raise UsageError("a saved view takes no options", remedy="leave the options out, or change the view")
        return drawn_picture(prepare(found, _cpu_engine))
    if isinstance(found, Lesson):
        raise UsageError("a lesson has many pictures", remedy="show or save it, or draw the shot of one of its steps")
    if isinstance(found, Kernel):
        own = (*_setup(found, {}).sizes_and_parameters, "on", "values", "blocks", "phases", "parameters")
        given = {name: options.pop(name) for name in list(options) if name in own}
        found = trace(found, **given)
    known = [name for name in signature(found.scene).parameters]
    for name in options:
        if name not in known:
            raise UsageError(f"there is no option {name}", remedy=f"choose {', '.join(known)}")
    return found.scene(**options)


def show(what: Named | Run | Shot | Lesson, *, theme: str = "light", **options: Any) -> Player:
    """A run that plays in a notebook: of a kernel (which is run first), a run, a saved view or a lesson.

    ``theme``: "dark" or "light" at the start. ``options``: for a kernel, those of ``trace``.
    """
    if theme not in THEMES:
        raise UsageError(f"a page has no theme {theme!r}", remedy=f"choose {' or '.join(THEMES)}")
    return Player(_reel(_playable(what, options)), theme)


def figure(
    what: Named | Run | Shot | Lesson,
    *,
    step: int | None = None,
    name: str = "",
    theme: FigureTheme = "auto",
    author: str = "",
    licence: str = DEFAULT_LICENCE,
    link: str = "",
    follow: str = "",
    **options: Any,
) -> Figure:
    """A run that plays in any web page: of a kernel (which is run first), a run, a saved view or a lesson.

    Notebooks keep it when they are saved, exported and printed. ``step``: where it opens, counted from 1; its still shows this
    step. ``name``: what URLs and other figures call it, by default the kernel's or the lesson's; ``theme``: "auto" for that of
    the page, "dark" or "light"; ``licence``: an SPDX identifier or any text, "" for none; ``link``: a URL for a QR code;
    ``follow``: the name of the figure whose steps it shows. ``options``: for a kernel, those of ``trace``. Raises UsageError.
    """
    found = _playable(what, options)
    own = found.title if isinstance(found, Lesson) else found.setup.kernel.name
    about = FigureOptions(name or figure_name(own), theme, author, licence, link, follow)
    return Figure(_reel(found, "light" if theme == "auto" else theme, step), about)


def _playable(what: Named | Run | Shot | Lesson, options: dict[str, Any]) -> Run | Shot | Lesson:
    found = load(what) if isinstance(what, str | PathLike) else what
    if isinstance(found, Kernel):
        return trace(found, **options)
    if options:
        raise UsageError(f"there is no option {next(iter(options))}", remedy="sizes and parameters are those of kernels")
    if not isinstance(found, Run | Shot | Lesson):
        raise UsageError(f"{type(found).__name__} doesn't play", remedy="show a kernel, a run, a saved view or a lesson")
    return found


def _reel(what: Run | Shot | Lesson, theme: str = "", step: int | None = None) -> Reel:
    """All steps of a run or a lesson. Pictures are those of the run's ``step``, counted from 1, or of all steps."""
    if isinstance(what, Lesson):
        if step is not None:
            raise UsageError("a lesson begins with its first step", remedy="leave out step")
        return lesson_reel(what, _cpu_engine, ExportOptions(), lambda shot: replace(shot, theme=theme or shot.theme))
    given = Given(what.outcome, what.replay) if isinstance(what, Run) else None
    shot = Shot(what.setup, theme="light") if isinstance(what, Run) else what
    stage = prepare(replace(shot, theme=theme or shot.theme), _cpu_engine, given)
    if step is not None and stage.replay is not None:
        stage = replace(stage, shot=replace(stage.shot, at=step_numbered(whole_number("step", step), stage.replay)))
    shown = [stage.step] if theme else list(range(stage.steps))
    return run_reel(stage, ExportOptions(), shown, range(stage.steps))


def save(what: Kernel | Run | Shot | Lesson | Picture | Measurements | Figure, path: str | PathLike[str]) -> None:
    """Writes a file, or leaves the old one as it is if that fails.

    A kernel is written as ``.cu``, a run as ``.gvt``, a view or a lesson as ``.toml``, measurements as ``.json``, a picture as
    ``.svg`` or ``.png`` (which needs Qt). A run, a view or a lesson is also written as slides (``.pptx``, ``.pdf``), a film
    (``.mp4``, ``.gif``, …) or a page that plays (``.html``); a figure as its element (``.html``). Raises GemmvizError if the
    file can't be written, and for a run that was stopped, which can't be a ``.gvt``.
    """
    target = Path(path)
    check_output(target)
    if isinstance(what, Run | Shot | Lesson) and isinstance(formats().get(target.suffix.lower()[1:]), Film | Deck | Page):
        save_reel(_reel(what), target)
        return
    for kind, own in ((Kernel, "kernel"), (Run, "trace"), (Shot, "view"), (Lesson, "view"), (Measurements, "benchmark")):
        suffix = next(each.suffix for each in FILE_KINDS if each.name == own)
        if isinstance(what, kind) and target.suffix.lower() != suffix:
            raise UsageError(f"this is saved as {suffix}, not as {target.suffix or 'a file without suffix'}")
    if isinstance(what, Figure) and target.suffix.lower() != ".html":
        raise UsageError(f"this is saved as .html, not as {target.suffix or 'a file without suffix'}")
    match what:
        case Kernel():
            write_text(target, what.text)
        case Run():
            write_trace(what.trace, target)
        case Picture():
            save_frame(what.shown, target)
        case Figure():
            write_text(target, what.html)
        case Measurements():
            write_text(target, benchmark_text(what.benchmark))
        case Shot():
            save_view(what, target)
        case Lesson():
            save_lesson(what, target)
        case _:
            raise UsageError(
                f"{type(what).__name__} can't be saved",
                remedy="save a kernel, a run, a view, a lesson, a picture, a figure or measurements",
            )


def _cpu_engine(kernel: KernelSpec) -> AbstractContextManager[Engine]:
    return nullcontext(_engine("cpu", kernel))


def _engine(on: EngineChoice, kernel: KernelSpec) -> Engine:
    if on not in CHOICES:
        raise UsageError(f"there is no engine {on!r}", remedy=f"choose {', '.join(CHOICES)}")
    return _shared_engine(choice_for(on, kernel))


@cache
def _shared_engine(on: EngineChoice) -> Engine:
    """The engine for all calls, closed when the process ends: the GPU's takes long to start."""
    engine = engine_for(on)
    atexit.register(engine.close)
    return engine


def _setup(kernel: Named | Shot, numbers: Mapping[str, SupportsIndex]) -> Setup:
    if isinstance(kernel, Shot):
        setup = kernel.setup
    else:
        setup = setup_for(kernel.spec if isinstance(kernel, Kernel) else open_kernel(str(kernel)))
    known = setup.sizes_and_parameters
    for name in numbers:
        if name not in known:
            raise UsageError(f"{setup.kernel.name} has no {name}", remedy=f"it has {', '.join(known)}")
    return tied(setup.changed(**{name: whole_number(name, value) for name, value in numbers.items()}))
