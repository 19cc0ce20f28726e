"""Questions made from traces: the choices, the formats they are written in, and what they say."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from msgspec import structs

from gemmviz.analysis.listing import printed_source
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import UsageError
from gemmviz.model.problem import Problem
from gemmviz.model.sites import PLAIN, LabelStyle
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.teaching.lesson import Question
from gemmviz.teaching.lesson_file import read_lesson, save_lesson
from gemmviz.teaching.pack import moodle_xml
from gemmviz.teaching.quiz import quiz_of
from tests.conftest import sampled, sure

EACH = 40  # of every shipped kernel: more than 300 in all


@pytest.mark.parametrize("kernel", sampled(kernel_names(), 8))
def test_forty_questions_about_every_kernel_have_one_right_answer_each(kernel: str) -> None:
    quiz = quiz_of(setup_for(load_kernel(kernel)), Interpreter(), EACH)
    texts = [sure(stop.question).text for stop in quiz.steps]
    assert len(set(texts)) == len(texts) == EACH
    for stop in quiz.steps:
        question = sure(stop.question)
        answers = [choice.text for choice in question.choices]
        assert 3 <= len(set(answers)) == len(answers) <= 4
        assert sum(choice.right for choice in question.choices) == 1
        assert all(choice.why and choice.shot is not None for choice in question.choices)
    assert len(kernel_names()) * EACH >= 300


def test_the_same_variant_asks_the_same() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(8, 8, 8))
    assert quiz_of(setup, Interpreter(), 6, 5) == quiz_of(setup, Interpreter(), 6, 5)
    assert quiz_of(setup, Interpreter(), 6, 5) != quiz_of(setup, Interpreter(), 6, 6)


def test_more_than_a_run_has_to_ask_is_refused() -> None:
    with pytest.raises(UsageError, match="this run gives"):
        quiz_of(setup_for(load_kernel("sequential"), Problem(1, 1, 1)), Interpreter(), 60)
    with pytest.raises(UsageError, match="at least one"):
        quiz_of(setup_for(load_kernel("04_tiled")), Interpreter(), 0)


def test_for_moodle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One import file: a category, questions whose names and ids differ, one right answer each."""
    files = {sizes: tmp_path / f"{sizes}.xml" for sizes in ("8", "16")}
    for sizes, path in files.items():
        words = ["quiz", "04_tiled", "-m", sizes, "--count", "8", "--moodle", str(path), "--answers"]
        assert main(words) == 0
        assert capsys.readouterr().out.count("right: ") == 8
    texts = {name: [sure(each.text) for path in files.values() for each in tree(path).findall(name)] for name in (NAME, ID)}
    assert all(len(set(each)) == len(each) == 16 for each in texts.values())
    assert all(len(each) <= 255 for each in texts[NAME])
    questions = tree(files["8"]).findall("question")
    assert [each.get("type") for each in questions] == ["category", *["multichoice"] * 8]
    category = sure(questions[0].findtext("category/text"))
    assert category == "$course$/top/gemmviz/04_tiled, TILE_WIDTH = 4, 8 × 8 × 8, NVIDIA H200"
    for each in questions[1:]:
        assert sum(answer.get("fraction") == "100" for answer in each.findall("answer")) == 1
        assert all(sure(answer.findtext("feedback/text")) for answer in each.findall("answer"))
        html = sure(each.findtext("questiontext/text"))
        assert "04_tiled, TILE_WIDTH = 4, M = 8, N = 8, K = 8, on NVIDIA H200: a grid of 2 × 2, blocks of 4 × 4" in html
        assert "__syncthreads();" in html


NAME, ID = "question[@type='multichoice']/name/text", "question[@type='multichoice']/idnumber"


def tree(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_text(encoding="utf-8"))


def test_a_slash_in_a_category_is_doubled() -> None:
    kernel = structs.replace(load_kernel("04_tiled"), name="a/b", is_shipped=False)
    xml = moodle_xml(quiz_of(setup_for(kernel), Interpreter(), 1))
    assert "gemmviz/a//b, TILE_WIDTH" in xml


@pytest.mark.parametrize(
    "kernel", sampled(["07_tiled_transposed -D TILE_WIDTH=16 -m 16 -n 16 -k 32", "04_tiled", "no_second_barrier", "cube_block"])
)
def test_a_saved_quiz_checks_its_answers(kernel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each question has an expectation that the run confirms; a wrong one is found."""
    path = tmp_path / "quiz.toml"
    assert main(["quiz", *kernel.split(), "--count", "4", "-o", str(path)]) == 0
    lesson = read_lesson(path)
    assert main(["lesson", "check", str(path)]) == 0
    for stop in lesson.steps:
        question = sure(stop.question)
        right = question.choices[question.right]
        if "barrier" not in question.text:
            numbers = iter(re.findall(r"\d+", str(right.expect[0].value)))
            assert all(each in numbers for each in re.findall(r"\d+", right.text))
    wrong = [structs.replace(stop, question=with_another_right(sure(stop.question))) for stop in lesson.steps]
    save_lesson(structs.replace(lesson, steps=tuple(wrong)), path)
    capsys.readouterr()
    assert main(["lesson", "check", str(path)]) == 1
    errors = capsys.readouterr().err
    assert errors.count("nothing says that it is right") == errors.count("it is marked wrong, and what it expects is true") == 4


def with_another_right(question: Question) -> Question:
    """The question with another choice marked right."""
    other = (question.right + 1) % len(question.choices)
    choices = tuple(structs.replace(each, right=at == other) for at, each in enumerate(question.choices))
    return Question(question.text, choices)


def test_notation_is_that_of_the_labels() -> None:
    setup = setup_for(load_kernel("early_return"), Problem(6, 6, 6), {"BLOCK": 4})
    plain, other = (quiz_of(setup, Interpreter(), 6, labels=labels) for labels in (PLAIN, LabelStyle("column, row", 1, "y, x")))
    assert "Elements are written as [row, column] and counted from 0; threads and blocks as (x, y)" in plain.about
    assert "Elements are written as [column, row] and counted from 1; threads and blocks as (y, x)" in other.about
    for stop in plain.steps:
        twin = next((each for each in other.steps if each.shot.at == stop.shot.at and each.shot.focus == stop.shot.focus), None)
        question = sure(stop.question)
        if twin is None or "Which element" not in question.text:
            continue
        row, column = map(int, re.findall(r"\d+", question.choices[question.right].text))
        same = sure(twin.question)
        assert re.findall(r"\d+", same.choices[same.right].text) == [str(column + 1), str(row + 1)]
        break
    else:
        pytest.fail("no question about an element is in both quizzes")


def test_barriers_are_taken_out_wherever_they_are_written() -> None:
    kernel = load_kernel("04_tiled")
    spaced = structs.replace(kernel, text=kernel.text.replace("__syncthreads();", "__syncthreads( ) ;"), is_shipped=False)
    asked = {
        sure(stop.question).text: sure(stop.question)
        for stop in quiz_of(setup_for(spaced), Interpreter(), EACH).steps
        if "barrier" in sure(stop.question).text
    }
    assert len(asked) == 2
    assert {question.choices[question.right].text.split()[2] for question in asked.values()} == {"reads", "overwrites"}


def test_the_printed_source_gives_nothing_away() -> None:
    """Neither header nor comments; the numbers are those of the file."""
    kernel = load_kernel("07_tiled_transposed")
    lines = kernel.text.split("\n")
    printed = printed_source(kernel)
    assert printed.lines[0][1].startswith('extern "C"')
    assert not any("//" in line or "32 wavefronts" in line for _, line in printed.lines)
    assert all(lines[number - 1].startswith(line) for number, line in printed.lines)
    assert (42, "        tileA[x][y] = A[row * K + k0 + x];") in printed.lines
    text = 'int a; /* one\n two */ int b; // three\nchar c = \'"\'; const char* d = "// no comment";\n// four\n/*?*/\n'
    odd = printed_source(structs.replace(kernel, text=text))
    assert odd.lines == ((1, "int a;"), (2, " int b;"), (3, 'char c = \'"\'; const char* d = "// no comment";'), (5, "/*?*/"))


def test_a_kind_without_variety_is_left_out() -> None:
    """Requests of one cost, and barriers that are all alike, are not asked about."""
    tiled = [sure(stop.question).text for stop in quiz_of(setup_for(load_kernel("04_tiled")), Interpreter(), 30).steps]
    assert not any("sectors" in text or "wavefronts" in text for text in tiled)
    assert sum("barrier" in text for text in tiled) == 2
    tree = [sure(stop.question).text for stop in quiz_of(setup_for(load_kernel("reduction_tree")), Interpreter(), 20).steps]
    assert not any("barrier" in text for text in tree)


def test_the_offset_of_an_element_is_computed_from_its_row_and_column() -> None:
    questions = [sure(stop.question) for stop in quiz_of(setup_for(load_kernel("04_tiled")), Interpreter(), EACH).steps]
    told = "\n".join(question.choices[question.right].why for question in questions)
    offsets = re.findall(r"at offset (\d+) = (\d+) · (\d+) \+ (\d+)", told)
    assert offsets
    for offset, outer, length, inner in (map(int, each) for each in offsets):
        assert offset == outer * length + inner


def test_one_too_far_is_the_next_lane() -> None:
    questions = [sure(stop.question) for stop in quiz_of(setup_for(load_kernel("04_tiled")), Interpreter(), EACH).steps]
    pairs = [
        (question.choices[question.right].text, choice.text)
        for question in questions
        for choice in question.choices
        if choice.why.startswith("one too far: threads and lanes")
    ]
    assert pairs
    for right, wrong in pairs:
        (warp, lane), (other_warp, other_lane) = (map(int, re.findall(r"\d+", text)) for text in (right, wrong))
        assert other_warp * 32 + other_lane == warp * 32 + lane + 1


def test_answers_are_printed_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    for flags in ((), ("--answers",)):
        assert main(["quiz", "04_tiled", "--count", "3", *flags]) == 0
        printed = capsys.readouterr().out
        assert (printed.count("   right: "), "   wrong: " in printed) == ((3, True) if flags else (0, False))
