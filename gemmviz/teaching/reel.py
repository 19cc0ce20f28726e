"""A lesson as a Reel, from which slides, pages and films are made: each step drawn with its caption."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from gemmviz.export.prepare import (
    ExportOptions,
    Prepared,
    frame_at,
    inks_of_themes,
    page_theme,
    prepare,
    slide_at,
    texts_of,
    with_theme,
)
from gemmviz.render.page import THEMES
from gemmviz.render.reel import Frame, Reel, Slide, Step
from gemmviz.scenes.kit.band import Caption
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.gathering import EngineOf
from gemmviz.teaching.captions import caption_with_numbers
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.reveal import Reveal, parts_of


def lesson_reel(
    lesson: Lesson,
    engine_of: EngineOf,
    manner: ExportOptions,
    changed: Callable[[Shot], Shot] = lambda shot: shot,
    answers: bool = False,
) -> Reel:
    """Slides, frames and page steps of a lesson; a film pauses at each step. ``changed``: applied to each shot before it is
    drawn. ``answers``: include the right choice of each question with its reason, and filled-in blanks.
    """
    pause = partial(_pause, manner)
    shown = [(stop, part) for stop in lesson.stops for part in _printed(stop, answers)]

    def pictures() -> Iterator[tuple[LessonStep, Prepared, Caption]]:
        for stop, part in shown:
            stage = prepare(changed(part.shot), engine_of)
            caption = part.caption
            if stop.needed and stop.question is None:
                with engine_of(stop.shot.setup.kernel) as engine:
                    caption = replace(caption, caption=caption_with_numbers(stop, ShotFacts(stop.shot, engine, stage.outcome)))
            yield stop, stage, caption

    def slides() -> Iterator[Slide]:
        for stop, stage, caption in pictures():
            yield slide_at(stage, stage.step, manner, caption, stop.notes)

    def frames(fps: int) -> Iterator[Frame]:
        for _, stage, caption in pictures():
            frame = frame_at(stage, stage.step, stage.moment(stage.step), manner, caption=caption)
            for _ in range(pause(fps)):
                yield frame

    def steps() -> Iterator[Step]:
        for _, stage, caption in pictures():
            scenes = {
                theme: frame_at(with_theme(stage, theme), stage.step, stage.moment(stage.step), manner, caption=caption).scene
                for theme in THEMES
            }
            title, text, _ = texts_of(stage.kind, stage.subject(stage.step), scenes[THEMES[0]])
            yield Step(scenes, scenes, dict.fromkeys(THEMES, ()), caption.title or title, caption.caption or text)

    count, theme = len(shown), page_theme(changed(lesson.stops[0].shot))
    return Reel(
        lesson.title, slides, count, frames, lambda fps: count * pause(fps), steps, count, theme=theme, inks=inks_of_themes()
    )


def _pause(manner: ExportOptions, fps: int) -> int:
    """Number of frames for which a film shows each step."""
    return max(1, round(manner.hold_s * fps))


def _printed(stop: LessonStep, answers: bool) -> list[Reveal]:
    """Parts of a step in a still medium: a question, also its right answer if ``answers``; the first part of an exercise that
    is still open; the last part of any other step.
    """
    parts = parts_of(stop)
    if stop.question is not None:
        return parts[:2] if answers else parts[:1]
    is_open = stop.build == "blanks" or stop.exercise is not None
    return parts[:1] if is_open and not (answers and stop.build == "blanks") else parts[-1:]
