"""Questions in the XML format of Moodle's question import."""

from collections.abc import Iterator
from xml.sax.saxutils import escape

from gemmviz.show.lesson import Lesson, Question


def moodle_xml(quiz: Lesson) -> str:
    """One multiple choice for each question, the reasons as feedback. Each stands alone: it says which launch it is about, and
    shows the kernel with its lines numbered.
    """
    found = ['<?xml version="1.0" encoding="UTF-8"?>', "<quiz>"]
    for stop in quiz.stops:
        if stop.question is not None:
            about = f"<p>{escape(quiz.about)}</p><pre>{escape(_numbered(stop.shot.setup.kernel.text))}</pre>"
            found += list(_moodle(stop.question, f"{quiz.title}: {stop.title}", about))
    return "\n".join([*found, "</quiz>", ""])


def _numbered(text: str) -> str:
    lines = text.rstrip().split("\n")
    return "\n".join(f"{number:>{len(str(len(lines)))}}  {line}" for number, line in enumerate(lines, 1))


def _moodle(question: Question, name: str, about: str) -> Iterator[str]:
    yield '<question type="multichoice">'
    yield f"<name><text>{escape(name)}</text></name>"
    text = f"{about}<p>{escape(question.text)}</p>"
    yield f'<questiontext format="html"><text>{escape(text)}</text></questiontext>'
    yield "<defaultgrade>1</defaultgrade><single>true</single><shuffleanswers>true</shuffleanswers>"
    yield "<answernumbering>ABCD</answernumbering>"
    for choice in question.choices:
        yield f'<answer fraction="{100 if choice.right else 0}" format="html"><text>{escape(escape(choice.text))}</text>'
        yield f'<feedback format="html"><text>{escape(escape(choice.why))}</text></feedback></answer>'
    yield "</question>"
