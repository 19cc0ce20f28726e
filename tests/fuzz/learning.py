"""Questions that are made of runs, and what students write into blanks."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hypothesis import strategies as st
from msgspec import structs

from gemmviz.cuda.launch.catalog import kernel_names, lesson_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.teaching.exercises import judged
from gemmviz.teaching.lesson import LessonStep, answers_of
from gemmviz.teaching.lesson_file import lesson_text, parse_lesson, shipped_lesson
from gemmviz.teaching.pack import moodle_xml
from gemmviz.teaching.quiz import quiz_of
from tests.fuzz.campaign import Campaign
from tests.fuzz.drawing import INTERPRETER
from tests.fuzz.mutators import MARKUP, NUMBERS, WORDS

_SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 31)
_TEXTS = ("Tiled", "", "x" * 300, MARKUP, "a & b < c", "\x0c", "\x1b[31m", "]]>", "é𝄞\u202e", "{M}", "'''", '"')
_MOODLE_TAGS = {"p", "/p", "pre", "/pre"}


# Quizzes


def _quizzes() -> st.SearchStrategy[bytes]:
    facts = st.fixed_dictionaries({
        "kernel": st.sampled_from(kernel_names()), "sizes": st.tuples(*[st.sampled_from(_SIZES)] * 3),
        "width": st.sampled_from((None, 1, 2, 3, 4, 8)), "device": st.sampled_from(("h200", "8800gtx", "rx6800xt", "toy2")),
        "count": st.sampled_from((1, 2, 3, 5, 10, 40, 0)), "variant": st.integers(-(2**70), 2**70), "title": st.sampled_from(_TEXTS),
    })  # fmt: skip
    return facts.map(lambda each: json.dumps(each).encode())


def _each_quiz() -> Sequence[bytes]:
    """Each kernel with its own sizes, each text, each device."""
    return [
        json.dumps(
            {"kernel": kernel, "sizes": None, "width": None, "device": device, "count": 3, "variant": 0, "title": text}
        ).encode()
        for text in _TEXTS
        for kernel in kernel_names()
        for device in ("h200", "toy4")
    ]


def _ask(path: Path) -> None:
    """A quiz is the same each time, each question has one right answer, and it can be read again wherever it is written."""
    facts = json.loads(path.read_bytes())
    kernel = load_kernel(facts["kernel"])
    kernel = structs.replace(kernel, title=facts["title"], text=f"{kernel.text}\n// {facts['title']}\n", is_shipped=False)
    parameters = {each.name: facts["width"] for each in kernel.parameters if facts["width"] and "WIDTH" in each.name}
    setup = setup_for(kernel, Problem(*facts["sizes"]) if facts["sizes"] else None, parameters, device=facts["device"])
    quiz = quiz_of(setup, INTERPRETER, facts["count"], facts["variant"])
    assert quiz == quiz_of(setup, INTERPRETER, facts["count"], facts["variant"]), "the same quiz is another one"
    assert len(quiz.steps) == facts["count"]
    for stop in quiz.steps:
        assert stop.question is not None
        texts = [choice.text for choice in stop.question.choices]
        assert len(set(texts)) == len(texts), "a choice stands there twice"
        assert all(choice.why for choice in stop.question.choices)
    tree = ET.fromstring(moodle_xml(quiz).encode())
    assert len(tree.findall("question[@type='multichoice']")) == facts["count"]
    for each in tree.findall("question/questiontext/text"):
        assert set(re.findall(r"<(/?\w+)", each.text or "")) <= _MOODLE_TAGS, "a text became markup"
    again = parse_lesson(lesson_text(quiz), str(path))
    assert [stop.question for stop in again.steps] == [stop.question for stop in quiz.steps], "a saved quiz is another one"


# Answers


@cache
def _exercises() -> list[LessonStep]:
    """Steps of the course that a student fills in or brings about."""
    return [stop for name in lesson_names() for stop in shipped_lesson(name).steps if stop.exercise is not None]


def _right(stop: LessonStep) -> tuple[str, ...]:
    assert stop.exercise is not None
    return answers_of(stop.exercise.key) if stop.exercise.key and stop.shot.setup.kernel.blanks else ()


def _answers() -> st.SearchStrategy[bytes]:
    """Which exercise, and changes to the right answers: which blank, and what is written there instead."""
    word = st.sampled_from((*WORDS, *NUMBERS)) | st.text(max_size=8)
    written = word | st.lists(word, max_size=6).map(" ".join) | word.map(lambda each: each * 500)
    changes = st.lists(st.tuples(st.integers(0, 20), written), max_size=3)
    return st.tuples(st.integers(0, 1000), changes).map(lambda each: json.dumps(each).encode())


def _each_answer() -> Sequence[bytes]:
    stops = range(len(_exercises()))
    plain: list[tuple[int, list[tuple[int, str]]]] = [(number, []) for number in stops]
    changed = [
        (number, [(blank, word)])
        for number in stops
        for blank in range(len(_right(_exercises()[number])))
        for word in (
            "",
            "0",
            "-1",
            "1e400",
            "threadIdx.x",
            "__syncthreads();",
            "}",
            "/*",
            "*/",
            '"',
            "\x0c",
            "while (true) {}",
            MARKUP,
        )
    ]
    return [json.dumps(each).encode() for each in (*plain, *changed)]


def _judge(path: Path) -> None:
    """The right answers pass; anything else gets a verdict in words."""
    number, changes = json.loads(path.read_bytes())
    stop = _exercises()[number % len(_exercises())]
    assert stop.exercise is not None
    answers = list(_right(stop))
    for blank, written in changes:
        if answers:
            answers[blank % len(answers)] = written
    is_right = bool(answers) and tuple(answers) == _right(stop)
    verdict = judged(stop.exercise, stop.shot, Interpreter(), tuple(answers))
    assert "".join(verdict.lines).strip(), "a verdict without words"
    assert verdict.passed or not is_right, f"the right answers don't pass: {verdict.lines}"


CAMPAIGNS = {
    "quizzes": Campaign(".json", _quizzes, _ask, _each_quiz),
    "answers": Campaign(".json", _answers, _judge, _each_answer),
}
