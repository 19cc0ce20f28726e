"""Files of results are safe to open, and read by autograders."""

import csv
import json
from pathlib import Path

import pytest

from gemmviz.model.messages import GemmvizError
from gemmviz.teaching.grading.collection import GradedRecord, Results, autograder_results, csv_table, summary
from gemmviz.teaching.grading.pool import graded
from gemmviz.teaching.grading.task import CheckResult, Grade, HandIn, Limits
from tests.grading.judging import task_for
from tests.grading.planted import base_text, changed

_MARKUP = "<script>alert(1)</script>"


def _wrong(name: str = "student") -> HandIn:
    text = changed("naive", (("k < K;", "k < K - 1;"), ("// Each", f"// {_MARKUP}</script> Each")))
    return HandIn("student", name, {f"{_MARKUP}.cu": text})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a wrong hand-in with a name that is made to escape, and of a right one."""
    folder = tmp_path_factory.mktemp("results")
    results = Results(folder, task_for("naive"))
    for hand_in in (_wrong(f"=1+1 {_MARKUP}"), HandIn("right", "@right", {"mm.cu": base_text("naive")})):
        results.add(hand_in, graded(hand_in, task_for("naive"), Limits()))
    results.write()
    return folder


def test_cells_are_no_formulas(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "table.csv").open(encoding="utf-8-sig")))
    assert [(each["name"], each["points"], each["passed"]) for each in rows] == [
        (f"'=1+1 {_MARKUP}", "7", "no"), ("'@right", "8", "yes"),
    ]  # fmt: skip
    assert rows[0]["findings"] == "wrong"
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


def test_a_spreadsheet_reads_the_table(folder: Path) -> None:
    """Excel takes a file without the mark for one of the system's code page, and ; for the separator in some countries."""
    assert (folder / "table.csv").read_bytes().startswith(b"\xef\xbb\xbfid,")
    record = GradedRecord("a", 'x;=1+1; "=2;-3; done', "", "", Grade(()))
    assert 'a,"x,=1+1, ""=2,-3; done"' in csv_table(task_for("naive"), [record])


def test_lines_of_the_source_are_no_markup() -> None:
    text = changed("naive", (("row < M && col < N", f"row < M /* {_MARKUP} */"),))
    page = graded(HandIn("a", "a", {"a.cu": text}), task_for("naive"), Limits()).page
    assert "/* &lt;script&gt;" in page
    assert _MARKUP not in page


def test_the_autograder_reads_points_and_messages(folder: Path) -> None:
    results = json.loads((folder / "student" / "results.json").read_text(encoding="utf-8"))
    assert results["score"] == 7 == sum(each["score"] for each in results["tests"])
    assert set(results["tests"][0]) >= {"name", "score", "max_score", "output", "visibility", "status"}
    (wrong,) = [each for each in results["tests"] if each["status"] == "failed"]
    assert wrong["name"] == "Result"
    assert "35 of 35 elements are wrong" in wrong["output"]


def test_names_and_texts_are_no_markup(folder: Path) -> None:
    page = (folder / "student" / "page.html").read_text(encoding="utf-8")
    assert _MARKUP not in page
    assert "&lt;script&gt;" in page
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page


def test_the_page_shows_the_replay_and_the_line_of_a_failure(folder: Path) -> None:
    page = (folder / "student" / "page.html").read_text(encoding="utf-8")
    assert page.count("data-replay=") == 1
    assert "http" not in page.replace("http-equiv", "").split("<script", 1)[0]
    right = (folder / "right" / "page.html").read_text(encoding="utf-8")
    assert "data-replay=" not in right
    assert "8 of 8 points" in right


def test_what_has_not_changed_is_known(folder: Path) -> None:
    results = Results(folder, task_for("naive"))
    known = results.known(_wrong(f"=1+1 {_MARKUP}"))
    assert known is not None
    assert "wrong: At" in summary(known) or "wrong: C is wrong" in summary(known)
    assert results.known(HandIn("right", "@right", {"mm.cu": base_text("naive") + "\n"})) is None
    assert Results(folder, task_for("flat")).known(_wrong(f"=1+1 {_MARKUP}")) is None
    (folder / "all.json").write_text("{}", encoding="utf-8")
    assert Results(folder, task_for("naive")).known(_wrong(f"=1+1 {_MARKUP}")) is None


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GemmvizError, match="can't write"):
        Results(tmp_path / "file" / "results", task_for("naive"))


def test_scores_add_up() -> None:
    hand_in = _wrong()
    results = autograder_results(graded(hand_in, task_for("naive"), Limits()).grade)
    assert results["score"] == sum(each["score"] for each in results["tests"])


def test_an_autograder_shows_a_check_as_passed_only_if_it_is() -> None:
    checks = tuple(CheckResult(each, each, each, 0.0, 1.0) for each in ("passed", "failed", "unjudged"))  # type: ignore[arg-type]
    shown = autograder_results(Grade(checks))["tests"]
    assert [each["status"] for each in shown] == ["passed", "failed", "failed"]
