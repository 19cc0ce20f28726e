"""Lessons: every number in them is true, every step can be drawn, and what is wrong in a file is named with its place."""

import re
from pathlib import Path

import pytest
from msgspec import structs

from gemmviz.analysis.replay.focus import Position
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import COURSE, lesson_names, load_kernel, plan_names
from gemmviz.cuda.launch.legality import can_run, setup_for
from gemmviz.files.codec import FormatError
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.messages import GemmvizError, SettingError, UsageError
from gemmviz.model.problem import Problem
from gemmviz.render.reel import RenderOptions
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.kit.primitives import Labels
from gemmviz.shots.export import ExportOptions, prepare
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.picture import picture
from gemmviz.shots.shot import Shot, default_shot, save_view
from gemmviz.teaching.captions import parts_of
from gemmviz.teaching.checking import says_something
from gemmviz.teaching.lesson import Expectation, Lesson, LessonStep, Question
from gemmviz.teaching.lesson_file import lesson_text, lesson_title, parse_lesson, shipped_lesson
from gemmviz.teaching.quantities.catalog import quantities, quantity_title, quantity_value
from gemmviz.teaching.reel import lesson_reel
from tests.conftest import once, sure

OWN = [name for name in lesson_names() if name not in plan_names()]
TOLD_ONCE = {"coalescing/three-steps", "coalescing/level-when-small", "coalescing/occupancy-512", "analysis/one-instruction", "analysis/reuse", "analysis/hip-naive"}  # fmt: skip
NOT_IN_COURSE = {"transpose", "vector-add", "reduction", "stencil", "matrix-vector"}
HEAD = 'format = "gemmviz lesson"\nversion = 4\ntitle = "Mine"\n\n'
STEP = '[[step]]\ntitle = "One"\nshot.setup.kernel = "04_tiled"\n'


@pytest.mark.parametrize("name", OWN)
def test_every_step_expects_something(name: str) -> None:
    assert [stop.id for stop in shipped_lesson(name).steps if not stop.expect and stop.exercise is None] == []


@pytest.mark.parametrize("name", OWN)
def test_every_step_expects_something_that_a_run_can_contradict(name: str) -> None:
    assert [stop.id for stop in shipped_lesson(name).steps if not says_something(stop)] == []


@pytest.mark.parametrize("name", OWN)
def test_students_have_a_text_of_their_own(name: str) -> None:
    """One or two sentences for each step, which aren't the lecturer's notes."""
    for stop in shipped_lesson(name).steps:
        assert stop.text.endswith((".", "?")), stop.id
        assert 40 <= len(stop.text) <= 260, stop.id
        assert stop.text != stop.notes


def test_the_course_goes_through_all_of_them_once() -> None:
    """Without those that another lesson of it has, too."""
    own = [f"{name}/{stop.id}" for name in OWN if name not in NOT_IN_COURSE for stop in shipped_lesson(name).steps]
    assert sorted(stop.id for stop in shipped_lesson(COURSE).steps) == sorted({*own} - TOLD_ONCE)
    assert lesson_names()[-1] == COURSE
    assert all(lesson_title(name) == shipped_lesson(name).title for name in lesson_names())


@pytest.mark.parametrize("name", plan_names())
def test_a_plan_names_steps_of_lessons_in_parts_and_keeps_its_time(name: str) -> None:
    """A step of a plan is that of its lesson, but for its heading and its duration."""
    plan = shipped_lesson(name)
    for stop in plan.steps:
        lesson, _, id = stop.id.partition("/")
        own = shipped_lesson(lesson).steps[sure(shipped_lesson(lesson).find(id))]
        assert structs.replace(stop, id=id, part=own.part, minutes=own.minutes) == own
    wanted = re.search(r"(\d+) minutes", plan.title)
    if wanted is not None:
        assert 0.9 * int(wanted[1]) <= plan.minutes <= int(wanted[1])
        assert plan.steps[0].part


def test_a_step_of_another_lesson_may_have_a_heading_and_a_duration() -> None:
    first, second = parse_lesson(
        HEAD + "[[step]]\nfrom = 'slides/labels'\npart = 'Today'\nminutes = 1.5\n[[step]]\nfrom = 'slides/early-return'\n"
    ).steps
    assert (first.id, first.part, first.minutes) == ("slides/labels", "Today", 1.5)
    own = shipped_lesson("slides")
    assert (second.part, second.minutes) == ("", own.steps[sure(own.find("early-return"))].minutes)
    assert parse_lesson(lesson_text(Lesson("Mine", (first, second)))).steps[0].part == "Today"


@pytest.mark.parametrize("name", OWN)
def test_what_a_step_needs_is_there(name: str) -> None:
    ids = [stop.id for stop in shipped_lesson(name).steps]
    assert len(set(ids)) == len(ids)
    for place, stop in enumerate(shipped_lesson(name).steps):
        assert set(stop.needs) <= set(ids[:place]), stop.id


@pytest.mark.parametrize("name", OWN)
def test_a_lesson_is_read_back_as_it_was(name: str) -> None:
    lesson = shipped_lesson(name)
    again = parse_lesson(lesson_text(lesson), f"{name}.toml")
    assert again == lesson


# A lesson of one's own


def test_a_wrong_number_is_named_with_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        HEAD + STEP + 'expect = [\n  { quantity = "block_count", is = 4 },\n  { quantity = "threads_per_block", is = 17 },\n]\n'
    )
    assert main(["lesson", "check", str(path)]) == 1
    out = capsys.readouterr()
    assert f"{path}:10:3: step 1, One: threads per block is 16, not 17" in out.err
    assert "3 checks passed" in out.out  # C is right, too, at this size and at another
    path.write_text(HEAD + STEP + 'expect = [{ quantity = "block_count", is = 4 }]\n')
    assert main(["lesson", "check", str(path), "--all"]) == 0
    assert f"{path}:8: blocks is 4" in capsys.readouterr().out


def test_a_lesson_that_expects_nothing_fails_its_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "view.toml"
    save_view(default_shot(), path)
    assert main(["lesson", "check", str(path)]) == 1
    assert "no step has an expectation, so nothing was checked" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this lesson has no [[step]]"),
        ("[[step]]\ntitle = 'x'\n", "step 1 has no [step.shot]"),
        (STEP + "colour = 'red'\n", "mine.toml:8:1: step 1: the field 'colour' is unknown"),
        (STEP + "captoin = 'red'\n", "did you mean caption?"),
        (STEP + "minutes = '3'\n", "mine.toml:8:1: step 1, minutes: Expected a number, got a string"),
        (STEP + "shot.setup.problem = { M = 4, N = 'x', K = 4 }\n", "mine.toml:8:1: N: expected a whole number, not 'x'"),
        (STEP + "shot.view = { tile = 1 }\n", "mine.toml:8:1: Expected `str`, got `object` - at `$.view`"),
        (STEP + "shot.setup.device = 'h20'\n", "mine.toml:8:1: there is no device 'h20'"),
        (STEP + "caption = '{n} blocks'\n", "the caption has {n}, but no expectation has this name"),
        (STEP + "expect = [{ quantity = 'block_count' }]\n", "mine.toml:8:11: step 1, expect 1: the field 'is' is missing"),
        (STEP + "expect = [{ quantity = 'block_count', is = 4, colour = 1 }]\n", "mine.toml:8:47: step 1, expect 1: the field 'colour' is unknown (the fields are quantity, is, name, about)"),
        (STEP + "question = { text = 'x', choices = [{ text = 'a', right = true }] }\n", "has 1 choices, 1 of them right"),
        (STEP + f"expect = [{{ quantity = 'block_count', is = {10**30} }}]\n", "step 1, expect 1: a whole number has at most 64 bits"),
        (STEP + "exercise = { task = 'x' }\n", "mine.toml:8:1: step 1, exercise: the field 'until' is missing"),
        (STEP + "build = 'slowly'\n", "a view can't be revealed by 'slowly'"),
        (STEP + "minutes = -1\n", "a step can't take -1 minutes"),
        ("[[step]]\nfrom = 'coalescing/nothing'\n", "coalescing has no step 'nothing'"),
        ("[[step]]\nfrom = 'slides/labels'\ncaption = 'x'\n", "step 1: the field 'caption' is unknown (the fields are from, part, minutes)"),
        (STEP + "exercise = { task = 'x', key = '../course', until = [{ quantity = 'block_count', is = 4 }] }\n", "there is no key"),
        ("[[step]]\nfrom = 'nobody/x'\n", "there is no lesson 'nobody'"),
        (STEP.replace("04_tiled", "05_nothing"), "there is no kernel '05_nothing'"),
    ],
)  # fmt: skip
def test_what_is_no_lesson_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises((FormatError, UsageError, SettingError)) as caught:
        parse_lesson(HEAD + text, "mine.toml")
    assert said in str(caught.value)
    assert str(caught.value).startswith("mine.toml")
    if "[[step]]" in text:
        assert caught.value.place is not None
        assert caught.value.place.line >= 5


def test_a_quantity_that_nobody_knows_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + STEP + 'expect = [{ quantity = "block", is = 4 }]\n')
    assert main(["lesson", "check", str(path)]) == 1
    assert f"{path}:8:11: step 1, One: block is not available: there is no quantity 'block'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("block_cuont", "did you mean block_count?"),
        ("global reads", "is not the name of a quantity"),
        ("elements(global, read)", "is not the name of a quantity"),
        ("elements(space=global)", "missing required field `access`"),
        ("elements(space=local, access=read)", "Invalid enum value 'local'"),
        ("elements(space=global, acess=read)", "did you mean access?"),
        ("lane_of_thread(x=-1)", "Expected `int` >= 0"),
        ("launch_cost(measure=lines)", "sectors|requests|wavefronts"),
        ("block_count(x=1)", "has no argument 'x' (write block_count)"),
    ],
)
def test_a_wrong_reference_is_explained(reference: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        quantity_value(reference, Knowledge(default_shot(), Interpreter()))
    assert said in str(caught.value)
    assert quantity_title(reference) == reference


def test_titles_name_the_arguments_that_are_given() -> None:
    assert quantity_title("elements(space=shared, access=write)") == "shared memory writes, in elements"
    assert quantity_title("hazards( kind = read-after-write , array = sh_A )") == "read-after-write hazards of sh_A"
    assert quantity_title("element_offset(array=A, row=1, column=2)") == "offset of A at row 1, column 2"
    assert quantity_title("lane_of_thread(x=40)") == "lane of thread (40, 0, 0)"


def test_all_quantities_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", "quantities"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split("(")[0] for line in listed[::2]] == list(quantities())
    assert "elements(space=global|shared, access=read|write, array?)" in listed[::2]
    assert "    C (run)" in listed
    assert all(line.startswith("    ") for line in listed[1::2])
    assert all(each.title and each.compute.__doc__ for each in quantities().values())


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


@pytest.mark.parametrize(
    ("kernel", "sizes", "device", "id"),
    [
        ("01_single_block", 23, "8800gtx", "block-threads"), ("01_single_block", 22, "8800gtx", ""), ("05_tiled_unguarded", 17, "h200", "requirement"),
    ],
)  # fmt: skip
def test_a_refused_launch_has_the_id_of_its_limit(kernel: str, sizes: int, device: str, id: str) -> None:
    setup = setup_for(load_kernel(kernel), Problem(sizes, sizes, sizes), device=device)
    assert quantity_value("refusal", Knowledge(structs.replace(default_shot(), setup=setup), Interpreter())) == id


@pytest.mark.parametrize(
    ("kernel", "quantity", "said"),
    [
        ("04_tiled", "reads_of_thread(thread=9999)", "a block has no thread 9999"),
        ("04_tiled", "copy_of_thread(number=1, thread=16, phase=1)", "a block has no thread 16"),
        ("04_tiled", "element_offset(array=A, row=99, column=99)", "A has 8 × 8 elements"),
        ("04_tiled", "largest_size(name=WIDTH)", "04_tiled has no WIDTH"),
        ("08_register_tiled", "elements_per_phase", "not known to be alike"),
        ("08_register_tiled", "product_of_thread(number=1, thread=0, phase=1)", "its threads use each value"),
        ("09_vectorised", "product_of_thread(number=1, thread=0, phase=1)", "its threads use each value"),
        ("no_else", "result", "is read before it is written"),
    ],
)
def test_what_can_not_be_told_is_not_told(kernel: str, quantity: str, said: str) -> None:
    with pytest.raises(GemmvizError, match=re.escape(said)):
        quantity_value(
            quantity, Knowledge(structs.replace(default_shot(), setup=setup_for(load_kernel(kernel))), Interpreter())
        )


def test_the_largest_tile_is_the_largest_that_runs() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(96, 96, 96))
    assert (
        quantity_value("largest_size(name=TILE_WIDTH)", Knowledge(structs.replace(default_shot(), setup=setup), Interpreter()))
        == 32
    )


def test_a_block_may_have_fewer_threads_the_larger_a_parameter_is() -> None:
    text = load_kernel("08_register_tiled").text.replace("[2, 4, 8]", "[1, 2, 4]")
    setup = setup_for(parse_kernel(text, "mine.cu"), Problem(128, 128, 128), {"TILE_WIDTH": 128, "PER_THREAD": 4})
    known = Knowledge(structs.replace(default_shot(), setup=setup), Interpreter())
    assert [size for size in (1, 2) if can_run(setup.changed(PER_THREAD=size))] == []
    assert quantity_value("largest_size(name=PER_THREAD)", known) == 4


def test_elements_of_doubles_are_counted_as_elements() -> None:
    kernel = load_kernel("02_naive")
    doubled = structs.replace(kernel, text=kernel.text.replace("float", "double").replace("0.0f", "0.0"), is_shipped=False)
    counts = [
        quantity_value(
            "elements(space=global, access=read)",
            Knowledge(structs.replace(default_shot(), setup=setup_for(each, Problem(8, 8, 8))), Interpreter()),
        )
        for each in (kernel, doubled)
    ]
    assert counts == [1024, 1024]


def test_phases_of_a_run_that_ended_early_are_drawn() -> None:
    for kernel in ("no_else", "08_register_tiled"):
        shot = structs.replace(default_shot(), setup=setup_for(load_kernel(kernel)), view="phases")
        stage = prepare(shot, once)
        assert picture(shot, stage.subject(stage.step)).primitives


def test_a_sums_k_counts_from_the_start_of_its_phase() -> None:
    """Also where only its later products are shown."""
    shot = structs.replace(
        default_shot(), setup=setup_for(load_kernel("04_tiled"), Problem(16, 16, 32), {"TILE_WIDTH": 16}), view="sum"
    )
    stage = prepare(structs.replace(shot, at=Position(10**6)), once)
    names = [text for each in picture(shot, stage.subject(sure(stage.replay).steps - 2)).primitives if isinstance(each, Labels)
             for text in each.texts if text.startswith("k in phase")]  # fmt: skip
    assert names == [f"k in phase = {k}" for k in range(12, 16)]


def test_captions_are_filled_from_what_is_found() -> None:
    stop = LessonStep(default_shot(), caption="{n} blocks", expect=(Expectation("block_count", 99, "n"),))
    reel = lesson_reel(Lesson("x", (stop,)), once, ExportOptions(RenderOptions(640, 360)))
    assert next(iter(reel.slides())).caption == "4 blocks"  # what is counted, whatever is expected


def test_a_question_comes_first_then_its_right_answer_alone() -> None:
    stop = next(stop for stop in shipped_lesson("coalescing").steps if stop.question is not None)
    question = stop.with_numbers({}).question  # not computed yet
    assert isinstance(question, Question)
    first, answer = parts_of(stop)
    assert first.caption.right is None
    assert first.caption.caption == question.text
    assert answer.caption.picked == answer.caption.right == question.right


def test_an_exported_question_shows_its_counts_only_with_the_answer() -> None:
    lesson = shipped_lesson("coalescing")
    one = structs.replace(lesson, steps=(lesson.steps[sure(lesson.find("question-lanes"))],))

    def shown(answers: bool) -> list[str]:
        slides = lesson_reel(one, once, ExportOptions(), answers=answers).slides()
        return [" ".join(text for each in slide.scene.all if isinstance(each, Labels) and not each.key.startswith("band")
                         for text in each.texts) for slide in slides]  # fmt: skip

    (asked,) = shown(answers=False)
    assert "32 sectors" not in asked
    assert "32 sectors" in shown(answers=True)[1]


def test_blanks_are_filled_one_after_the_other_and_the_last_text_runs() -> None:
    stop = next(stop for stop in shipped_lesson("slides").steps if stop.build == "blanks")
    parts = parts_of(stop)
    left = [quantity_value("blanks", Knowledge(part.shot, Interpreter())) for part in parts]
    assert left == list(range(8, -1, -1))
    said = [part.caption.caption.partition(":")[0] for part in parts[1:]]
    assert said == ["Step 1", "Step 2", "Step 2", "Step 3a", "Step 3a", "Step 3b", "Step 3b", "Step 4"]
    assert parts[0].caption.caption == stop.caption
    assert quantity_value("result", Knowledge(parts[-1].shot, Interpreter())) == "right"
    assert isinstance(parts[-1].shot, Shot)


def test_hand_outs_with_and_without_answers(tmp_path: Path) -> None:
    pages = {}
    for name, flags in (("with", ["--answers"]), ("without", [])):
        path = tmp_path / f"{name}.pdf"
        assert main(["export", "slides", *flags, "--size", "640x360", "-o", str(path)]) == 0
        pages[name] = len(re.findall(rb"/Type /Page\b", path.read_bytes()))
    questions = sum(stop.question is not None for stop in shipped_lesson("slides").steps)
    assert pages == {"without": len(shipped_lesson("slides").steps), "with": len(shipped_lesson("slides").steps) + questions}
