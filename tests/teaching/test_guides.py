"""The page for the lecturer of a lesson: complete, on one page, and its keys and numbers are those of the program."""

import re
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtGui import QKeySequence

from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import lesson_names, plan_names
from gemmviz.gui.lecture.lecture_window import KEYS
from gemmviz.gui.window.menus import actions
from gemmviz.model.messages import UsageError
from gemmviz.run.stored import StoredAnswers
from gemmviz.scenes.kit.primitives import Labels
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import lesson_text, parse_lesson, shipped_lesson
from gemmviz.teaching.reel import PAPER, guide_at, guide_lines, guide_parts, guide_reel, guide_scenes
from tests.conftest import stored_first, sure

GUIDED = [name for name in lesson_names() if guide_parts(shipped_lesson(name))]
_PART_MINUTES = range(5, 16)  # about ten


@pytest.mark.parametrize("name", GUIDED)
def test_a_guide_covers_its_lesson_on_one_page_with_all_numbers(name: str) -> None:
    """That of a plan may have several pages."""
    lesson = shipped_lesson(name)
    scenes = [slide.scene for slide in guide_reel(lesson, stored_first, "light").slides()]
    assert len(scenes) == 1 or name in plan_names()
    words = [each for scene in scenes for each in scene.all if isinstance(each, Labels)]
    assert {(scene.width, scene.height) for scene in scenes} == {PAPER}
    assert max(float(each.at[:, 1].max()) for each in words) < PAPER[1]
    text = " ".join(text for each in words for text in each.texts)
    assert not re.search(r"[{}…?]\s*[.%]|\{|\S…", text)
    assert text.count("✓") == len(guide_parts(lesson))
    assert text.count("✗") == 3 * len(guide_parts(lesson))


def test_a_long_plan_has_several_pages() -> None:
    lesson = shipped_lesson("coalescing")
    pages = guide_scenes(structs.replace(lesson, steps=lesson.steps * 2), load_theme("light"), LessonStep.with_expected_numbers)
    assert len(pages) == 2
    assert ["page 1 of 2" in str(page.find("about")) for page in pages] == [True, False]


@pytest.mark.parametrize("name", [name for name in GUIDED if "/" not in shipped_lesson(name).steps[0].id])
def test_a_part_takes_about_ten_minutes_and_its_keys_are_keys(name: str) -> None:
    parts = guide_parts(shipped_lesson(name))
    assert parts[0].number == 1
    assert [part.place for part in parts if round(part.last - part.first) not in _PART_MINUTES] == []
    of_lecture = {key for keys, _ in KEYS for key in re.split(r", | or | ", keys)}
    known = {QKeySequence(key).toString() for action in actions() for key in action.keys} | of_lecture
    known |= {"Page Down", "Page Up", "Space", "Esc", "→", "←"}
    assert {key for part in parts for key in part.guide.keys} <= known


@pytest.mark.parametrize("name", ["lecture-50", "lecture-90"])
def test_each_minute_of_a_lecture_is_in_a_part_of_at_most_ten(name: str) -> None:
    lesson = shipped_lesson(name)
    parts = guide_parts(lesson)
    assert (parts[0].first, parts[-1].last) == (0.0, lesson.minutes)
    assert [part.place for part in parts if part.last - part.first > 10] == []


def test_the_page_says_how_the_lecture_is_started_and_what_answers_its_questions() -> None:
    lesson = shipped_lesson("lecture-50")
    pages = guide_scenes(lesson, load_theme("light"), LessonStep.with_expected_numbers)
    assert "gemmviz gui lecture-50 --lecture" in str(pages[0].find("keys"))
    said = "\n".join(page.description for page in pages)
    asked = [step.with_expected_numbers().question for step in lesson.steps if step.question is not None]
    assert all(f"→ {question.choices[question.right].text}" in said for question in asked if question is not None)
    assert asked


def test_the_guide_that_is_shown_is_that_of_the_part() -> None:
    lesson = shipped_lesson("coalescing")
    first, second, *_ = guide_parts(lesson)
    part = sure(guide_at(lesson, second.number - 2))
    assert (part.number, part.guide.idea) == (first.number, first.guide.idea)
    assert sure(guide_at(lesson, second.number - 1)).number == second.number
    assert "{" not in str(guide_lines(part))
    assert guide_at(structs.replace(lesson, steps=lesson.steps[1:3]), 0) is None


def test_a_guide_is_read_back_and_checked_as_it_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lesson = shipped_lesson("coalescing")
    one = structs.replace(lesson, steps=lesson.steps[:1])
    text = lesson_text(one)
    assert parse_lesson(text, "coalescing.toml").steps[0] == one.steps[0]
    (tmp_path / "mine.toml").write_text(text.replace("{sms} multiprocessors, {cores}", "{sms} multiprocessors, 6900"))
    assert main(["lesson", "check", str(tmp_path / "mine.toml")]) == 1
    assert "the guide: the number 6900 is typed" in capsys.readouterr().err
    right = sure(one.steps[0].guide)
    with pytest.raises(UsageError, match="three usual wrong ones"):
        structs.replace(right, question=structs.replace(right.question, choices=right.question.choices[:3]))
    with pytest.raises(UsageError, match="no guide"):
        guide_reel(
            Lesson("x", (structs.replace(one.steps[0], guide=None),)), lambda kernel: nullcontext(StoredAnswers()), "light"
        )


@pytest.mark.skipif(shutil.which("pdfinfo") is None, reason="needs pdfinfo")
def test_it_is_exported_as_one_page_of_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "guide.pdf"
    assert main(["export", "coalescing", "--guide", "-o", str(path)]) == 0
    facts = subprocess.run(["pdfinfo", path], capture_output=True, text=True, check=True).stdout
    assert re.search(r"Pages: +1\n", facts)
    assert "(A4)" in facts
    assert main(["export", "coalescing", "--guide", "-o", str(tmp_path / "guide.mp4")]) == 2
    assert "--guide is one page" in capsys.readouterr().err
