"""What ``lesson check`` finds besides wrong numbers: each default and each kind of question, broken once."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import GemmvizError
from gemmviz.model.problem import Problem
from gemmviz.run.choosing import engine_for
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Meaning, Rects, Scene, points
from gemmviz.scenes.kit.view import ViewOptions, message
from gemmviz.teaching.checking import LessonCheck, LessonChecker, other_setup, picture_errors, quick_setup
from gemmviz.teaching.lesson_file import parse_lesson

ENGINE = engine_for("cpu")
HEAD = 'format = "gemmviz lesson"\nversion = 4\n'
STEP = '[[step]]\ntitle = "One"\nshot.setup.kernel = "{}"\n'
READS = 'expect = [{ quantity = "elements(space=global, access=read)", is = 256 }]\n'
TILED = HEAD + STEP.format("04_tiled")


def checks(text: str) -> list[LessonCheck]:
    return list(LessonChecker(lambda kernel: nullcontext(ENGINE)).checks_of(parse_lesson(text, "mine.toml")))


def failures(text: str) -> list[str]:
    return [str(each.as_error()) for each in checks(text) if not each.is_true]


def test_c_is_checked_unless_the_step_says_otherwise(tmp_path: Path) -> None:
    subjects = [each.subject for each in checks(TILED + READS)]
    assert subjects == ["global memory reads, in elements", "C", "C at 9 x 11 x 13"]
    half = HEAD + STEP.format(own(tmp_path, lambda text: text.replace("+= ", "+= 0.5f * "))) + READS
    assert failures(half) == ["mine.toml:3:1: step 1, One: C is wrong, not right"]
    assert failures(half.replace("}]", '}, { quantity = "result", is = "wrong" }]')) == []
    unwritten = HEAD + STEP.format("piece_4") + READS.replace("256", "64")
    assert failures(unwritten) == ["mine.toml:3:1: step 1, One: C is unwritten, not right"]
    assert failures(unwritten.replace("}]", '}, { quantity = "result", is = "unwritten" }]')) == []


def test_a_fault_is_named_or_wrong() -> None:
    text = HEAD + STEP.format("no_else") + READS.replace("256", "133")
    (failure,) = failures(text)
    assert "C is not available: no_else.cu:45:22: sh_A[1][0] is read before it is written" in failure
    assert failures(text.replace("}]", '}, { quantity = "fault", is = "uninitialised-read" }]')) == []


def test_hazards_are_named_with_kind_and_array() -> None:
    text = HEAD + STEP.format("no_second_barrier") + READS.replace("256", "64")
    assert failures(text) == [
        f"mine.toml:3:1: step 1, One: write-after-read hazards of {array} is 16, not 0" for array in ("sh_A", "sh_B")
    ]
    one = text.replace("}]", '}, { quantity = "hazards(kind=write-after-read, array=sh_A)", is = 16 }]')
    assert failures(one) == ["mine.toml:3:1: step 1, One: write-after-read hazards of sh_B is 16, not 0"]
    assert failures(text.replace("}]", '}, { quantity = "hazards(kind=write-after-read)", is = 32 }]')) == []


def test_the_compared_launch_is_checked_too(tmp_path: Path) -> None:
    half = own(tmp_path, lambda text: text.replace("+= ", "+= 0.5f * "))
    text = TILED + f'shot.against.setup.kernel = "{half}"\nshot.view = "pair"\n' + READS
    assert failures(text) == ["mine.toml:3:1: step 1, One: C of the compared launch is wrong, not right"]
    assert failures(text.replace("}]", '}, { quantity = "compared_result", is = "wrong" }]')) == []


def test_a_large_launch_is_checked_with_smaller_sizes_and_says_so() -> None:
    text = (
        TILED
        + "shot.setup.problem = { M = 4096, N = 4096, K = 4096 }\nshot.setup.parameters = { TILE_WIDTH = 32 }\nshot.view = 'work'\n"
    )
    subjects = [each.subject for each in checks(text) if each.error is None]
    assert subjects == ["C at 64 x 64 x 64", "C at 65 x 67 x 69"]
    small = quick_setup(setup_for(load_kernel("unrolled"), Problem(1536, 1536, 1536), {"TILE_WIDTH": 12}))
    assert small.problem == Problem(48, 48, 48)  # what is left of a multiple of 12


def test_a_guard_that_only_other_sizes_need_is_advice_for_a_kernel_of_ones_own(tmp_path: Path) -> None:
    path = own(tmp_path, lambda text: text.replace("if (row < M && col < N)", "if (true)"))
    found = [each for each in checks(HEAD + STEP.format(path) + READS) if not each.is_true]
    assert [(each.subject, each.is_remark) for each in found] == [("C at 9 x 11 x 13", True)]
    unguarded = setup_for(load_kernel("05_tiled_unguarded"), Problem(16, 16, 16), {"TILE_WIDTH": 16})
    assert getattr(other_setup(unguarded), "problem", None) == Problem(32, 32, 32)


def own(folder: Path, changed: Callable[[str], str]) -> Path:
    """The kernel 04_tiled with a changed text, as a file of the user's."""
    text = load_kernel("04_tiled").text
    assert changed(text) != text
    path = folder / "mine.cu"
    path.write_text(changed(text))
    return path


def test_definitions_alone_are_remarked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TILED + 'expect = [{ quantity = "block_count", is = 4 }]\n')
    assert main(["lesson", "check", str(path)]) == 0
    assert f"{path}:3:1: remark: step 1, One: the expectations: they read back" in capsys.readouterr().err


# Pictures


def scene(*primitives: Cells | Rects | Lines | Labels) -> Scene:
    return Scene(1600, 900, "#000000", primitives)


def label(key: str, text: str, meaning: Meaning | None = None) -> Labels:
    return Labels(key, points((0, 0)), (text,), 20, "#ffffff", meaning=meaning)


CELLS = Cells("a", 0, 0, 10, np.zeros((1, 1), np.uint8), ("#000000",), ("#ffffff",))


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        (scene(CELLS), []),
        (scene(CELLS, label("code-lines", "?", "source")), []),
        (scene(label("title", "Title")), ["the picture is empty"]),
        (scene(Lines("grid", np.zeros((1, 4)), "#ffffff", meaning="frame"), Rects("bars", np.zeros((0, 4)))), ["the picture is empty"]),
        (scene(CELLS, message("No run", ViewOptions())), ["the picture is a message: No run"]),
        (scene(CELLS, label("count", "?")), ["a value in the picture is unknown: count reads ?"]),
        (scene(Cells("a", 0, 0, 10, np.zeros((1, 1), np.uint8), ("#000000",), ("#ffffff",), np.array([["?"]]))),
         ["a value in the picture is unknown: a reads ?"]),
    ],
)  # fmt: skip
def test_what_is_missing_in_a_picture_is_found(drawn: Scene, said: list[str]) -> None:
    found = [str(error) for error in picture_errors(drawn)]
    assert len(found) == len(said)
    assert all(text in error for text, error in zip(said, found, strict=True))


def test_a_view_that_has_nothing_to_show_fails() -> None:
    text = HEAD + STEP.format("02_naive") + 'shot.view = "phases"\n' + READS.replace("256", "65536")
    assert failures(text) == [
        "mine.toml:3:1: step 1, One: the view: the picture is a message: This kernel copies nothing to shared memory."
    ]


def test_a_schedule_that_is_not_recorded_is_not_replaced_by_a_model() -> None:
    text = (
        HEAD
        + STEP.format("04_tiled").replace("{", "{{")
        + 'shot.setup.problem = {{ M = 24, N = 24, K = 24 }}\nshot.view = "grid"\nexpect = [{{ quantity = "most_resident_blocks{}", is = 1 }}]\n'
    )
    (failure,) = failures(text.format(""))
    assert (
        "mine.toml:8:11: step 1, One: most blocks resident on an SM is not available: the schedule of this launch is not recorded"
        in failure
    )
    assert failures(text.format("(source=model)")) == []


def test_a_recording_that_is_missing_is_not_replaced_by_another() -> None:
    text = (
        TILED + 'shot.chart.source = "Recorded on Mars"\nexpect = [{ quantity = "gflops(kernel=04_tiled, n=4096)", is = 1 }]\n'
    )
    assert any("there is no recording 'Recorded on Mars'" in failure for failure in failures(text))


# Questions

FEW = '[[step.question.choices]]\ntext = "{few}"\nexpect = [{ quantity = "request_cost(array=A, measure=sectors)", is = 4, name = "few" }]\n'
QUESTION = (
    HEAD + STEP.format("02_naive") + 'shot.focus.warp = 0\nshot.setup.problem = { M = 32, N = 32, K = 32 }\n'
    '[step.question]\ntext = "How many?"\n'
    + FEW + '[[step.question.choices]]\ntext = "{all}"\nright = true\n'
    'expect = [{ quantity = "request_cost(array=A, measure=sectors)", is = 32, name = "all" }]\n'
)  # fmt: skip


def said_of(text: str) -> list[str]:
    return [failure.partition("One: ")[2].partition(" (")[0] for failure in failures(text)]


def test_the_right_choice_is_asserted() -> None:
    assert failures(QUESTION) == []
    moved = QUESTION.replace("right = true\n", "").replace('text = "{few}"\n', 'text = "{few}"\nright = true\n')
    assert said_of(moved) == [
        "choice 1, '{few}': it is marked right, and what it expects is false",
        "choice 2, '{all}': it is marked wrong, and what it expects is true",
    ]
    assert said_of(QUESTION.replace("is = 32", "is = 31")) == [
        "choice 2, '{all}': it is marked right, and what it expects is false"
    ]
    readback = "problem_size(name=N)"
    found = said_of(QUESTION.replace("request_cost(array=A, measure=sectors)", readback))
    assert found == ["choice 2, '{all}': nothing says that it is right"]


DRAW = "draw = [{ problem = { M = 8, N = 8, K = 8 }, is = { few = 1, all = 8 } }]\n"


def drawn(draw: str) -> str:
    return QUESTION.replace('text = "How many?"\n', f'text = "How many?"\n{draw}')


def test_each_draw_of_a_question_is_checked() -> None:
    assert failures(drawn(DRAW)) == []
    assert said_of(drawn(DRAW.replace("all = 8", "all = 9"))) == [
        "choice 2, '{all}': it is marked right, and what it expects is false"
    ]
    assert said_of(drawn(DRAW.replace("few = 1", "few = 8")))[0] == "the choices: two of them read the same"
    (failure,) = failures(drawn(DRAW.replace("all = 8", "all = 9")))
    assert "mine.toml:10:9: step 1, One:" in failure
    for draw, said in (
        (DRAW.replace("few", "many"), r"mine.toml:10:1: a draw expects 'many', but no expectation has this name"),
        (DRAW.replace("problem", "parameters").replace("K = 8", "NO = 8"), r"mine.toml:10:1: .* has no parameter"),
    ):
        with pytest.raises(GemmvizError, match=said):
            parse_lesson(drawn(draw), "mine.toml")


def test_choices_say_different_values_of_one_quantity() -> None:
    for old, new, said in (
        ("is = 4,", "is = 32,", "the choices: two of them read the same"),
        ('text = "{all}"', 'text = "many"', "the choices: the right one doesn't show what makes it right"),
        ('array=A, measure=sectors)", is = 4', 'array=B, measure=sectors)", is = 4', "the choices: they don't say different values of"),
        ('text = "{few}"', 'text = "4"', "the question: the number 4 is typed"),
        ('\nexpect = [{ quantity = "request_cost(array=A, measure=sectors)", is = 4, name = "few" }]', "", "the question: no expectation has the name {few}"),
    ):  # fmt: skip
        assert QUESTION.replace(old, new) != QUESTION
        assert any(each.startswith(said) for each in said_of(QUESTION.replace(old, new))), (
            old,
            said_of(QUESTION.replace(old, new)),
        )


def test_the_right_choice_is_asserted_of_its_own_view() -> None:
    text = QUESTION.replace(
        'is = 32, name = "all" }]',
        'is = 1, name = "all" }]\nshot.setup.kernel = "03_coalesced"\nshot.setup.problem = { M = 32, N = 32, K = 32 }',
    )
    assert failures(text) == []


def test_a_second_right_choice_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"mine.toml:8:1: the question 'How many\?' has 2 choices, 2 of them right"):
        parse_lesson(QUESTION.replace('text = "{few}"\n', 'text = "{few}"\nright = true\n'), "mine.toml")


def test_a_choice_whose_view_can_not_be_drawn_fails() -> None:
    text = QUESTION.replace(
        'text = "{few}"\n',
        'text = "{few}"\nshot.setup.kernel = "02_naive"\nshot.view = "phases"\nshot.focus.block = [99, 0, 0]\n',
    )
    assert any("choice 1, '{few}': block 99,0" in failure for failure in failures(text))


def test_an_exercise_is_solvable_and_not_solved() -> None:
    text = (
        HEAD + STEP.format("04_tiled")
        + 'exercise = {{ task = "x", until = [{{ quantity = "threads_per_block", is = {} }}], solution = {{ parameters = {{ TILE_WIDTH = 8 }} }} }}\n'
    )  # fmt: skip
    assert failures(text.format(64)) == []
    assert "mine.toml:6:1: step 1, One: the exercise" in failures(text.format(65))[0]
    assert "own solution fails: threads per block: 64, required: 65" in failures(text.format(65))[0]
    assert any("is passed by the step as it is shown" in failure for failure in failures(text.format(16)))


# Lessons as users write them


def files() -> Iterator[tuple[str, bytes, str]]:
    good = (TILED + READS).encode()
    yield "empty", b"", "neither a gemmviz lesson nor a saved view"
    yield "latin-1", good.replace(b"One", b"\xc9"), "UTF-8"
    yield "syntax", good + b"[[step]\n", "mine.toml:7"
    yield "kernel", good.replace(b"04_tiled", b"04_tilde"), "did you mean"
    yield "view", good + b'shot.view = "stag"\n', "did you mean stage?"
    yield "caption", good + b"caption = 3\n", "Expected a string, got a whole number"
    yield "value", good.replace(b"256", b"[256]"), "mine.toml:6:"
    yield "quantity", good.replace(b"elements(", b"element("), "did you mean elements?"
    yield "argument", good.replace(b"access", b"acces"), "did you mean access?"
    yield "size", good + b"shot.setup.problem = { M = 4, N = 4, K = 0 }\n", "K"
    yield "parameter", good + b"shot.setup.parameters = { TILE = 4 }\n", "TILE_WIDTH"
    yield "exercise", good + b'exercise = { task = "x", until = [] }\n', "an exercise needs task"
    yield "choice", QUESTION.replace(FEW, "").encode(), "1 choices, 1 of them right"
    yield "right", QUESTION.replace("right = true\n", "").encode(), "2 choices, 0 of them right"
    yield "expectation", QUESTION.replace("is = 32", "was = 32").encode(), "unknown"
    yield "version", good.replace(b"version = 4", b"version = 99"), "update gemmviz"


@pytest.mark.parametrize(("name", "content", "said"), list(files()), ids=[name for name, _, _ in files()])
def test_a_wrong_lesson_is_an_error_of_one_line(
    name: str, content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    assert main(["lesson", "check", str(path)]) in (1, 2)
    errors = capsys.readouterr().err
    assert said in errors
    assert str(path) in errors
    assert "Traceback" not in errors
    assert all(line.startswith("gemmviz: ") for line in errors.splitlines())


def test_a_lesson_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in (str(tmp_path / "none.toml"), str(tmp_path), "lectrue"):
        assert main(["lesson", "check", name]) != 0
        assert "gemmviz: " in capsys.readouterr().err
