"""Export options from the dialog as one value, and the command line that performs the export."""

from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from gemmviz.files.recordings import benchmark_text
from gemmviz.files.resources import write_text
from gemmviz.files.trace_file import write_trace
from gemmviz.model.messages import tr
from gemmviz.model.timing import Benchmark
from gemmviz.render.export import formats
from gemmviz.render.reel import Deck, FigureOptions, Film, Still, WebPage
from gemmviz.shots.arguments import view_words
from gemmviz.shots.export import PARTS, ExportOptions
from gemmviz.shots.runs import KnownRun
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import save_lesson

SIZES = ((1280, 720), (1920, 1080), (2560, 1440), (3840, 2160))
What = Literal["picture", "steps", "lesson"]
SAVED = "saved"  # printed by the exporting process when the file is complete


class ExportJob(Struct, frozen=True):
    """Options of an export. ``what``: the current picture, steps ``first`` to ``last`` (from 1, inclusive), or the saved views.
    The current picture is that of step ``first``; in a format that plays, all steps. ``suffix``: file format; ``by_phase``: one
    picture per phase; ``theme``: "" for that of the view.
    """

    what: What = "picture"
    first: int = 1
    last: int = 1
    suffix: str = "png"
    by_phase: bool = False
    manner: ExportOptions = field(default_factory=ExportOptions)
    theme: str = ""
    has_code: bool = True

    @property
    def is_many(self) -> bool:
        """Whether the output is a folder of files."""
        return self.what != "picture" and isinstance(formats()[self.suffix], Still)

    @property
    def is_film(self) -> bool:
        return isinstance(formats()[self.suffix], Film)

    @property
    def plays(self) -> bool:
        """Whether the format holds all steps even of the current picture: a film or a page."""
        return isinstance(formats()[self.suffix], Film | WebPage)

    @property
    def pictures(self) -> int:
        """Number of pictures to draw, as far as it is known; used to estimate the time."""
        steps = self.last - self.first + 1 if self.what != "lesson" else 1
        return round(steps * self.manner.look.fps / self.manner.speed) if self.is_film else steps


def order_words(job: ExportJob, source: Path, target: Path, shot: Shot, on: str) -> list[str]:
    """Arguments of the ``gemmviz`` command that performs the export."""
    look, manner = job.manner.look, job.manner
    words = ["export", str(source), "--on", on, "--size", f"{look.width}x{look.height}", "-o", str(target)]
    if job.is_many:
        words += ["--as", job.suffix]
    if job.what == "steps":
        words += ["--steps", f"{job.first}:{job.last}", *(["--by", "phase"] if job.by_phase else [])]
    elif job.what == "picture" and isinstance(formats()[job.suffix], Deck):
        words += ["--step", str(job.first)]
    if job.is_film or look.has_film:
        words += ["--fps", str(look.fps), "--speed", f"{manner.speed:g}"]
    words += ["--theme", job.theme] if job.theme and look.figure is None else []
    words += _figure_words(look.figure) if look.figure is not None else []
    words += [f"--no-{part}" for part in PARTS if part in manner.hidden]
    if job.what != "lesson":
        words += [f"--{name}={text}" for name, text in (("title", manner.title), ("only", manner.only)) if text]
    for flag, is_set in (
        ("--no-code", not job.has_code), ("--transparent", look.is_transparent), ("--outlines", look.has_outlines),
        ("--film", look.has_film),
    ):  # fmt: skip
        words += [flag] if is_set else []
    return words + (view_words(shot, without=("--theme",)) if source.suffix in (".gvt", ".json") else [])


def _figure_words(figure: FigureOptions) -> list[str]:
    """Arguments for a figure. Its theme is that of the page, and its name that of the file."""
    words = ["--embed", f"--licence={figure.licence}", *(["--split"] if figure.is_split else [])]
    words += [f"--author={figure.author}"] if figure.author else []
    return words + ([f"--link={figure.link}"] if figure.link else [])


def write_source(
    job: ExportJob, folder: Path, shot: Shot, lesson: Lesson, shown: KnownRun | None, measured: Benchmark | None
) -> Path:
    """Write the file that the export command reads: views, a trace, or measurements. Raises GemmvizError."""
    if job.what == "lesson":
        path = folder / "lesson.toml"
        save_lesson(lesson, path)
    elif measured is not None:
        path = folder / "benchmark.json"
        write_text(path, benchmark_text(measured))
    elif shown is not None and shown.from_file:
        path = folder / "run.gvt"
        write_trace(shown.trace, path)
    else:
        path = folder / "view.toml"
        save_lesson(Lesson(tr("View"), (LessonStep(shot),)), path)
    return path


def suggested(job: ExportJob, shot: Shot, step: int) -> str:
    """Suggested name of the file or folder."""
    name = f"{shot.setup.kernel.name}-{shot.view}"
    if job.what == "lesson":
        name = "lesson"
    elif job.what == "picture" and not job.plays:
        name += f"-step{step + 1}"
    return name if job.is_many else f"{name}.{job.suffix}"
