"""Counts of a picture that are hidden while a question is open."""

from gettext import NullTranslations

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.translation import spoken
from gemmviz.run.choosing import run
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.counting import counted_scene, counted_text
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Cells, Labels, Rects, Scene, boxes, points
from gemmviz.subjects.knowledge import replay_of
from tests.conftest import sure


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (
            "1 request moves 32 sectors of 32 bytes: 4 needed, 28 excess",
            "? request moves ? sectors of 32 bytes: ? needed, ? excess",
        ),
        ("A, warp 0: 32 lanes, 32 sectors moved, 4 needed: 12.5 %", "A, warp 0: ? lanes, ? sectors moved, ? needed: ? %"),
        ("moves 1088 sectors", "moves ? sectors"),
        ("A is read 8 times", "A is read ? times"),
        ("33 of 64 terms", "? of ? terms"),
        ("step 12 of 153, phase 1 of 4", "step 12 of 153, phase ?"),
        ("×32", "×?"),
        (
            "loads so far: 1 by block (0, 0), 2 by all traced blocks (2 at the end)",
            "loads so far: ? by block (0, 0), ? by all traced blocks (? at the end)",
        ),
    ],
)
def test_counts_read_as_question_marks(text: str, hidden: str) -> None:
    assert counted_text(text, 0.0) == hidden
    assert counted_text(text, 1.0) == text


@pytest.mark.parametrize("text", ["A 32 × 32", "C[3, 5]", "block (0, 0), warp 0: 32 threads read A, line 30", "warp 0 stores"])
def test_sizes_and_indices_stay(text: str) -> None:
    assert counted_text(text, 0.0) == text


def test_whole_counts_grow_and_their_parts_wait() -> None:
    text = "A: 32 sectors moved, 4 needed, 2 of 4 sectors, 12.5 %"
    assert counted_text(text, 0.5) == "A: 16 sectors moved, ? needed, ? of ? sectors, ? %"


def test_counts_are_hidden_in_languages_whose_units_are_not_known() -> None:
    with spoken("fr", NullTranslations()):
        assert counted_text("32 secteurs de la ligne 5", 0.0) == "? secteurs de la ligne 5"
        assert counted_text("thread 5 lit A[12], 50 %", 0.0) == "thread 5 lit A[12], ? %"
    assert counted_text("32 secteurs", 0.0) == "32 secteurs"


def test_shapes_and_tips_that_count_are_hidden() -> None:
    tips = np.array([["3 loads"]])
    cells = Cells("A", 0, 0, 10, np.zeros((1, 1), np.uint8), ("#000000",), ("#FFFFFF",), tips=tips)
    outline = Rects("left-sector-A", boxes((0, 0, 8, 8)), "#000000")
    action = Labels("action", points((0, 0)), ("a thread reads A[1, 2]",), 20, "#000000")
    scene = Scene(100, 100, "#000000", (cells, outline), words=(action,))
    hidden = counted_scene(scene, 0.0)
    assert [each.key for each in hidden.all] == ["A"]
    (left,) = hidden.primitives
    assert isinstance(left, Cells)
    assert sure(left.tips).tolist() == [["? loads"]]
    assert [each.key for each in counted_scene(scene, 0.5).all] == ["A", "left-sector-A", "action"]


@pytest.mark.parametrize("view", ["stage", "mapping", "memory", "request", "warp", "hierarchy"])
def test_no_view_shows_the_sectors_of_a_request_while_a_question_is_open(view: str) -> None:
    setup = setup_for(load_kernel("02_naive")).changed(M=32, N=32, K=32)
    outcome = run(setup, (0, 0, 0), Interpreter())
    moment = Reader(replay_of(outcome), Focus(warp=0)).at(0)
    scene = view_named(view).scene(moment, ViewOptions(counted=0.0))
    texts = [text for each in scene.all if isinstance(each, Labels) for text in each.texts]
    assert not [text for text in texts if "32 sectors" in text or "28 excess" in text or "12.5" in text]
