"""Questions in the XML format of Moodle's question import."""

from collections.abc import Iterator
from html import escape
from itertools import chain

from gemmviz.render.xml import xml_text
from gemmviz.teaching.lesson import Lesson, Question


def moodle_xml(quiz: Lesson) -> str:
    """One multiple-choice question for each question of a quiz, with the reasons as feedback. Each stands alone: it names the
    launch that it is about and shows the kernel with numbered lines.
    """
    questions = (
        _moodle(stop.question, f"{quiz.title}: {stop.title}", [_paragraph(quiz.about), _listing(stop.shot.setup.kernel.text)])
        for stop in quiz.stops
        if stop.question is not None
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', "<quiz>", *chain.from_iterable(questions), "</quiz>", ""])


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _listing(text: str) -> str:
    """A text as HTML, its lines numbered."""
    lines = text.rstrip().split("\n")
    numbered = "\n".join(f"{number:>{len(str(len(lines)))}}  {line}" for number, line in enumerate(lines, 1))
    return f"<pre>{escape(numbered)}</pre>"


def _moodle(question: Question, name: str, about: list[str]) -> Iterator[str]:
    """The lines of one question. HTML is the content of XML elements here, so it is escaped once more."""
    yield '<question type="multichoice">'
    yield f"<name><text>{xml_text(name)}</text></name>"
    yield f'<questiontext format="html"><text>{xml_text("".join([*about, _paragraph(question.text)]))}</text></questiontext>'
    yield "<defaultgrade>1</defaultgrade><single>true</single><shuffleanswers>true</shuffleanswers>"
    yield "<answernumbering>ABCD</answernumbering>"
    for choice in question.choices:
        yield f'<answer fraction="{100 if choice.right else 0}" format="html"><text>{xml_text(escape(choice.text))}</text>'
        yield f'<feedback format="html"><text>{xml_text(escape(choice.why))}</text></feedback></answer>'
    yield "</question>"
