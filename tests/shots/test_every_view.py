"""Every view is drawn in the window's session, by the export command and by the library; one of an unknown subject is refused."""

from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import gemmviz
import gemmviz.scenes.views as folder
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import UsageError
from gemmviz.model.problem import Problem
from gemmviz.scenes.catalog import CHARTS, view_named, views
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.scenes.kit.view import View, ViewOptions
from gemmviz.shots.export import Prepared, prepare
from gemmviz.shots.picture import options_for, picture
from gemmviz.shots.shot import Against, Shot, default_shot, save_view
from gemmviz.shots.subject import subject_for, subject_of_view
from tests.app_model import TestModel
from tests.conftest import stored_first
from tests.legible import texts_of, too_small, wrong_with
from tests.pseudo import pseudo


def shot_of(view: str) -> Shot:
    """The default shot in a view: compared with other tiles where the view shows two runs, small where all orders are tried."""
    shot = structs.replace(default_shot(), view=view, theme="dark")
    match view:
        case "pair" | "pair_facts" | "rounding":
            return structs.replace(shot, against=Against(shot.setup.changed(TILE_WIDTH=2)))
        case "race":
            return structs.replace(shot, setup=setup_for(load_kernel("02_naive"), Problem(4, 4, 4), {"BLOCK": 2}))
    return shot


def test_there_are_all_the_views() -> None:
    files = {path.stem for path in Path(folder.__file__).parent.glob("*_view.py")}
    alone = {name.removesuffix("_view") for name in files - {*folder.FAMILIES}}
    assert {*views()} == alone | {name for family in folder.FAMILIES.values() for name in family} | {*CHARTS}
    assert {*folder.FAMILIES} <= files
    assert all(subject_of_view(name).kind is view.subject for name, view in views().items())


def views_of_kinds() -> list[Any]:
    """All views. Those of every second kind of subject, and all but one of the others, which are prepared alike, are for the
    nightly tests.
    """
    first = [*{view.subject: name for name, view in reversed([*views().items()])}.values()]
    return [name if name in first[::2] else pytest.param(name, marks=pytest.mark.nightly) for name in views()]


@cache
def stage_of(view: str) -> Prepared:
    """What is drawn of a view's shot, in English."""
    return prepare(shot_of(view), stored_first)


@pytest.mark.usefixtures("without_fonts")
@pytest.mark.parametrize("view", views_of_kinds())
def test_the_command_draws_a_saved_view_as_the_library_does(view: str, tmp_path: Path) -> None:
    save_view(shot_of(view), tmp_path / "view.toml")
    assert main(["export", str(tmp_path / "view.toml"), "-o", str(tmp_path / "view.svg")]) == 0
    assert (tmp_path / "view.svg").read_text(encoding="utf-8") == gemmviz.scene(shot_of(view)).svg


def test_the_session_draws_every_view(model: TestModel) -> None:
    session = model.session
    for view in views():
        session.show(shot_of(view))
        model.inbox.until(lambda: session.display.subject is not None and not session.display.pending)
        assert isinstance(session.display.subject, view_named(view).subject), view
        assert view_named(view).scene(session.display.subject, ViewOptions()).primitives, view


@pytest.mark.parametrize("language", [pytest.param("English", marks=pytest.mark.nightly), "another"])
def test_a_slow_view_waits_in_every_language(model: TestModel, language: str) -> None:
    display, slow = model.session.display, "race"  # is searched for, which takes a while
    assert subject_of_view(slow).is_slow
    with pseudo() if language == "another" else nullcontext():
        model.session.show(structs.replace(default_shot(), view=slow))  # large enough for the search to be seen
        assert display.subject is None
        assert display.pending
        model.inbox.until(lambda: display.subject is not None)
        assert display.pending == ""


@pytest.mark.parametrize("view", views())
def test_every_view_can_be_read_and_is_described(view: str) -> None:
    """On a slide nothing is cut, covers something else, or is smaller than the least size, midway and at the end. All themes
    have the same letters.
    """
    shot, stage = shot_of(view), stage_of(view)
    for step in sorted({stage.steps // 3, stage.steps - 1}):
        scene = picture(shot, stage.subject(step))
        assert (wrong_with(scene), too_small(scene)) == ([], []), step
    assert scene.title.strip()
    first, second, *_ = scene.description.split("\n")
    assert first.strip()
    assert f"Picture: {view_named(view).title}" in scene.description
    assert second
    for theme in {*theme_names()} - {shot.theme}:
        drawn = view_named(view).scene(stage.subject(step), options_for(shot, load_theme(theme)))
        assert texts_of(drawn) == texts_of(scene), theme


class Unknown:
    """Drawn by a view, of no subject's type."""


def test_a_view_of_an_unknown_subject_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    known = views()
    odd = View("Odd", Unknown, lambda subject, options: view_named("stage").still(subject, options))
    monkeypatch.setattr("gemmviz.scenes.catalog.views", lambda: {**known, "odd": odd})
    with pytest.raises(UsageError, match="no subject has the type Unknown"):
        subject_for(Unknown)
    with pytest.raises(UsageError, match="the view 'odd' can't be drawn"):
        gemmviz.scene(structs.replace(default_shot(), view="odd"))
    monkeypatch.setattr("gemmviz.shots.arguments.views", lambda: {**known, "odd": odd})
    assert main(["export", "04_tiled", "--view", "odd", "-o", "odd.svg"]) == 2
    assert "the view 'odd' can't be drawn: no subject has the type Unknown" in capsys.readouterr().err
