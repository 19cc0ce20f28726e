"""Shots as text and as flags, fields of a setup, the clock, the list of what can be undone, tasks."""

import argparse
import threading
import time
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import defstruct, structs

from gemmviz.analysis.replay.focus import Focus, Position
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.codec import FormatError, from_plain, to_plain, toml_text, toml_to_plain
from gemmviz.files.devices import device_names
from gemmviz.model.messages import GemmvizError, SettingError, UsageError, checkpoint
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import Control, settings_of
from gemmviz.model.setup import Filling, Setup, changes
from gemmviz.model.sites import LabelStyle
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.theme import theme_names
from gemmviz.scenes.kit.view import LAYERS
from gemmviz.session.playing import SPEEDS, Playback, advanced
from gemmviz.shots.arguments import add_setup, add_view, command_words, setup_flags, shot_from
from gemmviz.shots.jobs import FileWatcher, LatestTask
from gemmviz.shots.shot import Camera, ChartChoice, Shot, default_shot, fields_of, parse_shot, put, shot_text
from tests.app_model import Inbox
from tests.conftest import kernel_from

SIZES = st.integers(1, 5000)
SHARES = st.floats(0, 1).map(lambda value: round(value, 4))
FOCUSES = st.one_of(
    st.builds(Focus, st.tuples(SIZES, SIZES, st.integers(0, 3)), st.none() | SIZES),
    st.builds(Focus, st.tuples(SIZES, SIZES, st.just(0)), st.none(), SIZES),
    st.builds(Focus, st.just((0, 0, 0)), everyone=st.just(True)),
)
SHOTS = st.builds(
    Shot,
    st.builds(
        lambda kernel, problem, filling, device, blocks, phases: setup_for(
            load_kernel(kernel), problem, filling=filling, device=device, blocks=blocks, phases=phases
        ),
        st.sampled_from(["04_tiled", "01_single_block", "08_register_tiled"]),
        st.builds(Problem, SIZES, SIZES, SIZES),
        st.builds(Filling, st.sampled_from(["random", "ones"]), st.integers(0, 2**31 - 1)),
        st.sampled_from(device_names()),
        st.sampled_from(["", "all", "0:2,3:4"]),
        st.sampled_from(["", "2-3"]),
    ),
    FOCUSES,
    st.sampled_from(list(views())),
    st.integers(0, 10**6).map(Position),
    st.builds(Camera, st.floats(1, 256).map(lambda value: float(f"{value:.5g}")), SHARES, SHARES),
    st.builds(ChartChoice, st.just(""), width=st.integers(0, 4096), with_host=st.booleans(), is_even=st.booleans()),
    st.sampled_from(theme_names()),
    type_scale=st.sampled_from((0.75, 1.0, 1.25)),
    moment=SHARES,
    instant=SHARES,
    layer=st.sampled_from(LAYERS),
    lens=st.sampled_from(("auto", "lens", "whole")),
    code=st.booleans(),
    labels=st.builds(LabelStyle, st.sampled_from(("row, column", "column, row")), st.sampled_from((0, 1))),
)


@given(SHOTS)
@settings(max_examples=25, deadline=None)
def test_a_shot_comes_back_from_its_text(shot: Shot) -> None:
    assert parse_shot(shot_text(shot)) == shot


@given(SHOTS)
@settings(max_examples=25, deadline=None)
def test_a_shot_comes_back_from_its_command_line(shot: Shot) -> None:
    parser = argparse.ArgumentParser()
    add_setup(parser, "KERNEL", taken=("block",))
    add_view(parser)
    command, *words = command_words(shot)
    assert command == "export"
    assert shot_from(parser.parse_args(words)) == shot


def test_a_shot_of_ones_own_kernel_carries_it() -> None:
    kernel = kernel_from("C[threadIdx.x] = 1.0f;")
    shot = Shot(setup_for(kernel), chart=ChartChoice("x", {"a": False}))
    assert parse_shot(shot_text(shot)) == shot
    assert "'''" in shot_text(shot) or '"""' in shot_text(shot)  # the text reads as text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a saved gemmviz view"),
        ("format = 'gemmviz view'\nversion = 9", "version 9"),
        ("format = 'gemmviz view'\nversion = 1\n[setup]\nkernel = 'nosuch'", "no kernel 'nosuch'"),
        (
            "format = 'gemmviz view'\nversion = 1\nview = 'sideways'\n[setup]\nkernel = '04_tiled'\nproblem = {M=8,N=8,K=8}",
            "no view",
        ),
        (
            "format = 'gemmviz view'\nversion = 1\n[setup]\nkernel = '04_tiled'\nproblem = {M='a',N=8,K=8}",
            "M: expected a whole number, not .a. - at .*setup.problem",
        ),
        (
            "format = 'gemmviz view'\nversion = 1\nmoment = 7\n[setup]\nkernel = '04_tiled'\nproblem = {M=8,N=8,K=8}",
            "Moment can't be 7",
        ),
        ("format = 'gemmviz view'\nversion = 1\n[camera]\nzoom = 0.1", "zoom must be 1 to 256"),
        ("[", "v.toml:1:"),
    ],
)
def test_a_damaged_view_says_what_is_wrong_with_it(text: str, words: str) -> None:
    with pytest.raises(GemmvizError, match=words) as caught:
        parse_shot(text, "v.toml")
    assert "v.toml" in str(caught.value)
    assert isinstance(caught.value, FormatError | UsageError)


def test_what_was_changed_is_named() -> None:
    before = default_shot().setup
    device = structs.replace(before, device="a100")
    assert changes(before, before.changed(M=9, TILE_WIDTH=2)) == ["TILE_WIDTH = 2", "M = 9"]
    assert changes(before, device) == ["device a100"]
    assert changes(before, setup_for(load_kernel("02_naive"))) == ["kernel 02_naive"]
    assert changes(before, structs.replace(before, phases="2")) == ["phases 2"]
    assert changes(structs.replace(before, phases="2"), before) == ["phases all"]


def test_one_more_setting_is_one_field(tmp_path: Path) -> None:
    """Fields, flags, files and names of changes follow from it."""
    cache = Annotated[str, Control("Cache", "How the L1 is split", "--cache", {"none": "None", "all": "All"})]
    wider: Any = defstruct("Wider", [("cache", cache, "none")], bases=(Setup,), frozen=True)
    setup = wider(**{each: getattr(default_shot().setup, each) for each in Setup.__struct_fields__})
    assert [setting.name for setting in settings_of(wider)][-1] == "cache"
    shown = fields_of(setup)[-1]
    assert (shown.name, shown.kind, shown.value, shown.choices) == ("cache", "choice", "none", {"none": "None", "all": "All"})
    other = put(setup, "cache", "all")
    assert getattr(other, "cache") == "all"  # noqa: B009 - the class has no such field for the type checker
    assert "--cache" in [flag.name for flag in setup_flags(wider)]
    assert from_plain(to_plain(other), wider) == other


ALPHA = Annotated[float, Control("Alpha", "A factor of the result", "--alpha", least=-8, most=8)]


def _with_alpha(**values: float) -> Any:
    kind: Any = defstruct("Scaled", [("alpha", ALPHA, 1.0)], bases=(Setup,), frozen=True)
    return kind(**{each: getattr(default_shot().setup, each) for each in Setup.__struct_fields__}, **values)


def test_a_setting_with_decimals_is_a_float_everywhere() -> None:
    setup = _with_alpha()
    shown = fields_of(setup)[-1]
    assert (shown.name, shown.kind, shown.value, shown.least, shown.most) == ("alpha", "decimal", 1.0, -8, 8)
    other: Any = put(setup, "alpha", 1.5)
    assert repr(other.alpha) == "1.5"
    whole: Any = put(setup, "alpha", 2)
    assert isinstance(whole.alpha, float)
    assert changes(setup, other) == ["alpha 1.5"]
    flag = setup_flags(type(setup))[-1]
    parser = argparse.ArgumentParser()
    parser.add_argument(flag.name, **flag.options)
    assert repr(parser.parse_args(["--alpha", "1.5"]).alpha) == "1.5"
    assert "alpha = 1.5\n" in toml_text(to_plain(other, brief=True))
    assert from_plain(toml_to_plain(toml_text(to_plain(whole))), type(setup)).alpha == 2.0


@pytest.mark.parametrize("value", [8.5, -9, float("nan"), float("inf")])
def test_a_setting_with_decimals_has_bounds(value: float) -> None:
    with pytest.raises(SettingError, match=r"Alpha can't be .* \(choose -8 to 8\)") as caught:
        put(_with_alpha(), "alpha", value)
    assert caught.value.names == ("alpha",)
    with pytest.raises(SettingError):
        _with_alpha(alpha=value)


@pytest.mark.parametrize("value", ["1.5", True])
def test_a_setting_with_decimals_is_no_text(value: Any) -> None:
    with pytest.raises(SettingError):
        put(_with_alpha(), "alpha", value)


def test_fields_of_a_kernel() -> None:
    found = {each.name: each for each in fields_of(default_shot().setup)}
    assert list(found) == ["M", "N", "K", "TILE_WIDTH", "pattern", "seed", "old_outputs", "device", "blocks", "phases"]
    assert found["M"].least == 1
    assert found["TILE_WIDTH"].choices == {each: str(each) for each in (2, 4, 8, 16, 32, 64)}
    assert "TFLOP/s" in found["device"].tip
    assert found["seed"].why_not == ""
    ones = put(default_shot().setup, "pattern", "ones")
    assert next(each for each in fields_of(ones) if each.name == "seed").why_not == "Only random values have a seed"
    strange = default_shot().setup.changed(TILE_WIDTH=7)
    assert 7 in (next(each for each in fields_of(strange) if each.name == "TILE_WIDTH").choices or {})


class Tape:
    """Something to play."""

    is_launch = False

    def __init__(self, steps: int) -> None:
        self.steps, self.step, self.moment = steps, 0, 1.0

    def go(self, step: int, moment: float = 1.0) -> None:
        self.step, self.moment = max(0, min(step, self.steps - 1)), moment


def test_time_goes_on_wraps_and_goes_back() -> None:
    assert advanced(3, 0.5, 10, 0.25) == (3, 0.75)
    assert advanced(9, 0.5, 10, 0.75) == (0, 0.25)
    assert advanced(0, 0.25, 10, -0.5) == (9, 0.75)
    assert advanced(0, 0.0, 10, 1234.5) == (4, 0.5)


def test_nothing_flies_with_reduced_motion_or_above_a_speed() -> None:
    player = Playback(Tape(10))
    assert player.shows_flights
    player.set_speed(1000)
    assert player.shows_flights
    player.play(True)
    assert not player.shows_flights
    player.set_speed(1)
    assert player.shows_flights
    player.set_calm(True)
    assert not player.shows_flights
    player.play(False)
    assert not player.shows_flights


def test_the_player_plays_settles_and_keeps_to_its_speeds() -> None:
    tape = Tape(10)
    player = Playback(tape)
    player.play(True)
    assert (tape.step, tape.moment) == (1, 0.0)
    player.tick(250)
    assert (tape.step, tape.moment) == (1, 0.5)
    player.tick(10_000)  # a stall is no leap
    assert tape.step == 2
    player.step_by(1)
    assert not player.is_playing
    assert player.is_moving
    assert (tape.step, tape.moment) == (3, 0.0)
    player.tick(210)
    assert tape.moment == 0.5
    player.tick(249)
    assert not player.is_moving
    assert tape.moment == 1.0
    player.animate(False)
    player.step_by(1)
    assert (tape.step, tape.moment, player.is_moving) == (4, 1.0, False)
    player.set_speed(10**9)
    assert player.speed == SPEEDS[-1]
    player.faster(-1)
    assert player.speed == SPEEDS[-2]
    short = Playback(Tape(1))
    short.play(True)
    assert not short.is_playing  # there is nothing to play


def test_the_latest_task_wins_and_errors_are_sentences() -> None:
    inbox, done, failed = Inbox(), list[Any](), list[GemmvizError]()
    latest: LatestTask[Any] = LatestTask(inbox.post, done.append, failed.append)
    begun = threading.Event()

    def endless() -> str:
        begun.set()
        while True:
            checkpoint()
            time.sleep(0.001)

    latest.start(endless)
    begun.wait(5)
    latest.start(lambda: "right")
    inbox.until(lambda: not latest.is_busy)
    assert (done, failed) == (["right"], [])
    latest.start(lambda: 1 / 0)
    inbox.until(lambda: not latest.is_busy)
    assert "internal error: ZeroDivisionError" in str(failed[0])
    latest.start(lambda: [0] * (1 << 60))
    inbox.until(lambda: not latest.is_busy)
    assert "not enough memory" in str(failed[1])
    latest.start(lambda: "too late", delay_s=10)
    latest.close()
    latest.start(lambda: "never")
    assert done == ["right"]


def test_a_file_is_followed_through_its_deletion(tmp_path: Path) -> None:
    inbox, told = Inbox(), list[str]()
    path = tmp_path / "a.cu"
    path.write_text("1")
    following = FileWatcher(inbox.post, lambda: told.append(path.read_text()))
    following.follow(path)
    path.write_text("22")
    inbox.until(lambda: told == ["22"])
    path.unlink()
    time.sleep(0.5)
    path.write_text("3")
    inbox.until(lambda: told == ["22", "3"])
    following.close()


@pytest.mark.parametrize(
    "position",
    ["share = nan", "share = 5.0", "share = -1.0", "phase = 3000000000", "visits = [9223372036854775807]", "step = 4294967296"],
)
def test_a_view_of_a_step_that_no_run_has_is_refused(position: str) -> None:
    text = shot_text(default_shot()) + f"\n[at]\n{position}\n"
    with pytest.raises(GemmvizError, match=r"no run has such a step|Expected"):
        parse_shot(text)
    assert parse_shot(shot_text(default_shot()) + "\n[at]\nstep = 4\n").at.step == 4
