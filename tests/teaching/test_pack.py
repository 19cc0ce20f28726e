"""A lesson is packed for a course: the same bytes each time, whole files, no answers for students, and nothing half written."""

import base64
import gzip
import io
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec import structs

from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import lesson_names, load_kernel
from gemmviz.render.export import formats
from gemmviz.run.choosing import engine_for
from gemmviz.teaching.lesson_file import parse_lesson, shipped_lesson
from gemmviz.teaching.pack import kernels_of, moodle_xml, notes_text, pack_files, save_pack, unmarked
from tests.conftest import sure


def files_in(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_pack_is_made_by_one_command(tmp_path: Path) -> None:
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    assert main(["lesson", "pack", "transpose", "-o", str(first)]) == 0
    assert main(["lesson", "pack", "transpose", "-o", str(second)]) == 0
    assert first.read_bytes() == second.read_bytes()
    files = files_in(first)
    readme = files["transpose/README.md"].decode()
    assert all(f"| `{name.removeprefix('transpose/')}` |" in readme for name in files if not name.endswith("README.md"))
    assert files["transpose/students/transpose.pdf"].startswith(b"%PDF")
    with zipfile.ZipFile(io.BytesIO(files["transpose/lecturer/transpose.pptx"])) as slides:
        assert sum(name.startswith("ppt/slides/slide") for name in slides.namelist()) == 4
    assert b"<script" in files["transpose/students/transpose.html"]
    assert len(ElementTree.fromstring(files["transpose/lecturer/practice.xml"]).findall(".//answer[@fraction='100']")) >= 3
    again = parse_lesson(files["transpose/transpose.toml"].decode(), "transpose.toml")
    assert [stop.title for stop in again.steps] == [stop.title for stop in shipped_lesson("transpose").steps]
    for name, text in kernels_of(shipped_lesson("transpose")).items():
        assert files[f"transpose/kernels/{name}.cu"].decode() == text == load_kernel(name).text


@pytest.mark.parametrize("name", lesson_names())
def test_every_lesson_says_what_is_in_its_pack(name: str) -> None:
    """A worksheet and its answers where there are questions or exercises, never with the answers for students."""
    lesson, files = shipped_lesson(name), [each.name for each in pack_files(shipped_lesson(name), engine_for("cpu"))]
    asks = any(stop.question is not None or stop.exercise is not None for stop in lesson.steps)
    assert len(files) == len(set(files))
    assert {"README.md", f"students/{name}.html", f"lecturer/{name}.pptx", "lecturer/practice.xml", f"{name}.toml"} <= {*files}
    assert ("students/worksheet.pdf" in files) == ("lecturer/worksheet-answers.pdf" in files) == asks
    assert ("lecturer/quiz.xml" in files) == any(stop.question is not None for stop in lesson.steps)
    assert {Path(each).suffix.removeprefix(".") for each in files} <= {*formats(), "md", "toml", "cu", "xml"}


def test_notes_have_numbers_and_answers(tmp_path: Path) -> None:
    lesson = shipped_lesson("slides")
    engine = engine_for("cpu")
    notes = next(each for each in pack_files(lesson, engine) if each.name == "lecturer/notes.md")
    notes.write(tmp_path / "notes.md")
    text = (tmp_path / "notes.md").read_text(encoding="utf-8")
    assert text.count("\n## ") == len(lesson.steps)
    assert "{" not in text
    assert text.count("**Answer:**") == sum(stop.question is not None for stop in lesson.steps)
    assert text.count("**Exercise.**") == sum(stop.exercise is not None for stop in lesson.steps) > 0


def test_texts_of_a_lesson_are_no_markup() -> None:
    hostile = "# <script>alert(1)</script> | `x` *y*\n\n## no heading"
    assert "<script" not in unmarked(hostile).replace("\\<", "")
    lesson = parse_lesson(
        f'format = "gemmviz lesson"\nversion = 4\ntitle = "t"\n[[step]]\ntitle = {hostile!r}\nshot.setup.kernel = "04_tiled"\n'.replace(
            "'", '"'
        ),
        "x.toml",
    )
    assert notes_text(lesson, lesson.steps).count("\n#") == 1


def test_a_pack_that_is_called_off_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "course.zip"
    path.write_text("old")

    def stop(name: str, done: int, of: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_pack(shipped_lesson("vector-add"), path, engine_for("cpu"), stop)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["course.zip"]


@pytest.mark.parametrize(
    ("words", "said"),
    [(["nosuch", "-o", "x.zip"], "there is no lesson 'nosuch'"), (["lecture", "-o", "x.txt"], ".zip"), (["lecture"], "-o")],
)
def test_wrong_usage_is_named(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["lesson", "pack", *words])
    except SystemExit as end:
        code = int(end.code or 0)
    assert code == 2
    assert said in capsys.readouterr().err


def test_the_page_for_students_has_no_answers(tmp_path: Path) -> None:
    lesson = shipped_lesson("slides")
    asked = structs.replace(lesson, steps=tuple(stop for stop in lesson.steps if stop.question is not None))
    page = next(each for each in pack_files(asked, engine_for("cpu")) if each.name == "students/slides.html")
    page.write(tmp_path / "slides.html")
    packed = re.search(r'id="packed">([^<]+)<', (tmp_path / "slides.html").read_text(encoding="utf-8"))
    shown = gzip.decompress(base64.b64decode(sure(packed)[1])).decode()
    assert "None: the grid is as large as the matrix" in shown
    assert "Nine blocks have 144 threads" not in shown
    assert "C is right" not in shown


def test_the_right_choice_gives_the_points_in_moodle() -> None:
    lesson = shipped_lesson("slides")
    asked = [sure(stop.question) for stop in lesson.steps if stop.question is not None]
    given = [
        each for each in ElementTree.fromstring(moodle_xml(lesson)).findall("question") if each.get("type") == "multichoice"
    ]
    assert len(given) == len(asked) > 0
    for question, element in zip(asked, given, strict=True):
        points = [answer.get("fraction") for answer in element.findall("answer")]
        assert points == ["100" if choice.right else "0" for choice in question.choices]


def test_moodle_gets_every_draw_of_a_question(tmp_path: Path) -> None:
    lesson = shipped_lesson("stencil")
    quiz = next(each for each in pack_files(lesson, engine_for("cpu")) if each.name == "lecturer/quiz.xml")
    quiz.write(tmp_path / "quiz.xml")
    texts = [each.text for each in ElementTree.parse(tmp_path / "quiz.xml").iterfind(".//questiontext/text")]
    assert len(set(texts)) == len(texts) == sum(len(stop.variants) for stop in lesson.steps if stop.question is not None) > 1
