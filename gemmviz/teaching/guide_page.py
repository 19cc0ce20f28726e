"""The page for somebody who gives a lesson for the first time: for each part of it one idea, one demonstration with its keys,
one number, and one question with the usual wrong answers.
"""

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

from gemmviz.model.errors import UsageError
from gemmviz.model.translation import tr
from gemmviz.render.reel import Frame, Reel, Slide, Step
from gemmviz.run.choosing import EngineOf
from gemmviz.scenes.kit.layout import LINE_PITCH, Box, Paragraph, Share, paragraphs_in
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.theme import Style, Theme, load_theme
from gemmviz.shots.export import inks_of_themes
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.captions import filled_step
from gemmviz.teaching.lesson import Guide, Lesson, LessonStep

PAPER = 1240.0, 1754.0  # A4 in units, 150 for an inch
_MARGIN, _GAP, _AIR = 66.0, 22.0, 0.15  # air above a paragraph: of the size of its text
_MOST_PARTS = 9  # on a page: of a lesson of ninety minutes
_TITLE, _SIZES = (
    36.0,
    (23.0, 22.0, 21.0, 20.0, 19.0, 18.0, 17.5, 17.0, 16.5, 16.0, 15.5, 15.0),
)  # of the text: the largest that fits
_TextRole = Literal["strong", "plain", "faint"]


class GuidePart(Struct, frozen=True):
    """A part of a lesson: its guide, the number of its first step, and the minutes from ``first`` to ``last``."""

    guide: Guide
    number: int
    first: float
    last: float

    @property
    def place(self) -> str:
        return tr(
            "Minutes {first} to {last}, from step {number}", first=f"{self.first:g}", last=f"{self.last:g}", number=self.number
        )


def guide_parts(lesson: Lesson) -> list[GuidePart]:
    """The parts of a lesson, one from each step that has a guide to the next."""
    starts = [sum(step.minutes for step in lesson.steps[:place]) for place in range(len(lesson.steps))]
    places = [place for place, step in enumerate(lesson.steps) if step.guide is not None]
    ends = [*(starts[place] for place in places[1:]), lesson.minutes]
    found = zip(places, ends, strict=True) if places else ()
    return [
        GuidePart(guide, place + 1, starts[place], end)
        for place, end in found
        for guide in [lesson.steps[place].guide]
        if guide is not None
    ]


def guide_at(lesson: Lesson, place: int) -> GuidePart | None:
    """The part of a lesson that the step at an index is in, with the numbers that are expected; None before the first."""
    parts = guide_parts(with_guides_filled(lesson, LessonStep.with_expected_numbers))
    return next((part for part in reversed(parts) if part.number <= place + 1), None)


def guide_lines(part: GuidePart) -> tuple[list[tuple[_TextRole, str]], list[tuple[_TextRole, str]]]:
    """What a part says, as texts with the roles in which they are written: what to do, and what to ask."""
    guide, question = part.guide, part.guide.question
    done: list[tuple[_TextRole, str]] = [
        ("faint", f"{part.place} · {', '.join(guide.keys)}"),
        ("strong", guide.idea),
        ("plain", tr("Show: {what}", what=guide.show)),
        ("plain", tr("Number: {sentence}", sentence=guide.number)),
    ]
    asked: list[tuple[_TextRole, str]] = [("strong", tr("Ask: {question}", question=question.text))]
    for choice in sorted(question.choices, key=lambda choice: not choice.right):
        said = tr(". ").join([f"{'✓' if choice.right else '✗'} {choice.text}", choice.why])
        asked.append(("strong" if choice.right else "plain", said))
    return done, asked


def guide_scenes(lesson: Lesson, theme: Theme) -> list[Scene]:
    """The page of a lesson whose texts have their numbers, or the pages of a long one. Raises UsageError for a lesson without
    guides.
    """
    parts = guide_parts(lesson)
    if not parts:
        raise UsageError(tr("the lesson {name} has no guide for the lecturer", name=f"{lesson.name or lesson.title!r}"))
    pages = [parts[first : first + _MOST_PARTS] for first in range(0, len(parts), _MOST_PARTS)]
    return [_page(lesson, page, number, len(pages), theme) for number, page in enumerate(pages, 1)]


def _page(lesson: Lesson, parts: list[GuidePart], number: int, count: int, theme: Theme) -> Scene:
    page = Box(0.0, 0.0, *PAPER).inset(_MARGIN)
    minutes = tr("{minutes} minutes, {steps} steps", minutes=f"{lesson.minutes:g}", steps=len(lesson.steps))
    place = tr("page {number} of {count}", number=number, count=count)
    facts = tr(". ").join([minutes, *([place] if count > 1 else []), lesson.about])
    head = [
        Paragraph.wrapped("title", lesson.title, Style(_TITLE, theme.text, "semibold"), page),
        Paragraph.wrapped("about", facts, Style(_SIZES[3], theme.faint), page),
    ]
    words, rest = paragraphs_in(page, head, 8.0)
    body = rest.trimmed(top=_GAP)
    size = next((each for each in _SIZES if _height(parts, body, each, theme) <= body.height), _SIZES[-1])
    drawn: list[Primitive] = [*words]
    for part in parts:
        drawn.append(Rects(f"rule-{part.number}", boxes((body.x, body.y - _GAP / 2, body.width, 1.5)), theme.line))
        high = _height([part], body, size, theme)
        for box, column in zip(_columns(body), _part_columns(part, body, size, theme), strict=True):
            drawn += paragraphs_in(box, column, _AIR * size)[0]
        body = body.trimmed(top=high)
    said = "\n".join(text for part in parts for column in guide_lines(part) for _, text in column)
    return Scene(*PAPER, theme.background, tuple(drawn), title=lesson.title, description=said)


def _columns(body: Box) -> list[Box]:
    return body.columns(Share(9), Share(13), gap=_GAP)


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


def _height(parts: list[GuidePart], body: Box, size: float, theme: Theme) -> float:
    """The height of parts, one below the other."""
    columns = (_part_columns(part, body, size, theme) for part in parts)
    return sum(max(sum(each.height(LINE_PITCH) + _AIR * size for each in column) for column in part) + _GAP for part in columns)


def with_guides_filled(lesson: Lesson, filled: Callable[[LessonStep], LessonStep]) -> Lesson:
    """A lesson in which the guides have their numbers."""
    return Lesson(
        lesson.title,
        tuple(step if step.guide is None else filled(step) for step in lesson.steps),
        lesson.about,
        name=lesson.name,
    )


def guide_reel(lesson: Lesson, engine_of: EngineOf, theme: str) -> Reel:
    """The page of a lesson as a picture, or the pages of a long one. Raises UsageError for a lesson without guides."""

    def filled(step: LessonStep) -> LessonStep:
        with engine_of(step.shot.setup.kernel) as engine:
            return filled_step(step, Knowledge(step.shot, engine))

    scenes = guide_scenes(with_guides_filled(lesson, filled), load_theme(theme))

    def slides() -> Iterator[Slide]:
        yield from (Slide(scene, lesson.title, scene.description) for scene in scenes)

    def frames(fps: int) -> Iterator[Frame]:
        yield from map(Frame, scenes)

    def steps() -> Iterator[Step]:
        for scene in scenes:
            yield Step({theme: scene}, {theme: scene}, {theme: ()}, lesson.title, scene.description)

    count = len(scenes)
    return Reel(lesson.title, slides, count, frames, lambda fps: count, steps, count, theme=theme, inks=inks_of_themes())
