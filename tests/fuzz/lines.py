"""Command lines, and what is sent to the worker."""

import contextlib
import io
import json
import sys
from pathlib import Path

from hypothesis import strategies as st

from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.files.trace_file import write_trace
from gemmviz.run.choosing import has_cupy
from gemmviz.run.worker.worker import Server
from gemmviz.shots.shot import default_shot, shot_text
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import lesson_text
from tests.fuzz.campaign import Campaign
from tests.fuzz.mutators import spoiled_facts
from tests.fuzz.records import small_trace

_COMMANDS = (
    "export", "export", "trace", "trace", "counts", "info", "kernels", "launches", "instrument", "verify", "bench", "schedule",
    "compare", "occupancy", "lesson", "quiz", "nothing",
)  # fmt: skip
_MEASURING = ("bench", "verify")
_WRITTEN = ("out.svg", "out.png", "out.gvt", "out.xml", "out.toml", "out.xyz")
_OWN = ("mine.cu", "mine.gvt", "view.toml", "lesson.toml")
_ARGUMENTS = (
    "04_tiled", "tiled", "02", "nothing.cu", "", "-", "--", "-m", "-n", "-k", "4", "0", "-1", "7", "99999999999999999999", "nan",
    "-D", "TILE_WIDTH=2", "TILE_WIDTH=", "=", "X=1", "--blocks", "0:1,0:1", "all", "::", "5:1,9", "--phases", "1", "2-1", "a",
    "--device", "h200", "8800gtx", "x", "--step", "--phase", "--warp", "--thread", "0,0", "--view", "stage", "banks", "rate",
    "--layer", "reuse", "--theme", "light", "--on", "cpu", "gpu", "--values", "--json", "--seed", "--pattern", "ones", "-o", "-o",
    "out.svg", "out.png", "out.gvt", "out.xyz", "/dev/null/x", "--help", "--sizes", "1:4", "--recorded", "\udcff", "--timeout",
    "list", "check", "quantities", "coalescing", "--count", "--variant", "--moodle", "out.xml", "out.toml", "--answers",
    *_OWN, *_OWN,
)  # fmt: skip


def _command_lines() -> st.SearchStrategy[bytes]:
    words = st.lists(st.sampled_from(_ARGUMENTS), max_size=9)
    sensible = st.tuples(
        st.sampled_from(_OWN), words, st.sampled_from(("-o", "-o", "--moodle")), st.sampled_from((*_OWN, *_WRITTEN))
    ).map(lambda each: [each[0], *each[1][:1], each[2], each[3]])
    return st.tuples(st.sampled_from(_COMMANDS), words | sensible).map(lambda each: json.dumps([each[0], *each[1]]).encode())


def _run_command(path: Path) -> None:
    """A command says in a sentence why it fails, and leaves the files that it reads as they are."""
    words = json.loads(path.read_bytes())
    if words[0] in _MEASURING and has_cupy():
        return  # it has work for hours
    before = _own_files(path.parent)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(path.parent), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:
            code = int(end.code or 0)
    said = err.getvalue()
    assert "Traceback" not in said
    assert "internal error" not in said, said
    assert code in (0, 1, 2, 130)
    assert code == 0 or said, "it fails without a word"
    for name, text in before.items():
        is_asked_for = words.count(name) == 1 and words[words.index(name) - 1] == "-o" and not name.endswith(".toml")
        if not is_asked_for:
            assert (path.parent / name).read_bytes() == text, f"it wrote over {name}"


def _own_files(folder: Path) -> dict[str, bytes]:
    """A user's files, in the folder."""
    shot = default_shot()
    (folder / "mine.cu").write_text(load_kernel("04_tiled").text, encoding="utf-8")
    write_trace(small_trace(), folder / "mine.gvt")
    (folder / "view.toml").write_text(shot_text(shot), encoding="utf-8")
    (folder / "lesson.toml").write_text(lesson_text(Lesson("Mine", (LessonStep(shot, "One", "First"),))), encoding="utf-8")
    return {name: (folder / name).read_bytes() for name in _OWN}


def _worker_lines() -> st.SearchStrategy[bytes]:
    jobs = [
        {"id": 1, "do": do} for do in ("hello", "trace", "time", "cublas", "copy", "count", "schedule", "host", "warm", "x")
    ]
    facts = st.sampled_from([*jobs, {"cancel": 1}, {"id": 2, "do": "host", "method": "x", "problem": {"M": 1, "N": 1, "K": 1}}])
    line = facts.flatmap(spoiled_facts).map(lambda each: json.dumps(each).encode()) | st.binary(max_size=40)
    return st.lists(line, max_size=6).map(b"\n".join)


def _serve(path: Path) -> None:
    answers = io.BytesIO()
    Server(io.BytesIO(path.read_bytes()), answers).run()
    for answer in answers.getvalue().splitlines():
        json.loads(answer)


CAMPAIGNS = {
    "commands": Campaign(".words", _command_lines, _run_command, starts=(Path(sys.executable).name,)),
    "worker": Campaign(".lines", _worker_lines, _serve),
}
