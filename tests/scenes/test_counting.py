"""Counts of a picture that are hidden while a question is open."""

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import asking, counted, grouped, in_full, many, percent, sized, spaced, told, tr, trn
from gemmviz.run.choosing import run
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit import sentence
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import (
    Cells,
    Labels,
    Lines,
    Primitive,
    Rects,
    Scene,
    Squares,
    boxes,
    fitted,
    points,
    text_line,
    text_width,
    wrap_text,
)
from gemmviz.scenes.kit.view import View, ViewOptions, counted_scene, framed
from gemmviz.scenes.stage.cost import meter_primitives, meters_of
from gemmviz.shots.knowledge import replay_of
from tests.conftest import sure
from tests.pseudo import texts_of


def test_counts_read_as_question_marks() -> None:
    def text() -> str:
        moved, needed = many(32, "sector"), spaced(4)
        return tr(
            "{moved} of {size} bytes, {needed} needed: {share}", moved=moved, size=32, needed=needed, share=percent(0.125)
        )

    assert text() == "32 sectors of 32 bytes, 4 needed: 12.5 %"
    with asking():
        assert told(text(), 0.0) == "? sectors of 32 bytes, ? needed: ? %"
        assert told(text(), 0.5) == "16 sectors of 32 bytes, ? needed: ? %"
        assert told(text(), 1.0) == in_full(text()) == "32 sectors of 32 bytes, 4 needed: 12.5 %"
    with asking(False):
        assert text() == "32 sectors of 32 bytes, 4 needed: 12.5 %"


def test_sizes_and_indices_stay() -> None:
    with asking():
        assert told(tr("line {line}, {threads}", line=30, threads=sized(256, "thread")), 0.0) == "line 30, 256 threads"
        assert told(tr("byte {byte}", byte=grouped(16384)), 0.0) == "byte 16\u202f384"


def test_a_hidden_count_of_one_has_the_form_of_several() -> None:
    with asking():
        assert told(many(1, "sector"), 0.0) == told(many(2, "sector"), 0.0) == "? sectors"
        assert told(trn("one value", "{count} values", 1), 0.0) == "? values"
        assert told(trn("{names} is wide", "{names} are wide", 1, names="A"), 0.0) == "A is wide"
        assert told(sized(1, "thread"), 0.0) == "1 thread"


def test_a_count_in_a_count_is_one() -> None:
    with asking():
        assert told(counted(f"{spaced(3)} of {spaced(4)}"), 0.0) == "?"
        assert told(counted(f"{spaced(3)} of {spaced(4)}"), 1.0) == "3 of 4"


def test_a_text_keeps_its_place_when_its_counts_come() -> None:
    text = "1 request moves 32 sectors of 32 bytes"
    with asking():
        asked = f"{counted(1)} request moves {counted(32)} sectors of {32} bytes"
    assert text_width(asked, 20.0) == text_width(text, 20.0)
    room = text_width(text, 20.0) - 1.0
    assert [in_full(line) for line in wrap_text(asked, 20.0, room, 2)] == list(wrap_text(text, 20.0, room, 2))
    assert fitted(asked, 20.0, room + 1.0) == asked
    assert "32 sec" not in fitted(asked, 20.0, text_width("1 request moves 32 sec…", 20.0))


def test_shapes_and_tips_that_count_are_hidden() -> None:
    with asking():
        tips = np.array([[many(3, "load")]])
    cells = Cells("A", 0, 0, 10, np.zeros((1, 1), np.uint8), ("#000000",), ("#FFFFFF",), tips=tips)
    outline = Rects("of a sector", boxes((0, 0, 8, 8)), "#000000", meaning="count")
    action = Labels("said", points((0, 0)), ("a thread reads A[1, 2]",), 20, "#000000", meaning="action")
    scene = Scene(100, 100, "#000000", (cells, outline), words=(action,))
    hidden = counted_scene(scene, 0.0)
    assert [each.key for each in hidden.all] == ["A"]
    (left,) = hidden.primitives
    assert isinstance(left, Cells)
    assert sure(left.tips).tolist() == [["? loads"]]
    assert [each.key for each in counted_scene(scene, 0.5).all] == ["A", "of a sector", "said"]


def _request() -> Moment:
    setup = setup_for(load_kernel("02_naive")).changed(M=32, N=32, K=32)
    return Reader(replay_of(run(setup, (0, 0, 0), Interpreter())), Focus(warp=0)).at(0)


@pytest.mark.parametrize("view", ["stage", "mapping", "memory", "request", "warp", "hierarchy"])
def test_no_view_shows_the_sectors_of_a_request_while_a_question_is_open(view: str) -> None:
    scene = view_named(view).scene(_request(), ViewOptions(counted=0.0))
    texts = [text for each in scene.all if isinstance(each, Labels) for text in each.texts]
    assert not [text for text in texts if "32 sectors" in text or "28 excess" in text or "12.5" in text]


def _plain_scene(moment: Moment, options: ViewOptions) -> Scene:
    """A view whose author never thought of questions."""
    (meter,), theme, cost = meters_of(moment), options.theme, moment.cost
    share = cost.needed_sectors / cost.sectors
    said = [
        sentence.global_cost(cost, moment.trace.rules),
        f"{spaced(cost.sectors)} | {percent(share)}",
        many(cost.requests, "request"),
    ]
    drawn: list[Primitive] = [
        text_line(f"said-{n}", (40, 100 + 40 * n), text, 24, 900, theme.text) for n, text in enumerate(said)
    ]
    drawn += meter_primitives(meter, Box(40, 300, 600, 300), theme, "cost of it")
    return framed(drawn, moment, options)


def test_a_view_without_a_thought_of_questions_gives_no_answer_away() -> None:
    view, moment = View("Plain", Moment, _plain_scene), _request()
    whole, asked = (view.scene(moment, ViewOptions(counted=share)) for share in (1.0, 0.0))
    assert {"1 request moves 32 sectors of 32 bytes: 4 needed, 28 lost", "32 | 12.5 %", "32 moved, 4 needed"} <= _texts(whole)
    assert {"? requests move ? sectors of 32 bytes: ? needed, ? lost", "? | ? %", "? moved, ? needed"} <= _texts(asked)
    assert not [each for each in asked.primitives if isinstance(each, Rects | Squares | Lines)]  # its squares are a count


def _texts(scene: Scene) -> set[str]:
    return {text for _, text in texts_of(scene)}
