"""What things that a person did and sees are called: changes in the menu, the picture in the window's title."""

from gemmviz.analysis.replay.focus import Focus
from gemmviz.model.setup import Setting, changes
from gemmviz.scenes.catalog import view_named
from gemmviz.state.fields import device_title
from gemmviz.state.shot import Shot

DRAGGED = "what is tried out"  # a change that goes on as long as the same value is dragged


def change_name(before: Shot, after: Shot) -> str:
    """What of a shot was changed on purpose, "" for nothing: where one is in time and how near one looks are no such thing."""
    found = changes(before.setup, after.setup, _shown)
    if before.view != after.view:
        found.append(f"view {view_named(after.view).title}")
    if before.focus != after.focus:
        found.append(f"watch {focus_name(after.focus)}")
    if before.layer != after.layer:
        found.append("colours")
    if before.chart != after.chart:
        found.append("curves")
    if before.against != after.against:
        found.append("what it is held against")
    if before.trial != after.trial:
        found.append(DRAGGED)
    if before.labels != after.labels:
        found.append("labels")
    if (before.lens, before.code, before.type_scale) != (after.lens, after.code, after.type_scale):
        found.append("how it is seen")
    if before.theme != after.theme:
        found.append(f"theme {after.theme}")
    return ", ".join(found)


def _shown(setting: Setting, value: object) -> str:
    choices = setting.control.choices or {}
    return device_title(str(value)) if setting.name == "device" else choices.get(str(value), str(value))


def focus_name(focus: Focus) -> str:
    """Who is watched, in short: threads by their number."""
    x, y, z = focus.block
    block = f"block ({x}, {y}" + (f", {z})" if z else ")")
    if focus.everyone:
        return "all traced blocks"
    if focus.thread is not None:
        return f"{block}, thread {focus.thread}"
    return block if focus.warp is None else f"{block}, warp {focus.warp}"


def title_of(shot: Shot, name: str = "") -> str:
    """The picture in a line, for the window's title. ``name``: what it shows, by default the setup of the shot."""
    view = view_named(shot.view).title
    if name:
        return f"{view} · {name} – gemmviz"
    setup = shot.setup
    sizes = " × ".join(map(str, setup.problem.sizes.values()))
    parameters = "".join(f", {name} = {value}" for name, value in setup.parameters.items())
    return f"{setup.kernel.name} · {sizes}{parameters} · {view} · {focus_name(shot.focus)} – gemmviz"
