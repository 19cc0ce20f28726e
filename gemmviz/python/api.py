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

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from html import escape
from importlib.util import find_spec
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.recordings import benchmark_text, read_benchmark
from gemmviz.files.resources import FILE_KINDS, check_output, kind_of, write_text
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError, UsageError, many
from gemmviz.model.timing import Benchmark
from gemmviz.python.library import (
    Count,
    Kernel,
    Picture,
    Run,
    check_view,
    count,
    drawn_picture,
    engine_named,
    kernels,
    lessons,
    setup_with,
    trace,
    whole_number,
)
from gemmviz.render.export import formats, page_html, save_frame, save_reel
from gemmviz.render.figure import figure_html
from gemmviz.render.pack import THEMES
from gemmviz.render.reel import DEFAULT_LICENCE, Deck, FigureOptions, FigureTheme, Film, Reel, WebPage, figure_name
from gemmviz.run.engine import Engine
from gemmviz.run.loader import open_kernel
from gemmviz.shots.export import ExportOptions, prepare, prepare_benchmark, prepared, run_reel, step_numbered
from gemmviz.shots.shot import SYSTEM_THEME, Shot, save_view
from gemmviz.teaching.lesson import Lesson
from gemmviz.teaching.lesson_file import named_lesson, save_lesson
from gemmviz.teaching.reel import lesson_reel

__all__ = [
    "Count", "Figure", "GemmvizError", "Kernel", "Lesson", "Loaded", "Measurements", "Picture", "Player", "Run", "Shot",
    "count", "figure", "kernels", "lessons", "load", "save", "scene", "show", "trace",
]  # fmt: skip


class Measurements(Struct, frozen=True):
    """Measured speeds of kernels on one GPU. ``benchmark`` holds the rows."""

    benchmark: Benchmark

    def scene(self, *, view: str = "rate", theme: str = SYSTEM_THEME) -> Picture:
        """A chart of the measurements. Raises UsageError for a view that isn't a chart of measurements."""
        check_view(view, lambda subject: subject.page == "benchmark")
        shot = Shot(setup_for(load_kernel(kernel_names()[0])), view=view, theme=theme)
        return drawn_picture(prepare_benchmark(shot, self.benchmark))

    def __repr__(self) -> str:
        return f"<Measurements {self.benchmark.source}, {many(len(self.benchmark.rows), 'row')}>"

    def _repr_html_(self) -> str:
        return f"<div>{self.scene().svg}<p>{escape(self.benchmark.source)}</p></div>"


class Player(Struct, frozen=True, eq=False):
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
        from gemmviz.python.notebook import widget

        return widget(self.reel, self.theme)._repr_mimebundle_(**options)


class Figure(Struct, frozen=True, eq=False, dict=True):
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


Loaded = Kernel | Run | Shot | Lesson | Measurements
Named = str | PathLike[str] | Kernel


def load(source: str | PathLike[str]) -> Loaded:
    """A kernel by its name or ``.cu`` file, a lesson by its name, or the contents of another file.

    Other files are recorded runs (``.gvt``), saved views and lessons (``.toml``), and measurements (``.json``).
    """
    path = Path(source)
    lesson = named_lesson(str(source))
    if lesson is not None:
        return lesson.steps[0].shot if lesson.is_view else lesson
    match kind_of(path):
        case "trace":
            return Run(read_trace(path))
        case "benchmark":
            return Measurements(read_benchmark(path))
    return Kernel(open_kernel(str(source)))


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
        own = (*setup_with(found, {}).sizes_and_parameters, "on", "values", "blocks", "phases", "parameters")
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
    return Player(_player_reel(_playable(what, options)), theme)


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
    return Figure(_player_reel(found, "light" if theme == "auto" else theme, step), about)


def _playable(what: Named | Run | Shot | Lesson, options: dict[str, Any]) -> Run | Shot | Lesson:
    found = load(what) if isinstance(what, str | PathLike) else what
    if isinstance(found, Kernel):
        return trace(found, **options)
    if options:
        raise UsageError(f"there is no option {next(iter(options))}", remedy="sizes and parameters are those of kernels")
    if not isinstance(found, Run | Shot | Lesson):
        raise UsageError(f"{type(found).__name__} doesn't play", remedy="show a kernel, a run, a saved view or a lesson")
    return found


def _player_reel(what: Run | Shot | Lesson, theme: str = "", step: int | None = None) -> Reel:
    """All steps of a run or a lesson. Pictures are those of the run's ``step``, counted from 1, or of all steps."""
    if isinstance(what, Lesson):
        if step is not None:
            raise UsageError("a lesson begins with its first step", remedy="leave out step")
        return lesson_reel(what, _cpu_engine, ExportOptions(), lambda shot: structs.replace(shot, theme=theme or shot.theme))
    shot = what.known.shot if isinstance(what, Run) else what
    shot = structs.replace(shot, theme=theme or shot.theme)
    stage = prepared(what.known.about(shot)) if isinstance(what, Run) else prepare(shot, _cpu_engine)
    if step is not None and stage.replay is not None:
        stage = structs.replace(
            stage, shot=structs.replace(stage.shot, at=step_numbered(whole_number("step", step), stage.replay))
        )
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
    if isinstance(what, Run | Shot | Lesson) and isinstance(formats().get(target.suffix.lower()[1:]), Film | Deck | WebPage):
        save_reel(_player_reel(what), target)
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
    return nullcontext(engine_named("cpu", kernel))
