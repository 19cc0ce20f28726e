"""The table of command-line flags: one for each field of a Shot whose Control has a flag, and those of step and focus."""

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.focus import Focus, Position
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.devices import device_names
from gemmviz.model.errors import UsageError
from gemmviz.model.labels import IndexOrder, LabelStyle
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import Setting, settings_of
from gemmviz.model.records import fields, replace
from gemmviz.model.setup import Setup
from gemmviz.model.threads import Triple
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.frame import DrawingOptions
from gemmviz.scenes.kit.theme import theme_names
from gemmviz.shots.shot import Camera, Shot, Trial

# Command-line syntax of values with several parts: a block, a camera, labels, trial values.

_TRIED = {"threads": "threads", "registers": "registers", "shared": "shared_bytes"}


class TextForm(Struct, frozen=True):
    """Conversion of a value from and to text. ``parse``: the value from the previous value and the text (a list of texts if the
    flag ``is_repeated``). ``words``: the text of a value.
    """

    parse: Callable[[Any, Any], Any]
    words: Callable[[Any], str | list[str]]
    is_repeated: bool = False


def block_from(text: str) -> Triple:
    """A block index from X,Y or X,Y,Z. Raises UsageError."""
    match = re.fullmatch(r"(\d+),(\d+)(?:,(\d+))?", text)
    if match is None:
        raise UsageError(f"--block {text}: write X,Y")
    return int(match[1]), int(match[2]), int(match[3] or 0)


def block_text(block: Triple) -> str:
    """The text that ``block_from`` reads."""
    x, y, z = block
    return f"{x},{y},{z}" if z else f"{x},{y}"


def _camera(before: Camera, text: str) -> Camera:
    try:
        zoom, x, y = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"--camera {text}: write ZOOM,X,Y, such as 4,0.5,0.5") from None
    return Camera(zoom, x, y)


def _camera_text(camera: Camera) -> str:
    return f"{camera.zoom:.6g},{camera.x:.6g},{camera.y:.6g}"


def _trial(trial: Trial, texts: list[str]) -> Trial:
    for text in texts:
        match = re.fullmatch(r"(threads|registers|shared)=(\d+)", text)
        if match is None:
            raise UsageError(f"--try {text}: write threads=N, registers=N or shared=BYTES")
        trial = replace(trial, **{_TRIED[match[1]]: int(match[2])})
    return trial


def _trial_texts(trial: Trial) -> list[str]:
    return [f"{name}={value}" for name, field in _TRIED.items() if (value := getattr(trial, field)) is not None]


def _label_style_of(before: LabelStyle, text: str) -> LabelStyle:
    parts = [part.strip() for part in text.split(",")]
    rest = parts[2:]
    if parts[:2] not in (["row", "column"], ["column", "row"]) or set(rest) - {"0", "1", "yx"} or len(rest) > 2:
        raise UsageError(
            f"labels can't be {text!r}", remedy="write row,column or column,row, optionally followed by ,1 and ,yx"
        )
    order: IndexOrder = "row, column" if parts[0] == "row" else "column, row"
    return LabelStyle(order, int("1" in rest), "y, x" if "yx" in rest else "x, y")


def _labels_text(labels: LabelStyle) -> str:
    return labels.order.replace(" ", "") + (",1" if labels.first else "") + (",yx" if labels.thread == "y, x" else "")


TEXT_FORMS: dict[Any, TextForm] = {
    Camera: TextForm(_camera, _camera_text),
    Trial: TextForm(_trial, _trial_texts, is_repeated=True),
    LabelStyle: TextForm(_label_style_of, _labels_text),
}


_NAMES_OF: dict[str, Callable[[], tuple[str, ...]]] = {
    "device": device_names, "view": lambda: tuple(views()), "theme": theme_names,
}  # fmt: skip
_FLAG_TYPES: dict[str, type] = {"number": int, "decimal": float}


class Flag(Struct, frozen=True):
    """One command-line flag. ``take`` applies its value to a shot. ``words``: the value that reproduces a shot; None to omit
    the flag, "" for a flag without a value, a list for a repeated flag.

    ``options`` are passed to argparse. At most one flag of a ``group`` may be given.
    """

    name: str
    take: Callable[[Shot, Any], Shot]
    words: Callable[[Shot], str | list[str] | None]
    options: Mapping[str, Any]
    group: str = ""

    @property
    def attribute(self) -> str:
        """Name of the attribute that argparse sets."""
        return self.name.lstrip("-").replace("-", "_")


def setup_flags(kind: type = Setup, with_record: bool = True) -> list[Flag]:
    """Flags of the settings of a setup; ``with_record``: including those that only affect what is recorded."""
    own = (*_SIZE_FLAGS, *settings_of(kind))
    chosen = (each for each in own if each.control.flag and (with_record or not each.control.of_record))
    return [_SIZE_FLAG, *(_flag(each.within("setup")) for each in chosen)]


def view_flags(kind: type = Shot) -> list[Flag]:
    """Flags of the other fields of a shot. There is none for a phase: its first step is known only after a run."""
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


def _setting_value(setting: Setting, shot: Shot, default: Any = None) -> Any:
    """The value of a setting; the default if the shot's problem has no such size."""
    has = setting.path[:2] != ("setup", "problem") or setting.name in shot.setup.problem.numbers
    return setting.of(shot) if has else default


def _flag(setting: Setting) -> Flag:
    """A flag that is omitted if the shot has the default of its kernel."""
    form = TEXT_FORMS.get(setting.type)

    def take(shot: Shot, value: Any) -> Shot:
        return setting.put(shot, value if form is None else form.parse(setting.of(shot), value))  # type: ignore[no-any-return]

    def words(shot: Shot) -> str | list[str] | None:
        value, default = _setting_value(setting, shot), _setting_value(setting, Shot(setup_for(shot.setup.kernel)))
        if value == default:
            return None
        return form.words(value) if form is not None else _flag_words(setting, value)

    return Flag(setting.control.flag, take, words, _flag_options(setting, form is not None and form.is_repeated))


def _flag_words(setting: Setting, value: Any) -> str:
    match setting.kind:
        case "switch":
            return ""
        case "decimal" if setting.control.digits:
            return f"{value:.{setting.control.digits}g}"
        case "decimal":
            return np.format_float_positional(value, trim="-")  # argparse mistakes -1e-7 for a flag
    return str(value)


def _flag_options(setting: Setting, is_repeated: bool) -> dict[str, Any]:
    """Keyword arguments for argparse. Bounds are checked by the dataclass that has the field."""
    control, options = setting.control, dict[str, Any]()
    options["help"] = control.help[:1].lower() + control.help[1:]
    choices = _NAMES_OF[setting.name]() if setting.name in _NAMES_OF else tuple(setting.choices)
    if setting.kind == "switch":
        return options | {"action": "store_const", "const": not setting.default}
    if choices:
        return options | {"choices": choices}
    if setting.kind in _FLAG_TYPES:
        options["type"] = _FLAG_TYPES[setting.kind]
    if is_repeated:
        options["action"] = "append"
    return options | {"metavar": control.metavar or setting.name.upper()}


# Sizes of problems


def _with_sizes(shot: Shot, texts: list[str]) -> Shot:
    """The shot with other sizes and factors of its problem, from texts such as rows=64. Raises UsageError."""
    numbers: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            numbers[name] = int(number) if number.lstrip("-").isdecimal() else float(number)
        except ValueError:
            raise UsageError(f"--dim {text}: write --dim NAME=NUMBER, such as rows=64") from None
    return replace(shot, setup=replace(shot.setup, problem=shot.setup.problem.__replace__(**numbers)))


def _size_words(shot: Shot) -> list[str] | None:
    """Sizes and factors that differ from the kernel's own and have no flag of their own."""
    own, with_flag = shot.setup.kernel.problem.numbers, {each.name for each in _SIZE_FLAGS}
    changed = {name: number for name, number in shot.setup.problem if own.get(name) != number and name not in with_flag}
    return [f"{name}={number!r}" for name, number in changed.items()] or None


_SIZE_FLAGS = tuple(each.within("problem") for each in Problem(8, 8, 8).settings)
_SIZE_FLAG = Flag(
    "--dim", _with_sizes, _size_words,
    {"action": "append", "metavar": "NAME=N", "help": "a size of a problem that is no multiplication, such as rows=64"},
)  # fmt: skip


# Focus and step


def _step_flag() -> Flag:
    return Flag(
        "--step", lambda shot, step: replace(shot, at=Position(step - 1)), lambda shot: str(shot.at.step + 1),
        {"type": integer_from(1), "help": "the step to show, counted from 1"}, "time",
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
        {"type": integer_from(0), "help": "the warp to watch (default: the whole block)"}, "whom",
    )  # fmt: skip
    yield Flag(
        "--thread", lambda shot, thread: replace(shot, focus=Focus(shot.focus.block, thread=thread)),
        lambda shot: None if shot.focus.thread is None else str(shot.focus.thread),
        {"type": integer_from(0), "help": "the thread to follow, by its index in the block"}, "whom",
    )  # fmt: skip
    yield Flag(
        "--all", lambda shot, on: replace(shot, focus=Focus(shot.focus.block, everyone=on)),
        lambda shot: "" if shot.focus.everyone else None,
        {"action": "store_const", "const": True, "help": "watch all traced blocks"}, "whom",
    )  # fmt: skip


def integer_from(least: int) -> Callable[[str], int]:
    """An argparse type: integers not less than ``least``."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is not an integer of at least {least}")
        return int(text)

    return parse


def share(text: str) -> float:
    """An argparse type: numbers from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value
