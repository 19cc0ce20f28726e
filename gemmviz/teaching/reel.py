"""A lesson as a Reel, from which slides, pages and films are made: each step drawn with its caption; and the page for somebody
who gives a lesson for the first time.
"""

from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise, repeat
from typing import Literal

from msgspec import Struct, structs

from gemmviz.analysis.replay.focus import Position
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import UsageError, tr
from gemmviz.render.reel import Frame, Reel, Slide, Step
from gemmviz.run.choosing import EngineOf, opened_engines
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.band import Caption
from gemmviz.scenes.kit.layout import LINE_PITCH, Box, Paragraph, Share, paragraphs_in
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.theme import Style, Theme, load_theme
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
from gemmviz.teaching.captions import Reveal, caption_of, filled_step, parts_of
from gemmviz.teaching.lesson import Guide, Lesson, LessonStep

# The page for somebody who gives a lesson for the first time: for each part of it one idea, one demonstration with its keys,
# one number, and one question with the usual wrong answers.

PAPER = 1240.0, 1754.0  # A4 in units, 150 for an inch
_MARGIN, _GAP, _AIR = 66.0, 22.0, 0.15  # air above a paragraph: of the size of its text
_MOST_PARTS, _MOST_PARTS_OF_PLAN = 9, 6  # on a page
_TITLE, _SIZES = (
    36.0,
    (23.0, 22.0, 21.0, 20.0, 19.0, 18.0, 17.5, 17.0, 16.5, 16.0, 15.5, 15.0),
)  # of the text: the largest that fits
_TextRole = Literal["strong", "plain", "faint"]


class GuidePart(Struct, frozen=True):
    """A part of a lesson: its steps, of which the first has the guide, the number of that step, and the minutes from ``first``
    to ``last``.
    """

    steps: tuple[LessonStep, ...]
    number: int
    first: float
    last: float

    @property
    def guide(self) -> Guide:
        guide = self.steps[0].guide
        assert guide is not None
        return guide

    @property
    def place(self) -> str:
        return tr(
            "Minutes {first} to {last}, from step {number}", first=f"{self.first:g}", last=f"{self.last:g}", number=self.number
        )

    @property
    def ways(self) -> str:
        """The steps of a plan with their numbers, and the right answer of each question among them; "" in a lesson."""
        if not _is_taken(self.steps[0]):
            return ""
        return tr("; ").join(f"{number} {_with_answer(step)}" for number, step in enumerate(self.steps, self.number))

    def filled(self, filled: Callable[[LessonStep], LessonStep]) -> "GuidePart":
        """The part with the numbers in its texts."""
        return structs.replace(self, steps=tuple(map(filled, self.steps)))


def _is_taken(step: LessonStep) -> bool:
    """Whether a plan takes the step from a lesson."""
    return "/" in step.id


def _with_answer(step: LessonStep) -> str:
    """The title of a step, with the right answer of its question, or how many presses show all of its steps."""
    question, title = step.question, caption_of(step).title
    if question is not None:
        return f"{title} → {question.choices[question.right].text}"
    return tr("{title} ({count} × Page Down)", title=title, count=step.shot.at.step) if step.build == "steps" else title


def guide_parts(lesson: Lesson) -> list[GuidePart]:
    """The parts of a lesson, one from each step that has a guide to the next. In a plan, more steps have one."""
    starts = [*accumulate((step.minutes for step in lesson.steps), initial=0.0)]
    places = [
        place
        for place, step in enumerate(lesson.steps)
        if step.guide is not None and (_is_taken(step) or not step.guide.of_plans)
    ]
    return [
        GuidePart(lesson.steps[place:end], place + 1, starts[place], starts[end])
        for place, end in pairwise([*places, len(lesson.steps)])
    ]


def guide_at(lesson: Lesson, place: int) -> GuidePart | None:
    """The part of a lesson that the step at an index is in, with the numbers that are expected; None before the first."""
    found = next((part for part in reversed(guide_parts(lesson)) if part.number <= place + 1), None)
    return found and found.filled(LessonStep.with_expected_numbers)


def guide_lines(part: GuidePart) -> tuple[list[tuple[_TextRole, str]], list[tuple[_TextRole, str]]]:
    """What a part says, as texts with the roles in which they are written: what to do, and what to ask."""
    guide, question = part.guide, part.guide.question
    places = [f"{part.place} · {', '.join(guide.keys)}", part.ways]
    done: list[tuple[_TextRole, str]] = [
        *(("faint", text) for text in places if text),
        ("strong", guide.idea),
        ("plain", tr("Show: {what}", what=guide.show)),
        ("plain", tr("Number: {sentence}", sentence=guide.number)),
    ]
    asked: list[tuple[_TextRole, str]] = [("strong", tr("Ask: {question}", question=question.text))]
    for choice in sorted(question.choices, key=lambda choice: not choice.right):
        said = tr(". ").join([f"{'✓' if choice.right else '✗'} {choice.text}", choice.why])
        asked.append(("strong" if choice.right else "plain", said))
    return done, asked


def guide_scenes(lesson: Lesson, theme: Theme, filled: Callable[[LessonStep], LessonStep]) -> list[Scene]:
    """The page of a lesson with the numbers in its texts, or the pages of a long one. Raises UsageError for a lesson without
    guides.
    """
    parts = [part.filled(filled) for part in guide_parts(lesson)]
    if not parts:
        raise UsageError(tr("the lesson {name} has no guide for the lecturer", name=f"{lesson.name or lesson.title!r}"))
    count = -(-len(parts) // (_MOST_PARTS_OF_PLAN if _is_taken(lesson.steps[0]) else _MOST_PARTS))
    firsts = [number * len(parts) // count for number in range(count + 1)]
    return [_page(lesson, parts[first:end], number, count, theme) for number, (first, end) in enumerate(pairwise(firsts), 1)]


def _page(lesson: Lesson, parts: list[GuidePart], number: int, count: int, theme: Theme) -> Scene:
    page = Box(0.0, 0.0, *PAPER).inset(_MARGIN)
    minutes = tr("{minutes} minutes, {steps} steps", minutes=f"{lesson.minutes:g}", steps=len(lesson.steps))
    place = tr("page {number} of {count}", number=number, count=count)
    facts = tr(". ").join([tr("; ").join([minutes, *([place] if count > 1 else [])]), lesson.about])
    command = f"gemmviz gui {lesson.name} --lecture"
    keys = tr(
        "{command} starts it; Lecture > On screen chooses the projector, and F1 shows all keys. → and ← move the picture, Page "
        "Down what is told: while something moves, it ends the motion first, and at a question it first shows the answer. A "
        "number and Return goes to that step. P opens the presenter view on a second screen, with this page and a clock; with "
        "one screen, P twice puts the notes on the wall. S sets a spotlight for this step.",
        command=command,
    )
    head = [
        Paragraph.wrapped("title", lesson.title, Style(_TITLE, theme.text, "semibold"), page),
        Paragraph.wrapped("about", facts, Style(_SIZES[3], theme.faint), page),
        *([Paragraph.wrapped("keys", keys, Style(_SIZES[3], theme.text), page)] if number == 1 else []),
    ]
    words, rest = paragraphs_in(page, head, 8.0)
    body = rest.trimmed(top=_GAP)
    size = next((each for each in _SIZES if _parts_height(parts, body, each, theme) <= body.height), _SIZES[-1])
    drawn: list[Primitive] = [*words]
    for part in parts:
        drawn.append(Rects(f"rule-{part.number}", boxes((body.x, body.y - _GAP / 2, body.width, 1.5)), theme.line))
        high = _parts_height([part], body, size, theme)
        for box, column in zip(_columns(body), _part_columns(part, body, size, theme), strict=True):
            drawn += paragraphs_in(box, column, _AIR * size)[0]
        body = body.trimmed(top=high)
    said = "\n".join(text for part in parts for column in guide_lines(part) for _, text in column)
    return Scene(*PAPER, theme.background, tuple(drawn), title=lesson.title, description=said)


def _columns(body: Box) -> list[Box]:
    return body.columns(Share(6), Share(7), gap=_GAP)


def _part_columns(part: GuidePart, body: Box, size: float, theme: Theme) -> list[list[Paragraph]]:
    """What to do in a part, and what to ask."""
    styles: dict[_TextRole, Style] = {
        "strong": Style(size, theme.text, "semibold"), "plain": Style(size, theme.text), "faint": Style(size, theme.faint),
    }  # fmt: skip
    return [
        [
            Paragraph.wrapped(f"{part.number}-{side}-{number}", text, styles[role], box._replace(height=PAPER[1]))
            for number, (role, text) in enumerate(texts)
        ]
        for side, (box, texts) in enumerate(zip(_columns(body), guide_lines(part), strict=True))
    ]


def _parts_height(parts: list[GuidePart], body: Box, size: float, theme: Theme) -> float:
    """The height of parts, one below the other."""
    columns = (_part_columns(part, body, size, theme) for part in parts)
    return sum(max(sum(each.height(LINE_PITCH) + _AIR * size for each in column) for column in part) + _GAP for part in columns)


def guide_reel(lesson: Lesson, engine_of: EngineOf, theme: str) -> Reel:
    """The page of a lesson as a picture, or the pages of a long one. Raises UsageError for a lesson without guides."""

    def filled(step: LessonStep) -> LessonStep:
        with engine_of(step.shot.setup.kernel) as engine:
            return filled_step(step, Knowledge(step.shot, engine))

    scenes = guide_scenes(lesson, load_theme(theme), filled)

    def slides() -> Iterator[Slide]:
        yield from (Slide(scene, lesson.title, scene.description) for scene in scenes)

    def frames(fps: int) -> Iterator[Frame]:
        yield from map(Frame, scenes)

    def steps() -> Iterator[Step]:
        for scene in scenes:
            yield Step({theme: scene}, {theme: scene}, {theme: ()}, lesson.title, scene.description)

    count = len(scenes)
    return Reel(lesson.title, slides, count, frames, lambda fps: count, steps, count, theme=theme, inks=inks_of_themes())


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
    pictures = _LessonPictures(shown, engine_of, manner, changed, answers)
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
            yield LessonStep(structs.replace(stop.shot, at=Position()))
        yield stop


class _LessonPictures(Struct, frozen=True):
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
            yield structs.replace(step, rows=[], phase=0)
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
