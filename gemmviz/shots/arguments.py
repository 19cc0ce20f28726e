"""Shots as command-line arguments and back, from the same table of flags for all commands."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.replay.focus import Focus, Position
from gemmviz.cuda.launch.catalog import DEFAULT_KERNEL
from gemmviz.cuda.launch.launch_form import GivenLaunch, formulas_of
from gemmviz.cuda.launch.legality import can_run, setup_for, tied
from gemmviz.files.devices import device_names
from gemmviz.files.resources import kind_of
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import UsageError
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import Setting, settings_of
from gemmviz.model.records import fields
from gemmviz.model.setup import Setup
from gemmviz.model.sites import IndexOrder, LabelStyle
from gemmviz.model.threads import Triple
from gemmviz.run.loader import open_kernel
from gemmviz.scenes.catalog import views
from gemmviz.scenes.kit.theme import theme_names
from gemmviz.scenes.kit.view import DrawingOptions
from gemmviz.shots.shot import Against, Camera, Shot, Trial, read_view

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
        trial = structs.replace(trial, **{_TRIED[match[1]]: int(match[2])})
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


def view_flags() -> list[Flag]:
    """Flags of the other fields of a shot. There is none for a phase: its first step is known only after a run."""
    return list(_view_flags())


def _view_flags() -> Iterator[Flag]:
    shared = {each.name for each in fields(DrawingOptions)}
    for setting in sorted(settings_of(Shot), key=lambda each: each.path[0] in shared):
        if setting.path == ("focus",):
            yield from _focus_flags()
        elif setting.path == ("at",):
            yield _step_flag()
        elif setting.path[0] != "setup" and setting.control.flag:
            yield _flag(setting)


# One field


def _setting_value(setting: Setting, shot: Shot) -> Any:
    """The value of a setting; None if the shot's problem has no such size."""
    has = setting.path[:2] != ("setup", "problem") or setting.name in shot.setup.problem.numbers
    return setting.of(shot) if has else None


def _flag(setting: Setting) -> Flag:
    """A flag that is omitted if the shot has the default of its kernel."""
    form = TEXT_FORMS.get(setting.type)

    def take(shot: Shot, value: Any) -> Shot:
        return setting.put(shot, value if form is None else form.parse(setting.of(shot), value))  # type: ignore[no-any-return]

    def words(shot: Shot) -> str | list[str] | None:
        value, default = _setting_value(setting, shot), _setting_value(setting, Shot(setup_for(shot.setup.kernel)))
        if value == default:
            return None
        return form.words(value) if form is not None else _words_for(setting, value)

    return Flag(setting.control.flag, take, words, _flag_options(setting, form is not None and form.is_repeated))


def _words_for(setting: Setting, value: Any) -> str:
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
    return structs.replace(shot, setup=structs.replace(shot.setup, problem=shot.setup.problem.__replace__(**numbers)))


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
        "--step", lambda shot, step: structs.replace(shot, at=Position(step - 1)), lambda shot: str(shot.at.step + 1),
        {"type": integer_from(1), "help": "the step to show, counted from 1"}, "time",
    )  # fmt: skip


def _focus_flags() -> Iterator[Flag]:
    yield Flag(
        "--block", lambda shot, text: structs.replace(shot, focus=structs.replace(shot.focus, block=block_from(text))),
        lambda shot: None if shot.focus.block == Focus().block else block_text(shot.focus.block),
        {"metavar": "X,Y", "help": "the block to watch (default: 0,0)"},
    )  # fmt: skip
    yield Flag(
        "--warp", lambda shot, warp: structs.replace(shot, focus=Focus(shot.focus.block, warp=warp)),
        lambda shot: None if shot.focus.warp is None or shot.focus.thread is not None else str(shot.focus.warp),
        {"type": integer_from(0), "help": "the warp to watch (default: the whole block)"}, "whom",
    )  # fmt: skip
    yield Flag(
        "--thread", lambda shot, thread: structs.replace(shot, focus=Focus(shot.focus.block, thread=thread)),
        lambda shot: None if shot.focus.thread is None else str(shot.focus.thread),
        {"type": integer_from(0), "help": "the thread to follow, by its index in the block"}, "whom",
    )  # fmt: skip
    yield Flag(
        "--all", lambda shot, on: structs.replace(shot, focus=Focus(shot.focus.block, everyone=on)),
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


_LAUNCH_FLAGS = {
    "entry": ("NAME", "the kernel, with template arguments if it has any: 'sgemm<64, 8>'"),
    "args": ("LIST", "what each argument is, 'A,B,C,N', or some by name: 'width=N,out=C'"),
    "block": ("LIST", "threads of a block, '16,16'"),
    "grid": ("LIST", "blocks of the grid, 'ceil_div(N, 16),ceil_div(M, 16)'"),
    "shared": ("BYTES", "dynamic shared memory of a block"),
    "column-major": ("LIST", "matrices that are stored by columns, 'A,B'"),
}
_MOST_FORMULAS = {"args": 64, "block": 3, "grid": 3, "column-major": 64}  # most formulas of each

# Parsers


def add_setup(
    parser: argparse.ArgumentParser,
    what: str,
    *,
    required: bool = True,
    with_record: bool = True,
    with_launch: bool = True,
    taken: tuple[str, ...] = (),
) -> None:
    """Add the kernel, flags for all settings of its run, for what is recorded if ``with_record``, and for its launch if
    ``with_launch``; those of the launch that are ``taken`` by the command are called ``--launch-…``.
    """
    parser.add_argument("kernel", metavar=what, nargs=None if required else "?")
    for flag in setup_flags(with_record=with_record):
        _add_setting(parser, flag)
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the kernel")
    if with_launch:
        add_launch(parser, taken)


def add_view(parser: argparse.ArgumentParser) -> None:
    """Add flags for all display settings, and ``--phase`` as an alternative to ``--step``."""
    groups: dict[str, Any] = {}
    for flag in view_flags():
        if flag.group and flag.group not in groups:
            groups[flag.group] = parser.add_mutually_exclusive_group()
        _add_setting(groups.get(flag.group, parser), flag)
    groups["time"].add_argument("--phase", type=integer_from(1), help="the first step of this phase, counted from 1")


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Add the flag for how elements and threads are written."""
    _add_setting(parser, _labels_flag())


def _labels_flag() -> Flag:
    return next(flag for flag in view_flags() if flag.name == "--labels")


def add_launch(parser: argparse.ArgumentParser, taken: tuple[str, ...] = ()) -> None:
    """Add flags for the parts of a launch. They take precedence over the file's header and its host code."""
    group = parser.add_argument_group("launch of a kernel in a file", "read from the file where they are left out")
    for name, (metavar, text) in _LAUNCH_FLAGS.items():
        flag = f"--launch-{name}" if name in taken else f"--{name}"
        group.add_argument(flag, dest=f"launch_{name.replace('-', '_')}", default="", metavar=metavar, help=text)


def _add_setting(parser: Any, flag: Flag) -> None:
    parser.add_argument(flag.name, dest=flag.attribute, default=None, **flag.options)


# From arguments to a shot


def launch_from(args: argparse.Namespace) -> GivenLaunch:
    """The given parts of the launch. Raises UsageError."""
    texts = {name: getattr(args, f"launch_{name.replace('-', '_')}", "") for name in _LAUNCH_FLAGS}
    lists = {name: formulas_of(texts[name], f"--{name}", most) if texts[name] else () for name, most in _MOST_FORMULAS.items()}
    columns = lists["column-major"]
    return GivenLaunch(
        texts["entry"], lists["args"], lists["block"], lists["grid"], texts["shared"], frozenset(columns) if columns else None
    )


def kernel_from(args: argparse.Namespace) -> KernelSpec:
    """The kernel that the arguments name, with the given parts of its launch. Raises GemmvizError."""
    return open_kernel(args.kernel or DEFAULT_KERNEL, launch_from(args))


def setup_from(args: argparse.Namespace) -> Setup:
    """The setup to run. Raises UsageError or SettingError."""
    return with_setup(args, Shot(setup_for(kernel_from(args)))).setup


def at_main(args: argparse.Namespace, setup: Setup) -> Setup:
    """The setup at the sizes of main(), if these are known and can run and no sizes were given."""
    launched = setup.as_launched
    sizes = (_SIZE_FLAG, *(_flag(each.within("setup")) for each in _SIZE_FLAGS))
    is_given = any(getattr(args, flag.attribute, None) is not None for flag in sizes)
    return setup if is_given or not can_run(launched) else launched


def is_set(args: argparse.Namespace) -> bool:
    """Whether any setting of the setup was given besides the kernel."""
    return bool(args.D or launch_from(args)) or any(getattr(args, flag.attribute, None) is not None for flag in setup_flags())


def shot_from(args: argparse.Namespace) -> Shot:
    """The shot to display: of a kernel, or a saved view with the given settings applied. Raises GemmvizError."""
    path = Path(args.kernel or "")
    if args.kernel is not None and kind_of(path) == "view":
        shot = read_view(path)
    else:
        shot = Shot(setup_for(kernel_from(args)), theme="dark")
    return view_from(args, with_setup(args, shot))


def view_from(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with the given display settings applied."""
    return _with_flags(args, shot, view_flags())


def labelled(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with the given labels. Raises UsageError."""
    return _with_flags(args, shot, [_labels_flag()])


def with_setup(args: argparse.Namespace, shot: Shot) -> Shot:
    """The shot with the given setup settings applied. Raises UsageError or SettingError."""
    parameters = dict(given_parameter(text) for text in args.D)
    setup = shot.setup
    setup_for(setup.kernel, parameters=parameters)  # reports parameters that the kernel doesn't have
    changed = structs.replace(shot, setup=structs.replace(setup, parameters={**setup.parameters, **parameters}))
    shot = _with_flags(args, changed, setup_flags())
    sizes, as_tied = shot.setup.problem.sizes, tied(shot.setup)
    asked = [name for name in sizes if getattr(args, name.lower(), None) is not None]
    asked += [text.partition("=")[0] for text in getattr(args, "dim", None) or ()]
    keeps = all(as_tied.problem.sizes.get(name) == sizes.get(name) for name in asked)
    return structs.replace(shot, setup=as_tied) if keeps else shot  # its rule then refuses the sizes that were asked for


def given_parameter(text: str) -> tuple[str, int]:
    """Name and value of a kernel parameter from NAME=NUMBER. Raises UsageError."""
    match = re.fullmatch(r"(\w+)=(-?\d+)", text)
    if match is None:
        raise UsageError(f"-D {text}: write -D NAME=NUMBER")
    return match[1], int(match[2])


def _with_flags(args: argparse.Namespace, shot: Shot, flags: list[Flag]) -> Shot:
    for flag in flags:
        value = getattr(args, flag.attribute, None)
        if value is not None:
            shot = flag.take(shot, value)
    return shot


# From a shot to arguments


def command_words(shot: Shot) -> list[str]:
    """Arguments of ``gemmviz`` that export this shot."""
    if shot.against is not None:
        return _comparison_words(shot, shot.against)
    kernel = shot.setup.kernel
    words = ["export", kernel.name if kernel.is_shipped else kernel.file]
    for flag in setup_flags():
        words += _flag_words(flag, shot)
    own = setup_for(kernel)
    for name, value in shot.setup.parameters.items():
        words += ["-D", f"{name}={value}"] if own.parameters.get(name) != value else []
    for flag in view_flags():
        words += _flag_words(flag, shot)
    return words


def view_words(shot: Shot, without: tuple[str, ...] = ()) -> list[str]:
    """Arguments for the display settings, without the flags in ``without``."""
    return [word for flag in view_flags() if flag.name not in without for word in _flag_words(flag, shot)]


def _comparison_words(shot: Shot, against: Against) -> list[str]:
    """Arguments of ``gemmviz compare``; both runs use the sizes of the shot."""
    words = [
        "compare",
        *(kernel.name if kernel.is_shipped else kernel.file for kernel in (against.setup.kernel, shot.setup.kernel)),
    ]
    for flag in setup_flags(with_record=False):
        words += _flag_words(flag, shot)
    for option, setup in (("--left", against.setup), ("--right", shot.setup)):
        for name, value in setup.parameters.items():
            words += [option, f"{name}={value}"]
    if against.setup.device != shot.setup.device:
        words += ["--left-device", against.setup.device]
    if shot.view == "grid":
        words += ["--view", "grid", "--instant", f"{shot.instant:.4g}"]
    else:
        words += ["--lock", against.lock, "--step", str(shot.at.step + 1)]
    words += ["--mark", against.marked] if against.marked else []
    return words + (["--theme", shot.theme] if shot.theme in theme_names() else [])


def _flag_words(flag: Flag, shot: Shot) -> list[str]:
    words = flag.words(shot)
    if isinstance(words, list):
        return [part for word in words for part in (flag.name, word)]
    return [] if words is None else [flag.name, words] if words else [flag.name]


def command_line(shot: Shot) -> str:
    """A command that exports a picture of this shot, quoted for a shell."""
    return shlex.join(["gemmviz", *command_words(shot), "--output", "frame.svg"])
