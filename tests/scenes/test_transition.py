"""The way from one picture to the next: what moves, what fades, and where everything is on the way."""

import dataclasses

import numpy as np
import pytest

from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, Squares, boxes, points
from gemmviz.scenes.kit.transition import PaintLayer, Transition, _of_both
from gemmviz.shots.export import ExportOptions, frame_at, prepare
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import stored_first, sure

INK = ("#FFFFFF",) * 4
PALETTE = ("#101010", "#202020", "#303030", "#404040")


def scene(*primitives: Primitive, words: tuple[Primitive, ...] = ()) -> Scene:
    return Scene(1600.0, 900.0, "#101418", primitives, words=words)


def cells(labels: list[list[str]], x: float = 0.0, size: float = 10.0, key: str = "t", fill: int = 1) -> Cells:
    table = np.array(labels)
    return Cells(key, x, 0.0, size, np.full(table.shape, fill, np.uint8), PALETTE, INK, table, 5.0)


def at(one: Scene, other: Scene, share: float, is_morph: bool = True) -> tuple[PaintLayer, ...]:
    return Transition(one, other, is_morph).at(share)


def painted(layers: tuple[PaintLayer, ...], key: str) -> list[tuple[Primitive, float]]:
    """Each painted primitive of a key with its opacity."""
    return [(each, layer.opacity) for layer in layers for each in layer.primitives if each.key == key]


def test_the_ends_are_the_two_pictures() -> None:
    """Whatever is painted at the beginning and at the end looks like the earlier and the later picture."""
    one = scene(
        Rects("bar", boxes((0, 0, 10, 5), (0, 9, 4, 5)), "#FF0000"), Labels("gone", points((0, 0)), ("a",), 20.0, "#FFFFFF")
    )
    other = scene(
        Rects("bar", boxes((0, 0, 90, 5), (0, 9, 8, 5)), "#0000FF"), Labels("new", points((0, 0)), ("b",), 20.0, "#FFFFFF")
    )
    way = Transition(one, other)
    first, last = way.at(0.0), way.at(1.0)
    assert [each.key for layer in first for each in layer.primitives] == ["bar", "gone"]
    assert [each.key for layer in last for each in layer.primitives] == ["bar", "new"]
    for layers, end in ((first, one), (last, other)):
        bar, opacity = painted(layers, "bar")[0]
        assert isinstance(bar, Rects)
        assert opacity == 1.0
        assert np.array_equal(bar.boxes, sure(end.find("bar")).boxes)  # type: ignore[attr-defined]
        assert bar.fill == sure(end.find("bar")).fill  # type: ignore[attr-defined]


def test_bars_grow_and_those_of_one_picture_fade() -> None:
    one = scene(Rects("bar", boxes((0, 0, 10, 5), (0, 9, 4, 5)), "#FF0000"))
    other = scene(Rects("bar", boxes((0, 0, 30, 5)), "#FF0000"))
    halfway = at(one, other, 0.5)
    moving = [each for each, opacity in painted(halfway, "bar") if opacity == 1.0]
    assert [each.boxes.tolist() for each in moving] == [[[0.0, 0.0, 20.0, 5.0]]]  # type: ignore[union-attr]
    assert [opacity for _, opacity in painted(at(one, other, 0.2), "bar")] == [pytest.approx(0.7, abs=0.1), 1.0]


def test_words_that_both_have_move_and_the_others_fade() -> None:
    one = scene(Labels("code", points((0, 10), (0, 20), (0, 30)), ("int x;", "old();", "}"), 20.0, "#FFFFFF"))
    other = scene(Labels("code", points((0, 10), (0, 20), (0, 40)), ("int x;", "new();", "}"), 20.0, "#FFFFFF"))
    shown = {text: (float(y), opacity) for each, opacity in painted(at(one, other, 0.5), "code")
             for text, (_, y) in zip(each.texts, each.at, strict=True)}  # type: ignore[union-attr]  # fmt: skip
    assert shown["int x;"] == (10.0, 1.0)
    assert shown["}"] == (35.0, 1.0)
    assert 0.0 < shown["old();"][1] < 0.2
    assert 0.0 < shown["new();"][1] < 0.5


def test_cells_find_their_new_places_one_after_the_other() -> None:
    one = scene(cells([["0"], ["1"], ["2"], ["3"]]))
    other = scene(cells([["0", "1", "2", "3"]]))
    (moving, _), *_ = [(each, o) for each, o in painted(at(one, other, 0.5), "t") if isinstance(each, Squares)]
    assert isinstance(moving, Squares)
    assert sure(moving.labels).tolist() == ["0", "1", "2", "3"]
    along = moving.boxes[:, 0] / np.array([1.0, 10.0, 20.0, 30.0])
    assert np.array_equal(moving.boxes[0], [0.0, 0.0, 10.0])
    assert along[1] > along[2] > along[3] > 0.0
    for share, end in ((0.0, [(0, 0), (0, 10), (0, 20), (0, 30)]), (1.0, [(0, 0), (10, 0), (20, 0), (30, 0)])):
        ((squares, _),) = [(each, o) for each, o in painted(at(one, other, share), "t") if isinstance(each, Squares)]
        assert squares.boxes[:, :2].tolist() == [[float(x), float(y)] for x, y in end]


def test_a_table_that_keeps_its_cells_moves_as_a_whole() -> None:
    one, other = scene(cells([["a", "b"]])), scene(cells([["a", "b"]], x=40.0, size=20.0, fill=3))
    ((table, opacity),) = painted(at(one, other, 0.5), "t")
    assert isinstance(table, Cells)
    assert (table.x, table.size, opacity) == (20.0, 15.0, 1.0)
    assert {table.palette[entry] for entry in table.fill.ravel()} == {"#303030"}  # between #202020 and #404040


def test_ids_say_what_is_the_same_without_labels() -> None:
    def table(ids: list[list[int]]) -> Cells:
        plain = cells([["", ""], ["", ""]])
        return dataclasses.replace(plain, labels=None, ids=np.array(ids, np.int64))

    layers = at(scene(table([[7, -1], [8, -1]])), scene(table([[7, 8], [-1, -1]])), 1.0)
    (squares,) = [each for each, _ in painted(layers, "t") if isinstance(each, Squares)]
    assert squares.boxes[:, :2].tolist() == [[0.0, 0.0], [10.0, 0.0]]


def test_different_views_cross_fade() -> None:
    line = Lines("axis", np.array([[0.0, 0.0, 9.0, 9.0]]), "#FFFFFF")
    one = scene(
        line,
        Rects("bar", boxes((0, 0, 10, 5)), "#FF0000"),
        words=(Rects("band", boxes((0, 800, 1600, 100)), "#222222", meaning="band"),),
    )
    other = scene(
        line,
        Rects("bar", boxes((0, 0, 30, 5)), "#FF0000"),
        words=(Rects("band", boxes((0, 780, 1600, 120)), "#222222", meaning="band"),),
    )
    for share in (0.1, 0.5, 0.9):
        layers = at(one, other, share, is_morph=False)
        assert all(each.boxes[0, 2] in (10.0, 30.0) for each, _ in painted(layers, "bar"))  # type: ignore[union-attr]
        assert painted(layers, "axis") == [(line, 1.0)]
        ((band, opacity),) = painted(layers, "band")  # the bar of the caption stays, and only grows
        assert opacity == 1.0
        assert 780.0 <= band.boxes[0, 1] <= 800.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("lesson", "ids"),
    [("coalescing", ("uncoalesced", "coalesced")), ("shared-memory", ("piece-2", "piece-3")), ("coalescing", ("warps-1d", "bytes"))],
)  # fmt: skip
def test_pictures_of_lessons_begin_and_end_as_they_are(lesson: str, ids: tuple[str, str]) -> None:
    """Everything is opaque and at its place at both ends: nothing jumps when the motion begins or ends."""
    stops = [shipped_lesson(lesson).steps[sure(shipped_lesson(lesson).find(id))] for id in ids]
    one, other = (
        frame_at(stage, stage.step, 1.0, ExportOptions()).scene
        for stage in (prepare(stop.shot, stored_first) for stop in stops)
    )
    way = Transition(one, other, stops[0].shot.view == stops[1].shot.view)
    for share, end in ((0.0, one), (1.0, other)):
        layers = way.at(share)
        assert {layer.opacity for layer in layers} == {1.0}
        texts = sorted(text for layer in layers for each in layer.primitives if isinstance(each, Labels) for text in each.texts)
        assert texts == sorted(text for each in end.all if isinstance(each, Labels) for text in each.texts)


def test_the_swing_is_what_people_see() -> None:
    """The lanes of a warp leave their column for a row."""
    lesson, scenes = shipped_lesson("coalescing"), []
    for id in ("uncoalesced", "coalesced"):
        stage = prepare(lesson.steps[sure(lesson.find(id))].shot, stored_first)
        scenes.append(frame_at(stage, stage.step, 1.0, ExportOptions()).scene)
    way = Transition(scenes[0], scenes[1])
    lanes = [each for layer in way.at(0.5) for each in layer.primitives if isinstance(each, Squares) and len(each.boxes) == 32]
    spread = lanes[0].boxes[:, :2].max(axis=0) - lanes[0].boxes[:, :2].min(axis=0)
    assert spread.min() > 0.2 * spread.max()  # neither a column nor a row


def test_what_is_the_same_in_both_pictures_stays() -> None:
    one, other = (Lines("a", boxes((0.0, 0.0, 5.0, 5.0)), "#FFFFFF") for _ in range(2))
    assert [part.fate for part in _of_both(one, other, is_morph=False)] == ["stays"]
    assert [part.fate for part in _of_both(one, dataclasses.replace(other, stroke="#000000"), is_morph=False)] == [
        "goes",
        "comes",
    ]
