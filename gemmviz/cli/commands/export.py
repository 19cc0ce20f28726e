"""The command ``export``: saves anything that can be shown as a picture, numbered pictures, slides, a film or a web page."""

import argparse
import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct, structs

from gemmviz.analysis.replay.focus import Focus
from gemmviz.cli.command import Command, declare_output
from gemmviz.cli.running import (
    ProgressBar,
    add_on,
    add_timeout,
    engine_of,
    interruptible,
    print_fallback,
    report_hazards,
    report_outcome,
)
from gemmviz.files.recordings import read_benchmark
from gemmviz.files.resources import is_folder, kind_of
from gemmviz.files.trace_file import read_trace
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import UsageError
from gemmviz.model.trace import Outcome
from gemmviz.render.export import format_of, formats, require_format, save_numbered, save_reel, script_hash, stills
from gemmviz.render.figure import figure_script, script_name
from gemmviz.render.reel import (
    DEFAULT_LICENCE,
    FIGURE_THEMES,
    Deck,
    FigureOptions,
    Film,
    Reel,
    RenderOptions,
    Still,
    check_link,
    figure_name,
)
from gemmviz.run.choosing import with_stored_answers
from gemmviz.run.engine import Engine
from gemmviz.shots.arguments import add_setup, add_view, is_set, shot_from, view_from, with_setup
from gemmviz.shots.export import (
    PARTS,
    TEMPLATES,
    ExportOptions,
    Prepared,
    only_part,
    phase_numbered,
    prepare,
    prepare_benchmark,
    prepare_run,
    run_reel,
    step_numbered,
    still_reel,
)
from gemmviz.shots.shot import Shot, default_shot
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.lesson import Lesson
from gemmviz.teaching.lesson_file import named_lesson

_MOST_SLIDES = 400
_MOST_INSTANTS = 10
_BY = ("step", "phase")


def _add(parser: argparse.ArgumentParser) -> None:
    add_setup(parser, "KERNEL|FILE|LESSON", taken=("block",))
    add_view(parser)
    parser.add_argument(
        "--steps",
        metavar="A:B,C",
        help="steps A to B, and C, from 1; in the grid view, instants 1 to 60 (default: all, or one for a picture)",
    )
    parser.add_argument(
        "--by", choices=_BY, default="step", help="one slide or numbered picture per step or per phase (default: step)"
    )
    parser.add_argument("--template", choices=tuple(TEMPLATES), help="theme, size and contents for a slide or for print")
    parser.add_argument("--size", metavar="WxH", help=f"size in pixels (default: {_DEFAULT_SIZE}, or that of the template)")
    parser.add_argument("--fps", type=int, default=30, metavar="N", help="frames per second of a film (default: %(default)s)")
    parser.add_argument(
        "--speed", type=float, default=1.0, metavar="N", help="steps per second of a film (default: %(default)g)"
    )
    parser.add_argument("--title", metavar="TEXT", default="", help="a title instead of the picture's own")
    parser.add_argument(
        "--only", metavar="PART", default="", help="a part alone, without words: matrices, request, banks, sum, or the view"
    )
    parser.add_argument("--no-code", action="store_true", help="hide the source lines of a saved view")
    for part in PARTS:
        parser.add_argument(f"--no-{part}", action="store_true", help=f"hide {_PART_WORDS[part]}")
    parser.add_argument("--transparent", action="store_true", help="transparent background, in formats that support it")
    parser.add_argument("--outlines", action="store_true", help="text as shapes in SVG, which looks the same in every program")
    parser.add_argument(
        "--link", metavar="URL", default="", help="a URL with its QR code below each picture, or below a figure"
    )
    parser.add_argument("--film", action="store_true", help="add a last slide that plays the film")
    _add_figure(parser)
    parser.add_argument("--as", dest="kind", choices=tuple(stills()), help="format of numbered pictures; -o is a folder")
    parser.add_argument(
        "--answers", action="store_true", help="include the answers to the questions of a lesson, with blanks filled in"
    )
    parser.add_argument(
        "--variant", type=int, default=0, metavar="N", help="sizes of a lesson's questions (default: as written)"
    )
    parser.add_argument(
        "--guide", action="store_true", help="the page of a lesson for its lecturer: ideas, demonstrations and questions"
    )
    parser.add_argument("--progress", action="store_true", help=argparse.SUPPRESS)
    add_on(parser, "cpu")
    add_timeout(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE|FOLDER/", help="output file or folder")
    declare_output(parser, "output")


def _add_figure(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("figure for a web page", "an element with a still and a player, from --embed")
    group.add_argument("--embed", action="store_true", help="write an element for a page of your own instead of a whole page")
    group.add_argument("--split", action="store_true", help="write the script of the figures to a file of its own beside it")
    group.add_argument("--author", metavar="NAME", help="the name before the licence")
    group.add_argument(
        "--licence", metavar="TEXT", help=f"SPDX identifier or text of the licence (default: {DEFAULT_LICENCE}; '' for none)"
    )
    group.add_argument("--follow", metavar="NAME", help="show the steps of the figure of this name")


_DEFAULT_SIZE = "1920x1080"
_PART_WORDS = {
    "title": "title and settings", "step": "the number of the step", "caption": "the sentence about the step",
    "timeline": "the timeline below the picture",
}  # fmt: skip


class _Source(Struct, frozen=True):
    """What to export, and how to run its kernels."""

    args: argparse.Namespace
    manner: ExportOptions

    def engine(self, kernel: KernelSpec) -> AbstractContextManager[Engine]:
        return engine_of(self.args, kernel)

    def dressed(self, shot: Shot) -> Shot:
        """Return the shot with the view options of the command line."""
        shot = view_from(self.args, shot)
        if self.args.template is not None and self.args.theme is None:
            shot = structs.replace(shot, theme=TEMPLATES[self.args.template].theme)
        if self.args.only:
            shot = only_part(shot, self.args.only)
        if self.manner.look.figure is not None and self.args.theme is None:
            shot = structs.replace(shot, theme="light")  # its still is printed
        return structs.replace(shot, code=False) if self.args.no_code else shot


def _run(args: argparse.Namespace) -> int:
    args.is_folder = args.output.endswith(("/", os.sep)) or is_folder(args.output) or args.kind is not None
    args.output = Path(args.output)
    _check_options(args)
    with interruptible(), ProgressBar(str(args.output), args.progress).at_work():
        return _export_file(args)


def _export_file(args: argparse.Namespace) -> int:
    source = _Source(args, _manner(args))
    if not args.is_folder:
        require_format(args.output, source.manner.look)
    path = Path(args.kernel)
    lesson = named_lesson(args.kernel)
    if args.guide and lesson is None:
        raise UsageError("--guide is for lessons", remedy="leave out --guide")
    if lesson is not None and (args.guide or not lesson.is_view):
        reel = _guide_page(source, lesson) if args.guide else _lesson_pictures(source, lesson)
        _write_reel(args, reel, source.manner.look)
        return 0
    stage = _prepared_source(source, path, None if lesson is None else lesson.steps[0].shot)
    _write_reel(args, _reel_of_stage(source, stage), source.manner.look)
    return _exit_code(stage)


def _check_options(args: argparse.Namespace) -> None:
    """Raises UsageError for options that exclude each other."""
    suffix = args.output.suffix.lower().removeprefix(".")
    if args.is_folder and args.kind is None:
        raise UsageError(f"{args.output} is a folder", remedy=f"choose a format: --as {' or --as '.join(stills())}")
    if args.is_folder and suffix in formats() and not is_folder(args.output):
        raise UsageError(f"{args.output} is a file name, but --as writes into a folder", remedy="leave out --as")
    if args.steps is not None and (args.step is not None or args.phase is not None):
        raise UsageError("--steps excludes --step and --phase", remedy="leave out one of them")
    if args.guide and (args.is_folder or not isinstance(format_of(args.output), Still | Deck)):
        raise UsageError("--guide is one page", remedy="write a .pdf file")
    if not args.is_folder and isinstance(format_of(args.output), Film) and args.by != "step":
        raise UsageError("a film shows every step", remedy="leave out --by")
    for flag, is_given in (
        ("--split", args.split), ("--author", args.author), ("--licence", args.licence), ("--follow", args.follow),
    ):  # fmt: skip
        if is_given and not args.embed:
            raise UsageError(f"{flag} is for figures", remedy=f"add --embed, or leave out {flag}")
    for flag, is_given, of in (
        ("--embed", args.embed, "html"), ("--film", args.film, "pptx"), ("--outlines", args.outlines, "svg"),
    ):  # fmt: skip
        if is_given and (args.kind or suffix) != of:
            raise UsageError(f"{flag} is for .{of}", remedy=f"leave out {flag}")


def _figure(args: argparse.Namespace) -> FigureOptions | None:
    if not args.embed:
        return None
    return FigureOptions(
        figure_name(args.output.stem), args.theme if args.theme in FIGURE_THEMES else "auto", args.author or "",
        DEFAULT_LICENCE if args.licence is None else args.licence, args.link, args.follow or "", args.split,
    )  # fmt: skip


def _manner(args: argparse.Namespace) -> ExportOptions:
    template = TEMPLATES.get(args.template)
    size = args.size or (_DEFAULT_SIZE if template is None else f"{template.width}x{template.height}")
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", size)
    if found is None:
        raise UsageError(f"--size {size}: write WIDTHxHEIGHT, such as {_DEFAULT_SIZE}")
    look = RenderOptions(int(found[1]), int(found[2]), args.fps, args.transparent, args.outlines, args.film, _figure(args))
    if args.link:
        check_link(args.link)
    hidden = frozenset(part for part in PARTS if getattr(args, f"no_{part}")) | (template.hidden if template else frozenset())
    return ExportOptions(
        look, args.speed, hidden, link="" if args.embed else args.link, title=args.title.strip(), only=args.only
    )


def _lesson_pictures(source: _Source, lesson: Lesson) -> Reel:
    args = source.args
    if is_set(args) or args.phase is not None or args.view is not None:
        remedy = "leave out -m, -n, -k, -D, --phase, --view and similar options; --steps chooses steps of the lesson"
        raise UsageError("a lesson has its own settings and views", remedy=remedy)
    if args.title or args.only:
        raise UsageError("a lesson has its own titles and pictures", remedy="leave out --title and --only")
    if args.tile_width is not None:
        raise UsageError(
            "a lesson chooses the tile widths of its charts", remedy="the size of its pictures is --size 1920x1080"
        )
    args.steps = args.steps if args.step is None else str(args.step)
    chosen = _chosen_steps(args, len(lesson.steps))
    if chosen is not None:
        lesson = structs.replace(lesson, steps=tuple(lesson.steps[place] for place in chosen))
    engine_of = source.engine if args.on == "gpu" else with_stored_answers(source.engine)
    from gemmviz.teaching.reel import lesson_reel  # a picture of a kernel does without it

    lesson = structs.replace(lesson, steps=tuple(step.showing(args.variant) for step in lesson.steps))
    return lesson_reel(lesson, engine_of, source.manner, source.dressed, args.answers)


def _guide_page(source: _Source, lesson: Lesson) -> Reel:
    from gemmviz.teaching.reel import guide_reel

    return guide_reel(lesson, with_stored_answers(source.engine), source.args.theme or "light")


# What is prepared


def _prepared_source(source: _Source, path: Path, shot: Shot | None) -> Prepared:
    args, kind = source.args, kind_of(path)
    if kind in ("trace", "benchmark") and is_set(args):
        raise UsageError(f"a {kind} has its own sizes and parameters", remedy="leave out -m, -n, -k, -D and similar options")
    if kind == "trace":
        return _at(args, _prepared_trace(source, path))
    if kind == "benchmark":
        shot = source.dressed(structs.replace(default_shot(), view="rate", theme="dark"))
        if subject_of_view(shot.view).page != "benchmark":
            raise UsageError(f"the view {shot.view!r} shows a run", remedy="name a kernel")
        return prepare_benchmark(shot, read_benchmark(path))
    shot = source.dressed(shot_from(args) if shot is None else with_setup(args, shot))
    page = subject_of_view(shot.view).page
    if args.tile_width is not None and "measurements" not in subject_of_view(shot.view).needs:
        raise UsageError(
            f"--tile-width is for charts, and the view {shot.view!r} is none",
            remedy="choose the tile with -D TILE_WIDTH=N, the size of the picture with --size 1920x1080",
        )
    if page == "benchmark" and is_set(args):
        remedy = "leave out -m, -n, -k, -D and similar options"
        raise UsageError(f"the view {shot.view!r} shows measurements, of all kernels and sizes", remedy=remedy)
    prepared = prepare(shot, source.engine)
    print_fallback(None if prepared.outcome is None else prepared.outcome.instead_of)
    return _at(args, prepared)


def _prepared_trace(source: _Source, path: Path) -> Prepared:
    trace = read_trace(path)
    x, y, z = (start for start, _ in trace.blocks.ranges)
    shot = source.dressed(Shot(trace.setup, Focus((x, y, z)), theme="dark"))
    subject = subject_of_view(shot.view)
    if subject.page == "benchmark":
        raise UsageError(f"the view {shot.view!r} shows measurements", remedy="name a kernel or a benchmark")
    if subject.needs_run:
        return prepare_run(shot, Outcome(trace, trace.by))
    return prepare(shot, source.engine)


def _at(args: argparse.Namespace, stage: Prepared) -> Prepared:
    """Return the stage at the requested step. Raises UsageError for a phase or a step that doesn't exist."""
    replay = stage.replay
    if replay is None:
        return stage
    if args.phase is not None:
        return structs.replace(stage, shot=structs.replace(stage.shot, at=phase_numbered(args.phase, replay)))
    if args.step is not None:
        return structs.replace(stage, shot=structs.replace(stage.shot, at=step_numbered(args.step, replay)))
    return stage


# What of it


def _reel_of_stage(source: _Source, stage: Prepared) -> Reel:
    args = source.args
    played = _chosen_steps(args, stage.steps)
    if args.embed:  # the still of one step, and the player of all
        played = played or range(stage.steps)
        return run_reel(stage, source.manner, [stage.step if stage.step in played else played[0]], played)
    is_alone = played is None and args.by == "step" and _wants_one(args)
    if is_alone and args.film:
        return run_reel(stage, source.manner, [stage.step], range(stage.steps))
    if is_alone:
        return still_reel(stage, source.manner)
    played = played or range(stage.steps)
    shown = [step for step in stage.phase_steps() if step in played] if args.by == "phase" else list(played)
    if stage.is_launch and args.steps is None and not _is_film(args):
        shown = list(played)[:: max(1, len(played) // _MOST_INSTANTS)]  # a launch has no steps: some of its instants
    shown = shown or [played[0]]
    if len(shown) > _MOST_SLIDES and not _is_film(args):
        remedy = f"choose at most {_MOST_SLIDES} with --steps A:B, or --by phase"
        raise UsageError(f"{len(shown)} steps would give {len(shown)} pictures", remedy=remedy)
    return run_reel(stage, source.manner, shown, played)


def _wants_one(args: argparse.Namespace) -> bool:
    """Whether a single picture is requested: by the format of the file, or by a step."""
    named = args.step is not None or args.phase is not None
    return named or (not args.is_folder and isinstance(format_of(args.output), Still))


def _is_film(args: argparse.Namespace) -> bool:
    return not args.is_folder and isinstance(format_of(args.output), Film)


def _chosen_steps(args: argparse.Namespace, most: int) -> Sequence[int] | None:
    """Return the requested steps. Raises UsageError for steps that don't exist."""
    if args.steps is None:
        return None
    chosen = list[int]()
    for part in args.steps.split(","):
        found = re.fullmatch(r"(\d{0,9}):(\d{0,9})|(\d{1,9})", part)
        if found is None:
            raise UsageError(f"--steps {args.steps}: write FIRST:LAST, such as 3:12, or single steps, such as 3,8,14:21")
        first, last = (int(found[3]),) * 2 if found[3] else (int(found[1] or 1), int(found[2] or most))
        if not 1 <= first <= last <= most:
            raise UsageError(f"--steps {args.steps}: there are {most}, counted from 1", remedy=f"choose within 1:{most}")
        chosen += range(first - 1, last)
    return chosen


# Where to


def _write_reel(args: argparse.Namespace, reel: Reel, look: RenderOptions) -> None:
    progress = ProgressBar(str(args.output), args.progress)
    if args.is_folder:
        save_numbered(reel, args.output, args.kind, look, progress.update)
        progress.saved()
        return
    if isinstance(format_of(args.output), Still) and reel.slide_count > 1:
        remedy = f"use a folder: -o {args.output.stem}/ --as {args.output.suffix.removeprefix('.')}"
        raise UsageError(f"{reel.slide_count} pictures don't fit into one file, {args.output.name}", remedy=remedy)
    save_reel(reel, args.output, look, progress.update)
    progress.saved()
    if look.figure is not None:
        allowed = f"scripts from {script_name()}" if look.figure.is_split else f"script-src {script_hash(figure_script())}"
        print(f"If your page has a content security policy, allow {allowed}")


def _exit_code(stage: Prepared) -> int:
    """Return the exit code, and print what is wrong with the run."""
    outcome, replay = stage.outcome, stage.replay
    if outcome is None or replay is None or outcome.trace is None:
        return 0
    if outcome.fault is None and replay.hazards:
        return report_hazards([*replay.hazards], outcome.trace.setup)
    return report_outcome(outcome)


COMMAND = Command(
    "save pictures, slides or films of a kernel, a trace, a saved view, a lesson or a benchmark", _add, _run, order=4
)
