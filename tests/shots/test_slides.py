"""Pictures that are ready for a slide: margins, titles, parts, templates, and nothing to click on."""

import numpy as np
import numpy.typing as npt
import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.messages import UsageError
from gemmviz.render.reel import RenderOptions
from gemmviz.scenes.catalog import view_named, views
from gemmviz.scenes.kit.primitives import ANCHORED, Button, Cells, Labels, Lines, Primitive, Rects, Scene, Squares, text_width
from gemmviz.shots.export import (
    LONGEST_TITLE,
    TEMPLATES,
    ExportOptions,
    Prepared,
    frame_at,
    only_part,
    prepare,
    run_reel,
    slide_at,
)
from tests.conftest import once
from tests.shots.test_every_view import shot_of, stage_of

TITLE = "Each tile is read from shared memory, one row after the other"
LONG = " ".join(f"word{number:02}" for number in range(25))
CHINESE = "分块矩阵乘法的每个线程从共享内存读取一行" * 6
SIZES = {"16:9": (1920, 1080), "4:3": (2400, 1800)}
_MARGIN = 40 * 1600 / 1920  # units: 40 of 1920 pixels


def edges(each: Primitive) -> npt.NDArray[np.float64]:
    """Return left, top, right and bottom of each piece of a primitive."""
    match each:
        case Cells():
            x, y, width, height = each.box
            return np.array([[x, y, x + width, y + height]])
        case Rects():
            return np.hstack([each.boxes[:, :2], each.boxes[:, :2] + each.boxes[:, 2:]])
        case Squares():
            return np.hstack([each.boxes[:, :2], each.boxes[:, :2] + each.boxes[:, 2:]])
        case Lines():
            ends = each.segments.reshape(-1, 2, 2)
            return np.hstack([ends.min(axis=1), ends.max(axis=1)])
        case Labels():
            wide = np.array([text_width(text, each.size, each.face) for text in each.texts])
            start, low = each.at[:, 0] - ANCHORED[each.anchor] * wide, each.at[:, 1]
            return np.stack([start, low - 0.727 * each.size, start + wide, low + 0.2 * each.size], axis=1)


def ink(scene: Scene) -> tuple[float, float, float, float]:
    """Return what is free at the left, above, at the right and below everything that is drawn."""
    drawn = [each for each in scene.all if not (isinstance(each, Rects) and each.fill == scene.background)]
    all_edges = np.vstack([edges(each) for each in drawn])
    (left, top), (right, bottom) = all_edges[:, :2].min(axis=0).tolist(), all_edges[:, 2:].max(axis=0).tolist()
    return left, top, scene.width - right, scene.height - bottom


def manner_of(size: str = "16:9", **how: object) -> ExportOptions:
    return ExportOptions(RenderOptions(*SIZES[size]), **how)  # type: ignore[arg-type]


def exported(stage: Prepared, **how: object) -> Scene:
    return slide_at(stage, stage.steps // 3, manner_of(**how)).scene  # type: ignore[arg-type]


@pytest.mark.parametrize("view", views())
def test_every_picture_has_margins_and_nothing_to_click_on(view: str) -> None:
    """40 pixels at least around what is drawn, in each format, with and without titles, timelines and all words."""
    stage = stage_of(view)
    for how in ({"size": "16:9"}, {"size": "4:3", "title": TITLE}, {"size": "4:3", "only": view}):
        step = stage.steps // 3
        scene = frame_at(stage, step, stage.moment(step), manner_of(**how)).scene
        assert min(ink(scene)) >= _MARGIN - 0.1, (how, ink(scene))
        buttons = [each for each in scene.all if isinstance(each, Cells) and isinstance(each.meaning, Button)]
        assert all(each.meaning.action == "value" for each in buttons), how  # type: ignore[union-attr]
        assert not any("look at" in text for each in scene.all if isinstance(each, Labels) for text in each.texts)


@pytest.mark.parametrize("view", ["stage", "pair", "request", "banks", "sum", "why", "occupancy", "rate", "grid", "listing"])
def test_a_title_is_never_cut(view: str) -> None:
    """It takes the place of the view's own title, in as many lines as it needs, and what is below moves down."""
    for size, title in (("16:9", TITLE), ("4:3", LONG), ("16:9", CHINESE)):
        scene = exported(stage_of(view), size=size, title=title)
        own = next(each for each in scene.words if isinstance(each, Labels) and each.meaning == "title")
        assert "".join(own.texts).replace(" ", "") == title.replace(" ", ""), (size, title)
        assert scene.title == title
        low = edges(own)[:, 3].max()
        covered = [each.key for each in scene.primitives if edges(each)[:, 1].min(initial=1e9) < low]
        assert not covered
        assert own.size >= 22


def test_a_title_has_an_end() -> None:
    with pytest.raises(UsageError, match="at most 200 characters"):
        ExportOptions(title="x" * (LONGEST_TITLE + 1))


@pytest.mark.parametrize("view", ["request", "banks", "why", "occupancy", "rate", "race", "grid", "block", "loops"])
def test_what_is_left_out_leaves_no_hole(view: str) -> None:
    """Without words, the picture begins at the margin; without a title alone, it is larger than before."""
    stage = stage_of(view)
    whole, bare = exported(stage), exported(stage, only=view)
    assert ink(bare)[1] < ink(whole)[1] + 60
    assert ink(bare)[1] < 80
    untitled = exported(stage, hidden=frozenset({"title", "step"}))
    assert ink(untitled)[1] < 80
    assert not any(each.meaning == "title" for each in untitled.words)


def test_the_matrices_alone_fill_the_picture() -> None:
    """They and their tiles are drawn from margin to margin, without a word but their names and numbers."""
    stage = prepare(shot_of("stage"), once)
    bare = exported(stage, only="matrices")
    assert bare.words == ()
    assert {"A-name", "B-name", "C-name"} <= {each.key for each in bare.all}
    for key in ("code", "cost", "request", "meter-text", "sum-text", "action", "title"):
        assert bare.find(key) is None
    tables = [each for each in bare.all if isinstance(each, Cells)]
    assert len(tables) >= 5
    assert min(ink(bare)) >= _MARGIN - 0.1
    assert ink(bare)[1] + ink(bare)[3] < 100


def test_parts_of_other_problems_fill_the_picture() -> None:
    stage = prepare(structs.replace(shot_of("stage"), setup=setup_for(load_kernel("transpose_tiled"))), once)
    bare = exported(stage, only="matrices")
    assert bare.words == ()
    assert min(ink(bare)) >= _MARGIN - 0.1


def test_a_part_is_a_view_of_the_same_moment() -> None:
    shot = shot_of("stage")
    assert only_part(shot, "matrices") == shot
    assert only_part(shot, "banks").view == "banks"
    kinds = {view_named(part).subject for part in view_named("stage").parts if part != "matrices"}
    assert kinds == {view_named("stage").subject}
    with pytest.raises(UsageError) as caught:
        only_part(shot, "why")
    assert caught.value.remedy == "choose stage, matrices, request, banks, sum"


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_is_ready_for_use(template: str) -> None:
    """The picture has the size and the theme of the template, without what would have to be cut away."""
    own = TEMPLATES[template]
    stage = prepare(structs.replace(shot_of("stage"), theme=own.theme), once)
    manner = ExportOptions(RenderOptions(own.width, own.height), hidden=own.hidden, title=TITLE)
    scene = slide_at(stage, 8, manner).scene
    assert scene.width / scene.height == pytest.approx(own.width / own.height, abs=0.01)
    keys = {each.key for each in scene.all}
    assert "timeline" in own.hidden
    assert not any(key.startswith("track") for key in keys)
    assert ("progress" in keys) == ("step" not in own.hidden)


def test_the_words_of_the_stage_leave_no_hole() -> None:
    """What stood below the sentence moves to the top."""
    stage = prepare(shot_of("stage"), once)
    whole, hidden = exported(stage), exported(stage, hidden=frozenset({"title", "step", "caption"}))
    tops = [min(edges(each)[:, 1].min() for each in scene.all if each.key == "code-panel") for scene in (whole, hidden)]
    assert tops[1] < tops[0] - 100
    assert tops[1] < 60
    caption = exported(stage, hidden=frozenset({"title"})).find("action")
    assert isinstance(caption, Labels)
    assert caption.at[0, 1] < whole.find("action").at[0, 1]  # type: ignore[union-attr]


def test_a_film_keeps_its_link_below_each_frame() -> None:
    """The frames of a step share what doesn't move, with the title and the link once."""
    stage = prepare(shot_of("stage"), once)
    manner = ExportOptions(RenderOptions(640, 360), title=TITLE, link="https://example.org/a", speed=1.0)
    frames = list(run_reel(stage, manner, [0], range(2)).frames(6))
    assert len(frames) == 12
    assert len({frame.still.height for frame in frames}) == 1
    assert [each.key for each in frames[-1].still.words].count("link-code") == 1
