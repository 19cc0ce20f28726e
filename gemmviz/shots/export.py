"""Prepares a shot for export: runs what it needs, and draws its steps as pictures, films and pages."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct, field, structs

from gemmviz.analysis.replay.focus import Focus, Position, focus_text, scope_of, step_at
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Replay, steps_in_use
from gemmviz.model.messages import UsageError, letter, marked, tr
from gemmviz.model.timing import Benchmark
from gemmviz.model.trace import Outcome, Trace
from gemmviz.render.pack import THEMES
from gemmviz.render.reel import Frame, Reel, RenderOptions, Slide, Step
from gemmviz.run.choosing import EngineOf, opened_engines
from gemmviz.run.stored import RecordedTimes
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.band import Caption, band_height, headline_height, link_height, with_band, with_headline, with_link
from gemmviz.scenes.kit.primitives import Primitive, Scene, TextPart
from gemmviz.scenes.kit.shapes import magnified, moved_down
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ARRIVAL, SHEET_EDGE, ViewOptions
from gemmviz.scenes.stage.cross import shown_shape
from gemmviz.scenes.stage.motion import TRAIL, is_trail
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.picture import INSTANTS, described, frame_for, instant_place, options_for, texts_of, theme_of
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject, subject_of_view

PARTS: dict[str, tuple[TextPart, ...]] = {
    "title": ("title", "note"),
    "step": ("progress",),
    "caption": ("action", "cost"),
    "timeline": (),
}  # of a picture that can be left out, with their texts
LONGEST_TITLE = 200  # letters
_MOST_FACTS = 1 << 20  # maximum number of accesses in a page
_SAME_PLACE = 1e-4
_NO_CAPTION = Caption()


# The moments of a step at which a page holds what moves; between them it moves evenly.
SAMPLES = (0.0, 0.17, 0.34, 0.51, 0.68, ARRIVAL - _SAME_PLACE, ARRIVAL, 1.0 - _SAME_PLACE)


class Prepared(Struct, frozen=True, eq=False):
    """A shot that can be drawn at each of its ``steps``. ``subject``: gives the value that the view draws at a step. ``replay``
    and ``outcome``: of its run; None if it needs none. May be drawn by several threads at once.
    """

    shot: Shot
    steps: int
    subject: Callable[[int], Any]
    replay: Replay | None = None
    outcome: Outcome | None = None

    @property
    def kind(self) -> Subject:
        """The kind of subject that is drawn."""
        return subject_of_view(self.shot.view)

    @property
    def step(self) -> int:
        """The step of the shot."""
        if self.is_launch:
            return instant_place(self.shot.instant)[0]
        return 0 if self.replay is None else step_at(self.replay.trace, self.shot.at)

    def moment(self, step: int) -> float:
        """Elapsed fraction of a step in its picture: that of the shot, but 1 for other steps of a launch."""
        if self.is_launch:
            return instant_place(self.shot.instant)[1] if step == self.step else 1.0
        return self.shot.moment

    @property
    def is_launch(self) -> bool:
        """Whether the steps divide the time of a launch."""
        return self.kind.time == "launch"

    def phase_steps(self) -> list[int]:
        """A step of each phase in which its tiles are in use."""
        return [0] if self.replay is None else steps_in_use(self.replay)


def prepare(shot: Shot, engine_of: EngineOf) -> Prepared:
    """Run what a shot needs. Raises GemmvizError if there is nothing to show."""
    with opened_engines(engine_of) as engine:
        return prepared(Knowledge(shot, engine))


def prepared(known: Knowledge, *, goes_to_fault: bool = True) -> Prepared:
    """Compute what a shot needs. ``goes_to_fault``: a shot at the first step of a faulting run moves to the fault. Raises
    GemmvizError if there is nothing to show.
    """
    subject = subject_of_view(known.shot.view)
    subject.check(known.shot)
    if "moment" in subject.needs:
        known = (known.at_fault() if goes_to_fault else known).in_run()
        known.context(subject.needs)
        return Prepared(known.shot, known.replay.steps, partial(subject.at, known), known.replay, known.outcome)
    value = subject.at(known, 0)
    return Prepared(known.shot, INSTANTS if subject.time == "launch" else 1, lambda step: value)


def prepare_run(shot: Shot, outcome: Outcome) -> Prepared:
    """Prepare a shot of a finished run. Raises UsageError for a view that needs more than the run, or threads outside of it."""
    subject = subject_of_view(shot.view)
    if subject.needs_run and not subject.is_of_run:
        raise UsageError(
            tr("the view {view} needs the kernel to be run", view=f"{shot.view!r}"),
            remedy=tr("name the kernel instead of the trace"),
        )
    return prepared(Knowledge(shot, RecordedTimes(), outcome))


def prepare_benchmark(shot: Shot, benchmark: Benchmark) -> Prepared:
    """Prepare a shot of measurements."""
    return prepared(Knowledge(shot, RecordedTimes(), measurements={benchmark.source: benchmark}))


# Pictures


class Template(Struct, frozen=True):
    """What a picture needs to be used as it is: a theme, a size in pixels, and the PARTS that are left out."""

    title: str
    theme: str
    width: int
    height: int
    hidden: frozenset[str]


_SLIDE = frozenset(("step", "timeline"))
TEMPLATES = {
    "slide-dark": Template(marked("Dark slide, 16:9"), "dark", 1920, 1080, _SLIDE),
    "slide-light": Template(marked("Light slide, 16:9"), "light", 1920, 1080, _SLIDE),
    "print": Template(marked("Print, 4:3"), "print", 2400, 1800, frozenset(("timeline",))),
}


class ExportOptions(Struct, frozen=True):
    """Options of an export. ``look``: rendering options; ``speed``: steps per second of a film; ``hidden``: PARTS to omit;
    ``hold_s``: duration of a film of a view without steps; ``link``: a URL, with its QR code below each picture; ``title``: a
    title instead of the view's own; ``only``: the part that is drawn alone, without these PARTS, "" for all.
    Raises UsageError for a speed out of range and a title that is too long.
    """

    look: RenderOptions = field(default_factory=RenderOptions)
    speed: float = 1.0
    hidden: frozenset[str] = frozenset()
    hold_s: float = 4.0
    link: str = ""
    title: str = ""
    only: str = ""

    def __post_init__(self) -> None:
        if len(self.title) > LONGEST_TITLE:
            raise UsageError(tr("a title has at most {most} characters", most=LONGEST_TITLE), remedy=tr("shorten it"))
        if not 0.05 <= self.speed <= 240.0:
            raise UsageError(
                tr("a film can't show {speed} steps per second", speed=f"{self.speed:g}"), remedy=tr("choose 0.05 to 240")
            )


def frame_at(
    stage: Prepared, step: int, moment: float, manner: ExportOptions, subject: Any = None,
    still: Scene | None = None, caption: Caption = _NO_CAPTION,
) -> Frame:  # fmt: skip
    """The frame of a step at a moment. ``still``: its static part if drawn before; ``caption``: text below the picture."""
    shot, options, high = _drawn_at(stage, step, moment, manner, caption)
    view, subject, by = view_named(shot.view), subject or stage.subject(step), _headline_room(options, shot)
    motion = view.motion(subject, options)
    if still is not None:
        return Frame(still, moved_down(motion, by))
    still = view.still(subject, options)
    if shot.camera.zoom != 1.0:
        still, motion = magnified(Frame(still, motion).scene, shot.camera.zoom, shot.camera.x, shot.camera.y), ()
    caption = _NO_CAPTION if "caption" in manner.hidden else caption
    whole = with_band(with_headline(still, by, options), caption, high, options.theme)
    return Frame(with_link(whole, manner.link, options.theme), moved_down(motion, by))


def _drawn_at(
    stage: Prepared, step: int, moment: float, manner: ExportOptions, caption: Caption
) -> tuple[Shot, ViewOptions, float]:
    """The shot and the options of a step at a moment, between headline, caption and link, and the height of the frame with
    headline and caption. A picture with a caption has the margins of a lecture.
    """
    counted, facts = 0.0 if caption.asks else 1.0, caption.facts
    caption = _NO_CAPTION if "caption" in manner.hidden else caption
    shot = stage.shot
    shot = (
        structs.replace(shot, instant=(step + moment) / INSTANTS) if stage.is_launch else structs.replace(shot, moment=moment)
    )
    (wide, high), scale = frame_for(shot, manner.look.width, manner.look.height)
    high -= link_height(manner.link)
    options = options_for(shot, theme_of(shot), (wide, high - band_height(caption, wide, high)), scale=scale)
    options = structs.replace(
        options, counted=counted, facts=facts, buttons=False, edge=SHEET_EDGE if caption.is_empty else 0.0,
        headline=manner.title, hidden=_hidden_texts(manner, shot), timeline=not manner.only and "timeline" not in manner.hidden,
        words=manner.only != "matrices", only="matrices" if manner.only == "matrices" else "",
    )  # fmt: skip
    return shot, structs.replace(options, height=options.height - _headline_room(options, shot)), high


def _hidden_texts(manner: ExportOptions, shot: Shot) -> frozenset[TextPart]:
    """The texts that are left out; those of a moment in a view that shows none are no reason to leave room for them."""
    hidden = PARTS if manner.only else manner.hidden
    absent: tuple[TextPart, ...] = () if view_named(shot.view).subject is Moment else ("progress",)
    texts = {text for part in hidden for text in PARTS[part]}
    return frozenset(texts | set(absent) if texts or manner.title else texts) - ({"title"} if manner.title else frozenset())


def _headline_room(options: ViewOptions, shot: Shot) -> float:
    """Height of a headline above a picture; 0 if the view itself draws it."""
    return 0.0 if view_named(shot.view).has_title and options.words else headline_height(options)


def only_part(shot: Shot, part: str) -> Shot:
    """The shot whose picture is a part of this one. Raises UsageError, which names the parts, for one that it lacks."""
    names = (shot.view, *view_named(shot.view).parts)
    if part not in names:
        raise UsageError(
            tr("the view {view} has no part {part}", view=f"{shot.view!r}", part=f"{part!r}"),
            remedy=tr("choose {names}", names=", ".join(names)),
        )
    return shot if part == "matrices" else structs.replace(shot, view=part)


def slide_at(stage: Prepared, step: int, manner: ExportOptions, caption: Caption = _NO_CAPTION, notes: str = "") -> Slide:
    """A picture of a step with title, caption and notes: those of a lesson if it has any."""
    subject = stage.subject(step)
    scene = frame_at(stage, step, stage.moment(step), manner, subject, caption=caption).scene
    scene = _scene_with_words(stage, subject, scene, caption, manner.title)
    _, text, remarks = texts_of(stage.kind, subject, scene)
    return Slide(scene, scene.title, caption.caption or text, notes or remarks)


def _scene_with_words(stage: Prepared, subject: Any, scene: Scene, caption: Caption, headline: str) -> Scene:
    """A scene with its words: those of a lesson first, and nothing else while a question is open."""
    choices = (f"{letter(place)}: {text}" for place, text in enumerate(caption.choices))
    words = "\n".join(filter(None, (caption.caption, *choices)))
    if caption.asks:
        return dataclasses.replace(scene, title=caption.title, description=words)
    scene = described(scene, stage.shot, subject)
    text = "\n".join(filter(None, (words, scene.description)))
    return dataclasses.replace(scene, title=caption.title or headline or scene.title, description=text)


# Reels


def still_reel(stage: Prepared, manner: ExportOptions) -> Reel:
    """The picture of the shot alone."""
    return run_reel(stage, manner, [stage.step], range(stage.step, stage.step + 1))


def run_reel(stage: Prepared, manner: ExportOptions, shown: list[int], played: Sequence[int]) -> Reel:
    """A picture of each step in ``shown``, and a film of the steps in ``played``."""

    def slides() -> Iterator[Slide]:
        for step in shown:
            yield slide_at(stage, step, manner)

    def frames(fps: int) -> Iterator[Frame]:
        return _played(stage, manner, played, fps)

    def steps() -> Iterator[Step]:
        for step in played:
            yield page_step(stage, step, manner)

    name = stage.shot.setup.kernel.name
    return Reel(
        name, slides, len(shown), frames, lambda fps: _frame_count(stage, manner, played, fps), steps,
        len(played), partial(_facts_of, stage), page_theme(stage.shot), inks_of_themes(), _focus_words(stage), SAMPLES, TRAIL,
        played.index(stage.step) if stage.step in played else 0,
    )  # fmt: skip


def with_theme(stage: Prepared, theme: str) -> Prepared:
    return structs.replace(stage, shot=structs.replace(stage.shot, theme=theme))


def _frame_count(stage: Prepared, manner: ExportOptions, played: Sequence[int], fps: int) -> int:
    seconds = len(played) / manner.speed if stage.steps > 1 else manner.hold_s
    return max(1, round(seconds * fps))


def _played(stage: Prepared, manner: ExportOptions, played: Sequence[int], fps: int) -> Iterator[Frame]:
    """Frames of each step from start to end. The static part of a step is drawn at most twice."""
    if stage.steps == 1:
        frame = frame_at(stage, 0, stage.moment(0), manner)
        for _ in range(_frame_count(stage, manner, played, fps)):
            yield frame
        return
    stood: tuple[tuple[int, bool], Scene] | None = None
    for number in range(1, _frame_count(stage, manner, played, fps) + 1):
        passed = min(len(played), number * manner.speed / fps)
        step = max(0, math.ceil(passed - _SAME_PLACE) - 1)
        moment = min(1.0, passed - step)
        key = step, moment >= ARRIVAL
        still = stood[1] if stood is not None and stood[0] == key and not stage.is_launch else None
        frame = frame_at(stage, played[step], moment, manner, still=still)
        stood = (key, frame.still) if stage.shot.camera.zoom == 1.0 else None
        yield frame


# Pages


def page_step(
    stage: Prepared, step: int, manner: ExportOptions, caption: Caption = _NO_CAPTION, way: str = "", is_played: bool = True
) -> Step:
    """A step in both themes of a page, before and after copies have arrived, with the moving parts if it ``is_played``.
    ``way``: how the page comes to it from the step before.
    """
    subject = stage.subject(step)
    before: dict[str, Scene] = {}
    after: dict[str, Scene] = {}
    motion: dict[str, tuple[tuple[Primitive, ...], ...]] = {}
    is_played = (
        is_played and (stage.steps > 1 or not caption.is_empty) and stage.shot.camera.zoom == 1.0 and not stage.is_launch
    )
    moments, last = (SAMPLES, 1.0) if is_played else ((), stage.moment(step))
    for theme in THEMES:
        own = with_theme(stage, theme)
        draw = partial(frame_at, own, step, manner=manner, subject=subject, caption=caption)
        after[theme] = _scene_with_words(own, subject, draw(moment=last).scene, caption, manner.title)
        before[theme] = draw(moment=0.0).still if is_played else after[theme]
        motion[theme] = tuple(_chips_of_trace(own, step, each, manner, subject, caption) for each in moments)
    title, text, _ = texts_of(stage.kind, subject, after[THEMES[0]])
    title, text = caption.title or manner.title or title, caption.caption or text
    phase = int(stage.replay.trace.phase[step]) if stage.replay is not None else 0
    return Step(before, after, motion, title, text, phase, _fact_rows(stage, step), way)


def _chips_of_trace(
    stage: Prepared, step: int, moment: float, manner: ExportOptions, subject: Any, caption: Caption
) -> tuple[Primitive, ...]:
    """What moves at a moment, without trails: a page draws them itself."""
    shot, options, _ = _drawn_at(stage, step, moment, manner, caption)
    moving = tuple(each for each in view_named(shot.view).motion(subject, options) if not is_trail(each))
    return moved_down(moving, _headline_room(options, shot))


def _record_for_page(stage: Prepared) -> Trace | None:
    """The trace that a page can query; None if the view shows no run or the trace is too large."""
    if stage.replay is None or not stage.kind.is_of_run:
        return None
    trace = stage.replay.trace
    return trace if trace.steps * trace.space.threads_per_block <= _MOST_FACTS else None


def _fact_rows(stage: Prepared, step: int) -> list[dict[str, Any]]:
    """Rows of the page's facts that describe a step."""
    trace = _record_for_page(stage)
    if trace is None:
        return []
    row = int(trace.row[step])
    return [
        {"row": row + number, "array": operand.array, "offsets": operand.layout.table.tolist()}
        for number, operand in enumerate(trace.site_of(step).operands)
    ]


def _facts_of(stage: Prepared) -> dict[str, Any]:
    """Facts that a page uses to describe cells and threads: of all traced blocks, or only the watched one if there are too
    many. ``elements``: rows of the record, as differences between consecutive numbers; ``order``: which of them each row of the
    trace is.
    """
    trace = _record_for_page(stage)
    if trace is None:
        return {}
    scope, threads = scope_of(stage.shot.focus, trace), trace.space.threads_per_block
    is_small = trace.element.size <= _MOST_FACTS
    columns = slice(0, trace.space.thread_count) if is_small else scope.of_block
    (x0, x1), (y0, y1), (z0, z1) = trace.blocks.ranges
    blocks = ((x, y, z) for z in range(z0, z1) for y in range(y0, y1) for x in range(x0, x1))
    names = [focus_text(Focus(block), trace) for block in blocks]
    elements, order = np.unique(trace.element[:, columns], axis=0, return_inverse=True)
    arrays = []
    for array in trace.arrays:
        rows, width = shown_shape(array) if array.space == "shared" else (array.shape[-2:][0], array.shape[-1])
        arrays.append(
            {"name": array.name, "space": array.space, "rows": rows, "columns": width, "columnMajor": array.column_major}
        )
    return {
        "threads": threads, "warp": trace.rules.warp_size, "arrays": arrays,
        "blocks": names if is_small else [names[scope.block_number]], "own": scope.block_number if is_small else 0,
        "elements": np.diff(elements, axis=1, prepend=0).tolist(), "order": order.ravel().tolist(),
    }  # fmt: skip


def _focus_words(stage: Prepared) -> str:
    trace = _record_for_page(stage)
    return "" if trace is None else focus_text(stage.shot.focus, trace)


def page_theme(shot: Shot) -> str:
    return THEMES[0] if theme_of(shot).is_dark else THEMES[1]


def inks_of_themes() -> tuple[str, str]:
    dark, light = (load_theme(name).text for name in THEMES)
    return dark, light


# Positions of steps and phases by number.


def step_numbered(step: int, replay: Replay) -> Position:
    """Position of a step, counted from 1. Raises UsageError for a step that doesn't exist."""
    if not 1 <= step <= replay.steps:
        raise UsageError(
            tr("there is no step {step}: the trace has {steps} steps, counted from 1", step=step, steps=replay.steps)
        )
    return Position(step - 1)


def phase_numbered(phase: int, replay: Replay) -> Position:
    """Position of the start of a phase, counted from 1. Raises UsageError for a phase that doesn't exist."""
    inside = [int(step) for step in replay.phase_starts if int(replay.trace.phase[step]) == phase - 1]
    if inside and phase <= replay.phases:
        return Position(inside[0])
    which = tr("the kernel has {phases} phases, counted from 1", phases=replay.phases)
    if replay.trace.phases is not None:
        which = tr("the trace contains phases {first} to {last}", first=replay.trace.phases[0] + 1, last=replay.phases)
    raise UsageError(tr("there is no phase {phase}: {which}", phase=phase, which=which))
