"""Display names of shots: undo entries for the menu, and window titles."""

from collections.abc import Callable
from typing import Any

from gemmviz.analysis.replay.focus import Focus
from gemmviz.model.setting import Setting, settings_of
from gemmviz.model.setup import changes
from gemmviz.model.translation import tr
from gemmviz.scenes.catalog import view_named
from gemmviz.state.fields import device_title
from gemmviz.state.shot import Shot


def change_name(before: Shot, after: Shot) -> str:
    """Name of a change for the undo menu; "" if only the position or camera changed."""
    names = changes(before.setup, after.setup, _shown)
    for setting in settings_of(Shot):
        if len(setting.path) == 1 and setting.of(before) != setting.of(after):
            name, value = setting.control.undo, _shown(setting, setting.of(after))
            names.append(f"{tr(setting.control.label).lower()} {value}" if name is None else tr(name).format(value))
    return ", ".join(name for name in dict.fromkeys(names) if name)


def _shown(setting: Setting, value: Any) -> str:
    return _SHOWN[setting.name](value) if setting.name in _SHOWN else setting.shown(value)


def focus_name(focus: Focus) -> str:
    """Short name of the watched threads; threads are given by index."""
    x, y, z = focus.block
    block = tr("block ({x}, {y}", x=x, y=y) + (f", {z})" if z else ")")
    if focus.everyone:
        return tr("all traced blocks")
    if focus.thread is not None:
        return tr("{block}, thread {thread}", block=block, thread=focus.thread)
    return block if focus.warp is None else tr("{block}, warp {warp}", block=block, warp=focus.warp)


_SHOWN: dict[str, Callable[[Any], str]] = {
    "device": device_title, "focus": focus_name, "view": lambda name: tr(view_named(name).title),
}  # fmt: skip


def title_of(shot: Shot, name: str = "") -> str:
    """Window title of a shot. ``name``: the displayed subject, by default the setup of the shot."""
    view = tr(view_named(shot.view).title)
    if name:
        return tr("{view} · {name} – gemmviz", view=view, name=name)
    setup = shot.setup
    sizes = setup.problem.text()
    parameters = "".join(f", {name} = {value}" for name, value in setup.parameters.items())
    return tr(
        "{kernel} · {sizes}{parameters} · {view} · {focus_name} – gemmviz",
        kernel=setup.kernel.name,
        sizes=sizes,
        parameters=parameters,
        view=view,
        focus_name=focus_name(shot.focus),
    )
