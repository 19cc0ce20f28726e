"""Questions made from traces: each has one right answer, which is what the run says."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gemmviz.analysis.replay.moment import Reader
from gemmviz.cli.main import main
from gemmviz.launch.catalog import kernel_names, load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.errors import UsageError
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.kit.beat import element_text
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.lesson import Question
from gemmviz.teaching.lesson_file import read_lesson
from gemmviz.teaching.moodle import moodle_xml
from gemmviz.teaching.quantities.catalog import quantity_value
from gemmviz.teaching.quiz import quiz_of
from tests.conftest import sure

EACH = 40  # of every shipped kernel: more than 300 in all


@pytest.mark.parametrize("kernel", kernel_names())
def test_forty_questions_about_every_kernel_have_one_right_answer_each(kernel: str) -> None:
    quiz = quiz_of(setup_for(load_kernel(kernel)), Interpreter(), EACH)
    texts = [sure(stop.question).text for stop in quiz.stops]
    assert len(set(texts)) == len(texts) == EACH
    for stop in quiz.stops:
        question = sure(stop.question)
        answers = [choice.text for choice in question.choices]
        assert 3 <= len(set(answers)) == len(answers) <= 4
        assert sum(choice.right for choice in question.choices) == 1
        assert all(choice.why and choice.shot is not None for choice in question.choices)
    assert len(kernel_names()) * EACH >= 300


@pytest.mark.parametrize("kernel", ["02_naive", "04_tiled", "07_tiled_transposed"])
def test_what_is_right_is_what_the_replay_says(kernel: str) -> None:
    """Asked again of the shot that shows the answer, in another way than the quiz asks."""
    checked = 0
    for stop in quiz_of(setup_for(load_kernel(kernel)), Interpreter(), EACH, seed=3).stops:
        question = sure(stop.question)
        right = question.choices[question.right].text
        facts = ShotFacts(stop.shot, Interpreter())
        if "sectors" in question.text:
            assert right.split()[0] == str(quantity_value("step_cost(measure=sectors)", facts))
        elif "wavefronts" in question.text:
            assert right == str(quantity_value("step_cost(measure=wavefronts)", facts))
        elif "warp and lane" in question.text:
            x, y, z = question.text.rpartition("(")[2].removesuffix(")?").split(", ")
            warp, lane = (quantity_value(f"{what}_of_thread(x={x}, y={y}, z={z})", facts) for what in ("warp", "lane"))
            assert right == f"warp {warp}, lane {lane}"
        else:
            continue
        checked += 1
    assert checked >= 10


@pytest.mark.parametrize(
    ("kernel", "right"), [("04_tiled", "none of them"), ("phases_by_ceil", "none of them")]
)  # fmt: skip
def test_no_barrier_may_go(kernel: str, right: str) -> None:
    quiz = quiz_of(setup_for(load_kernel(kernel)), Interpreter(), 12)
    asked = [sure(stop.question) for stop in quiz.stops if "barriers" in sure(stop.question).text]
    assert [each.choices[each.right].text for each in asked] == [right]


def test_the_same_variant_asks_the_same() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(8, 8, 8))
    assert quiz_of(setup, Interpreter(), 6, 5) == quiz_of(setup, Interpreter(), 6, 5)
    assert quiz_of(setup, Interpreter(), 6, 5) != quiz_of(setup, Interpreter(), 6, 6)


def test_more_than_a_run_has_to_ask_is_refused() -> None:
    with pytest.raises(UsageError, match="this run gives"):
        quiz_of(setup_for(load_kernel("sequential"), Problem(1, 1, 1)), Interpreter(), 500)
    with pytest.raises(UsageError, match="at least one"):
        quiz_of(setup_for(load_kernel("04_tiled")), Interpreter(), 0)


def test_for_moodle_and_as_a_lesson(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    xml, toml = tmp_path / "q.xml", tmp_path / "q.toml"
    assert main(["quiz", "04_tiled", "--count", "8", "--moodle", str(xml), "-o", str(toml), "--answers"]) == 0
    assert capsys.readouterr().out.count("right: ") == 8
    root = ElementTree.fromstring(xml.read_text(encoding="utf-8"))
    questions = root.findall("question")
    assert len(questions) == 8
    for each in questions:
        assert each.get("type") == "multichoice"
        assert sum(answer.get("fraction") == "100" for answer in each.findall("answer")) == 1
        text = sure(each.findtext("questiontext/text"))
        assert "04_tiled, TILE_WIDTH = 4, 8 × 8 × 8, on NVIDIA H200" in text  # it stands alone: with its launch and its kernel
        assert "__syncthreads();" in text
    lesson = read_lesson(toml)
    assert all(isinstance(stop.question, Question) for stop in lesson.stops)
    assert moodle_xml(lesson).count("<question ") == 8


def test_barriers_are_taken_out_wherever_they_are_written() -> None:
    kernel = load_kernel("04_tiled")
    spaced = replace(kernel, text=kernel.text.replace("__syncthreads();", "__syncthreads( ) ;"), is_shipped=False)
    question = next(
        sure(stop.question)
        for stop in quiz_of(setup_for(spaced), Interpreter(), EACH).stops
        if "barriers in lines" in sure(stop.question).text
    )
    assert question.choices[question.right].text == "none of them"
    assert "8 × 8 × 8" in question.text  # it speaks of this launch alone


def test_a_phase_earlier_is_read_off_the_run() -> None:
    """Also of a tile that is not as deep as it is wide."""
    setup = setup_for(load_kernel("08_register_tiled"))
    found = 0
    for stop in quiz_of(setup, Interpreter(), EACH, seed=1).stops:
        question = sure(stop.question)
        before = next((each for each in question.choices if "previous phase" in each.why), None)
        if before is None:
            continue
        cell, step = re.search(r"What does (\S+) .* after step (\d+)", question.text).groups()  # type: ignore[union-attr]
        replay = ShotFacts(stop.shot, Interpreter()).replay
        array, row, column = re.match(r"(\w+)\[(\d+)\]\[(\d+)\]", cell).groups()  # type: ignore[union-attr]
        number = sure(replay.trace.number_of(array))
        phase = int(replay.trace.phase[int(step) - 1])
        last = int(np.flatnonzero(replay.trace.phase < phase)[-1])
        moment = Reader(replay, stop.shot.focus).at(last)
        at = int(row) * replay.trace.arrays[number].shape[-1] + int(column)
        held = moment.tiles[number]
        assert before.text == element_text(replay.trace.arrays[int(held.array[at])], int(held.element[at]))
        found += 1
    assert found
