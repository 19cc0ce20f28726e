"""The catalogues: in step with the sources, every placeholder kept, every plural form there; and the choice of a language."""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gemmviz.files.languages as chosen
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import lesson_names, load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.codec import read_text
from gemmviz.files.kernel_file import read_program_text
from gemmviz.files.languages import VARIABLE, languages, system_language, use_language
from gemmviz.files.recordings import recorded, shown_name
from gemmviz.files.resources import dialog_filters
from gemmviz.files.trace_file import read_trace
from gemmviz.model.messages import (
    ENGLISH,
    GemmvizError,
    UsageError,
    asking,
    language,
    listed,
    many,
    ordinal,
    percent,
    plural,
    speak,
    told,
    tr,
    trn,
)
from gemmviz.model.problem import Problem
from gemmviz.render.svg import scene_svg, subset_fonts, system_font
from gemmviz.scenes.kit.primitives import Labels, Scene, points, text_width, wrap_text
from gemmviz.teaching.lesson_file import lesson_title, original_lesson, shipped_lesson
from gemmviz.teaching.text_checks import text_errors
from tests.pseudo import plain_words, pseudo, wide

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


@pytest.fixture(autouse=True)
def _english_afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(VARIABLE, ENGLISH)
    yield
    speak(ENGLISH, None)


@cache
def _tool() -> ModuleType:
    pytest.importorskip("babel")
    return import_module("translations")


@cache
def _catalogues() -> dict[str, Any]:
    return {str(path): _tool().read(path) for path in _tool().catalogues()}


def _messages() -> Iterator[tuple[str, Any]]:
    for path, catalogue in _catalogues().items():
        yield from ((path, each) for each in catalogue if each.id and not each.fuzzy)


def test_the_catalogues_are_in_step_with_the_sources() -> None:
    stale = [path.name for path, content in _tool().made_files().items() if not path.exists() or path.read_bytes() != content]
    assert stale == [], "make translations"


def test_every_translation_keeps_the_placeholders() -> None:
    wrong = []
    for file, each in _messages():
        ids, texts = ([value] if isinstance(value, str) else list(value) for value in (each.id, each.string))
        wanted = set(_PLACEHOLDER.findall(ids[-1]))
        wrong += [f"{file}: {text}" for text in texts if text and set(_PLACEHOLDER.findall(text)) != wanted]
    assert wrong == []


def test_every_plural_form_is_there() -> None:
    for catalogue in _catalogues().values():
        several = [each for each in catalogue if isinstance(each.id, tuple)]
        assert [each.id for each in several if len(each.string) != catalogue.num_plurals] == []


def test_menus_keep_their_shortcuts() -> None:
    marks = [(each.id, each.string) for _, each in _messages() if isinstance(each.id, str) and re.search(r"&\w", each.id)]
    assert [pair for pair in marks if pair[1] and len(re.findall(r"&\w", pair[1])) != 1] == []
    assert len(marks) > 50


def test_a_text_is_translated_when_it_is_shown() -> None:
    assert tr("Step {step} does not access {what}", step=1, what="x") == "Step 1 does not access x"
    with pseudo():
        assert tr("no lane {of} that name", of=1) == "no lane 1 that name"  # no message
        assert many(3, "lane") == "3 ļäńëś"
        assert trn("{count} lane", "{count} lanes", 1) == "1 ļäńë"
    assert (many(1, "lane"), many(2, "launch"), plural("box")) == ("1 lane", "2 launches", "boxes")
    assert (listed("ABC"), listed("AB", "or")) == ("A, B and C", "A or B")
    assert list(map(ordinal, (2, 13, 112, 121))) == ["2nd", "13th", "112th", "121st"]


def test_a_language_is_chosen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(languages()) == [ENGLISH, "zh_CN"]
    use_language("zh_CN")
    assert (language(), many(2, "sector")) == ("zh_CN", "2 个扇区")
    use_language(ENGLISH)
    assert many(2, "sector") == "2 sectors"
    with pytest.raises(UsageError, match="no translation into 'xx'"):
        use_language("xx")
    assert main(["--language", "zh_CN", "export", "04_tiled", "--step", "999", "-o", "x.png"]) == 2
    assert "没有第 999 步" in capsys.readouterr().err


def test_checks_of_lessons_are_printed_in_one_language(capsys: pytest.CaptureFixture[str]) -> None:
    printed = set()
    for code in (ENGLISH, "zh_CN"):
        assert main(["--language", code, "lesson", "check", "streams", "--all"]) == 0
        assert main(["--language", code, "lesson", "list", "streams"]) == 0
        printed.add(capsys.readouterr().out)
    assert len(printed) == 1


@pytest.mark.parametrize(
    ("environment", "code"),
    [({"LANG": "zh_CN.UTF-8"}, "zh_CN"), ({"LANG": "de_DE.UTF-8"}, ENGLISH), ({}, ENGLISH),
     ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, ENGLISH), ({"LC_MESSAGES": "zh_CN"}, "zh_CN")],
)  # fmt: skip
def test_the_systems_language_is_used_if_it_is_complete(
    environment: dict[str, str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chosen, "_translated", lambda: {"zh_CN": chosen._Facts("中文", complete=True)})
    assert system_language(environment) == code
    monkeypatch.setattr(chosen, "_translated", lambda: {"zh_CN": chosen._Facts("中文", complete=False)})
    assert system_language(environment) == ENGLISH


@pytest.mark.parametrize("name", lesson_names())
def test_a_lesson_is_translated_and_keeps_its_numbers(name: str) -> None:
    english, title = original_lesson(name), lesson_title(name)
    use_language("zh_CN")
    chinese = shipped_lesson(name)
    assert chinese.title == lesson_title(name) != title
    assert [set(each.needed) for each in chinese.steps] == [set(each.needed) for each in english.steps]
    both = [(a, b) for a, b in zip(chinese.steps, english.steps, strict=True) if "/" not in a.id]
    assert all(a.caption != b.caption for a, b in both if a.caption)
    assert all(a.part != b.part for a, b in zip(chinese.steps, english.steps, strict=True) if a.part)
    assert [wrong for each in chinese.steps for wrong in text_errors(each)] == []
    assert [each.shot for each in chinese.steps] == [each.shot for each in english.steps]


def test_recordings_keep_the_names_by_which_lessons_know_them() -> None:
    names = list(recorded())
    use_language("zh_CN")
    assert list(recorded()) == names
    assert all("上记录" in shown_name(name) for name in names)
    assert {step.shot.chart.source for step in shipped_lesson("two-buffers").steps} & {*names}


def test_wide_characters_are_one_em_wide_and_break_anywhere() -> None:
    assert text_width("线程", 20.0) == 40.0
    assert wrap_text("线程束读取，然后写", 20.0, 90.0, 4) == ("线程束读", "取，然后", "写")
    assert wrap_text("线程束读取，", 20.0, 101.0, 2)[1][:1] != "，"
    assert wrap_text("16 threads read", 20.0, 110.0, 2) == ("16 threads", "read")


def test_exports_embed_the_glyphs_of_a_font_of_the_system() -> None:
    scene = Scene(100, 100, "#000000", (Labels("a", points((0, 50)), ("线程 A",), 20, "#ffffff"),))
    assert set(subset_fonts(scene.all)) == {"regular", "wide"}
    assert 'font-family="gemmviz, gemmviz-wide, sans-serif"' in scene_svg(scene)
    assert scene_svg(scene, "outlines").count("<path") == 1
    assert ord("线") in system_font().getBestCmap()
    plain = Scene(100, 100, "#000000", (Labels("a", points((0, 50)), ("A",), 20, "#ffffff"),))
    assert "gemmviz-wide" not in scene_svg(plain)


def test_counts_of_a_chinese_text_are_hidden_while_a_question_is_open() -> None:
    use_language("zh_CN")
    with asking():
        assert told(tr("line {line}", line=46), 0.0) == tr("line {line}", line=46)
        assert told(many(32, "sector"), 0.0) == "? 个扇区"
        assert told(many(32, "sector"), 1.0) == "32 个扇区"
        assert told(percent(0.5), 0.0) == "? %"


def test_a_kernels_own_words_are_translated_where_they_are_shown() -> None:
    case = setup_for(load_kernel("01_single_block"), Problem(8, 8, 8), {})
    with wide():
        assert "线程" in tr(case.kernel.title)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.cu", b"\x7fELF\0\0"),
        ("a.toml", b"\xff\xfe\xff"),
        ("a.gvt", b"nothing"),
        ("b.cu", None),
        ("b.toml", None),
        ("b.gvt", None),
    ],
)
def test_files_that_cant_be_opened_are_refused_in_the_language(name: str, content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    readers: dict[str, Callable[[Path], object]] = {
        ".cu": partial(read_program_text, most_bytes=1000), ".toml": read_text, ".gvt": read_trace,
    }  # fmt: skip
    with pseudo(), pytest.raises(GemmvizError) as caught:
        readers[path.suffix](path)
    assert plain_words(" ".join((caught.value.message, caught.value.remedy or ""))) == []


def test_the_kinds_of_files_in_the_open_dialog_are_translated() -> None:
    with pseudo():
        assert plain_words(" ".join(each.partition(" (")[0] for each in dialog_filters())) == []
