"""A shot as words of the command line, and back: one table for what every command understands and for what is copied."""

import argparse
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.position import Position
from gemmviz.files.devices import device_names
from gemmviz.files.kinds import kind_of
from gemmviz.launch.catalog import DEFAULT_KERNEL, load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.errors import UsageError
from gemmviz.model.labels import PLAIN, IndexOrder, LabelStyle
from gemmviz.model.setup import Setting, Setup, settings_of
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.frame import LAYERS
from gemmviz.scenes.kit.theme import theme_names
from gemmviz.scenes.kit.window import LENSES
from gemmviz.state.shot import Against, Camera, Shot, Trial, read_view

_TRIED = {"threads": "threads", "registers": "registers", "shared": "shared_bytes"}
_KNOWN: dict[str, Callable[[], tuple[str, ...]]] = {"device": device_names}


@dataclass(frozen=True)
class Flag:
    """One option. ``take`` puts what was given into a shot; ``words`` is what would be given for a shot, None for nothing, a
    list for what may be given several times.

    ``options`` go to argparse; ``group``: at most one flag of a group may be given.
    """

    name: str
    take: Callable[[Shot, Any], Shot]
    words: Callable[[Shot], str | list[str] | None]
    options: Mapping[str, Any]
    group: str = ""

    @property
    def attribute(self) -> str:
        """Where argparse puts what was given."""
        return self.name.lstrip("-").replace("-", "_")


# What is run


def setup_flags(kind: type = Setup, with_record: bool = True) -> list[Flag]:
    """One for each setting that a setup has; without those that only say what is recorded, where nothing is."""
    chosen = (each for each in settings_of(kind) if with_record or not each.control.of_record)
    return [_setup_flag(each) for each in chosen if each.control.flag]


def _setup_flag(setting: Setting) -> Flag:
    control = setting.control
    choices = _KNOWN[setting.name]() if setting.name in _KNOWN else tuple(control.choices or get_args(setting.kind))
    options: dict[str, Any] = {"help": control.help[:1].lower() + control.help[1:]}
    if choices:
        options["choices"] = choices
    elif setting.kind is int:
        options |= {"type": int, "metavar": setting.name.upper()}
    else:
        options["metavar"] = setting.name.upper()

    def take(shot: Shot, value: Any) -> Shot:
        return replace(shot, setup=setting.put(shot.setup, value))

    def words(shot: Shot) -> str | None:
        own = setup_for(shot.setup.kernel)
        value = setting.of(shot.setup)
        return None if value == setting.of(own) else str(value)

    return Flag(control.flag, take, words, options)


# What is looked at


def _take_block(shot: Shot, text: str) -> Shot:
    found = re.fullmatch(r"(\d+),(\d+)(?:,(\d+))?", text)
    if found is None:
        raise UsageError(f"--block {text}: write X,Y")
    block = (int(found[1]), int(found[2]), int(found[3] or 0))
    return replace(shot, focus=replace(shot.focus, block=block))


def _block_words(shot: Shot) -> str | None:
    x, y, z = shot.focus.block
    return (f"{x},{y},{z}" if z else f"{x},{y}") if shot.focus.block != Focus().block else None


def _take_camera(shot: Shot, text: str) -> Shot:
    try:
        zoom, x, y = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"--camera {text}: write ZOOM,X,Y, as 4,0.5,0.5") from None
    return replace(shot, camera=Camera(zoom, x, y))


def _camera_words(shot: Shot) -> str | None:
    camera = shot.camera
    return None if camera == Camera() else f"{camera.zoom:.6g},{camera.x:.6g},{camera.y:.6g}"


def _take_trial(shot: Shot, texts: list[str]) -> Shot:
    trial = shot.trial
    for text in texts:
        found = re.fullmatch(r"(threads|registers|shared)=(\d+)", text)
        if found is None:
            raise UsageError(f"--try {text}: write threads=N, registers=N or shared=BYTES")
        trial = replace(trial, **{_TRIED[found[1]]: int(found[2])})
    return replace(shot, trial=trial)


def _trial_words(shot: Shot) -> list[str]:
    return [f"{name}={value}" for name, field in _TRIED.items() if (value := getattr(shot.trial, field)) is not None]


def _take_labels(shot: Shot, text: str) -> Shot:
    parts = [part.strip() for part in text.split(",")]
    rest = parts[2:]
    if parts[:2] not in (["row", "column"], ["column", "row"]) or set(rest) - {"0", "1", "yx"} or len(rest) > 2:
        raise UsageError(
            f"labels can't be {text!r}", remedy="write row,column or column,row, then ,1 and ,yx where they are meant"
        )
    order: IndexOrder = "row, column" if parts[0] == "row" else "column, row"
    return replace(shot, labels=LabelStyle(order, int("1" in rest), "y, x" if "yx" in rest else "x, y"))


def _label_words(shot: Shot) -> str | None:
    labels = shot.labels
    if labels == PLAIN:
        return None
    return labels.order.replace(" ", "") + (",1" if labels.first else "") + (",yx" if labels.thread == "y, x" else "")


def _number(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is no whole number from {least} on")
        return int(text)

    return parse


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0 and 1")
    return value


def _with_focus(**facts: Any) -> Callable[[Shot, Any], Shot]:
    """Puts what was given where ``facts`` have None."""

    def take(shot: Shot, value: Any) -> Shot:
        given = {name: value if fact is None else fact for name, fact in facts.items()}
        return replace(shot, focus=replace(Focus(shot.focus.block), **given))

    return take


def view_flags() -> list[Flag]:
    """What a picture is told besides its setup. A phase is no flag of a shot: which step begins it only the run tells."""
    themes = theme_names()
    return [
        Flag("--view", lambda shot, name: replace(shot, view=name), lambda shot: shot.view if shot.view != "stage" else None,
             {"choices": tuple(views()), "help": "what to look at (default: stage)"}),
        Flag("--step", lambda shot, step: replace(shot, at=Position(step - 1)), lambda shot: str(shot.at.step + 1),
             {"type": _number(1), "help": "counted from 1, as the window does"}, "time"),
        Flag("--moment", lambda shot, value: replace(shot, moment=value),
             lambda shot: None if shot.moment == 1.0 else f"{shot.moment:.4g}",
             {"type": share, "help": "how much of the step has passed, 0 to 1 (default)"}),
        Flag("--instant", lambda shot, value: replace(shot, instant=value),
             lambda shot: None if shot.instant == 0.5 else f"{shot.instant:.4g}",
             {"type": share, "help": "how much of a whole launch's time has passed, 0 to 1 (default: 0.5)"}),
        Flag("--block", _take_block, _block_words, {"metavar": "X,Y", "help": "the block to watch (default: 0,0)"}),
        Flag("--warp", _with_focus(warp=None),
             lambda shot: None if shot.focus.warp is None or shot.focus.thread is not None else str(shot.focus.warp),
             {"type": _number(0), "help": "the warp to watch (default: the whole block)"}, "whom"),
        Flag("--thread", _with_focus(thread=None), lambda shot: None if shot.focus.thread is None else str(shot.focus.thread),
             {"type": _number(0), "help": "the thread to follow, by its number in the block"}, "whom"),
        Flag("--all", _with_focus(everyone=True), lambda shot: "" if shot.focus.everyone else None,
             {"action": "store_const", "const": True, "help": "watch all traced blocks"}, "whom"),
        Flag("--layer", lambda shot, name: replace(shot, layer=name),
             lambda shot: None if shot.layer == "matrix" else shot.layer,
             {"choices": LAYERS, "help": "what colours tell (default: matrix)"}),
        Flag("--camera", _take_camera, _camera_words,
             {"metavar": "ZOOM,X,Y", "help": "how near to look, and at which point of the frame, 0,0 to 1,1"}),
        Flag("--lens", lambda shot, name: replace(shot, lens=name), lambda shot: None if shot.lens == "auto" else shot.lens,
             {"choices": LENSES, "help": "the rows and columns that matter, or the whole (default: whatever can be read)"}),
        Flag("--code", lambda shot, on: replace(shot, code=True), lambda shot: "" if shot.code else None,
             {"action": "store_const", "const": True, "help": "with source lines beside the matrices"}),
        Flag("--type", lambda shot, scale: replace(shot, type_scale=scale),
             lambda shot: None if shot.type_scale == 1.0 else f"{shot.type_scale:g}",
             {"type": float, "metavar": "SCALE", "help": "how much larger words are, 0.75 to 2 (default: 1)"}),
        Flag("--try", _take_trial, _trial_words,
             {"metavar": "NAME=N", "action": "append",
              "help": "of occupancy: threads, registers or shared bytes to try out instead of the kernel's own"}),
        Flag("--width", lambda shot, width: replace(shot, chart=replace(shot.chart, width=width)),
             lambda shot: str(shot.chart.width) if shot.chart.width else None,
             {"type": _number(0), "help": "of a chart: all kernels at this width of tiles and blocks (default: the fastest)"}),
        Flag("--no-cpu", lambda shot, on: replace(shot, chart=replace(shot.chart, with_host=False)),
             lambda shot: None if shot.chart.with_host else "",
             {"action": "store_const", "const": True, "help": "of a chart: without what the CPU measured"}),
        Flag("--even", lambda shot, on: replace(shot, chart=replace(shot.chart, is_even=True)),
             lambda shot: "" if shot.chart.is_even else None,
             {"action": "store_const", "const": True, "help": "of a chart: axes divided evenly, and not by powers"}),
        Flag("--labels", _take_labels, _label_words,
             {"metavar": "ORDER", "help": "how elements and threads are written: row,column or column,row, with ,1 where they "
              "count from 1, and with ,yx for threads as (y, x) (default: row,column)"}),
        Flag("--theme", lambda shot, name: replace(shot, theme=name),
             lambda shot: shot.theme if shot.theme in themes else None,
             {"choices": themes, "help": "colours (default: dark)"}),
    ]  # fmt: skip


# Parsers


def add_setup(parser: argparse.ArgumentParser, what: str, *, required: bool = True, with_record: bool = True) -> None:
    """The kernel, and a flag for everything that can be set of its run, and of what is recorded of it."""
    parser.add_argument("kernel", metavar=what, nargs=None if required else "?")
    for flag in setup_flags(with_record=with_record):
        _add(parser, flag)
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the kernel")


def add_view(parser: argparse.ArgumentParser) -> None:
    """A flag for everything that a picture can be told besides, and one for a phase in place of a step."""
    groups: dict[str, Any] = {}
    for flag in view_flags():
        if flag.group and flag.group not in groups:
            groups[flag.group] = parser.add_mutually_exclusive_group()
        _add(groups.get(flag.group, parser), flag)
    groups["time"].add_argument("--phase", type=_number(1), help="the first step of this phase, counted from 1")


def _add(parser: Any, flag: Flag) -> None:
    parser.add_argument(flag.name, dest=flag.attribute, default=None, **flag.options)


# From words to a shot


def setup_from(args: argparse.Namespace) -> Setup:
    """What is to be run. Raises UsageError or SettingError."""
    return with_setup(args, Shot(setup_for(load_kernel(args.kernel or DEFAULT_KERNEL)))).setup


def shot_from_setup(args: argparse.Namespace, trial: Trial) -> Shot:
    """A shot of what is to be run, with something of its blocks tried out. Raises UsageError or SettingError."""
    return Shot(setup_from(args), trial=trial)


def is_set(args: argparse.Namespace) -> bool:
    """Whether anything of the setup was given but the kernel."""
    return bool(args.D) or any(getattr(args, flag.attribute, None) is not None for flag in setup_flags())


def shot_from(args: argparse.Namespace) -> Shot:
    """What is to be shown: of a kernel, or of a saved view with what was given put in its place."""
    path = Path(args.kernel or "")
    if args.kernel is not None and kind_of(path) == "view":
        shot = read_view(path)
    else:
        shot = Shot(setup_for(load_kernel(args.kernel or DEFAULT_KERNEL)), theme="dark")
    return view_from(args, with_setup(args, shot))


def view_from(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with what was given of how it is looked at."""
    return _taken(args, shot, view_flags())


def with_setup(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with what was given of its setup. Raises UsageError or SettingError."""
    parameters = dict(parameter(text) for text in args.D)
    setup = shot.setup
    setup_for(setup.kernel, parameters=parameters)  # says which there are none of
    changed = replace(shot, setup=replace(setup, parameters={**setup.parameters, **parameters}))
    return _taken(args, changed, setup_flags())


def parameter(text: str) -> tuple[str, int]:
    """A parameter of a kernel, from NAME=NUMBER. Raises UsageError."""
    found = re.fullmatch(r"(\w+)=(-?\d+)", text)
    if found is None:
        raise UsageError(f"-D {text}: write -D NAME=NUMBER")
    return found[1], int(found[2])


def _taken(args: argparse.Namespace, shot: Shot, flags: list[Flag]) -> Shot:
    for flag in flags:
        value = getattr(args, flag.attribute, None)
        if value is not None:
            shot = flag.take(shot, value)
    return shot


# And back


def words_of(shot: Shot) -> list[str]:
    """What stands behind ``gemmviz`` to save this shot."""
    if shot.against is not None:
        return _words_of_two(shot, shot.against)
    kernel = shot.setup.kernel
    found = ["export", kernel.name if kernel.is_shipped else kernel.file]
    for flag in setup_flags():
        found += _given(flag, shot)
    own = setup_for(kernel)
    for name, value in shot.setup.parameters.items():
        found += ["-D", f"{name}={value}"] if own.parameters.get(name) != value else []
    for flag in view_flags():
        found += _given(flag, shot)
    return found


def view_words(shot: Shot, without: tuple[str, ...] = ()) -> list[str]:
    """Those of how it is looked at, without some flags."""
    return [word for flag in view_flags() if flag.name not in without for word in _given(flag, shot)]


def _words_of_two(shot: Shot, against: Against) -> list[str]:
    """As ``gemmviz compare`` has it; both at the sizes of the shot."""
    found = [
        "compare",
        *(kernel.name if kernel.is_shipped else kernel.file for kernel in (against.setup.kernel, shot.setup.kernel)),
    ]
    for flag in setup_flags(with_record=False):
        found += _given(flag, shot)
    for option, setup in (("--left", against.setup), ("--right", shot.setup)):
        for name, value in setup.parameters.items():
            found += [option, f"{name}={value}"]
    if against.setup.device != shot.setup.device:
        found += ["--left-device", against.setup.device]
    if shot.view == "grid":
        found += ["--view", "grid", "--instant", f"{shot.instant:.4g}"]
    else:
        found += ["--lock", against.lock, "--step", str(shot.at.step + 1)]
    found += ["--mark", against.marked] if against.marked else []
    return found + (["--theme", shot.theme] if shot.theme in theme_names() else [])


def _given(flag: Flag, shot: Shot) -> list[str]:
    words = flag.words(shot)
    if isinstance(words, list):
        return [part for word in words for part in (flag.name, word)]
    return [] if words is None else [flag.name, words] if words else [flag.name]


def command_line(shot: Shot) -> str:
    """The command that makes a picture of this shot, to be pasted into a shell."""
    return shlex.join(["gemmviz", *words_of(shot), "--output", "frame.svg"])
