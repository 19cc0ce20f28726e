"""What is shown besides the replay: occupancy, the grid, why this speed, two at once; without a window."""

import pytest

from gemmviz.analysis.models import DONE
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.cases import LaunchCase, SpeedCase
from gemmviz.model.device import OccupancyCase
from gemmviz.model.messages import UsageError
from gemmviz.model.timing import GridCase
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Button, Cells, Hit, Labels
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.kinds.launches import grid_case
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Against, Shot, Trial, parse_shot, shot_text
from gemmviz.shots.subject import subject_for, value_of
from tests.analysis.test_reasons import setup_of
from tests.app_model import TestModel
from tests.conftest import sure


def test_occupancy_follows_every_setting(model: TestModel) -> None:
    session = model.session
    model.settle()
    case = session.display.subject_of(OccupancyCase)
    assert isinstance(case, OccupancyCase)
    assert case.needs.threads == 16
    model.commands.change("TILE_WIDTH", 8)
    after = session.display.subject_of(OccupancyCase)
    assert isinstance(after, OccupancyCase)
    assert (after.needs.threads, after.needs.shared_bytes) == (64, 512)  # at once, before anything has run


def test_a_value_is_tried_out_undone_and_kept(model: TestModel) -> None:
    session = model.session
    model.settle()
    model.commands.show_view("occupancy")
    scene = view_named("occupancy").still(session.display.subject, ViewOptions())
    cells = sure(scene.find("what-if-registers"))
    assert isinstance(cells, Cells)
    model.commands.click(Hit(cells, 0, 99))
    assert session.shot.trial == Trial(registers=100)
    case = session.display.subject
    assert isinstance(case, OccupancyCase)
    assert case.is_tried
    assert parse_shot(shot_text(session.shot)) == session.shot
    session.undo()
    assert session.shot.trial == Trial()
    with pytest.raises(UsageError):
        Trial(registers=0)


def test_the_grid_plays_in_its_own_time(model: TestModel) -> None:
    session = model.session
    model.settle()
    model.commands.show_view("grid")
    assert isinstance(session.display.subject, GridCase)
    step = session.navigation.run_step
    session.player.jump(0)
    assert session.shot.instant == 0.0
    session.player.play(True)
    session.player.tick(200)
    assert session.shot.instant > 0.0
    session.player.play(False)
    assert session.navigation.run_step == step  # the replay stays where it is


def test_two_devices_stand_side_by_side_in_the_grid(model: TestModel) -> None:
    session = model.session
    for name in "MNK":
        model.commands.change(name, 256)
    model.commands.change("TILE_WIDTH", 16)
    model.settle()
    model.commands.show_view("grid")
    model.commands.toggle_comparison()
    assert session.shot.view == "grid"
    model.commands.change("device", "8800gtx")
    case = session.display.subject
    assert isinstance(case, GridCase)
    left = sure(case.beside)
    assert (left.device, case.device) == ("NVIDIA H200", "NVIDIA GeForce 8800 GTX")
    assert (left.is_model, case.is_model) == (False, True)
    assert not case.shares_time  # nanoseconds beside waves of a model
    scene = view_named("grid").still(case, ViewOptions(instant=0.5))
    for side, sms in (("left", 132), ("right", 16)):
        lanes = scene.find(f"{side}-lanes")
        assert isinstance(lanes, Cells)
        assert len(lanes.fill) == sms
    model.commands.toggle_comparison()
    assert session.shot.view == "grid"
    assert isinstance(session.display.subject, GridCase)
    assert session.display.subject.beside is None


def test_launches_of_one_kind_run_in_one_time() -> None:
    shot = Shot(setup_of("04_tiled", 1024, TILE_WIDTH=32), view="grid", against=Against(setup_of("02_naive", 1024, BLOCK=32)))
    case = sure(grid_case(shot))
    slow = sure(case.beside)
    assert case.shares_time
    assert case.schedule.duration_ns < slow.schedule.duration_ns
    scene = view_named("grid").still(case, ViewOptions(instant=case.schedule.duration_ns / slow.schedule.duration_ns))
    done, at_work = scene.find("right-grid"), scene.find("left-grid")
    assert isinstance(done, Cells)
    assert isinstance(at_work, Cells)
    assert (done.fill == DONE).all()
    assert (at_work.fill == 0).any()


def test_a_cure_is_run_and_held_against_what_was(model: TestModel) -> None:
    session = model.session
    model.opening.choose_kernel("02_naive")
    for name in "MNK":
        model.commands.change(name, 64)
    model.commands.change("BLOCK", 32)
    model.know()
    model.commands.show_view("why")
    case = session.display.subject
    assert isinstance(case, SpeedCase)
    assert case.causes, sure(session.shown).no_counts
    place, cure = next((place, each.cure) for place, each in enumerate(case.causes) if each.cure)
    cells = sure(view_named("why").still(case, ViewOptions()).find(f"cure-{place}"))
    assert isinstance(cells, Cells)
    model.commands.click(Hit(cells, 0, 0))
    model.know()
    assert sure(session.shown).setup == sure(cure).setup
    after = session.display.subject
    assert isinstance(after, SpeedCase)
    before, now = after.effects
    assert (before.is_right, now.is_right) == (True, True)
    assert before.sectors is not None
    assert now.sectors is not None
    assert before.label.startswith("02_naive")


def test_a_cause_shows_the_step_of_its_access(model: TestModel) -> None:
    session = model.session
    model.opening.choose_kernel("02_naive")
    for name in "MNK":
        model.commands.change(name, 64)
    model.commands.change("BLOCK", 32)
    model.know()
    model.commands.show_view("why")
    case = session.display.subject
    assert isinstance(case, SpeedCase)
    place = [cause.kind for cause in case.causes].index("coalescing")
    cells = sure(view_named("why").still(case, ViewOptions()).find(f"look-{place}"))
    assert isinstance(cells, Cells)
    model.commands.click(Hit(cells, 0, 0))
    model.know()
    assert session.shot.view == "request"
    assert sure(session.now).site.text == "A[row * K + k]"


def test_two_runs_go_together(model: TestModel) -> None:
    session = model.session
    model.settle()
    model.commands.toggle_comparison()
    left = sure(session.shot.against).setup
    model.commands.change("TILE_WIDTH", 2)
    model.know()
    pair = session.display.subject
    assert isinstance(pair, Pair)
    assert pair.left.trace.setup == left
    assert pair.right.trace.setup.parameters == {"TILE_WIDTH": 2}
    session.navigation.go_to_step(session.navigation.run_steps - 1)
    pair = session.display.subject
    assert isinstance(pair, Pair)
    assert pair.left.step == pair.left.trace.steps - 1
    model.commands.compare_with(Against(left, "k", "A[0,1]"))
    marked = session.display.subject
    assert isinstance(marked, Pair)
    assert (marked.lock, marked.marked) == ("k", ("A", 0, 1))
    model.commands.toggle_comparison()
    assert session.shot.against is None
    assert session.display.is_replay


@pytest.mark.parametrize(("device", "cured"), [("h200", "try 32 × 32 × 32"), ("8800gtx", "show it on NVIDIA H200")])
def test_a_picture_that_has_no_tile_of_the_tensor_cores_offers_one_that_has(device: str, cured: str) -> None:
    shot = Shot(setup_for(load_kernel("04_tiled"), device=device), view="tensor_tile")
    while (case := value_of(LaunchCase, Knowledge(shot, Interpreter()))).cure is not None:
        scene = view_named("tensor_tile").still(case, ViewOptions())
        cells = next(each for each in scene.primitives if isinstance(each, Cells) and each.meaning == Button("cure"))
        words = [text for each in scene.primitives if isinstance(each, Labels) for text in each.texts]
        assert cured in words
        shot, cured = sure(subject_for(LaunchCase).click(case, shot, Hit(cells, 0, 0))), "try 32 × 32 × 32"
    assert view_named("tensor_tile").still(case, ViewOptions()).find("tile") is not None
