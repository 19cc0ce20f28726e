"""The state of a session: it changes by events alone, and each event is a function."""

import ast
from pathlib import Path
from types import FunctionType
from typing import get_args

import pytest
from msgspec import structs

import gemmviz
from gemmviz.model.messages import Place
from gemmviz.model.records import fields
from gemmviz.session import state as module
from gemmviz.session.notices import Notice, Notices
from gemmviz.session.state import Begin, Edit, Look, Move, Restore, SessionEvent, Show, State, first_state
from gemmviz.shots.shot import DRAGGED, Camera, Shot, Trial, default_shot
from tests.app_model import TestModel
from tests.conftest import sure, trace_of

PACKAGE = Path(gemmviz.__file__).parent


def sized(size: int) -> Shot:
    shot = default_shot()
    return structs.replace(shot, setup=shot.setup.changed(M=size))


def after(state: State, *events: SessionEvent) -> State:
    for event in events:
        state = event.after(state)
    return state


def test_undo_keeps_what_became_of_an_entry() -> None:
    state = first_state(sized(8))
    assert state.history.undo_name is None
    state = after(state, Show(sized(12)), Look(Camera(2.0)), Show(sized(16)))
    assert (state.history.undo_name, state.history.redo_name) == ("M = 16", None)
    state = Restore(-1).after(state)
    assert state.shot == structs.replace(sized(12), camera=Camera(2.0))
    assert state.history.redo_name == "M = 16"
    state = after(state, Restore(-1), Restore(-1))
    assert state.shot == sized(8)
    state = after(state, Restore(1), Show(sized(20)))
    assert state.history.redo_name is None
    for size in range(24, 4 * 300, 4):
        state = Show(sized(size)).after(state)
    assert len(state.history.entries) == 200
    assert Begin(sized(8)).after(state).history.undo_name is None


def test_dragging_a_value_is_one_change() -> None:
    state, shot = first_state(default_shot()), default_shot()
    for registers in (40, 50, 60):
        state = Show(structs.replace(shot, trial=Trial(registers=registers))).after(state)
    assert (state.history.undo_name, len(state.history.entries)) == (DRAGGED, 2)
    assert Restore(-1).after(state).shot == shot


def test_a_step_has_the_position_that_is_kept() -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)
    state = Move(3, 0.5, trace).after(first_state(default_shot()))
    assert (state.step, state.shot.moment) == (3, 0.5)
    assert state.shot.at != default_shot().at
    assert Move(3, 1.0, trace).after(state).shot.at is state.shot.at


def test_a_state_can_not_be_changed(model: TestModel) -> None:
    session = model.session
    for field in fields(State):
        with pytest.raises(AttributeError):
            setattr(session.state, field.name, None)
    for name in ("state", "shot", "error"):
        with pytest.raises(AttributeError):
            setattr(session, name, None)
    before = session.state
    session.apply(Edit("M"))
    assert (before.edited, session.state.edited) == ("", "M")


def test_a_session_has_one_door() -> None:
    """Its state is stored where it is made, and where an event is applied."""
    stored = [
        (path.relative_to(PACKAGE).as_posix(), function.name)
        for path in sorted(PACKAGE.rglob("*.py"))
        if "._state" in (text := path.read_text(encoding="utf-8"))
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and node.attr == "_state" and isinstance(node.ctx, ast.Store | ast.Del)
    ]
    assert stored == [("session/session.py", "__init__"), ("session/session.py", "apply")]


def test_every_event_is_a_frozen_value_with_a_function() -> None:
    events = get_args(SessionEvent)
    made = {
        each for each in vars(module).values() if isinstance(each, type) and isinstance(vars(each).get("after"), FunctionType)
    }
    assert made == set(events)
    for event in events:
        assert event.__struct_config__.frozen
    assert sure(Look(Camera(2.0)).after(first_state(default_shot()))).shot.camera.zoom == 2.0


def test_the_place_is_that_of_the_latest_notice_with_one() -> None:
    notices = Notices()
    for line, topic in ((1, "file"), (2, "kernel")):
        notices.put(Notice(topic, "x", Place(line, 1, line, 2)))  # type: ignore[arg-type]
    notices.put(Notice("result", "without a place"))
    assert notices.place == Place(2, 1, 2, 2)
