"""Lessons: every number in them is true, every step can be drawn, and what is wrong in a file is named with its place."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.analysis.replay.position import Position
from gemmviz.cli.main import main
from gemmviz.export.prepare import ExportOptions, prepare
from gemmviz.files.codec import FormatError
from gemmviz.launch.catalog import COURSE, lesson_names, load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.problem import Problem
from gemmviz.render.export import save_reel
from gemmviz.render.format import RenderOptions
from gemmviz.render.page import THEMES
from gemmviz.render.png import encode_png
from gemmviz.render.qt.offscreen import start_qt
from gemmviz.render.qt.raster import Raster
from gemmviz.render.reel import Frame
from gemmviz.render.svg import scene_svg
from gemmviz.run.choosing import engine_for
from gemmviz.scenes.kit.primitives import Labels
from gemmviz.state.shot import Shot, default_shot, save_view
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.picture import picture
from gemmviz.teaching.checking import findings
from gemmviz.teaching.lesson import (
    Expectation,
    Lesson,
    LessonStep,
    Question,
    lesson_text,
    lesson_title,
    parse_lesson,
    shipped_lesson,
)
from gemmviz.teaching.quantities import quantity, quantity_names
from gemmviz.teaching.reel import lesson_reel
from gemmviz.teaching.reveal import parts_of
from tests.conftest import sure
from tests.scenes.test_text import wrong_with

OWN = [name for name in lesson_names() if name != COURSE]
ENGINE = engine_for("cpu")
HEAD = 'format = "gemmviz lesson"\nversion = 2\ntitle = "Mine"\n\n'
STEP = '[[step]]\ntitle = "One"\nshot.setup.kernel = "04_tiled"\n'


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_every_expectation_of_every_lesson_is_true(name: str) -> None:
    found = list(findings(shipped_lesson(name), lambda kernel: nullcontext(ENGINE)))
    assert [each.sentence for each in found if not each.is_true] == []
    assert len(found) >= len(shipped_lesson(name).stops)


@pytest.mark.parametrize("name", OWN)
def test_every_step_expects_something(name: str) -> None:
    assert [stop.id for stop in shipped_lesson(name).stops if not stop.expect and stop.exercise is None] == []


def test_the_course_goes_through_all_of_them_once() -> None:
    own = [f"{name}/{stop.id}" for name in OWN for stop in shipped_lesson(name).stops]
    assert sorted(stop.id for stop in shipped_lesson(COURSE).stops) == sorted(own)
    assert lesson_names()[0] == COURSE
    assert all(lesson_title(name) == shipped_lesson(name).title for name in lesson_names())


@pytest.mark.parametrize("name", OWN)
def test_what_a_step_needs_is_there(name: str) -> None:
    ids = [stop.id for stop in shipped_lesson(name).stops]
    assert len(set(ids)) == len(ids)
    for place, stop in enumerate(shipped_lesson(name).stops):
        assert set(stop.needs) <= set(ids[:place]), stop.id


@pytest.mark.parametrize("name", OWN)
def test_a_lesson_is_read_back_as_it_was(name: str) -> None:
    lesson = shipped_lesson(name)
    again = parse_lesson(lesson_text(lesson), f"{name}.toml")
    assert again == lesson


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", OWN)
def test_every_step_is_drawn_and_nothing_overlaps(name: str, theme: str) -> None:
    start_qt()
    look = RenderOptions(1280, 720)
    reel = lesson_reel(
        shipped_lesson(name), lambda kernel: nullcontext(ENGINE), ExportOptions(look), dressed(theme), answers=True
    )
    wrong, pictures = {}, 0
    for number, slide in enumerate(reel.slides(), 1):
        wrong[number, slide.title] = wrong_with(slide.scene)[:3]
        svg = scene_svg(slide.scene, "fonts" if theme == THEMES[0] else "named")  # letters are the same in all themes
        assert svg.startswith("<svg")
        assert len(encode_png(Raster(look).array(Frame(slide.scene)))) > 2000
        assert slide.caption
        assert "{" not in slide.caption, slide.caption
        assert "?" not in slide.caption or slide.caption.count("?") == len(re.findall(r"\w\?", slide.caption)), slide.caption
        pictures += 1
    assert {at: found for at, found in wrong.items() if found} == {}
    assert pictures == reel.slide_count


def dressed(theme: str) -> Callable[[Shot], Shot]:
    return lambda shot: replace(shot, theme=theme)


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_every_step_is_in_the_page(name: str, tmp_path: Path) -> None:
    reel = lesson_reel(shipped_lesson(name), lambda kernel: nullcontext(ENGINE), ExportOptions(RenderOptions(960, 540)))
    steps = list(reel.steps())
    assert len(steps) == len(shipped_lesson(name).stops)
    assert all(set(step.after) == set(THEMES) for step in steps)
    save_reel(reel, tmp_path / "l.html", RenderOptions(960, 540))
    assert (tmp_path / "l.html").stat().st_size > 20_000


# A lesson of one's own


def test_a_wrong_number_is_named_with_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + STEP + 'expect = [\n  { what = "blocks", is = 4 },\n  { what = "threads a block", is = 17 },\n]\n')
    assert main(["lesson", "check", str(path)]) == 1
    out = capsys.readouterr()
    assert f"{path}:10:1: step 1, One: threads a block is 16, not 17" in out.err
    assert "1 expectation true" in out.out
    path.write_text(HEAD + STEP + 'expect = [{ what = "blocks", is = 4 }]\n')
    assert main(["lesson", "check", str(path), "--all"]) == 0
    assert f"{path}:8: blocks is 4" in capsys.readouterr().out


def test_a_lesson_that_expects_nothing_fails_its_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "view.toml"
    save_view(default_shot(), path)
    assert main(["lesson", "check", str(path)]) == 1
    assert "no step expects anything, so nothing was checked" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this lesson has no [[step]]"),
        ("[[step]]\ntitle = 'x'\n", "step 1 has no [step.shot]"),
        (STEP + "colour = 'red'\n", "step 1 has colour, which no step has"),
        (STEP + "caption = '{n} blocks'\n", "the caption has {n}, which no expectation names"),
        (STEP + "expect = [{ what = 'blocks' }]\n", 'an expectation says what = "…" and is = …'),
        (STEP + "expect = [{ what = 'blocks', is = 4, colour = 1 }]\n", "colour means nothing here"),
        (STEP + "question = { text = 'x', choices = [{ text = 'a', right = true }] }\n", "has 1 choices, 1 of them right"),
        (STEP + "exercise = { task = 'x' }\n", "an exercise has task"),
        (STEP + "build = 'slowly'\n", "a view can't come by 'slowly'"),
        (STEP + "minutes = -1\n", "a step can't take -1 minutes"),
        ("[[step]]\nfrom = 'coalescing/nothing'\n", "coalescing has no step 'nothing'"),
        ("[[step]]\nfrom = 'slides/sum'\nminutes = 3\n", "minutes can't be changed"),
        (STEP + "exercise = { task = 'x', key = '../course', until = [{ what = 'blocks', is = 4 }] }\n", "there is no key"),
        ("[[step]]\nfrom = 'nobody/x'\n", "there is no lesson 'nobody'"),
        (STEP.replace("04_tiled", "05_nothing"), "there is no kernel '05_nothing'"),
    ],
)  # fmt: skip
def test_what_is_no_lesson_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises((FormatError, UsageError)) as caught:
        parse_lesson(HEAD + text, "mine.toml")
    assert said in str(caught.value)
    assert str(caught.value).startswith("mine.toml")
    if "[[step]]" in text:
        assert caught.value.place is not None
        assert caught.value.place.line >= 5


def test_a_quantity_that_nobody_knows_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + STEP + 'expect = [{ what = "block", is = 4 }]\n')
    assert main(["lesson", "check", str(path)]) == 1
    assert "there is no quantity 'block' (did you mean blocks?)" in capsys.readouterr().err


def test_all_quantities_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", "quantities"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed == quantity_names()
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("found", "value", "about", "right"),
    [
        (4, 4, 0.0, True), (4, 5, 0.0, False), (0.9704, 0.97, 0.0, True), (0.9754, 0.97, 0.0, False), (68.359, 68.36, 0.0, True),
        (110.0, 100, 0.2, True), (130.0, 100, 0.2, False), ("0 to 1", "0 to 1", 0.0, True), ("0 to 15", "0 to 1", 0.0, False), ("", "", 0.0, True),
        ("0 to 14", 4, 0.0, False), ("wrong", "", 0.0, False), (True, True, 0.0, True), (False, True, 0.0, False),
        (12.4, 12, 0.0, True), (0.3, 1e-7, 0.0, False), (float("inf"), 4, 0.0, False),
    ],
)  # fmt: skip
def test_numbers_are_compared_in_the_digits_that_are_written(found: object, value: object, about: float, right: bool) -> None:
    assert Expectation("x", value, about=about).is_met_by(found) is right  # type: ignore[arg-type]


def test_a_refusal_holds_the_words_that_are_expected() -> None:
    assert Expectation("refusal", "at most 512").is_met_by("a block has 1024 threads; at most 512 go")
    assert not Expectation("refusal", "at most 512").is_met_by("")
    assert not Expectation("refusal", "").is_met_by("something else")


@pytest.mark.parametrize(
    ("kernel", "what", "said"),
    [
        ("04_tiled", "reads by thread 9999", "a block has no thread 9999"),
        ("04_tiled", "copy 1 of thread 16 in phase 1", "a block has no thread 16"),
        ("04_tiled", "offset of A at row 99, column 99", "A has 8 × 8 elements"),
        ("04_tiled", "largest WIDTH of a block", "04_tiled has no WIDTH"),
        ("08_register_tiled", "loads of a block in a phase", "not known to be alike"),
        ("08_register_tiled", "product 1 of thread 0 in phase 1", "its threads multiply from registers"),
        ("09_vectorised", "product 1 of thread 0 in phase 1", "its threads multiply from registers"),
        ("no_else", "C", "is read before it is written"),
    ],
)
def test_what_can_not_be_told_is_not_told(kernel: str, what: str, said: str) -> None:
    with pytest.raises(GemmvizError, match=re.escape(said)):
        quantity(what, ShotFacts(replace(default_shot(), setup=setup_for(load_kernel(kernel)))))


def test_the_largest_tile_is_the_largest_that_runs() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(96, 96, 96))
    assert quantity("largest TILE_WIDTH of a block", ShotFacts(replace(default_shot(), setup=setup))) == 32


def test_elements_of_doubles_are_counted_as_elements() -> None:
    kernel = load_kernel("02_naive")
    doubled = replace(kernel, text=kernel.text.replace("float", "double").replace("0.0f", "0.0"), is_shipped=False)
    counts = [
        quantity("global reads", ShotFacts(replace(default_shot(), setup=setup_for(each, Problem(8, 8, 8)))))
        for each in (kernel, doubled)
    ]
    assert counts == [1024, 1024]


def test_phases_of_a_run_that_ended_early_are_drawn() -> None:
    for kernel in ("no_else", "08_register_tiled"):
        shot = replace(default_shot(), setup=setup_for(load_kernel(kernel)), view="phases")
        stage = prepare(shot, lambda kernel: nullcontext(ENGINE))
        assert picture(shot, stage.subject(stage.step)).primitives


def test_a_sums_k_counts_from_the_start_of_its_phase() -> None:
    """Also where only its later products are shown."""
    shot = replace(
        default_shot(), setup=setup_for(load_kernel("04_tiled"), Problem(16, 16, 32), {"TILE_WIDTH": 16}), view="sum"
    )
    stage = prepare(replace(shot, at=Position(10**6)), lambda kernel: nullcontext(ENGINE))
    names = [text for each in picture(shot, stage.subject(sure(stage.replay).steps - 2)).primitives if isinstance(each, Labels)
             for text in each.texts if text.startswith("k in phase")]  # fmt: skip
    assert names == [f"k in phase = {k}" for k in range(8, 16)]


def test_captions_are_filled_from_what_is_found() -> None:
    stop = LessonStep(default_shot(), caption="{n} blocks", expect=(Expectation("blocks", 99, "n"),))
    reel = lesson_reel(Lesson("x", (stop,)), lambda kernel: nullcontext(ENGINE), ExportOptions(RenderOptions(640, 360)))
    assert next(iter(reel.slides())).caption == "4 blocks"  # what is counted, whatever is expected


def test_a_question_comes_first_then_what_is_right_then_the_others() -> None:
    stop = next(stop for stop in shipped_lesson("coalescing").stops if stop.question is not None)
    question = stop.question
    assert isinstance(question, Question)
    first, *others = parts_of(stop)
    assert first.said.right is None
    assert first.said.caption == question.text
    assert others[0].said.picked == question.right
    assert {part.said.picked for part in others} == set(range(len(question.choices)))
    assert all(part.said.right == question.right for part in others)
    assert others[0].shot == question.choices[question.right].shot


def test_blanks_are_filled_one_after_the_other_and_the_last_text_runs() -> None:
    stop = next(stop for stop in shipped_lesson("slides").stops if stop.build == "blanks")
    parts = parts_of(stop)
    left = [quantity("blanks", ShotFacts(part.shot)) for part in parts]
    assert left == list(range(8, -1, -1))
    assert quantity("C", ShotFacts(parts[-1].shot)) == "right"
    assert isinstance(parts[-1].shot, Shot)


def test_hand_outs_with_and_without_answers(tmp_path: Path) -> None:
    pages = {}
    for name, flags in (("with", ["--answers"]), ("without", [])):
        path = tmp_path / f"{name}.pdf"
        assert main(["export", "slides", *flags, "--size", "640x360", "-o", str(path)]) == 0
        pages[name] = len(re.findall(rb"/Type /Page\b", path.read_bytes()))
    questions = sum(stop.question is not None for stop in shipped_lesson("slides").stops)
    assert pages == {"without": len(shipped_lesson("slides").stops), "with": len(shipped_lesson("slides").stops) + questions}
