"""The table of flags: one for each field of a Shot with a flag in its Control, and those of step and focus."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.position import Position
from gemmviz.files.devices import device_names
from gemmviz.launch.legality import setup_for
from gemmviz.model.setting import Setting, settings_of
from gemmviz.model.setup import Setup
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.frame import DrawingOptions
from gemmviz.scenes.kit.theme import theme_names
from gemmviz.state.flag_texts import TEXT_FORMS, block_from, block_text
from gemmviz.state.shot import Shot

_KNOWN: dict[str, Callable[[], tuple[str, ...]]] = {
    "device": device_names, "view": lambda: tuple(views()), "theme": theme_names,
}  # fmt: skip
_TYPES: dict[str, type] = {"number": int, "decimal": float}


@dataclass(frozen=True)
class Flag:
    """One option. ``take`` puts its value into a shot; ``words`` are the values that a shot needs, None for no flag at all, ""
    for a flag without a value, a list for a flag that may be given several times.

    ``options`` go to argparse; ``group``: at most one flag of a group may be given.
    """

    name: str
    take: Callable[[Shot, Any], Shot]
    words: Callable[[Shot], str | list[str] | None]
    options: Mapping[str, Any]
    group: str = ""

    @property
    def attribute(self) -> str:
        """Where argparse puts the value."""
        return self.name.lstrip("-").replace("-", "_")


def setup_flags(kind: type = Setup, with_record: bool = True) -> list[Flag]:
    """One for each setting of a setup; without those that only say what is recorded, where nothing is."""
    chosen = (each for each in settings_of(kind) if with_record or not each.control.of_record)
    return [_flag(each.within("setup")) for each in chosen if each.control.flag]


def view_flags(kind: type = Shot) -> list[Flag]:
    """One for each other field of a shot. A phase is no flag of a shot: only the run says which step begins it."""
    return list(_view_flags(kind))


def _view_flags(kind: type) -> Iterator[Flag]:
    shared = {each.name for each in fields(DrawingOptions)}
    for setting in sorted(settings_of(kind), key=lambda each: each.path[0] in shared):
        if setting.path == ("focus",):
            yield from _focus_flags()
        elif setting.path == ("at",):
            yield _step_flag()
        elif setting.path[0] != "setup" and setting.control.flag:
            yield _flag(setting)


# One field


def _flag(setting: Setting) -> Flag:
    """A flag that is left out where the shot has what a shot of its kernel has by default."""
    form = TEXT_FORMS.get(setting.type)

    def take(shot: Shot, value: Any) -> Shot:
        return setting.put(shot, value if form is None else form.parse(setting.of(shot), value))  # type: ignore[no-any-return]

    def words(shot: Shot) -> str | list[str] | None:
        value, default = setting.of(shot), setting.of(Shot(setup_for(shot.setup.kernel)))
        if value == default:
            return None
        return form.words(value) if form is not None else _words(setting, value)

    return Flag(setting.control.flag, take, words, _options(setting, form is not None and form.is_repeated))


def _words(setting: Setting, value: Any) -> str:
    match setting.kind:
        case "switch":
            return ""
        case "decimal" if setting.control.digits:
            return f"{value:.{setting.control.digits}g}"
        case "decimal":
            return np.format_float_positional(value, trim="-")  # argparse takes -1e-7 for a flag
    return str(value)


def _options(setting: Setting, is_repeated: bool) -> dict[str, Any]:
    """How argparse reads one flag. Bounds are checked by the dataclass that has the field."""
    control, options = setting.control, dict[str, Any]()
    options["help"] = control.help[:1].lower() + control.help[1:]
    choices = _KNOWN[setting.name]() if setting.name in _KNOWN else tuple(setting.choices)
    if setting.kind == "switch":
        return options | {"action": "store_const", "const": not setting.default}
    if choices:
        return options | {"choices": choices}
    if setting.kind in _TYPES:
        options["type"] = _TYPES[setting.kind]
    if is_repeated:
        options["action"] = "append"
    return options | {"metavar": control.metavar or setting.name.upper()}


# Whom to watch, and when


def _step_flag() -> Flag:
    return Flag(
        "--step", lambda shot, step: replace(shot, at=Position(step - 1)), lambda shot: str(shot.at.step + 1),
        {"type": whole_number(1), "help": "counted from 1, as the window does"}, "time",
    )  # fmt: skip


def _focus_flags() -> Iterator[Flag]:
    yield Flag(
        "--block", lambda shot, text: replace(shot, focus=replace(shot.focus, block=block_from(text))),
        lambda shot: None if shot.focus.block == Focus().block else block_text(shot.focus.block),
        {"metavar": "X,Y", "help": "the block to watch (default: 0,0)"},
    )  # fmt: skip
    yield Flag(
        "--warp", lambda shot, warp: replace(shot, focus=Focus(shot.focus.block, warp=warp)),
        lambda shot: None if shot.focus.warp is None or shot.focus.thread is not None else str(shot.focus.warp),
        {"type": whole_number(0), "help": "the warp to watch (default: the whole block)"}, "whom",
    )  # fmt: skip
    yield Flag(
        "--thread", lambda shot, thread: replace(shot, focus=Focus(shot.focus.block, thread=thread)),
        lambda shot: None if shot.focus.thread is None else str(shot.focus.thread),
        {"type": whole_number(0), "help": "the thread to follow, by its number in the block"}, "whom",
    )  # fmt: skip
    yield Flag(
        "--all", lambda shot, on: replace(shot, focus=Focus(shot.focus.block, everyone=on)),
        lambda shot: "" if shot.focus.everyone else None,
        {"action": "store_const", "const": True, "help": "watch all traced blocks"}, "whom",
    )  # fmt: skip


def whole_number(least: int) -> Callable[[str], int]:
    """A parser for argparse: whole numbers from ``least`` on."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is no whole number from {least} on")
        return int(text)

    return parse


def share(text: str) -> float:
    """A parser for argparse: numbers from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0 and 1")
    return value
