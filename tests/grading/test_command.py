"""The command with its processes: limits, progress, resumption, exit codes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gemmviz.cli.main import main
from gemmviz.teaching.grading.pool import CAN_FORK, graded_in_parallel
from gemmviz.teaching.grading.task import HandIn, Limits
from tests.grading.hostile import HOSTILE
from tests.grading.judging import task_for
from tests.grading.planted import FOLDER, base_text, changed

_TASK = str(FOLDER / "naive" / "task.toml")


@pytest.fixture
def hand_ins(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "right.cu").write_text(base_text("naive"), encoding="utf-8")
    (folder / "wrong.cu").write_text(changed("naive", (("row < M && col < N", "row < M"),)), encoding="utf-8")
    return folder


def _grade(*words: str | Path) -> int:
    return main(["grade", *map(str, words), "--task", _TASK])


def test_grading_a_folder_twice(hand_ins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert _grade(hand_ins, "-o", out) == 1
    said = capsys.readouterr().out
    assert "right: 8 of 8 points, passed" in said
    assert "wrong: 5 of 8 points, 2 not judged, out-of-range: line 13" in said
    assert "1 of 2 passed" in said
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()) == [
        "all.json", "right/page.html", "right/results.json", "table.csv", "wrong/page.html", "wrong/results.json",
    ]  # fmt: skip
    (hand_ins / "wrong.cu").write_text(base_text("naive"), encoding="utf-8")
    assert _grade(hand_ins, "-o", out, "--json") == 0
    printed = capsys.readouterr()
    assert "right: 8 of 8 points, passed (judged before)" in printed.err
    assert "wrong: 8 of 8 points, passed\n" in printed.err
    assert len(json.loads(printed.out)["hand_ins"]) == 2


@pytest.mark.parametrize("words", [["missing", "--task", _TASK], ["--task", "missing.toml"], ["--task", _TASK, "-o", __file__]])
def test_wrong_usage(hand_ins: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", str(hand_ins), *words]) == 2
    assert capsys.readouterr().err.startswith("gemmviz: ")


def _results(texts: dict[str, str], limits: Limits, jobs: int = 2) -> dict[str, tuple[str, ...]]:
    hand_ins = [HandIn(name, name, {"base.cu": text}) for name, text in texts.items()]
    return {each.id: graded.grade.findings for each, graded in graded_in_parallel(hand_ins, task_for("naive"), limits, jobs)}


_HEAVY = "for (int i = 0; i < 40000; ++i) C[row * N + col] = sum;"


@pytest.mark.skipif(not CAN_FORK, reason="limits of time are those of the parent here")
def test_a_hand_in_beyond_the_limit_of_time_is_ended() -> None:
    body = "C[row * N + col] = sum;"
    slow = base_text("naive").replace(body, _HEAVY)
    assert _results({"slow": slow}, Limits(cpu_s=0.2), jobs=1) == {"slow": ("time",)}


@pytest.mark.nightly
@pytest.mark.skipif(not CAN_FORK, reason="limits of memory are those of the parent here")
def test_a_hand_in_that_takes_too_much_memory_is_ended() -> None:
    body = "C[row * N + col] = sum;"
    large = base_text("naive").replace(body, _HEAVY.replace("40000", "3000"))
    found = _results({"large": large, "right": base_text("naive")}, Limits(memory_mib=64), jobs=1)
    assert found == {"large": ("memory",), "right": ()}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_process_within_limits_writes_no_files(tmp_path: Path) -> None:
    code = (
        "from gemmviz.teaching.grading.task import Limits, limit_this_process; limit_this_process(Limits()); "
        "file = open('escaped', 'wb', 0); file.write(b'x')"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "File too large" in done.stderr
    assert (tmp_path / "escaped").stat().st_size == 0


@pytest.mark.nightly
def test_hostile_hand_ins_harm_nothing(tmp_path: Path) -> None:
    marker = Path("/tmp/escaped")
    assert not marker.exists()
    found = _results({re.sub(r"\W", "-", name): text for name, (text, _) in HOSTILE.items()}, Limits())
    assert len(found) == len(HOSTILE)
    assert not marker.exists()
    for name, (_, findings) in HOSTILE.items():
        assert " ".join(dict.fromkeys(found[re.sub(r"\W", "-", name)])) == findings, name
