"""What students read about their hand-in: points that weren't judged, the place of a missing barrier, what is good, and nothing
about sizes that they aren't told.
"""

from pathlib import Path

import pytest

from gemmviz.teaching.grading.collection import Results
from gemmviz.teaching.grading.pool import Graded, graded, student_page
from gemmviz.teaching.grading.task import BarrierGap, HandIn, Limits, Task
from gemmviz.teaching.grading.task_file import parse_task
from tests.conftest import sure
from tests.grading.judging import failed, judged_text, task_for
from tests.grading.planted import base_text, changed

_TILED = base_text("tiled")
_FIRST, _SECOND = "    __syncthreads();\n    for", "    __syncthreads();\n  }"
_HEAD = 'format = "gemmviz task"\nversion = 1\ntitle = "T"\n'
_PRIVATE = (
    f"{_HEAD}[[size]]\nproblem = {{ M = 9, N = 7, K = 10 }}\n[[size]]\nproblem = {{ M = 61, N = 21, K = 43 }}\nprivate = true\n"
)


def _graded(text: str, task: Task) -> Graded:
    return graded(HandIn("student", "A student", {"mm.cu": text}), task, Limits())


def _line(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "behind", "said"),
    [
        (_FIRST, "    for", "      ds_B[ty][tx] = 0;", "A barrier is missing between lines {line} and {next}."),
        pytest.param(
            _SECOND, "  }", "      Pvalue += ds_A", "A barrier is missing behind line {line}, in the loop.",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            _SECOND, "  } __syncthreads();", "      Pvalue += ds_A", "A barrier is missing behind line {line}, in the loop.",
            marks=pytest.mark.nightly,
        ),
    ],
)  # fmt: skip
def test_a_missing_barrier_is_shown_at_its_place(old: str, new: str, behind: str, said: str) -> None:
    text = _TILED.replace(old, new, 1)
    line = _line(text, behind)
    task = task_for("tiled")
    judged = judged_text(text, task)
    check = failed(judged)["hazards"]
    assert sure(check.gap).line == line
    assert check.output.endswith(said.format(line=line, next=line + 1))
    page = student_page(task, HandIn("student", "A student", {judged.grade.file: text}), judged.grade, judged.replays)
    at = page.index(f"<span>{line}  ") if f"<span>{line}  " in page else page.index(f"<span class=here>{line}  ")
    assert page.index("a barrier is missing here") > at
    assert "a barrier is missing here" in page[at : page.index(f"{line + 1}  ", at)]


def test_a_barrier_that_no_place_can_mend_has_none() -> None:
    text = _TILED.replace("ds_A[ty][tx] = 0;", "ds_A[ty][tx] = 0; ds_B[tx][ty] = ds_B[ty][tx] = 0;")
    assert failed(judged_text(text, task_for("tiled")))["hazards"].gap is None


def test_one_statement_has_no_line_between() -> None:
    assert str(BarrierGap(8, 7, 9)) == "A barrier is missing between lines 8 and 9."


def test_a_right_kernel_is_praised_for_what_was_counted() -> None:
    good = judged_text(_TILED, task_for("tiled")).grade.good
    assert good == (
        "At M = N = K = 64:",
        "The reads of A are coalesced: 2,048 sectors moved, 2,048 needed.",  # 64² × 4 bytes / 32, four times
        "The reads of B are coalesced: 2,048 sectors moved, 2,048 needed.",
        "The writes of C are coalesced: 512 sectors moved, 512 needed.",
        "A is read 16,384 times; without tiles it would be 262,144 times.",  # 64² × 64 / 16
        "B is read 16,384 times; without tiles it would be 262,144 times.",
        "Shared memory has no bank conflict: 17,408 wavefronts, 17,408 needed.",
    )
    page = _graded(_TILED, task_for("tiled")).page
    assert page.index("What is good") < page.index("The writes of C are coalesced") < page.index("What is judged")
    assert not judged_text(base_text("naive").replace("k < K", "k < K - 1"), task_for("naive")).grade.good


def test_a_kernel_with_conflicts_is_not_praised_for_having_none() -> None:
    text = changed("tiled", (("ds_A[ty][k] * ds_B[k][tx]", "ds_A[ty][k] * ds_B[tx][k]"), ("ds_B[ty][tx]", "ds_B[tx][ty]")))
    grade = judged_text(text, task_for("tiled")).grade
    assert {each.id: each.status for each in grade.checks}["result"] == "passed"
    assert not any("bank conflict" in each for each in grade.good)
    assert any("A is read" in each for each in grade.good)


def test_an_error_in_the_host_code_costs_what_it_is_worth() -> None:
    text = _TILED.replace("return 0;", "return 0")
    grade = judged_text(text, task_for("tiled")).grade
    statuses = {each.id: each.status for each in grade.checks}
    assert statuses.pop("parses") == "failed"
    assert statuses.pop("host") == "unjudged"
    assert set(statuses.values()) == {"passed"}
    assert grade.words == f"{grade.points - 2:g} of {grade.points:g} points, 1 not judged"
    assert grade.words in _graded(text, task_for("tiled")).page


def test_an_error_in_the_kernel_leaves_the_rest_unjudged() -> None:
    grade = judged_text(_TILED.replace("float Pvalue = 0;", "float Pvalue = 0"), task_for("tiled")).grade
    assert [each.status for each in grade.checks] == ["failed"] + ["unjudged"] * (len(grade.checks) - 1)
    assert grade.words == f"0 of {grade.points:g} points, {grade.points - 1:g} not judged"


@pytest.mark.parametrize(
    "text",
    [
        _TILED,
        _TILED.replace("Row < numARows && Col", "Row < numARows && Row < 50 && Col"),  # wrong at the private size alone
        _TILED.replace("Row < numARows && Col", "Row < numARows + (numARows > 50) && Col"),
        _TILED.replace(_SECOND, "  }", 1),
    ],
)
def test_private_sizes_stay_private(text: str, tmp_path: Path) -> None:
    task = parse_task(_PRIVATE, "t.toml")
    given = _graded(text, task)
    results = Results(tmp_path, task)
    results.add(HandIn("student", "A student", {"mm.cu": text}), given)
    results.write()
    page, tests = ((tmp_path / "student" / name).read_text(encoding="utf-8") for name in ("page.html", "results.json"))
    assert "M = 61" not in page
    assert "61" not in tests
    assert "M = 61" in (tmp_path / "all.json").read_text(encoding="utf-8")
    assert ("a size that the task doesn't tell" in tests) == (text != _TILED)
    assert "data-replay" not in page[page.index("<main") : page.index("</main>")]  # it would show the matrices


def test_a_private_size_counts() -> None:
    text = _TILED.replace("Row < numARows && Col", "Row < numARows && Row < 50 && Col")
    with_it, without = (
        parse_task(_PRIVATE, "t.toml"),
        parse_task(_PRIVATE.partition("[[size]]\nproblem = { M = 61")[0], "t.toml"),
    )
    assert judged_text(_TILED, with_it).grade.has_passed
    assert judged_text(text, without).grade.has_passed
    assert failed(judged_text(text, with_it))["result"].size == "M = 61, N = 21, K = 43"
