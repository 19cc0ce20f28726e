"""Questions of a lesson in the XML format of Moodle's question import."""

from html import escape
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gemmviz.render.xml import legible
from gemmviz.teaching.lesson import Lesson, Question


def moodle_xml(quiz: Lesson) -> str:
    """The questions of ``quiz`` as multiple-choice questions, with the reasons as feedback. Each question stands alone: it
    names the launch that it is about and shows the kernel with numbered lines.
    """
    root = Element("quiz")
    for step in quiz.stops:
        if step.question is not None:
            about = _paragraph(quiz.about) + _listing(step.shot.setup.kernel.text)
            root.append(_question(step.question, f"{quiz.title}: {step.title}", about))
    indent(root, "")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _question(question: Question, name: str, about: str) -> Element:
    """One question; ``about`` is HTML in front of it."""
    element = Element("question", type="multichoice")
    _text(SubElement(element, "name"), name)
    _text(SubElement(element, "questiontext", format="html"), about + _paragraph(question.text))
    for tag, value in (("defaultgrade", "1"), ("single", "true"), ("shuffleanswers", "true"), ("answernumbering", "ABCD")):
        SubElement(element, tag).text = value
    for choice in question.choices:
        answer = SubElement(element, "answer", fraction="100" if choice.right else "0", format="html")
        _text(answer, escape(choice.text))
        _text(SubElement(answer, "feedback", format="html"), escape(choice.why))
    return element


def _text(element: Element, text: str) -> None:
    """Add ``text`` as a child element ``<text>``."""
    SubElement(element, "text").text = legible(text)


def _paragraph(text: str) -> str:
    """A text as a paragraph of HTML."""
    return f"<p>{escape(text)}</p>"


def _listing(text: str) -> str:
    """A text as HTML with numbered lines."""
    lines = text.rstrip().split("\n")
    numbered = "\n".join(f"{number:>{len(str(len(lines)))}}  {line}" for number, line in enumerate(lines, 1))
    return f"<pre>{escape(numbered)}</pre>"
