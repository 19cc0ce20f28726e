"""Taking a lesson without a window: steps seen, questions, exercises, and exploring."""

from pathlib import Path

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import letter
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.teaching.exercises import judged
from gemmviz.teaching.lesson import answers_of
from gemmviz.teaching.lesson_file import lesson_text, parse_lesson, shipped_lesson
from tests.app_model import TestModel
from tests.conftest import kernel_from, sure


def test_from_step_to_step_and_back(model: TestModel) -> None:
    model.settle()
    course = model.course
    course.begin(shipped_lesson("coalescing"))
    model.settle()
    assert course.at == 0
    assert model.session.shot.view == "device"
    assert course.walk(1)
    model.settle()
    assert (course.at, model.session.shot.view) == (1, course.lesson.steps[1].shot.view)
    assert course.walk(-1)
    assert course.at == 0  # at once, since it is kept
    assert not course.walk(-1)
    assert {stop.id for stop in course.lesson.steps if course.is_seen(stop)} == {stop.id for stop in course.lesson.steps[:2]}
    course.end()
    course.begin(shipped_lesson("coalescing"))
    model.settle()
    assert course.at == 2  # the first that was not seen


def test_keys_do_not_add_up_while_a_step_is_awaited(model: TestModel) -> None:
    model.settle()
    course = model.course
    course.begin(shipped_lesson("coalescing"))
    assert course.is_waiting
    shot = model.session.shot
    assert all(course.walk(1) for _ in range(3))
    assert (course.at, model.session.shot) == (None, shot)  # everything stays until the step is ready
    model.settle()
    assert course.at == 0
    course.go(6)
    assert (course.at, course.is_waiting) == (0, True)
    course.walk(1)
    course.walk(-1)  # back: the step is not wanted any more
    assert (course.at, course.is_waiting) == (0, False)
    model.know()
    assert course.at == 0


def test_the_next_step_is_ready_and_those_far_away_are_forgotten(model: TestModel) -> None:
    model.settle()
    course = model.course
    course.begin(shipped_lesson("shared-memory"))
    model.inbox.until(lambda: course.is_ready(1))
    for place in range(1, 4):
        assert course.walk(1) or course.at == place
        while course.at != place:
            course.walk(1)
            model.settle()
        model.inbox.until(lambda place=place: course.is_ready(place + 1))  # type: ignore[misc]
        assert course.is_ready(place - 1)
    assert not course.is_ready(0)


@pytest.mark.parametrize(("lesson", "view"), [("shared-memory", "race"), ("shared-memory", "traffic")])
def test_a_ready_picture_is_never_awaited(model: TestModel, lesson: str, view: str) -> None:
    """Nobody who listens to the session finds it computing what was prepared."""
    model.settle()
    course, session = model.course, model.session
    course.begin(shipped_lesson(lesson))
    place = next(number for number, stop in enumerate(course.lesson.steps) if stop.shot.view == view)
    course.go(place - 1)
    model.inbox.until(lambda: course.is_ready(place))
    model.settle()
    seen: list[str] = []
    for signal in (session.shot_changed, session.run_changed, session.analysis_changed, session.position_changed):
        signal.connect(lambda: seen.append(session.display.pending if session.shot.view == view else ""))
    course.go(place)
    assert course.at == place
    assert len(seen) > 0
    assert set(seen) == {""}
    assert session.display.subject is not None


def test_a_step_that_shows_no_run_traces_nothing(model: TestModel) -> None:
    model.settle()
    course, lesson = model.course, shipped_lesson("coalescing")
    course.begin(lesson)
    course.go(sure(lesson.find("bytes")))
    model.settle()
    assert model.session.shown is None
    assert model.session.display.subject is not None
    assert model.session.display.pending == ""
    model.session.show(
        structs.replace(model.session.shot, view="stage", setup=model.session.shot.setup.changed(M=64, N=64, K=64))
    )
    model.settle()
    assert sure(model.session.shown).setup.problem.M == 64


def test_captions_get_their_numbers(model: TestModel) -> None:
    model.settle()
    model.course.begin(shipped_lesson("coalescing"))
    model.inbox.until(lambda: model.course.words.caption.startswith("108 multiprocessors, 6912 cores"))


def test_numbers_of_a_lesson_that_was_left_are_dropped(model: TestModel) -> None:
    model.settle()
    model.course.begin(shipped_lesson("coalescing"))
    model.course.begin(shipped_lesson("shared-memory"))
    model.inbox.until(lambda: "128" in model.course.words.caption)
    assert model.course.words.caption.startswith("N = 128: ")


def test_a_verdict_of_a_step_that_was_left_is_dropped(model: TestModel) -> None:
    model.settle()
    course, lesson = model.course, shipped_lesson("slides")
    course.begin(lesson)
    course.go(next(place for place, stop in enumerate(lesson.steps) if stop.build == "blanks"))
    model.settle()
    course.attempt(answers_of("blanks"))
    course.go(0)
    model.settle()
    model.inbox.until(lambda: not course.judging.is_busy)
    assert course.position.verdict is None


def test_a_view_that_has_nothing_to_show_says_why(model: TestModel) -> None:
    model.settle()
    session = model.session
    session.show(structs.replace(session.shot, setup=setup_for(load_kernel("sequential")), view="traffic"))
    model.inbox.until(lambda: session.display.missing.startswith("sequential has no width parameter"))
    session.show(structs.replace(session.shot, setup=setup_for(kernel_from("C[threadIdx.x + 99] = 1.0f;")), view="race"))
    model.inbox.until(lambda: "out of range" in session.display.missing)


def test_what_is_seen_in_the_course_is_seen_in_its_lesson(model: TestModel) -> None:
    model.settle()
    model.course.begin(shipped_lesson("course"))
    model.settle()
    lecture = shipped_lesson("lecture")
    model.course.end()
    model.course.begin(lecture)
    model.settle()
    assert model.course.is_seen(lecture.steps[0])
    assert model.course.at == 1


def test_a_step_comes_step_by_step_once_it_has_run(model: TestModel) -> None:
    model.settle()
    course, lesson = model.course, shipped_lesson("shared-memory")
    course.begin(lesson)
    course.go(sure(lesson.find("naive-reads")))
    model.settle()
    assert model.session.navigation.run_step == 0
    for expected in range(1, 6):
        assert course.walk(1)
        assert model.session.navigation.run_step == expected
    course.walk(1)
    model.settle()
    assert sure(course.now).id == "tile-loading"


def _at_question(model: TestModel) -> None:
    model.settle()
    course, lesson = model.course, shipped_lesson("coalescing")
    course.begin(lesson)
    course.go(sure(lesson.find("question-lanes")))
    model.settle()


def test_a_wrong_answer_gives_a_hint_and_another_try(model: TestModel) -> None:
    _at_question(model)
    course, display = model.course, model.session.display
    assert (course.is_asking, display.counted, course.feedback) == (True, 0.0, "")
    course.pick(1)
    assert (course.is_asking, display.counted, course.position.tried) == (True, 0.0, (1,))
    assert course.feedback.startswith("B is wrong: Neighbours in a row")
    assert course.words.right is None
    assert model.session.shot.setup.kernel.name == "02_naive"
    course.pick(2)
    model.settle()
    assert not course.is_asking
    assert course.feedback.startswith("C is right")
    assert course.said == course.words  # what a lecture shows below the picture


def test_the_counts_rise_with_the_step_that_answers(model: TestModel) -> None:
    _at_question(model)
    display, player = model.session.display, model.session.player
    model.course.pick(2)
    model.settle()
    assert model.session.state.counting == "rising"
    assert display.counted < 0.1
    player.tick(200)
    assert 0.1 < display.counted < 1.0
    player.tick(249)
    player.tick(249)
    assert (model.session.state.counting, display.counted) == ("shown", 1.0)


def test_two_wrong_answers_show_the_right_one(model: TestModel) -> None:
    _at_question(model)
    for place in (0, 3):
        model.course.pick(place)
    model.settle()
    assert not model.course.is_asking
    assert model.course.feedback.startswith("C was right: ")
    model.course.pick(1)  # why not B?
    model.settle()
    assert model.session.shot.setup.kernel.name == "03_coalesced"
    assert model.course.words.caption.startswith("B is wrong")


def test_next_leaves_a_question_and_never_speaks_of_other_answers(model: TestModel) -> None:
    _at_question(model)
    at = sure(model.course.at)
    model.course.pick(2)
    model.course.advance()
    assert model.course.at == at + 1
    model.course.go(at)
    model.settle()
    right = sure(sure(model.course.filled).question).right
    assert model.course.walk(1)  # in a lecture: the answer
    assert model.course.words.caption.startswith(f"{letter(right)} is right")
    assert model.course.walk(1)
    model.settle()
    assert model.course.at == at + 1


def test_a_question_that_is_skipped_is_not_done_until_it_is_answered(model: TestModel) -> None:
    _at_question(model)
    course = model.course
    at, stop = sure(course.at), sure(course.now)
    assert not course.is_seen(stop)
    before = list(course.skipped)
    assert at not in before
    course.advance()
    model.settle()
    assert course.at == at + 1
    assert not course.is_seen(stop)
    assert list(course.skipped) == [*before, at]
    course.go(at)
    model.settle()
    right = sure(sure(course.filled).question).right
    course.pick((right + 1) % 3)  # wrong, with another try
    assert list(course.skipped) == [*before, at]
    course.pick(right)
    model.settle()
    assert course.is_seen(stop)
    assert list(course.skipped) == before


def test_exploring_and_other_kernels_show_their_counts(model: TestModel) -> None:
    _at_question(model)
    display = model.session.display
    model.course.leave()
    assert display.counted == 1.0
    model.course.come_back()
    assert display.counted == 0.0
    model.opening.choose_kernel("04_tiled")
    assert display.counted == 1.0
    model.course.end()
    assert display.counted == 1.0


def test_to_the_workshop_and_back(model: TestModel) -> None:
    model.settle()
    course = model.course
    course.begin(shipped_lesson("slides"))
    model.settle()
    before = model.session.shot.setup
    course.leave()
    assert not course.is_on
    model.commands.change("N", 6)
    model.settle()
    assert model.session.shot.setup != before
    course.come_back()
    model.settle()
    assert course.is_on
    assert model.session.shot.setup == before


def test_an_attempt_is_run_shown_and_judged(model: TestModel) -> None:
    model.settle()
    course, lesson = model.course, shipped_lesson("shared-memory")
    course.begin(lesson)
    course.go(sure(lesson.find("exercise-barriers")))
    model.settle()
    assert course.blanks == 3
    course.attempt(("__syncthreads();", "", ""))
    model.inbox.until(lambda: course.position.verdict is not None)
    model.settle()
    assert not sure(course.position.verdict).passed
    assert course.shows_blanks  # until the access is asked for
    course.show_verdict()
    model.settle()
    assert model.session.shot.view == "stage"
    assert not course.shows_blanks
    facts = Knowledge(model.session.shot, Interpreter())
    assert facts.replay.hazards[0].step == facts.moment.step
    course.attempt(answers_of("barriers"))
    model.inbox.until(lambda: course.position.verdict is not None)
    assert sure(course.position.verdict).passed


@pytest.mark.parametrize(
    ("lesson", "id", "kernel", "parameters", "passes"),
    [
        ("coalescing", "exercise-coalesce", "02_naive", {}, False),
        ("coalescing", "exercise-coalesce", "03_coalesced", {}, True),
        ("lecture", "exercise-tile", "column_first", {"TILE_WIDTH": 8}, False),
        ("lecture", "exercise-tile", "column_first", {"TILE_WIDTH": 16}, True),
        ("lecture", "exercise-tile", "column_first", {"TILE_WIDTH": 32}, False),
    ],
)
def test_exercises_are_judged_by_what_is_shown(
    lesson: str, id: str, kernel: str, parameters: dict[str, int], passes: bool
) -> None:
    stop = shipped_lesson(lesson).steps[sure(shipped_lesson(lesson).find(id))]
    setup = setup_for(load_kernel(kernel), stop.shot.setup.problem, parameters, device=stop.shot.setup.device)
    assert judged(sure(stop.exercise), structs.replace(stop.shot, setup=setup), Interpreter()).passed is passes


def test_a_lecturers_own_lesson_is_gone_through(model: TestModel, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(lesson_text(shipped_lesson("slides")), encoding="utf-8")
    model.settle()
    model.open(path)
    assert model.course.is_on
    assert model.course.lesson.name == "mine"
    assert isinstance(model.session.shot, Shot)


def test_a_question_is_drawn_anew_when_it_is_shown_again(model: TestModel) -> None:
    """Texts, choices and picture are those of another size; going back to the answer shows that of the last question."""
    model.settle()
    course = model.course
    course.begin(shipped_lesson("stencil"))
    place = sure(course.lesson.find("question-halo"))
    shown = []
    for _ in range(len(course.lesson.steps[place].variants)):
        course.go(place)
        model.settle()
        model.know()
        filled = sure(course.filled)
        question, sizes = sure(filled.question), model.session.shot.setup.problem
        assert filled.shot.setup.problem == sizes
        assert f"n = {sizes.sizes['n']}." in question.text
        shown.append(sizes)
        course.pick(question.right)
        model.settle()
        assert not course.is_asking
        assert model.session.shot.setup.problem == sizes
        course.walk(1)
        model.settle()
        course.walk(-1)
        assert (course.at, course.part, model.session.shot.setup.problem) == (place, 1, sizes)
    assert len({tuple(each.sizes.items()) for each in shown}) == len(shown)
    course.leave()
    course.come_back()
    assert model.session.shot.setup.problem == shown[-1]  # the same question after exploring


def test_a_lesson_keeps_its_draws_when_it_is_saved() -> None:
    lesson = shipped_lesson("lecture")
    again = parse_lesson(lesson_text(lesson), "lecture.toml")
    assert [stop.question for stop in again.steps] == [stop.question for stop in lesson.steps]
