"""Rendering to files, on a machine without a display."""

from contextlib import closing
from pathlib import Path

from gemmviz.cli.interruption import interruptible
from gemmviz.cli.progress import ProgressBar
from gemmviz.export.prepare import ExportOptions, Prepared, prepare, prepare_benchmark, prepare_run, run_reel
from gemmviz.files.benchmark_file import read_benchmark
from gemmviz.files.kinds import file_stem, kind_of
from gemmviz.files.trace_file import read_trace
from gemmviz.launch.legality import setup_for
from gemmviz.loading.loader import open_kernel
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.outcome import Outcome
from gemmviz.model.records import replace
from gemmviz.model.words import capital, many
from gemmviz.render.export import save_numbered, save_reel
from gemmviz.render.format import RenderOptions
from gemmviz.run.choosing import engine_for
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot, default_shot
from gemmviz.teaching.lesson_file import named_lesson
from gemmviz.teaching.reel import lesson_reel

_FOLDER, _MOST_FRAMES = Path("out"), 60


def render_instead(path: Path | None, shot: Shot | None, lesson: str) -> int:
    """Write pictures and an animation into the folder ``out``: the steps of a lesson, or up to 60 evenly spread steps of a run.

    The arguments are those of ``run_window``. The exit code is 1 if C is wrong.
    """
    with interruptible():
        return _render(path, shot, lesson)


def _render(path: Path | None, shot: Shot | None, lesson: str) -> int:
    on_progress = ProgressBar(str(_FOLDER)).update
    named = named_lesson(lesson or str(path or ""))
    is_right = True
    if named is not None and not named.is_view:
        name, reel = file_stem(named.name or "lesson"), lesson_reel(named, _engine_of, ExportOptions())
    else:
        stage = _staged(path, shot if named is None else named.stops[0].shot)
        steps = range(0, stage.steps, max(1, -(-stage.steps // _MOST_FRAMES)))
        name, reel = file_stem(stage.shot.setup.kernel.name), run_reel(stage, ExportOptions(), list(steps), range(stage.steps))
        outcome = stage.outcome
        is_right = outcome is None or outcome.trace is None or outcome.trace.check.passed
    print(f"There is no display for a window. Rendering {name} to {_FOLDER}/ instead.")
    save_numbered(reel, _FOLDER / name, "png", on_progress=on_progress)
    film = _FOLDER / f"{name}.gif"
    try:
        save_reel(reel, film, RenderOptions(960, 540, fps=10), on_progress)
        print(f"{film}: {many(reel.slide_count, 'picture')}")
    except GemmvizError as error:
        if error.id != "installation":
            raise
        print(f"{_FOLDER / name}/: {many(reel.slide_count, 'picture')}. {capital(str(error))}")
    return 0 if is_right else 1


def _staged(path: Path | None, shot: Shot | None) -> Prepared:
    """Run what the window would show first."""
    if path is not None and kind_of(path) == "trace":
        trace = read_trace(path)
        return prepare_run(Shot(trace.setup), Outcome(trace, trace.by))
    if path is not None and kind_of(path) == "benchmark":
        return prepare_benchmark(replace(default_shot(), view="rate"), read_benchmark(path, recorded=True))
    if shot is None and path is not None:
        shot = Shot(setup_for(open_kernel(str(path))))
    return prepare(shot or default_shot(), _engine_of)


def _engine_of(kernel: KernelSpec) -> closing[Engine]:
    return closing(engine_for("cpu"))
