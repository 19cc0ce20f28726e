"""Tasks are read with errors that name their place, and the exercises that ship are tasks."""

from pathlib import Path

import pytest

from gemmviz.cuda.launch.catalog import lesson_names
from gemmviz.files.codec import FormatError
from gemmviz.model.messages import UsageError
from gemmviz.teaching.grading.task import ALWAYS_JUDGED
from gemmviz.teaching.grading.task_file import DEFAULT_SIZES, exercise_task, named_task, parse_task
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.grading.judging import judged_text
from tests.grading.planted import FOLDER, KERNELS, base_text

_HEAD = 'format = "gemmviz task"\nversion = 1\ntitle = "T"\n'


def test_the_least_task() -> None:
    task = parse_task(_HEAD, "folder/homework.toml")
    assert [each.id for each in task.checks] == ["parses", "host", "guards", "hazards", "result"]
    assert (task.name, task.most_points) == ("homework", 5)
    assert [tuple(dict(each.problem).values()) for each in task.all_sizes] == list(DEFAULT_SIZES)


def test_no_usual_tile_divides_the_sizes() -> None:
    sizes = [side for each in DEFAULT_SIZES[1:] for side in each]
    assert [side for side in sizes if any(side % tile == 0 for tile in (4, 8, 16, 32))] == []


def test_points_and_checks_that_are_left_out() -> None:
    task = parse_task(f"{_HEAD}[points]\nresult = 4\nhazards = 0\nparses = 0", "t.toml")
    assert {each.id: each.points for each in task.checks} == {"parses": 0, "host": 1, "guards": 1, "result": 4}


def test_a_criterion_has_its_own_size_and_sizes_are_run_in_order_of_their_work() -> None:
    text = (
        f"{_HEAD}[[criterion]]\nquantity = 'threads_per_block'\nat_least = 32\nat_most = 256\n"
        "size = { problem = { M = 4, N = 4, K = 4 } }"
    )
    task = parse_task(text, "t.toml")
    assert task.checks[-1].title == "Threads per block: at most 256 and at least 32"
    assert dict(task.all_sizes[0].problem) == {"M": 4, "N": 4, "K": 4}
    assert [each.id for each in task.checks_at(task.all_sizes[0])] == ["criterion-1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[criterion]]\nquantity = 'bank_conflict'\nis = 0", "t.toml:5:1: there is no quantity 'bank_conflict' (did you mean"),
        ("[[criterion]]\nquantity = 'bank_conflicts'", "t.toml:4:1: criterion 1 requires nothing"),
        ("[[criterion]]\nquantity = 'threads_per_block'\nmost = 3", "t.toml:6:1: criterion 1: the field 'most' is unknown (did you mean at_most?)"),
        ("[points]\nresults = 1", "t.toml:5:1: points: the field 'results' is unknown (did you mean result?)"),
        ("[points]\nhost = 1\nresult = -4", "t.toml:6:1: points, result: Expected a number >= 0.0"),
        ("[[sizes]]\nproblem = {}", "t.toml:4:1: the field 'sizes' is unknown (did you mean size?)"),
        ("[[size]]\nproblem = { M = 3, N = 4 }", "t.toml:5:1: the size K is missing (give M, N, K)"),
        ("[kernel]\nfiles = ['x.h']", "t.toml:5:10: x.h: there is no such file (put it beside the task)"),
        ("[kernel]\nentry = 'mat mul'", "t.toml:5:1: 'mat mul' can't be the name of a kernel"),
        ("[kernel]\narguments = ['A', 'B', 'C', 'Q']", "t.toml:5:29: the problem multiply has no 'Q' (the roles are A, B,"),
        ("[kernel]\narguments = ['A', 'B']", "t.toml:5:1: no parameter is C"),
        ("[kernel]\ncolumn_major = ['Z']", "t.toml:5:17: the problem multiply has no array 'Z'"),
        ("[kernel]\nblock = ['64', '64']", "t.toml:5:1: the block would have 4,096 threads (at most 1,024"),
        ("[kernel]\ngrid = ['1', 'ceil_dv(N, 16)']", "t.toml:5:14: the formula 'ceil_dv(N, 16)' contains more than arithmetic"),
        ("[kernel]\ngrid = ['N / 0']", "t.toml:5:9: the formula 'N / 0' divides by zero"),
        ("[kernel]\nshared_bytes = '4 *'", "t.toml:5:1: the formula '4 *' has a syntax error"),
        ("[[criterion]]\nquantity = 'stride(array=X)'\nis = 0", "t.toml:5:1: the problem multiply has no array 'X'"),
        ("[[criterion]]\nquantity = 'bank_conflicts'\nat_most = nan", "t.toml:6:1: nan is no limit"),
        ("[[criterion]]\nquantity = 'bank_conflicts'\nis = true", "t.toml:6:1: the value of bank_conflicts is a number"),
        ("[[criterion]]\nquantity = 'result'\nat_most = 3", "t.toml:6:1: the value of result is a text"),
        ("[[criterion]]\nquantity = 'bank_conflicts'\nis = 0\nat_most = 3", "t.toml:6:1: a value and a limit"),
        ("[[criterion]]\nquantity = 'bank_conflicts'\nat_most = 3\nat_least = 4", "t.toml:7:1: no value is at least 4"),
        ("[[criterion]]\nquantity = 'bank_conflicts'\nat_most = 3\nabout = 0.1", "t.toml:7:1: about is the tolerance of is"),
        ("[[criterion]]\nquantity = 'gflops(kernel=x, n=64)'\nat_least = 3", "t.toml:5:1: gflops(kernel=x, n=64) is the same"),
        ("[[size]]\nproblem = { M = 3, X = 4 }", "t.toml:5:20: there is no size 'X'"),
        ("[[size]]\nproblem = { M = 0 }", "t.toml:5:1: size 1, problem: Expected a whole number >= 1"),
        ("[kernel]\nproblem = 'multiplication'", "t.toml:5:1: there is no problem"),
        ("[kernel]\ndevice = 'h20'", "t.toml:5:1: there is no device 'h20'"),
        ("[kernel]\nfiles = ['../x.h']", "t.toml:5:10: '../x.h' is not the name of a file beside the task"),
        ("points = ]", "t.toml:4:10: this is not TOML"),
    ],
)  # fmt: skip
def test_errors_name_their_place(text: str, said: str) -> None:
    with pytest.raises(FormatError) as error:
        parse_task(_HEAD + text, "t.toml")
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = 'x'", "this is not a gemmviz task"),
        ('format = "gemmviz task"\nversion = 2', "this file has version 2; this gemmviz reads 1"),
    ],
)
def test_other_files(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        parse_task(text, "t.toml")


def test_a_launch_may_use_names_that_hand_ins_define() -> None:
    text = f"{_HEAD}[kernel]\nblock = ['TILE', 'TILE']\ngrid = ['ceil_div(N, TILE)', 'ceil_div(M, TILE)']"
    assert parse_task(text, "t.toml").launch.block == ("TILE", "TILE")


def test_a_task_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_bytes(_HEAD.replace('"T"', '"Kächeln"').encode("latin-1"))
    with pytest.raises(FormatError, match=r"t\.toml: the file can't be read as UTF-8 text \(save it as UTF-8\)"):
        named_task(str(path))


def test_named_tasks(tmp_path: Path) -> None:
    assert named_task(str(FOLDER / KERNELS[0] / "task.toml")).name == "task"
    with pytest.raises(UsageError, match="there is no such file"):
        named_task(str(tmp_path / "missing.toml"))
    with pytest.raises(UsageError, match="there is no task 'slide/writing'"):
        named_task("slide/writing")
    with pytest.raises(UsageError, match="has no exercise 'writin'"):
        named_task("slides/writin")


def test_every_exercise_is_a_task() -> None:
    steps = [(name, stop.id) for name in lesson_names() for stop in shipped_lesson(name).steps if stop.exercise is not None]
    assert len(steps) >= 4
    for lesson, id in steps:
        task = exercise_task(lesson, id)
        assert task.most_points >= 3
        assert task.sizes


def test_the_task_of_the_documentation_is_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "grading.md").read_text(encoding="utf-8")
    task = parse_task(page.partition("```toml\n")[2].partition("```")[0], "docs.toml")
    assert task.most_points == 4 + 2 + 3 + 1 + 1 + 2
    text = base_text("tiled").replace("matrixMultiplyShared", "matmul")
    assert judged_text(text, task).grade.has_passed
    kernel = text[: text.index("int main")]
    assert judged_text(kernel, task).grade.has_passed
    for check in ALWAYS_JUDGED:
        assert f"| `{check}` |" in page
