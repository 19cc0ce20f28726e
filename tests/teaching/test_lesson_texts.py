"""Texts of lessons: their numbers are computed, those of a caption are named, and errors have file and line."""

from pathlib import Path

import pytest
from msgspec import structs

from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import lesson_names, load_kernel, plan_names
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import default_shot
from gemmviz.teaching.captions import filled_step, parts_of
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.lesson_file import parse_lesson, shipped_lesson
from gemmviz.teaching.quantities.catalog import quantity_value
from gemmviz.teaching.text_checks import text_errors, typed_numbers
from tests.conftest import sure

OWN = [name for name in lesson_names() if name not in plan_names()]
HEAD = 'format = "gemmviz lesson"\nversion = 4\ntitle = "Mine"\n\n'
STEP = '[[step]]\ntitle = "One"\nshot.setup.kernel = "04_tiled"\n'


def filled(lesson: str) -> LessonStep:
    (stop,) = parse_lesson(HEAD + STEP + lesson).steps
    return filled_step(stop, Knowledge(stop.shot, Interpreter()))


def test_all_texts_of_a_step_have_computed_numbers() -> None:
    step = filled(
        'caption = "{n} blocks"\ntext = "It has {n}."\nnotes = "Ask why {n}, {other} or {none}"\n'
        'expect = [{ quantity = "block_count", is = 4, name = "n" }, { quantity = "gflops(kernel=none, n=1)", is = 1, name = "none" }]\n'
        'question = { text = "Why {n}?", choices = [{ text = "{n}", right = true, why = "{n} = 4" }, { text = "8" }] }\n'
    )
    assert (step.caption, step.text, step.notes) == ("4 blocks", "It has 4.", "Ask why 4, {other} or ?")
    assert sure(step.question).texts == ("Why 4?", "4", "4 = 4", "8", "")


def test_a_text_waits_for_its_numbers() -> None:
    (stop,) = parse_lesson(HEAD + STEP.replace("One", "{n}") + 'caption = "{n}"\nexpect = [{ quantity = "block_count", is = 4, name = "n" }]\n').steps  # fmt: skip
    (part,) = parts_of(stop)
    assert (part.caption.title, part.caption.caption) == ("4", "")


@pytest.mark.parametrize(
    ("caption", "typed"),
    [
        ("{n} blocks on a G80, an A100 or an H200", []), ("16 blocks", ["16"]), ("tile4 and 4tiles", ["4tiles"]), ("C[0, 1]", ["0", "1"]),
        ("T/4 of 86.4 GB/s", ["4", "86", "4"]), ("N² · 2N³", ["2N³"]), ("sh_A and _2", ["_2"]), ("², ½", ["²", "½"]),
        ("Seven reads, two of them twice", ["Seven", "twice"]), ("from compute capability 9.0 on", []), ("compute capability 9.1", ["9", "1"]),
    ],
)  # fmt: skip
def test_typed_numbers_of_a_caption_are_found(caption: str, typed: list[str]) -> None:
    assert typed_numbers(caption) == typed


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Half of the threads work", ["Half"]), ("the halves of a row", ["halves"]), ("a width halved twice", ["halved", "twice"]),
        ("a half-warp", ["half"]), ("a quarter without tiles", ["quarter"]), ("three of its quarters", ["three", "quarters"]),
        ("Twice as wide", ["Twice"]), ("read thrice", ["thrice"]), ("a tenfold gain", ["tenfold"]), ("one third of it", ["third"]),
        ("two thirds of it", ["thirds"]), ("a third more", ["third"]), ("less by a third.", ["a third"]),
        ("the third power of N", ["third power"]), ("the second power of N", ["second power"]), ("a fifth of the time", ["fifth"]),
        ("double the width", ["double"]), ("Each step doubles the rows", ["doubles"]), ("the width doubles.", ["doubles"]),
        ("double as many blocks", ["double"]), ("when N is doubled", ["doubled"]), ("doubling N", ["doubling"]),
    ],
)  # fmt: skip
def test_fractions_multiples_and_powers_in_words_are_found(text: str, typed: list[str]) -> None:
    assert sorted(typed_numbers(text)) == sorted(typed)


@pytest.mark.parametrize(
    "text",
    [
        "A third block needs more", "too few for a third block.", "the third k", "third parties", "the third of them", "the second half",
        "the first half each add", "an element of the other half", "the last, fourth quarter", "the second of two",
        "A double takes more bytes", "the double units", "in double precision", "summed in double", "in double the error is smaller",
        "a sum of doubles.", "Doubles take more bytes", "unfold the loop", "behalf",
    ],
)  # fmt: skip
def test_ordinals_and_the_type_double_are_no_numbers(text: str) -> None:
    assert typed_numbers(text) == []


def test_a_typed_number_and_an_unknown_name_are_refused_with_their_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        HEAD + STEP + 'caption = "4 blocks"\nnotes = "{m}"\nexpect = [{ quantity = "block_count", is = 4, name = "n" }]\n'
    )
    assert main(["lesson", "check", str(path)]) == 1
    errors = capsys.readouterr().err
    assert f"{path}:8:1: step 1, One: the caption: the number 4 is typed" in errors
    assert f"{path}:9:1: step 1, One: the notes: no expectation has the name {{m}}" in errors


@pytest.mark.parametrize("name", OWN)
def test_no_text_has_a_typed_number(name: str) -> None:
    typed = {stop.id: [str(error) for _, error in text_errors(stop)] for stop in shipped_lesson(name).steps}
    assert {id: errors for id, errors in typed.items() if errors} == {}


@pytest.mark.parametrize("name", lesson_names())
def test_an_expectation_has_the_file_and_the_line_where_it_is_written(name: str) -> None:
    for stop in shipped_lesson(name).steps:
        lines = Path(stop.file).read_text(encoding="utf-8").splitlines()
        assert f'id = "{stop.id.rpartition("/")[2]}"' == lines[sure(stop.place).line]
        for number, each in enumerate(stop.expect):
            place = sure(stop.written.place("expect", number))
            assert f'"{each.quantity}"' in lines[place.line - 1], (stop.id, each.quantity)


def test_a_kernel_that_stores_nothing_is_not_right() -> None:
    for kernel, found in (("piece_4", "unwritten"), ("one_element", "right")):
        shot = structs.replace(default_shot(), setup=setup_for(load_kernel(kernel)))
        assert quantity_value("result", Knowledge(shot, Interpreter())) == found
