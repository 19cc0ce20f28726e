"""Turns a shot and the value of its subject into a scene and its drawing options."""

from math import ceil
from typing import Any

from gemmviz.model.records import fields
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.theme import Theme, load_theme
from gemmviz.scenes.kit.view import HEIGHT, SHEET_EDGE, WIDTH, DrawingOptions, ViewOptions
from gemmviz.shots.shot import Camera, Shot

Rectangle = tuple[float, float, float, float]
_Size = tuple[float, float]
_SLIDE_PIXELS, _LEAST_SCALE = 1920, 0.01


def theme_of(shot: Shot, system_is_dark: bool = True) -> Theme:
    """The theme of a shot; for "system", the system's dark or light theme."""
    return load_theme(shot.theme if shot.theme != "system" else "dark" if system_is_dark else "light")


def options_for(
    shot: Shot, theme: Theme, size: _Size | None = None, seen: Rectangle | None = None, scale: float = 0.0
) -> ViewOptions:
    """Drawing options of a shot. ``size``: of the frame in units, by default that of a slide, which has margins and no
    buttons; fewer units enlarge the text.
    ``seen``: the visible part of the frame, by default from the camera; ``scale``: pixels per unit, by default for a slide 1920
    pixels wide.
    """
    camera, (width, height) = shot.camera, size or slide_size(shot)
    label_zoom = float(1 << (int(camera.zoom).bit_length() - 1))
    clip = None if camera.zoom == 1.0 else seen or camera_box(camera, width, height)
    return ViewOptions(
        theme, label_zoom, width, height, clip=clip, curves=shot.chart.shown, scale=scale or _SLIDE_PIXELS / width,
        is_even=shot.chart.is_even, edge=0.0 if size else SHEET_EDGE, buttons=size is not None,
        **{each.name: getattr(shot, each.name) for each in fields(DrawingOptions)},
    )  # fmt: skip


def slide_size(shot: Shot) -> _Size:
    """Width and height in units of a frame with the aspect ratio of a slide."""
    return float(round(WIDTH / shot.type_scale)), float(round(HEIGHT / shot.type_scale))


def frame_for(shot: Shot, width: float, height: float) -> tuple[_Size, float]:
    """Size in units, and pixels per unit, of a frame that fills the given pixels like a slide."""
    scale = max(_LEAST_SCALE, min(width / WIDTH, height / HEIGHT)) * shot.type_scale
    return (max(1.0, round(width / scale)), max(1.0, round(height / scale))), scale


def camera_box(camera: Camera, width: float, height: float) -> Rectangle:
    """The part of a frame that a camera shows: x, y, width, height in units."""
    wide, high = width / camera.zoom, height / camera.zoom
    return camera.x * width - wide / 2, camera.y * height - high / 2, wide, high


def picture(shot: Shot, subject: Any, theme: Theme | None = None) -> Scene:
    """The scene of a shot, magnified as its camera has it, with its description."""
    from gemmviz.scenes.kit.shapes import magnified
    from gemmviz.shots.describing import described

    options = options_for(shot, theme or theme_of(shot))
    scene = view_named(shot.view).scene(subject, options)
    return described(magnified(scene, shot.camera.zoom, shot.camera.x, shot.camera.y), shot, subject)


INSTANTS = 60


def instant_place(instant: float) -> tuple[int, float]:
    """The step that contains an instant (0 to 1) of a launch, and the elapsed fraction of that step."""
    at = round(instant * INSTANTS, 6)
    step = max(0, ceil(at) - 1)
    return step, at - step
