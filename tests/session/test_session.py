"""What is shown, and how it changes, without a window."""

import time
from pathlib import Path

import pytest
from msgspec import structs

from gemmviz.analysis.replay.focus import Focus, Position
from gemmviz.analysis.shared_hazards import examined
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.files.trace_file import write_trace
from gemmviz.model.cases import SpeedCase
from gemmviz.model.messages import SettingError
from gemmviz.model.problem import Problem
from gemmviz.shots.jobs import wait_for_tasks
from gemmviz.shots.shot import Camera, save_view
from tests.app_model import TestModel
from tests.conftest import kernel_from, sure, trace_of


def shown_sizes(model: TestModel) -> tuple[int, ...]:
    return tuple(sure(model.session.shown).setup.problem.sizes.values())


def texts(model: TestModel) -> list[str]:
    return [notice.text for notice in model.session.notices.all]


def test_what_a_person_typed_stays_wanted_while_another_kernel_can_not_have_it(model: TestModel) -> None:
    model.opening.choose_kernel("02_naive")
    for name in "MNK":
        model.commands.change(name, 64)
    model.settle()
    assert shown_sizes(model) == (64, 64, 64)
    model.opening.choose_kernel("01_single_block")
    model.settle()
    assert shown_sizes(model) == (16, 64, 64)  # the nearest
    assert "can't run with your settings" in texts(model)[0]
    assert "it uses M = 16" in texts(model)[0]
    model.opening.choose_kernel("03_coalesced")
    model.settle()
    assert shown_sizes(model) == (64, 64, 64)
    assert texts(model) == []


def test_sizes_that_nobody_typed_are_those_of_each_kernel(model: TestModel) -> None:
    model.opening.choose_kernel("02_naive")
    model.settle()
    assert shown_sizes(model) == (32, 32, 32)
    model.commands.change("M", 64)
    model.opening.choose_kernel("01_single_block")
    model.settle()
    assert shown_sizes(model) == (64, 8, 8)
    assert texts(model) == []


def test_the_position_is_kept_by_access_phase_and_trip(model: TestModel) -> None:
    session = model.session
    model.commands.change("K", 16)
    model.settle()
    trace = sure(session.shown).trace
    step = next(s for s in range(trace.steps) if trace.site_of(s).text == "tileB[k][x]" and trace.visits[s].tolist() == [2, 1])
    session.navigation.go_to_step(step)
    model.commands.change("TILE_WIDTH", 2)
    model.settle()
    now = sure(session.now)
    assert now.site.text == "tileB[k][x]"
    assert (now.phase, now.trace.visits[now.step].tolist()) == (2, [2, 1])
    model.commands.change("TILE_WIDTH", 8)  # two phases only: the last, and in it the same trip of k
    model.settle()
    now = sure(session.now)
    assert (now.site.text, now.phase, int(now.trace.visits[now.step, 1])) == ("tileB[k][x]", 1, 1)
    model.opening.choose_kernel("07_tiled_transposed")
    model.settle()
    assert sure(session.now).site.operands[0].access == "read"
    assert sure(session.now).phase == 1


def test_undo_brings_back_view_step_focus_camera_and_layer(model: TestModel) -> None:
    session = model.session
    model.commands.show_view("warp")
    model.commands.watch(Focus((1, 0, 0), 0))
    model.commands.show_layer("reuse")
    session.navigation.go_to_step(7)
    session.navigation.look(Camera(3.0, 0.4, 0.6))
    before = session.shot
    model.commands.change("TILE_WIDTH", 2)
    model.settle()
    model.commands.show_view("stage")
    session.navigation.go_to_step(0)
    session.navigation.look(Camera())
    session.undo()
    session.undo()
    model.settle()
    assert session.shot == before
    assert sure(session.completion.reading.reader).scope.focus == before.focus
    session.redo()
    model.settle()
    assert sure(session.shown).setup.parameters["TILE_WIDTH"] == 2
    assert session.state.history.redo_name == "view Stage"


def test_undo_while_a_kernel_runs_ends_at_what_was_undone_to(model: TestModel) -> None:
    session = model.session
    model.commands.change("M", 64)
    model.commands.change("M", 128)
    session.undo()
    session.undo()
    model.settle()
    assert shown_sizes(model) == (8, 8, 8)
    assert session.error is None


def test_newer_settings_cancel_older_work(model: TestModel) -> None:
    sizes: list[int] = []
    model.session.run_changed.connect(lambda: sizes.append(shown_sizes(model)[0]))
    for size in (512, 384, 24):
        model.commands.change("M", size)
    model.settle()
    assert sizes == [24]


def test_an_impossible_setting_leaves_the_picture_and_says_what_works(model: TestModel) -> None:
    session, before = model.session, model.session.shown
    model.commands.change("TILE_WIDTH", 64)
    assert session.is_stale
    model.settle()  # what would work is known
    assert sure(session.shown).trace is sure(before).trace
    error = session.error
    assert isinstance(error, SettingError)
    assert error.nearest == {"TILE_WIDTH": 32}
    model.commands.apply_remedy()
    model.settle()
    assert session.error is None
    assert sure(session.shown).setup.parameters["TILE_WIDTH"] == 32


def test_what_is_worked_out_belongs_to_the_picture_and_not_to_the_settings_after_it(model: TestModel) -> None:
    session = model.session
    model.commands.change("K", 64)
    model.settle()
    model.commands.change("TILE_WIDTH", 64)  # can't run
    model.commands.watch(Focus((0, 0, 0), 0))
    model.know()
    shown = sure(session.shown)
    assert shown.setup.problem.K == 64
    assert sure(shown.counts).total("global", "read").sectors == 512
    assert session.is_stale


def show_many_blocks(model: TestModel) -> None:
    """More than can be traced, each with a single phase."""
    for name, value in (("M", 2048), ("N", 2048), ("K", 32), ("TILE_WIDTH", 32)):
        model.commands.change(name, value)
    model.settle()


def test_all_blocks_are_all_blocks_or_it_is_said_why_not(model: TestModel) -> None:
    session = model.session
    show_many_blocks(model)
    shown = sure(session.shown)
    assert shown.trace.blocks.count < shown.trace.launch.block_count  # as many as are quick
    model.commands.change("blocks", "all")
    model.settle()
    error = session.error
    assert isinstance(error, SettingError)
    assert error.names == ("blocks",)
    assert "the trace of 4096 blocks would take" in error.message
    model.commands.change("blocks", "0:1,0:1")
    model.settle()
    assert sure(session.shown).trace.blocks.count == 1


def test_another_block_is_traced_unless_blocks_were_named(model: TestModel) -> None:
    session = model.session
    said: list[str] = []
    session.message.connect(said.append)
    show_many_blocks(model)
    model.commands.watch(Focus((60, 60, 0)))
    model.settle()
    assert sure(session.now).focus.block == (60, 60, 0)
    model.commands.change("blocks", "0:1,0:1")
    model.settle()
    model.commands.watch(Focus((1, 0, 0)))
    assert session.shot.focus.block == (0, 0, 0)
    assert "only blocks 0:1,0:1 are traced" in said[-1]


def test_a_trace_from_a_file_is_shown_as_it_is_and_not_run(model: TestModel, tmp_path: Path) -> None:
    trace = trace_of("02_naive", 8, 8, 8, BLOCK=2, blocks="1:2,0:2")
    write_trace(trace, tmp_path / "t.gvt")
    model.open(tmp_path / "t.gvt")
    session = model.session
    assert not session.is_busy
    assert sure(session.shown).trace.blocks == trace.blocks
    assert session.shot.setup.blocks == "1:2,0:2"
    model.commands.change("K", 4)
    model.settle()
    assert sure(session.shown).trace.setup.problem == Problem(8, 8, 4)
    assert not sure(session.shown).from_file


def test_files_that_are_none_leave_what_is_shown(model: TestModel, tmp_path: Path) -> None:
    before = model.session.shown
    for name, text, words in [
        ("a.gvt", "x", "a.gvt"), ("a.toml", "[[", "a.toml:1:"), ("b.toml", "a = 1", "nor a saved view"),
        ("c.json", "{}", "not a gemmviz benchmark"), ("d.cu", "int x;", "the file has no kernel"),
    ]:  # fmt: skip
        (tmp_path / name).write_text(text)
        model.open(tmp_path / name)
        assert words in texts(model)[-1], name
        assert sure(model.session.shown).trace is sure(before).trace
    model.opening.choose_kernel("04_tiled")
    assert texts(model) == []


def test_a_saved_view_brings_back_what_was_seen(model: TestModel, tmp_path: Path) -> None:
    session = model.session
    own = load_kernel("03_coalesced").text
    (tmp_path / "mine.cu").write_text(own)
    model.open(tmp_path / "mine.cu")
    model.settle()
    model.commands.change("M", 40)
    model.commands.show_view("memory")
    model.commands.watch(Focus((0, 1, 0), 3))
    model.settle()
    session.navigation.go_to_step(9, 0.5)
    saved = session.shot
    save_view(saved, tmp_path / "v.toml")
    (tmp_path / "mine.cu").unlink()
    model.opening.choose_kernel("04_tiled")
    model.settle()
    model.open(tmp_path / "v.toml")
    model.settle()
    assert session.shot == saved  # its own kernel is in the file
    assert session.navigation.run_step == 9


def test_hazards_are_found_after_the_picture_and_marked_in_it(model: TestModel, tmp_path: Path) -> None:
    body = "__shared__ float s[4];\ns[threadIdx.x] = 1.0f;\nC[threadIdx.x] = s[3 - threadIdx.x];"
    (tmp_path / "mine.cu").write_text(kernel_from(body).text)
    model.open(tmp_path / "mine.cu")
    model.know()
    shown = sure(model.session.shown)
    assert shown.replay.conflicts.steps == examined(shown.trace).conflicts.steps == [1]
    assert any("read after write" in text for text in texts(model))
    assert shown.replay.value is not None


def test_a_fault_is_shown_with_the_block_that_it_is_in(model: TestModel, tmp_path: Path) -> None:
    text = kernel_from("C[threadIdx.x] = A[blockIdx.x * 63 + threadIdx.x];", grid='["2"]').text
    (tmp_path / "mine.cu").write_text(text)
    model.open(tmp_path / "mine.cu")
    model.know()
    session = model.session
    assert session.error is None
    assert session.shot.focus.block == (1, 0, 0)
    assert session.navigation.run_step == session.navigation.run_steps - 1
    assert any("out of range" in text for text in texts(model))


def test_the_benchmark_is_a_view_like_others(model: TestModel) -> None:
    session = model.session
    model.commands.show_view("memory")
    session.player.play(True)
    model.commands.toggle_benchmark()
    assert not session.player.is_playing
    assert not session.display.is_replay
    model.commands.show_view("share")
    model.commands.toggle_benchmark()
    assert session.shot.view == "memory"
    model.commands.toggle_benchmark()
    assert session.shot.view == "share"
    session.undo()
    assert session.shot.view == "memory"


def test_a_kernel_that_can_not_be_read_is_a_notice_with_its_place(model: TestModel, tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(kernel_from("C[threadIdx.x] = sum;").text)
    model.open(tmp_path / "mine.cu")
    model.settle()
    session = model.session
    assert session.is_stale
    assert sure(session.notices.place).line == 10
    session.notices.drop("kernel")
    assert texts(model) == []


@pytest.mark.parametrize("name", ["M", "seed"])
def test_a_number_beyond_its_bounds_is_an_error_at_its_field(model: TestModel, name: str) -> None:
    model.commands.change(name, -5)
    error = model.session.error
    assert isinstance(error, SettingError)
    assert error.names == (name,)
    assert model.session.state.edited == name


def test_restarting_reads_a_persons_own_file_again(model: TestModel, tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(load_kernel("03_coalesced").text)
    model.open(path)
    model.settle()
    seen = model.session.shot
    path.write_text(load_kernel("03_coalesced").text.replace("sum +=", "sum -="))
    model.opening.start(seen)
    model.settle()
    assert not sure(model.session.shown).trace.check.passed
    assert structs.replace(model.session.shot.setup, kernel=seen.setup.kernel) == seen.setup


LONG = "\n".join(["C[0] = A[0] * B[0] + A[1] * B[1] + A[2] * B[2];"] * 1_500)  # is read in more than a second


@pytest.mark.parametrize("what", ["reading", "filling", "counting"])
def test_closing_ends_whatever_is_under_way(what: str, tmp_path: Path) -> None:
    model = TestModel()
    model.session.start()
    model.settle()
    if what == "reading":
        (tmp_path / "long.cu").write_text(kernel_from(LONG).text)
        model.open(tmp_path / "long.cu")
    else:
        for name in "MNK" if what == "filling" else "MN":
            model.commands.change(name, 8192 if what == "filling" else 1024)
        if what == "counting":
            model.settle()
    time.sleep(0.05)
    assert model.session.is_working
    start = time.monotonic()
    model.opening.close()
    model.session.close()
    assert wait_for_tasks((*model.session.workers, model.opening.worker), 1.0)
    assert time.monotonic() - start < 1.0


def test_a_view_of_another_subject_is_shown_at_the_end_of_its_motion(model: TestModel) -> None:
    session = model.session
    session.player.play(True)
    session.player.tick(100.0)
    assert 0.0 < session.shot.moment < 1.0
    model.commands.show_view("amdahl")
    assert session.shot.moment == 1.0
    assert not session.player.is_playing


def test_playing_backwards_goes_to_earlier_steps_and_from_the_first_to_the_last(model: TestModel) -> None:
    session = model.session
    session.navigation.go_to_step(5)
    session.player.reverse(True)
    session.player.set_speed(10.0)
    session.player.play(True)
    session.player.tick(200.0)
    assert session.navigation.step == 4
    for _ in range(3):
        session.player.tick(200.0)
    assert session.navigation.step == session.navigation.steps - 2


def test_back_is_the_first_step_of_this_phase_and_from_there_that_of_the_one_before(model: TestModel) -> None:
    navigation = model.session.navigation
    starts = sure(model.session.shown).replay.phase_starts.tolist()
    assert len(starts) > 1
    for step, back in ((starts[1] + 2, starts[1]), (starts[1] + 1, starts[1]), (starts[1], starts[0])):
        navigation.go_to_step(step)
        assert navigation.phase_start(-1) == back
    navigation.go_to_step(starts[0])
    assert navigation.phase_start(1) == starts[1]


def test_a_position_of_another_run_is_not_gone_to(model: TestModel) -> None:
    session = model.session
    session.navigation.go_to_step(3)
    there = structs.replace(session.shot, at=Position(7))
    session.navigation.go_to_position(structs.replace(there, setup=there.setup.changed(M=12)))
    assert session.navigation.step == 3
    session.navigation.go_to_position(there)
    assert session.navigation.step == 7


def test_an_answer_about_an_earlier_run_is_not_shown(model: TestModel) -> None:
    answers, before = model.answers, sure(model.session.shown)
    model.commands.change("N", 12)
    model.settle()
    answers.ask_about_block()
    question = sure(answers._question)
    answers._on_answered((question, before, ("about the earlier run",)))
    assert answers.sentences != ("about the earlier run",)
    answers._on_answered((question, sure(model.session.shown), ("about this run",)))
    assert answers.sentences == ("about this run",)


def test_a_saved_view_is_named_and_acknowledged_also_a_second_time(model: TestModel) -> None:
    """Views of one kernel are told apart by view, step and focus."""
    said: list[str] = []
    model.session.message.connect(said.append)
    views = model.saved_views
    model.session.navigation.go_to_step(3)
    views.keep()
    model.session.navigation.go_to_step(20)
    views.keep()
    model.commands.show_view("banks")
    views.keep()
    views.keep()
    assert [step.title for step in views.lesson.steps[:3]] == [
        "04_tiled, Stage, step 4, block (0, 0)", "04_tiled, Stage, step 21, block (0, 0)",
        "04_tiled, Banks of shared memory, step 21, block (0, 0)",
    ]  # fmt: skip
    first, *_, last = [sentence for sentence in said if sentence.startswith("Added")]
    assert first == "Added as 1 of the saved views"
    assert last == "Added as 4 of the saved views: it shows the same as 3"


def test_changes_of_the_saved_views_are_taken_back(model: TestModel) -> None:
    """Typed letters are one change."""
    views = model.saved_views
    for name in ("one", "two"):
        views.keep(name)
    for text in ("a", "ab", "abc"):
        views.edit(1, notes=text)
    views.edit(1, caption="other")
    views.move(1, 0)
    views.remove(0)
    lists = []
    while views.can_undo:
        lists.append([(step.caption, step.notes) for step in views.lesson.steps])
        views.undo()
    assert lists == [
        [("one", "")], [("other", "abc"), ("one", "")], [("one", ""), ("other", "abc")], [("one", ""), ("two", "abc")],
        [("one", ""), ("two", "")], [("one", "")],
    ]  # fmt: skip
    assert views.lesson.steps == ()


def test_removing_a_view_before_the_present_one_keeps_it(model: TestModel) -> None:
    views = model.saved_views
    for name in ("one", "two", "three"):
        views.keep(name)
    views.go(1)
    model.settle()
    kept = sure(views.position.now)
    views.remove(0)
    assert views.position.now == kept
    views.remove(sure(views.at))
    assert views.at is None


def test_a_comparison_ends_with_a_word_when_another_problem_is_opened(model: TestModel) -> None:
    said: list[str] = []
    model.session.message.connect(said.append)
    model.commands.toggle_comparison()
    assert (model.session.shot.view, model.session.shot.against is None) == ("pair", False)
    model.opening.choose_kernel("03_coalesced")
    model.settle()
    assert model.session.shot.against is not None
    model.opening.choose_kernel("transpose_naive")
    model.settle()
    assert model.session.shot.view == "stage"
    assert not model.session.shot.against
    assert any("The comparison has ended: transpose_naive solves another problem" in each for each in said)


def test_a_fault_that_other_settings_hide_is_still_told(model: TestModel, tmp_path: Path) -> None:
    text = load_kernel("04_tiled").text
    barrier = text.rindex("__syncthreads();")
    file = tmp_path / "without.cu"
    file.write_text(text[:barrier] + text[barrier + len("__syncthreads();") :])
    model.open(file)
    model.know()
    assert any("write after read" in each for each in texts(model))
    model.commands.change("TILE_WIDTH", 8)
    model.settle()
    model.know()
    (told,) = [each for each in texts(model) if "TILE_WIDTH = 8" in each]
    assert told.startswith(
        "With TILE_WIDTH = 8 there is a single phase, in which the fault doesn't show, but it is still there"
    )
    model.opening.choose_kernel("04_tiled")
    model.settle()
    model.know()
    assert texts(model) == []


HOMEWORK = (
    "__global__ void mul(const float *A, const float *B, float *C, int M, int K, int N) {\n"
    "  __shared__ float a[16][16], b[16][16];\n"
    "  int y = threadIdx.y, x = threadIdx.x, r = blockIdx.y * 16 + y, c = blockIdx.x * 16 + x;\n"
    "  float s = 0;\n  for (int t = 0; t < (K + 15) / 16; t++) {\n"
    "    a[y][x] = r < M ? A[r * K + t * 16 + x] : 0;\n    b[y][x] = c < N ? B[(t * 16 + y) * N + c] : 0;\n"
    "    __syncthreads();\n    for (int k = 0; k < 16; k++) s += a[y][k] * b[k][x];\n    __syncthreads();\n  }\n"
    "  if (r < M && c < N) C[r * N + c] = s;\n}\n"
    "int main() {\n  int M = 100, K = 50, N = 70; float *A, *B, *C;\n"
    "  cudaMalloc(&A, M * K * 4); cudaMalloc(&B, K * N * 4); cudaMalloc(&C, M * N * 4);\n"
    "  dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);\n  mul<<<grid, block>>>(A, B, C, M, K, N);\n}\n"
)


def test_a_fault_at_the_sizes_of_main_is_told_at_others(model: TestModel, tmp_path: Path) -> None:
    file = tmp_path / "homework.cu"
    file.write_text(HOMEWORK)
    model.open(file)
    model.know()
    told = next(each for each in model.session.notices.all if each.topic == "result")
    assert told.text.startswith("As main() launches it: A[5000] is out of range")
    assert told.place is not None
    assert told.place.line == 6
    assert told.offer is not None
    model.session.notices.drop("result")
    model.session.completion.analysis_changed.emit()
    assert texts(model) == []
    told.offer.take()
    model.settle()
    assert model.session.shot.setup.problem.sizes == {"M": 100, "N": 70, "K": 50}
    assert any("is out of range" in each for each in texts(model))


BARRIER = "    __syncthreads();\n  }\n"
GUARDED = {"r < M ?": "r < M && t * 16 + x < K ?", "c < N ?": "c < N && t * 16 + y < K ?"}


def mended(model: TestModel, file: Path, text: str) -> list[str]:
    """Texts of the notices after the file has been saved with another text."""
    file.write_text(text)
    model.open(file)
    model.know()
    return texts(model)


def replaced(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({}, id="a fault at the sizes of main() alone"),
        pytest.param({**GUARDED, BARRIER: "  }\n"}, id="race"),
        pytest.param({**GUARDED, "s += a[y][k] * b[k][x]": "s += a[y][k] + b[k][x]"}, id="result", marks=pytest.mark.nightly),
        pytest.param({**GUARDED, "C[r * N + c] = s": "C[r * N + c + M * N] = s"}, id="fault", marks=pytest.mark.nightly),
        pytest.param({**GUARDED, "(M + 15) / 16);": "M / 16);"}, id="a grid without the last row", marks=pytest.mark.nightly),
    ],
)
def test_a_mended_kernel_is_said_to_be_right_until_something_else_is_shown(
    model: TestModel, tmp_path: Path, wrong: dict[str, str]
) -> None:
    file = tmp_path / "homework.cu"
    assert mended(model, file, replaced(HOMEWORK, wrong))
    assert not any("right" in text for text in texts(model))
    told = [text for text in mended(model, file, replaced(HOMEWORK, GUARDED)) if "right" in text]
    sizes = model.session.shot.setup.problem.text()
    own = "" if sizes == "100 × 70 × 50" else " and, as main() launches it, at 100 × 70 × 50"
    assert told == [f"C is now right at {sizes}{own}"]
    (notice,) = model.session.notices.all
    assert not notice.warns
    assert all(words in notice.tip for words in ("7000 elements", "launch read from the code", "no hazard in"))
    if not wrong:
        return  # what follows doesn't depend on what was wrong
    model.commands.show_view("banks")
    model.settle()
    assert texts(model) == []
    model.commands.show_view("stage")
    model.know()
    assert mended(model, file, replaced(HOMEWORK, GUARDED) + "\n") == []  # it was right before


@pytest.mark.parametrize("is_launched", [pytest.param(True, marks=pytest.mark.nightly), False])
def test_nothing_is_said_to_be_right_that_rests_on_a_guess(model: TestModel, tmp_path: Path, is_launched: bool) -> None:
    file = tmp_path / "homework.cu"
    assert mended(model, file, replaced(HOMEWORK, {**GUARDED, BARRIER: "  }\n"}))
    text = replaced(HOMEWORK, GUARDED)
    told = mended(model, file, text if is_launched else text[: text.index("int main")])
    assert any("now right" in each for each in told) is is_launched
    assert any("not confirmed" in each for each in told) is not is_launched


def test_a_fault_that_settings_hide_is_not_mended_by_another_text(model: TestModel, tmp_path: Path) -> None:
    text = load_kernel("04_tiled").text
    barrier = text.rindex("__syncthreads();")
    text, file = text[:barrier] + text[barrier + len("__syncthreads();") :], tmp_path / "without.cu"
    mended(model, file, text)
    model.commands.change("TILE_WIDTH", 8)  # a single phase, in which the race can't show
    model.settle()
    model.know()
    assert not any("right" in each for each in mended(model, file, text + "\n// a comment\n"))


def test_a_launch_that_is_changed_in_the_file_is_read_again(model: TestModel, tmp_path: Path) -> None:
    file = tmp_path / "homework.cu"
    for changes in (GUARDED, {**GUARDED, "M = 100": "M = 90"}):
        file.write_text(replaced(HOMEWORK, changes))
        model.open(file)
        model.settle()
    assert dict(model.session.shot.setup.kernel.host_sizes) == {"M": 90, "N": 70, "K": 50}


def test_of_opposed_suggestions_the_tried_one_is_offered(model: TestModel) -> None:
    model.opening.choose_kernel("02_naive")
    for name in "MNK":
        model.commands.change(name, 64)
    model.commands.change("BLOCK", 16)
    model.settle()
    model.commands.show_view("why")
    model.know()
    case = model.session.display.subject
    assert isinstance(case, SpeedCase)
    cures = {each.kind: each.cure for each in case.causes}
    assert sure(cures["idle"]).text == "smaller blocks: BLOCK = 8"
    assert cures["reuse"] is None
