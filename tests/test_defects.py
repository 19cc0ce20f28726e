"""The list of defects to plant stays true, and planting leaves nothing behind."""

from collections import Counter
from pathlib import Path

from tests.defects import ROOT, Defect, Result, defects, planted_in, read_results, report, stale

ROOMS = sorted(each.name for each in (ROOT / "gemmviz").iterdir() if (each / "__init__.py").exists())


def test_each_defect_can_be_planted_and_changes_the_code() -> None:
    """If it can't: put the text as it is now into ``defects.toml``, or another defect of that module."""
    assert list(stale(defects())) == []


def test_every_room_has_defects_of_several_kinds() -> None:
    known = defects()
    names = Counter(each.name for each in known)
    assert [name for name, count in names.items() if count > 1] == []
    assert len(known) >= 120
    for room in ROOMS:
        assert sum(each.room == room for each in known) >= 6, room
        assert len({each.kind for each in known if each.room == room}) >= 3, room


def test_what_can_not_be_planted_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 1\n")
    wrong = {"gone": ("z", "w"), "twice": ("1", "2"), "the same": ("x = 1", "x  =  1"), "not Python": ("x = 1", "x = = 1")}
    some = [Defect(name, "wrong word", "a.py", text, by, ("test_defects.py",)) for name, (text, by) in wrong.items()]
    assert [each.partition(":")[0] for each in stale(some, tmp_path)] == list(wrong)


def test_planting_is_undone(tmp_path: Path) -> None:
    (tmp_path / "gemmviz").mkdir()
    module = tmp_path / "gemmviz" / "a.py"
    module.write_text("x = 1\n")
    with planted_in(tmp_path, [Defect("one", "off by one", "a.py", "1", "2", ())]):
        assert module.read_text() == "x = 2\n"
    assert module.read_text() == "x = 1\n"


def test_the_last_result_of_a_defect_counts(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    lines = [
        '{"name":"one","found_by":"","ran":["tests/files"],"seconds":1}',
        '{"name":"two","found_by":"","ran":["tests"],"seconds":9}',
        '{"name":"one","found_by":"tests/test_cli.py::test_a","ran":["tests"],"seconds":9}',
    ]
    results.write_text("\n".join(lines) + "\n")
    some = [Defect(name, "off by one", f"files/{name}.py", "1", "2", ()) for name in ("one", "two", "not run")]
    found = read_results(results)
    assert found == [Result("one", "tests/test_cli.py::test_a", ("tests",), 9.0), Result("two", "", ("tests",), 9.0)]
    said = report(some, found)
    assert "1 of 2 found" in said
    assert "not found: two (gemmviz/files/two.py: off by one)" in said
    assert [line.split() for line in said.splitlines() if line.startswith("files")] == [["files", "2", "1"]]
