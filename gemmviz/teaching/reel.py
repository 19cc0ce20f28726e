"""A lesson as a Reel, from which slides, pages and films are made: each step drawn with its caption."""

from collections.abc import Callable, Iterator
from itertools import repeat

from msgspec import Struct

from gemmviz.analysis.replay.focus import Position
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.records import replace
from gemmviz.render.reel import Frame, Reel, Slide, Step
from gemmviz.run.choosing import EngineOf, opened_engines
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.band import Caption
from gemmviz.scenes.kit.transition import Transition
from gemmviz.scenes.kit.view import ARRIVAL
from gemmviz.scenes.stage.motion import TRAIL
from gemmviz.shots.export import (
    SAMPLES,
    ExportOptions,
    Prepared,
    frame_at,
    inks_of_themes,
    page_step,
    page_theme,
    prepared,
    slide_at,
)
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.captions import filled_step
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.reveal import Reveal, parts_of

# How one picture follows another in a lecture: as the next beat of a run, as a morph, or as a cross-fade.

_OF_ONE_KERNEL = ("stage",)  # views in which things of two kernels have nothing in common


def is_next_beat(one: Shot, other: Shot) -> bool:
    """Whether the second shot is the step after the first of the same run, seen in the same way."""
    return (one.setup, one.view, one.focus, one.against) == (other.setup, other.view, other.focus, other.against) and (
        other.at.step == one.at.step + 1
    )


def is_morph(one: Shot, other: Shot) -> bool:
    """Whether things in both pictures are the same and may move: those of one view, and on the stage of one kernel."""
    is_same_kernel = one.setup.kernel.name == other.setup.kernel.name
    return one.view == other.view and (is_same_kernel or one.view not in _OF_ONE_KERNEL)


_LISTING = "listing"
_WAY_S, _BEAT_S = 0.7, 0.8  # duration of the way to the next picture, and of its beat


def lesson_reel(
    lesson: Lesson,
    engine_of: EngineOf,
    manner: ExportOptions,
    changed: Callable[[Shot], Shot] = lambda shot: shot,
    answers: bool = False,
) -> Reel:
    """Slides, frames and page steps of a lesson. A film moves from step to step, and pauses at each. ``changed``: applied to
    each shot before it is drawn. ``answers``: include the right choice of each question with its reason, and filled-in blanks.
    A kernel whose listing is beside questions has a page of its own before them.
    """
    steps = _with_sources(lesson.steps)
    shown = tuple((step, place) for step in steps for place in range(len(_still_parts(step, answers))))
    pictures = _Pictures(shown, engine_of, manner, changed, answers)
    count, theme = len(shown), page_theme(changed(lesson.steps[0].shot))
    return Reel(
        lesson.title, pictures.slides, count, pictures.frames, pictures.frame_count, pictures.steps, count,
        theme=theme, inks=inks_of_themes(), moments=SAMPLES, trail=TRAIL,
    )  # fmt: skip


def _with_sources(steps: tuple[LessonStep, ...]) -> Iterator[LessonStep]:
    """Steps, with the whole source of a kernel before the first question beside a part of it."""
    known: set[KernelSpec] = set()
    for stop in steps:
        kernel = stop.shot.setup.kernel
        if stop.question is not None and stop.shot.view == _LISTING and kernel not in known:
            known.add(kernel)
            yield LessonStep(replace(stop.shot, at=Position()))
        yield stop


class _Pictures(Struct, frozen=True):
    """The pictures of a lesson: steps, each with the number of the printed part that is shown. Each is prepared when it is
    drawn.
    """

    shown: tuple[tuple[LessonStep, int], ...]
    engine_of: EngineOf
    manner: ExportOptions
    changed: Callable[[Shot], Shot]
    answers: bool

    def _prepared(self) -> Iterator[tuple[LessonStep, Prepared, Caption]]:
        known: Knowledge | None = None
        for stop, place in self.shown:
            part = _still_parts(stop, self.answers)[place]
            with opened_engines(self.engine_of) as engine:
                known = Knowledge(self.changed(part.shot), engine, like=filter(None, (known,)))
                stage = prepared(known)
                if stop.needed:
                    stop = filled_step(stop, known.about(stop.shot))
            yield stop, stage, _still_parts(stop, self.answers)[place].caption

    def slides(self) -> Iterator[Slide]:
        for stop, stage, caption in self._prepared():
            yield slide_at(stage, stage.step, self.manner, caption, stop.notes)

    def frames(self, fps: int) -> Iterator[Frame]:
        last: tuple[Shot, Frame] | None = None
        for stop, stage, caption in self._prepared():
            played = list(_beat_frames(stage, self.manner, caption, fps)) if _has_beat(stop.shot) else []
            end = frame_at(stage, stage.step, stage.moment(stage.step), self.manner, caption=caption)
            if last is not None:
                yield from _way_frames(last, stage.shot, played[0] if played else end, fps)
            yield from played
            yield from repeat(end, _pause(self.manner, fps))
            last = stage.shot, end

    def frame_count(self, fps: int) -> int:
        count, beats = len(self.shown), sum(_has_beat(stop.shot) for stop, _ in self.shown)
        return count * _pause(self.manner, fps) + (count - 1) * _frames(_WAY_S, fps) + beats * _frames(_BEAT_S, fps)

    def steps(self) -> Iterator[Step]:
        last: Shot | None = None
        for stop, stage, caption in self._prepared():
            way = "" if last is None else "morph" if is_morph(last, stage.shot) else "fade"
            step = page_step(stage, stage.step, self.manner, caption, way, is_played=_has_beat(stop.shot))
            yield replace(step, rows=[], phase=0)
            last = stage.shot


def _pause(manner: ExportOptions, fps: int) -> int:
    """Number of frames for which a film shows each step."""
    return max(1, round(manner.hold_s * fps))


def _frames(seconds: float, fps: int) -> int:
    return max(1, round(seconds * fps))


def _has_beat(shot: Shot) -> bool:
    """Whether a picture begins with the motion of its step."""
    is_whole = shot.moment == 1.0 and shot.camera.zoom == 1.0
    return subject_of_view(shot.view).time != "launch" and view_named(shot.view).moves and is_whole


def _way_frames(last: tuple[Shot, Frame], shot: Shot, first: Frame, fps: int) -> Iterator[Frame]:
    """Frames from one picture to the beginning of the next."""
    count = _frames(_WAY_S, fps)
    transition = Transition(last[1].scene, first.scene, is_morph(last[0], shot))
    for number in range(1, count + 1):
        yield Frame(first.still, layers=transition.at(number / (count + 1)))


def _beat_frames(stage: Prepared, manner: ExportOptions, caption: Caption, fps: int) -> Iterator[Frame]:
    """Frames of the motion of a step. What doesn't move in it is drawn at most twice."""
    count = _frames(_BEAT_S, fps)
    stills: dict[bool, Frame] = {}
    for number in range(count):
        moment = number / count
        frame = frame_at(stage, stage.step, moment, manner, caption=caption)
        yield Frame(stills.setdefault(moment >= ARRIVAL, frame).still, frame.motion)


def _still_parts(step: LessonStep, answers: bool) -> list[Reveal]:
    """Parts of a step in a still medium: a question, also its right answer if ``answers``; the first part of an exercise that
    is still open; the last part of any other step.
    """
    parts = parts_of(step)
    if step.question is not None:
        return parts[:2] if answers else parts[:1]
    is_open = step.build == "blanks" or step.exercise is not None
    return parts[:1] if is_open and not (answers and step.build == "blanks") else parts[-1:]
