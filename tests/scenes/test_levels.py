"""Every view that draws levels of memory draws all that a device has."""

import pytest
from msgspec import structs

from gemmviz.files.devices import devices, load_device
from gemmviz.model.cases import LaunchCase, SpeedCase, Traffic
from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.messages import UsageError
from gemmviz.model.problem import Problem
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Rects, Scene
from gemmviz.scenes.kit.theme import load_theme, theme_names
from gemmviz.scenes.kit.view import ViewOptions
from tests.conftest import moment_of, piece, trace_of
from tests.legible import wrong_with

L15, L3 = MemoryLevel("L1.5 cache", 1 << 20, "SM", 9000.0), MemoryLevel("near cache", 1 << 24)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    """An H200 with two more caches."""
    found = structs.replace(load_device("h200"), caches=(L15, L3))
    monkeypatch.setitem(devices()._loaded, "h200", found)
    return found


def keys(scene: Scene) -> set[str]:
    return {each.key for each in scene.primitives if isinstance(each, Rects)}


def texts(scene: Scene) -> str:
    return "\n".join(text for each in (*scene.primitives, *scene.words) for text in getattr(each, "texts", ()))


def test_all_levels_in_order() -> None:
    names = [level.name for level in structs.replace(load_device("h200"), caches=(L15,)).levels]
    assert names == ["shared memory", "L1.5 cache", "last-level cache", "global memory"]
    assert [level.name for level in load_device("8800gtx").levels] == ["shared memory", "global memory"]


def test_a_level_has_figures_that_there_are() -> None:
    with pytest.raises(UsageError, match="size_bytes"):
        MemoryLevel("odd", -1)


@pytest.mark.parametrize(("name", "boxes"), [("h200", 4), ("8800gtx", 3)])
def test_the_hierarchy_has_a_box_for_each(name: str, boxes: int) -> None:
    scene = view_named("hierarchy").scene(moment_of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4, device=name)), ViewOptions())
    assert sum(key.startswith("level-") for key in keys(scene)) == boxes
    assert wrong_with(scene) == []


def test_and_for_more(device: Device) -> None:
    scene = view_named("hierarchy").scene(moment_of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)), ViewOptions())
    assert sum(key.startswith("level-") for key in keys(scene)) == 6
    assert "L1.5 cache" in texts(scene)
    assert "Near cache" in texts(scene)
    assert wrong_with(scene) == []


def test_the_device_has_a_bar_for_each(device: Device) -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)
    case = LaunchCase(trace.setup, device, "a launch", trace.launch)
    scene = view_named("device").scene(case, ViewOptions())
    assert {"cache-bar", "cache-1-bar", "L1.5 cache-bar"} <= keys(scene)


@pytest.mark.parametrize("levels", [1, 3, 4, 5])
def test_why_and_bytes_draw_every_level_that_was_counted(levels: int) -> None:
    traffic = tuple(Traffic(f"level {n}", 1_000_000 >> n, "counted", is_dram=n == 4) for n in range(levels))
    sizes = tuple(float(each.size_bytes) for each in traffic)
    case = SpeedCase("a kernel", load_device("h200"), Problem(64, 64, 64), traffic, so_far=(1e5, sizes))
    why, bytes_ = (view_named(name).scene(case, ViewOptions()) for name in ("why", "bytes"))
    for n in range(levels):
        assert f"level-level-{n}-roof" in keys(why)
        assert f"level-chip-{n}" in keys(why)
        assert why.find(f"so-far-{'ABCDE'[n]}") is not None
        assert f"bytes-{n}-bar" in keys(bytes_)
    assert ("DRAM bytes: not recorded" in texts(why)) == (levels < 5)


@pytest.mark.parametrize("name", theme_names())
def test_levels_have_colours_of_their_own(name: str) -> None:
    theme = load_theme(name)
    assert len({theme.level(place) for place in range(6)}) == 6
    assert not {theme.level(place) for place in range(6)} & {*theme.accents.values(), *theme.warps}


def test_the_chips_have_the_colours_of_the_marks() -> None:
    traffic = tuple(Traffic(f"level {n}", 1_000_000 >> n, "counted") for n in range(4))
    case = SpeedCase("a kernel", load_device("h200"), Problem(64, 64, 64), traffic)
    scene = view_named("why").scene(case, ViewOptions())
    chips = [piece(scene, f"level-chip-{place}", Rects).fill for place in range(4)]
    assert chips == [piece(scene, f"level-level-{place}-roof", Rects).stroke for place in range(4)]
    assert len(set(chips)) == 4
